r"""New rows for a PyMC model with `pm.Data`: its posterior is the prior of what comes next.

.. math:: p(y' \mid y) = p(y, y') / p(y), \qquad p(y, y' \mid \theta) = p(y \mid \theta) \,
    p(y' \mid \theta)

So the posterior of old and new rows together is looked for, as the first one was, where the second
equation holds: where rows are independent given the variables. That is verified at draws of both
posteriors. Each class of posteriors binds `update` and `log_evidence_given_before` as methods.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pymc.model.fgraph import clone_model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.traversal import ancestors
from pytensor.link.basic import Container

from bayesmodels.errors import DataError, NotConjugate
from bayesmodels.input.parameters import randomness
from bayesmodels.numerics import Array
from bayesmodels.posteriors.density import (
    compiled,
    frozen,
    keep_initial_values,
    named_terms,
    plain,
    without_initial_values,
)
from bayesmodels.posteriors.support import listed

_DRAWS = 6  # of each posterior, at which log densities are compared
_ROUNDING = 1e-10  # of the log density of each row

Values = Mapping[str, NDArray[Any]]
Labels = Mapping[str, Any]


def held_data(model: pm.Model) -> tuple[Values, Labels]:
    """Return the values of a model's `pm.Data`, and labels along dims, as they are now."""
    return {v.name: v.get_value(borrow=True) for v in model.data_vars}, dict(model.coords)


def update[P](
    self: P,
    new_data: Mapping[str, Any],
    *,
    coords: Mapping[str, Sequence[Any]] | None = None,
    rng: np.random.Generator | int | None = None,
) -> P:
    r"""Return the posterior after new rows, for which this one is the prior.

    It is found as this one was, of the same model with old and new rows of its `pm.Data`.

    Parameters
    ----------
    new_data : mapping
        From the names of `pm.Data` that have rows to new rows of each. Rows are along the first
        axis, or along the dim that all of them have.
    coords : mapping, optional
        Labels of the new rows, if their dim has labels; whole numbers from zero are counted on.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.

    Returns
    -------
    ExactPosterior or IntegratedPosterior
        As this one, of a copy of the model with all rows. `log_evidence` is that of all of them,
        and `log_evidence_given_before` that of the new ones given the old.

    Raises
    ------
    DataError
        If new rows do not fit the old ones, or the model's rows are not independent given its
        variables, as those of a time series or a Gaussian process are not.
    NotConjugate
        If the new posterior can't be found.

    Examples
    --------
    >>> import math, pymc as pm, bayesmodels as bm
    >>> with pm.Model() as model:
    ...     heads = pm.Data("heads", [1, 0, 1])
    ...     _ = pm.Bernoulli("y", pm.Beta("theta", 1, 1), observed=heads)
    >>> posterior = bm.exact(model).update({"heads": [1]})
    >>> print(posterior.explain())
    theta has a Beta law with alpha 4, beta 2. ...
    >>> round(math.exp(posterior.log_evidence_given_before), 6)
    0.6
    """
    old: Any = self
    rng = randomness(rng)
    rows = _MoreRows(old.model, old.data, new_data, coords or {})
    rows.verify(old.sample(_DRAWS, rng))
    new: Any = old.again(rows.model, rng=rng)
    rows.verify(new.sample(_DRAWS, rng))
    new.before = old.log_integral, old.log_evidence_error
    return new


def log_evidence_given_before(self: Any) -> float:
    """Return the log density of the rows of the last `update` given all before, p(new | old).

    Without one that is the log evidence: nothing was before. It is known up to the errors of both
    log evidences, and proper where an improper prior had a proper posterior.
    """
    if self.before is None:
        return float(self.log_evidence)
    return float(self.log_integral - self.before[0])


class _MoreRows:
    """A model with old, with new and with all rows; `model` has all."""

    def __init__(
        self, model: pm.Model, held: tuple[Values, Labels], new: Any, coords: Labels
    ) -> None:
        old, labels = held
        more, axes, dim = _new_rows(model, old, new)
        together = {name: np.concatenate([old[name], x], axes[name]) for name, x in more.items()}
        before = labels.get(dim) if dim else None
        after, both = before, before
        if before is not None:
            number = next(x.shape[axes[name]] for name, x in more.items())
            after = _more_labels(dim, before, number, coords)
            both = (*before, *after)
        self._said = listed(more)
        cases: Any = (({}, before), (more, after), (together, both))
        models = [self._holding(model, {**old, **x}, dim, along) for x, along in cases]
        self.model, self._terms = models[-1], list(map(self._terms_of, models))
        self._free = [rv.name for rv in model.free_RVs]
        data = {model[name] for name in more}
        self._of_rows = [
            v.name
            for v in (*model.observed_RVs, *model.potentials)
            if data & set(ancestors([v, model.rvs_to_values.get(v, v)], blockers=model.free_RVs))
        ]
        if not self._of_rows:
            raise DataError(
                f"new_data: nothing that the model observes is made of {self._said}. Let it "
                "observe a pm.Data: pm.Normal(..., observed=data)."
            )

    def _holding(self, model: pm.Model, data: Values, dim: str | None, along: Any) -> pm.Model:
        """Return a copy of a model with other data, labelled along their dim if it has labels."""
        with without_initial_values(model), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old objects, and of dims until all data are there
            copy = clone_model(model)
            for v in (*copy.data_vars, *copy.dim_lengths.values()):
                if isinstance(v, SharedVariable):  # which holds the same numbers as the original's
                    v.container = Container(v, [v.get_value()])  # type: ignore[no-untyped-call]
            try:
                pm.set_data(data, copy, coords=None if along is None else {dim: along})
            except (ValueError, pm.exceptions.ShapeError) as error:
                raise self._misfit(error) from error
        copy.check_bounds = model.check_bounds
        keep_initial_values(model, copy, [rv.name for rv in model.free_RVs])
        return copy

    def _terms_of(self, model: pm.Model) -> Callable[[Mapping[str, Any]], dict[str, Array]]:
        """Return a function from a draw to the sum of each log term, and of its sizes."""
        try:
            held = frozen(model)
            points, terms = named_terms(held)
            each = plain([x for term in terms.values() for x in (term.sum(), abs(term).sum())])
            run = compiled(points, each)
        except (NotConjugate, ValueError) as error:
            raise self._misfit(error) from error

        def sums(draw: Mapping[str, Any]) -> dict[str, Array]:
            for rv in held.free_RVs:
                shapes = zip(rv.type.shape, draw[rv.name].shape, strict=True)
                if any(n not in (None, m) for n, m in shapes):
                    raise DataError(
                        f"model: {rv.name} has an element for each row, so that new rows have new "
                        "unknowns. Give the model all data at once."
                    )
            try:
                result = run(*(draw[p.name] for p in points))
            except (ValueError, IndexError, AssertionError) as error:
                raise self._misfit(error) from error
            return dict(zip(terms, np.reshape(result, (-1, 2)), strict=True))

        return sums

    def _misfit(self, error: Exception) -> DataError:
        return DataError(
            f"new_data: new rows of {self._said} do not fit the rest of the model "
            f"({str(error).splitlines()[0].rstrip('.')}). Declare all that has rows by "
            "pm.Data, and give new rows of each."
        )

    def verify(self, draws: Mapping[str, NDArray[Any]]) -> None:
        """Make sure that log densities of old and of new rows add up, and priors stay."""
        for i in range(_DRAWS):
            draw = {name: x[i] for name, x in draws.items()}
            old, new, both = (terms(draw) for terms in self._terms)
            for name, (total, size) in both.items():
                parts = old[name] + new[name] if name in self._of_rows else old[name]
                if total != parts[0] and not abs(total - parts[0]) <= _ROUNDING * (size + parts[1]):
                    self._refuse(name)

    def _refuse(self, name: str) -> None:
        if name in self._free:
            raise DataError(
                f"model: the prior of {name} depends on {self._said}, so that other rows have "
                "another one. Give it numbers."
            )
        raise DataError(
            f"model: the rows of {name} are not independent given the model's variables: its log "
            "density with all rows is not that of the old ones plus that of the new ones, as in a "
            "time series or a Gaussian process. Give the model all data at once, and subtract log "
            "evidences."
        )


def _new_rows(model: pm.Model, old: Values, new: Any) -> tuple[Values, dict[str, int], str | None]:
    """Return checked new rows, along which axis they are, and along which dim."""
    if not isinstance(new, Mapping) or not new or not set(new) <= set(old):
        got = list(new) if isinstance(new, Mapping) else type(new).__name__
        raise DataError(
            f"new_data: must be a mapping from names of the model's pm.Data, {list(old)}, to new "
            f"rows; got {got}."
        )
    dims = {name: model.named_vars_to_dims.get(name) or () for name in old}
    labelled = [dims[name] for name in new if dims[name]]
    common = [d for d in (labelled or [()])[0] if d and all(d in each for each in labelled)]
    dim = common[0] if common else None
    beside = [name for name in old if dim and dim in dims[name] and name not in new]
    if beside:
        raise DataError(
            f"new_data: must have new rows of {listed(beside)}, too: {listed(new)} and "
            f"{listed(beside)} have the dim {dim!r}."
        )
    rows: dict[str, NDArray[Any]] = {}
    axes: dict[str, int] = {}
    for name, given in new.items():
        before, x = old[name], np.asarray(given)
        axes[name] = axis = dims[name].index(dim) if dim and dim in dims[name] else 0
        alike = before.ndim == x.ndim > 0
        if not alike or (np.delete(x.shape, axis) != np.delete(before.shape, axis)).any():
            raise DataError(
                f"new_data: {name!r} must have new rows along axis {axis} of data of shape "
                f"{before.shape}; got shape {x.shape}."
            )
        same = x.dtype.kind in "biuf" and np.isfinite(x).all()
        if not same or not np.array_equal(x.astype(before.dtype), x):
            kind = "numbers" if before.dtype.kind == "f" else "whole numbers"
            raise DataError(f"new_data: {name!r} must be finite {kind}, as the old rows are.")
        rows[name] = x.astype(before.dtype)
    numbers = {name: x.shape[axes[name]] for name, x in rows.items()}
    if len(set(numbers.values())) > 1:
        raise DataError(f"new_data: must have equally many new rows of each; got {numbers}.")
    return rows, axes, dim


def _more_labels(
    dim: Any, before: Sequence[Any], number: int, coords: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Return the labels of new rows."""
    counted = list(before) == list(range(len(before)))
    if dim not in coords and counted:
        return tuple(range(len(before), len(before) + number))
    if len(coords.get(dim, ())) != number:
        raise DataError(
            f"coords: must have the labels of {number} new rows along {dim!r}, such as "
            f"coords={{{dim!r}: [...]}}; got {coords.get(dim)}."
        )
    return tuple(coords[dim])
