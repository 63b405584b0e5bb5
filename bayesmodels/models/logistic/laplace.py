r"""Laplace's approximation: the normal law that touches a posterior at its mode.

=============  =================================================================================
Approximation  w ~ Normal(w*, H⁻¹), with w* the posterior's mode and H minus the second derivatives
               of its log density there
Log evidence   ln p(y | w*) p(w*) + d/2 ln 2pi - ½ ln|H|, an approximation too
=============  =================================================================================

Bishop, *Pattern Recognition and Machine Learning* (2006), sections 4.4 and 4.5; MacKay (1992), *The
evidence framework applied to classification networks*.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayesmodels.belief import conditioning, reading, values
from bayesmodels.belief.protocol import Draws
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.labels import Coords
from bayesmodels.models.logistic import normal_weights
from bayesmodels.numerics import Array, softmax
from bayesmodels.numerics.triangular import solve_upper

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

LABEL = "Laplace approximation"


@value
class LaplaceApproximation:
    r"""A normal approximation to the posterior of a logistic regression; **not** the posterior.

    .. math:: p(w \mid D) \approx N(w \mid w^*, H^{-1}), \qquad
        H = -\nabla^2 \ln p(w, D) \big|_{w^*}

    Made by `LogisticRegression.laplace`. How far it is off is a question to a sampler:
    `approximation_error` answers it in standard deviations.

    Attributes
    ----------
    location : ndarray of shape (p,) or (K - 1, p)
        w*, the mode of the posterior (exact up to rounding).
    factor : ndarray of shape (d, d)
        Upper triangular R with R'R = H, for the d flattened weights.
    approximate_log_evidence : float
        Laplace's approximation to the log probability of the classes.
    classes : tuple of length K
        Labels of the classes.
    features : tuple of length p or None
        Names of the columns.
    coords : dict
        Labels along the axes of ``w``.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> model = bm.LogisticRegression(mean=[0, 0], cov=25)
    >>> data = bm.Design([[0.5], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1], intercept=True)
    >>> near = model.laplace(data)
    >>> near.summary().round(2)
          mean    sd  eti89_lb  eti89_ub
    w[0] -2.53  2.00     -5.72      0.66
    w[1]  1.04  0.74     -0.15      2.22
    >>> near.class_probabilities([[2.5]], intercept=True).round(3)
    array([[0.487, 0.513]])
    """

    location: Array
    factor: Array
    approximate_log_evidence: float
    classes: tuple[Hashable, ...]
    features: tuple[Hashable, ...] | None
    coords: Coords

    title: ClassVar = LABEL
    equations: ClassVar = (
        ("Approximation", r"p(w \mid D) \approx \mathrm{Normal}(w^*, H^{-1})"),
        ("", r"w^* = \mathrm{arg\,max}_w \ln p(w, D)"),
        ("", r"H = -\nabla^2 \ln p(w, D) \text{ at } w^*"),
        (
            "Evidence",
            r"\ln p(D) \approx \ln p(w^*, D) + \frac{d}{2} \ln 2\pi - \frac{1}{2} \ln |H|",
        ),
    )

    @classmethod
    def _from_file(cls, **fields: Any) -> Self:
        """Check what `LogisticRegression.laplace` makes sure of."""
        location, classes, features = (fields[name] for name in ("location", "classes", "features"))
        others = len(labels.unique(classes, "classes")) - 1
        width = location.shape[-1] if location.ndim else 0
        if others < 1 or not width or location.shape != (*((others,) * (others > 1)), width):
            msg = f"location: must have a weight for each column; got shape {location.shape}."
            raise DataError(msg)
        if features is not None:
            checked.as_many_columns(len(labels.unique(features, "features")), width)
        checked.upper_triangular(fields["factor"], (location.size,) * 2)
        if not np.diagonal(fields["factor"]).all():
            msg = "factor: must have no zero on its diagonal."
            raise DataError(msg)
        axes: Coords = {"feature": features or tuple(range(width))}
        if fields["coords"] != (axes if others == 1 else {"class": classes[1:], **axes}):
            msg = "coords: must be the classes and features."
            raise DataError(msg)
        made = cls(**fields)
        values.fill(made, **fields)  # whose arrays are read-only
        return made

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of ``w``."""
        return {"w": tuple(self.coords)}

    def parameters(self) -> dict[str, Array]:
        """Return mode and standard deviations of the approximation."""
        return {
            "mode w*": self.location,
            "approximate standard deviation": self.marginals()["w"].std(),
        }

    covariance = property(normal_weights.covariance)
    marginals = normal_weights.marginals
    mean = reading.mean
    var = reading.var
    interval = reading.interval
    mode = normal_weights.mode
    log_density = normal_weights.log_density
    log_density_rounding = normal_weights.log_density_rounding
    sample = normal_weights.sample

    def summary(self, prob: float = 0.89) -> pd.DataFrame:
        """Return approximate means, standard deviations and intervals, one row a weight.

        The attribute ``approximation`` of the table says what they are.
        """
        table = reading.summary(self, prob)
        table.attrs["approximation"] = LABEL
        return table

    def to_datatree(
        self, draws: int = 1000, chains: int = 4, rng: np.random.Generator | int | None = None
    ) -> xr.DataTree:
        """Return independent draws of the approximation, labelled as such.

        The attribute ``approximation`` of the tree and of its group ``posterior`` says what they
        are.
        """
        tree = reading.to_datatree(self, draws, chains, rng)
        tree.attrs["approximation"] = tree.posterior.attrs["approximation"] = LABEL
        return tree

    def digits_lost(self, statistic: Any = None) -> float:
        """Return about how many digits are lost, by the condition of the precision matrix."""
        del statistic
        return 2 * conditioning.digits_of_factor(self.factor)

    def class_probabilities(
        self,
        rows: Any,
        parameters: Draws | None = None,
        *,
        intercept: bool = False,
        draws: int = 4000,
        rng: np.random.Generator | int | None = None,
    ) -> Array:
        """Return class probabilities of new rows, averaged over the approximation.

        Parameters
        ----------
        rows : array_like or frame of shape (n, p)
            Columns as those of the data.
        parameters : mapping, optional
            Weights to be taken as known, such as ``mode()`` or draws with sample axes in front;
            then nothing is averaged.
        intercept : bool, default False
            Put a column of ones before the others.
        draws : int, default 4000
            Number of draws averaged over, for three classes or more. Two classes need none: their
            one-dimensional integral is computed to 1e-13.
        rng : numpy.random.Generator or int, optional
            Source of the draws, or a seed; fresh if not given.

        Returns
        -------
        ndarray of shape (..., n, K)
            Rows add up to one.
        """
        if parameters is not None:
            return plug_in(self, rows, parameters, intercept=intercept)
        return averaged(self, rows, intercept=intercept, draws=draws, rng=rng)

    def log_class_probabilities(
        self,
        rows: Any,
        *,
        intercept: bool = False,
        draws: int = 4000,
        rng: np.random.Generator | int | None = None,
    ) -> Array:
        """Return natural logarithms of averaged class probabilities, none of them lost as -inf.

        Parameters
        ----------
        rows, intercept, draws, rng
            As in `class_probabilities`.

        Returns
        -------
        ndarray of shape (n, K)
            Natural logarithms.
        """
        draws, rng = checked.asked(draws, rng)
        X = _rows(self, rows, intercept=intercept)
        if len(self.classes) == 2:  # noqa: PLR2004 - one score, whose law is normal
            mean, sd = _score(self, X)
            return np.stack(
                [softmax.log_averaged_binary(-mean, sd), softmax.log_averaged_binary(mean, sd)],
                axis=-1,
            )
        w = normal_weights.sample(self, draws, rng)["w"]
        total = np.full((len(X), len(self.classes)), -np.inf)
        with np.errstate(under="ignore"):
            for each in w:
                total = np.logaddexp(total, softmax.log_probabilities(softmax.scores(each, X)))
        return np.asarray(total - np.log(len(w)))

    def most_probable_class(self, rows: Any, *, intercept: bool = False) -> NDArray[Any]:
        """Return the class with the largest probability at the mode, for each new row."""
        best = plug_in(self, rows, self.mode(), intercept=intercept).argmax(-1)
        return np.asarray(self.classes)[best]

    def __repr__(self) -> str:
        return (
            f"LaplaceApproximation(a normal approximation of {self.location.size} weights, not the "
            f"exact posterior: mean={np.array2string(self.location, precision=4, threshold=20)})"
        )


# --- shared with the prior, which is a normal law of the same weights ----------------------------


def plug_in(self: Any, rows: Any, parameters: Draws, *, intercept: bool = False) -> Array:
    """Return class probabilities of new rows at known weights, of shape (..., n, K)."""
    with np.errstate(under="ignore"):
        return np.exp(softmax.log_probabilities(scores(self, rows, parameters, intercept)))


def scores(self: Any, rows: Any, parameters: Draws, intercept: bool) -> Array:  # noqa: FBT001 - internal
    """Return log odds of each class against the first, of shape (..., n, K - 1)."""
    return softmax.scores(weights(self, parameters), _rows(self, rows, intercept=intercept))


def weights(self: Any, parameters: Draws) -> Array:
    """Return weights of shape (..., K - 1, p), checked."""
    if "w" not in parameters:
        msg = f"parameters: must hold 'w'; has {list(parameters)}."
        raise DataError(msg)
    w, shape = np.asarray(parameters["w"]), self.location.shape
    if w.shape[w.ndim - len(shape) :] != shape or w.ndim < len(shape):
        msg = (
            f"parameters: w must have the shape (..., {', '.join(map(str, shape))}); got {w.shape}."
        )
        raise DataError(msg)
    if not np.isfinite(w).all():
        msg = "parameters: w must hold finite numbers."
        raise DataError(msg)
    return w[..., None, :] if len(shape) == 1 else w


def averaged(
    self: Any, rows: Any, *, intercept: bool, draws: int, rng: np.random.Generator | int | None
) -> Array:
    """Return class probabilities of new rows averaged over the normal law of the weights."""
    draws, rng = checked.asked(draws, rng)
    X = _rows(self, rows, intercept=intercept)
    if len(self.classes) == 2:  # noqa: PLR2004 - one score, whose law is normal
        mean, sd = _score(self, X)
        # Each with its own sign, so that neither is rounded to 1 minus the other.
        return np.stack(
            [softmax.averaged_binary(-mean, sd), softmax.averaged_binary(mean, sd)], axis=-1
        )
    w = normal_weights.sample(self, draws, rng)["w"]
    total = np.zeros((len(X), len(self.classes)))
    with np.errstate(under="ignore"):
        for each in w:
            total += np.exp(softmax.log_probabilities(softmax.scores(each, X)))
    return total / len(w)


def _score(self: Any, X: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation of each row's normal score, for two classes."""
    mean = softmax.scores(self.location[None], X)[..., 0]
    return mean, np.sqrt((solve_upper(self.factor, X.T, transposed=True) ** 2).sum(0))


def _rows(self: Any, rows: Any, *, intercept: bool) -> Array:
    X, names = checked.design(rows, intercept=intercept)
    if X.ndim != 2:  # noqa: PLR2004 - rows and columns
        msg = f"features: must have one axis of rows and one of columns; got shape {X.shape}."
        raise DataError(msg)
    checked.as_many_columns(X.shape[-1], self.location.shape[-1])
    checked.same_features(self.features, names)
    return X
