"""Simulation-based calibration: right models pass, planted mistakes are found and named."""

import threading

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats

import bayesmodels as bm
from bayesmodels.posteriors.compiled_sampler import Anatomy
from tests.contract.cases import CASES

COIN, TOSSES = bm.BetaBernoulli(2, 3), np.zeros(15)
LINE = bm.LinearRegression([1, -1], np.diag([0.1, 4]), 3, 2)
X = np.random.default_rng(7).normal(size=(12, 2))
LOGISTIC = bm.LogisticRegression([0.5, 0], [[1, 0.3], [0.3, 2]])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_model_is_calibrated(case):
    # A false alarm in one case in 2,000 at this level; the seed is fixed.
    found = bm.calibrate(case.start, case.rest, n=500, level=5e-4, rng=3)
    assert found.outcome == "agree", found.findings
    assert found.u.shape == (500, len(found.table))


@pytest.mark.slow
def test_false_alarms_stay_near_the_level():
    rng = np.random.default_rng(1)
    wrong = [
        bm.calibrate(COIN, TOSSES, n=100, draws=20, level=0.1, rng=rng).outcome == "disagree"
        for _ in range(30)
    ]
    # 30 trials at 10 %: more than 9 has probability below 1e-3.
    assert sum(wrong) <= 9


@pytest.mark.slow
def test_ranks_are_uniform_where_all_values_are_ties():
    game = bm.ConceptLearning({"even": [2, 4], "four": [4], "all": [1, 2, 3, 4]})
    found = bm.calibrate(game, [4, 4], n=400, draws=10, rng=2)
    assert found.outcome == "agree"
    ranks = found.u["h[four]"]
    assert stats.kstest(ranks, "uniform").pvalue > 1e-3


class Twice(bm.BetaBernoulli):
    """Counts all rows twice."""

    def update(self, data):
        s = self.statistic(data)
        return super().update(s + s)


class Deaf(bm.BetaBernoulli):
    """Does not learn."""

    def update(self, data):
        return super().update(self.statistic(data).without_rows())


class Swapped(bm.BetaBernoulli):
    """Takes ones for zeros."""

    def update(self, data):
        s = self.statistic(data)
        return super().update(type(s)(s.zeros, s.ones))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Twice(2, 3), ["theta", "too narrow"]),
        (Deaf(2, 3), ["log likelihood"]),  # its parameters' ranks are uniform
        (Swapped(2, 3), ["theta", "too"]),
    ],
    ids=["rows counted twice", "posterior that is the prior", "ones and zeros exchanged"],
)
def test_wrong_updates_are_found(model, words):
    found = bm.calibrate(model, TOSSES, n=400, rng=4)
    assert found.outcome == "disagree"
    assert any(all(word in finding for word in words) for finding in found.findings)
    assert found.findings[0] in found.sentences()[0]


def noisy(noise):
    def simulate(parameters, rng):
        return X, X @ parameters["w"] + noise(parameters["sigma2"], rng)

    return simulate


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "right"),
    [
        (lambda v, rng: np.sqrt(v) * rng.standard_normal(12), True),
        (lambda v, rng: v * rng.standard_normal(12), False),  # the variance for its root
        (lambda v, rng: np.sqrt(v) * rng.standard_t(3, 12), False),
        (lambda v, rng: np.sqrt(v) * rng.laplace(0, np.sqrt(0.5), 12), False),  # as wide, but sharp
    ],
    ids=["right", "variance for deviation", "Student-t noise", "Laplace noise"],
)
def test_a_wrong_likelihood_is_found(noise, right):
    found = bm.calibrate(LINE, simulate=noisy(noise), n=500, rng=5)
    assert found.outcome == ("agree" if right else "disagree")


def test_copies_in_a_symmetric_matrix_are_one_quantity():
    law = bm.NormalInverseWishart([0, 0], 0.5, 12, [[2, 0.5], [0.5, 1]])
    found = bm.calibrate(law, np.zeros((5, 2)), n=100, rng=6)
    assert [label for label in found.table.index if label.startswith("Sigma")] == [
        "Sigma[0, 0]",
        "Sigma[0, 1]",
        "Sigma[1, 1]",
    ]


def test_the_same_seed_gives_the_same_ranks_and_progress_is_told():
    told = []
    one = bm.calibrate(COIN, TOSSES, n=200, rng=8, progress=told.append)
    other = bm.calibrate(COIN, TOSSES, n=200, rng=8)
    assert one.u.equals(other.u)
    assert told == ["0 of 200 simulations", "100 of 200 simulations"]


def test_plot_shows_the_worst_quantity_or_the_one_asked_for():
    found = bm.calibrate(COIN, TOSSES, n=100, rng=9)
    for quantity in (None, "theta"):
        found.plot(quantity)
        plt.close("all")
    assert found.plot(backend="none").backend == "none"
    with pytest.raises(bm.DataError, match="quantity"):
        found.plot("phi")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"design": TOSSES, "n": 50}, bm.DataError, "n: "),
        ({"design": TOSSES, "draws": 0}, bm.DataError, "draws"),
        ({"design": TOSSES, "level": 1}, bm.DataError, "level"),
        ({}, bm.DataError, "give one"),
        ({"design": TOSSES, "simulate": noisy(None)}, bm.DataError, "give one"),
        ({"design": bm.statistics.BernoulliStatistic(1, 2)}, bm.DataError, "statistic"),
        ({"design": bm.Weighted(TOSSES, TOSSES + 0.5)}, bm.DataError, "weighted"),
    ],
)
def test_bad_input_is_named(arguments, error, words):
    with pytest.raises(error, match=words):
        bm.calibrate(COIN, **arguments)


def test_models_without_draws_are_refused():
    with pytest.raises(bm.DataError, match=r"closed form.*method='mcmc'"):
        bm.calibrate(LOGISTIC, (X, np.zeros(12)))
    with pytest.raises(bm.PriorError):
        bm.calibrate(bm.LinearRegression.flat(2), (X, np.zeros(12)))
    with pytest.raises(bm.DataError, match=r"continuous.*method='exact'"):
        bm.calibrate(bm.ConceptLearning({"even": [2, 4], "all": [1, 2]}), [2], method="mcmc")
    with pytest.raises(bm.DataError, match="method: must be"):
        bm.calibrate(COIN, TOSSES, method="nuts")


def test_a_prior_without_the_axes_of_the_data_is_named():
    def simulate(parameters, rng):
        return bm.Grouped(rng.random(6) < parameters["theta"], list("aabbab"))

    with pytest.raises(bm.DataError, match=r"theta must have the shape.*axis"):
        bm.calibrate(COIN, simulate=simulate, n=100, rng=1)


# --- in several goes, in several processes --------------------------------------------------------


def test_calibration_goes_on_where_it_was_stopped(tmp_path):
    file = tmp_path / "coin.json"
    whole = bm.calibrate(COIN, TOSSES, n=300, rng=8)

    def stop(words):
        if words.startswith("200"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bm.calibrate(COIN, TOSSES, n=300, rng=8, checkpoint=file, progress=stop)
    told = []
    # Without a seed, that of the file holds.
    found = bm.calibrate(COIN, TOSSES, n=300, checkpoint=file, progress=told.append)
    assert told == ["200 of 300 simulations"]
    assert found.u.equals(whole.u)
    fewer = bm.calibrate(COIN, TOSSES + 1, n=100, rng=8, checkpoint=file)
    assert fewer.u.equals(whole.u[:100])
    more = bm.calibrate(COIN, TOSSES, n=400, rng=8, checkpoint=file)
    assert more.u[:300].equals(whole.u)
    assert more.u.equals(bm.calibrate(COIN, TOSSES, n=400, rng=8).u)


@pytest.mark.parametrize(
    ("model", "arguments", "words"),
    [
        (bm.BetaBernoulli(2, 4), {}, "another prior"),
        (bm.DirichletCategorical([2, 3]), {}, r"another model \(BetaBernoulli there, Dirichlet"),
        (COIN, {"design": np.zeros(16)}, "another design or simulator"),
        (COIN, {"draws": 20}, r"another number of draws \(100 there, 20 here\)"),
        (COIN, {"method": "mcmc"}, r"another method \(exact there, mcmc here\)"),
        (COIN, {"rng": 9}, "another seed"),
        (Twice(2, 3), {}, "another model"),
        (COIN, {"checkpoint": "coin.nc"}, "checkpoint: must end in .json"),
        (COIN, {"checkpoint": "nowhere/coin.json"}, "folder that exists"),
    ],
    ids=["prior", "family", "design", "draws", "method", "seed", "class", "ending", "folder"],
)
def test_a_foreign_checkpoint_is_refused(tmp_path, model, arguments, words):
    file = tmp_path / "coin.json"
    bm.calibrate(COIN, TOSSES, n=100, rng=8, checkpoint=file)
    before = file.read_bytes()
    given = {"design": TOSSES, "n": 100, "rng": 8, "checkpoint": file, **arguments}
    with pytest.raises(bm.DataError, match=words):
        bm.calibrate(model, **given)
    assert file.read_bytes() == before


def test_a_changed_posterior_and_a_file_of_something_else_are_refused(tmp_path, monkeypatch):
    file = tmp_path / "coin.json"
    bm.calibrate(COIN, TOSSES, n=100, rng=8, checkpoint=file)
    update = bm.BetaBernoulli.update

    def twice(self, data):
        return update(update(self, data), data)

    with monkeypatch.context() as patch:
        patch.setattr(bm.BetaBernoulli, "update", twice)
        with pytest.raises(bm.DataError, match="another posterior"):
            bm.calibrate(COIN, TOSSES, n=100, rng=8, checkpoint=file)
    for content in (b"", b"\x93NUMPY", b"[]", b"{}", b'{"rows": [[1], 2]}', b'{"rows": "many"}'):
        file.write_bytes(content)
        with pytest.raises(bm.DataError, match="holds no simulations"):
            bm.calibrate(COIN, TOSSES, n=100, rng=8, checkpoint=file)


@pytest.mark.slow  # other processes import, and compile, everything anew
def test_ranks_do_not_depend_on_the_number_of_processes(tmp_path):
    """Those of a sampler do not either: test_calibration_of_models.py."""
    settings = {"n": 350, "rng": 8, "method": "exact"}
    one = bm.calibrate(COIN, TOSSES, **settings)
    two = bm.calibrate(COIN, TOSSES, **settings, cores=2, checkpoint=tmp_path / "coin.json")
    assert one.u.equals(two.u)


def test_what_cannot_be_sent_to_other_processes_is_named():
    lock = threading.Lock()
    with pytest.raises(bm.DataError, match=r"cores: .*simulate.*cores=1"):
        bm.calibrate(LINE, simulate=noisy(lambda v, _: 0 * v * lock.locked()), n=200, cores=2)


# --- PyMC's draws ---------------------------------------------------------------------------------


def test_what_differs_between_declared_models_is_found():
    first, second, other = (
        Anatomy.of(model.declare(data))
        for model, data in [
            (LOGISTIC, (X, [0, 1] * 6)),
            (LOGISTIC, (X, [1, 0] * 6)),
            (LINE, (X, np.arange(12.0))),
        ]
    )
    (number,) = first.differing(second)
    assert first.constants[number].data.tolist() == [0, 1] * 6
    assert first.differing(other) is None
    assert first.digest() == Anatomy.of(LOGISTIC.declare((X, [0, 1] * 6))).digest()
    assert first.digest() != second.digest()


def tosses(parameters, rng):
    return rng.random(20) < parameters["theta"]


def sticky(parameters, rng):
    return np.repeat(rng.random(5) < parameters["theta"], 4)


@pytest.mark.slow
def test_a_sampler_is_calibrated_and_a_wrong_likelihood_is_caught(tmp_path):
    settings = {"n": 100, "method": "mcmc", "level": 5e-4, "rng": 3}
    file = tmp_path / "coin.json"
    right = bm.calibrate(COIN, simulate=tosses, checkpoint=file, **settings)
    assert right.outcome == "agree", right.findings
    assert right.short == 0
    again = bm.calibrate(COIN, simulate=tosses, checkpoint=file, **settings)
    assert again.u.equals(right.u)
    wrong = bm.calibrate(COIN, simulate=sticky, **settings)
    assert wrong.outcome == "disagree"
    assert any("theta is too narrow" in finding for finding in wrong.findings)
    assert "the prior, is to blame" in wrong.sentences()[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "design"),
    [
        (LOGISTIC, (X, bm.BinomialCounts(np.zeros(12), np.full(12, 5)))),
        (bm.LogisticRegression([0, 0], 1, classes=["a", "b", "c"]), (X, list("abc") * 4)),
        (
            bm.NaiveBayesMixture(bm.DirichletCategorical([2, 2]), bm.BetaBernoulli(1, 2)),
            np.zeros((6, 3)),
        ),
    ],
    ids=["counts", "three classes", "a mixture"],
)
def test_models_for_which_there_is_only_a_sampler(model, design):
    found = bm.calibrate(model, design, n=100, method="mcmc", level=5e-4, rng=3)
    assert found.outcome == "agree", found.findings


@pytest.mark.slow
def test_a_wrong_link_of_a_logistic_regression_is_caught():
    def probit(parameters, rng):
        return X, rng.random(12) < stats.norm.cdf(3 * X @ parameters["w"])

    found = bm.calibrate(LOGISTIC, simulate=probit, n=200, method="mcmc", rng=3)
    assert found.outcome == "disagree"


@pytest.mark.slow
def test_data_of_another_shape_are_compiled_anew():
    def longer(parameters, rng):
        return rng.random(5 + (rng.random() > 0.97)) < parameters["theta"]

    told = []
    found = bm.calibrate(
        COIN, simulate=longer, n=100, method="mcmc", level=5e-4, rng=1, progress=told.append
    )
    assert found.outcome == "agree", found.findings
    assert "compiled anew" in told[-1]
