r"""Latent fields and effects that are no chain: weights where each field is about standard normal.

Given the other coordinates :math:`\phi` - scales, lengths, correlations - the log density has one
top :math:`x^*(\phi)` in the latent ones x, with the curvature :math:`H = L L^\top` there. In

.. math:: x = x^*(\phi) + R(\phi) z, \qquad R \approx L^{-\top},

z is about standard normal and independent of :math:`\phi`. The integral is the same whatever root R
is, with its determinant; so tops and roots are worked out at some nodes :math:`\phi` and
interpolated between. The nodes are where Laplace's approximation has the mass,

.. math:: \ln \int p(\phi, x) \, dx \approx \ln p(\phi, x^*) - \ln |L| + \tfrac d2 \ln 2 \pi.

Source: Rue, Martino and Chopin (2009), *Approximate Bayesian inference for latent Gaussian models*,
Journal of the Royal Statistical Society B 71, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from pytensor import tensor
from pytensor.configdefaults import config
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.rewriting.utils import rewrite_graph
from scipy.interpolate import RBFInterpolator

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.batched_newton import Tops, tops
from bayesmodels.numerics.lattice_integral import Counted, NotSettled, Told
from bayesmodels.numerics.weights import (
    Component,
    Proposal,
    Weighted,
    settled_on,
    straight,
    weighted,
)
from bayesmodels.posteriors.batch_density import BatchDensity
from bayesmodels.posteriors.conditional import BATCH_MODE, SUMS
from bayesmodels.posteriors.density import OneAThread, compiled, in_double, plain
from bayesmodels.posteriors.rounding import NO_GRADIENT
from bayesmodels.posteriors.support import listed, supports
from bayesmodels.posteriors.support.real import REAL

pt: Any = tensor  # its functions have no types

_FEWEST, _MOST, _SHARED = 8, 200, 6  # latent scalars; and others
_LOOKS = 12  # values of the others at which there must be one top
_SAME = 1e-2  # log values of one top
_PILOT, _ROUNDS = (
    2**8,
    15,
)  # points of a fit to Laplace's approximation, for each other scalar; fits
_NODES = 2**7  # for each other scalar, at least
_FARTHEST = 10.0  # deviations of such a step
_WIDER = 1.8  # nodes than where the mass is
_DF = 8.0
_AT_ONCE = 4_000_000  # numbers of second derivatives, or of roots


class Whitened:
    """The density of a model with latent fields, in which these are whitened by their tops."""

    def __init__(self, density: BatchDensity, rng: np.random.Generator) -> None:
        self.natural = density
        real = {s.name for s in supports(density.natural.model, all_known=False) if s.kind is REAL}
        names = [name for name in density.names if name in real and name not in density.ends]
        # What makes several tops is left out: loadings, as they are fewer than what they load.
        names.sort(key=lambda name: density.sizes[name])
        if density.finite:
            raise NotConjugate(f"{listed(s.name for s in density.finite)} are finite.")
        while names:
            latent = sum(density.sizes[name] for name in names)
            if not _FEWEST <= latent <= _MOST or not 1 <= density.size - latent <= _SHARED:
                break
            if self._made(names, rng):
                return
            names = names[1:]
        raise NotConjugate("no latent fields have one top, given few others.")

    def _made(self, names: Sequence[str], rng: np.random.Generator) -> bool:
        """Compile for some latent variables; return whether they have one top."""
        natural = self.natural
        self.density = density = BatchDensity(natural.natural, natural.ends, standard=names)
        self.latent = [name for name in density.names if name in names]
        self.shared = [name for name in density.names if name not in names]
        self._inner = np.repeat([n in names for n in density.names], list(density.sizes.values()))
        self.size = int(self._inner.sum())
        try:
            self._compile()
        except NO_GRADIENT:
            return False
        return self._has_one_top(rng)

    def _compile(self) -> None:
        """Compile slopes and second derivatives by the latent coordinates."""
        values, total = self.density.whole
        sizes, d = self.density.sizes, self.size
        with config.change_flags(floatX="float64", traceback__limit=0):
            x, along = (pt.tensor(name, dtype="float64", shape=(d,)) for name in ("x", "along"))
            at, first, self._outer = {}, 0, []
            for name, value in zip(self.density.names, values, strict=True):
                if name in self.latent:
                    part = x[first : first + sizes[name]]
                    at[value] = pt.cast(part.reshape(self._shape(name)), value.dtype)
                    first += sizes[name]
                else:
                    self._outer.append((value, self._shape(name)))
            (log,) = clone_replace([total], at, rebuild_strict=False)
            slope = pt.grad(log, x)
            bend = pt.grad((slope * along).sum(), x)
            written: Any = rewrite_graph(
                plain(in_double([log, slope, bend], {})), exclude=SUMS, clone=False
            )
            log, slope, bend = written
            # The shared ones have one value for all directions, so that it is used once.
            bends: Any = rewrite_graph(
                vectorize_graph([bend], {along: pt.constant(np.eye(d))}), exclude=SUMS, clone=False
            )
            points = [v for v, _ in self._outer] + [x]
            rows = [v.type.clone(shape=(None, *v.type.shape))(v.name) for v in points]
            each = dict(zip(points, rows, strict=True))
            one: Any = vectorize_graph([log, slope], each)
            two: Any = vectorize_graph(bends, each)
            self._slopes = OneAThread(compiled(rows, one, BATCH_MODE))
            self._bends = OneAThread(compiled(rows, two, BATCH_MODE))

    def _shape(self, name: str) -> tuple[int, ...]:
        return self.density.value_shapes[name]

    def _inputs(self, phi: Array, x: Array) -> list[Array]:
        inputs, at = [], 0
        for value, shape in self._outer:
            size = math.prod(shape)
            inputs.append(phi[:, at : at + size].reshape(len(phi), *shape).astype(value.dtype))
            at += size
        return [*inputs, x]

    def _tops(self, phi: Array, start: Array) -> Tops:
        """Return the tops of the latent coordinates given the shared ones (n, p)."""

        def values(rows: Any, x: Array) -> tuple[Array, Array]:
            if not len(rows):
                return np.zeros(0), x
            with np.errstate(all="ignore"):
                log, slope = self._slopes(*self._inputs(phi[rows], x))
            return np.broadcast_to(log, len(rows)), np.broadcast_to(slope, x.shape)

        def curvatures(rows: Any, x: Array) -> Array:
            with np.errstate(all="ignore"):
                (bend,) = self._bends(*self._inputs(phi[rows], x)) if len(rows) else (x[..., None],)
            return -np.broadcast_to(bend, (len(rows), self.size, self.size))

        with np.errstate(all="ignore"):
            try:
                return tops(values, curvatures, np.broadcast_to(start, (len(phi), self.size)))
            except np.linalg.LinAlgError:  # of a shared value somewhere
                if len(phi) == 1:
                    none = np.full((1, self.size), np.nan)
                    return Tops(none, np.full((1, self.size, self.size), np.nan), none[:, 0])
                starts = np.broadcast_to(start, (len(phi), self.size))
                halves = np.array_split(np.arange(len(phi)), 2)
                each = zip(*(self._tops(phi[half], starts[half]) for half in halves), strict=True)
                return Tops(*map(np.concatenate, each))

    def _has_one_top(self, rng: np.random.Generator) -> bool:
        """Return whether Newton's method arrives at one top, from the prior's middle and draws."""
        points = self.density.prior(3 * _LOOKS, rng)
        if len(points) < 3 * _LOOKS:
            return False
        phi = points[:_LOOKS, ~self._inner]
        starts = [self.density.start[None], *np.split(points[_LOOKS:], 2)]
        each = np.array([self._tops(phi, start[:, self._inner]).value for start in starts])
        known = np.isfinite(each)
        apart = np.nanmax(each, 0, initial=-np.inf) - np.nanmin(each, 0, initial=np.inf)
        return bool((known.sum(0) > 1).any() and (apart[known.sum(0) > 1] < _SAME).all())

    @property
    def cost(self) -> int:
        """About how many numbers a point takes."""
        return self.density.cost + 2 * self.size**2

    def integrated(
        self, goal: float, seconds: float, rng: np.random.Generator, told: Told | None
    ) -> Weighted:
        """Integrate until log integral and means have standard errors of at most `goal`."""
        shared = int((~self._inner).sum())

        def laplace(phi: Array) -> tuple[Array, Array]:
            batch = max(1, _AT_ONCE // self.size**2)
            pieces = [phi[at : at + batch] for at in range(0, len(phi), batch)]
            found = [self._tops(piece, self.density.start[self._inner]) for piece in pieces]
            x, root, value = map(np.concatenate, zip(*found, strict=True))
            with np.errstate(all="ignore"):
                diagonal = np.log(np.diagonal(root, axis1=1, axis2=2))
                result = value - diagonal.sum(1) + self.size / 2 * math.log(2 * math.pi)
            nodes.append((phi, x, root, value))
            return np.where(np.isnan(result), -np.inf, result), np.zeros((len(phi), 0))

        nodes: list[tuple[Array, Array, Array, Array]] = []
        points = self.density.prior(_PILOT * shared, rng)[:, ~self._inner]
        cov = np.cov(points.T).reshape(shared, shared) + 1e-9 * np.eye(shared)
        first = Component(0.0, np.median(points, 0), np.linalg.cholesky(cov), _DF)
        search = Counted(laplace, self.cost * self.size, seconds)
        rough = Proposal(search.in_time, (first,), 1, straight(shared))
        each = 2 ** math.ceil(math.log2(shared))
        rough = settled_on(rough, _PILOT * each, _ROUNDS, rng)
        del nodes[:]
        wide = tuple(replace(c, root=_WIDER * c.root) for c in rough.components)
        wide_points = replace(rough, components=wide)
        search.in_time(wide_points.at(wide_points.sobol(rng).random(_NODES * each)))
        phi, *known = map(np.concatenate, zip(*nodes, strict=True))
        field = _Field.at(phi, Tops(*known), rough.components[0])
        # Variables that were standardized may stand in another order.
        order = np.arange(len(self.density.least))
        own = np.concatenate([order[self.density.slices[name]] for name in self.natural.names])

        def f(points: Array) -> tuple[Array, Array]:
            logs, numbers = [], []
            for at in range(0, max(1, len(points)), max(1, _AT_ONCE // self.size**2)):
                piece = points[at : at + max(1, _AT_ONCE // self.size**2)]
                whole, log_volume = self._joined(field, piece)
                log, known = self.density(whole)
                logs.append(log + log_volume)
                numbers.append(known[:, own])
            return np.concatenate(logs), np.concatenate(numbers)

        components = tuple(self._with_latent(c) for c in rough.components)
        proposal = Proposal(f, components, 1, straight(shared + self.size), self.size)
        starts = np.zeros((1, shared + self.size))
        result = weighted(
            f, starts, goal, seconds, rng, 0.0, self.cost, told=told, proposal=proposal
        )
        return WhitenedPoints(
            **{f.name: getattr(result, f.name) for f in fields(Weighted)}, white=self
        ).there()

    def _with_latent(self, c: Component) -> Component:
        """Return a law of the shared coordinates together with standard normal ones."""
        p, d = len(c.centre), self.size
        root = np.eye(p + d)
        root[:p, :p] = c.root
        return Component(c.log_share, np.append(c.centre, np.zeros(d)), root, max(c.df, 25.0))

    def _joined(self, field: _Field, points: Array) -> tuple[Array, Array]:
        """Return coordinates of the density, and the log volume of the roots."""
        shared = points.shape[1] - self.size
        phi, z = points[:, :shared], points[:, shared:]
        top, root, log_volume = field(phi)
        # A step of Newton's method from where a top should be.
        with np.errstate(all="ignore"):
            try:
                _, slope = self._slopes(*self._inputs(phi, top))
                across = np.einsum("nji,nj->ni", root, np.broadcast_to(slope, top.shape))
            except np.linalg.LinAlgError:
                across = np.zeros(top.shape)
            far = np.sqrt((across**2).sum(1, keepdims=True))
            across = np.where(np.isfinite(far), across / np.maximum(1.0, far / _FARTHEST), 0.0)
            x = top + np.einsum("nij,nj->ni", root, across + z)
        whole = np.empty(points.shape)
        whole[:, ~self._inner], whole[:, self._inner] = phi, x
        return whole, log_volume

    def coordinates(self, points: Array, numbers: Array) -> Array:
        """Return the coordinates of the model's density, from points and natural values."""
        sizes = self.density.sizes
        ends = np.cumsum([sizes[name] for name in self.shared])
        shared = dict(zip(self.shared, np.split(points, ends, axis=1), strict=False))
        own = self.natural.slices
        each = [shared[n] if n in shared else numbers[:, own[n]] for n in self.natural.names]
        return np.concatenate(each, 1)


@dataclass(frozen=True, eq=False)
class _Field:
    """Tops and upper triangular roots of the latent coordinates, between nodes."""

    frame: Component
    between: RBFInterpolator
    size: int

    @classmethod
    def at(cls, phi: Array, tops: Tops, frame: Component) -> _Field:
        """Interpolate between nodes: tops, logs of the diagonal, and rows in units of it."""
        x, root, d = tops.x, tops.root, tops.x.shape[1]
        known = np.isfinite(root).all((1, 2)) & np.isfinite(x).all(1)
        if known.sum() < 2 * phi.shape[1] + 2:
            raise NotSettled("no top of the latent variables was found")
        upper = np.linalg.solve(np.swapaxes(root[known], 1, 2), np.eye(d))
        diagonal = np.diagonal(upper, axis1=1, axis2=2)
        rows = (upper / diagonal[..., None])[:, *np.triu_indices(d, 1)]
        values = np.concatenate([x[known], np.log(diagonal), rows], 1)
        u = frame.whitened(phi[known]).T
        u, first = np.unique(u, axis=0, return_index=True)
        return cls(frame, RBFInterpolator(u, values[first], kernel="cubic", degree=1), d)

    def __call__(self, phi: Array) -> tuple[Array, Array, Array]:
        """Return tops, upper roots, and the log determinants of these."""
        d = self.size
        values = self.between(self.frame.whitened(phi).T)
        log_scale = values[:, d : 2 * d]
        root = np.zeros((len(phi), d, d))
        root[:, *np.triu_indices(d, 1)] = values[:, 2 * d :]
        root[:, *np.diag_indices(d)] = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            return values[:, :d], np.exp(log_scale)[..., None] * root, log_scale.sum(1)


@dataclass(frozen=True, eq=False)
class WhitenedPoints(Weighted):
    """Weighted points of whitened coordinates; x are those of the model's density."""

    white: Whitened

    def there(self) -> WhitenedPoints:
        """Return the same with the coordinates of the density in place of whitened ones."""
        return replace(self, x=self.white.coordinates(self.x, self.numbers))

    @property
    def how(self) -> str:
        """How the function was integrated."""
        white = self.white
        return (
            f"{super().how}, {listed(white.latent)} whitened by the top given "
            f"{listed(white.shared)}"
        )

    def draws(self, number: int, rng: np.random.Generator) -> Array:
        """Return independent points x, (number, d), by rejection."""
        points = super().draws(number, rng)
        return self.white.coordinates(points, self.proposal.f(points)[1])
