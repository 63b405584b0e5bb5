"""Posteriors of a few scalars by Gauss–Legendre quadrature of a density written by hand.

Nothing here looks at a PyMC model, and nothing is shared with `bm.integrate`, which uses another
rule (equally spaced points) and another box. A level has a box in whitened coordinates about the
mode and as many nodes along each axis; each next level has a larger box and more nodes, until two
agree. What they differ by is the error, which so covers the cut-off as well as the resolution.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import ndimage, optimize

DEPTH = 26.0  # the box ends where the density is below exp(-DEPTH) of its top
NODES = {
    1: (40, 64, 100, 160, 256, 400, 640, 1024),
    2: (24, 34, 48, 68, 96, 136, 192, 272, 384),
    3: (16, 24, 34, 48, 68, 96, 136, 192, 272),
    4: (12, 18, 26, 36, 48, 64, 84),
}
SETTLED = 1e-9
SHRINKING = 10  # turns in which a box may also shrink
GROWTH = 0.06  # of the box from level to level
ROWS = 2**21  # numbers that a density may hold at a time


@dataclass(frozen=True)
class Line:
    """A map from the real line to the values of a scalar.

    Attributes
    ----------
    there, log_slope : callable
        The map, and the log of its derivative.
    back : callable
        Its inverse.
    breaks : tuple of float
        Values of the scalar at which the density has a kink.
    """

    there: Any
    log_slope: Any
    back: Any
    breaks: tuple[float, ...] = ()


def real(*breaks):
    """Return the line itself."""
    return Line(lambda u: u, np.zeros_like, lambda x: x, breaks)


def heavy(centre=0.0, width=1.0, *breaks):
    """Return the line on the scale of sinh: tails that fall by a power fall by an exponential."""
    return Line(
        lambda u: centre + width * np.sinh(u),
        lambda u: np.log(width * np.cosh(u)),
        lambda x: np.arcsinh((x - centre) / width),
        breaks,
    )


def above(low):
    """Return the values greater than one, on the log scale."""
    return Line(lambda u: low + np.exp(u), lambda u: u, lambda x: np.log(x - low))


def between(low, high, *breaks):
    """Return the values of an interval, on the logit scale."""
    width = high - low
    return Line(
        lambda u: low + width / (1 + np.exp(-u)),
        lambda u: np.log(width) - np.logaddexp(0, u) - np.logaddexp(0, -u),
        lambda x: np.log((x - low) / (high - x)),
        breaks,
    )


REAL, POSITIVE, UNIT = real(), above(0.0), between(0.0, 1.0)


@dataclass(frozen=True)
class Figures:
    """The log evidence, and means and sds by variable; `error` bounds them all.

    The error of the log evidence is absolute, that of a mean or sd is in units of the sd.
    """

    log_evidence: float
    mean: dict[str, Any]
    sd: dict[str, Any]
    error: float = 0.0
    levels: tuple[int, ...] = field(default=(), compare=False)


class _Density:
    """The density of a problem over the real lines of its scalars."""

    def __init__(self, scalars, density, rows, without):
        self.sizes = {name: size for name, (_, size) in scalars.items()}
        self.lines = [line for line, size in scalars.values() for _ in range(size or 1)]
        self.density, self.chunk, self.middle = density, max(1, ROWS // rows), None
        self.without = without
        shown = self.shown(self.sizes)
        self.moments = np.array(
            [float(name in shown) for name, size in self.sizes.items() for _ in range(size or 1)]
        )

    def natural(self, u):
        x, at, values = self.flat(u), 0, {}
        for name, size in self.sizes.items():
            values[name] = x[:, at] if size is None else x[:, at : at + size]
            at += size or 1
        return values

    def __call__(self, u):
        """Return log densities of points, and means and variances of the block given them."""
        values = self.natural(u)
        with np.errstate(all="ignore"):
            found = self.density(**values)
            logs, block = found if isinstance(found, tuple) else (found, {})
            slopes = [line.log_slope(v) for line, v in zip(self.lines, u.T, strict=True)]
            logs = logs + sum(slopes)
        block = {name: (x, np.zeros_like(x)) for name, x in values.items()} | block
        block = {name: law for name, law in block.items() if name in self.shown(block)}
        return np.where(np.isfinite(logs), logs, -np.inf), block

    def at(self, start):
        """Return values of scalars on their lines; without any, zeros."""
        if start is None:
            return np.zeros(len(self.lines))
        flat = np.concatenate([np.ravel(start[name]) for name in self.sizes])
        return np.array([line.back(x) for line, x in zip(self.lines, flat, strict=True)])

    def shown(self, names):
        return {name for name in names if name[0] != "_" and name not in self.without}

    def reach(self, u):
        """Return the log of how far out a point is, squared, in units of about an sd."""
        if self.middle is None:
            return 0.0
        low, centre, high = (self.flat(x) for x in self.middle)
        far = np.log1p(np.abs(self.flat(u) - centre) / np.abs(high - low))
        return 2 * (far * self.moments).max(-1)

    def flat(self, u):
        return np.stack([line.there(v) for line, v in zip(self.lines, u.T, strict=True)], -1)

    def logs(self, u):
        parts = [self(u[i : i + self.chunk])[0] for i in range(0, len(u), self.chunk)]
        return np.concatenate(parts)


def _top(density, start):
    """Return the mode and a root of the covariance that the curvature there implies."""

    def cost(u):
        found = density.logs(np.asarray(u)[None])[0]
        return -found if np.isfinite(found) else 1e300

    best = start
    for _ in range(3):
        best = optimize.minimize(
            cost,
            best,
            method="Nelder-Mead",
            options={"xatol": 1e-6, "fatol": 1e-9, "maxiter": 4000},
        ).x
    d, step = len(best), 1e-3
    at = np.eye(d) * step
    grid = [[cost(best + a + b) + cost(best - a - b) for b in at] for a in at]
    cross = [[cost(best + a - b) + cost(best - a + b) for b in at] for a in at]
    curvature = (np.array(grid) - np.array(cross)) / (4 * step**2)
    straight = any(line.breaks for line in density.lines)
    if straight:
        curvature = np.diag(np.diag(curvature))
    values, vectors = np.linalg.eigh(curvature)
    root = vectors / np.sqrt(np.clip(values, 1e-2, 1e12))
    if straight:
        root = np.diag(1 / np.sqrt(np.clip(np.diag(curvature), 1e-2, 1e12)))
    return best, root


def _axis(low, high, n, breaks):
    """Return nodes and log weights of the rule on the pieces, denser in the middle."""
    x, w = np.polynomial.legendre.leggauss(n)
    ends = np.arcsinh([low, *sorted(b for b in breaks if low < b < high), high])
    halves, middles = np.diff(ends) / 2, (ends[1:] + ends[:-1]) / 2
    t = (middles[:, None] + halves[:, None] * x).ravel()
    return np.sinh(t), np.log(halves[:, None] * w).ravel() + np.log(np.cosh(t))


class _Box:
    """A box in whitened coordinates, and the rule on it."""

    def __init__(self, density, centre, root):
        self.density, self.centre, self.root = density, centre, root
        self.low, self.high = -np.full(len(centre), 7.0), np.full(len(centre), 7.0)

    def breaks(self, i):
        scale = self.root[i, i]
        return [
            (self.density.lines[i].back(b) - self.centre[i]) / scale
            for b in self.density.lines[i].breaks
        ]

    def axes(self, n, growth=0.0):
        wider = growth * (self.high - self.low) / 2
        ends = zip(self.low - wider, self.high + wider, strict=True)
        return [_axis(*pair, n, self.breaks(i)) for i, pair in enumerate(ends)]

    def points(self, axes, keep=None):
        """Return points in u and log weights of a product rule, all or those to keep."""
        shape = tuple(len(nodes) for nodes, _ in axes)
        every = np.arange(np.prod(shape)) if keep is None else np.flatnonzero(keep)
        for i in range(0, len(every), self.density.chunk):
            index = np.unravel_index(every[i : i + self.density.chunk], shape)
            z = np.stack([nodes[j] for (nodes, _), j in zip(axes, index, strict=True)], -1)
            yield (
                self.centre + z @ self.root.T,
                sum(w[j] for (_, w), j in zip(axes, index, strict=True)),
            )

    def logs(self, axes):
        """Return the log of the density, or of what it adds to a second moment, at all points."""
        found = [self.density.logs(u) + self.density.reach(u) for u, _ in self.points(axes)]
        return np.concatenate(found).reshape([len(nodes) for nodes, _ in axes])

    def fit(self, n):
        """Move the faces until the density on each is below the depth, and little room is left."""
        for turn in range(60):
            axes = self.axes(n)
            logs = self.logs(axes)
            logs = logs - logs.max()
            grown = False
            for i in range(len(axes)):
                profile = logs.max(tuple(j for j in range(len(axes)) if j != i))
                nodes = axes[i][0]
                inside = np.flatnonzero(profile > -DEPTH)
                width = self.high[i] - self.low[i]
                first, last = inside[0], inside[-1]
                if first == 0:
                    self.low[i] -= 0.25 * width
                elif turn < SHRINKING:
                    self.low[i] = nodes[first - 1]
                if last == len(nodes) - 1:
                    self.high[i] += 0.25 * width
                elif turn < SHRINKING:
                    self.high[i] = nodes[last + 1]
                grown |= first == 0 or last == len(nodes) - 1
                grown |= self.high[i] - self.low[i] < 0.8 * width
            if not grown:
                return axes, logs
        raise ValueError("no box holds the mass: is the posterior proper?")

    def kept(self, axes, coarse):
        """Return which points of a finer rule may matter, by what a coarse one found near them."""
        coarse_axes, logs = coarse
        near = ndimage.maximum_filter(logs, 3)
        index = [
            np.abs(nodes[:, None] - old[0]).argmin(1)
            for (nodes, _), old in zip(axes, coarse_axes, strict=True)
        ]
        return (near[np.ix_(*index)] > -DEPTH - 8).ravel()

    def figures(self, n, growth, top, coarse):
        """Return log evidence, means and sds by the rule with n nodes along each axis."""
        axes = self.axes(n, growth)
        keep = None if len(axes) < 3 else self.kept(axes, coarse)
        _, block = self.density(self.centre[None])
        shift = {name: mean[0] for name, (mean, _) in block.items()}
        total, first, second = 0.0, dict.fromkeys(shift, 0.0), dict.fromkeys(shift, 0.0)
        for u, weights in self.points(axes, keep):
            logs, block = self.density(u)
            mass = np.exp(logs + weights - top)
            total += mass.sum()
            some = mass > 0
            for name, (mean, var) in block.items():
                off = mean[some] - shift[name]
                first[name] = first[name] + np.tensordot(mass[some], off, 1)
                second[name] = second[name] + np.tensordot(mass[some], off**2 + var[some], 1)
        volume = np.linalg.slogdet(self.root)[1]
        mean = {name: shift[name] + first[name] / total for name in shift}
        var = {name: second[name] / total - (first[name] / total) ** 2 for name in shift}
        sd = {name: np.sqrt(value) for name, value in var.items()}
        return Figures(float(np.log(total) + top + volume), mean, sd)


def integrated(scalars, density, *, rows=100, start=None, without=()):
    """Return the figures of a posterior of one to four scalars.

    Parameters
    ----------
    scalars : dict
        By variable its `Line` and its size, None for a scalar.
    density : callable
        From arrays of points by variable, (points,) or (points, size), to joint log densities
        (points,), or these and a dict of means and variances given the points by variable. A name
        with an underscore in front is a coordinate that the model does not have.
    rows : int, optional
        About how many numbers the density holds for a point.
    start : dict, optional
        Values near the mode; by default those of zero on every line.
    without : tuple of str, optional
        Variables that have no variance.
    """
    known = _Density(scalars, density, rows, without)
    d = len(known.lines)
    centre, root = _top(known, known.at(start))
    top = known.logs(centre[None])[0]
    wide = np.sqrt((root**2).sum(1))
    known.middle = (centre - wide)[None], centre[None], (centre + wide)[None]
    box = _Box(known, centre, root)
    coarse = box.fit(NODES[d][0])
    last, done = None, ()
    for level, n in enumerate(NODES[d]):
        found = box.figures(n, GROWTH * level, top, coarse)
        done = (*done, n)
        if last is not None:
            error = difference(found, last)
            if error <= SETTLED:
                break
        last = found
    return Figures(found.log_evidence, found.mean, found.sd, error, done)


def difference(one, other):
    """Return the largest difference between two sets of figures: of means and sds, in sds."""
    gaps = [abs(one.log_evidence - other.log_evidence)]
    for name, sd in other.sd.items():
        gaps.append(np.max(np.abs(one.mean[name] - other.mean[name]) / sd, initial=0.0))
        gaps.append(np.max(np.abs(one.sd[name] - sd) / sd, initial=0.0))
    return float(np.max(gaps))
