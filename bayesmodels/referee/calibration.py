r"""Simulation-based calibration: posteriors of simulated data against what made them.

Draw parameters from the prior, data given them, and then from the posterior of the data. Among L
draws of a right posterior, the true value of any quantity has a uniform rank; made continuous by a
uniform V,

.. math:: u = \frac{\#\{\text{draws below}\} + V (\#\{\text{draws equal}\} + 1)}{L + 1}
    \sim \text{Uniform}(0, 1),

also where values are ties. Quantities are every scalar, the posterior log density, and the log
likelihood of the data, which sees posteriors that forget the data. Two averages of u are tested,

.. math:: z_1 = \sqrt{12 n} \, (\bar u - \tfrac12), \qquad
    z_2 = \sqrt{180 n} \, (\overline{(u - \tfrac12)^2} - \tfrac1{12}),

for location and spread, by :math:`z_1^2 + z_2^2 \sim \chi^2_2`.

Cook, Gelman and Rubin (2006), *Validation of software for Bayesian models using posterior
quantiles*; Talts et al. (2018), *Validating Bayesian inference algorithms with simulation-based
calibration*; Modrák et al. (2025), *Simulation-based calibration checking for Bayesian computation:
the choice of test quantities shapes sensitivity*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bayesmodels.data import whole
from bayesmodels.errors import DataError
from bayesmodels.models.mixture import NaiveBayesMixture
from bayesmodels.protocol import Belief
from bayesmodels.reading import levels, numbers, places
from bayesmodels.referee.error_control import holm
from bayesmodels.referee.simulation import Simulated, simulated, told

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

LEAST = 100
"""Simulations at least: the averages are then normal enough."""
_EVERY = 100  # simulations between words of progress


@dataclass(frozen=True)
class Calibration:
    """What simulation-based calibration found.

    Attributes
    ----------
    outcome : {"agree", "disagree"}
        Whether ranks are uniform as far as `n` simulations tell.
    findings : tuple of str
        Sentences, the gravest first; empty if there is nothing to say.
    level : float
        Probability of ``disagree`` for a right model, over all quantities together.
    n, draws : int
        Numbers of simulations and of posterior draws in each.
    table : pandas.DataFrame
        One row a quantity: ``location`` and ``spread`` in standard errors, and ``p``.
    u : pandas.DataFrame
        The ranks between 0 and 1, one row a simulation and one column a quantity.
    """

    outcome: Literal["agree", "disagree"]
    findings: tuple[str, ...]
    level: float
    n: int
    draws: int
    table: pd.DataFrame = field(repr=False)
    u: pd.DataFrame = field(repr=False)

    def sentence(self) -> str:
        """Say the outcome in one sentence."""
        if self.outcome == "agree":
            return (
                f"In {self.n} simulations, ranks of {len(self.table)} quantities are uniform as "
                f"far as can be told (level {self.level:g})."
            )
        return f"Posteriors do not fit what the data were made of: {self.findings[0]}"

    def plot(self, quantity: str | None = None) -> Any:
        """Draw how far the ranks' distribution is from the uniform one, with ArviZ's own test.

        Parameters
        ----------
        quantity : str, optional
            A label of `table`; by default the one that fits worst.

        Returns
        -------
        arviz_plots.PlotCollection
        """
        import arviz_plots
        import xarray as xr

        chosen = self.table["p"].idxmin() if quantity is None else quantity
        if chosen not in self.u:
            msg = f"quantity: must be one of {list(self.u)}; got {quantity!r}."
            raise DataError(msg)
        ranks = xr.Dataset({str(chosen): (("chain", "draw"), self.u[chosen].to_numpy()[None])})
        tree = xr.DataTree.from_dict({"prior_sbc": ranks})
        return arviz_plots.plot_ecdf_pit(tree, backend="matplotlib")

    def __repr__(self) -> str:
        return f"Calibration({self.outcome!r}: {self.sentence()})"


def calibrate(
    model: Belief,
    design: Any = None,
    *,
    simulate: Callable[[dict[str, Any], np.random.Generator], Any] | None = None,
    n: int = 1000,
    draws: int = 100,
    level: float = 0.01,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[str], object] = lambda _: None,
) -> Calibration:
    """Check prior, likelihood and posterior of a model against each other by simulation.

    Parameters and data are drawn `n` times from the prior and from the likelihood, by the model
    itself or by a simulator of yours; each time the posterior is drawn from. Under a right model
    the true parameters look like one more of these draws: their ranks are uniform.

    Parameters
    ----------
    model : Belief
        A proper prior of a model with a closed-form posterior.
    design : rows, optional
        What the new data look like: as many rows, and the same predictors, groups, trials and gaps.
        Other values in it do not matter.
    simulate : callable, optional
        From parameters (by name, of the variables' shapes) and a Generator to data, in place of
        `design`: your own idea of how data come about, against the model's.
    n : int, default 1000
        Number of simulations, 100 at least.
    draws : int, default 100
        Number of posterior draws in each.
    level : float, default 0.01
        Probability of ``disagree`` for a right model.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.
    progress : callable, optional
        Told, in words, how far it is.

    Returns
    -------
    Calibration
        With `outcome`, `findings`, `table`, `u` and `plot`.

    Raises
    ------
    DataError
        If neither or both of `design` and `simulate` are given, the design is a statistic or
        weighted, the model has no closed form, or a number is out of range.
    PriorError
        If the prior is improper: nothing can be drawn from it.

    Notes
    -----
    The model's own simulator and its posterior may make the same mistake. A wrong prior is not
    seen, since parameters are drawn from the model's.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> bm.calibrate(bm.BetaBernoulli(2, 3), np.zeros(20), rng=1).outcome
    'agree'
    >>> def sticky(parameters, rng):  # every toss is counted twice
    ...     return np.repeat(rng.random(10) < parameters["theta"], 2)
    >>> wrong = bm.calibrate(bm.BetaBernoulli(2, 3), simulate=sticky, rng=1)
    >>> [finding.split(" (")[0] for finding in wrong.findings if "theta" in finding]
    ['the posterior of theta is too narrow']
    """
    import pandas as pd

    n, draws = int(whole(n, "n", LEAST)), int(whole(draws, "draws", 1))
    if not 0 < level < 1:
        msg = f"level: must be strictly between 0 and 1; got {level!r}."
        raise DataError(msg)
    if (design is None) == (simulate is None):
        msg = "design, simulate: give one of them: rows like those to be drawn, or a simulator."
        raise DataError(msg)
    if not hasattr(model, "update") or isinstance(model, NaiveBayesMixture):
        msg = (
            f"model: must have a posterior in closed form to draw from; {type(model).__name__} has "
            "none."
        )
        raise DataError(msg)
    rng = np.random.default_rng(rng)
    prior = model
    if design is not None and not hasattr(design, "without_rows"):
        prior = model.update(model.statistic(design).without_rows())  # with the design's groups
    true = prior.sample(n, rng)
    labels, kept = _labels(prior, true)
    ranks = np.empty((n, len(labels)))
    for i in range(n):
        if i % _EVERY == 0:
            progress(f"{i} of {n} simulations")
        here = {name: x[i : i + 1] for name, x in true.items()}
        if simulate is None:
            new = simulated(prior, design, here, rng)
        else:
            new = told(prior, simulate({name: x[0] for name, x in here.items()}, rng))
        after = prior.update(new.statistic)
        sampled = after.sample(draws, rng)
        for name, x in sampled.items():
            if x.shape[1:] != here[name].shape[1:]:
                msg = (
                    f"model: its {name} must have the shape that data give it, {x.shape[1:]}; got "
                    f"{here[name].shape[1:]}. Give the prior an axis for groups or columns."
                )
                raise DataError(msg)
        both = {name: np.concatenate([here[name], sampled[name]]) for name in here}
        values = np.column_stack([_scalars(after, both)[:, kept], *_joint(after, new, both)])
        below, equal = (values[1:] < values[0]).sum(0), (values[1:] == values[0]).sum(0)
        ranks[i] = (below + rng.random(len(labels)) * (equal + 1)) / (draws + 1)
    location = np.sqrt(12 * n) * (ranks.mean(0) - 0.5)
    spread = np.sqrt(180 * n) * (((ranks - 0.5) ** 2).mean(0) - 1 / 12)
    table = pd.DataFrame(
        {
            "location": location,
            "spread": spread,
            "p": stats.chi2.sf(location**2 + spread**2, 2),
        },
        index=labels,
    )
    wrong = [labels[number] for number in holm(table["p"].to_numpy(), level)]
    findings = tuple(_sentence(label, table.loc[label]) for label in wrong)
    u = pd.DataFrame(ranks, columns=labels)
    return Calibration("disagree" if wrong else "agree", findings, level, n, draws, table, u)


def _scalars(law: Any, draws: dict[str, Any]) -> Array:
    """Return every scalar in a column, one row a draw; nominal ones by their indicators."""
    flat = [np.asarray(x, dtype=float) for x in numbers(law, draws).values()]
    return np.concatenate([x.reshape(len(x), -1) for x in flat], axis=1)


def _joint(law: Any, new: Simulated, draws: dict[str, Any]) -> list[Array]:
    """Return the posterior log density and the log likelihood of each draw."""
    density = np.asarray(law.log_density(draws))
    return [density.reshape(len(density), -1).sum(-1), new.log_likelihood(draws)]


def _labels(law: Any, true: dict[str, Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Return labels of all quantities, and which scalars are no copies of others."""
    labels: list[str] = []
    kept: list[int] = []
    for name, x in numbers(law, true).items():
        found = [label for label, _ in places(law, name, x.shape[1:])]
        every = np.arange(len(found))
        if name not in levels(law):  # of a symmetric matrix, one half
            _, first = np.unique(x.reshape(len(x), -1), axis=1, return_index=True)
            every = np.sort(first)
        kept += (len(labels) + every).tolist()
        labels += found
    chosen = [labels[k] for k in kept]
    return [*chosen, "log density", "log likelihood"], np.array(kept, dtype=np.intp)


def _sentence(label: str, row: Any) -> str:
    of = f"the posterior of {label}" if not label.startswith("log ") else f"the {label} of draws"
    if abs(row["spread"]) >= abs(row["location"]):
        kind, size = ("too narrow" if row["spread"] > 0 else "too wide"), row["spread"]
    else:
        kind, size = ("too low" if row["location"] > 0 else "too high"), row["location"]
    return f"{of} is {kind} ({abs(size):.1f} standard errors)."
