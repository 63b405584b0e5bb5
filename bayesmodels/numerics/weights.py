r"""Integrals of a positive function of some tens of numbers, by adaptive importance sampling.

Points are drawn from a mixture q of Student-t laws, one around each top of the function f, by
scrambled Sobol numbers; each has the weight w = f / q. Shares, centres and covariances of the laws
are fitted again by the weighted points until the effective share of the points has settled. Then
independent scramblings give estimates and, from how they differ, standard errors:

.. math:: \ln Z = \ln \operatorname{mean} w, \qquad E[x] = \sum w x / \sum w, \qquad
    \text{share} = \Big(\sum w\Big)^2 \Big/ n \sum w^2.

Sources: Owen (2013), *Monte Carlo theory, methods and examples*, chapters 9, 10 and 17; Cappé,
Douc, Guillin, Marin and Robert (2008), *Adaptive importance sampling in general mixture classes*,
Statistics and Computing 18; Vehtari, Simpson, Gelman, Yao and Gabry (2024), *Pareto smoothed
importance sampling*, Journal of Machine Learning Research 25.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.linalg import solve_triangular
from scipy.optimize import brentq, minimize
from scipy.special import expit, gammaln, logsumexp, ndtr, ndtri
from scipy.stats import chi2, norm, qmc
from scipy.stats import t as student

from bayesmodels.numerics import Array
from bayesmodels.numerics.islands import Logs, logs_of, polished
from bayesmodels.numerics.lattice import Function, with_digits
from bayesmodels.numerics.lattice_draws import accepted
from bayesmodels.numerics.lattice_integral import SPEED, Counted, NotSettled, Rough, Told
from bayesmodels.numerics.lattice_law import Table

Slope = Callable[[Array], tuple[float, Array]]
"""From a point (d) to its log value and the slope there."""
GOAL = 0.01
"""Standard errors, of the log integral and of means in deviations, that points are added for."""
_LARGEST = 0.05  # standard error that is still an answer, where the budget ends
_SCRAMBLINGS = 16
_WIDER = float(student.ppf(0.975, _SCRAMBLINGS - 1) / 1.96)  # of an error from so few
FAR = float(student.isf(1e-5, _SCRAMBLINGS - 1) / norm.isf(1e-5) / _WIDER)
"""Times a standard error is what is seldom exceeded, beside the same of a normal number."""
_FIRST, _MOST = 2**14, 2**21  # points of all scramblings
_LEAST = 2**15  # points that a search for tops, fits and the first points take, about
_LEAST_SHARE, _HEAVIEST, _APART = 0.01, 0.5, 3.0  # of effective points; tail index; variances
_LIGHT = 5.0  # times their mean: values without a tail
_NO_MOMENT = 0.7  # tail index from which on a moment is not known
_PILOT, _PAIRS = 2**11, 4  # points of a fit: at least, and for each pair of dimensions
_ENOUGH, _LAWS, _LARGE, _FEW_DF = 0.5, 16, 2**15, 6.0  # share; else laws, their points and df
_WIDTH = 1.1
_LEVELS, _STEEPEST = np.arange(-3.0, 4.0), 0.25  # deviations of a normal law; least slope of a bend
_KEPT = 2  # fits whose points are fitted to
_ROUNDS, _GAIN, _IN_VAIN = 15, 1.02, 4  # fits; what they must gain, but for some in a row
_AS_GOOD = 0.85  # times the effective share, with which bent coordinates are taken
_EFFECTIVE = 10  # points for each dimension that a fit needs
_DF = ([10, 25, 50], [8.0, 25.0, 45.0])  # degrees of freedom by dimensions
_EXPLORED = 50  # starts for each dimension
_BEST, _ABOVE, _OTHERS = 8, 24, 16  # of them, those that are climbed from
_ASIDE = 2**13  # points of a set around known tops
_FAR, _FAR_PART = 2**17, 0.02  # more of them, for this part of the seconds at most
_SETS = 4
_SLOPE, _CALL = 10, 20_000  # points, and numbers more, that a slope counts as
_SPREAD = (0.1, 30.0)
_DEPTH = 20.0  # below the highest log mass: tops that have no part in it
_CLIMB: Any = {"maxiter": 200}
_CLIMBS, _STOPPED = 2, 99  # one after the other, as a wall stops it; status of one next to a top
_LOOK = 2**9  # points that tell of the mass of a top
_DIFFERENCE = 1e-4  # in units of a coordinate
_WAY, _DIP = np.linspace(0, 1, 17)[:, None], 0.1  # between two points of one top: no valley
_NODES, _OUT = 120, 12.0  # of a table, and how far out they are in logits
_BETWEEN = 1e-4  # error of the curve between nodes, about


class Uneven(NotSettled):
    """An integral by weights of which a few decide."""


@dataclass(frozen=True, eq=False)
class Component:
    """A Student-t law: its log share, centre, lower triangular root, and degrees of freedom."""

    log_share: float
    centre: Array
    root: Array
    df: float

    def whitened(self, x: Array) -> Array:
        """Return points (n, d) in units of the root, (d, n)."""
        return np.asarray(solve_triangular(self.root, (x - self.centre).T, lower=True))

    def squares(self, x: Array) -> Array:
        """Return squared distances of points (n, d) from the centre, in units of the root."""
        with np.errstate(over="ignore"):  # of a root that is next to nothing
            return np.asarray((self.whitened(x) ** 2).sum(0))

    @property
    def log_volume(self) -> float:
        """The log determinant of the root."""
        return float(np.log(np.diag(self.root)).sum())

    def log_density(self, x: Array) -> Array:
        """Return log densities at points (n, d), times the share."""
        d, df = len(self.centre), self.df
        log_norm = gammaln((df + d) / 2) - gammaln(df / 2) - d / 2 * math.log(df * math.pi)
        log_kernel = -(df + d) / 2 * np.log1p(self.squares(x) / df)
        return np.asarray(self.log_share + log_norm - self.log_volume + log_kernel)


@dataclass(frozen=True, eq=False)
class Bend:
    """Coordinates v in which tails that fall exponentially fall as those of a normal law.

    .. math:: x_i = c_i + v_i + b_i v_i |v_i| / 2

    with one b below the `centre` c and one above, neither of them negative.
    """

    centre: Array
    below: Array
    above: Array

    def there(self, v: Array) -> Array:
        """Return the points x (n, d)."""
        return np.asarray(
            self.centre + v + np.where(v < 0, self.below, self.above) * v * abs(v) / 2
        )

    def back(self, x: Array) -> Array:
        """Return the coordinates v of points x (n, d)."""
        z = x - self.centre
        b = np.where(z < 0, self.below, self.above)
        return np.asarray(2 * z / (1 + np.sqrt(1 + 2 * b * abs(z))))

    def log_slope(self, v: Array) -> Array:
        """Return the log determinant of the slopes at coordinates v."""
        return np.asarray(np.log1p(np.where(v < 0, self.below, self.above) * abs(v)).sum(-1))


@dataclass(frozen=True, eq=False)
class Proposal:
    """A mixture of Student-t laws in bent coordinates.

    And the function that its points are weighted by. As many of the last coordinates as are
    `alone` are about independent of all others.
    """

    f: Function
    components: tuple[Component, ...]
    modes: int
    bend: Bend
    alone: int = 0

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.components[0].centre)

    def sobol(self, rng: np.random.Generator) -> qmc.Sobol:
        """Return scrambled uniform numbers, as many in a row as `at` needs."""
        return qmc.Sobol(self.size + 2, rng=rng)

    def at(self, uniform: Array) -> Array:
        """Return points (n, d) from uniform numbers (n, d + 2): which law, how far out, where."""
        uniform = np.clip(uniform, 2.0**-32, 1 - 2.0**-32)
        shares = np.cumsum(np.exp([c.log_share for c in self.components]))
        which = np.searchsorted(shares / shares[-1], uniform[:, 0]).clip(max=len(shares) - 1)
        x = ndtri(uniform[:, 2:])
        for k, c in enumerate(self.components):
            chosen = which == k
            scale = np.sqrt(c.df / chi2.ppf(uniform[chosen, 1], c.df))
            x[chosen] = c.centre + (scale[:, None] * x[chosen]) @ c.root.T
        return self.bend.there(x)

    def log_densities(self, x: Array) -> Array:
        """Return the log densities of the laws, times their shares, at points, (laws, n)."""
        v = self.bend.back(x)
        return np.stack([c.log_density(v) for c in self.components]) - self.bend.log_slope(v)

    def weighed(self, x: Array) -> tuple[Array, Array]:
        """Return the log weights of points (n, d), and the numbers carried along."""
        logs, numbers = self.f(x)
        logs = np.where(np.isnan(logs), -np.inf, logs)
        return logs - logsumexp(self.log_densities(x), axis=0), numbers


@dataclass(frozen=True, eq=False)
class Weighted:
    """Points with weights that add up to one, and estimates with their standard errors.

    `x` are the points, (n, d), one scrambling after the other, and `numbers` those carried along,
    (n, k). Errors are of the log integral, and of means and standard deviations in a `unit`, the
    latter; NaN where the weights' tail tells of no moment. `share` is that of effective points.
    """

    proposal: Proposal
    x: Array
    numbers: Array
    weights: Array
    share: float
    log_total: float
    log_error: float
    mean: Array
    sd: Array
    unit: Array
    mean_error: Array
    sd_error: Array

    rung = "weighted"
    mass_outside = 0.0
    error_kind = "standard error"
    errors_from = (
        f"Errors are standard errors, from how {_SCRAMBLINGS} independent sets of points differ."
    )
    precision = (
        "Standard errors: of the log evidence {:.1g}, of means and standard deviations {:.1g} sd"
    )

    @property
    def how(self) -> str:
        """How the function was integrated."""
        return f"integrated by {self.points:,} weighted points, {self.share:.0%} of them effective"

    @property
    def points(self) -> int:
        """How many points there are."""
        return len(self.weights)

    @property
    def modes(self) -> int:
        """How many separate tops were found."""
        return self.proposal.modes

    @property
    def before(self) -> Array:
        """Weights of one half of the scramblings alone."""
        half = np.where(np.arange(self.points) < self.points // 2, self.weights, 0.0)
        return half / half.sum()

    def sublattices(self, _close: float) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return all points."""
        return np.arange(self.points), np.ones(self.points, dtype=bool)

    def log_ratio(
        self, _chosen: NDArray[np.intp], _coarse: NDArray[np.bool_], change: Array
    ) -> tuple[float, float]:
        """Return how the log integral changes with the log values at all points; its error.

        The error is infinite where few points decide.
        """
        with np.errstate(divide="ignore"):
            logs = np.where(self.weights > 0, np.log(self.weights) + change, -np.inf)
        total = logsumexp(logs)
        after = np.exp(logs - total)
        each = _SCRAMBLINGS * _parts(np.stack([after, self.weights], 1)).sum(1)
        error = float(_error(each[:, 0] - each[:, 1]))
        return float(total), error if _tail(after) <= _HEAVIEST else math.inf

    def less_sure(self, by: float) -> Weighted:
        """Return the same with larger errors, as of log values that may be off by so much."""
        return replace(
            self,
            log_error=self.log_error + by,
            mean_error=self.mean_error + by,
            sd_error=self.sd_error + by,
        )

    def points_at(self, chosen: NDArray[np.intp]) -> Array:
        """Return the points x with some numbers."""
        return self.x[chosen]

    def table(self, coordinate: int) -> Table:
        """Return the distribution function of a coordinate x."""
        x = self.x[:, coordinate]
        order = np.argsort(x, kind="stable")
        below = np.cumsum(self.weights[order]) - self.weights[order] / 2
        levels = expit(np.linspace(-_OUT, _OUT, _NODES))
        nodes = np.unique(np.interp(levels, below, x[order]))
        curve = PchipInterpolator(nodes, np.interp(nodes, x[order], below))
        each = [
            np.bincount(np.searchsorted(nodes, part), weights, len(nodes) + 1)[:-1].cumsum()
            for part, weights in zip(_parts(x), _parts(self.weights), strict=True)
        ]
        gap = np.array(each) - np.mean(each, 0) * _parts(self.weights).sum(1)[:, None] * len(each)
        return Table(nodes, curve, float(_error(len(each) * gap).max()) + _BETWEEN)

    def draws(self, number: int, rng: np.random.Generator) -> Array:
        """Return independent points x, (number, d), by rejection."""

        def proposed(n: int) -> tuple[Array, Array]:
            x = self.proposal.at(rng.random((n, self.proposal.size + 2)))
            with np.errstate(over="ignore"):
                return x, np.exp(self.proposal.weighed(x)[0] - self.log_total)

        return accepted(proposed, number, rng)


def _parts(x: Array) -> Array:
    """Return what belongs to each scrambling, along a first axis."""
    return x.reshape(_SCRAMBLINGS, len(x) // _SCRAMBLINGS, *x.shape[1:])


def _error(each: Array) -> Array:
    """Return the standard errors of means over scramblings, of which two are 95 %."""
    return np.asarray(_WIDER * each.std(0, ddof=1) / math.sqrt(len(each)))


def weighted(
    f: Function,
    starts: Array,
    goal: float,
    seconds: float,
    rng: np.random.Generator,
    least: Array | float = 0.0,
    cost: int = 1,
    slope: Slope | None = None,
    told: Told | None = None,
    proposal: Proposal | None = None,
    rough: Rough | None = None,
) -> Weighted:
    """Integrate a function until log integral and means have standard errors of at most `goal`.

    Tops are looked for near `starts` (n, d), of which the first one is a middle, if there is no
    first `proposal`; in a `rough` function, if there is one, as is the `slope`. Units of numbers
    are not smaller than `least`. A point costs so many numbers.

    Raises
    ------
    NotSettled
        If the weights of the points are too unequal, or their errors too large after `seconds`, as
        points and their cost are counted.
    OutOfTime
        If the search for tops has computed for as many seconds as it may.
    Unbounded
        If the mass grows without end.
    """
    each = cost + starts.shape[1] ** 2
    if seconds * SPEED < _LEAST * each:
        raise NotSettled(
            f"it takes at least {_LEAST:,} points of {cost:,} numbers each, about "
            f"{_LEAST * each / SPEED:.0f} s, and may take {seconds:g}; seconds=... gives it more"
        )
    counted = Counted(f, cost + starts.shape[1], seconds)
    search, one = (Counted(*rough, seconds), rough.cost) if rough else (counted, cost)

    def way(x: Array) -> tuple[float, Array]:
        search.spend(_CALL + (_SLOPE * one if slope else 0))
        return slope(x) if slope else differences(search)(x)

    far = int(min(_FAR, _FAR_PART * seconds * SPEED / (one + starts.shape[1] ** 2)))
    tops = proposal or _around_tops(search.in_time, starts, rng, way, far)
    counted.spend(search.numbers if rough else 0)
    most = min(_MOST, (seconds - counted.seconds) * SPEED / each)
    fit = _adapted(replace(tops, f=f), most / 8, rng)
    try:
        return _weighed(fit, goal, most, rng, least, told)
    except Uneven:
        # Several laws around each top take more points, and may be nearer to a ridge.
        tried = len(fit.proposal.components) > tops.modes
        if tried or not fit.share or most < _IN_VAIN * _LARGE:
            raise
    several = _settled(_split(fit, rng), max(len(fit.x) // _KEPT, _LARGE // 2), most / 4, rng)
    return _weighed(several, goal, most / 2, rng, least, told)


def _weighed(
    fit: _Fit,
    goal: float,
    most: float,
    rng: np.random.Generator,
    least: Array | float,
    told: Told | None,
) -> Weighted:
    """Draw points, twice as many each time, at most about so many."""
    # Wider laws than fit best: points in tails cost little, and large weights there much.
    wider = tuple(replace(c, root=_WIDTH * c.root) for c in fit.proposal.components)
    proposal = replace(fit.proposal, components=wider)
    engines = [proposal.sobol(child) for child in rng.spawn(_SCRAMBLINGS)]
    x, logs, numbers = np.zeros((_SCRAMBLINGS, 0, proposal.size)), None, None
    number = _FIRST // _SCRAMBLINGS
    while True:
        new = np.stack([proposal.at(engine.random(number)) for engine in engines])
        log_weights, carried = proposal.weighed(new.reshape(-1, new.shape[-1]))
        x = np.concatenate([x, new], 1)
        logs, numbers = _joined(logs, log_weights), _joined(numbers, carried)
        number = x.shape[1]
        result = _estimates(proposal, x, logs, numbers, least)
        _believe(result)
        if told:
            told(result.points, result.share)
        error = max(result.log_error, float(np.nanmax(result.mean_error, initial=0.0)))
        last = 2 * result.points > most / 2
        if error <= goal or (last and error <= max(goal, _LARGEST)):
            return _with_moments(result)
        if last:
            raise NotSettled(
                f"{result.points:,} weighted points, of which {result.share:.1%} are effective, "
                f"leave a standard error of {error:.1g}"
            )


def _joined(before: Array | None, new: Array) -> Array:
    """Return the values of all points by scrambling, those of new ones at the end."""
    parts = _parts(new)
    return parts if before is None else np.concatenate([before, parts], 1)


def _estimates(
    proposal: Proposal, x: Array, logs: Array, numbers: Array, least: Array | float
) -> Weighted:
    weights = np.exp(logs - logsumexp(logs))
    each = len(weights) * weights.sum(1)
    log_total = float(logsumexp(logs)) - math.log(logs.size)
    flat, carried = weights.ravel(), np.where(weights[..., None] > 0, numbers, 0.0)
    every = carried.reshape(flat.size, -1)
    middle = every[flat.argmax()]
    mean = middle + flat @ (every - middle)
    gap = carried - mean
    sd = np.sqrt(flat @ (every - mean) ** 2)
    unit = np.maximum(sd, least)
    unit = np.where(unit > 0, unit, 1.0)
    of_mean, of_square = (
        len(weights) * np.einsum("rn,rnk->rk", weights, value) for value in (gap, gap**2 - sd**2)
    )
    return Weighted(
        proposal,
        x.reshape(flat.size, -1),
        every,
        flat,
        1 / (flat.size * (flat**2).sum()),
        log_total,
        float(_error(each)),
        mean,
        sd,
        unit,
        _error(of_mean) / unit,
        _error(of_square) / (2 * unit**2),
    )


def _believe(result: Weighted) -> None:
    """Refuse weights of which a few decide."""
    weights = result.weights
    tail, share = _tail(weights), result.share
    each = _parts(weights)
    apart = each.mean(1).var(ddof=1) / (weights.var() / each.shape[1])
    if share < _LEAST_SHARE or tail > _HEAVIEST or apart > _APART:
        raise Uneven(
            f"of {result.points:,} weighted points {share:.1%} are effective (at least "
            f"{_LEAST_SHARE:.0%} must be), the tail of their weights has the index {tail:.2f} (at "
            f"most {_HEAVIEST}), and independent sets differ {math.sqrt(apart):.2g} times as "
            f"much as they should (at most {math.sqrt(_APART):.2g})"
        )


def _with_moments(result: Weighted) -> Weighted:
    """Return the same without moments of which a few points decide."""
    gap = np.abs(result.numbers - result.mean)
    no_mean, no_sd = (
        np.array(
            [_tail(result.weights * column) > _NO_MOMENT for column in (gap**power).T], dtype=bool
        )
        for power in (1, 2)
    )
    return replace(
        result,
        mean=np.where(no_mean, np.nan, result.mean),
        sd=np.where(no_sd | no_mean, np.nan, result.sd),
        mean_error=np.where(no_mean, np.nan, result.mean_error),
        sd_error=np.where(no_sd | no_mean, np.nan, result.sd_error),
    )


def _tail(values: Array) -> float:
    """Return the index of the upper tail: no moment of order 1 / index, and above, exists."""
    from arviz_stats.base.array import array_stats

    if values.max() < _LIGHT * values.mean():  # values that are nearly equal have no tail
        return 0.0
    return float(array_stats.pareto_khat(values[None], r_eff=1.0, tail="right"))


# --- the proposal ---------------------------------------------------------------------------------


def _around_tops(
    f: Function, starts: Array, rng: np.random.Generator, slope: Slope, far: int
) -> Proposal:
    """Return normal approximations around the tops; refuse if each set of starts finds others.

    Each set has about as many points `far` from known tops.
    """
    tops: list[Component] = []
    for number in range(_SETS):
        chosen = np.concatenate([starts[:1], starts[1 + number % 2 :: 2]])
        points = _best(f, chosen[: _EXPLORED * starts.shape[1]], tops, rng, far)
        new = _climbed(f, points, tops, slope, rng)
        tops += new
        highest = max((c.log_share for c in tops), default=-np.inf)
        tops = [c for c in tops if c.log_share > highest - _DEPTH]
        if tops and number and not any(c in tops for c in new):
            total = logsumexp([c.log_share for c in tops])
            tops = [replace(c, log_share=c.log_share - total) for c in tops]
            return Proposal(f, tuple(tops), len(tops), straight(starts.shape[1]))
    if not tops:
        raise NotSettled("no point was found at which the density is positive")
    raise NotSettled(
        f"there are {len(tops)} or more separate modes, and each set of starting points finds "
        "others"
    )


def _best(
    f: Function, starts: Array, tops: list[Component], rng: np.random.Generator, far: int
) -> Array:
    """Return some of the starts and of points around the first.

    These are the best ones, those farthest above what the known tops explain, and any.
    """
    d, logs = starts.shape[1], logs_of(f)
    low, high = map(math.log, _SPREAD)
    moves = rng.standard_normal(starts.shape) * np.exp(rng.uniform(low, high, (len(starts), 1)))
    points = np.concatenate([starts, starts[0] + moves])
    if tops:
        # A narrow law in many dimensions is seen from few places between here and there.
        number = _ASIDE // len(tops)
        out = np.exp(rng.uniform(0.0, high, (number, 1)))
        near = [out * rng.standard_normal((number, d)) for _ in tops]
        points = np.concatenate([points, *_moved(tops, near)])
    values = logs(points)
    points, values = points[values > -np.inf], values[values > -np.inf]
    chosen = np.argsort(-values, kind="stable")[:_BEST], rng.permutation(len(points))[:_OTHERS]
    best, others = (points[order] for order in chosen)
    if tops:
        power = int(math.log2(max(1, far / len(tops))))
        uniform = qmc.Sobol(d + 1, scramble=False).random_base2(power).clip(2.0**-32)
        away = np.exp(high * uniform[:, :1]) * ndtri(uniform[:, 1:])
        points = np.concatenate([points, *_moved(tops, [away] * len(tops))])
        values = np.append(values, logs(points[len(values) :]))
        points, values = points[values > -np.inf], values[values > -np.inf]
        # A normal law at each top: near another one there is far more than its tails.
        scale = d / 2 * math.log(2 * math.pi)
        tails = [c.log_share - c.log_volume - scale - c.squares(points) / 2 for c in tops]
        above = np.argsort(logsumexp(tails, axis=0) - values, kind="stable")[:_ABOVE]
        best = np.concatenate([best, points[above]])
    return np.array(list(dict.fromkeys(map(tuple, np.concatenate([best, others])))))


def _moved(tops: list[Component], moves: list[Array]) -> list[Array]:
    """Return points around tops, in units of their roots."""
    return [c.centre + move @ c.root.T for c, move in zip(tops, moves, strict=True)]


def _climbed(
    f: Function, starts: Array, tops: list[Component], slope: Slope, rng: np.random.Generator
) -> list[Component]:
    """Return the tops above some starts that are not known, with their log mass as log share."""
    logs, new = logs_of(f), list[Component]()
    highest = max((float(logs(c.centre[None])[0]) for c in tops), default=-np.inf)
    df = float(np.interp(starts.shape[1], *_DF))
    for start in starts:
        known = [*tops, *new]
        root = known[0].root if known else np.eye(len(start))
        top, value, still = _highest(slope, start, root, known)
        if not np.isfinite(top).all() or any(_one_top(logs, top, c) for c in known):
            continue
        # Far down at a wall, where climbing ended on a slope.
        if known and not still and not value > highest - _DEPTH:
            continue
        top, root = polished(logs, top)
        if any(_one_top(logs, top, c) for c in known):
            continue
        highest = max(highest, float(logs(top[None])[0]))
        if with_digits(f, top[None], logs(top[None]))[0]:
            one = Proposal(f, (Component(0.0, top, root, df),), 1, straight(len(top)))
            log_weights, _ = one.weighed(one.at(one.sobol(rng).random(_LOOK)))
            # A pole has any height and next to no mass.
            mass = float(logsumexp(log_weights)) - math.log(_LOOK)
            new += [replace(one.components[0], log_share=mass)] if mass > -np.inf else []
    return new


def differences(f: Function) -> Slope:
    """Return log values and slopes of a function, by differences."""
    logs = logs_of(f)

    def slope(x: Array) -> tuple[float, Array]:
        step = _DIFFERENCE * np.maximum(1.0, np.abs(x))
        values = logs(x + np.eye(len(x) + 1, len(x), -1) * step)
        values = np.where(np.isfinite(values), values, max(values[0], -1e300))
        return float(values[0]), (values[1:] - values[0]) / step

    return slope


def _highest(
    slope: Slope, start: Array, root: Array, known: list[Component]
) -> tuple[Array, float, bool]:
    """Return where the log values are highest above a start, or next to a known top.

    And how high, and whether it is flat there, by SciPy's L-BFGS-B. Steps are in units of a root
    of the inverse of the curvature somewhere.
    """

    def falls(u: Array) -> tuple[float, Array]:
        value, by = slope(start + root @ u)
        if not (np.isfinite(value) and np.isfinite(by).all()):
            return 1e300, np.zeros_like(u)
        return -value, -by @ root

    def arrived(xk: Any) -> None:
        if any(_near(start + root @ xk, c) for c in known):
            raise StopIteration

    u = np.zeros(len(start))
    for _ in range(_CLIMBS):
        last: Any = minimize(
            falls, u, jac=True, method="L-BFGS-B", options=_CLIMB, callback=arrived
        )
        u, still = last.x, bool((abs(last.jac) < 1).all())
        if still or last.status == _STOPPED:
            break
    return np.asarray(start + root @ u), float(-last.fun), still


def _near(x: Array, known: Component) -> bool:
    """Whether a point is next to a known top."""
    return bool(np.isfinite(x).all()) and float(known.squares(x[None])[0]) < len(x) / 4


def _one_top(logs: Logs, x: Array, known: Component) -> bool:
    """Whether a point is next to a known top, or there is no valley between them."""
    if _near(x, known):
        return True
    values = logs(x + _WAY * (known.centre - x))
    return bool((values >= min(values[0], values[-1]) - _DIP).all())


def _adapted(proposal: Proposal, most: float, rng: np.random.Generator) -> _Fit:
    """Fit the laws to weighted points; if these are too unequal, several laws around each top.

    Each fit takes at most about so many points.
    """
    met = proposal.size - proposal.alone
    number = 2 ** math.ceil(math.log2(max(_PILOT, _PAIRS * met**2)))
    best = _settled(proposal, number, most, rng)
    if best.share > 0:
        # Its tails are heavier where they have to be, though few points are far enough to tell.
        bent = _settled(_bent(best), number, most, rng)
        best = bent if bent.share > _AS_GOOD * best.share else best
    unequal = 0 < best.share < _ENOUGH or best.tail > _HEAVIEST
    if unequal and 2 * most >= _IN_VAIN * _LARGE:
        several = _settled(_split(best, rng), max(number, _LARGE), most, rng)
        best = several if best.tail > _HEAVIEST or several.share > best.share else best
    return best


@dataclass(frozen=True, eq=False)
class _Fit:
    """The best of some proposals, its effective share; the last points, and log weights."""

    proposal: Proposal
    share: float
    tail: float
    x: Array
    logs: Array


def _settled(proposal: Proposal, number: int, most: float, rng: np.random.Generator) -> _Fit:
    """Fit the laws until the effective share of so many points does not grow any more."""
    best, best_share, in_vain = proposal, 0.0, 0
    x, logs = np.zeros((0, proposal.size)), np.zeros(0)
    for _ in range(min(_ROUNDS, max(_IN_VAIN, int(most / number)))):
        new = proposal.at(proposal.sobol(rng).random(number))
        log_weights, _ = proposal.weighed(new)
        x, logs = np.concatenate([x, new])[-_KEPT * number :], np.append(logs, log_weights)
        logs = logs[-_KEPT * number :]
        share = _effective(log_weights) / number
        better = share > _GAIN * best_share
        best, best_share = (proposal, share) if better else (best, best_share)
        in_vain = 0 if better else in_vain + 1
        if in_vain == _IN_VAIN or not share:
            break
        proposal = _fitted(proposal, x, logs)
    tail = _tail(np.exp(logs[-number:] - logs.max()))
    return _Fit(best, best_share, tail, x, logs)


def settled_on(proposal: Proposal, number: int, fits: int, rng: np.random.Generator) -> Proposal:
    """Return laws that are fitted at most so many times, to so many points each."""
    return _settled(proposal, number, fits * number, rng).proposal


def straight(d: int) -> Bend:
    """Return coordinates that are the points themselves."""
    return Bend(*np.zeros((3, d)))


def _bent(fit: _Fit) -> Proposal:
    """Return laws in coordinates that are bent as the quantiles of weighted points are."""
    proposal, x, weights = fit.proposal, fit.x, np.exp(fit.logs - logsumexp(fit.logs))
    order = np.argsort(x, axis=0, kind="stable")
    cumulated = np.cumsum(weights[order], 0)
    levels = ndtr(_LEVELS)
    least, far, near, middle, wide, out, most = np.array(
        [
            np.interp(levels, c - w / 2, column[o])
            for c, w, column, o in zip(cumulated.T, weights[order].T, x.T, order.T, strict=True)
        ]
    ).T
    # Of a normal law one deviation out is half of two out.
    unit = np.minimum(_unit(middle - near, middle - far), _unit(wide - middle, out - middle))
    below, above = (
        np.max([2 * (gap - k * unit) / (k * unit) ** 2 for k, gap in enumerate(gaps, 2)], 0).clip(0)
        for gaps in ((middle - far, middle - least), (out - middle, most - middle))
    )
    bend = Bend(middle, below, above)
    components = []
    for c in proposal.components:
        v = bend.back(c.centre[None])[0]
        slope = 1 + np.where(v < 0, below, above) * abs(v)
        components.append(replace(c, centre=v, root=c.root / slope[:, None]))
    return replace(proposal, components=tuple(components), bend=bend)


def _unit(one: Array, two: Array) -> Array:
    """Return the slope at zero of the parabola through zero and values at one and two."""
    return np.maximum(2 * one - two / 2, _STEEPEST * one)


def _split(fit: _Fit, rng: np.random.Generator) -> Proposal:
    """Return several laws in the place of each, half way to some of its weighted points."""
    proposal, x, logs = fit.proposal, fit.x, fit.logs
    number = max(1, _LAWS // len(proposal.components))
    each, x = proposal.log_densities(x), proposal.bend.back(x)
    chances = np.exp(each - logsumexp(each, axis=0) + logs / 2 - logsumexp(logs / 2))
    components = []
    for c, chance in zip(proposal.components, chances, strict=True):
        if not chance.sum() > 0:
            components.append(c)
            continue
        share = c.log_share - math.log(number)
        components += [
            Component(share, (c.centre + point) / 2, c.root, _FEW_DF)
            for point in x[rng.choice(len(x), number, p=chance / chance.sum())]
        ]
    return replace(proposal, components=tuple(components))


def _effective(logs: Array) -> float:
    """Return the effective number of points with some log weights."""
    with np.errstate(invalid="ignore"):
        number = math.exp(2 * logsumexp(logs) - logsumexp(2 * logs))
    return number if number > 0 else 0.0


def _fitted(proposal: Proposal, x: Array, logs: Array) -> Proposal:
    """Return the laws with the moments of weighted points, each by its part in them.

    Weights are tempered until they are those of enough effective points.
    """
    n, d = x.shape
    met = d - proposal.alone
    pairs = np.eye(d)
    pairs[:met, :met] = 1.0
    least = min(_EFFECTIVE * d * len(proposal.components), n / 4)
    logs = np.where(np.isfinite(logs), logs, -1e300)
    power = 1.0
    if _effective(logs) < least:
        power = brentq(lambda p: _effective(p * logs) - least, 0.0, 1.0)
    logs = power * logs
    each, x = proposal.log_densities(x), proposal.bend.back(x)
    parts = np.exp(each - logsumexp(each, axis=0) + logs - logsumexp(logs))
    components = []
    for c, part in zip(proposal.components, parts, strict=True):
        mass = max(float(part.sum()), 1 / n)
        known = mass**2 / max(float((part**2).sum()), mass**2 / n)
        # A law that few points tell of stays near where it was, as if d more had told so.
        mean = (known * (part @ x) / mass + d * c.centre) / (known + d)
        gap = (x - mean) * np.sqrt(part / mass)[:, None]
        cov = (known * pairs * (gap.T @ gap) * (c.df - 2) / c.df + d * c.root @ c.root.T) / (
            known + d
        )
        try:
            root = np.linalg.cholesky(cov)
        except np.linalg.LinAlgError as error:
            raise NotSettled("the points with most of the weight are in a plane") from error
        components.append(Component(math.log(mass), mean, root, c.df))
    return replace(proposal, components=tuple(components))
