"""The inverse-Wishart declaration: coordinates, their Jacobian, derivatives, and sampling."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.mode import Mode
from pytensor.gradient import verify_grad
from scipy import stats

import bayesmodels as bm
from bayesmodels.models import inverse_wishart_pymc as declared
from bayesmodels.posteriors.model_density import ModelDensity

IN_PYTHON = Mode(linker="py", optimizer=None)
RNG = np.random.default_rng(20261121)
SCALE = np.array([[3.0, 0.8, -1.5], [0.8, 1.0, 0.1], [-1.5, 0.1, 2.0]])
ROOTS = np.tril(RNG.normal(size=(2, 3, 3))) + 2 * np.eye(3)
ROWS = RNG.normal(size=(9, 2)) @ [[1, 0.3], [0, 2]] + [1, 2]
PRIOR = bm.NormalInverseWishart([0, 1], 0.5, 3.5, [[2, 0.3], [0.3, 1]])
GROUPS = bm.Grouped(ROWS, list("aabbabbab"), groups=["a", "b", "none"])
SHARED = bm.SharedNormalInverseWishart(
    [[0, 1], [1, 1], [2, 0]], [0.5, 1, 2], 3.5, [[2, 0.3], [0.3, 1]]
)


def prior_model(df, scale, kappa=1.0):
    width = len(scale)
    with pm.Model(coords={"feature": range(width), "other": range(width)}) as model:
        sigma = declared.inverse_wishart("Sigma", np.array(df), scale, scale, ("feature", "other"))
        declared.normal(
            "mu",
            np.zeros(width),
            sigma,
            np.array(kappa),
            ("feature",),
            default_transform=declared.Standardised(np.zeros(width), np.array(kappa)),
        )
    return model


@pytest.mark.slow
@pytest.mark.parametrize("batch", [(), (2,)])
def test_operations_agree_in_python_and_in_numba_and_invert_each_other(batch):
    roots = ROOTS if batch else ROOTS[0]
    z, centre = RNG.normal(size=(*batch, 3)), RNG.normal(size=(*batch, 3))
    root, point = pt.tensor(shape=roots.shape), pt.tensor(shape=z.shape)
    sigma = declared.CovarianceOfRoot()(root)
    made = [sigma, declared.RootOfCovariance(3)(sigma), declared.Located()(centre, root, point)]
    in_python, in_numba = (
        pytensor.function([root, point], made, mode=mode)(roots, z) for mode in (IN_PYTHON, "NUMBA")
    )
    for one, other in zip(in_python, in_numba, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    sigma, back, mu = in_python
    np.testing.assert_allclose(sigma, np.linalg.inv(np.swapaxes(roots, -1, -2) @ roots), rtol=1e-10)
    np.testing.assert_allclose(back, roots, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose((roots @ (mu - centre)[..., None])[..., 0], z, atol=1e-12)


@pytest.mark.slow
def test_packed_entries_fill_the_lower_triangle_row_by_row():
    entries = RNG.normal(size=(2, 6))
    packed = pt.tensor(shape=entries.shape)
    lower = declared.LowerTriangle(3)(packed)
    made = [lower, declared.PackedEntries(3)(lower + np.triu(np.ones((3, 3)), 1))]
    rows, columns = np.tril_indices(3)
    wanted = np.zeros((2, 3, 3))
    wanted[..., rows, columns] = entries
    for mode in (IN_PYTHON, "NUMBA"):
        matrix, back = pytensor.function([packed], made, mode=mode)(entries)
        assert (matrix == wanted).all()
        assert (back == entries).all()
    verify_grad(declared.LowerTriangle(3), [entries], rng=RNG, mode=IN_PYTHON)
    verify_grad(declared.PackedEntries(3), [wanted], rng=RNG, mode=IN_PYTHON)


def test_derivatives_of_the_operations():
    lower = np.tri(3)
    vector = RNG.normal(size=3)

    def covariance(root):
        return declared.CovarianceOfRoot()(root * lower)

    def root(sigma):
        return declared.RootOfCovariance(3)((sigma + sigma.T) / 2)

    def located(root, z):
        return declared.Located()(vector, root * lower, z)

    verify_grad(covariance, [ROOTS[0]], rng=RNG, mode=IN_PYTHON)
    verify_grad(root, [SCALE], rng=RNG, mode=IN_PYTHON)
    verify_grad(located, [ROOTS[0], vector], rng=RNG, mode=IN_PYTHON)

    def slope(sigma):  # whose derivative is the second one
        return pytensor.grad((root(sigma) ** 2).sum(), sigma)

    verify_grad(slope, [SCALE], rng=RNG, mode=IN_PYTHON)


@pytest.mark.slow
@pytest.mark.parametrize("likelihood", ["rows", "statistic"])
@pytest.mark.parametrize(
    ("prior", "data"), [(PRIOR, ROWS), (PRIOR, GROUPS), (SHARED, GROUPS)], ids=repr
)
def test_the_density_that_is_sampled_is_that_of_natural_space_times_the_jacobian(
    prior, data, likelihood
):
    model = prior.declare(data, likelihood)
    outputs = [model["Sigma"], model["mu"]]
    natural = pytensor.function(
        model.value_vars, model.replace_rvs_by_values(outputs), mode=IN_PYTHON
    )
    sampled = model.compile_fn(
        [model.logp(jacobian=True), model.logp(jacobian=False)], mode=IN_PYTHON
    )
    joint = ModelDensity(model)
    start = model.initial_point()
    point = {name: x + 0.3 * RNG.normal(size=x.shape) for name, x in start.items()}
    names = [v.name for v in model.value_vars]
    rows, columns = np.tril_indices(2)

    def free(vector):
        parts = np.split(vector, np.cumsum([point[name].size for name in names])[:-1])
        sigma, mu = natural(*(p.reshape(point[n].shape) for n, p in zip(names, parts, strict=True)))
        return np.concatenate([sigma[..., rows, columns].ravel(), mu.ravel()])

    at = np.concatenate([point[name].ravel() for name in names])
    steps = 1e-5 * np.eye(len(at))
    jacobian = np.array([(free(at + step) - free(at - step)) / 2e-5 for step in steps])
    with_jacobian, without = sampled(point)
    assert with_jacobian - without == pytest.approx(np.linalg.slogdet(jacobian)[1], abs=1e-6)
    sigma, mu = natural(*(point[name] for name in names))
    here = {"Sigma": sigma, "mu": mu}
    assert without == pytest.approx(joint(here, here).value, rel=1e-11)


@pytest.mark.parametrize("prior", [pytest.param(PRIOR, marks=pytest.mark.slow), SHARED], ids=repr)
def test_nothing_is_solved_while_rows_are_sampled(prior):
    model = prior.declare(GROUPS)
    function = model.logp_dlogp_function(
        mode=Mode(linker="py", optimizer="fast_run"), ravel_inputs=True
    )
    nodes = function._pytensor_function.maker.fgraph.apply_nodes
    slow = (declared.CovarianceOfRoot, declared.RootOfCovariance, declared.Located)
    assert not [node for node in nodes if isinstance(node.op, slow)]


def test_forward_undoes_backward():
    model = PRIOR.declare(GROUPS)
    point = {name: x + RNG.normal(size=x.shape) for name, x in model.initial_point().items()}
    transforms = {rv.name: t for rv, t in model.rvs_to_transforms.items()}
    free = {
        rv.name: pt.constant(point[v.name])
        for rv, v in model.rvs_to_values.items()
        if v.name in point
    }
    sigma = transforms["Sigma"].backward(free["Sigma"])
    inputs = [None, None, None, sigma, None]
    mu = transforms["mu"].backward(free["mu"], *inputs)
    again = [transforms["Sigma"].forward(sigma), transforms["mu"].forward(mu, *inputs)]
    for one, name in zip(again, ("Sigma", "mu"), strict=True):
        np.testing.assert_allclose(one.eval(mode=IN_PYTHON), free[name].data, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("prior", [PRIOR, SHARED], ids=repr)
def test_what_is_sampled_is_the_same_in_python_and_in_numba(prior):
    """Compiled loops see shapes that Python would broadcast."""
    model = prior.declare(prior.statistic(GROUPS), "statistic")
    point = {name: x + RNG.normal(size=x.shape) for name, x in model.initial_point().items()}
    made = model.replace_rvs_by_values([model["Sigma"], model["mu"]])
    in_python, in_numba = (
        pytensor.function(model.value_vars, made, mode=mode)(**point)
        for mode in (IN_PYTHON, "NUMBA")
    )
    for one, other in zip(in_python, in_numba, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.slow
def test_as_many_roots_as_vectors():
    root, point = pt.tensor(shape=(1, 3, 3)), pt.tensor(shape=(2, 3))
    located = pytensor.function(
        [root, point], declared.Located()(np.zeros(3), root, point), mode="NUMBA"
    )
    with pytest.raises(ValueError, match="as many roots as vectors"):
        located(ROOTS[:1], np.zeros((2, 3)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_nuts_draws_means_with_one_covariance():
    with SHARED.declare(GROUPS):
        tree = pm.sample(1000, tune=1000, chains=4, random_seed=3, progressbar=False)
    assert not tree.sample_stats.diverging.any()
    verdict = bm.compare(SHARED.update(GROUPS), tree)
    assert verdict.outcome == "agree", verdict


@pytest.mark.slow
def test_pymc_draws_the_prior_that_scipy_draws():
    model = prior_model(6.0, SCALE)
    sigma, mu = pm.draw([model["Sigma"], model["mu"]], 3000, random_seed=1, mode=IN_PYTHON)
    law = bm.NormalInverseWishart(np.zeros(3), 1, 6, SCALE)
    theirs = stats.invwishart(6, SCALE).rvs(3000, random_state=np.random.default_rng(2))
    for i in range(3):
        for j in range(i + 1):
            assert stats.ks_2samp(sigma[:, i, j], theirs[:, i, j]).pvalue > 1e-4
    laws = law.marginals()
    assert (stats.kstest(laws["mu"].cdf(mu), "uniform").pvalue > 1e-4).all()


def test_pymc_draws_hardly_any_degrees_of_freedom():
    """Many draws of Sigma are singular to rounding."""
    mu = pm.draw(prior_model(2.05, SCALE)["mu"], 500, random_seed=1, mode=IN_PYTHON)
    assert np.isfinite(mu).all()


@pytest.mark.slow
def test_thirteen_measurements_of_wine():
    """Show: every R-hat below 1.01, no divergence, and the identity up to rounding."""
    from arviz_stats.sampling_diagnostics import rhat

    x = bm.datasets.load("wine").drop(columns="cultivar")
    x = (x - x.mean()) / x.std(ddof=0)
    prior = bm.NormalInverseWishart(np.zeros(13), 1, 15, np.eye(13))
    tree = bm.mcmc_draws(prior, x, likelihood="statistic", rng=np.random.default_rng(1))
    assert not tree.sample_stats.diverging.any()
    lower = np.tril_indices(13)
    sigma = tree.posterior.Sigma.to_numpy()[:, :, *lower]
    every = np.concatenate([sigma, tree.posterior.mu.to_numpy()], axis=-1)
    assert max(float(rhat(every[..., i])) for i in range(every.shape[-1])) < 1.01
    evidence = float(prior.log_evidence(x))
    for likelihood in ("rows", "statistic"):
        declared = prior.declare(x, likelihood)
        found = bm.check_identity(
            declared, prior.update(x), prior, evidence, rng=np.random.default_rng(2)
        )
        assert found.holds, found
