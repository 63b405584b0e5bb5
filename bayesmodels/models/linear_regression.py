"""Linear regression with unknown noise variance: normal coefficients, inverse-gamma variance.

=============  =================================================================================
Prior          w | sigma2 ~ Normal(m, sigma2 P^-1),  sigma2 ~ InverseGamma(a, b)
Rows           y_i | x_i, w, sigma2 ~ Normal(x_i . w, sigma2)
Statistic      n, the column means and a triangular factor of the centred [X y]
Posterior      the same family: one QR factorisation of prior rows stacked on data rows
Log evidence   -n/2 ln 2pi + ½ ln|P| - ½ ln|P_n| + a ln b - a_n ln b_n + lnΓ(a_n) - lnΓ(a)
Predictive     y ~ Student-t(2a, x . m, (b / a) (1 + x' P^-1 x))
=============  =================================================================================

A belief is kept as one upper triangular matrix, the factor of the augmented least-squares problem,

    F = [ R  z ]     P = R'R,   R m = z,   b = r² / 2,
        [ 0  r ]

in which prior and data are rows alike: the posterior's F is the triangular factor of both stacked.
Neither a precision matrix nor an inverse is formed, and b cannot become negative.

The factor of data comes from a QR factorisation, or, many rows at a time and where these are so
well conditioned that two digits at most are lost, from their centred cross products by Cholesky:
see `bayesmodels.numerics.crossproducts`, which decides on the data.

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), section 7.6.3.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.linalg import solve_triangular
from scipy.special import gammaln

from bayesmodels.belief import conjugate, datatree, reading, simulation, values
from bayesmodels.belief.declaring import Names, declare, prior_and_statistic
from bayesmodels.belief.protocol import Draws, Law, Likelihood, Observed, Rows
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, PriorError, warn
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.domains import not_squarable
from bayesmodels.input.labels import Coords
from bayesmodels.input.wrappers import Weighted
from bayesmodels.models import case_deletion, given_statistic
from bayesmodels.models.covariances import fitting
from bayesmodels.numerics import Array
from bayesmodels.numerics.crossproducts import Part, centred_factor, factored, merged
from bayesmodels.numerics.laws import MultivariateStudent, inverse_gamma, student_t
from bayesmodels.numerics.special import HALF_LOG_2PI, log_gamma_kernel, log_gamma_ratio
from bayesmodels.numerics.triangular import (
    EPS,
    HALF,
    dependent,
    half_log_det,
    least_solution,
    positive_diagonal,
    solution,
    triangle,
)

_BLOCK = 2**18  # numbers in a block of rows of a batch: small enough for the cache


@value
class RegressionStatistic:
    """Row count, means and a triangular factor of the centred [X y]; ``a + b`` merges rows.

    Centring before factoring keeps the digits of columns with a large offset. The factor has
    ``factor.T @ factor`` equal to the centred cross products, which are never formed.

    Parameters
    ----------
    n : int or float
        Number of rows, or their total weight.
    mean : array_like of shape (batch..., p + 1)
        Means of the p columns of X and of y.
    factor : array_like of shape (batch..., p + 1, p + 1)
        Upper triangular, diagonal not negative.
    features : sequence of length p, optional
        Names of the columns of X.
    coords : dict, optional
        Names of the batch axes with their labels.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> model = bm.LinearRegression.flat(2)
    >>> part = model.statistic(([[1, 0], [1, 1]], [1, 2])), model.statistic(([[1, 5]], [7]))
    >>> (part[0] + part[1]).n
    3
    """

    n: float
    mean: Array
    factor: Array
    features: tuple[Hashable, ...] | None
    coords: Coords

    def __init__(
        self,
        n: float,
        mean: ArrayLike,
        factor: ArrayLike,
        features: Sequence[Hashable] | None = None,
        coords: Any = None,
    ) -> None:
        mean, factor = np.array(mean, dtype=float), np.array(factor, dtype=float)
        if not mean.shape or not mean.shape[-1]:
            raise DataError(f"mean: must have a place for y; got shape {mean.shape}.")
        checked.upper_triangular(factor, (*mean.shape, mean.shape[-1]))
        names = None if features is None else labels.unique(tuple(features), "features")
        if names is not None:
            checked.check_width(len(names), mean.shape[-1] - 1)
        values.fill(
            self,
            n=_number(n),
            mean=mean,
            factor=factor,
            features=names,
            coords=labels.named(coords, mean.shape[:-1], "coords"),
        )

    def __add__(self, other: Self) -> Self:
        coords = self._merged_coords(other)
        parts = ((s.n, s.mean, s.factor) for s in (self, other))
        n, mean, factor = merged(*parts)
        return conjugate.replace(self, coords, _as_count(n), mean, factor, self.features)

    def __sub__(self, other: Self) -> Self:
        """Return the statistic without rows that are in it.

        Digits of the factor are lost where it is small beside what is taken out.
        """
        coords = self._merged_coords(other)
        n = float(checked.left_over(self.n - other.n, self.n, "n"))
        share = other.n / n if n else 0.0
        shift = other.mean - self.mean
        weight = np.sqrt(self.n * share)
        gone = triangle(other.factor, (weight * shift)[..., None, :])
        far = weight * (np.abs(self.mean) + np.abs(other.mean)).max(-1, keepdims=True)
        factor = _taken_out(self.factor, gone, far, empty=n == 0)
        mean = self.mean - share * shift
        return conjugate.replace(self, coords, _as_count(n), mean, factor, self.features)

    def _merged_coords(self, other: Self) -> Coords:
        coords = conjugate.merged_coords(self, other)
        checked.check_width(other.mean.shape[-1] - 1, self.mean.shape[-1] - 1)
        return coords

    discounted = conjugate.discounted
    without_rows = conjugate.without_rows

    def _times(self, rho: float) -> Self:
        n, factor = _as_count(rho * self.n), np.sqrt(rho) * self.factor
        return conjugate.replace(self, self.coords, n, self.mean, factor, self.features)

    batch_axes = conjugate.batch_axes_of("mean", inner=1)
    event = conjugate.features

    def seen(self) -> dict[str, float]:
        """Return what every model of the same rows must agree on; see `compare_evidence`."""
        y = self.n * self.mean[..., -1] ** 2 + (self.factor[..., -1] ** 2).sum(-1)
        return {"number of observations": float(self.n * y.size), "sum of squares": float(y.sum())}

    def triangle(self) -> Array:
        """Return the triangular factor of the raw [X y], of shape (batch..., p + 1, p + 1)."""
        return triangle(np.sqrt(self.n) * self.mean[..., None, :], self.factor)

    def mle(self) -> dict[str, Array]:
        """Return least-squares coefficients ``w`` and ``sigma2`` = RSS / n.

        Raises
        ------
        DataError
            If columns are collinear (or rows fewer than columns); the message names them.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> data = bm.Design([[0], [1], [2], [3]], [1, 3, 5, 8], intercept=True)
        >>> bm.LinearRegression.flat(2).statistic(data).mle()["w"].round(3)
        array([0.8, 2.3])
        """
        factor = self.triangle()
        flat = dependent(factor)
        if flat.any():
            names = self.features or tuple(range(flat.shape[-1]))
            named = [names[j] for j in np.flatnonzero(_batchless(flat))]
            raise DataError(
                f"features: least squares needs linearly independent columns; {named} depend on "
                "the columns before them. Drop them, add rows, or use a proper prior."
            )
        return {"w": solution(factor), "sigma2": factor[..., -1, -1] ** 2 / self.n}


def _number(n: Any) -> float:
    """Check a number of rows."""
    total = checked.totals(n, "n", counted=True)
    if total.ndim:
        raise DataError(f"n: must be one number; got shape {total.shape}.")
    return _as_count(float(total))


def _as_count(n: float) -> float:
    """Return a number of rows as int if it is one; weights may add up to a fraction."""
    return int(n) if n == int(n) else n


def _taken_out(total: Array, part: Array, far: Array, *, empty: bool) -> Array:
    """Return the triangular R with R'R = W'W - P'P, which must be possible up to rounding.

    In the coordinates in which W is orthogonal, what is left of each direction is 1 less the
    square of a singular value of P. Numbers as large as `far` were rounded to make P.
    """
    _, size, turn = np.linalg.svd(total)
    there = size > total.shape[-1] * EPS * size.max(-1, keepdims=True)
    scale = np.where(there, size, 1.0)[..., None, :]
    inside = (part @ np.swapaxes(turn, -1, -2)) / scale
    # Outside of W's directions there is nothing to take out of.
    outside = np.where(there, 0.0, np.linalg.norm(inside, axis=-2))
    largest = size.max(-1, keepdims=True) + far
    checked.left_over(-outside, largest, "factor")
    inside = np.where(there[..., None, :], inside, 0.0)
    missing = np.where(there, 0.0, 1.0)[..., None] * np.eye(total.shape[-1])  # as if taken
    _, taken, right = np.linalg.svd(np.concatenate([inside, missing], -2), full_matrices=False)
    left = 1 - taken**2
    # A rounding of P counts more in W's shorter directions.
    spread = largest / np.where(there, size, np.inf).min(-1, keepdims=True)
    kept = checked.left_over(-np.abs(left) if empty else left, (1 + taken**2) * spread, "factor")
    root = np.sqrt(kept)[..., :, None] * right
    return triangle((root * np.where(there, size, 0.0)[..., None, :]) @ turn)


@value
class LinearRegression:
    r"""Belief about the coefficients and the noise variance of a linear regression.

    .. math:: w \mid \sigma^2 \sim N(m, \sigma^2 P^{-1}), \qquad
        \sigma^2 \sim \mathrm{InverseGamma}(a, b), \quad p(\sigma^2) \propto
        (\sigma^2)^{-a-1} e^{-b/\sigma^2}

    Parameters
    ----------
    mean : array_like of shape (batch..., p) or ()
        m, a coefficient for each column; a single number stands for all of them.
    precision : array_like of shape (batch..., p, p), (p, p) or ()
        P, in units of 1 / sigma2; a single number means that multiple of the identity. Zero rows
        and columns are allowed and make these coefficients flat a priori: the limit of ever wider
        normal laws.
    shape : array_like of shape (batch...)
        a. Negative values are allowed for improper priors; see `flat`.
    scale : array_like of shape (batch...)
        b, in squared units of y; zero or positive.
    features : sequence of length p, optional
        Names of the columns; columns of data with other names are refused.
    coords : dict, optional
        Names of the batch axes with their labels.

    Raises
    ------
    PriorError
        If the precision is not symmetric and positive definite apart from zero rows and columns,
        or the scale is negative.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 7.6.3.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.LinearRegression(mean=[0, 0], precision=1, shape=2, scale=1)
    >>> posterior = prior.update(bm.Design([[0], [1], [2], [3]], [1, 3, 5, 8], intercept=True))
    >>> posterior.mean()["w"].round(3)
    array([0.846, 2.128])
    >>> float(posterior.predictive([[1, 4]]).mean().round(3)[0])
    9.359
    """

    factor: Array
    shape: Array
    features: tuple[Hashable, ...] | None
    coords: Coords

    title: ClassVar = "Linear regression"
    equations: ClassVar = (
        ("Prior", r"w \mid \sigma^2 \sim \mathrm{Normal}(m, \sigma^2 P^{-1})"),
        ("", r"\sigma^2 \sim \mathrm{InverseGamma}(a, b)"),
        ("Likelihood", r"y_i \mid w, \sigma^2 \sim \mathrm{Normal}(x_i^\top w, \sigma^2)"),
        ("Posterior", r"P_n = P + X^\top X, \quad P_n m_n = P m + X^\top y"),
        ("", r"a_n = a + \frac{n}{2}"),
        (
            "",
            r"b_n = b + \frac{1}{2} \left( \|y - X m_n\|^2 + (m_n - m)^\top P (m_n - m) \right)",
        ),
        ("Evidence", r"\ln p(y) = -\frac{n}{2} \ln 2\pi + \frac{1}{2} \ln \frac{|P|}{|P_n|}"),
        ("", r"\quad + a \ln b - a_n \ln b_n + \ln \frac{\Gamma(a_n)}{\Gamma(a)}"),
    )

    def __init__(
        self,
        mean: ArrayLike,
        precision: ArrayLike,
        shape: ArrayLike,
        scale: ArrayLike,
        features: Sequence[Hashable] | None = None,
        coords: Any = None,
    ) -> None:
        features = checked.names_of(features, "features", mean=mean, precision=precision)
        mean = checked.parameter(mean, "mean")
        precision = checked.parameter(precision, "precision", most=checked.LARGEST_SQUARE)
        shape = checked.parameter(shape, "shape")
        scale = checked.parameter(scale, "scale", nonnegative=True, most=checked.LARGEST_SQUARE)
        size = checked.number_of_columns(features, mean, precision)
        if precision.ndim == 0:
            precision = precision * np.eye(size)
        batch = _batch_shape(mean, precision, shape, scale, size)
        root = np.broadcast_to(_root_of(precision), (*batch, size, size))
        factor = np.zeros((*batch, size + 1, size + 1))
        factor[..., :-1, :-1] = root
        factor[..., :-1, -1] = (root * np.broadcast_to(mean, (*batch, size))[..., None, :]).sum(-1)
        factor[..., -1, -1] = np.sqrt(2 * scale)
        names = None if features is None else labels.unique(tuple(features), "features")
        named = labels.named(labels.without(coords, "feature"), batch, "coords")
        axes = labels.completed(named, batch)
        axes = {**axes, "feature": names or tuple(range(size))}
        shape = np.broadcast_to(shape, batch)
        values.fill(self, factor=factor, shape=shape, features=names, coords=axes)

    @classmethod
    def _from_file(
        cls, factor: Array, shape: Array, features: tuple[Hashable, ...] | None, coords: Coords
    ) -> Self:
        """Return a belief with this factor, which tells more than the precision."""
        if factor.ndim < 2:  # noqa: PLR2004 - a matrix
            raise DataError(f"factor: must be a matrix; got shape {factor.shape}.")
        checked.upper_triangular(factor, (*shape.shape, factor.shape[-1], factor.shape[-1]))
        belief = cls(np.zeros(factor.shape[-1] - 1), 0, shape, 0, features, coords)
        values.fill(belief, factor=factor)
        return belief

    @classmethod
    def flat(cls, features: int | Sequence[Hashable]) -> Self:
        r"""Return the reference prior :math:`p(w, \sigma^2) \propto 1 / \sigma^2`.

        Its posterior has the least-squares estimate as mean, t laws with n - p degrees of freedom,
        and ``scale / shape`` = RSS / (n - p): the classical answers. As a limit of normal priors,
        every flat coefficient brings a factor 1 / sigma; shape = -p/2 takes these away again.

        Parameters
        ----------
        features : int or sequence
            Number of columns of the design matrix, or their names.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> data = bm.Design([[0], [1], [2], [3]], [1, 3, 5, 8], intercept=True)
        >>> bm.LinearRegression.flat(2).update(data).mean()["w"].round(3)
        array([0.8, 2.3])
        """
        names = None if isinstance(features, (int, np.integer)) else tuple(features)
        size = int(features) if isinstance(features, (int, np.integer)) else len(features)
        return cls(np.zeros(size), 0, -size / 2, 0, features=names)

    @classmethod
    def g_prior(cls, features: Any, g: float, shape: float, scale: float) -> Self:
        """Return Zellner's prior: mean zero and precision X'X / g.

        Parameters
        ----------
        features : array_like or frame of shape (n, p)
            The design matrix X.
        g : float
            Number of rows that the prior is spread over; g = n is the unit-information prior.
        shape, scale : float
            Parameters of the noise variance.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.LinearRegression.g_prior([[1.0], [2.0]], g=2, shape=1, scale=1)
        >>> prior.precision
        array([[2.5]])
        """
        X, names = checked.design(features)
        checked.one_table(X)
        weight = checked.parameter(g, "g", positive=True)
        blank = cls(np.zeros(X.shape[-1]), 0, shape, scale, features=names)
        rows = np.concatenate([X / np.sqrt(weight), np.zeros((len(X), 1))], axis=-1)
        factor = triangle(blank.factor, rows)
        return checked.build(cls, factor, blank.shape, blank.features, blank.coords)

    @property
    def precision_factor(self) -> Array:
        """Upper triangular R with R'R = P, of shape (batch..., p, p)."""
        return self.factor[..., :-1, :-1]

    @property
    def precision(self) -> Array:
        """P, the precision of w in units of 1 / sigma2, of shape (batch..., p, p)."""
        root = self.precision_factor
        return np.swapaxes(root, -1, -2) @ root

    @property
    def scale(self) -> Array:
        """Scale b of the inverse-gamma law of sigma2, of shape (batch...)."""
        return (0.5 * self.factor[..., -1, -1] ** 2)[()]

    batch_axes = conjugate.batch_axes_of("shape", "feature")
    event = conjugate.features

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of ``w`` and ``sigma2``; the last one of ``w`` is ``feature``."""
        axes = tuple(self.coords)
        return {"w": axes, "sigma2": axes[:-1]}

    def parameters(self) -> dict[str, Array]:
        """Return the parameters by the symbols of `equations`, as a report shows them.

        Of the precision only the diagonal; mean and precision are NaN where a coefficient is flat.
        """
        squares = (self.precision_factor**2).sum(-2)
        known = np.where(squares > 0, squares, np.nan)
        return {
            "mean m": np.where(squares > 0, least_solution(self.factor), np.nan),
            "precision P, diagonal": known,
            "shape a": self.shape,
            "scale b": np.asarray(self.scale),
        }

    def statistic(self, data: Any) -> RegressionStatistic:
        """Return row count, means and a triangular factor of the centred [X y].

        Parameters
        ----------
        data : Design or pair (X, y), either of them maybe Weighted, or RegressionStatistic
            X of shape (n, p) or (n, batch..., p), y of shape (n,) or (n, batch...).

        Raises
        ------
        DataError
            If a value is missing or infinite, or lengths or column names do not fit.
        """
        size = self.factor.shape[-1] - 1
        if isinstance(data, RegressionStatistic):
            checked.check_width(data.mean.shape[-1] - 1, size)
            return data
        rows = None if isinstance(data, Weighted) else checked.design_rows(data)
        if rows is None:
            return _of_batch(self, self._checked(data))
        checked.check_width(rows.width, size)
        features = checked.same_features(self.features, rows.features)

        def look(block: Array) -> None:
            if not_squarable(block):
                self._checked(data)  # complains, with the place in the user's own rows

        result = centred_factor(rows.X, rows.y, look, ones=rows.intercept)
        return checked.build(RegressionStatistic, *result, features, {})

    def update(self, data: Any) -> Self:
        """Return the posterior: the factor of prior rows and data rows, and shape + n / 2.

        Warns
        -----
        NumericsWarning
            If columns are so nearly combinations of others that more than 8 digits are lost.
        """
        s = self.statistic(data)
        axes = conjugate.posterior_coords(self, s)
        features = self.features or s.features
        # Rows in order of size, the heavy row of means first: that is where QR is most accurate.
        heavy = np.sqrt(s.n) * s.mean[..., None, :]
        factor = triangle(heavy, s.factor, self.factor)
        shape = np.broadcast_to(self.shape + s.n / 2, factor.shape[:-2])
        axes = axes | {"feature": features or self.coords["feature"]}
        after = checked.build(type(self), factor, shape, features, axes)
        _warn_of_lost_digits(after, s)
        return after

    def log_evidence(self, data: Any) -> Array:
        """Return the log density of y given X with w and sigma2 integrated out.

        Returns
        -------
        ndarray of shape (batch...)
            Natural logarithms; the density of y, so it depends on y's unit.

        Raises
        ------
        PriorError
            Under an improper prior, whose evidence has an arbitrary factor.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.LinearRegression(0, 1, 2, 1)
        >>> float(prior.log_evidence(([[1.0], [2.0]], [1.0, 2.5])).round(6))
        -3.497133
        """
        s = self.statistic(data)
        _require_proper(self, "log_evidence")
        after = self.update(s)
        b, b_n = self.scale, after.scale
        return (
            -s.n * HALF_LOG_2PI
            + half_log_det(self.precision_factor)
            - half_log_det(after.precision_factor)
            - self.shape * (np.log(b_n) - np.log(b))
            - 0.5 * s.n * np.log(b_n)
            + log_gamma_ratio(self.shape, 0.5 * s.n)
        )[()]

    def predictive(self, features: Any, *, intercept: bool = False, joint: bool = False) -> Any:
        """Return the law of y at new rows: Student-t with 2a degrees of freedom.

        Parameters
        ----------
        features : array_like or frame of shape (m, p)
            New rows of the design matrix.
        intercept : bool, default False
            Put a column of ones before the others, as `Design` does.
        joint : bool, default False
            False: one univariate law a row, of shape (m, batch...), at a cost linear in m. True:
            the m-dimensional law of all rows together, which needs a matrix of shape (m, m).

        Returns
        -------
        frozen SciPy distribution
            ``scipy.stats.t`` or ``scipy.stats.multivariate_t``.

        Raises
        ------
        PriorError
            If the belief is improper.
        DataError
            If columns do not fit, or `joint` is asked for a batch.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> belief = bm.LinearRegression(mean=[1, 2], precision=4, shape=3, scale=3)
        >>> belief.predictive([[1, 0], [1, 10]]).std().round(3)
        array([1.369, 6.275])
        """
        _require_proper(self, "predictive")
        X, names = checked.design(features, intercept=intercept)
        self._check_columns(X, names)
        root, batch = self.precision_factor, self.shape.shape
        rows = np.moveaxis(_wide(X, len(batch)), 0, -1)  # (*batch or ones, p, m)
        rows = np.broadcast_to(rows, (*batch, *rows.shape[-2:]))
        reach = solve_triangular(np.swapaxes(root, -1, -2), rows, lower=True)
        noise = self.scale / self.shape
        loc = np.moveaxis((solution(self.factor)[..., None] * rows).sum(-2), -1, 0)
        if joint:
            if batch:
                raise DataError(
                    "joint: needs a single belief, not a batch; predict for each one in turn."
                )
            root = np.linalg.cholesky(np.eye(len(X)) + reach.T @ reach)
            return MultivariateStudent(loc, np.sqrt(noise) * root, 2 * float(self.shape))
        spread = np.moveaxis(1 + (reach**2).sum(-2), -1, 0)
        return student_t(2 * self.shape, loc=loc, scale=np.sqrt(noise * spread))

    def plug_in(self, parameters: Draws, features: Any, *, intercept: bool = False) -> Any:
        """Return the law of y at new rows as if `parameters` were known: Normal(X w, sigma2).

        With ``statistic.mle()`` or ``belief.mode()`` these are the MLE and MAP plug-ins.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> model = bm.LinearRegression.flat(1)
        >>> model.plug_in({"w": [2.0], "sigma2": 4.0}, [[3.0]]).std()
        array([2.])
        """
        X, names = checked.design(features, intercept=intercept)
        self._check_columns(X, names)
        sigma2 = checked.parameter(
            parameters["sigma2"], "sigma2", positive=True, most=checked.LARGEST_SQUARE
        )
        w = checked.parameter(parameters["w"], "w")
        return stats.norm(loc=(_wide(X, w.ndim - 1) * w).sum(-1), scale=np.sqrt(sigma2))

    def marginals(self) -> dict[str, Law]:
        """Return the Student-t law of each coefficient and the inverse-gamma law of sigma2.

        Raises
        ------
        PriorError
            If the belief is improper; the message names what is still flat.
        """
        _require_proper(self, "marginals")
        root, batch = self.precision_factor, self.shape.shape
        identity = np.broadcast_to(np.eye(root.shape[-1]), (*batch, *root.shape[-2:]))
        spread = np.sqrt((solve_triangular(root, identity) ** 2).sum(-1))
        noise = np.sqrt(self.scale / self.shape)[..., None]
        return {
            "w": student_t(
                2 * self.shape[..., None], loc=solution(self.factor), scale=noise * spread
            ),
            "sigma2": inverse_gamma(self.shape, scale=self.scale),
        }

    def combination(self, coefficients: ArrayLike) -> Law | None:
        r"""Return the law of a linear combination of the coefficients.

        .. math:: c^\top w \sim t_{2a}\Bigl(c^\top m, \; \tfrac{b}{a} \, c^\top P^{-1} c\Bigr)

        Parameters
        ----------
        coefficients : array_like of shape (p,)
            c, such as ``[0, 1, -1]`` for the difference of two coefficients.

        Returns
        -------
        frozen SciPy distribution or None
            None of a batch, whose members have noise variances of their own.

        Raises
        ------
        PriorError
            If the belief is improper.

        References
        ----------
        Kotz and Nadarajah (2004), *Multivariate t Distributions and Their Applications*, section
        1.10.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> float(bm.LinearRegression([1, 3], 2, 5, 5).combination([-1, 1]).mean())
        2.0
        """
        _require_proper(self, "combination")
        if self.shape.ndim:
            return None
        c = np.asarray(coefficients, dtype=float)
        reach = solve_triangular(self.precision_factor.T, c, lower=True)
        spread = np.sqrt(self.scale / self.shape) * np.linalg.norm(reach)
        return student_t(2 * float(self.shape), loc=float(solution(self.factor) @ c), scale=spread)

    mean = reading.mean
    var = reading.var
    interval = reading.interval
    summary = reading.summary
    to_datatree = datatree.to_datatree
    plot = datatree.plot

    def mode(self) -> dict[str, Array]:
        """Return the joint mode (MAP): w = m and sigma2 = b / (a + 1 + p / 2).

        The marginal mode of sigma2 alone is b / (a + 1): integrating w out moves it.
        """
        _require_proper(self, "mode")
        size = self.factor.shape[-1] - 1
        return {
            "sigma2": (self.scale / (self.shape + 1 + size / 2))[()],
            "w": solution(self.factor),
        }

    def equivalent_sample_size(self) -> Array:
        """Return 2a: the number of rows that the belief about sigma2 weighs as much as."""
        return (2 * self.shape)[()]

    def shrinkage(self, data: Any) -> Array:
        """Return the weight of the prior mean in the posterior mean, a matrix.

        ``posterior mean = weight @ prior mean + (I - weight) @ MLE`` with
        ``weight = (P + X'X)^-1 P``, of shape (batch..., p, p).

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.LinearRegression(0, 2, 1, 1)
        >>> prior.shrinkage(([[1.0], [1.0]], [3.0, 4.0])).round(12)
        array([[0.5]])
        """
        after = self.update(data)
        if dependent(after.factor).any():
            raise PriorError(
                f"shrinkage: needs a belief with no flat coefficient, but {_improper(after)}."
            )
        upper, lower = after.precision_factor, np.swapaxes(after.precision_factor, -1, -2)
        precision = np.broadcast_to(self.precision, upper.shape)
        return solve_triangular(upper, solve_triangular(lower, precision, lower=True))

    def log_density(self, draws: Draws) -> Array:
        """Return the joint log density of w and sigma2, of the shape of ``draws["sigma2"]``."""
        _require_proper(self, "log_density")
        w, (sigma2, outside) = checked.drawn(draws, "w"), checked.positive(draws, "sigma2")
        a, size = self.shape, self.factor.shape[-1] - 1
        distance = (self._residual(w)[..., :-1] ** 2).sum(-1)  # |R (w - m)|²
        inside = (
            log_gamma_kernel(self.scale / sigma2, a)
            - 0.5 * distance / sigma2
            - (1 + size / 2) * np.log(sigma2)
            - size * HALF_LOG_2PI
            + half_log_det(self.precision_factor)
        )
        return np.where(outside, -np.inf, inside)[()]

    def log_density_rounding(self, draws: Draws) -> Array:
        """Return a bound on the rounding error of `log_density`.

        A QR factorisation moves each column by a small multiple of epsilon of its length (Higham,
        *Accuracy and Stability of Numerical Algorithms*, theorem 19.4), which moves the residual,
        the scale and the determinant as worked out here to first order.
        """
        _require_proper(self, "log_density_rounding")
        w, sigma2 = checked.drawn(draws, "w"), checked.drawn(draws, "sigma2")
        a, size = self.shape, self.factor.shape[-1] - 1
        length = np.sqrt((self.factor**2).sum(-2))

        def reach(at: Array) -> Array:
            return (length[..., :-1] * np.abs(at)).sum(-1) + length[..., -1]

        residual = np.sqrt((self._residual(w) ** 2).sum(-1))
        diagonal = np.diagonal(self.precision_factor, axis1=-2, axis2=-1)
        size_of_terms = (
            residual * (reach(w) + residual) / sigma2
            + np.abs((a + 1 + size / 2) * np.log(sigma2))
            + np.abs(a * np.log(self.scale))
            + np.abs(gammaln(a))
            + 2 * a * reach(solution(self.factor)) / self.factor[..., -1, -1]
            + (np.abs(np.log(diagonal)) + length[..., :-1] / diagonal).sum(-1)
        )
        return 32 * (size + 1) * EPS * (1 + size_of_terms)

    def sample(self, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
        """Return independent draws: sigma2 (draws, batch...) and w (draws, batch..., p)."""
        draws, rng = checked.asked(draws, rng)
        _require_proper(self, "sample")
        root, batch, size = self.precision_factor, self.shape.shape, self.factor.shape[-1] - 1
        sigma2 = self.scale / rng.standard_gamma(self.shape, (draws, *batch))
        noise = rng.standard_normal((*batch, size, draws))
        spread = np.moveaxis(solve_triangular(root, noise), -1, 0)
        w = solution(self.factor) + np.sqrt(sigma2)[..., None] * spread
        return {"sigma2": sigma2, "w": w}

    def log_likelihood(self, draws: Draws, data: Any) -> dict[str, Array]:
        """Return the log density of each row given w and sigma2, of shape (..., n, batch...)."""
        d = self._checked(data)
        mu, sigma = self._law_of_rows(draws, d)
        return {"y": -0.5 * ((d.y - mu) / sigma) ** 2 - np.log(sigma) - HALF_LOG_2PI}

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new targets at the same design, of shape (..., n, batch...)."""
        rng = checked.randomness(rng)
        mu, sigma = self._law_of_rows(draws, self._checked(data))
        return {"y": mu + sigma * rng.standard_normal(mu.shape)}

    def observed(self, data: Any) -> Observed:
        """Return the targets under the name ``"y"``, with the labels of their axes."""
        d = self._checked(data)
        axes = labels.completed(d.coords, d.y.shape[1:])
        return {"y": (d.y, {"row": tuple(d.rows), **axes})}

    simulated = simulation.of_targets

    leave_rows_out = case_deletion.of_regression
    given_statistic = given_statistic.of_regression

    def digits_lost(self, statistic: RegressionStatistic) -> float:
        """Return about how many digits the coefficients lose to rounding in the data's rows."""
        return digits_of_coefficients_lost(self, statistic)

    declare = declare

    def add_to_model(self, data: Any, likelihood: Likelihood, names: Names) -> None:
        """Write prior and likelihood into the current PyMC model; see `declare`.

        An improper prior is declared by its density (flat variables and a potential).
        """
        import pymc as pm
        from pymc import math

        prior, s = prior_and_statistic(self, data, likelihood)
        sigma2, w = _declare_prior(prior, names)
        sigma = math.sqrt(sigma2)
        if likelihood == "statistic":
            square = _square_length(s.triangle(), w)
            terms = -0.5 * square / sigma2 - s.n * (math.log(sigma) + HALF_LOG_2PI)
            pm.Potential(names("likelihood"), terms.sum())
            return
        ((y, rows),) = self.observed(data).values()
        # A sum of products, not a matrix product: Numba needs half a minute to compile `@`.
        mu = (_wide(self._checked(data).X, y.ndim - 1) * w).sum(-1)
        pm.Normal(names("y"), mu=mu, sigma=sigma, observed=y, dims=names.labelled(rows))

    def design(self, data: Any) -> tuple[Array, Array]:
        """Return the columns of rows, of shape (n, p), that of ones included, and the target.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> rows = bm.Design([[2.0], [3.0]], [1.0, 5.0], intercept=True)
        >>> X, y = bm.LinearRegression.flat(2).design(rows)
        >>> X.tolist(), y.tolist()
        ([[1.0, 2.0], [1.0, 3.0]], [1.0, 5.0])
        """
        d = self._checked(data)
        return d.X, d.y

    def _checked(self, data: Any) -> checked.Regression:
        d = checked.regression(data)
        self._check_columns(d.X, d.features)
        return d

    def _check_columns(self, X: Array, names: tuple[Hashable, ...] | None) -> None:
        checked.check_width(X.shape[-1], self.factor.shape[-1] - 1)
        checked.same_features(self.features, names)

    def _law_of_rows(self, draws: Draws, d: checked.Regression) -> tuple[Array, Array]:
        """Return mean and standard deviation of the rows, of shape (..., n, batch...)."""
        w, batch = checked.drawn(draws, "w"), d.y.ndim - 1
        sigma = np.sqrt(checked.drawn(draws, "sigma2"))
        if batch == 0:
            return w @ d.X.T, sigma[..., None]
        mu = (np.expand_dims(w, w.ndim - 1 - batch) * _wide(d.X, batch)).sum(-1)
        return mu, np.expand_dims(sigma, sigma.ndim - batch)

    def _residual(self, w: Array) -> Array:
        """Return F [w; -1], whose square length is 2b + |R (w - m)|², of shape (..., p + 1)."""
        return (self.factor[..., :-1] * w[..., None, :]).sum(-1) - self.factor[..., -1]

    def __repr__(self) -> str:
        size = self.factor.shape[-1] - 1
        names = "" if self.features is None else f", features={self.features}"
        return (
            f"LinearRegression({size} coefficients, shape={self.shape}, "
            f"scale={np.array2string(np.asarray(self.scale), precision=6)}{names})"
        )


def _declare_prior(prior: LinearRegression, names: Names) -> tuple[Any, Any]:
    """Declare sigma2 and w within the current PyMC model."""
    import pymc as pm
    from pymc import math

    from bayesmodels.models.inverse_wishart_pymc import CovarianceOfRoot, normal

    names.labelled(prior.coords)
    dims = {variable: names.axes(axes) for variable, axes in prior.dims.items()}
    root, size = prior.precision_factor, prior.factor.shape[-1] - 1
    if _improper(prior):
        sigma2 = pm.HalfFlat(names("sigma2"), dims=dims["sigma2"])
        w = pm.Flat(names("w"), dims=dims["w"])
        density = -0.5 * _square_length(prior.factor, w) / sigma2
        density -= (prior.shape + 1 + size / 2) * math.log(sigma2)
        pm.Potential(names("prior"), density.sum())
        return sigma2, w
    sigma2 = pm.InverseGamma(names("sigma2"), prior.shape, prior.scale, dims=dims["sigma2"])
    sigma = math.sqrt(sigma2)[..., None]
    location, diagonal = solution(prior.factor), np.diagonal(root, axis1=-2, axis2=-1)
    if np.array_equal(root, diagonal[..., None] * np.eye(size)):
        return sigma2, pm.Normal(names("w"), location, sigma=sigma / diagonal, dims=dims["w"])
    # From lower triangular A with A'A = R'R; PyMC's MvNormal factors covariances, slow to compile.
    lower = positive_diagonal(np.linalg.qr(root[..., ::-1], mode="r"))[..., ::-1, ::-1]
    covariance = CovarianceOfRoot()(lower)
    return sigma2, normal(names("w"), location, covariance, 1 / sigma2, dims["w"])


def _batchless(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the columns that are flagged in any problem of a batch."""
    return flags.reshape(-1, flags.shape[-1]).any(0)


def _improper(belief: LinearRegression) -> str:
    """Say in words what keeps the belief from being a probability law; empty if nothing."""
    flat = dependent(belief.factor)
    if flat.any():
        names = belief.coords["feature"]
        at = np.flatnonzero(_batchless(flat))
        return (
            f"w is flat in the direction of {[names[j] for j in at]}: no row tells their weights "
            "from those of the columns before them. Leave columns out that depend on others, give "
            "the prior a precision, or update with more rows"
        )
    if (belief.shape <= 0).any():
        shape = f"{belief.shape.min():g}"
        return f"sigma2 has shape {shape}, which must be positive. Update with more rows first"
    if (belief.factor[..., -1, -1] <= 0).any():
        return (
            "sigma2 has scale 0, which must be positive. Give the prior a scale, or update with "
            "rows that do not lie on one line"
        )
    return ""


def _require_proper(belief: LinearRegression, verb: str) -> None:
    why = _improper(belief)
    if why:
        raise PriorError(f"{verb}: needs a proper belief, but {why}.")


def digits_of_coefficients_lost(after: LinearRegression, s: RegressionStatistic) -> float:
    """Return about how many digits a posterior's coefficients lose to rounding in the rows of `s`.

    The bound of first order for rows that each have errors of their own size (Björck 1996,
    *Numerical Methods for Least Squares Problems*, section 1.4.6, with Skeel's absolute values):
    ``|A⁺| |A| |w| + |(A'A)⁻¹| |A|' |r|``, beside the larger of a coefficient and its standard
    deviation. Thus an offset that columns share costs nothing, as it does in the factorisation.
    Infinity if a column depends on others.
    """
    if dependent(after.factor).any():
        return np.inf
    root, w = after.factor[..., :-1, :-1], solution(after.factor)
    rows = np.concatenate([np.sqrt(s.n) * s.mean[..., None, :], s.factor], axis=-2)
    gap = np.abs(rows[..., -1] - (rows[..., :-1] @ w[..., None])[..., 0])
    length = np.sqrt((root**2).sum(-2))
    A, w = rows[..., :-1] / length[..., None, :], np.abs(w * length)
    size = np.abs(A)
    identity = np.broadcast_to(np.eye(w.shape[-1]), root.shape)
    half = solve_triangular(root / length[..., None, :], identity)
    square = half @ np.swapaxes(half, -1, -2)
    off = np.abs(square @ np.swapaxes(A, -1, -2)) @ (size @ w[..., None])
    centred = np.sqrt((A[..., 1:, :] ** 2).sum(-2) * (gap[..., 1:] ** 2).sum(-1, keepdims=True))
    off += np.abs(square) @ (size[..., 0, :] * gap[..., :1] + centred)[..., None]
    variance = np.where(after.shape > 0, after.scale, 0) / np.where(after.shape > 0, after.shape, 1)
    spread = np.sqrt(np.diagonal(square, axis1=-2, axis2=-1) * variance[..., None])
    # Where a fit is exact, a coefficient of zero has no digits to lose: the largest one counts.
    largest = w.max(-1, keepdims=True, initial=0)
    known = np.where(spread > 10.0**-HALF * largest, np.maximum(w, spread), largest)
    return float(np.log10((off[..., 0] / np.where(known > 0, known, np.inf)).max(initial=1)))


def _warn_of_lost_digits(after: LinearRegression, s: RegressionStatistic) -> None:
    root = after.factor[..., :-1, :-1]
    near = np.diagonal(root, axis1=-2, axis2=-1) < 10.0**-HALF * np.sqrt((root**2).sum(-2))
    if not near.any() or dependent(after.factor).any():  # what is flat is refused where it matters
        return
    lost = digits_of_coefficients_lost(after, s)
    if lost > HALF:
        named = [after.coords["feature"][j] for j in np.flatnonzero(_batchless(near))]
        warn(
            f"features: {named} are so nearly combinations of the columns before them that about "
            f"{lost:.0f} of 16 digits of the coefficients are lost. Leave them out, add an "
            "intercept, or measure powers and products from the middle of their columns."
        )


def _of_batch(belief: LinearRegression, d: checked.Regression) -> RegressionStatistic:
    """Return the statistic of weighted rows, or of several problems, block by block."""
    width = d.X.shape[-1] + 1
    blank = np.zeros((*d.y.shape[1:], width))
    total: Part = 0, blank, np.zeros((*blank.shape, width))
    step = max(width, _BLOCK // max(1, blank.size))
    for start in range(0, len(d.y), step):
        here = slice(start, start + step)
        y, w = d.y[here], None if d.weights is None else d.weights[here]
        X = _wide(d.X[here], y.ndim - 1)
        X = np.broadcast_to(X, (*y.shape, width - 1))
        rows = np.moveaxis(np.concatenate([X, y[..., None]], axis=-1), 0, -2)
        total = merged(total, factored(rows, w))
    n, mean, factor = total
    axes = conjugate.rows_of(belief, d.coords, d.y.shape[1:])
    features = belief.features or d.features
    return checked.build(RegressionStatistic, _as_count(n), mean, factor, features, axes)


def _wide(X: Array, batch: int) -> Array:
    """Insert axes of length 1 into X (n, p) or (n, batch..., p) until it has all batch axes."""
    missing = batch - (X.ndim - 2)
    return X.reshape(len(X), *(1,) * missing, *X.shape[1:])


def _square_length(factor: Array, w: Any) -> Any:
    """Return |F [w; -1]|² as a PyTensor expression, of the batch shape."""
    residual = (factor[..., :-1] * w[..., None, :]).sum(-1) - factor[..., -1]
    return (residual**2).sum(-1)


def _root_of(precision: Array) -> Array:
    """Return the upper triangular R with R'R = P; zero rows and columns stay zero."""
    checked.symmetric(precision, "precision")
    root = np.zeros(precision.shape)
    hint = " Rows and columns of zeros are no part of it: they make coefficients flat."
    for at in np.ndindex(precision.shape[:-2]):
        used = np.flatnonzero(np.abs(precision[at]).sum(-1))
        block = np.ix_(used, used)
        root[at][block] = checked.cholesky_factor(precision[at][block], "precision", hint).T
    return root


def _batch_shape(
    mean: Array, precision: Array, shape: Array, scale: Array, size: int
) -> tuple[int, ...]:
    if precision.ndim < 2 or precision.shape[-2:] != (size, size):  # noqa: PLR2004 - a matrix
        raise PriorError(
            f"precision: must be a number or a matrix of shape ({size}, {size}), one row a "
            f"coefficient; got shape {precision.shape}. For a diagonal use np.diag."
        )
    if mean.ndim and mean.shape[-1] != size:
        raise PriorError(
            f"mean: must have {size} entries, one a coefficient; got shape {mean.shape}."
        )
    lead = {"mean": mean.shape[:-1], "precision": precision.shape[:-2]}
    return fitting(**lead, shape=shape.shape, scale=scale.shape)
