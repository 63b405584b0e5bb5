"""Everything public that draws at random takes a generator, a seed, or nothing, and checks it."""

import inspect
from functools import cache, partial

import numpy as np
import pymc as pm
import pytest
import xarray as xr

import bayesmodels as bm
from bayesmodels.belief.protocol import Simulating
from tests.contract.cases import CASES

BITS = np.array([1, 0, 0, 1, 1, 0])
TABLE = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]])
COIN = bm.BetaBernoulli(2, 2)
HEADS = COIN.update(BITS)
CLASSES = bm.DirichletCategorical([1, 1])
DISCRIMINANT = bm.GaussianDiscriminant(CLASSES, bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2)))
NORMALS = bm.NaiveBayes(CLASSES, bm.NormalInverseGamma([0, 0], 1, 1, 1))
NAIVE = bm.NaiveBayes(CLASSES, COIN).update((TABLE, BITS))
MIXTURE = bm.NaiveBayesMixture(CLASSES, COIN)
LOGISTIC = bm.LogisticRegression([0.0], 1, classes=[0, 1, 2])  # averaged by draws
LAPLACE = LOGISTIC.laplace((TABLE[:, :1], [0, 1, 2, 0, 1, 2]))
DRAWS = HEADS.to_datatree(draws=200, rng=1)
LINE = TABLE - 0.5, BITS - 0.25


def declared():
    with pm.Model() as model:
        theta = pm.Beta("theta", 2, 2)
        pm.Bernoulli("x", theta, observed=BITS)
    return model


def model_of_half():
    with pm.Model() as model:
        a = pm.HalfNormal("a")
        theta = pm.Beta("theta", a + 1, 2)
        pm.Bernoulli("x", theta, observed=BITS)
    return model


@cache
def half_conjugate():
    return bm.exact(model_of_half(), partial=True, rng=1)


@cache
def half_integrated():
    return bm.integrate(model_of_half(), rng=1)


def integrated(rng, verb):
    if verb == "leave_one_out":
        return half_integrated().leave_one_out(rng=rng).round(6)
    return getattr(half_integrated(), verb)(5, rng=rng)


def estimator(rng):
    return bm.estimators.NaiveBayesClassifier().fit(TABLE, BITS).to_datatree(rng=rng)


def drawn(rng, verb="sample"):
    return getattr(bm.exact(declared(), rng=1), verb)(5, rng=rng)


def updated(rng, solve):
    with pm.Model() as model:
        pm.Bernoulli("x", pm.Beta("theta", 2, 2), observed=pm.Data("data", BITS))
    return solve(model, rng=1).update({"data": BITS}, rng=rng).explain()


def found(rng):
    return bm.check_identity(declared(), HEADS, COIN, COIN.log_evidence(BITS), rng=rng)


def half(rng, verb):
    part = half_conjugate()
    rest = {"a": np.array([[0.5, 1.0]])}
    if verb == "draw":
        return part.draw(rest, rng)
    if verb == "drawn":
        return part.drawn({"a": np.array([0.5, 1.0])}, rng)[0]
    if verb == "completed":
        return part.completed(xr.DataTree.from_dict({"posterior": xr.Dataset(
            {"a": (("chain", "draw"), rest["a"])})}), rng)  # fmt: skip
    return part.sample(5, tune=5, chains=1, rng=rng, progressbar=False)


QUICK = {
    "GaussianDiscriminant.class_probability_interval": lambda rng: bm.GaussianDiscriminant(
        CLASSES, bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
    ).class_probability_interval(LINE[0], draws=5, rng=rng),
    "LaplaceApproximation.class_probabilities": lambda rng: LAPLACE.class_probabilities(
        [[1.0]], draws=5, rng=rng
    ),
    "LaplaceApproximation.log_class_probabilities": lambda rng: LAPLACE.log_class_probabilities(
        [[1.0]], draws=5, rng=rng
    ),
    "LaplaceApproximation.sample": lambda rng: LAPLACE.sample(5, rng=rng),
    "LaplaceApproximation.to_datatree": lambda rng: LAPLACE.to_datatree(5, rng=rng),
    "LogisticRegression.ascend": lambda rng: LOGISTIC.ascend(
        (TABLE[:, :1], [0, 1, 2, 0, 1, 2]), stochastic=True, step=0.1, most=2, rng=rng
    ),
    "LogisticRegression.class_probabilities": lambda rng: LOGISTIC.class_probabilities(
        [[1.0]], draws=5, rng=rng
    ),
    "NaiveBayes.class_probability_interval": lambda rng: NAIVE.class_probability_interval(
        TABLE, draws=5, rng=rng
    ),
    "NaiveBayesMixture.em": lambda rng: MIXTURE.em(
        TABLE, starts=1, tolerance=0.1, rng=rng
    ).parameters,
    "assurance": lambda rng: bm.decisions.assurance(
        COIN, COIN, [5], lambda found: found.mean()["theta"] > 0.5, most=1, n=10, rng=rng
    ),
    "GaussianDiscriminant.bayes_risk": lambda rng: DISCRIMINANT.bayes_risk(
        {"pi": [0.5, 0.5], "mu": [[0, 1], [1, 0]], "Sigma": [np.eye(2), 2 * np.eye(2)]},
        draws=50, rng=rng,
    ),
    "NaiveBayes.bayes_risk": lambda rng: NORMALS.bayes_risk(
        {"pi": [0.5, 0.5], "mu": [[0, 1], [1, 0]], "sigma2": [[1, 1], [2, 2]]}, draws=50, rng=rng
    ),
    "compare": lambda rng: bm.compare(HEADS, DRAWS, rng=rng).table,
    "decide": lambda rng: bm.decide(COIN.update(bm.Grouped(BITS, by=[*"ababab"])), rng=rng).best,
    "exact_draws": lambda rng: bm.exact_draws(COIN, BITS, draws=5, rng=rng),
    "least_squares_descent": lambda rng: bm.least_squares_descent(
        LINE, stochastic=True, most=2, step=0.1, rng=rng
    ),
    "plot_boundary": lambda rng: bm.plots.plot_boundary(
        bm.NaiveBayes(CLASSES, bm.NormalInverseGamma([0, 0], 1, 1, 1)).update((LINE[0], BITS)),
        [0, 1], points=3, draws=5, rng=rng,
    ).get_xlabel(),
    "rank_features": lambda rng: bm.rank_features(NAIVE, draws=5, rng=rng),
    "stopping_rates": lambda rng: bm.decisions.stopping_rates(
        COIN, batch=5, acceptable_loss=0.01, most=10, n=5, rng=rng
    ),
    "scale.em": lambda rng: bm.scale.em(
        MIXTURE, [TABLE], starts=1, tolerance=0.1, rng=rng
    ).parameters,
}  # fmt: skip
COMPILES = {
    "ExactPosterior.predictive": partial(drawn, verb="predictive"),
    "ExactPosterior.sample": drawn,
    "ExactPosterior.to_datatree": partial(drawn, verb="to_datatree"),
    "ExactPosterior.update": partial(updated, solve=bm.exact),
    "IntegratedPosterior.update": partial(updated, solve=bm.integrate),
    "IntegratedPosterior.leave_one_out": partial(integrated, verb="leave_one_out"),
    "IntegratedPosterior.predictive": partial(integrated, verb="predictive"),
    "IntegratedPosterior.sample": partial(integrated, verb="sample"),
    "IntegratedPosterior.to_datatree": partial(integrated, verb="to_datatree"),
    "PartialPosterior.completed": partial(half, verb="completed"),
    "PartialPosterior.draw": partial(half, verb="draw"),
    "PartialPosterior.drawn": partial(half, verb="drawn"),
    "PartialPosterior.sample": partial(half, verb="sample"),
    "bridge_sampling": lambda rng: bm.bridge_sampling(declared(), DRAWS, rng=rng).log_evidence,
    "calibrate": lambda rng: bm.calibrate(COIN, BITS, n=100, draws=20, rng=rng).outcome,
    "check_identity": lambda rng: found(rng).constancy,
    "check_fit": lambda rng: bm.check_fit(COIN, BITS, rng=rng).table,
    "diagnose": lambda rng: bm.diagnose(declared(), COIN, BITS, rng=rng).sentences()[0],
    "compare_evidence": lambda rng: bm.compare_evidence(
        {"a": declared(), "b": model_of_half()}, rng=rng
    ),
    "exact": lambda rng: bm.exact(declared(), rng=rng).explain(),
    "integrate": lambda rng: bm.integrate(model_of_half(), rng=rng).explain(),
    "mcmc_draws": lambda rng: bm.mcmc_draws(COIN, BITS, draws=5, tune=5, chains=1, rng=rng),
    "sample": lambda rng: bm.sample(declared(), 5, rng=rng),
    "same": lambda rng: bm.same(declared(), declared(), rng=rng).varies,
    "validate": lambda rng: bm.validate(COIN, BITS, draws=20, tune=20, rng=rng).outcome,
}
CASELESS = {"NaiveBayesMixture": (MIXTURE, TABLE), "LogisticRegression": (LOGISTIC, None)}


def public():
    """Return everything public that takes `rng`, by name."""
    homes = [(f"{name}.", getattr(bm, name)) for name in ("scale", "estimators")]
    for prefix, home in [("", bm), ("", bm.results), ("", bm.plots), ("", bm.decisions), *homes]:
        for name in home.__all__:
            thing = getattr(home, name)
            members = inspect.getmembers(thing, callable) if inspect.isclass(thing) else []
            every = {
                f"{prefix}{name}.{key}": member
                for key, member in members
                if key[0] != "_" and not inspect.ismethoddescriptor(member)  # of Python's own
            }
            if not members and callable(thing):
                every = {f"{prefix}{name}": thing}
            for label, member in every.items():
                if "rng" in inspect.signature(member).parameters:
                    yield label, member


def of_beliefs():
    """Return the three verbs of every belief, by name."""
    priors = {type(case.prior).__name__: (case.start, case.data) for case in CASES}
    for name, (belief, data) in (priors | CASELESS).items():
        yield f"{name}.sample", partial(belief.sample, 5)
        yield f"{name}.to_datatree", partial(belief.to_datatree, 5)
        if data is not None:
            yield f"{name}.replicate", partial(belief.replicate, belief.sample(2, 1), data)
        if data is not None and isinstance(belief, Simulating):
            met = belief.update(belief.statistic(data).without_rows())  # with the rows' axes
            new = partial(met.simulated, data, met.sample(1, 1))
            yield f"{name}.simulated", lambda rng=None, new=new: new(rng=rng).statistic


KNOWN = QUICK | dict(of_beliefs())


def test_everything_public_is_asked():
    asked = KNOWN | COMPILES
    # As LinearRegression's, and asked in their tests.
    families = {"LogisticRegression.replicate", "LogisticRegression.simulated"}
    estimators = {name for name, _ in public() if name.startswith("estimators.")}
    assert {name for name, _ in public()} == {*asked, *families, *estimators}
    for name, function in public():
        rng = inspect.signature(function).parameters["rng"]
        assert rng.default is None, name
        assert rng.annotation == "np.random.Generator | int | None", name
    assert same(estimator(1), estimator(1))


def same(one, other):
    if isinstance(one, xr.DataTree):
        return all(one[name].to_dataset().equals(other[name].to_dataset()) for name in one.children)
    if isinstance(one, dict):
        return all(same(one[name], other[name]) for name in one)
    return repr(one) == repr(other) if not hasattr(one, "shape") else np.array_equal(one, other)


def marked(every):
    return [pytest.param(f, id=name) for name, f in every.items()]


@pytest.mark.parametrize(
    "ask",
    [*marked(KNOWN), *(pytest.param(f, id=n, marks=pytest.mark.slow) for n, f in COMPILES.items())],
)
def test_a_seed_is_a_seed_and_anything_else_is_refused(ask):
    assert same(ask(rng=np.random.default_rng(1)), ask(rng=1))
    if ask not in COMPILES.values():  # as its default says of all
        ask(rng=None)
    for wrong in ("a", -1, 0.5):
        with pytest.raises(bm.DataError, match=r"^rng: must be .*a seed such as 1.* got"):
            ask(rng=wrong)


@pytest.mark.parametrize("draws", [-1, 0, 1.5, "a", None, [3, 4], np.nan], ids=str)
def test_a_number_of_draws_is_checked(draws):
    priors = {type(case.prior).__name__: case.start for case in CASES}
    for belief in (*priors.values(), MIXTURE, LOGISTIC, LAPLACE):
        for verb in (belief.sample, belief.to_datatree):
            with pytest.raises(bm.DataError, match=r"^draws: must be at least 1, one whole number"):
                verb(draws)
        for prob in (0, 1, "a", None, [0.5, 0.9]):
            with pytest.raises(bm.DataError, match=r"^ci_prob: must be strictly between 0 and 1"):
                belief.interval(prob)


def test_fresh_randomness_is_fresh():
    for name in ("sample", "replicate"):
        ask = KNOWN[f"NormalInverseGamma.{name}"]
        assert not same(ask(), ask())
