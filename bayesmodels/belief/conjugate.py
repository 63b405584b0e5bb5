"""A belief is data that were seen: what all statistics and conjugate beliefs do alike.

The prior of a conjugate model is the statistic of rows that nobody observed (pseudo-data). So it
is added to a statistic as two statistics are added: their batches are joined, their numbers summed.
A model's file says how numbers are added, subtracted and weighted; this file checks labels and
passes on the other fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from bayesmodels.belief import values
from bayesmodels.errors import DataError
from bayesmodels.input import labels, parameters
from bayesmodels.input.labels import Coords

POSITIVE: Mapping[str, Any] = {"positive": True}


@runtime_checkable
class Batched(Protocol):
    """A statistic or a belief about a batch of problems."""

    @property
    def batch_axes(self) -> tuple[Coords, tuple[int, ...]]:
        """Labels and lengths of the axes of the batch."""


class Discountable(Protocol):
    """A statistic whose rows can be given one weight."""

    def _times(self, rho: float) -> Self:
        """Return the statistic of the same rows, each with the weight rho."""


def joined(one: Batched, other: Batched) -> Coords:
    """Return the labels of the joint batch of two statistics, or of a belief and a statistic.

    Their events (categories or features) must be the same.
    """
    _same_events(one, other)
    return labels.joined(*one.batch_axes, *other.batch_axes)


def posterior_coords(belief: Batched, seen: Batched) -> Coords:
    """Return the labels of all axes of the batch of a belief updated by a statistic."""
    _same_events(belief, seen)
    (axes, shape), (seen_axes, seen_shape) = belief.batch_axes, seen.batch_axes
    if not shape and not seen_shape:
        return {}
    both = labels.joined(axes, shape, seen_axes, seen_shape)
    return labels.completed(both, max(shape, seen_shape, key=len))


def merged_coords(one: Any, other: Any) -> Coords:
    """Return the labels of a sum of statistics, which must be of one model and have the same."""
    if not isinstance(one, type(other)):
        parameters.alike(one, other, type(one))
    _same_events(one, other, named=True)
    (axes, shape), (theirs, their_shape) = one.batch_axes, other.batch_axes
    if axes != theirs and shape == their_shape:
        labels.joined(theirs, their_shape, axes, shape)  # neither may lack what the other says
    return labels.joined(axes, shape, theirs, their_shape)


def _same_events(one: Any, other: Any, *, named: bool = False) -> None:
    """Refuse other categories or features; a belief without names takes those of the data."""
    what, names = getattr(one, "event", _NO_EVENT)
    if what and (named or names is not None):
        labels.same(names, other.event[1], what)


_NO_EVENT = "", None


def rows_of(belief: Batched, coords: Coords, shape: tuple[int, ...]) -> Coords:
    """Return the labels of a batch of rows; without labels of their own, those of the belief."""
    if coords or not shape:
        return coords
    axes, inner = belief.batch_axes
    lead = shape[: len(shape) - len(inner)]
    if shape[len(lead) :] != inner or not labels.has_names(axes):
        return coords
    return {**labels.completed({}, lead), **axes}


def _batch_axes(self: Any) -> tuple[Coords, tuple[int, ...]]:
    """Return labels and lengths of the axes of the batch, elementwise over which all fields are."""
    return self.coords, getattr(self, type(self).__match_args__[0]).shape


batch_axes = property(_batch_axes)


def batch_axes_of(field: str, *event: str, inner: int = 0) -> Any:
    """Return a property `batch_axes`: axes of a field less `inner` ones, coords less `event`."""
    end = -inner or None

    def axes(self: Any) -> tuple[Coords, tuple[int, ...]]:
        """Labels and lengths of the axes of the batch."""
        coords = {axis: x for axis, x in self.coords.items() if axis not in event}
        return coords, getattr(self, field).shape[:end]

    return property(axes)


def _features(self: Any) -> tuple[str, labels.Labels]:
    """Return the event of the numbers: features, by name if they have names."""
    return "features", self.features


features = property(_features)


def need_rows(n: Any) -> None:
    """Refuse a maximum-likelihood estimate from no rows."""
    if (n == 0).any():
        raise DataError("data: the maximum-likelihood estimate needs at least one row; got none.")


def ratio(part: Any, total: Any, otherwise: Any) -> Any:
    """Return part / total, and `otherwise` where the total is 0."""
    shape = np.broadcast_shapes(np.shape(part), np.shape(total))
    filled = np.broadcast_to(otherwise, shape).astype(float)
    return np.divide(part, total, out=filled, where=total > 0)


def dims(*variables: str) -> Any:
    """Return the property that names the axes of variables: those of the batch."""

    def named(self: Any) -> dict[str, tuple[str, ...]]:
        """Names of the axes of each variable."""
        return dict.fromkeys(variables, tuple(self.coords))

    return property(named)


def replace(statistic: Any, coords: Coords, *fields: Any) -> Any:
    """Return a statistic with these fields and coords, and its other fields unchanged."""
    kind = type(statistic)
    behind = kind.__match_args__[len(fields) + 1 :]
    return parameters.build(kind, *fields, coords, *(getattr(statistic, name) for name in behind))


def without_rows(self: Any) -> Any:
    """Return the empty statistic of the same batch."""
    ahead = type(self).__match_args__[: type(self).__match_args__.index("coords")]
    return replace(self, self.coords, *(_blank(getattr(self, name)) for name in ahead))


def _blank(field: Any) -> Any:
    if isinstance(field, np.ndarray):
        return np.zeros_like(field)
    return 0 if isinstance(field, (int, float)) else field


def fill(belief: Any, coords: Any, rules: Mapping[str, Mapping[str, Any]], **fields: Any) -> None:
    """Check parameters that are elementwise over one batch, and fill them in, in their order."""
    coords = parameters.coords_of(coords, **fields)
    result = {
        name: parameters.parameter(x, name, **rules.get(name, {})) for name, x in fields.items()
    }
    arrays = parameters.broadcast(**result)
    shape = arrays[0].shape
    axes = labels.completed(labels.named(coords, shape, "coords"), shape)
    values.fill(belief, **dict(zip(type(belief).__match_args__, (*arrays, axes), strict=True)))


def discounted[S: Discountable](self: S, rho: Any) -> S:
    r"""Return the statistic of the same rows, each of which counts as rho rows.

    .. math:: p(x \mid \theta)^\rho = \prod_i p(x_i \mid \theta)^\rho

    is what it is the statistic of. With :math:`s_t = \rho \, s_{t-1} + s(x_t)` a row of k steps ago
    has the weight :math:`\rho^k`, so that a stream is remembered over about
    :math:`1 / (1 - \rho)` steps.

    Parameters
    ----------
    rho : float
        The discount factor, above 0 and at most 1, which changes nothing.

    Returns
    -------
    Statistic
        Of the same class.

    Raises
    ------
    DataError
        If rho is no such number.

    References
    ----------
    West and Harrison (1997), *Bayesian Forecasting and Dynamic Models*, section 6.3, on discount
    factors; Ibrahim and Chen (2000), *Power prior distributions for regression models*.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> seen = bm.BetaBernoulli(1, 1).statistic([1, 1, 0, 1])
    >>> seen.discounted(0.5) + bm.BetaBernoulli(1, 1).statistic([0])
    BernoulliStatistic(ones=1.5, zeros=1.5)
    """
    value = parameters.totals(rho, "rho")
    if value.ndim or not 0 < value <= 1:
        raise DataError(f"rho: must be one number above 0 and at most 1; got {rho!r}.")
    return self if value == 1 else self._times(float(value))
