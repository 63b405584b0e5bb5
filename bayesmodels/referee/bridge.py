r"""The evidence of any PyMC model by bridge sampling between its draws and a normal law.

Let :math:`\tilde p` be the joint density of data and parameters, whose integral :math:`r` is the
evidence, and q a density that draws can be had of. For any function h

.. math:: r = \frac{E_q[\tilde p \, h]}{E_p[q \, h]},

and with :math:`h = 1 / (s_1 \tilde p + s_2 r q)`, where :math:`s_1, s_2` are the parts that the two
sets of draws are of all, the error is the smallest. It depends on r, which is therefore a root:

.. math:: \frac{1}{s_2} \operatorname{mean}_p \frac{s_2 r q}{s_1 \tilde p + s_2 r q}
    = \frac{1}{s_1} \operatorname{mean}_q \frac{s_1 \tilde p}{s_1 \tilde p + s_2 r q},

the left side of which rises and the right side of which falls with r. Both averages are of bounded
functions, so that their errors are finite whatever the tails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import brentq
from scipy.special import expit, logit, logsumexp

from bayesmodels.belief.reading import configurations, levels
from bayesmodels.errors import DataError
from bayesmodels.input.parameters import randomness
from bayesmodels.numerics import Array
from bayesmodels.numerics.ess import effective_draws
from bayesmodels.numerics.special import HALF_LOG_2PI

if TYPE_CHECKING:
    import pymc as pm

    from bayesmodels.posteriors.unconstrained import Unconstrained


ENOUGH, FEW = 250, 60
"""Draws a chain that a report gives: its error is small beside 0.1, which matters."""

_NUMBERS = 1_000_000  # observed ones times draws, beyond which draws are as few as may be
_LEAST = 20
"""Draws a chain, of which each half is split once more to see whether chains have settled."""
_FAR = 50.0  # log units beyond which one of two densities no longer counts


@dataclass(frozen=True)
class EvidenceEstimate:
    """An estimate of a log evidence.

    Attributes
    ----------
    log_evidence : float
        The estimate.
    error : float
        Its Monte-Carlo standard error, with the autocorrelation of the draws; 0 of an exact sum.
    freedom : float
        Degrees of freedom of the error.
    ess : float
        Effective number of draws behind the worse of the averages.
    """

    log_evidence: float
    error: float
    freedom: float
    ess: float


def bridge_sampling(
    model: pm.Model, draws: Any, *, rng: np.random.Generator | int | None = None
) -> EvidenceEstimate:
    r"""Estimate the log evidence of any PyMC model from draws of its posterior, with its error.

    A normal law is fitted to the first half of each chain, in PyMC's unconstrained coordinates, and
    a bridge built from as many draws of it to the second half,

    .. math:: \hat r = \frac{\operatorname{mean}_q \tilde p / (s_1 \tilde p + s_2 \hat r q)}
        {\operatorname{mean}_p q / (s_1 \tilde p + s_2 \hat r q)}.

    Parameters
    ----------
    model : pymc.Model
        All free variables must be continuous, and all priors proper.
    draws : xarray.DataTree or mapping
        Draws of its posterior from any sampler: arrays with the axes (chain, draw, ...), at least
        20 a chain, by the names of the free variables.
    rng : numpy.random.Generator or int, optional
        Source of the draws of the normal law, or a seed; fresh if not given.

    Returns
    -------
    EvidenceEstimate
        With the standard error of the logarithm, that is the relative error of the evidence. An
        error above 0.1 is itself uncertain: the normal law and the posterior hardly overlap.

    Raises
    ------
    DataError
        If a free variable is discrete; if draws are missing, too few for their number of
        coordinates, or impossible under the model.

    Notes
    -----
    Where the posterior has several modes, as a mixture whose classes can change places, chains must
    have visited all of them; else the estimate is of the part that they have visited.

    References
    ----------
    Meng and Wong (1996), *Simulating ratios of normalizing constants via a simple identity*,
    section 3; Gronau et al. (2017), *A tutorial on bridge sampling*, which also fits on one half.
    The error: Frühwirth-Schnatter (2004), *Estimating marginal likelihoods for mixture and Markov
    switching models using bridge sampling techniques*, section 3.3.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np, pymc as pm
    >>> rng = np.random.default_rng(1)
    >>> with pm.Model() as model:
    ...     rate = pm.Gamma("rate", 2.0, 1.0)
    ...     _ = pm.Poisson("visits", rate, observed=[3, 5, 4])
    >>> found = bridge_sampling(model, bm.sample(model, rng=rng), rng=rng)
    >>> exact = bm.exact(model).log_evidence
    >>> found.error < 0.01, abs(found.log_evidence - exact) < 4 * found.error
    (True, True)
    """
    from bayesmodels.posteriors.unconstrained import Unconstrained

    rng = randomness(rng)
    space = Unconstrained(model)
    return bridged(space, space.coordinates(draws), rng)


def draws_needed(chains: int, width: int) -> int:
    """Return how many draws a chain must have for so many coordinates."""
    return max(_LEAST, 2 * (2 * width // chains + 1))


def bridged(space: Unconstrained, x: Array, rng: np.random.Generator) -> EvidenceEstimate:
    """Return the estimate from coordinates of draws, of shape (chain, draw, D)."""
    chains, length, width = x.shape
    least = draws_needed(chains, width)
    if length < least:
        raise DataError(
            f"draws: must be at least {least} a chain, of {chains} chains and {width} coordinates; "
            f"got {length}. Draw more."
        )
    # Halves that change places and an average of both would gain little: most of what the two
    # estimates are off by, errors of one half times errors of the other, they have in common.
    half = length // 2
    normal = _Normal(x[:, :half].reshape(-1, width))
    held_out = x[:, half:].reshape(-1, width)
    of_normal = normal.sample(len(held_out), rng)
    log_p = space.log_density(np.concatenate([held_out, of_normal]))
    ratio = log_p - normal.log_density(np.concatenate([held_out, of_normal]))
    at_draws, at_own = ratio[: len(held_out)], ratio[len(held_out) :]
    if not np.isfinite(at_draws).all():
        bad = int((~np.isfinite(at_draws)).sum())
        raise DataError(
            f"draws: must be possible under the model; its density is no positive number at {bad} "
            f"of {len(held_out)}. Are they draws of another model?"
        )
    # So far out that PyMC's density overflows and is no number, it is nothing.
    return _bridge(at_draws.reshape(chains, -1), np.where(np.isnan(at_own), -np.inf, at_own))


def _bridge(at_draws: Array, at_own: Array) -> EvidenceEstimate:
    """Return the log ratio of the integrals of two densities.

    Given are log ratios of the densities at draws of the first, of shape (chain, draw), and at
    independent draws of the second.
    """
    possible = np.isfinite(at_own)
    if not possible.any():
        raise DataError(
            "draws: a normal law fitted to them has no draw that is possible under the model; give "
            "the model transforms to unconstrained coordinates."
        )
    first = float(effective_draws(at_draws[None]).number[0])
    part = first / (first + at_own.size)
    shift = -float(logit(part))  # of r to s2 r / s1

    def difference(log_r: float) -> float:
        left = expit(log_r + shift - at_draws).mean() / (1 - part)
        return float(left - expit(at_own - log_r - shift).mean() / part)

    every = np.concatenate([at_draws.ravel(), at_own[possible]])
    low, high = every.min() - shift - _FAR, every.max() - shift + _FAR
    log_r = float(brentq(difference, low, high, xtol=1e-12))
    of_draws = expit(log_r + shift - at_draws)
    of_own = expit(at_own - log_r - shift)
    seen = effective_draws(of_draws[None])
    number = np.array([seen.number[0], at_own.size])
    scatter = np.array([x.var() / x.mean() ** 2 for x in (of_draws, of_own)])
    return EvidenceEstimate(
        log_r,
        float(np.sqrt((scatter / number).sum())),
        float(seen.freedom[0]),
        float((number / (1 + scatter)).min()),
    )


class _Normal:
    """The normal law with mean and covariance of a sample of shape (n, D)."""

    def __init__(self, sample: Array) -> None:
        self.mean = sample.mean(0)
        # R of a QR factorisation of the deviations is the root of their sum of squares.
        root = np.linalg.qr((sample - self.mean) / np.sqrt(len(sample) - 1), mode="r").T
        self.root = root * np.sign(np.diag(root))
        scale = np.diag(self.root)
        if not (scale > np.finfo(float).eps * np.abs(root).max(1)).all():
            raise DataError(
                "draws: must vary in every direction; the covariance of their unconstrained "
                "coordinates is singular. Has a chain not moved?"
            )
        self.constant = -np.log(scale).sum() - len(scale) * HALF_LOG_2PI

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        return self.mean + rng.standard_normal((n, len(self.mean))) @ self.root.T

    def log_density(self, x: Array) -> Array:
        z = solve_triangular(self.root, (x - self.mean).T, lower=True)
        return np.asarray(self.constant - 0.5 * (z**2).sum(0))


def estimated(declared: pm.Model, belief: Any, draws: Any, rng: Any) -> EvidenceEstimate:
    """Return the log evidence by a bridge from some of the draws, or a sum over nominal values.

    The more numbers are observed, the fewer draws are taken.
    """
    if levels(belief):
        from bayesmodels.posteriors.model_density import ModelDensity

        joint = ModelDensity(declared)
        total = float(logsumexp([joint.value(point)[0] for point in configurations(belief)]))
        return EvidenceEstimate(total, 0.0, np.inf, np.inf)
    numbers = {str(name): np.asarray(x) for name, x in draws["posterior"].data_vars.items()}
    chains, length = next(iter(numbers.values())).shape[:2]
    width = sum(int(np.prod(x.shape[2:])) for x in numbers.values())
    observed = sum(declared.rvs_to_values[rv].data.size for rv in declared.observed_RVs)
    enough = min(ENOUGH, max(FEW, _NUMBERS // (chains * max(1, observed))))
    step = max(1, length // max(enough, draws_needed(chains, width)))
    return bridge_sampling(declared, {name: x[:, ::step] for name, x in numbers.items()}, rng=rng)
