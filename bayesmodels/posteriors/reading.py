"""What can be read off any posterior of a PyMC model, whether in closed form or integrated.

Each class binds these functions as methods beside those of `belief.reading`, so that a verb has one
meaning and one docstring. It says itself what the log of the integral of its joint density is
(`log_integral`), of which variables there are no laws (`drawn`), what is known of Deterministics
(`deterministics`) and the log density of rows of values (`log_density_of`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pymc as pm
from pytensor.graph.traversal import ancestors

from bayesmodels.belief import datatree, reading
from bayesmodels.belief.intervals import CI_PROB, CiKind, renamed
from bayesmodels.belief.protocol import Draws, Law
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.labels import Coords
from bayesmodels.input.parameters import drawn, randomness
from bayesmodels.numerics import Array
from bayesmodels.numerics.processes import same_rounding
from bayesmodels.posteriors.density import without_initial_values
from bayesmodels.posteriors.deterministic_laws import ALL_DRAWN, ENDS_DRAWN, Known
from bayesmodels.posteriors.elementwise import Whole
from bayesmodels.posteriors.support.finite import names_only

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_IMPROPER = ("Flat", "HalfFlat")


def verified(self: Any) -> str:
    """Return how far the verification reaches.

    ``"analytically"``: the density is analytic, so that an identity at points in general
    position holds everywhere. ``"numerically"``: the identity holds at all points compared, on
    both sides of every comparison in the graph that was seen to fall out differently.
    """
    return "analytically" if self.verification.settled else "numerically"


def log_evidence(self: Any) -> float:
    r"""Return the log density of the data with everything integrated out, :math:`\ln p(y)`.

    With a `Potential`, the log of the integral of the joint density as PyMC has it.

    Raises
    ------
    PriorError
        If a prior is improper (`Flat`, `HalfFlat`): the data then have no density.
    """
    for name, kind in improper(self.model):
        raise PriorError(
            f"log_evidence: the prior of {name} is improper ({kind}), so that the data have "
            "no density; give it a proper prior."
        )
    total: float = self.log_integral
    return total


@renamed
def summary(self: Any, ci_prob: float = CI_PROB, ci_kind: CiKind = "eti") -> pd.DataFrame:
    """Return means, standard deviations and intervals, one row a scalar.

    Parameters
    ----------
    ci_prob, ci_kind
        As in `interval`.

    Returns
    -------
    pandas.DataFrame
        Of free variables, as beliefs have it, and of Deterministics. A column ``note`` says which
        numbers are read off draws, the same ones each time, and which moments do not exist.
    """
    kept = vars(self).setdefault("_summaries", {})
    if (ci_prob, ci_kind) not in kept:
        kept[ci_prob, ci_kind] = _summary(self, ci_prob, ci_kind)
    result: pd.DataFrame = kept[ci_prob, ci_kind].copy()
    return result


def _summary(self: Any, ci_prob: float, ci_kind: CiKind) -> pd.DataFrame:
    table = reading.summary(self, ci_prob, ci_kind)
    for name in self.drawn:
        said = ALL_DRAWN if name in self.forward else ENDS_DRAWN
        for row, _ in reading.places(self, name, self.shapes[name]):
            gone = reading.missing(*table.loc[row, ["mean", "sd"]])
            table.loc[row, "note"] = f"{said}; {gone}" if gone else said
    table = table.fillna({"note": ""}) if self.drawn else table
    if not self.model.deterministics:
        return table
    return _with_deterministics(table, self.model, self.deterministics(ci_prob, ci_kind))


def numbers(self: Any) -> dict[str, Law]:
    """Return the laws that `mean`, `var`, `interval` and `summary` are read off.

    These are the marginals; but of a finite variable that is a number, not a label as that of a
    `Categorical`, the law of this number, not those of the indicators of its values.
    """
    laws: dict[str, Law] = self.marginals()
    values = {rv.name for rv in self.model.free_RVs if not names_only(rv.owner.op)}
    for name in values & set(self.levels):
        laws[name] = Whole(self.levels[name], np.asarray(laws[name].mean()))
    return laws


def log_density(self: Any, draws: Draws) -> Array:
    """Return the joint log density in natural space.

    Parameters
    ----------
    draws : mapping
        Values by name, with any number of sample axes before the variable's own.
    """
    flat: dict[str, Array] = {}
    batch: tuple[int, ...] = ()
    for name, shape in self.shapes.items():
        value = drawn(draws, name)
        batch = value.shape[: value.ndim - len(shape)]
        if value.shape[len(batch) :] != shape:
            raise DataError(f"draws: {name!r} must have shape (..., {shape}); got {value.shape}.")
        flat[name] = value.reshape(-1, *shape)
    with np.errstate(all="ignore"):  # -inf is an answer
        return np.asarray(self.log_density_of(flat)).reshape(batch)[()]


def to_datatree(
    self: Any, draws: int = 1000, chains: int = 4, rng: np.random.Generator | int | None = None
) -> xr.DataTree:
    """Return exact, independent draws as PyMC's sampler would, Deterministics included.

    Parameters
    ----------
    draws, chains : int
        Numbers of draws a chain and of chains. Chains differ in nothing.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.
    """
    tree = datatree.to_datatree(self, draws, chains, rng)
    free = tree.posterior.to_dataset()
    tree["posterior"] = free.assign(values_of_deterministics(self.model, free).data_vars)
    return tree


def predictive(
    self: Any, draws: int = 1000, chains: int = 4, rng: np.random.Generator | int | None = None
) -> xr.DataTree:
    """Return new data given exact draws, by PyMC's forward sampling.

    Parameters
    ----------
    draws, chains : int
        As in `to_datatree`.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.

    Returns
    -------
    xarray.DataTree
        With the group ``posterior_predictive``, beside ``posterior``.
    """
    rng = randomness(rng)
    if not self.model.free_RVs:
        raise DataError(
            "predictive: needs a free variable; without one, draw by pm.sample_prior_predictive."
        )
    tree = self.to_datatree(draws, chains, rng)
    with self.model, same_rounding():
        pm.sample_posterior_predictive(
            tree,
            extend_inferencedata=True,
            random_seed=int(rng.integers(2**31)),
            progressbar=False,
        )
    return tree


def _with_deterministics(
    table: pd.DataFrame, model: pm.Model, known: Mapping[str, Known]
) -> pd.DataFrame:
    """Add what is known of a model's Deterministics, and whence, to the summary of the others."""
    import pandas as pd

    rows: dict[str, list[float]] = {}
    notes: list[str] = []
    for name, law in known.items():
        axes = labelled_axes(model, name, law.mean.shape)
        places = np.ndindex(law.mean.shape)
        for at, labels in zip(places, product(*(labels for _, labels in axes)), strict=True):
            text = f"{name}[{', '.join(map(str, labels))}]" if at else name
            rows[text] = [float(part[at]) for part in (law.mean, law.sd, law.low, law.high)]
            notes.append(str(law.notes[at]))
    columns = list(table.columns[:4])
    more = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    every = pd.concat([table, more.assign(note=notes)])
    every = every.fillna({"note": ""})
    return every if (every["note"] != "").any() else every[columns]


def improper(model: pm.Model) -> list[tuple[str, str]]:
    """Return variables with improper priors, and the laws."""
    kinds = {rv.name: type(rv.owner.op).__name__.removesuffix("RV") for rv in model.free_RVs}
    return [(name, kind) for name, kind in kinds.items() if kind in _IMPROPER]


def labelled_axes(
    model: pm.Model, name: str, shape: tuple[int, ...]
) -> list[tuple[str, tuple[Hashable, ...]]]:
    """Return names and labels of a variable's axes: its own, or those that ArviZ would give."""
    named = (*(model.named_vars_to_dims.get(name) or ()), *[None] * len(shape))
    axes = [own or f"{name}_dim_{i}" for i, own in enumerate(named[: len(shape)])]
    labels = [model.coords.get(axis) for axis in axes]
    result = [tuple(range(n) if own is None else own) for n, own in zip(shape, labels, strict=True)]
    return list(zip(axes, result, strict=True))


def dims_and_coords(
    model: pm.Model, shapes: dict[str, tuple[int, ...]]
) -> tuple[dict[str, tuple[str, ...]], Coords]:
    """Return names of each variable's axes, and labels along every axis."""
    axes = {name: labelled_axes(model, name, shape) for name, shape in shapes.items()}
    dims = {name: tuple(axis for axis, _ in labelled) for name, labelled in axes.items()}
    return dims, {axis: labels for labelled in axes.values() for axis, labels in labelled}


def values_of_deterministics(model: pm.Model, draws: xr.Dataset) -> xr.Dataset:
    """Return the values of a model's Deterministics, from draws of all its free variables."""
    if not model.deterministics:
        return draws[[]]
    above = set(ancestors(model.deterministics))
    seen = [rv for rv in model.observed_RVs if rv in above]
    if seen:
        # PyMC would draw what was observed anew: as for rows of which some are missing.
        values = {rv.name: model.rvs_to_values[rv].eval() for rv in seen}
        with without_initial_values(model):
            model = pm.do(model, values)
    with same_rounding():
        result: xr.Dataset = pm.compute_deterministics(draws, model=model, progressbar=False)
    return result
