r"""Truncated laws, and laws of logs and logits, of elements that depend on nothing but themselves.

A truncated law has the slope of the whole one. Where :math:`x = \ln u` or
:math:`x = \operatorname{logit} u`, the slope by x is linear in the same features as that of u, and
the Jacobian adds one to what they are multiplied by. All these laws are log-concave by the
coordinate in which their family is simplest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import (
    BETA,
    NORMAL,
    Arrays,
    Family,
    gamma,
    generalized_inverse_gaussian,
)
from bayesmodels.numerics.log_concave import LINE, LOG, LOGIT, LogConcave, Pareto, Rise
from bayesmodels.posteriors.families import EPS, UNITS, ElementLaw, Elements, Factor, said
from bayesmodels.posteriors.gradient import Field
from bayesmodels.posteriors.independent import (
    FIRST,
    LOOSE,
    Looks,
    check_proper,
    fit,
    independent_laws,
)
from bayesmodels.posteriors.points import moved, somewhere

_FAMILIES = (
    *(BETA, NORMAL, gamma(1), gamma(-1), gamma(2), gamma(-2)),
    *(generalized_inverse_gaussian(1), generalized_inverse_gaussian(2)),
)
_MILD, _WILD = (0.8, 0.8, 0.8, 1.6, 1.6, 1.6), (3.0, 3.0, 3.0, 6.0, 6.0)
_TAILS = (0.5, 0.2, 0.03, 1e-3, 1e-9)
LONGEST = {LOG: 300.0, LOGIT: 30.0}
"""Logs and logits from which on a model that says exp or 1 - u may have nothing left."""
_TOLD = 16.0  # and from which on few digits
_FAR = 300.0  # a log or logit as good as infinite
_ALIKE, _ROUNDED = 30.0, 64 * EPS  # as good as the best fit, and as good as any
_LOST, _INEXACT = 1e-8, 1e-11
_TINY = float(np.finfo(float).tiny)
_FEW = 3  # elements of a variable, that tell whether the others may have laws of their own
_MOST = 2000  # elements, each of which takes some milliseconds


@dataclass(frozen=True, eq=False)
class Truncated:
    """Independent elements of one family, truncated; or the logs or logits of its variables.

    `natural` is what the family's slopes are multiplied by, one row an element: of a normal law,
    counted from the peak. `usual` has the usual parameters.
    """

    elements: Elements
    family: Family
    logs: bool
    natural: Array
    sizes: Array
    each: Sequence[LogConcave]
    usual: dict[str, Array]

    def _inner(self, x: Array) -> Array:
        """Return the points at which the family's functions are taken."""
        if self.logs:
            return np.asarray(self.family.on.inverse(x))
        return x - self._peaks if self.family is NORMAL else x

    @property
    def _peaks(self) -> Array:
        return np.array([law.peak for law in self.each])

    def log_density(self, x: Array) -> Array:
        """Return the log density."""
        return np.asarray(sum(law.logpdf(x[..., i]) for i, law in enumerate(self.each)))

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        here, peak = (self.family.statistics(self._inner(at)) for at in (x, self._peaks))
        sizes = np.abs(np.stack(here, -1)) + np.abs(np.stack(peak, -1))
        return np.asarray(UNITS * EPS * (UNITS + (self.sizes * sizes).sum(-1)).sum(-1))

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and a bound on its error."""
        inner = self._inner(x)
        slopes = np.stack(self.family.slopes(inner), -1)
        by_x = np.ones_like(x) if self.logs else self.family.on.slope(inner)
        size = UNITS * EPS * (self.sizes * np.abs(slopes)).sum(-1)
        return (self.natural * slopes).sum(-1) / by_x, size / by_x

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        return np.stack([law.rvs(draws, rng) for law in self.each], -1)

    def mode(self) -> Array:
        """Return the mode."""
        if self.logs:
            return self._peaks
        top = np.full(len(self.each), np.nan)
        if self._title and not self._power:
            with np.errstate(all="ignore"):
                top = self.family.mode(*(self.usual[key] for key in self.family.parameters))
        low, high = np.array([law.ends for law in self.each]).T
        return np.where((low < top) & (top < high), top, np.nan)

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        of = self.family.on.name if self.logs else "Truncated"
        name = of + self.family.name if self._title else "Uniform"
        name = "Pareto" if self._power else name
        return [
            ElementLaw(self.elements[[i]], name, law, {k: v[[i]] for k, v in self.usual.items()})
            for i, law in enumerate(self.each)
        ]

    @property
    def _power(self) -> bool:
        """Whether densities fall off like powers, without an end."""
        return isinstance(self.each[0], Pareto)

    @property
    def _title(self) -> str:
        """The family's title; none if the law is uniform."""
        return self.family.title if self.natural.any() else ""

    def sentence(self, names: str) -> str:
        """Say what is known."""
        if self._power:
            return f"{names} has a Pareto law{said(self.usual)}"
        parameters = {key: self.usual[key] for key in self.family.parameters if key in self.usual}
        what = f"{self._title}{said(parameters)}" if parameters else "a uniform law"
        square = "" if abs(self.family.power) == 1 else "the square of "
        if self.logs:
            return f"{square}{self.family.on.title.format(names)} has {what}"
        ends = {law.ends for law in self.each}
        where = "({:g}, {:g})".format(*ends.pop()) if len(ends) == 1 else "its interval"
        return f"{square}{names} has {what} for {names} in {where}"


def separate_laws(
    field: Field, chosen: Elements, x: Array, rng: np.random.Generator, looks: Looks = FIRST
) -> tuple[list[Factor], Elements]:
    """Return laws of those elements that depend on no other, also truncated ones; and the rest."""
    factors, left = independent_laws(field, chosen, x, rng, looks)
    single = left[field.single[left]]
    elements = _sample(field, single, rng)
    if not len(elements):
        return factors, left
    seen = _seen(field, [moved(x, left, somewhere(field, rng, s)[left]) for s in _MILD])
    # Of a variable whose elements depend on each other a few tell so.
    fits = field.owner[elements[_fitting(field, elements, seen)[0] >= 0]]
    elements = single[np.isin(field.owner[single], fits)]
    if not 0 < len(elements) <= _MOST:
        return factors, left
    wild = _seen(field, [moved(x, left, somewhere(field, rng, s)[left]) for s in _WILD])
    seen = np.concatenate([seen, wild], 1)
    which, at = _fitting(field, elements, seen)
    elements, at, which = elements[which >= 0], at[which >= 0], which[which >= 0]
    endless = np.isposinf(field.high[elements])
    alike = np.stack([which, field.endless[elements], at[:, 1] == 0, endless], -1)
    for kind in np.unique(alike, axis=0):
        here = (alike == kind).all(-1)
        these, family = elements[here], _FAMILIES[kind[0]]
        laws = [_law(field, e, family, row) for e, row in zip(these, at[here], strict=True)]
        near = [[law.ppf(q) for law in laws] for q in _TAILS]
        near += [[law.isf(q) for law in laws] for q in _TAILS[1:]]
        more = _seen(field, [moved(x, these, values) for values in near])
        natural, _, lost = _fitted(field, these, family, np.concatenate([more, seen], 1))
        if lost.max() > _LOST:
            raise NotConjugate(
                f"{field.label(int(these[lost.argmax()]))} lies in so narrow an interval that the "
                "parameters of its law can't be told in double precision."
            )
        factors.append(_truncated(field, these, family, natural))
    return factors, np.setdiff1d(left, elements)


def _sample(field: Field, single: Elements, rng: np.random.Generator) -> Elements:
    """Return a few elements of each variable."""
    owners = field.owner[single]
    each = [rng.permutation(single[owners == owner])[:_FEW] for owner in np.unique(owners)]
    return np.concatenate([single[:0], *each])


def _seen(field: Field, points: Sequence[Array]) -> Array:
    """Return points and the slopes there, of shape (2, points, elements)."""
    with np.errstate(all="ignore"):
        return np.stack([np.array(points), [field(point)[1] for point in points]])


def _fitting(field: Field, elements: Elements, seen: Array) -> tuple[NDArray[np.intp], Array]:
    """Return the number of the family that fits each element, or -1, and natural parameters."""
    fits = [_fitted(field, elements, family, seen) for family in _FAMILIES]
    missed = np.stack([part for _, part, _ in fits])
    good = (missed <= np.maximum(_ALIKE * missed.min(0), _ROUNDED)) & (missed < np.inf)
    first = good.argmax(0)
    natural = np.full((len(elements), 3), np.nan)
    for number, (result, *_) in enumerate(fits):
        natural[first == number, : result.shape[1]] = result[first == number]
    return np.where(good.any(0), first, -1), natural


def _fitted(
    field: Field, elements: Elements, family: Family, seen: Array
) -> tuple[Array, Array, Array]:
    """Return natural parameters of each element, their relative misfit, and their error.

    Of a normal law these are mean and precision; it is uniform if that is zero. Of a family that
    does not fit the part is infinite.
    """
    (x, slope), logs = seen[:, :, elements].transpose(0, 2, 1), field.endless[elements][:, None]
    low, high, on = field.low[elements], field.high[elements], family.on
    with np.errstate(all="ignore"):
        if on is LINE:
            inner, by_x, allowed = x - x[:, :1], np.ones_like(x), ~logs
        else:
            inner = np.where(logs, on.inverse(x), x)
            by_x = np.where(logs, 1.0, on.slope(inner))
            inside = (low >= on.ends[0]) & (high <= on.ends[1])
            # Where a model says 1 - u, nothing is left of it far out.
            allowed = np.where(logs, (on is not LOGIT) | (np.abs(x) <= _TOLD), inside[:, None])
        values = np.where(allowed, slope * by_x, np.nan)
        features = np.stack(family.slopes(inner), -1)
    floor = np.zeros_like(x) if on is LINE else np.ones_like(x)
    natural, gap = fit(features, values, floor)
    known = np.isfinite(values) & np.isfinite(features).all(-1)
    with np.errstate(all="ignore"):
        missed = np.abs((features * natural[:, None]).sum(-1) / values - 1)
    missed = np.median(np.where(known & (values != 0), missed, 0.0), -1)
    features = np.where(known[..., None], features, 0.0)
    size = (np.abs(features * natural[:, None]).sum(-1) + floor + _TINY)[..., None]
    shares = features * natural[:, None] / size
    if on is not LINE:  # rounding may leave something of a term that is not there
        natural = np.where(np.abs(shares).max(1) > _ROUNDED, natural, 0.0)
    # The smallest singular value is by how little the terms tell the parameters, of which some
    # are measured in what is there: exponents in one, the pull of a mean in that of the farthest.
    scale, sizes = np.maximum(np.abs(natural), _jacobian(family)), np.abs(features).max(1)
    if on is LINE:
        scale[:, 0] += scale[:, 1] * sizes[:, 1]
    scale = np.where(scale, scale, 1 / (sizes + (sizes == 0)))
    with np.errstate(all="ignore"):
        terms = features * scale[:, None]
        terms = np.nan_to_num(terms / (np.abs(terms).sum(-1) + floor + _TINY)[..., None])
    least = np.linalg.svd(terms, compute_uv=False)[:, -1]
    lost = EPS / np.maximum(least, EPS)
    enough = known.sum(-1) >= natural.shape[1] + 2
    flat = ((slope == 0) | ~np.isfinite(slope)).all(-1) & np.isfinite(high - low)
    if on is LINE:
        bent = (natural[:, 1] > 0) & (np.abs(shares[..., 1]).max(1) > _ROUNDED)
        mean = x[:, 0] + natural[:, 0] / np.where(bent, natural[:, 1], np.inf)
        natural, fine = np.stack([mean, np.where(flat, 0.0, natural[:, 1])], -1), flat | bent
        lost[flat] = 0.0
    elif on is LOG:
        rates = natural[:, 1:]
        fine = (rates <= 0).all(-1) & ((rates < 0).all(-1) | (rates.shape[1] == 1)) & ~flat
    else:
        fine = (natural.sum(-1) + 2 * ~logs[:, 0] >= 0) & ~flat
    return natural, np.where(fine & enough & (gap <= LOOSE), missed, np.inf), lost


def _law(field: Field, element: int, family: Family, natural: Array) -> LogConcave:
    """Return the law of one element, if its density has an integral that is known well enough."""
    field.budget.check()
    logs, on = bool(field.endless[element]), family.on
    ends = float(field.low[element]), float(field.high[element])
    line = natural[: len(family.parameters)] + (0 if logs else _jacobian(family))
    if on is LINE:
        about, proper = line[0], bool(line[1] > 0 or np.isfinite(ends).all())
    else:
        about, proper = _top(family, line, ends, logs=logs)
    check_proper(field, np.array([element]), np.array([proper]))
    if on is LOG and not logs and ends[1] == np.inf and not natural[1] * family.power < 0:
        if not line[1:].any():
            return Pareto(float(-line[0]), ends[0])
        raise NotConjugate(
            f"{field.label(element)} falls off like a power, from {ends[0]:g} on without an upper "
            "end: no truncated law with such a tail is known here; give it an upper end."
        )
    law = LogConcave(partial(_rising, family, line, logs=logs), LINE if logs else on, ends, about)
    if not (law.error <= _INEXACT and law.std() > 0):
        raise NotConjugate(
            f"the law of {field.label(element)} can't be integrated to enough digits in double "
            "precision."
        )
    return law


def _jacobian(family: Family) -> Array:
    """Return what the Jacobian of a family's coordinate adds to natural parameters."""
    return np.array(family.on.weight[: len(family.parameters)], dtype=float)


def _top(
    family: Family, line: Array, ends: tuple[float, float], *, logs: bool
) -> tuple[float, bool]:
    """Return where a density without ends is largest, and whether it falls off at infinite ones."""

    def slope(t: float) -> float:
        each = zip(line, family.slopes(family.on.inverse(t)), strict=True)
        return float(sum(eta * by for eta, by in each if eta))

    with np.errstate(all="ignore"):
        up, down = slope(-_FAR) > 0, slope(_FAR) < 0
        top = brentq(slope, -_FAR, _FAR) if up and down else _FAR * (1 - 2 * down)
        about = top if logs else family.on.inverse(top)
    low, high = family.on.ends
    return float(about), bool((up or ends[0] > low) and (down or ends[1] < high))


def _rising(family: Family, line: Array, peak: float, *, logs: bool) -> Rise:
    """Return how the log density by the coordinate rises from its peak on."""
    at: Any = peak
    if family is NORMAL:
        line, at = np.array([line[1] * (line[0] - peak), line[1]]), 0.0
    elif not logs:
        at = family.on.value(peak)

    def rise(s: Array) -> tuple[Array, Array]:
        rises, slopes = family.rises(at, s), family.slopes(family.on.inverse(at + s))
        value, slope = (
            sum((eta * t for eta, t in zip(line, each, strict=True) if eta), np.zeros(np.shape(s)))
            for each in (rises, slopes)
        )
        return value, slope

    return rise


def _truncated(field: Field, elements: Elements, family: Family, natural: Array) -> Truncated:
    """Return the laws of some elements, given what the slopes of their family are multiplied by."""
    logs = bool(field.endless[elements[0]])
    laws = [_law(field, int(e), family, row) for e, row in zip(elements, natural, strict=True)]
    natural = natural[:, : len(family.parameters)]
    low, high = field.low[elements], field.high[elements]
    result: dict[str, Array] = {}
    if family is NORMAL:
        mean, precision = natural.T
        peaks = np.array([law.peak for law in laws])
        pull = precision * (mean - peaks)
        size = precision * (np.abs(mean - peaks) + np.abs(peaks))
        natural, sizes = np.stack([pull, precision], -1), np.stack([size, precision], -1)
        parameters: Arrays = (mean, 1 / np.sqrt(precision)) if precision.any() else ()
    else:
        parameters = family.usual(*(natural - (_jacobian(family) if logs else 0)).T)
        sizes = np.stack(family.sizes(*parameters), -1)
    result = dict(zip(family.parameters, parameters, strict=False))
    result |= {} if logs else {"lower": low, "upper": high}
    powers = [law.parameters for law in laws if isinstance(law, Pareto)]
    result = {k: np.array([p[k] for p in powers]) for k in powers[0]} if powers else result
    return Truncated(elements, family, logs, natural, sizes, laws, result)
