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

from bayesmodels.belief import conditioning, datatree, reading, values
from bayesmodels.belief.intervals import CI_PROB, CiKind, renamed
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.labels import Coords
from bayesmodels.models.logistic.normal_weights import NormalWeights, spread
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

LABEL = "Laplace approximation"


@value
class LaplaceApproximation(NormalWeights):
    r"""A normal approximation to the posterior of a logistic regression; **not** the posterior.

    .. math:: p(w \mid D) \approx N(w \mid w^*, H^{-1}), \qquad
        H = -\nabla^2 \ln p(w, D) \big|_{w^*}

    Made by `LogisticRegression.laplace`. How far it is off is a question to a sampler:
    ``compare(approximation, draws).table`` answers it.

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
        """Return the approximation with these fields, checked to fit each other."""
        location, classes, features = (fields[name] for name in ("location", "classes", "features"))
        others = len(labels.unique(classes, "classes")) - 1
        width = location.shape[-1] if location.ndim else 0
        if others < 1 or not width or location.shape != (*((others,) * (others > 1)), width):
            raise DataError(
                f"location: must have a weight for each column; got shape {location.shape}."
            )
        if features is not None:
            checked.check_width(len(labels.unique(features, "features")), width)
        checked.upper_triangular(fields["factor"], (location.size,) * 2)
        if not np.diagonal(fields["factor"]).all():
            raise DataError("factor: must have no zero on its diagonal.")
        axes: Coords = {"feature": features or tuple(range(width))}
        if fields["coords"] != (axes if others == 1 else {"class": classes[1:], **axes}):
            raise DataError("coords: must be the classes and features.")
        result = cls(**fields)
        values.fill(result, **fields)  # whose arrays are read-only
        return result

    def parameters(self) -> dict[str, Array]:
        """Return mode and standard deviations of the approximation."""
        return {
            "mode w*": self.location,
            "approximate standard deviation": self.marginals()["w"].std(),
        }

    @property
    def covariance(self) -> Array:
        """The covariance matrix of the flattened weights, of shape (d, d)."""
        root = spread(self.factor)
        return root @ root.T

    @renamed
    def summary(self, ci_prob: float = CI_PROB, ci_kind: CiKind = "eti") -> pd.DataFrame:
        """Return approximate means, standard deviations and intervals, one row a weight.

        The attribute ``approximation`` of the table says what they are.
        """
        table = reading.summary(self, ci_prob, ci_kind)
        table.attrs["approximation"] = LABEL
        return table

    plot = datatree.plot

    def to_datatree(
        self, draws: int = 1000, chains: int = 4, rng: np.random.Generator | int | None = None
    ) -> xr.DataTree:
        """Return independent draws of the approximation, labelled as such.

        The attribute ``approximation`` of the tree and of its group ``posterior`` says what they
        are.
        """
        tree = datatree.to_datatree(self, draws, chains, rng)
        tree.attrs["approximation"] = tree.posterior.attrs["approximation"] = LABEL
        return tree

    def digits_lost(self, statistic: Any = None) -> float:
        """Return about how many digits are lost, by the condition of the precision matrix."""
        del statistic
        return 2 * conditioning.digits_of_factor(self.factor)

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
        return self._averaged(rows, intercept, draws, rng, logs=True)

    def most_probable_class(self, rows: Any, *, intercept: bool = False) -> NDArray[Any]:
        """Return the class with the largest probability at the mode, for each new row."""
        known = self.class_probabilities(rows, self.mode(), intercept=intercept)
        return np.asarray(self.classes)[known.argmax(-1)]

    def __repr__(self) -> str:
        return (
            f"LaplaceApproximation(a normal approximation of {self.location.size} weights, not the "
            f"exact posterior: mean={np.array2string(self.location, precision=4, threshold=20)})"
        )
