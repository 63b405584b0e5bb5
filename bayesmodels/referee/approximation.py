"""Models without a closed form: the joint density against PyMC, and an approximation against draws.

An approximation is not exact, so the question is not whether draws agree with it but how far they
are from it, in standard deviations of the posterior and with the Monte-Carlo error of that number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.protocol import Draws
from bayesmodels.referee.identity import check_identity
from bayesmodels.referee.scalars import scalar_draws

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


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


@dataclass(frozen=True)
class _Joint:
    """Prior times likelihood in the place of a posterior, with points near the mode."""

    dims: Any
    coords: Any
    mean: Callable[[], Any]
    sample: Callable[..., Any]
    log_density: Callable[[Draws], Array]
    log_density_rounding: Callable[[Draws], Array]


def check_joint(
    model: Any, data: Any, *, points: int = 20, rng: np.random.Generator | None = None
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
    rng : numpy.random.Generator, optional
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
    own: Any = _Joint(
        near.dims,
        near.coords,
        near.mean,
        near.sample,
        lambda draws: model.log_joint(draws, data),
        lambda draws: model.log_joint_rounding(draws, data),
    )
    # The joint densities themselves are compared, so the constant between them is 0.
    found = check_identity(model.declare(data), own, model, 0.0, points=points, rng=rng)
    assert found.evidence is not None  # noqa: S101 - a constant was given
    return JointIdentity(found.points, found.evidence, found.slope, found.bound)


def approximation_error(approximation: Any, draws: Any) -> pd.DataFrame:
    r"""Return how far an approximation is from draws of the posterior, in its standard deviations.

    Parameters
    ----------
    approximation : LaplaceApproximation
        Or any law with `marginals`.
    draws : xarray.DataTree or mapping
        Draws of a sampler, arrays with the axes (chain, draw, ...).

    Returns
    -------
    pandas.DataFrame
        One row a scalar: ``approximate_mean``, ``approximate_sd``, ``sampled_mean``,
        ``sampled_sd``; ``error``, the approximate minus the sampled mean in sampled standard
        deviations, with its Monte-Carlo standard error ``mcse``; ``sd_ratio``, the approximate over
        the sampled standard deviation, with ``sd_ratio_mcse``; ``ess`` and ``r_hat`` of the draws.
        The attribute ``approximation`` of the table is the title of the law.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> model = bm.LogisticRegression([0.0], 4.0)
    >>> near = model.laplace(([[1.0], [2.0], [-1.0]], [1, 0, 0]))
    >>> own = near.to_datatree(rng=np.random.default_rng(1))
    >>> table = approximation_error(near, own)  # of draws of the approximation itself: none
    >>> bool(abs(table["error"].iloc[0]) < 4 * table["mcse"].iloc[0] < 0.1)
    True
    """
    import pandas as pd
    from arviz_stats.sampling_diagnostics import ess, mcse, rhat

    marginals = approximation.marginals()
    means = {name: np.asarray(law.mean()) for name, law in marginals.items()}
    sds = {name: np.asarray(law.std()) for name, law in marginals.items()}
    rows = {}
    for label, name, at, x in scalar_draws(approximation, draws):
        mean, sd = float(means[name][at]), float(sds[name][at])
        centre, spread = float(x.mean()), float(x.std(ddof=1))
        rows[label] = {
            "approximate_mean": mean,
            "approximate_sd": sd,
            "sampled_mean": centre,
            "sampled_sd": spread,
            "error": (mean - centre) / spread,
            "mcse": float(mcse(x)) / spread,
            "sd_ratio": sd / spread,
            "sd_ratio_mcse": sd / spread * float(mcse(x, method="sd")) / spread,
            "ess": float(ess(x)),
            "r_hat": float(rhat(x)),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.attrs["approximation"] = getattr(approximation, "title", type(approximation).__name__)
    return table
