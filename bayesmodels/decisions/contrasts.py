r"""Laws of a difference, a ratio and an odds ratio of two independent quantities.

With t(x, y) that increases in x, such as x - y, and x(t, y) where it is t,

.. math:: P(t(X, Y) \le t) = \int f_Y(y) \, F_X(x(t, y)) \, dy .
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import betaln, gammaln

from bayesmodels.belief import intervals
from bayesmodels.belief.intervals import CI_PROB, CiKind, renamed
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.parameters import proportion
from bayesmodels.numerics import Array
from bayesmodels.numerics.panels import USELESS, edges, integral, quantiles

Kind = Literal["difference", "ratio", "odds_ratio"]


class _Map(NamedTuple):
    """A contrast t(x, y), its inverses in x and in y, and the slope of the first in t."""

    of: Callable[[Any, Any], Any]
    x_at: Callable[[Any, Any], Any]
    y_at: Callable[[Any, Any], Any]
    slope: Callable[[Any, Any], Any]


MAPS: dict[Kind, _Map] = {
    "difference": _Map(
        lambda x, y: x - y, lambda t, y: y + t, lambda t, x: x - t, lambda _, x: np.ones_like(x)
    ),
    "ratio": _Map(lambda x, y: x / y, lambda t, y: t * y, lambda t, x: x / t, lambda t, x: x / t),
    "odds_ratio": _Map(
        lambda x, y: x * (1 - y) / (y * (1 - x)),
        lambda t, y: t * y / (1 - y + t * y),
        lambda t, x: x / (t * (1 - x) + x),
        lambda t, x: x * (1 - x) / t,
    ),
}
_NEAR = 1e-15  # of the width of a bracket


def check_range(kind: Kind, low: float, high: float) -> None:
    """Refuse ratios of quantities that may be negative, and odds of others than probabilities."""
    if kind != "difference" and low < 0:
        raise DataError(
            f"{kind}: the quantities must be positive; here one may be {low:.3g}. Use "
            "difference(a, b)."
        )
    if kind == "odds_ratio" and high > 1:
        raise DataError(
            f"odds_ratio: the quantities must be probabilities; here one may be {high:.3g}. Use "
            "ratio(a, b) or difference(a, b)."
        )


class Contrast:
    """The law of a contrast of two independent quantities, used like a frozen SciPy law."""

    def __init__(self, kind: Kind, x: Any, y: Any) -> None:
        self.kind, self.x, self.y = kind, x, y
        self._x, self._y = quantiles(x), quantiles(y)
        ends = edges(self._x, self._y)
        check_range(kind, float(ends[0]), float(np.nanmax(ends)))

    def mean(self) -> float:
        """Return the mean; infinite where the integral diverges.

        Raises
        ------
        PriorError
            Of a ratio whose laws are not Beta, gamma or inverse-gamma ones.
        """
        if self.kind == "difference":
            return float(self.x.mean() - self.y.mean())
        return self._moment(1)

    def var(self) -> float:
        """Return the variance; infinite where the integral diverges."""
        if self.kind == "difference":
            return float(self.x.var() + self.y.var())
        mean = self._moment(1)
        return self._moment(2) - mean**2 if np.isfinite(mean) else np.inf

    def std(self) -> float:
        """Return the standard deviation."""
        return float(np.sqrt(self.var()))

    def _moment(self, k: int) -> float:
        odds = self.kind == "odds_ratio"
        return power_mean(self.x, k, odds=odds) * power_mean(self.y, -k, odds=odds)

    def cdf(self, t: ArrayLike) -> Any:
        """Return the probability of at most t."""
        return self._each(lambda one: self._integral(one, "cdf"), t, below=0.0, above=1.0)

    def sf(self, t: ArrayLike) -> Any:
        """Return the probability of more than t."""
        return self._each(lambda one: self._integral(one, "sf"), t, below=1.0, above=0.0)

    def pdf(self, t: ArrayLike) -> Any:
        """Return the density."""
        return self._each(lambda one: self._integral(one, "pdf"), t, below=0.0, above=0.0)

    def logpdf(self, t: ArrayLike) -> Any:
        """Return the log density."""
        with np.errstate(divide="ignore"):
            return np.log(self.pdf(t))

    def _each(self, of: Callable[[float], float], t: ArrayLike, below: float, above: float) -> Any:
        lowest = -np.inf if self.kind == "difference" else 0.0
        points = np.asarray(t, dtype=float)
        flat = [
            np.nan
            if np.isnan(one)
            else below
            if one <= lowest
            else above
            if one == np.inf
            else of(float(one))
            for one in points.ravel()
        ]
        return np.array(flat).reshape(points.shape)[()]

    def _integral(self, t: float, verb: str) -> float:
        of = MAPS[self.kind]
        with np.errstate(all="ignore"):
            meet = of.y_at(t, self._x)
        grid = edges(self._y)
        low, high = grid[0], np.nanmax(grid)

        def values(y: Array, _: Any) -> Array:
            x = of.x_at(t, y)
            if verb == "pdf":
                there = np.exp(self.x.logpdf(x)) * of.slope(t, x)
            else:
                there = getattr(self.x, verb)(x)
            return np.asarray(np.exp(self.y.logpdf(y)) * there)[None]

        ends = edges(grid, meet[(meet > low) & (meet < high)])[None]
        total = float(integral(values, ends, what=f"the {verb} of a {self.kind}")[0].item())
        if verb != "pdf":  # y beyond the last panels
            first, last = (getattr(self.x, verb)(of.x_at(t, end)) for end in (low, high))
            below = float(self.y.cdf(low))
            total += float(below * first + self.y.sf(high) * last)
            if low > 0 and below * abs(first - getattr(self.x, verb)(of.x_at(t, 0.0))) > USELESS:
                raise PriorError(
                    f"the {verb} of a {self.kind}: the second quantity is below {low:.2g}, where "
                    f"there are no floating-point numbers, with probability {below:.2g}. Update "
                    "the belief with more rows."
                )
        return total

    def ppf(self, q: ArrayLike) -> Any:
        """Return quantiles."""
        return self._quantiles(q, lower=True)

    def isf(self, q: ArrayLike) -> Any:
        """Return quantiles counted from above."""
        return self._quantiles(q, lower=False)

    def _quantiles(self, q: ArrayLike, *, lower: bool) -> Any:
        of, levels = MAPS[self.kind].of, np.asarray(q, dtype=float)

        def one(p: float) -> float:
            side, tail = ("cdf", p) if lower else ("sf", p)
            below, above = (tail, 1 - tail) if lower else (1 - tail, tail)
            # A difference is below both only if one of the two is, so the ends enclose it.
            low = float(of(self.x.ppf(below / 2), self.y.isf(below / 2)))
            high = float(of(self.x.isf(above / 2), self.y.ppf(above / 2)))
            root = brentq(
                lambda t: float(getattr(self, side)(t)) - tail,
                low,
                high,
                xtol=_NEAR * (high - low) + 5e-324,
                rtol=1e-15,
            )
            return float(root)

        return np.array([one(proportion(p, "q")) for p in levels.ravel()]).reshape(levels.shape)[()]

    @renamed
    def interval(self, ci_prob: float = CI_PROB, ci_kind: CiKind = "eti") -> tuple[float, float]:
        """Return an equal-tailed interval, or that of highest density."""
        low, high = intervals.ends(self, intervals.checked(ci_prob, ci_kind), ci_kind)
        return float(low), float(high)

    def __repr__(self) -> str:
        low, high = self.interval()
        return f"Contrast({self.kind}, 89 % interval {low:.4g} to {high:.4g})"


class KnownContrast(NamedTuple):
    """The law of a contrast in closed form: a frozen SciPy law, whose other verbs it has."""

    law: Any

    @renamed
    def interval(self, ci_prob: float = CI_PROB, ci_kind: CiKind = "eti") -> tuple[float, float]:
        """Return an equal-tailed interval, or that of highest density."""
        low, high = intervals.ends(self.law, intervals.checked(ci_prob, ci_kind), ci_kind)
        return float(low), float(high)

    def __getattr__(self, verb: str) -> Any:
        return getattr(self.law, verb)


def power_mean(law: Any, k: int, *, odds: bool = False) -> float:
    r"""Return the mean of a power of a quantity, or of its odds, by the law's own formula.

    .. math:: E[x^k (1 - x)^{-k}] = B(\alpha + k, \beta - k) / B(\alpha, \beta), \qquad
        E[x^k] = s^k \, \Gamma(a + k) / \Gamma(a)

    of Beta and gamma laws; infinite where an argument is not positive. Of other laws only positive
    powers are known, and that the mean of 1 / x is infinite where the density at 0 is positive.

    Examples
    --------
    >>> from bayesmodels.numerics.laws import beta
    >>> power_mean(beta(3, 4), 1, odds=True)  # 3 / (4 - 1)
    1.0
    """
    name = getattr(getattr(law, "dist", None), "name", "")
    plain = name and not law.kwds.keys() - {"scale"}
    if name == "beta" and not law.kwds and len(law.args) == 2:  # noqa: PLR2004 - both shapes
        a, b = law.args
        more = -k if odds else 0
        if a + k <= 0 or b + more <= 0:
            return float(np.inf)
        return float(np.exp(betaln(a + k, b + more) - betaln(a, b)))
    if name in _SIGNS and plain and len(law.args) == 1 and not odds:
        (a,), scale = law.args, law.kwds.get("scale", 1.0)
        b = a + _SIGNS[name] * k
        return float(scale**k * np.exp(gammaln(b) - gammaln(a))) if b > 0 else np.inf
    if k > 0 and not odds:
        return float(law.mean() if k == 1 else law.var() + law.mean() ** 2)
    if not odds and np.exp(law.logpdf(0.0)) > 0:  # the integral of 1 / x diverges
        return float(np.inf)
    raise PriorError(
        "mean, var: of a ratio they are known where the denominator is a Beta, gamma or "
        "inverse-gamma variable, and infinite where its density at 0 is positive; of odds, where "
        "both are Beta variables. Read interval(), ppf(0.5) or cdf() instead."
    )


_SIGNS = {"gamma": 1, "inverse_gamma": -1, "invgamma": -1}
