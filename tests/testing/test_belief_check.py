"""Every verb of a belief that is not that of its log density is named; of right ones none is."""

import copy

import numpy as np
import pytest
from scipy import stats

import bayesmodels as bm
from tests.contract.cases import CASES, FAMILIES

RNG = np.random.default_rng(20261101)
X = RNG.normal(size=(20, 2))
Y = X @ [1.0, -1.0] + RNG.normal(size=20)
COIN = bm.BetaBernoulli(2, 5), np.array([1, 0, 0, 1, 0, 0, 0, 1])
NORMAL = bm.NormalInverseGamma(1, 0.5, 3, 2), Y
FEW = bm.NormalInverseGamma(1, 0.5, 1, 2), Y[:3]
LINE = bm.LinearRegression([0, 0], 1, 3, 2), (X, Y)
FLAT = bm.LinearRegression.flat(2), (X, Y)
COLOURS = bm.DirichletCategorical([1, 2, 3]), np.array([0, 2, 2, 1, 2, 0, 2, 2])


def planted(model, **verbs):
    """Return a belief with other verbs, which its posteriors have too."""
    wrong = copy.copy(model)
    object.__setattr__(wrong, "__class__", type("Wrong", (type(model),), verbs))
    return wrong


def right(self):
    """Return the same belief with its own verbs."""
    own = copy.copy(self)
    object.__setattr__(own, "__class__", type(self).__mro__[1])
    return own


def of(change, verb):
    """Return a verb of the belief that another one is changed to."""
    return lambda self, *given, **more: getattr(change(right(self)), verb)(*given, **more)


def then(change, verb):
    """Return a verb whose result is changed."""
    return lambda self, *given, **more: change(getattr(right(self), verb)(*given, **more))


def one_more(belief):
    return bm.BetaBernoulli(belief.alpha + 1, belief.beta)


def swapped(belief):
    return bm.BetaBernoulli(belief.beta, belief.alpha)


def rolled(belief):
    return bm.DirichletCategorical(np.roll(belief.alpha, 1))


def doubled(belief):
    return bm.DirichletCategorical(2 * belief.alpha)


def half_scale(belief):
    return bm.NormalInverseGamma(belief.location, belief.kappa, belief.shape, belief.scale / 2)


def more_freedom(belief):
    return bm.NormalInverseGamma(belief.location, belief.kappa, belief.shape + 1, belief.scale)


def wider_line(belief):
    return bm.LinearRegression(
        belief.mode()["w"], belief.precision / 1.3, belief.shape, belief.scale
    )


def line_freedom(belief):
    return bm.LinearRegression(belief.mode()["w"], belief.precision, belief.shape + 1, belief.scale)


def normal_for_t(self):
    laws = right(self).marginals()
    return laws | {"mu": stats.norm(laws["mu"].mean(), laws["mu"].std())}


def a_billionth_more(mean):
    return mean | {"mu": mean["mu"] + 1e-9}


def independent(self, draws, _=None):
    """Return right margins that do not know of each other."""
    one, other = (right(self).sample(draws, np.random.default_rng(s)) for s in (1, 2))
    (first, *rest) = one
    return {first: one[first]} | {name: other[name] for name in rest}


def replicated_by(change):
    def replicate(self, draws, data, rng=None):
        return right(self).replicate(change(draws), data, rng)

    return replicate


PLANTED = {
    "sample of one more success": (COIN, "sample", of(one_more, "sample")),
    "sample of alpha and beta swapped": (COIN, "sample", of(swapped, "sample")),
    "sample with half of the scale": (NORMAL, "sample", of(half_scale, "sample")),
    "sample with more degrees of freedom": (NORMAL, "sample", of(more_freedom, "sample")),
    "sample without dependence": (FEW, "sample", independent),
    "sample of wider coefficients": (LINE, "sample", of(wider_line, "sample")),
    "sample of wider coefficients, flat prior": (FLAT, "sample", of(wider_line, "sample")),
    "sample of rolled categories": (COLOURS, "sample", of(rolled, "sample")),
    "sample of twice the counts": (COLOURS, "sample", of(doubled, "sample")),
    "marginals of one more success": (COIN, "marginals", of(one_more, "marginals")),
    "marginals of alpha and beta swapped": (COIN, "marginals", of(swapped, "marginals")),
    "marginals with half of the scale": (NORMAL, "marginals", of(half_scale, "marginals")),
    "marginals normal for Student-t": (FEW, "marginals", normal_for_t),
    "marginals with other freedom": (LINE, "marginals", of(line_freedom, "marginals")),
    "marginals with other freedom, flat prior": (FLAT, "marginals", of(line_freedom, "marginals")),
    "marginals of twice the counts": (COLOURS, "marginals", of(doubled, "marginals")),
    "mean is the mode": (COIN, "mean", lambda self: right(self).mode()),
    "mean is off by a hundredth of a deviation": (
        NORMAL,
        "mean",
        lambda self: (
            right(self).mean()
            | {"mu": self.location + 0.01 * right(self).marginals()["mu"].std()}
        ),
    ),
    "mean is the mode of the variance": (LINE, "mean", lambda self: right(self).mode()),
    "var is the deviation": (
        COIN, "var", then(lambda x: {k: np.sqrt(v) for k, v in x.items()}, "var"),
    ),
    "var is halved": (LINE, "var", then(lambda x: {k: v / 2 for k, v in x.items()}, "var")),
    "interval is another": (
        COLOURS,
        "interval",
        lambda self, prob=0.89, kind="eti": right(self).interval(prob + 0.01, kind),
    ),
    "mode is the mean": (COIN, "mode", lambda self: right(self).mean()),
    "mode of the variance alone": (
        NORMAL,
        "mode",
        lambda self: {"mu": self.location[()], "sigma2": self.scale / (self.shape + 1)},
    ),
    "mode of one more row": (COLOURS, "mode", of(doubled, "mode")),
    "mode is the mean of the variance": (LINE, "mode", lambda self: right(self).mean()),
    "predictive of one more success": (COIN, "predictive", of(one_more, "predictive")),
    "predictive with half of the scale": (NORMAL, "predictive", of(half_scale, "predictive")),
    "predictive of plugged in parameters": (
        NORMAL, "predictive", lambda self: right(self).plug_in(right(self).mean()),
    ),
    "log likelihood of zeros for ones": (
        COIN,
        "log_likelihood",
        lambda self, draws, data: right(self).log_likelihood(
            {"theta": 1 - np.asarray(draws["theta"])}, data
        ),
    ),
    "log likelihood without a constant": (
        NORMAL, "log_likelihood", then(lambda x: {"x": x["x"] + 0.92}, "log_likelihood"),
    ),
    "log likelihood, flat prior": (
        FLAT, "log_likelihood", then(lambda x: {"y": 0.5 * x["y"]}, "log_likelihood"),
    ),
    "replicated zeros for ones": (
        COIN, "replicate", replicated_by(lambda draws: {"theta": 1 - np.asarray(draws["theta"])}),
    ),
    "replicated with the variance for the deviation": (
        NORMAL,
        "replicate",
        replicated_by(lambda draws: draws | {"sigma2": np.asarray(draws["sigma2"]) ** 2}),
    ),
    "replicated without noise": (
        LINE,
        "replicate",
        replicated_by(lambda draws: draws | {"sigma2": 0 * np.asarray(draws["sigma2"])}),
    ),
    "replicated with half of the variance": (
        LINE,
        "replicate",
        replicated_by(lambda draws: draws | {"sigma2": np.asarray(draws["sigma2"]) / 2}),
    ),
    "replicated categories rolled": (
        COLOURS, "replicate", then(lambda x: {k: (v + 1) % 3 for k, v in x.items()}, "replicate"),
    ),
}  # fmt: skip


SEEDS = [range(1), pytest.param(range(1, 3), marks=pytest.mark.slow)]


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("name", PLANTED)
def test_the_wrong_verb_is_named_and_no_other(name, seeds):
    (model, data), verb, wrong = PLANTED[name]
    for seed in seeds:
        found = bm.testing.check_belief(planted(model, **{verb: wrong}), data, rng=seed)
        assert (found.outcome, found.to_blame) == ("disagree", (verb,)), (seed, found)


FIRST = [family[0] for family in FAMILIES]


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, id=c.id, marks=() if c in FIRST[:5] else pytest.mark.slow) for c in CASES],
)
def test_of_right_verbs_none_is_blamed(case):
    for seed in range(1 if case in FIRST else 2):
        found = bm.testing.check_belief(case.prior, case.data, rng=seed)
        assert (found.outcome, found.findings) == ("agree", ()), (seed, found)


HARD = {
    "far from zero": (bm.NormalInverseGamma(1e10, 1, 1, 1), 1e10 + Y),
    "far from a prior": (bm.NormalInverseGamma(0, 1e-3, 1, 1), 1e8 + Y),
    "predictors far from zero": (bm.LinearRegression([0, 0], 1, 3, 2), (1e8 + X, Y)),
    "draws that are 0 or 1": (bm.BetaBernoulli(1e-3, 1e-3), [0, 0]),
    "categories that are hardly ever seen": (bm.DirichletCategorical([1, 1e-3, 1e3]), [2, 2]),
    "events that are hardly ever seen": (bm.GammaPoisson(2, 1e5), [0, 0]),
    "no means": (bm.NormalInverseGamma(0, 1, 0.5, 1), [1.0]),
    "a simplex of two": (bm.DirichletCategorical([1, 1]), [0, 1, 1]),
    "no rows": (bm.BetaBernoulli(1, 1), []),
    "a statistic": (COIN[0], COIN[0].statistic(COIN[1])),
    "weights": (COIN[0], bm.Weighted([1, 0, 1], [0.5, 2, 1])),
    "a mean of zero, a billionth off": (
        planted(bm.NormalInverseGamma(0, 1, 3, 2), mean=then(a_billionth_more, "mean")),
        [-1.0, 1.0],
    ),
}


@pytest.mark.parametrize("name", HARD)
def test_nor_where_numbers_are_hard(name):
    for seed in range(5):
        assert bm.testing.check_belief(*HARD[name], rng=seed).to_blame == (), seed


def test_what_was_found_is_said():
    assert "are those of its log density" in bm.testing.check_belief(*COIN, rng=1).sentences()[0]
    (model, data), verb, wrong = PLANTED["mode is the mean"]
    said = bm.testing.check_belief(planted(model, **{verb: wrong}), data, rng=1).sentences()[0]
    assert said.startswith("To blame: mode. Near the mode the log density is up to ")
    outside = planted(model, mode=lambda _: {"theta": np.array(1.5)})
    assert "outside" in bm.testing.check_belief(outside, data, rng=1).sentences()[0]
    with pytest.raises(bm.DataError, match="level: must be strictly between 0 and 1"):
        bm.testing.check_belief(model, data, level=0)


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("wrong", [1e12, 1.0])
@pytest.mark.parametrize("model", [COIN, NORMAL, LINE, COLOURS], ids=lambda m: type(m[0]).__name__)
def test_a_bound_that_hides_everything_is_named(model, wrong, seeds):
    prior, data = model

    def bound(self, draws):
        own = right(self).log_density_rounding(draws)
        return wrong * own if wrong > 1 else own + wrong

    loose = planted(prior, log_density_rounding=bound)
    declared, posterior = loose.declare(data), loose.update(data)
    for seed in seeds:
        identity = bm.check_identity(declared, posterior, loose, rng=seed)
        assert not identity.holds
        assert "log_density_rounding hides whatever is wrong" in identity.sentences()[0]
        found = bm.diagnose(declared, loose, data, identity=identity)
        assert found.terms == ("log_density_rounding",)
