"""The joint density as a compiled function: at many points, and without anything compiled in C."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise
from scipy import special

import bayesmodels as bm
from bayesmodels.posteriors.batch_density import BatchDensity
from bayesmodels.posteriors.conditional import BATCH_MODE, LIGHT_MODE
from bayesmodels.posteriors.density import PYTHON_MODE, compiled, frozen
from bayesmodels.posteriors.model_density import ModelDensity

Y = np.array([0.3, -1.2, 2.0, 0.8])


def regression():
    """Declare rows with a block, a matrix of which the root is taken, and a count."""
    with pm.Model() as model:
        w = pm.Normal("w", 0, 1, shape=3)
        s = pm.HalfNormal("s", 1)
        k = pm.Binomial("k", 3, 0.4)
        cov = s**2 * (np.eye(4) + 0.3 * k)
        pm.MvNormal("y", w.sum() * np.arange(4.0), cov, observed=Y)
        pm.Potential("more", pt.logsumexp(pt.stack([w[0] * s, w[1]])))
    return model


def test_values_at_many_points_are_those_at_each_with_the_same_bounds():
    joint, rng = ModelDensity(regression()), np.random.default_rng(1)
    points = {
        "w": rng.normal(size=(7, 3)),
        "s": rng.exponential(size=7),
        "k": rng.integers(0, 4, 7),
    }
    points["s"][3] = -1.0  # impossible
    values, bounds = joint.values(points)
    each = [joint.value({name: x[i] for name, x in points.items()}) for i in range(7)]
    assert values[3] == each[3][0] == -np.inf
    good = np.arange(7) != 3
    assert values[good] == pytest.approx(np.array(each)[good, 0], rel=1e-13)
    assert bounds[good] == pytest.approx(np.array(each)[good, 1], rel=1e-6)


def test_values_that_are_impossible_spoil_no_others():
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        pm.Bernoulli("y", x[0], observed=1)
        inverse = pt.linalg.inv(pt.stack([[x[0], x[1]], [x[1], x[0]]]))
        pm.Potential("more", -(inverse**2).sum())
    rows = np.array([[0.5, 0.2], [1.5, 0.2], [0.5, 0.5], [0.3, 0.4]])
    values, _ = ModelDensity(model).values({"x": rows})
    assert np.isfinite(values).tolist() == [True, False, False, True]


@pytest.mark.parametrize("mode", [PYTHON_MODE, LIGHT_MODE, BATCH_MODE], ids=["py", "light", "full"])
@pytest.mark.parametrize("batch", [(), (None,)], ids=["one", "many"])
def test_no_operation_is_a_graph_of_its_own(mode, batch):
    x, m = pt.tensor("x", shape=(*batch, 3)), pt.tensor("m", shape=(*batch, 2, 2))
    inner = OpFromGraph([a := pt.matrix()], [pt.linalg.inv(a) @ pt.exp(a)])
    outputs = [pt.logsumexp(x, -1), pt.special.softmax(x, -1), pt.special.xlogy(x, x + 4)]
    run = compiled([x, m], [*outputs, Blockwise(inner, signature="(n,n)->(n,n)")(m)], mode)
    ops = [getattr(n.op, "core_op", n.op) for n in run.__wrapped__.maker.fgraph.apply_nodes]
    assert not [op for op in ops if isinstance(op, OpFromGraph)]
    shape = tuple(5 for _ in batch)
    given, square = np.ones((*shape, 3)), np.broadcast_to(2 * np.eye(2), (*shape, 2, 2))
    found = run(given, square)
    assert found[0] == pytest.approx(1 + np.log(3))
    assert found[1] == pytest.approx(1 / 3)
    assert found[2] == pytest.approx(np.log(5))
    assert found[3] == pytest.approx(np.linalg.inv(square) @ np.exp(square))


@pytest.mark.parametrize("blocks", [False, True])
def test_a_diagonal_matrix_is_made_by_a_function(blocks):
    x = pt.tensor("x", shape=(3,))
    made = pt.diag(x)
    if blocks:  # as gradients have it: over no axis at all
        made = Blockwise(made.owner.op, signature="(n)->(n,n)")(x)
    run = compiled([x], [made])
    ops = [getattr(n.op, "core_op", n.op) for n in run.__wrapped__.maker.fgraph.apply_nodes]
    assert not [op for op in ops if isinstance(op, OpFromGraph)]
    assert run(np.array([1.0, np.nan, np.inf]))[0] == pytest.approx(
        np.array([[1, 0, 0], [0, np.nan, 0], [0, 0, np.inf]]), nan_ok=True
    )


NUMBER_BY_NUMBER = {
    "cast": (lambda x: pt.cast(x, "int64"), lambda x: x.astype(int)),
    "clip": (lambda x: pt.clip(x, -1, 0.5), lambda x: np.clip(x, -1, 0.5)),
    "log(1 - e^x)": (lambda x: pt.log1mexp(-abs(x)), lambda x: np.log(-np.expm1(-abs(x)))),
    "softplus": (pt.softplus, lambda x: np.log1p(np.exp(x))),
    "trigamma": (lambda x: pt.tri_gamma(abs(x)), lambda x: special.polygamma(1, abs(x))),
    "copy": (pt.tensor_copy, lambda x: x),
    "sum": (lambda x: pt.add(x, x**2, x, 1.0), lambda x: 2 * x + x**2 + 1),
    "product": (lambda x: pt.mul(x, x + 2, x - 1), lambda x: x * (x + 2) * (x - 1)),
    "join": (lambda x: pt.concatenate([x, 2 * x], -1), lambda x: np.concatenate([x, 2 * x], -1)),
}


@pytest.mark.parametrize(
    ("batch", "mode"), [((), PYTHON_MODE), ((), LIGHT_MODE), ((None,), BATCH_MODE)]
)
@pytest.mark.parametrize("name", NUMBER_BY_NUMBER)
def test_nothing_is_evaluated_number_by_number(name, batch, mode):
    made, expected = NUMBER_BY_NUMBER[name]
    one = pt.tensor("x", shape=(4,))
    x = pt.tensor("x", shape=(*batch, 4))
    run = compiled([x], [vectorize_graph(made(one), {one: x})], mode)
    given = np.linspace(-2.2, 3.1, 12).reshape(3, 4) if batch else np.array([-2.0, -0.3, 0.6, 3])
    for node in run.__wrapped__.maker.fgraph.apply_nodes:
        if isinstance(node.op, Elemwise):  # which has a function of arrays, of so many inputs
            assert (node.op.nfunc_spec or ("", 0))[1] == len(node.inputs)
        assert not isinstance(node.op, Blockwise)
    assert run(given)[0] == pytest.approx(expected(given), rel=1e-14)


@pytest.mark.slow
def test_points_and_configurations_are_evaluated_crosswise():
    model = regression()
    batch, rng = BatchDensity(ModelDensity(model)), np.random.default_rng(2)
    points = rng.normal(size=(5, batch.size))
    each, natural = batch.by_level(points)
    joint = ModelDensity(model)
    for k in range(4):
        rows = batch.rows(natural, np.full(5, k))
        jacobian = np.log(rows["s"])
        assert each[:, k] == pytest.approx(joint.values(rows)[0] + jacobian, rel=1e-12)


def test_a_point_without_an_inverse_is_no_number_and_spoils_no_other():
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        k = pm.Bernoulli("k", 0.5)
        inverse = pt.linalg.inv(pt.stack([[x[0] * k, x[1]], [x[1], x[0]]]))
        pm.Potential("more", -(inverse**2).sum())
    found = BatchDensity(ModelDensity(model)).by_level(
        np.array([[1.0, 2.0], [1.0, 0.0], [0.0, 0.0]])
    )[0]
    assert np.isfinite(found).tolist() == [[True, True], [False, True], [False, False]]


def test_only_what_may_change_is_frozen():
    assert frozen(model := regression()) is model
    with pm.Model(coords={"row": range(4)}) as model:
        mean = pm.Data("mean", np.zeros(4), dims="row")
        pm.Normal("x", mean, dims="row")
    held = frozen(model)
    assert held is not model
    pm.set_data({"mean": np.ones(4)}, model)
    assert ModelDensity(held).value({"x": np.zeros(4)})[0] == -2 * np.log(2 * np.pi)


@pytest.mark.slow
def test_an_integral_keeps_the_data_that_it_was_made_with():
    data = pytensor.shared(np.array([1.0, 2.0]), name="data")
    with pm.Model() as model:
        mu = pm.Normal("mu")
        pm.StudentT("y", 4, mu=mu, sigma=1, observed=data)
    posterior = bm.integrate(model, rng=1)
    at = {"mu": np.array([0.5])}
    before = posterior.log_density(at)
    data.set_value(np.array([9.0, 9.0]))
    assert posterior.log_density(at) == before
    assert bm.integrate(model, rng=1).log_evidence < posterior.log_evidence - 10
