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
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import stats

from bayesmodels.belief import notebook
from bayesmodels.belief.bambi_model import of_formula
from bayesmodels.belief.datatree import statistic_of, with_data_axes
from bayesmodels.belief.declaring import is_pymc
from bayesmodels.belief.protocol import Belief, Conjugate, Declarable, Statistic
from bayesmodels.belief.reading import levels
from bayesmodels.errors import DataError
from bayesmodels.input.parameters import count, proportion, randomness
from bayesmodels.numerics import Array
from bayesmodels.numerics.multiple_testing import holm
from bayesmodels.referee import checkpoint as files
from bayesmodels.referee.sbc import Around, Method, Setup
from bayesmodels.referee.sbc_processes import results, simulator_of

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm


LEAST = 100
"""Simulations at least: the averages are then normal enough."""
_CHUNKS = {"exact": 100, "partial": 10, "integrated": 10, "mcmc": 10}
"""Simulations between words of progress, and between two states of the checkpoint."""
_CAUSE = (
    "If validate finds that formula, declaration and draws agree, then what simulates the data, or "
    "the prior, is to blame."
)
_CAUSE_OF_MODEL = {
    "exact": "The closed form is verified, so what simulates parameters or data does not fit the "
    "densities that the model states.",
    "partial": "Either the sampler does not reach what remains of the posterior, or what simulates "
    "parameters or data does not fit the densities that the model states.",
    "integrated": "Either the integral misses a mode, or what simulates parameters or data does "
    "not fit the densities that the model states.",
    "mcmc": "Either the sampler does not reach all of the posterior, or what simulates parameters "
    "or data does not fit the densities that the model states.",
}


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
    method : {"exact", "partial", "integrated", "mcmc"}
        How posteriors were drawn from.
    cause : str
        Where to look for the cause of a failure.
    """

    outcome: Literal["agree", "disagree"]
    findings: tuple[str, ...]
    level: float
    n: int
    draws: int
    table: pd.DataFrame = field(repr=False)
    u: pd.DataFrame = field(repr=False)
    short: int = 0
    method: Method = "exact"
    cause: str = field(default=_CAUSE, repr=False)

    def sentences(self) -> list[str]:
        """Say what was found in words, the most important first."""
        return [self._sentence()]

    def _sentence(self) -> str:
        """Say the outcome, and of a failure where to look for its cause."""
        said = (
            f"In {self.n} simulations, ranks of {len(self.table)} quantities are uniform as far "
            f"as can be told (level {self.level:g})."
            if self.outcome == "agree"
            else "Posteriors do not fit what the data were made of: "
            f"{self.findings[0]} {self.cause}"
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
            "Calibration", self.outcome, [self._sentence()], self.findings[1:], worst
        )

    def __repr__(self) -> str:
        return f"Calibration({self.outcome!r}: {self._sentence()})"


def calibrate(
    model: Belief | Declarable | pm.Model,
    design: Any = None,
    *,
    simulate: Callable[[dict[str, Any], np.random.Generator], Any] | pm.Model | None = None,
    around: Around = "prior",
    n: int = 1000,
    method: Method | None = None,
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
    model : Belief, LogisticRegression or pymc.Model
        A proper prior; or any PyMC model, whose observed data say what new ones look like.
    design : rows, optional
        Of a belief, what the new data look like: as many rows, and the same predictors, groups,
        trials and gaps. Other values in it do not matter.
    simulate : callable or pymc.Model, optional
        Your own idea of how data come about, against the model's: from parameters (by name, of the
        variables' shapes) and a Generator to data, in place of `design`. Of a PyMC model, to values
        by the names of observed variables (of one variable, the values alone); or another PyMC
        model, which draws variables of the same names: parameters as well as data.
    around : {"prior", "posterior"}, default "prior"
        Of a PyMC model, whether parameters are drawn from its prior, or from the posterior of the
        data that it holds: new data are then observed beside these. (Of a belief, calibrate
        ``prior.update(data)``.)
    n : int, default 1000
        Number of simulations, 100 at least.
    method : {"exact", "partial", "integrated", "mcmc"}, optional
        Draw from the posterior in closed form; of a PyMC model from one in part (as in
        `bm.exact(model, partial=True)`), or by numerical integration (as in `bm.integrate`; by
        a sampler where it has not settled); or by PyMC from the model, or the one that is declared.
        If not given the first of them that a PyMC model has, of a belief the closed form. With a
        sampler, the model is compiled once, in ten seconds or more; a simulation takes about 0.1 s.
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
        File (``.json``) that keeps finished simulations. If it is there, they are not done again; a
        larger `n` adds to them.
    progress : callable, optional
        Told, in words, how far it is.

    Returns
    -------
    Calibration
        With `outcome`, `findings`, `table`, `u`, `method` and `plot`.

    Raises
    ------
    DataError
        If neither or both of `design` and `simulate` are given, the design is a statistic or
        weighted, the model has no closed form for ``"exact"`` or no continuous parameters for
        ``"mcmc"``, a number is out of range, or the checkpoint belongs to something else; of a PyMC
        model, if a design is given, nothing is observed, a `Potential` or a prior can't be drawn
        from, or shared data (`pm.Data`) are not only observed but stand elsewhere too.
    PriorError
        If the prior is improper: nothing can be drawn from it.

    Notes
    -----
    The model's own simulator and its posterior may make the same mistake. A wrong prior is not
    seen where parameters are drawn from the model's. Another PyMC model as `simulate` draws them
    from its own; if it has no other parameters, it is its log density and log likelihood that are
    compared, which also see a posterior that misses a part of the data.

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

    >>> import pymc as pm
    >>> with pm.Model() as visits:
    ...     rate = pm.Gamma("rate", 2.0, 1.0)
    ...     _ = pm.Poisson("visits", rate, observed=[3, 5, 4])
    >>> bm.calibrate(visits, n=100, rng=1).outcome
    'agree'
    """
    n, draws = count(n, "n", LEAST), count(draws, "draws", 1)
    cores = count(cores, "cores", 1)
    level = proportion(level, "level")
    if around not in ("prior", "posterior"):
        raise DataError(f"around: must be 'prior' or 'posterior'; got {around!r}.")
    model, simulate = of_formula(model), of_formula(simulate)
    if not (simulate is None or callable(simulate) or (is_pymc(simulate) and is_pymc(model))):
        raise DataError("simulate: must be a function; of a PyMC model, or another PyMC model.")
    result = {} if checkpoint is None else files.load(checkpoint)
    words = result["seed"] if rng is None and "seed" in result else None
    if words is None:
        words = randomness(rng).integers(2**32, size=4, dtype=np.uint32)
    seed = tuple(int(word) for word in words)
    if is_pymc(model):
        chosen = _way(model, design, simulate, around, method)
        model, simulate = _held(model), _held(simulate)
    else:
        chosen = _require_draws(model, design, simulate, around, method)
        if design is not None and not isinstance(design, Statistic):  # with the axes it brings
            model = with_data_axes(model, design, statistic_of(model, design))
    setup = Setup(model, design, simulate, chosen, draws, seed, around)
    simulator = simulator_of(setup)
    rows = np.full((n, len(simulator.labels) + 1), np.nan)
    depends_on = {} if checkpoint is None else simulator.depends_on()
    if result:
        assert checkpoint is not None  # noqa: S101 - for the type checker
        old = files.rows_of(result, checkpoint, depends_on)
        rows = np.concatenate([old, rows[len(old) :]])
    left = np.flatnonzero(np.isnan(rows[:n, 0]))
    size = _CHUNKS[chosen]
    chunks = [left[i : i + size] for i in range(0, len(left), size)]
    anew = 0
    progress(_progress(n - len(left), n, anew))
    # Closed, so that no process goes on working after Ctrl-C.
    with closing(results(setup, simulator, [c.tolist() for c in chunks], cores)) as found_ones:
        for chunk, (done, again) in found_ones:
            rows[chunk] = done
            anew += again
            if checkpoint is not None:
                files.store(checkpoint, depends_on, rows)
            finished = int(np.isfinite(rows[:n, 0]).sum())
            if finished < n:
                progress(_progress(finished, n, anew))
    ranks, effective = rows[:n, :-1], rows[:n, -1]
    judged = _judged(ranks, simulator.labels, level, draws, int((effective < draws).sum()))
    cause = _CAUSE_OF_MODEL[chosen] if is_pymc(model) else _CAUSE
    return replace(judged, method=chosen, cause=cause)


def _way(model: Any, design: Any, simulate: Any, around: Around, method: Any) -> Method:
    """Return how to draw from the posterior of a PyMC model."""
    from bayesmodels.posteriors.ladder import best_rung
    from bayesmodels.referee.sbc_models import require_simulations

    if design is not None:
        raise DataError("design: a PyMC model holds its own data; calibrate it without.")
    if method not in (None, *_CHUNKS):
        raise DataError(f"method: must be one of {list(_CHUNKS)}; got {method!r}.")
    require_simulations(model, simulate, around)
    return best_rung(model, method, np.random.default_rng(0))


def _held(model: Any) -> Any:
    """Return a PyMC model with the data that it holds now; what is none as it is."""
    from bayesmodels.posteriors.density import frozen

    return frozen(model) if is_pymc(model) else model


def _require_draws(
    model: Any, design: Any, simulate: Any, around: Around, method: Any
) -> Literal["exact", "mcmc"]:
    """Refuse a belief of which this can't simulate, or draw from the posterior."""
    if (design is None) == (simulate is None):
        raise DataError(
            "design, simulate: give one of them: rows like those to be drawn, or a simulator."
        )
    if around == "posterior":
        raise DataError(
            "around: 'posterior' is for PyMC models; calibrate(prior.update(data), design) is "
            "around the data."
        )
    method = "exact" if method is None else method
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
        return method
    raise DataError(msg)


def _progress(finished: int, n: int, anew: int) -> str:
    compiled = f", {anew} of them compiled anew" if anew else ""
    return f"{finished} of {n} simulations{compiled}"


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
