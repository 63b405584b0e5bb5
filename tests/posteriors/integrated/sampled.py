"""Draws of NUTS and of slips, against integrated posteriors: models of the table.

A slip is what a user's program might do wrong: draws that spread too widely, another prior, half of
the data.
"""

import numpy as np
import pymc as pm
import pytensor

import bayesmodels as bm
from bayesmodels.posteriors.posterior import sampled
from bayesmodels.referee.sequential import until_decided
from tests.posteriors.check import AS_WRITTEN

LEVEL = 1e-3
CHAINS = 2
MOST = 10_000  # draws a chain
QUIET = {"progressbar": False, "quiet": True, "compute_convergence_checks": False}
FEW = (
    "bioassay",
    "coal mining rates that decline",
)


def from_nuts(build, law, rng):
    """Return the verdict on draws of PyMC's sampler, of which more are made if it stays open."""
    verdict, _, number = until_decided(
        lambda n: sampled(build(), n, rng, tune=1000, chains=CHAINS, target_accept=0.95, **QUIET),
        lambda tree, share: bm.compare(law, tree, level=share, tolerance=0.2),
        1000,
        LEVEL,
        looks=3,
        most=MOST,
    )
    return verdict, number


def too_wide(law, rng):
    """Return draws that are a fifth farther from the mean, on a log scale if they are positive."""
    tree = law.to_datatree(1000, CHAINS, rng)
    draws = tree["posterior"].to_dataset()
    for name in law.remaining[:1]:
        x = draws[name]
        z = np.log(x) if (x > 0).all() else x
        wide = z.mean() + 1.2 * (z - z.mean())
        draws[name] = np.exp(wide) if (x > 0).all() else wide
    tree["posterior"] = draws
    return tree


def with_another_prior(build, law, rng):
    """Return draws where something else is said, too, of one of the variables that remain."""
    name = law.remaining[0]
    mean, sd = law.mean()[name], np.sqrt(law.var()[name])
    model = build()
    with pytensor.config.change_flags(**AS_WRITTEN), model:
        pm.Potential("slip", pm.logp(pm.Normal.dist(mean + sd, sd), model[name]).sum())
    return bm.sample(model, 1000, chains=CHAINS, rng=rng, **QUIET)


def of_half_of_the_data(build, law, rng):
    """Return draws where the likelihood of every other number observed is taken out again."""
    del law
    model = build()
    with pytensor.config.change_flags(**AS_WRITTEN), model:
        for rv in model.observed_RVs:
            terms = pm.logp(rv, model.rvs_to_values[rv])
            half = terms / 2 if terms.ndim == 0 else terms.ravel()[::2]
            pm.Potential(f"slip of {rv.name}", -half.sum())
    return bm.sample(model, 1000, chains=CHAINS, rng=rng, **QUIET)


SLIPS = {
    "too wide": lambda _, law, rng: too_wide(law, rng),
    "another prior": with_another_prior,
    "half of the data": of_half_of_the_data,
}
