"""Scores of probability-integral transforms: right draws keep the level, wrong ones are found."""

import numpy as np
import pytest
from scipy import signal, special, stats

from bayesmodels.referee.tests import polynomials as legendre
from bayesmodels.referee.tests import quartiles, score_tests
from bayesmodels.referee.tests.chains import chain_tests
from bayesmodels.referee.tests.polynomials import polynomials
from bayesmodels.referee.tests.shift import slopes

NAMES = [str(i) for i in range(200)]
SKEWED = stats.beta(5, 19)


def copies(rng, rho, shape=(200, 4, 1000)):
    """Return normal chains with autocorrelation."""
    noise = rng.standard_normal((*shape[:-1], shape[-1] + 300)) * np.sqrt(1 - rho**2)
    return signal.lfilter([1.0], [1.0, -rho], noise, axis=-1)[..., 300:]


def sticky(rng, stay, shape=(200, 4, 1000)):
    """Return uniform chains that stay where they are with a probability."""
    u, moves = rng.random(shape), rng.random(shape) > stay
    moves[..., 0] = True
    last = np.maximum.accumulate(np.where(moves, np.arange(shape[-1]), 0), axis=-1)
    return np.take_along_axis(u, last, axis=-1)


def of_law(law, size):
    """Return slopes of so many scalars of one law."""
    u = special.ndtr(np.linspace(-3.7, 3.7, 129))
    return np.repeat(slopes(law.ppf(u)[None], u[None]), size, axis=1)


def test_functions_have_mean_zero_and_variance_one():
    u = (np.arange(1_000_000) + 0.5) / 1_000_000
    f = np.concatenate([polynomials(u), quartiles.indicators(u)])
    np.testing.assert_allclose(f.mean(-1), 0, atol=1e-6)
    np.testing.assert_allclose(f.var(-1), 1, rtol=1e-5)
    np.testing.assert_allclose(polynomials(u) @ polynomials(u).T / u.size, np.eye(4), atol=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.random((200, 4, 1000)),
        lambda rng: special.ndtr(copies(rng, 0.5)),
        lambda rng: special.ndtr(copies(rng, 0.95)),
        lambda rng: special.ndtr(copies(rng, -0.8)),
        lambda rng: sticky(rng, 0.9),
        lambda rng: special.ndtr(copies(rng, 0.5, (200, 8, 100))),
    ],
    ids=["independent", "AR(0.5)", "AR(0.95)", "antithetic", "sticky", "many short chains"],
)
def test_right_draws_keep_the_level_of_every_function(make):
    u = make(np.random.default_rng(1))
    found = score_tests(NAMES, u, rates=of_law(SKEWED, 200))
    single = [kind.name for file in (legendre, quartiles) for kind in file.KINDS]
    for kind in (*single, "shift", "low tail", "high tail", "chain"):
        p = np.array([test.p for test in found if test.kind == kind])
        assert len(p) == 200
        # At 2 %, 4 of 200 are expected; more than 12 has probability below 5e-4.
        assert (p < 0.02).sum() <= 12, kind


def test_right_draws_of_one_chain_have_none_to_differ_from():
    found = score_tests(["x"], np.random.default_rng(1).random((1, 1, 1000)))
    assert "chain" not in {test.kind for test in found}


@pytest.mark.parametrize(
    ("change", "kind", "sign"),
    [
        (lambda x: x + 0.1, "location", 1),
        (lambda x: x * 1.1, "spread", 1),
        (lambda x: x * 0.9, "spread", -1),
        (lambda x: x + 0.1 * (x**2 - 1), "skew", 1),
        (lambda x: x + 0.03 * (x**3 - 3 * x), "tails", 1),
        (lambda x: np.where(x > 1.9, 1.0, x), "high tail", -1),
        (lambda x: np.where(x < -1.9, -1.0, x), "low tail", -1),
    ],
)
@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_what_is_wrong_is_named(change, kind, sign, rho):
    x = copies(np.random.default_rng(2), rho, (1, 4, 2000))
    found = score_tests(["x"], special.ndtr(change(x)))
    (test,) = [test for test in found if test.kind == kind]
    assert test.p < 1e-4
    assert np.sign(test.z) == sign


def test_what_happens_inside_a_tail_is_not_seen():
    x = copies(np.random.default_rng(2), 0.0, (1, 4, 2000))
    beyond_to_border = np.minimum(x, 1.96)
    assert min(test.p for test in score_tests(["x"], special.ndtr(beyond_to_border))) > 1e-3


def test_effects_are_in_standard_deviations_and_parts_of_them():
    x = copies(np.random.default_rng(3), 0.0, (1, 4, 50_000))
    one = {test.kind: test for test in score_tests(["x"], special.ndtr(x + 0.1))}
    assert one["location"].effect == pytest.approx(0.1, abs=5 / np.sqrt(200_000))
    one = {test.kind: test for test in score_tests(["x"], special.ndtr(x * 1.05))}
    assert one["spread"].effect == pytest.approx(0.05, abs=5 / np.sqrt(200_000))


@pytest.mark.parametrize("law", [SKEWED, stats.norm(3, 2), stats.t(3), stats.invgamma(5)])
def test_slopes_are_what_a_shift_does_to_the_means_of_the_polynomials(law):
    inside = np.linspace(1e-4, 1 - 1e-4, 200_001)
    step = 1e-5 * law.std()
    moved = polynomials(law.cdf(law.ppf(inside) + step)) - polynomials(inside)
    expected = np.trapezoid(moved, inside, axis=-1) / step
    np.testing.assert_allclose(of_law(law, 1)[:, 0], expected, atol=2e-3 * expected[0])


@pytest.mark.slow
def test_a_shift_of_a_skewed_law_is_found_more_often_than_its_location_or_its_mean_tell():
    """An independent way to the power: the mean's z, which knows the exact mean and variance."""
    z = copies(np.random.default_rng(9), 0.3, (400, 4, 500))
    x = SKEWED.ppf(special.ndtr(z)) + 0.1 * SKEWED.std()
    u = SKEWED.cdf(x)
    found = score_tests([str(i) for i in range(400)], u, rates=of_law(SKEWED, 400))
    by = {kind: np.array([t.p for t in found if t.kind == kind]) for kind in ("shift", "location")}
    ess = np.array([t.ess for t in found if t.kind == "location"])
    of_mean = (x.mean((1, 2)) - SKEWED.mean()) / SKEWED.std() * np.sqrt(ess)
    power = {kind: float((p < 0.01).mean()) for kind, p in by.items()}
    power["mean"] = float((2 * stats.norm.sf(np.abs(of_mean)) < 0.01).mean())
    # 1.19 times as many effective draws, and more than that where others mix better: z = 3.6 or
    # more in place of 3.28. A tenth of 400 is more than three standard errors.
    assert power["shift"] > power["location"] + 0.05
    assert power["shift"] > power["mean"] + 0.05
    effect = np.array([t.effect for t in found if t.kind == "shift"])
    assert effect.mean() == pytest.approx(0.1, abs=4 * effect.std() / np.sqrt(400) + 0.005)


def test_what_cannot_be_shifted_has_no_such_test():
    u = np.random.default_rng(1).random((2, 4, 100))
    rates = np.array([[1.0, np.nan]] + [[0.0, np.nan]] * 3)
    found = score_tests(["a", "b"], u, rates=rates)
    assert [t.label for t in found if t.kind == "shift"] == ["a"]
    assert "shift" not in {t.kind for t in score_tests(["a", "b"], u)}
    rising = np.sort(u[0, :1])
    assert not slopes(np.full((1, 100), 2.0), rising).any()  # no gap to take a slope over
    with np.errstate(over="raise", invalid="raise"):
        assert not np.isfinite(slopes(rising * 1e-310, rising)).any()


def test_a_chain_apart_is_found_and_named():
    x = copies(np.random.default_rng(4), 0.5, (2, 4, 1000))
    x[1, 3] += 1
    first, second = [t for t in score_tests(["a", "b"], special.ndtr(x)) if t.kind == "chain"]
    assert first.p > 0.01
    assert second.p < 1e-8
    assert second.chain == 3
    assert second.effect == pytest.approx(1, abs=0.3)


def test_noise_of_exact_draws_that_stand_for_a_law_counts():
    u = np.random.default_rng(5).random((1, 4, 1000))
    alone = {t.kind: t for t in score_tests(["x"], u)}
    against = {t.kind: t for t in score_tests(["x"], u, reference=4000)}
    ratio = alone["location"].z / against["location"].z
    assert ratio == pytest.approx(np.sqrt(1 + alone["location"].ess / 4000))
    assert against["low tail"].ess < alone["low tail"].ess


def test_uniform_draws_really_are_what_is_tested():
    t = stats.t(3)
    x = t.rvs((1, 4, 1000), random_state=np.random.default_rng(6))
    assert min(test.p for test in score_tests(["x"], t.cdf(x))) > 1e-3
    assert min(test.p for test in score_tests(["x"], special.ndtr(x))) < 1e-10


def test_chains_too_short_to_know_their_own_autocorrelation_are_not_told_apart():
    """Eight chains of 25 draws, each nearly the one before: without the limit 6 % differ here."""
    rng = np.random.default_rng(22)
    noise = rng.standard_normal((1000, 8, 225)) * np.sqrt(1 - 0.95**2)
    u = stats.norm.cdf(signal.lfilter([1], [1, -0.95], noise, axis=-1)[..., 200:])
    found = chain_tests([str(k) for k in range(1000)], polynomials(u)[:2])
    # At a level of 0.1 % more than 5 of 1000 have a probability below 1e-3.
    assert sum(test.p < 1e-3 for test in found) <= 5


def test_a_kind_of_test_is_stated_in_one_file():
    """A new one is a file, and its name in the list of files."""
    from pathlib import Path

    from bayesmodels.referee import tests

    folder = Path(tests.__file__).parent
    listed = {file.__name__.split(".")[-1] for file in (*tests.OF_SCALARS, *tests.OTHERS)}
    assert listed == {file.stem for file in folder.glob("*.py")} - {"__init__", "kind"}
    names = [kind.name for file in (*tests.OF_SCALARS, *tests.OTHERS) for kind in file.KINDS]
    assert len(names) == len(set(names)) == len(tests.KINDS) == 16
    others = [f for f in folder.parent.glob("*.py") if f.name != "__init__.py"]
    for name in ("low tail", "high tail", "q25", "class probability", "support", "extreme"):
        assert not [f.name for f in others if f'"{name}"' in f.read_text()], name
