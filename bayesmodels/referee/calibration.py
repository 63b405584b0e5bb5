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

import os
import pickle
from collections.abc import Callable, Generator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import stats

from bayesmodels.belief import notebook
from bayesmodels.belief.datatree import given_axes, statistic_of
from bayesmodels.belief.protocol import Belief, Conjugate, Declarable, Statistic
from bayesmodels.belief.reading import levels
from bayesmodels.errors import DataError
from bayesmodels.input.parameters import count, proportion, randomness
from bayesmodels.numerics import Array
from bayesmodels.numerics.multiple_testing import holm
from bayesmodels.numerics.processes import side_by_side
from bayesmodels.referee import checkpoint as files
from bayesmodels.referee.sbc import Method, Setup, Simulator, begin, ranks_of

if TYPE_CHECKING:
    import pandas as pd


LEAST = 100
"""Simulations at least: the averages are then normal enough."""
_CHUNKS = {"exact": 100, "mcmc": 10}
"""Simulations between words of progress, and between two states of the checkpoint."""
_CAUSE = (
    "If validate finds that formula, declaration and draws agree, then what simulates the data, or "
    "the prior, is to blame."
)


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
    short : int
        In how many simulations the sampler gave fewer than `draws` effective draws.
    """

    outcome: Literal["agree", "disagree"]
    findings: tuple[str, ...]
    level: float
    n: int
    draws: int
    table: pd.DataFrame = field(repr=False)
    u: pd.DataFrame = field(repr=False)
    short: int = 0

    def sentence(self) -> str:
        """Say the outcome, and of a failure where to look for its cause."""
        said = (
            f"In {self.n} simulations, ranks of {len(self.table)} quantities are uniform as far "
            f"as can be told (level {self.level:g})."
            if self.outcome == "agree"
            else f"Posteriors do not fit what the data were made of: {self.findings[0]} {_CAUSE}"
        )
        if self.short:
            said += (
                f" In {self.short} of {self.n} simulations the sampler gave fewer than "
                f"{self.draws} effective draws, whose ranks are less sure."
            )
        return said

    def plot(self, quantity: str | None = None, *, backend: str = "matplotlib") -> Any:
        """Draw how far the ranks' distribution is from the uniform one, with ArviZ's own test.

        Parameters
        ----------
        quantity : str, optional
            A label of `table`; by default the one that fits worst.
        backend : {"matplotlib", "bokeh", "plotly", "none"}, default "matplotlib"
            As ArviZ has it; the second and third need their packages.

        Returns
        -------
        arviz_plots.PlotCollection
        """
        import arviz_plots
        import xarray as xr

        chosen = self.table["p"].idxmin() if quantity is None else quantity
        if chosen not in self.u:
            raise DataError(f"quantity: must be one of {list(self.u)}; got {quantity!r}.")
        ranks = xr.Dataset({str(chosen): (("chain", "draw"), self.u[chosen].to_numpy()[None])})
        tree = xr.DataTree.from_dict({"prior_sbc": ranks})
        return arviz_plots.plot_ecdf_pit(tree, backend=backend)

    def measured(self) -> dict[str, Any]:
        """Return what the outcome rests on as plain values."""
        worst = str(self.table["p"].idxmin())
        z = float(self.table[["location", "spread"]].abs().max(axis=1)[worst])
        return {"level": self.level, "largest": worst, "largest_z": z}

    def _repr_html_(self) -> str:
        worst = self.table.sort_values("p", kind="stable")
        return notebook.judged(
            "Calibration", self.outcome, [self.sentence()], self.findings[1:], worst
        )

    def __repr__(self) -> str:
        return f"Calibration({self.outcome!r}: {self.sentence()})"


def calibrate(
    model: Belief | Declarable,
    design: Any = None,
    *,
    simulate: Callable[[dict[str, Any], np.random.Generator], Any] | None = None,
    n: int = 1000,
    method: Method = "exact",
    draws: int = 100,
    level: float = 0.01,
    rng: np.random.Generator | int | None = None,
    cores: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[str], object] = lambda _: None,
) -> Calibration:
    """Check prior, likelihood and posterior of a model against each other by simulation.

    Parameters and data are drawn `n` times from the prior and from the likelihood, by the model
    itself or by a simulator of yours; each time the posterior is drawn from. Under a right model
    the true parameters look like one more of these draws: their ranks are uniform.

    Parameters
    ----------
    model : Belief or LogisticRegression
        A proper prior.
    design : rows, optional
        What the new data look like: as many rows, and the same predictors, groups, trials and gaps.
        Other values in it do not matter.
    simulate : callable, optional
        From parameters (by name, of the variables' shapes) and a Generator to data, in place of
        `design`: your own idea of how data come about, against the model's.
    n : int, default 1000
        Number of simulations, 100 at least.
    method : {"exact", "mcmc"}
        Draw from the posterior in closed form, or by PyMC from the model that is declared. The
        latter is compiled once, in ten seconds or more, and takes about 0.1 s a simulation.
    draws : int, default 100
        Number of posterior draws in each. Chains are made long enough to give as many effective
        draws, and thinned to this number.
    level : float, default 0.01
        Probability of ``disagree`` for a right model.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given, or that of the checkpoint.
    cores : int, default 1
        Number of processes; ranks do not depend on it. Each starts, and compiles, for itself: that
        pays off from about a minute of work. A script then needs ``if __name__ == "__main__":``.
    checkpoint : path-like, optional
        File (``.npz``) that keeps finished simulations. If it is there, they are not done again; a
        larger `n` adds to them.
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
        weighted, the model has no closed form for ``"exact"`` or no continuous parameters for
        ``"mcmc"``, a number is out of range, or the checkpoint belongs to something else.
    PriorError
        If the prior is improper: nothing can be drawn from it.

    Notes
    -----
    The model's own simulator and its posterior may make the same mistake. A wrong prior is not
    seen, since parameters are drawn from the model's.

    Of a mixture whose classes may change places, quantities are those of `label_invariants`.

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
    n, draws = count(n, "n", LEAST), count(draws, "draws", 1)
    cores = count(cores, "cores", 1)
    level = proportion(level, "level")
    if (design is None) == (simulate is None):
        raise DataError(
            "design, simulate: give one of them: rows like those to be drawn, or a simulator."
        )
    _require_draws(model, method)
    found = {} if checkpoint is None else files.load(checkpoint)
    words = found["seed"] if rng is None and "seed" in found else None
    if words is None:
        words = randomness(rng).integers(2**32, size=4, dtype=np.uint32)
    seed = tuple(int(word) for word in words)
    if design is not None and not isinstance(design, Statistic):  # with the axes that it brings
        model = given_axes(model, design, statistic_of(model, design))
    setup = Setup(model, design, simulate, method, draws, seed)
    simulator = Simulator(setup)
    rows = np.full((n, len(simulator.labels) + 1), np.nan)
    made_with = {} if checkpoint is None else simulator.made_with()
    if found:
        assert checkpoint is not None  # noqa: S101 - for the type checker
        old = files.rows_of(found, checkpoint, made_with)
        rows = np.concatenate([old, rows[len(old) :]])
    left = np.flatnonzero(np.isnan(rows[:n, 0]))
    chunks = [left[i : i + _CHUNKS[method]] for i in range(0, len(left), _CHUNKS[method])]
    anew = 0
    progress(_told(n - len(left), n, anew))
    # Closed, so that no process goes on working after Ctrl-C.
    with closing(_results(setup, simulator, [c.tolist() for c in chunks], cores)) as results:
        for chunk, (done, again) in results:
            rows[chunk] = done
            anew += again
            if checkpoint is not None:
                files.store(checkpoint, made_with, rows)
            finished = int(np.isfinite(rows[:n, 0]).sum())
            if finished < n:
                progress(_told(finished, n, anew))
    ranks, effective = rows[:n, :-1], rows[:n, -1]
    return _judged(ranks, simulator.labels, level, draws, int((effective < draws).sum()))


def _require_draws(model: Any, method: str) -> None:
    """Refuse a model that this method can't draw from."""
    name = type(model).__name__
    if method not in ("exact", "mcmc"):
        msg = f"method: must be 'exact' or 'mcmc'; got {method!r}."
    elif method == "exact" and not isinstance(model, Conjugate):
        msg = (
            f"model: must have a posterior in closed form to draw from; {name} has none. Use "
            "method='mcmc'."
        )
    elif method == "mcmc" and levels(model):
        msg = (
            f"method: 'mcmc' needs continuous parameters; those of {name} are names. Use "
            "method='exact'."
        )
    else:
        return
    raise DataError(msg)


def _told(finished: int, n: int, anew: int) -> str:
    compiled = f", {anew} of them compiled anew" if anew else ""
    return f"{finished} of {n} simulations{compiled}"


def _results(
    setup: Setup, simulator: Simulator, chunks: Sequence[list[int]], cores: int
) -> Generator[tuple[list[int], tuple[Array, int]]]:
    """Yield chunks with their results, in any order."""
    if cores == 1 or len(chunks) <= 1:
        for chunk in chunks:
            yield chunk, simulator.ranks(chunk)
        return
    try:
        pickle.dumps(setup)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise DataError(
            f"cores: model, design and simulate must be such that other processes can get them "
            f"({error}). Define functions and classes in a module, or use cores=1."
        ) from None
    try:
        yield from side_by_side(ranks_of, chunks, min(cores, len(chunks)), begin, (setup,))
    except BrokenProcessPool:
        raise DataError(
            "cores: other processes could not start. In a script put the call below "
            "`if __name__ == '__main__':` and functions into a module, or use cores=1."
        ) from None


def _judged(ranks: Array, labels: list[str], level: float, draws: int, short: int) -> Calibration:
    """Test location and spread of the ranks of every quantity."""
    import pandas as pd

    n = len(ranks)
    location = np.sqrt(12 * n) * (ranks.mean(0) - 0.5)
    spread = np.sqrt(180 * n) * (((ranks - 0.5) ** 2).mean(0) - 1 / 12)
    table = pd.DataFrame(
        {"location": location, "spread": spread, "p": stats.chi2.sf(location**2 + spread**2, 2)},
        index=labels,
    )
    wrong = [labels[number] for number in holm(table["p"].to_numpy(), level)]
    findings = tuple(_sentence(label, table.loc[label]) for label in wrong)
    u = pd.DataFrame(ranks, columns=labels)
    outcome: Literal["agree", "disagree"] = "disagree" if wrong else "agree"
    return Calibration(outcome, findings, level, n, draws, table, u, short)


def _sentence(label: str, row: Any) -> str:
    of = f"the posterior of {label}" if not label.startswith("log ") else f"the {label} of draws"
    if abs(row["spread"]) >= abs(row["location"]):
        kind, size = ("too narrow" if row["spread"] > 0 else "too wide"), row["spread"]
    else:
        kind, size = ("too low" if row["location"] > 0 else "too high"), row["location"]
    return f"{of} is {kind} ({abs(size):.1f} standard errors)."
