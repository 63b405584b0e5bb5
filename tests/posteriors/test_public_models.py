"""Models as they are published, which once ended in an exception of PyTensor or NumPy."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.distributions.distribution import SymbolicRandomVariable, _support_point
from pymc.logprob.abstract import _logprob
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from scipy import stats

import bayesmodels as bm
from bayesmodels.numerics.islands import framed, logs_of, polished

ROWS = np.random.default_rng(20261127).normal(size=12)


@pytest.mark.slow
def test_a_name_is_a_name_though_numpy_may_read_it_as_a_type():
    def integrated(name):
        with pm.Model() as model:
            noise = pm.HalfNormal(name, 1.0)
            level = pm.Normal(f"{name} level", 0, 2)
            pm.Normal("y", level, noise, observed=ROWS)
        return bm.integrate(model, rng=1)

    evidence = integrated("noise").log_evidence
    assert [integrated(name).log_evidence for name in ("1|Subject_sigma", "i4")] == [evidence] * 2


@pytest.mark.slow
def test_what_depends_on_a_shape_alone_is_no_part_of_a_block():
    def integrated(ones):
        with pm.Model() as model:
            noise = pm.HalfNormal("noise", 1.0)
            level = pm.Normal("level", 0, 1, shape=5)
            pm.Normal("y", level, noise, observed=ROWS[:5])
            pm.Normal("beside", ones(level) * noise, 1, observed=ROWS[5:10])
        return bm.integrate(model, rng=1)

    found = integrated(lambda level: pt.ones(level.shape[0]))
    assert found.integrated == ("level",)
    assert found.log_evidence == pytest.approx(integrated(lambda _: np.ones(5)).log_evidence)


@pytest.mark.slow
def test_a_flat_prior_is_no_slope():
    """Of so many rows its term is evaluated on its own, and depends on the shape alone."""
    with pm.Model() as model:
        scales = pm.HalfNormal("scales", 1, shape=2)
        level = pm.Flat("level", shape=192)
        steps = pm.logp(pm.Normal.dist(level[:-1], scales[0]), level[1:])
        pm.Potential("steps", steps.sum())
        pm.Normal("y", level, scales[1], observed=np.cumsum(np.resize(ROWS, 192)))
    assert bm.exact(model, partial=True, rng=1).integrated == ("level",)


@pytest.mark.slow
def test_a_variable_without_elements_stays():
    with pm.Model() as model:
        noise = pm.HalfNormal("noise", 1.0)
        none = pm.Normal("none", 0, 1, shape=0)
        level = pm.Normal("level", 0, 2)
        pm.Normal("y", level + np.zeros((12, 0)) @ none, noise, observed=ROWS)
    assert bm.exact(model, partial=True, rng=1).integrated == ("level",)


@pytest.mark.filterwarnings("ignore:.*RandomVariable.*rng:DeprecationWarning")
def test_a_simulator_is_refused_before_it_is_run():
    with pm.Model() as model:
        level = pm.Normal("level", 0, 5)

        def simulated(rng, level, size):  # noqa: ARG001 - PyMC's signature
            return rng.normal(level, 1, size=1000)

        pm.Simulator("rows", simulated, params=(level,), sum_stat="mean", observed=ROWS)
    with pytest.raises(bm.NotConjugate, match="the density of rows is itself random"):
        bm.integrate(model, rng=1)


class Fails(Op):
    """Somebody's operation, which fails in its own way."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [pt.as_tensor(x)], [pt.vector(shape=(1,))])

    def perform(self, node, inputs, outputs):  # noqa: ARG002 - PyTensor's signature
        if inputs[0].shape:
            outputs[0][0] = np.zeros(1) + np.zeros(0)[:0].reshape(2, 0)
        raise RuntimeError("the solver\nhas not converged")

    def pullback(self, inputs, outputs, cotangents):  # noqa: ARG002 - PyTensor's signature
        return [cotangents[0] * cotangents[1]]  # of a second output, which there is not


def test_an_operation_that_fails_is_named_with_its_variables():
    with pm.Model() as model:
        noise = pm.HalfNormal("noise", 1.0)
        rate = pm.Normal("rate", 0, 1)
        pm.Normal("y", Fails()(rate), noise, observed=ROWS)
    said = "Fails fails at some values of rate.*: RuntimeError: the solver"
    with pytest.raises(bm.NotConjugate, match=said):
        bm.integrate(model, rng=1)
    for partial in (False, True):
        with pytest.raises(bm.NotConjugate, match="rate"):
            bm.exact(model, partial=partial, rng=1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_of_a_differential_equation_there_is_a_reason():
    from pymc.ode import DifferentialEquation

    times = np.arange(0.0, 3, 0.5)
    solved = DifferentialEquation(
        func=lambda y, t, p: -p[0] * y[0],  # noqa: ARG005 - PyMC's signature
        times=times,
        n_states=1,
        n_theta=1,
        t0=0,
    )
    with pm.Model() as model:
        noise, rate, first = pm.HalfNormal("noise", 1), pm.LogNormal("rate"), pm.Normal("first", 5)
        pm.Normal("y", solved(y0=[first], theta=[rate]), noise, observed=ROWS[:6, None])
    for verb in (bm.exact, lambda *a, **k: bm.exact(*a, partial=True, **k), bm.integrate):
        with pytest.raises(bm.NotConjugate, match=r"noise|rate|first"):
            verb(model, seconds=2, rng=1)


@pytest.mark.slow
def test_a_number_that_is_a_place_has_no_place_beyond_an_array():
    """As the states of a hidden chain with a law of one's own, of which no range is known."""
    with pm.Model() as model:
        noise = pm.HalfNormal("noise", 1.0)
        share = pt.constant([0.3, 0.7])

        def logp(value, share):
            return pt.log(share[value]).sum()

        def random(share, rng=None, size=None):
            return rng.choice(2, size=size, p=share)

        state = pm.CustomDist("state", share, logp=logp, random=random, shape=5, dtype="int64")
        pm.Normal("y", pt.constant([0.0, 2.0])[state], noise, observed=ROWS[:5])
    for verb in (bm.exact, lambda *a, **k: bm.exact(*a, partial=True, **k), bm.integrate):
        with pytest.raises(bm.NotConjugate, match=r"state .*whole number"):
            verb(model, rng=1)


@pytest.mark.slow
def test_the_steps_of_a_loop_are_not_compiled():
    """As of a Kalman filter: without C, all is refused or answered in the time that it has."""
    with pm.Model() as model:
        scales = pm.HalfNormal("scales", 1, shape=2)

        def step(y, mean, var, total, moves, noise):
            var = var + moves**2
            spread = var + noise**2
            gain = var / spread
            total = total - pt.log(spread) / 2 - (y - mean) ** 2 / spread / 2
            return mean + gain * (y - mean), var * (1 - gain), total

        zero = pt.constant(0.0, dtype="float64")
        _, _, totals = pytensor.scan(
            step,
            sequences=[pt.constant(ROWS)],
            outputs_info=[zero, pt.constant(4.0, dtype="float64"), zero],
            non_sequences=[scales[0], scales[1]],
            return_updates=False,
        )
        pm.Potential("rows", totals[-1])
    posterior = bm.integrate(model, tolerance=1e-3, rng=1)

    with pm.Model() as same:
        scales = pm.HalfNormal("scales", 1, shape=2)
        first = pm.Normal("first", 0, 2)
        steps = pm.Normal("steps", 0, 1, shape=12)
        pm.Normal("y", first + pt.cumsum(scales[0] * steps), scales[1], observed=ROWS)
    constant = 12 * stats.norm.logpdf(0.0)
    expected = bm.integrate(same, tolerance=1e-3, rng=1).log_evidence
    assert posterior.log_evidence + constant == pytest.approx(expected, abs=5e-3)


@pytest.mark.slow
def test_a_frame_of_a_sliver_is_narrowed():
    """Its points have a covariance whose least root is next to nothing, or below it."""

    def sliver(x):
        along, across = x[:, 0] + x[:, 1], x[:, 0] - x[:, 1]
        return -((along / 2) ** 2) - (1e9 * across) ** 2, np.zeros((len(x), 0))

    island, _ = framed(sliver, *polished(logs_of(sliver), np.zeros(2)))
    assert np.isfinite(island.frame.root).all()


class DiscreteMCRV(SymbolicRandomVariable):
    """A hidden chain as pymc-extras has it: the matrix of its moves comes first."""

    _print_name = ("DiscreteMC", "DiscreteMC")
    default_output = 1


@_logprob.register(DiscreteMCRV)
def _chain_logp(op, values, moves, first, rng, **more):  # noqa: ARG001 - PyMC's signature
    (states,) = values
    return pt.log(first[states[0]]) + pt.log(moves[states[:-1], states[1:]]).sum()


@_support_point.register(DiscreteMCRV)
def _chain_start(op, rv, *more):  # noqa: ARG001 - PyMC's signature
    return pt.zeros_like(rv)


def test_the_states_of_a_hidden_chain_of_pymc_extras_are_summed_out():
    moves, first = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5])
    level, y = np.array([0.0, 2.0]), np.array([0.1, -0.3, 2.2, 1.9, 0.4])
    given = [pt.matrix("moves"), pt.vector("first"), pt.random.type.random_generator_type("rng")]
    drawn = pt.zeros(5, dtype="int64")  # nothing is drawn here
    op = DiscreteMCRV(given, [given[2], drawn], extended_signature="(k,k),(k),[rng]->[rng],(n)")
    rng = pytensor.shared(np.random.default_rng(1))
    with pm.Model() as model:
        values = [pt.as_tensor(moves), pt.as_tensor(first)]
        states = model.register_rv(op(*values, rng), name="states")
        pm.Normal("y", pt.constant(level)[states], 1, observed=y)
    ahead = first * stats.norm.pdf(y[0], level)
    for seen in y[1:]:
        ahead = ahead @ moves * stats.norm.pdf(seen, level)
    assert bm.exact(model, rng=1).log_evidence == pytest.approx(np.log(ahead.sum()))
