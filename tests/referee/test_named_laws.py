"""Laws by name: predictions against draws, discrete and heavy-tailed ones too."""

import numpy as np
import pytest
from scipy import stats

import bayesmodels as bm

COIN = bm.BetaBernoulli(5, 19)
ARMS = bm.BetaBernoulli([2, 5], [3, 9])


@pytest.mark.slow
@pytest.mark.parametrize("belief", [COIN, ARMS], ids=["one", "two"])
def test_discrete_predictions_agree_and_a_plug_in_is_found_too_narrow(belief):
    """The plug-in forgets that theta is uncertain, which is what it is wrong about."""
    rng = np.random.default_rng(1)
    law = belief.predictive(trials=20)
    shape = (4, 1000, *np.shape(law.std()))
    right = bm.compare({"y": law}, {"y": law.rvs(shape, random_state=rng)})
    assert right.outcome == "agree"
    assert list(right.table.index) == (["y"] if belief is COIN else ["y[0]", "y[1]"])
    mean = belief.mean()["theta"]
    wrong = bm.compare({"y": law}, {"y": rng.binomial(20, mean, shape)})
    assert wrong.outcome == "disagree"
    assert "% too small" in wrong.sentences()[0]


def test_predictions_of_pymc_in_their_own_group():
    prior, rows = bm.NormalInverseGamma(0, 1, 3, 2), [1.0, 2.0, 0.5]
    tree = bm.exact_draws(prior, rows, rng=np.random.default_rng(2))
    law = prior.update(rows).predictive()
    new = tree.posterior_predictive
    name = str(next(iter(new.data_vars)))
    one = {name: new[name].to_numpy()[..., 0]}
    assert bm.compare({name: law}, one).outcome == "agree"
    assert bm.compare({name: law}, {name: one[name] + 0.3 * law.std()}).outcome == "disagree"


@pytest.mark.parametrize("df", [1, 2])
def test_laws_without_moments(df):
    rng = np.random.default_rng(3)
    law = stats.t(df)
    draws = law.rvs((4, 1000), random_state=rng)
    assert bm.compare({"y": law}, {"y": draws}).outcome == "agree"
    assert bm.compare({"y": law}, {"y": 1.3 * draws}).outcome == "disagree"


@pytest.mark.slow
def test_discrete_laws_keep_the_level():
    rng = np.random.default_rng(4)
    law = COIN.predictive(trials=3)
    alarms = sum(
        bm.compare({"y": law}, {"y": law.rvs((4, 500), random_state=rng)}, level=0.05).outcome
        == "disagree"
        for _ in range(60)
    )
    assert alarms <= 9  # more than 9 of 60 at 5 % have a probability below 1e-3


def test_what_is_missing_is_named():
    with pytest.raises(bm.DataError, match="must have the variable 'y'"):
        bm.compare({"y": COIN.predictive()}, {"z": np.zeros((4, 10))})
