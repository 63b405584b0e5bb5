r"""Logistic regression: normal weights, and classes whose log odds are linear in the columns.

==============  ================================================================================
Prior           w ~ Normal(m, V); for K classes w_1, ..., w_(K-1) independent, w_0 = 0
Rows            p(y_i = c | x_i, w) = exp(x_i . w_c) / sum over k of exp(x_i . w_k)
                two classes: p(y_i = 1 | x_i, w) = 1 / (1 + exp(-x_i . w))
Log likelihood  sum over i of x_i . w_(y_i) - ln sum over k of exp(x_i . w_k), which is concave
Gradient        d/dw_c = sum over i of (1[y_i = c] - p_ic) x_i
Curvature       - sum over i of (diag p_i - p_i p_i') ⊗ x_i x_i'
==============  ================================================================================

Not conjugate: there is no closed form of the posterior. Maxima of the likelihood and of the
posterior are found to rounding, by Newton's method (which is iteratively reweighted least squares);
the rest is Laplace's approximation, labelled so, or a sampler's draws from the PyMC model.

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), sections 8.3 and 8.4.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from bayesmodels.belief import datatree, reading, simulation, values
from bayesmodels.belief.declaring import Names, declare
from bayesmodels.belief.protocol import Draws, Likelihood, Observed, Rows
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, PriorError, SeparationError
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.labels import Coords
from bayesmodels.models import given_statistic
from bayesmodels.models.logistic import penalized_fit
from bayesmodels.models.logistic.laplace import LaplaceApproximation
from bayesmodels.models.logistic.normal_weights import NormalWeights, deviations
from bayesmodels.models.logistic.penalized_fit import Whitening
from bayesmodels.numerics import Array, optimize, softmax
from bayesmodels.numerics.separation import Separation, find_separation
from bayesmodels.numerics.special import HALF_LOG_2PI, log_multinomial_coefficient
from bayesmodels.numerics.triangular import EPS, half_log_det, positive_diagonal, solve_upper

if TYPE_CHECKING:
    import pandas as pd

_TWO = 2
_SHOWN = 10  # columns named in a message


@dataclass(frozen=True, eq=False, repr=False)
class Maximum:
    """Weights at which a likelihood or a posterior is largest.

    Attributes
    ----------
    kind : {"MLE", "MAP"}
        Of which of the two.
    w : ndarray of shape (p,) or (K - 1, p)
        The weights.
    standard_errors : ndarray
        Roots of the diagonal of the inverse observed information (for a MAP, of the posterior's
        curvature), of the shape of `w`.
    value : float
        The log likelihood there; for a MAP log likelihood plus log prior density.
    factor : ndarray of shape (d, d)
        Upper triangular R; R'R is the observed information.
    trace : Trace
        Newton's way to it.
    coords : dict
        Labels along the axes of `w`.
    """

    kind: Literal["MLE", "MAP"]
    w: Array
    standard_errors: Array
    value: float
    factor: Array
    trace: optimize.Trace
    coords: Coords

    @property
    def parameters(self) -> dict[str, Array]:
        """The weights by name, for `class_probabilities`."""
        return {"w": self.w}

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of ``w``."""
        return {"w": tuple(self.coords)}

    def summary(self) -> pd.DataFrame:
        """Return estimates, standard errors and their ratio z, one row a weight."""
        import pandas as pd

        rows = {
            text: [self.w[at], self.standard_errors[at], self.w[at] / self.standard_errors[at]]
            for text, at in reading.places(self, "w", self.w.shape)  # type: ignore[arg-type]
        }
        return pd.DataFrame.from_dict(
            rows, orient="index", columns=["estimate", "standard_error", "z"]
        )

    def __repr__(self) -> str:
        return f"Maximum({self.kind}, w={np.array2string(self.w, precision=6, threshold=20)})"


@dataclass(frozen=True)
class Joint:
    """Prior times likelihood: the posterior up to its constant, and points near its mode."""

    dims: dict[str, tuple[str, ...]]
    coords: Coords
    mean: Callable[[], dict[str, Array]]
    sample: Callable[..., dict[str, Array]]
    log_density: Callable[[Draws], Array]
    log_density_rounding: Callable[[Draws], Array]


@value
class LogisticRegression(NormalWeights):
    r"""Belief about the weights of a logistic regression: normal, as its prior is.

    .. math:: w \sim N(m, V), \qquad p(y = 1 \mid x, w) = \frac{1}{1 + e^{-x^\top w}}

    With K > 2 classes there is a vector of weights for each class but the first, whose score is 0;
    a priori these are independent. Which class comes first does not matter to the MLE, but it
    does, a little, to what such a prior says.

    The posterior is no member of this family, so there is no `update`: see `map`, `laplace` and,
    for draws, `declare`.

    Parameters
    ----------
    mean : array_like of shape (p,) or (K - 1, p)
        m, a weight for each column; shape (p,) is that of every class.
    cov : array_like of shape (), (p, p) or (K - 1, p, p)
        V; a single number means that multiple of the identity.
    classes : sequence of length K, optional
        Labels of the classes, the first of which is the reference; by default 0 and 1.
    features : sequence of length p, optional
        Names of the columns; columns of data with other names are refused.

    Raises
    ------
    PriorError
        If shapes do not fit or a covariance is not symmetric and positive definite.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 8.4.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> model = bm.LogisticRegression(mean=[0, 0], cov=25)
    >>> data = bm.Design([[0.5], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1], intercept=True)
    >>> model.mle(data).summary().round(3)
          estimate  standard_error      z
    w[0]    -3.174           2.561 -1.240
    w[1]     1.253           0.929  1.349
    >>> model.map(data).w.round(3)
    array([-2.532,  1.039])

    Data that a threshold separates have no MLE; a proper prior is enough for all else.

    >>> separated = bm.Design([[1], [2], [3], [4]], [0, 0, 1, 1], intercept=True)
    >>> model.mle(separated)
    Traceback (most recent call last):
    ...
    bayesmodels.errors.SeparationError: target: columns [1] separate the classes completely ...
    >>> model.map(separated).w.round(2)
    array([-4.18,  1.8 ])
    """

    location: Array
    cov: Array
    classes: tuple[Hashable, ...]
    features: tuple[Hashable, ...] | None
    factor: Array = field(repr=False)
    coords: Coords

    title: ClassVar = "Logistic regression"
    equations: ClassVar = (
        ("Prior", r"w \sim \mathrm{Normal}(m, V)"),
        ("Likelihood", r"p(y_i = 1 \mid x_i, w) = \frac{1}{1 + e^{-x_i^\top w}}"),
        (
            "",
            r"\ln p(y \mid w) = \sum_i y_i x_i^\top w - \ln \left( 1 + e^{x_i^\top w} \right)",
        ),
        ("Gradient", r"\nabla_w \ln p(y \mid w) = \sum_i (y_i - p_i) x_i"),
        ("Posterior", r"p(w \mid y) \propto p(y \mid w) \, p(w), \text{ no closed form}"),
        ("Approximation", r"p(w \mid y) \approx \mathrm{Normal}(w^*, H^{-1}) \text{ (Laplace)}"),
    )

    @classmethod
    def _from_file(
        cls,
        location: Array,
        cov: Array,
        classes: tuple[Hashable, ...],
        features: tuple[Hashable, ...] | None,
    ) -> Self:
        """Return the belief; each weight must have its row of the covariance."""
        if not location.shape or cov.shape != (*location.shape, location.shape[-1]):
            raise DataError(
                f"cov: must have a row for each weight; got {cov.shape} and {location.shape}."
            )
        return cls(location, cov, classes, features)

    def __init__(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        classes: Sequence[Hashable] | None = None,
        features: Sequence[Hashable] | None = None,
    ) -> None:
        features = checked.names_of(features, "features", mean=mean, cov=cov)
        mean = checked.parameter(mean, "mean")
        cov = checked.parameter(cov, "cov", most=checked.LARGEST_SQUARE)
        result = _classes(classes)
        others = len(result) - 1
        names = None if features is None else labels.unique(tuple(features), "features")
        width = checked.number_of_columns(names, mean, cov)
        lead = () if others == 1 else (others,)
        try:
            location = np.broadcast_to(mean, (*lead, width)).astype(float)
            full = cov * np.eye(width) if cov.ndim == 0 else cov
            full = np.broadcast_to(full, (*lead, width, width)).astype(float)
        except ValueError:
            raise PriorError(
                f"mean: must have shape {(*lead, width)} or ({width},), and cov shape (), "
                f"{(width, width)} or {(*lead, width, width)}; got {mean.shape} and {cov.shape}."
            ) from None
        hint = " A weight known exactly is no weight: leave its column out."
        roots = checked.cholesky_factor(full, "cov", hint).reshape(others, width, width)
        inverses = (solve_upper(root.T, np.eye(width), transposed=True) for root in roots)
        factor = block_diag(*(positive_diagonal(np.linalg.qr(each, mode="r")) for each in inverses))
        axes: Coords = {} if others == 1 else {"class": result[1:]}
        values.fill(
            self,
            location=location,
            cov=full,
            classes=result,
            features=names,
            factor=factor,
            coords={**axes, "feature": names or tuple(range(width))},
        )

    def parameters(self) -> dict[str, Array]:
        """Return mean and standard deviations, by the symbols of `equations`."""
        sd = np.sqrt(np.diagonal(self.cov, axis1=-2, axis2=-1))
        return {"mean m": self.location, "standard deviation, root of V's diagonal": sd}

    summary = reading.summary
    to_datatree = datatree.to_datatree
    plot = datatree.plot

    def met(self, data: Any) -> Self:
        """Return the same belief, its axes named as the columns of the data are.

        Examples
        --------
        >>> import bayesmodels as bm, pandas as pd
        >>> rows = pd.DataFrame({"age": [31.0, 52.0]})
        >>> bm.LogisticRegression([0], 1).met((rows, [0, 1])).coords
        {'feature': ('age',)}
        """
        return self._with_features(self.labelled(data).features)

    def class_counts(self, data: Any) -> Array:
        """Return the number of rows of each class, or their total weight."""
        return self.labelled(data).heavy.sum(0)

    # --- maxima ----------------------------------------------------------------------------------

    def mle(self, data: Any) -> Maximum:
        """Return the weights that make the classes most probable, with their standard errors.

        The prior plays no part in it.

        Parameters
        ----------
        data : Design, pair (X, y), or either of them Weighted
            The target holds classes, `BinomialCounts` (successes are the second class) or
            `MultinomialCounts`.

        Returns
        -------
        Maximum
            Standard errors are those of the observed information.

        Raises
        ------
        SeparationError
            If the classes are separated, so that there is no maximum; the message names the
            columns that separate them.
        DataError
            If columns are collinear; the message names them.

        References
        ----------
        Albert and Anderson (1984), *On the existence of maximum likelihood estimates in logistic
        regression models*.
        """
        d = self.labelled(data)
        frame = penalized_fit.frame_of_rows(d.X)
        counts = d.heavy
        rows = penalized_fit.framed(frame, d.X, counts)
        bound = penalized_fit.curvature_bound(rows)
        self.check_independent(bound, d.features)
        white = Whitening.of(frame, bound, len(self.classes) - 1, None)
        result = penalized_fit.peak(white, rows)
        if not result.proven and (
            separation := find_separation(frame.rows(d.X), counts, frame.intercept)
        ):
            raise SeparationError(self.separated(counts.sum(0), d.features, separation))
        return self.maximum_at("MLE", result, coefficients(d), d.features)

    def map(self, data: Any) -> Maximum:
        """Return the mode of the posterior; separated classes are no trouble under a prior.

        Parameters
        ----------
        data : as in `mle`
            Rows.

        Returns
        -------
        Maximum
            Its standard errors are those of the Laplace approximation.
        """
        d = self.labelled(data)
        result = self._posterior_peak(d)
        return self.maximum_at("MAP", result, coefficients(d), d.features)

    def laplace(self, data: Any) -> LaplaceApproximation:
        """Return the normal law that touches the posterior at its mode, an approximation.

        Parameters
        ----------
        data : as in `mle`
            Rows.
        """
        d = self.labelled(data)
        result = self._posterior_peak(d)
        return self.laplace_at(result, coefficients(d), d.features)

    def _posterior_peak(self, d: checked.Labelled) -> penalized_fit.Peak:
        frame = penalized_fit.frame_of_rows(d.X)
        rows = penalized_fit.framed(frame, d.X, d.heavy)
        bound = penalized_fit.curvature_bound(penalized_fit.subsample(rows))
        white = Whitening.of(frame, bound, len(self.classes) - 1, self.prior_factors())
        return penalized_fit.peak(white, rows)

    def separation(self, data: Any) -> str:
        """Say in words which columns separate the classes; empty if the classes overlap.

        Linear programming decides, whatever the size of the weights.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> model = bm.LogisticRegression([0, 0], 1)
        >>> model.separation(bm.Design([[1], [2], [2], [3]], [0, 0, 1, 1], intercept=True))[:56]
        'columns [1] separate the classes quasi-completely (some '
        >>> model.separation(bm.Design([[1], [2], [3]], [0, 1, 0], intercept=True))
        ''
        """
        d = self.labelled(data)
        frame = penalized_fit.frame_of_rows(d.X)
        separation = find_separation(frame.rows(d.X), d.heavy, frame.intercept)
        result = self.separated(d.heavy.sum(0), d.features, separation) if separation else ""
        return result.removeprefix("target: ")

    def ascend(
        self,
        data: Any,
        *,
        step: optimize.Step = "lipschitz",
        of: Literal["likelihood", "posterior"] = "likelihood",
        stochastic: bool = False,
        start: ArrayLike | None = None,
        tolerance: float = 1e-8,
        most: int = 10_000,
        rng: np.random.Generator | int | None = None,
    ) -> optimize.Trace:
        r"""Climb by gradient ascent, :math:`w \leftarrow w + \alpha \sum_i (y_i - p_i) x_i`.

        What textbooks start with; Newton's method (`mle`, `map`) needs a handful of steps where
        this one needs hundreds or, with columns of different sizes, millions.

        Parameters
        ----------
        data : as in `mle`
            Rows.
        step : "lipschitz", "backtracking" or float
            :math:`\alpha`: 1 / L, where L bounds the curvature (a quarter of the largest eigenvalue
            of X'X for two classes, half of it for more, plus the prior's); found at each point; or
            a number.
        of : {"likelihood", "posterior"}
            What to climb.
        stochastic : bool, default False
            Use one row at a time, in an order drawn anew for each pass, with the fixed step given;
            the trace has a point for each pass. It wanders about the maximum without reaching it.
        start : array_like, optional
            Weights to start from; zero if not given.
        tolerance : float, default 1e-8
            Stop when the gradient is so much smaller than at the start.
        most : int, default 10000
            Number of steps, or of passes.
        rng : numpy.random.Generator or int, optional
            For `stochastic`.

        Returns
        -------
        Trace
            Its loss is minus the log likelihood (or log joint density). Separated classes have no
            maximum, and the trace never converges on it.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> model = bm.LogisticRegression([0, 0], 25)
        >>> data = bm.Design([[0.5], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1], intercept=True)
        >>> model.ascend(data).last.round(3)
        array([-3.174,  1.253])
        """
        d = self.labelled(data)
        counts, X, shape = d.heavy, d.X, self.location.shape
        if of not in ("likelihood", "posterior"):
            raise DataError(f"of: must be 'likelihood' or 'posterior'; got {of!r}.")
        weight = float(of == "posterior")
        precision = self.factor.T @ self.factor

        def log_p(w: Array, rows: slice) -> Array:
            return softmax.log_probabilities(softmax.scores(w.reshape(-1, X.shape[1]), X[rows]))

        def pull(w: Array) -> Array:
            return weight * (precision @ (w - self.location).ravel()).reshape(shape)

        def loss(w: Array) -> float:
            prior = 0.5 * float((w - self.location).ravel() @ pull(w).ravel())
            return prior - float((counts * log_p(w, slice(None))).sum())

        def gradient(w: Array, rows: slice = slice(None)) -> Array:
            batch, towards = X[rows], softmax.residuals(counts[rows], np.exp(log_p(w, rows)))
            return pull(w) / (len(X) / max(len(batch), 1)) - (towards.T @ batch).reshape(shape)

        def of_row(w: Array, i: int) -> Array:
            return gradient(w, slice(i, i + 1))

        heavy = np.sqrt(counts.sum(-1))[:, None] * X
        steep = float(np.linalg.norm(heavy, 2) ** 2) / (4 if len(self.classes) == _TWO else 2)
        steep += weight * float(np.linalg.norm(self.factor, 2) ** 2)
        begin = np.zeros(shape) if start is None else checked.parameter(start, "start")
        if begin.shape != shape:
            raise DataError(
                f"start: must have the shape {shape} of the weights; got {begin.shape}."
            )
        number, source = checked.count(most, "most"), checked.randomness(rng)
        if not stochastic:
            return optimize.descend(
                loss, gradient, begin, step=step, lipschitz=steep, tolerance=tolerance, most=number
            )
        if isinstance(step, str):
            raise DataError(f"step: must be a number with stochastic=True; got {step!r}.")
        order: Iterator[NDArray[np.intp]] = (source.permutation(len(X)) for _ in range(number))
        return optimize.row_by_row(loss, gradient, of_row, begin, order, step=step, lipschitz=steep)

    # --- maxima from what is added up over rows ---------------------------------------------------

    def labelled(self, data: Any) -> checked.Labelled:
        """Return checked rows and classes, whose columns must be those of the belief."""
        plain = self.classes == (0, 1)
        d = checked.labelled(data, None if plain else self.classes, len(self.classes))
        checked.check_width(d.X.shape[-1], self.location.shape[-1])
        checked.same_features(self.features, d.features)
        return d

    def design(self, data: Any) -> tuple[Array, Array]:
        """Return the columns of rows, that of ones included, and how often each class was seen.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> X, counts = bm.LogisticRegression([0, 0], 1).design(([[1.0, 2.0], [1.0, 3.0]], [0, 1]))
        >>> X.tolist(), counts.tolist()
        ([[1.0, 2.0], [1.0, 3.0]], [[1, 0], [0, 1]])
        """
        d = self.labelled(data)
        return d.X, np.asarray(d.counts)

    def prior_factors(self) -> penalized_fit.Prior:
        """Return mean (K - 1, p) and precision factor (K - 1, p, p) of each class's weights."""
        others, width = len(self.classes) - 1, self.location.shape[-1]
        blocks = self.factor.reshape(others, width, others, width)
        return self.location.reshape(others, width), np.einsum("kikj->kij", blocks)

    def check_independent(self, root: Array, features: tuple[Hashable, ...] | None) -> None:
        """Refuse columns that are combinations of others, by the triangular factor of the rows."""
        flat = penalized_fit.dependent_columns(root)
        if flat.size:
            raise DataError(
                "features: the MLE needs linearly independent columns; "
                f"{self._named(features, flat)} depend on the columns before them. Drop them, add "
                "rows, or use a prior: map, laplace."
            )

    def maximum_at(
        self,
        kind: Literal["MLE", "MAP"],
        peak: penalized_fit.Peak,
        coefficients: float,
        features: tuple[Hashable, ...] | None,
    ) -> Maximum:
        """Return a peak as `Maximum`, with the log multinomial coefficients of all counts."""
        _require_converged(peak)
        shape = self.location.shape
        w = peak.w.reshape(shape)
        value = peak.log_likelihood + coefficients
        if kind == "MAP":
            value += float(self.log_density({"w": w}))
        return Maximum(
            kind,
            w,
            deviations(peak.factor).reshape(shape),
            value,
            peak.factor,
            peak.trace,
            self._with_features(features).coords,
        )

    def laplace_at(
        self,
        peak: penalized_fit.Peak,
        coefficients: float,
        features: tuple[Hashable, ...] | None,
    ) -> LaplaceApproximation:
        """Return the normal law with the mode and curvature of the posterior at a peak."""
        _require_converged(peak)
        w = peak.w.reshape(self.location.shape)
        joint = peak.log_likelihood + coefficients + float(self.log_density({"w": w}))
        evidence = float(joint + w.size * HALF_LOG_2PI - half_log_det(peak.factor))
        named = self._with_features(features)
        fields = w, peak.factor, evidence, self.classes
        return checked.build(LaplaceApproximation, *fields, named.features, named.coords)

    def missing_class(self, totals: Array) -> str:
        """Say that a class has no rows, so that there is no MLE; empty if all have some."""
        for label, n in zip(self.classes, totals, strict=True):
            if not n > 0:
                return (
                    f"target: no row has the class {label!r}, so the likelihood grows without end "
                    "as its probability goes to 0, and there is no MLE. Leave the class out of "
                    "classes, or use a prior: map, laplace."
                )
        return ""

    # --- densities, predictions and the PyMC model -----------------------------------------------

    def log_joint(self, draws: Draws, data: Any) -> Array:
        """Return log prior density plus log likelihood: the posterior's, up to its constant.

        Parameters
        ----------
        draws : mapping
            ``w``, with any number of sample axes in front.
        data : as in `mle`
            Rows.

        Returns
        -------
        ndarray
            One number a draw.
        """
        return self.log_density(draws) + self._rows_log_likelihood(draws, self.labelled(data)).sum(
            -1
        )

    def log_joint_rounding(self, draws: Draws, data: Any) -> Array:
        """Return a bound on the rounding error of `log_joint`."""
        d = self.labelled(data)
        w = np.abs(self._weights(draws))
        log_p = softmax.log_probabilities(softmax.scores(self._weights(draws), d.X))
        reach = softmax.scores(w, np.abs(d.X)).sum(-1)
        terms = (d.heavy.sum(-1) * (reach + np.abs(log_p).sum(-1) + 1)).sum(-1)
        steps = d.X.shape[1] + len(self.classes) + 8
        return self.log_density_rounding(draws) + 4 * steps * EPS * (
            terms + np.abs(_coefficients(d)).sum()
        )

    def joint(self, data: Any) -> Joint:
        """Return prior times likelihood, the posterior up to its constant, for `check_identity`.

        Parameters
        ----------
        data : as in `mle`
            Rows.

        Returns
        -------
        Joint
            With the verb `log_density`, whose constant is 0; and draws of Laplace's approximation,
            near the mode, as points.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> model = bm.LogisticRegression([0, 0], 4)
        >>> data = bm.Design([[1], [2], [3]], [0, 1, 0], intercept=True)
        >>> bm.check_identity(model.declare(data), model.joint(data), model, 0.0, rng=1).holds
        True
        """
        near = self.laplace(data)
        return Joint(
            near.dims,
            near.coords,
            near.mean,
            near.sample,
            partial(self.log_joint, data=data),
            partial(self.log_joint_rounding, data=data),
        )

    def log_likelihood(self, draws: Draws, data: Any) -> dict[str, Array]:
        """Return the log probability of each row's class, of shape (..., n).

        Of counts with their multinomial coefficient; of weighted rows times their weights.
        """
        return {"y": self._rows_log_likelihood(draws, self.labelled(data))}

    def observed(self, data: Any) -> Observed:
        """Return what was seen under the name ``"y"``: numbers of classes, or counts."""
        d = self.labelled(data)
        rows = {"row": tuple(d.rows)}
        if not d.counted:
            return {"y": (d.counts.argmax(-1), rows)}
        if len(self.classes) == _TWO:
            return {"y": (d.counts[:, 1], rows)}
        return {"y": (d.counts, {**rows, "outcome": self.classes})}

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new classes (or counts) of the same rows, one set for each draw."""
        rng = checked.randomness(rng)
        d = self.labelled(data)
        with np.errstate(under="ignore"):
            score = softmax.scores(self._weights(draws), d.X)
            new = softmax.drawn(np.exp(softmax.log_probabilities(score)), d.counts.sum(-1), rng)
        if not d.counted:
            return {"y": new.argmax(-1)}
        return {"y": new[..., 1] if len(self.classes) == _TWO else new}

    simulated = simulation.of_targets
    given_statistic = given_statistic.of_classes

    @property
    def value_labels(self) -> tuple[Hashable, ...]:
        """Labels of the values 0, 1, ... of a target."""
        return self.classes

    declare = declare

    def add_to_model(self, data: Any, likelihood: Likelihood, names: Names) -> None:
        """Write prior and likelihood into the current PyMC model; see `declare`."""
        import pymc as pm
        from pymc import math

        if likelihood != "rows":
            raise DataError(
                f"likelihood: must be 'rows'; got {likelihood!r}. A logistic regression has no "
                "statistic smaller than its rows; where rows repeat, give the target as counts."
            )
        d = self.labelled(data)
        if d.weights is not None:
            raise DataError(
                "data: weighted rows have no PyMC model here; give whole counts as the target."
            )
        ((y, axes),) = self.observed(data).values()
        names.labelled(self._with_features(d.features).coords)
        w = self._declare_prior(names)
        dims, trials = names.labelled(axes), d.counts.sum(-1)
        if len(self.classes) == _TWO:
            # A sum of products, not a matrix product: Numba needs half a minute to compile `@`.
            score = (d.X * w).sum(-1)
            if d.counted:
                pm.Binomial(names("y"), n=trials, logit_p=score, observed=y, dims=dims)
            else:
                pm.Bernoulli(names("y"), logit_p=score, observed=y, dims=dims)
            return
        score = (d.X[:, None, :] * w).sum(-1)
        full = math.concatenate([np.zeros((len(d.X), 1)), score], axis=1)
        if d.counted:
            p = math.softmax(full, axis=-1)
            pm.Multinomial(names("y"), n=trials, p=p, observed=y, dims=dims)
        else:
            pm.Categorical(names("y"), logit_p=full, observed=y, dims=dims)

    def _declare_prior(self, names: Names) -> Any:
        import pymc as pm

        width = self.cov.shape[-1]
        variances = np.diagonal(self.cov, axis1=-2, axis2=-1)
        dims = names.axes(self.dims["w"])
        if np.array_equal(self.cov, variances[..., None] * np.eye(width)):
            return pm.Normal(names("w"), self.location, sigma=np.sqrt(variances), dims=dims)
        chol = np.linalg.cholesky(self.cov)
        return pm.MvNormal(names("w"), self.location, chol=chol, dims=dims)

    def _with_features(self, features: tuple[Hashable, ...] | None) -> Self:
        if self.features is not None or features is None:
            return self
        return type(self)(self.location, self.cov, self.classes, features)

    def _rows_log_likelihood(self, draws: Draws, d: checked.Labelled) -> Array:
        log_p = softmax.log_probabilities(softmax.scores(self._weights(draws), d.X))
        return softmax.log_mass(d.heavy, log_p) + _coefficients(d)

    def _named(self, features: tuple[Hashable, ...] | None, at: Any) -> str:
        names = self._with_features(features).coords["feature"]
        shown = [names[int(j)] for j in at]
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        return f"{shown[:_SHOWN]}{more}"

    def separated(
        self, seen: Array, features: tuple[Hashable, ...] | None, separation: Separation
    ) -> str:
        """Say in words how features separate classes with these counts `seen`."""
        if missing := self.missing_class(seen):
            return missing
        how = (
            "completely (no row is on the border)"
            if separation.complete
            else "quasi-completely (some rows lie on the border, none beyond it)"
        )
        return (
            f"target: columns {self._named(features, separation.columns)} separate the classes "
            f"{how}: the likelihood grows without end with their weights, and there is no MLE. Use "
            "a prior (map, laplace), or leave them out."
        )


def _classes(classes: Any) -> tuple[Hashable, ...]:
    result = (0, 1) if classes is None else tuple(classes)
    if isinstance(classes, str) or len(result) < _TWO:
        raise PriorError(f"classes: must be a sequence of two labels or more; got {classes!r}.")
    return labels.unique(result, "classes: labels")


def _require_converged(peak: penalized_fit.Peak) -> None:
    if not peak.trace.converged:
        raise DataError(
            f"data: no maximum was found in {len(peak.trace.step)} steps of Newton's method; the "
            f"log density is still {peak.trace.slope[-1]:.2g} standard errors off, lost in "
            "rounding. Scale the columns, and give the prior in their units."
        )


def coefficients(d: checked.Labelled) -> float:
    """Return the sum of the log multinomial coefficients of all rows."""
    return float(np.sum(_coefficients(d)))


def _coefficients(d: checked.Labelled) -> Array | float:
    """Return the log multinomial coefficient of each row, 0 where classes were seen one by one."""
    if not d.counted:
        return 0.0
    weight = 1.0 if d.weights is None else d.weights
    return weight * log_multinomial_coefficient(d.counts)
