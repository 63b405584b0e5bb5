r"""The normal-inverse-Wishart prior in PyMC, exactly, in coordinates that NUTS finds easy.

The free variables are :math:`\Sigma` and :math:`\mu` themselves. They are sampled through the lower
triangular root A of the precision, :math:`\Sigma^{-1} = A^\top A`, as

.. math:: B = A L, \qquad z = \sqrt{\kappa} A (\mu - m),

with fixed L, m and :math:`\kappa`. Any choice is exact. If :math:`L L^\top`, m and :math:`\kappa`
are those of the posterior, then all coordinates are independent: z and the entries of B below its
diagonal are standard normal, those on it are chi (Bartlett's decomposition).

All log densities are written with A, B and z, so that nothing is factored or solved while sampling.
In natural space A comes from an operation whose derivatives are products of A. Sums of products
stand where one would write matrix products, since Numba compiles them in a tenth of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.logprob.abstract import ValuedRV
from pymc.logprob.transform_value import TransformedValue
from pymc.logprob.transforms import Transform
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.rewriting.basic import register_canonicalize
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor

from bayesmodels.models.operations_pymc import Operation, numba_loops
from bayesmodels.numerics import Array
from bayesmodels.numerics.kernels import Loops
from bayesmodels.numerics.special import HALF_LOG_2PI
from bayesmodels.numerics.triangular import any_root, cholesky, solve_lower
from bayesmodels.numerics.wishart import inverse_wishart_draws, log_density_constant, symmetric

_TAKES = (AdvancedSubtensor, Subtensor)

_tril: Any = pt.tril  # which has no types


# --- operations that stay out of the log density --------------------------------------------------


@Loops
def _matrices(x: Any) -> Any:
    return np.ascontiguousarray(x).reshape((-1, x.shape[-1], x.shape[-1]))


@Loops
def _invert_lower(root: Any, half: Any) -> None:
    for j in range(root.shape[0]):
        half[j, j] = 1 / root[j, j]
        for i in range(j + 1, root.shape[0]):
            total = 0.0
            for k in range(j, i):
                total += root[i, k] * half[k, j]
            half[i, j] = -total / root[i, i]


class CovarianceOfRoot(Operation):
    """From lower triangular A, over leading axes, to Sigma with Sigma^-1 = A'A."""

    def _value(self, root: Array) -> Array:
        half = solve_lower(root, np.eye(root.shape[-1]))
        return symmetric(half @ np.swapaxes(half, -1, -2))

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        """Return the gradient: dSigma = -(A^-1 dA Sigma) - (its transpose), and A^-T = A Sigma."""
        (root,), (sigma,), (cotangent,) = inputs, outputs, cotangents
        both = cotangent + _turned(cotangent)
        return [-_tril(product(product(product(root, sigma), both), sigma))]


@numba_loops(CovarianceOfRoot)
def _covariance_of_root(root: Any) -> Any:
    width = root.shape[-1]
    sigma = np.empty(root.shape)
    roots, sigmas = _matrices(root), sigma.reshape((-1, width, width))
    half = np.zeros((width, width))
    for a, result in zip(roots, sigmas):  # noqa: B905 - Numba's zip is not strict
        _invert_lower(a, half)
        for i in range(width):
            for j in range(i + 1):
                total = 0.0
                for k in range(j + 1):
                    total += half[i, k] * half[j, k]
                result[i, j] = total
                result[j, i] = total
    return sigma


class RootOfCovariance(Operation):
    """From Sigma, over leading axes, to lower triangular A with Sigma^-1 = A'A."""

    __props__ = ("width",)

    def __init__(self, width: int) -> None:
        self.width = width
        self.half = np.tri(width) - np.eye(width) / 2

    def _value(self, sigma: Array) -> Array:
        return solve_lower(cholesky(symmetric(sigma)), np.eye(self.width))

    def backward_error(self, sigma: Any) -> Any:
        """Return how far off the matrix is whose root was found, in units of rounding.

        Higham (2002), *Accuracy and Stability of Numerical Algorithms*, theorems 10.3 and 8.5.
        """
        places = np.arange(self.width)
        size = pt.sqrt(sigma[..., places, places])
        return 4 * (self.width + 1) * size[..., :, None] * size[..., None, :]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:  # noqa: ARG002
        """Return the gradient: dA = -P(A dSigma A') A, P the lower triangle with half diagonal."""
        (root,), (cotangent,) = outputs, cotangents
        inner = product(cotangent, _turned(root)) * self.half
        slope = product(_turned(root), product(inner, root))
        return [-(slope + _turned(slope)) / 2]


@numba_loops(RootOfCovariance)
def _root_of_covariance(sigma: Any) -> Any:
    width = sigma.shape[-1]
    root = np.zeros(sigma.shape)
    sigmas, roots = _matrices(sigma), root.reshape((-1, width, width))
    lower = np.zeros((width, width))
    for s, result in zip(sigmas, roots):  # noqa: B905
        for i in range(width):
            for j in range(i + 1):
                total = (s[i, j] + s[j, i]) / 2
                for k in range(j):
                    total -= lower[i, k] * lower[j, k]
                lower[i, j] = np.sqrt(total) if i == j else total / lower[j, j]
        _invert_lower(lower, result)
    return root


class Located(Operation):
    """From centre, A and z, over leading axes, to mu = centre + A^-1 z."""

    def _shape(self, *shapes: Any) -> Any:
        return shapes[2]

    def _value(self, centre: Array, root: Array, z: Array) -> Array:
        return centre + solve_lower(root, z[..., None])[..., 0]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        """Return the gradient: A^-T g = A Sigma g."""
        (centre, root, _), (mu,), (cotangent,) = inputs, outputs, cotangents
        turned = applied(root, applied(CovarianceOfRoot()(root), cotangent))
        return [cotangent, -_tril(turned[..., :, None] * (mu - centre)[..., None, :]), turned]


@numba_loops(Located)
def _located(centre: Any, root: Any, z: Any) -> Any:
    width = z.shape[-1]
    mu = np.empty(z.shape)
    roots, results = _matrices(root), mu.reshape((-1, width))
    flat = np.ascontiguousarray(z).reshape((-1, width))
    if len(roots) != len(flat):
        raise ValueError("as many roots as vectors are needed")
    for a, right, result in zip(roots, flat, results):  # noqa: B905
        for i in range(width):
            total = right[i]
            for k in range(i):
                total -= a[i, k] * result[k]
            result[i] = total / a[i, i]
    return centre + mu


class LowerTriangle(Operation):
    """From D (D + 1) / 2 packed entries, over leading axes, to a lower triangular matrix."""

    __props__ = ("width",)

    def __init__(self, width: int) -> None:
        self.width = width

    def _shape(self, *shapes: Any) -> Any:
        return (*shapes[0][:-1], self.width, self.width)

    def _value(self, entries: Array) -> Array:
        lower = np.zeros(self._shape(entries.shape), entries.dtype)
        lower[(..., *np.tril_indices(self.width))] = entries
        return lower

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:  # noqa: ARG002
        """Return the gradient: its packed entries."""
        return [PackedEntries(self.width)(cotangents[0])]


@numba_loops(LowerTriangle)
def _lower_triangle(entries: Any) -> Any:
    width = int(np.sqrt(2 * entries.shape[-1]))  # of D (D + 1)
    lower = np.zeros((*entries.shape[:-1], width, width))
    packed, matrices = np.ascontiguousarray(entries).ravel(), lower.reshape((-1, width, width))
    k = 0
    for matrix in matrices:
        for i in range(width):
            for j in range(i + 1):
                matrix[i, j] = packed[k]
                k += 1
    return lower


class PackedEntries(Operation):
    """From a matrix, over leading axes, to the packed entries of its lower triangle."""

    __props__ = ("width",)

    def __init__(self, width: int) -> None:
        self.width = width

    def _shape(self, *shapes: Any) -> Any:
        return (*shapes[0][:-2], self.width * (self.width + 1) // 2)

    def _value(self, matrix: Array) -> Array:
        return matrix[(..., *np.tril_indices(self.width))]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:  # noqa: ARG002
        """Return the gradient: zero above the diagonal."""
        return [LowerTriangle(self.width)(cotangents[0])]


@numba_loops(PackedEntries)
def _packed_entries(matrix: Any) -> Any:
    width = matrix.shape[-1]
    entries = np.empty((*matrix.shape[:-2], width * (width + 1) // 2))
    packed = entries.reshape(-1)
    k = 0
    for lower in _matrices(matrix):
        for i in range(width):
            for j in range(i + 1):
                packed[k] = lower[i, j]
                k += 1
    return entries


def _undone(_: Any, node: Any) -> Any:
    """Rewrite a root of a covariance of a root as that root; both have a positive diagonal."""
    (sigma,) = node.inputs
    is_covariance = sigma.owner is not None and isinstance(sigma.owner.op, CovarianceOfRoot)
    return [sigma.owner.inputs[0]] if is_covariance else None


_rewriter: Any = node_rewriter([RootOfCovariance])
register_canonicalize(_rewriter(_undone), name="root_of_covariance_of_root")


# --- what log densities are made of ---------------------------------------------------------------


def precision_root(sigma: Any) -> Any:
    """Return lower triangular A with Sigma^-1 = A'A; if Sigma is computed from A, that A."""
    origin, take = _origin(sigma)
    if origin.owner is not None and isinstance(origin.owner.op, CovarianceOfRoot):
        return take(origin.owner.inputs[0])
    return take(RootOfCovariance(origin.type.shape[-1])(origin))


def image(root: Any, x: Any, mean: Any) -> Any:
    """Return A (x - mean); for x = centre + A^-1 z without solving again."""
    (x, up), (mean, down) = _parts(x), _parts(mean)
    result = applied(root, x - mean)
    result = result if up is None else result + up
    return result if down is None else result - down


def applied(matrix: Any, vector: Any) -> Any:
    """Return M v as a sum of products."""
    return (matrix * vector[..., None, :]).sum(-1)


def product(a: Any, b: Any) -> Any:
    """Return a @ b as a sum of products."""
    return (a[..., :, :, None] * b[..., None, :, :]).sum(-2)


def log_diagonal(root: Any, width: int) -> Any:
    """Return the sum of logs of the diagonal."""
    # Not taken by indices, which Numba compiles for seconds; adding zeros is exact.
    return pt.log((root * np.eye(width)).sum(-1)).sum(-1)


def _parts(x: Any) -> tuple[Any, Any]:
    origin, take = _origin(x)
    if origin.owner is not None and isinstance(origin.owner.op, Located):
        return take(origin.owner.inputs[0]), take(origin.owner.inputs[2])
    return x, None


def _origin(x: Any) -> tuple[Any, Any]:
    """Return x before rows were indexed by class, and the function that indexes alike.

    Leading axes of length one, where one covariance serves all, are skipped.
    """
    x = _seen_through(x)
    node = x.owner
    if node is None:
        return x, _identity
    if isinstance(node.op, _TAKES):
        origin, take = _origin(node.inputs[0])
        return origin, lambda y: node.op(take(y), *node.inputs[1:])
    if isinstance(node.op, DimShuffle):
        inner = node.inputs[0].type.ndim
        front = len(node.op.new_order) - inner
        if node.op.new_order == ("x",) * front + tuple(range(inner)):
            origin, take = _origin(node.inputs[0])
            return origin, lambda y: take(y)[(None,) * front]
    return x, _identity


def _seen_through(x: Any) -> Any:
    """Return the variable inside the wrappers that PyMC adds in a log density."""
    while x.owner is not None and isinstance(x.owner.op, (TransformedValue, ValuedRV)):
        x = x.owner.inputs[isinstance(x.owner.op, ValuedRV)]
    return x


def _identity(x: Any) -> Any:
    return x


def _turned(matrix: Any) -> Any:
    return pt.swapaxes(matrix, -1, -2)


# --- coordinates ----------------------------------------------------------------------------------


class RootOfPrecision(Transform):  # type: ignore[misc] # it is Any
    """From Sigma to the packed entries of B = A L, the diagonal in logs.

    Parameters
    ----------
    scale : ndarray of shape (batch..., D, D)
        L L': near the posterior's scale matrix; any choice is exact.
    """

    name = "root"  # PyMC takes what follows the last underscore for it
    ndim_supp = 2

    def __init__(self, scale: Array) -> None:
        self.width = scale.shape[-1]
        self.root = np.linalg.cholesky(scale)
        self.inverse = solve_lower(self.root, np.eye(self.width))
        self.rows, self.columns = np.tril_indices(self.width)
        self.on_diagonal = self.rows == self.columns

    def forward(self, value: Any, *inputs: Any) -> Any:  # noqa: ARG002 - its signature
        """Return the coordinates of Sigma."""
        entries = product(RootOfCovariance(self.width)(value), self.root)[
            ..., self.rows, self.columns
        ]
        return pt.switch(self.on_diagonal, pt.log(pt.switch(self.on_diagonal, entries, 1)), entries)

    def backward(self, value: Any, *inputs: Any) -> Any:  # noqa: ARG002
        """Return Sigma."""
        entries = pt.switch(self.on_diagonal, pt.exp(pt.switch(self.on_diagonal, value, 0)), value)
        return CovarianceOfRoot()(product(LowerTriangle(self.width)(entries), self.inverse))

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:  # noqa: ARG002
        """Return the log determinant of Sigma's lower triangle by the coordinates."""
        places = np.arange(self.width)
        scales = np.log(self.inverse[..., places, places])
        # d Sigma / d precision: |Sigma|^(D + 1); d precision / dA: 2^D prod a_ii^i; dA / dB; dB.
        power = places + 1 - 2 * (self.width + 1)
        constant = (scales * (power + self.width - places)).sum(-1) + self.width * np.log(2)
        # Of the packed entries those on the diagonal are logs; the others count nothing.
        return (value * np.where(self.on_diagonal, power[self.rows] + 1, 0)).sum(-1) + constant


class Standardised(Transform):  # type: ignore[misc] # as above
    """From mu to z = sqrt(weight) A (mu - centre), for a variable declared by `normal`.

    Parameters
    ----------
    centre : ndarray of shape (batch..., D)
        Near the posterior's location.
    weight : ndarray of shape (batch...)
        Near the posterior's kappa; any choice of both is exact.
    """

    name = "standardised"
    ndim_supp = 1

    def __init__(self, centre: Array, weight: Array) -> None:
        self.width = centre.shape[-1]
        self.centre = centre
        self.size = np.sqrt(weight)

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Return z."""
        root = RootOfCovariance(self.width)(inputs[3])
        return applied(root, value - self.centre) * self.size[..., None]

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Return mu."""
        root: Any = RootOfCovariance(self.width)(inputs[3])
        *batch, _ = self.centre.shape
        if root.type.ndim < len(batch) + 2 or any(root.type.broadcastable[: len(batch)]):
            root = root * np.ones((*batch, 1, 1))  # several means have one covariance
        return Located()(self.centre, root, value / self.size[..., None])

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:  # noqa: ARG002
        """Return the log determinant of mu by z."""
        log_size = log_diagonal(precision_root(inputs[3]), self.width)
        return -log_size - self.width * np.log(self.size)


# --- variables ------------------------------------------------------------------------------------


def inverse_wishart(name: str, df: Array, scale: Array, near: Array, dims: tuple[str, ...]) -> Any:
    """Declare Sigma ~ IW(scale, df), for scale (batch..., D, D) and df (batch...).

    `near`, about the scale matrices of the posterior, only makes sampling fast.
    """
    width = scale.shape[-1]
    constant = log_density_constant(df, np.linalg.cholesky(scale))

    def logp(value: Any, df: Any, scale: Any, constant: Any) -> Any:
        root = precision_root(value)
        log_size = log_diagonal(root, width)
        trace = (product(root, scale) * root).sum((-2, -1))
        return constant + (df + width + 1) * log_size - 0.5 * trace

    def random(
        df: Array, scale: Array, constant: Array, rng: Any = None, size: Any = None
    ) -> Array:
        batch = np.broadcast_shapes(size or (), df.shape, constant.shape)
        df, scale = np.broadcast_to(df, batch), np.broadcast_to(scale, (*batch, width, width))
        return inverse_wishart_draws(df, scale, 1, rng)[0]

    def support_point(rv: Any, size: Any, df: Any, scale: Any, constant: Any) -> Any:  # noqa: ARG001
        return pt.broadcast_to(pt.as_tensor(near / (df[..., None, None] + width + 1)), rv.shape)

    return pm.CustomDist(
        name,
        *(df, scale, constant),
        logp=logp,
        random=random,
        support_point=support_point,
        signature="(),(d,d),()->(d,d)",
        default_transform=RootOfPrecision(near),
        dims=dims,
    )


def normal(
    name: str, mean: Any, sigma: Any, weight: Any, dims: tuple[str, ...], **options: Any
) -> Any:
    """Declare vectors x ~ N(mean, sigma / weight), `observed` or with a `default_transform`.

    For mean (batch..., D), sigma (batch..., D, D), of which one may serve all, and positive weights
    (batch...).
    """
    width = mean.type.shape[-1] if hasattr(mean, "type") else mean.shape[-1]

    def logp(value: Any, mean: Any, sigma: Any, weight: Any) -> Any:
        root = precision_root(sigma)
        square = (image(root, value, mean) ** 2).sum(-1)
        log_size = log_diagonal(root, width) + 0.5 * width * pt.log(weight)
        return log_size - 0.5 * weight * square - width * HALF_LOG_2PI

    def random(
        mean: Array, sigma: Array, weight: Array, rng: Any = None, size: Any = None
    ) -> Array:
        shape = np.broadcast_shapes(mean.shape, sigma.shape[:-1], (*weight.shape, 1))
        z = rng.standard_normal((*(size or shape[:-1]), shape[-1]))
        root = any_root(sigma) / np.sqrt(weight)[..., None, None]
        return mean + (root @ z[..., None])[..., 0]

    def support_point(rv: Any, size: Any, mean: Any, sigma: Any, weight: Any) -> Any:  # noqa: ARG001
        return pt.broadcast_to(mean, rv.shape)

    return pm.CustomDist(
        name,
        *(mean, sigma, weight),
        logp=logp,
        random=random,
        support_point=support_point,
        signature="(d),(d,d),()->(d)",
        dims=dims,
        **options,
    )


def statistic(
    name: str, mu: Any, sigma: Any, n: Array, mean: Array, scatter: Array, weight: Any = 1.0
) -> None:
    """Add the log likelihood of rows ~ N(mu, sigma / weight) with a count, mean and scatter."""
    width = mean.shape[-1]
    root = precision_root(sigma)
    gap = applied(root, mean - mu)
    square = (product(root, scatter) * root).sum((-2, -1)) + n * (gap**2).sum(-1)
    log_size = log_diagonal(root, width) + width * (0.5 * np.log(weight) - HALF_LOG_2PI)
    pm.Potential(name, (n * log_size - 0.5 * weight * square).sum())
