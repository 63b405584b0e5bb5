"""Models without a closed form: the joint density against PyMC, and an approximation against draws.

An approximation is not exact, so the question is not whether draws agree with it but how far they
are from it, in standard deviations of the posterior and with the Monte-Carlo error of that number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesmodels.belief.protocol import MarginalLaws
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.referee.identity import check_identity
from bayesmodels.referee.scalars import scalar_draws
from bayesmodels.referee.two_samples import pairs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class JointIdentity:
    """What the comparison of a joint density with PyMC's found.

    Attributes
    ----------
    points : int
        Number of points compared.
    value, slope : float
        Largest discrepancy of log joint densities and of their derivatives, over the rounding
        bound. Values up to 1 are explained by rounding.
    bound : float
        The rounding bound at the point where it is tightest.
    """

    points: int
    value: float
    slope: float
    bound: float

    @property
    def holds(self) -> bool:
        """Whether the densities are equal up to rounding, constants included."""
        return self.value <= 1 and self.slope <= 1

    def sentence(self) -> str:
        """Say the finding in words."""
        if self.holds:
            return (
                f"Prior times likelihood is PyMC's joint density at all {self.points} points, up "
                f"to rounding ({self.bound:.1g}), constants included."
            )
        return (
            f"Prior times likelihood is not PyMC's joint density: they differ by {self.value:.3g} "
            f"times the rounding bound, their slopes by {self.slope:.3g} times. Prior or "
            "likelihood is written differently in the two."
        )


def check_joint(
    model: Any, data: Any, *, points: int = 20, rng: np.random.Generator | int | None = None
) -> JointIdentity:
    """Compare a model's log joint density with that of its PyMC declaration at random points.

    Parameters
    ----------
    model : LogisticRegression
        The prior, which has the verbs `log_joint`, `laplace` and `declare`.
    data : as in `declare`
        Rows.
    points : int, default 20
        Number of points, drawn from the prior and near the posterior's mode.
    rng : numpy.random.Generator or int, optional
        Source of the points.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> model = bm.LogisticRegression([0, 0], 4)
    >>> data = bm.Design([[1], [2], [3]], [0, 1, 0], intercept=True)
    >>> check_joint(model, data, rng=np.random.default_rng(1)).holds
    True
    """
    near = model.laplace(data)
    # Prior times likelihood in the place of a posterior, with points near the mode.
    own: Any = SimpleNamespace(
        dims=near.dims,
        coords=near.coords,
        mean=near.mean,
        sample=near.sample,
        log_density=lambda draws: model.log_joint(draws, data),
        log_density_rounding=lambda draws: model.log_joint_rounding(draws, data),
    )
    # The joint densities themselves are compared, so the constant between them is 0.
    found = check_identity(model.declare(data), own, model, 0.0, points=points, rng=rng)
    assert found.evidence is not None  # noqa: S101 - a constant was given
    return JointIdentity(found.points, found.evidence, found.slope, found.bound)


class _Side(NamedTuple):
    """Mean and standard deviation of a scalar, with their Monte-Carlo errors, and the mixing."""

    mean: float
    sd: float
    mean_error: float = 0.0
    sd_error: float = 0.0
    ess: float = np.inf
    r_hat: float = np.nan


def approximation_error(approximation: Any, posterior: Any) -> pd.DataFrame:
    r"""Return how far an approximation is from the posterior, in its standard deviations.

    Parameters
    ----------
    approximation : LaplaceApproximation, xarray.DataTree or mapping
        A law with `marginals`; or draws, as of ADVI or Pathfinder, with the axes (chain, draw,
        ...).
    posterior : xarray.DataTree, mapping or Belief
        Draws of a sampler, in the same form; or the exact law.

    Returns
    -------
    pandas.DataFrame
        One row a scalar: ``approximate_mean``, ``approximate_sd``, ``sampled_mean``,
        ``sampled_sd`` (of the posterior, exact where it is a law); ``error``, the approximate minus
        the sampled mean in sampled standard deviations, with its Monte-Carlo standard error
        ``mcse``; ``sd_ratio``, the approximate over the sampled standard deviation, with
        ``sd_ratio_mcse``; ``ess`` and ``r_hat`` of the posterior's draws. Draws of the
        approximation add their noise to the standard errors. The attribute ``approximation`` of
        the table is the title of the law.

    Raises
    ------
    DataError
        If a variable of a law is missing, two sets of draws have none in common, one has other
        axes or labels, or neither side is draws.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> model = bm.LogisticRegression([0.0], 4.0)
    >>> near = model.laplace(([[1.0], [2.0], [-1.0]], [1, 0, 0]))
    >>> own = near.to_datatree(rng=np.random.default_rng(1))
    >>> table = approximation_error(near, own)  # of draws of the approximation itself: none
    >>> bool(abs(table["error"].iloc[0]) < 4 * table["mcse"].iloc[0] < 0.1)
    True

    The error of a normal law fitted to a Beta law, by draws:

    >>> exact, rng = bm.BetaBernoulli(2, 6), np.random.default_rng(1)
    >>> fitted = {"theta": 0.25 + 0.1 * rng.standard_normal((1, 4000))}
    >>> approximation_error(fitted, exact)["sd_ratio"].round(1).item()
    0.7
    """
    import pandas as pd

    rows = {}
    for label, near, truth in _sides(approximation, posterior):
        ratio = near.sd / truth.sd
        rows[label] = {
            "approximate_mean": near.mean,
            "approximate_sd": near.sd,
            "sampled_mean": truth.mean,
            "sampled_sd": truth.sd,
            "error": (near.mean - truth.mean) / truth.sd,
            "mcse": float(np.hypot(near.mean_error, truth.mean_error)) / truth.sd,
            "sd_ratio": ratio,
            "sd_ratio_mcse": ratio
            * float(np.hypot(near.sd_error / near.sd, truth.sd_error / truth.sd)),
            "ess": truth.ess,
            "r_hat": truth.r_hat,
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    given = type(approximation).__name__ if isinstance(approximation, MarginalLaws) else "draws"
    table.attrs["approximation"] = getattr(approximation, "title", given)
    return table


def _sides(approximation: Any, posterior: Any) -> Iterator[tuple[str, _Side, _Side]]:
    """Return label, approximation and posterior of every scalar."""
    laws = [isinstance(side, MarginalLaws) for side in (approximation, posterior)]
    if all(laws):
        raise DataError(
            "approximation, posterior: one of them must be draws, as `to_datatree` returns them."
        )
    if not any(laws):
        for label, x, y in pairs(approximation, posterior):
            yield label, _sampled(x), _sampled(y)
        return
    law, draws = (approximation, posterior) if laws[0] else (posterior, approximation)
    marginals = law.marginals()
    means = {name: np.asarray(part.mean()) for name, part in marginals.items()}
    sds = {name: np.asarray(part.std()) for name, part in marginals.items()}
    for label, name, at, x in scalar_draws(law, draws):
        known, seen = _Side(float(means[name][at]), float(sds[name][at])), _sampled(x)
        yield (label, known, seen) if laws[0] else (label, seen, known)


def _sampled(x: Array) -> _Side:
    from arviz_stats.sampling_diagnostics import ess, mcse, rhat

    return _Side(
        float(x.mean()),
        float(x.std(ddof=1)),
        float(mcse(x)),
        float(mcse(x, method="sd")),
        float(ess(x)),
        float(rhat(x)) if len(x) > 1 else np.nan,
    )
