r"""The generative-discriminative pair: normal classes with one covariance, as logistic regression.

=================  =============================================================================
One covariance     ln p(c | x) / p(0 | x) = (mu_c - mu_0)' Sigma⁻¹ x
                   - ½ (mu_c + mu_0)' Sigma⁻¹ (mu_c - mu_0) + ln(pi_c / pi_0)
Diagonal           = sum over features of (mu_ci - mu_0i) x_i / sigma_i²
                   + (mu_0i² - mu_ci²) / (2 sigma_i²), plus ln(pi_c / pi_0)
=================  =============================================================================

Both are linear in x: linear discriminant analysis, or Gaussian naive Bayes with variances that the
classes share, and logistic regression have the same decision rules. They differ in how weights are
learnt: from p(x, y), or from p(y | x) alone.

Ng and Jordan (2002), *On discriminative vs. generative classifiers: a comparison of logistic
regression and naive Bayes*; Murphy (2012), *Machine Learning: A Probabilistic Perspective*,
section 8.6.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.input.parameters import variable
from bayesmodels.models.classifiers.decision import boundary
from bayesmodels.numerics import Array


def logistic_coefficients(self: Any, parameters: Mapping[str, Any]) -> dict[str, Array]:
    """Return the weights of the logistic regression that a generative classifier amounts to.

    Parameters
    ----------
    parameters : mapping
        Parameters taken as known, such as ``belief.mean()``: ``pi``, ``mu`` and ``Sigma`` or
        ``sigma2``, under the model's names. Covariances must be the same in all classes, and of
        naive Bayes all features normal.

    Returns
    -------
    dict
        ``w`` of shape (D + 1,) for two classes, (C - 1, D + 1) for more: the intercept, then a
        weight for each feature, of the log odds of each class against the first.

    Raises
    ------
    DataError
        If covariances differ between classes, so that the log odds are quadratic; if a block of
        features is not normal; if a variable is missing or has another shape.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> flowers = bm.datasets.load("iris")
    >>> data = bm.Design.from_frame(flowers, "species", ["petal_length", "petal_width"])
    >>> names = sorted(set(flowers["species"]))
    >>> normal = bm.NormalInverseWishart([4, 1], 0.01, 4, np.eye(2))
    >>> lda = bm.GaussianDiscriminant(
    ...     bm.DirichletCategorical([1, 1, 1], names), normal, covariance="shared"
    ... ).update(data)
    >>> known = lda.mean()
    >>> pair = bm.LogisticRegression(mean=np.zeros(3), cov=1, classes=names)
    >>> w, rows = lda.logistic_coefficients(known), data.features.to_numpy()
    >>> np.allclose(
    ...     pair.class_probabilities(rows, w, intercept=True), lda.class_probabilities(rows, known)
    ... )
    True
    """
    pi, mu, Sigma = self.normals(parameters)
    rows = []
    for c in range(1, len(pi)):
        pair = [0, c]
        edge = boundary(pi[pair] / pi[pair].sum(), mu[pair], Sigma[pair])
        if not edge.linear:
            labels = self.classes.coords["category"]
            raise DataError(
                f"parameters: classes {labels[0]!r} and {labels[c]!r} have covariances that "
                "differ, so their log odds are quadratic and no logistic regression has them. Use "
                "covariance='shared', or one variance a feature."
            )
        _, slope, constant = edge.about_zero()
        rows.append(np.append(constant, slope))
    return {"w": rows[0] if len(rows) == 1 else np.stack(rows)}


def known(parameters: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """Return a variable broadcast to this shape: one value may be for all classes."""
    value = np.asarray(variable(parameters, name), dtype=float)
    if value.shape not in (shape, shape[1:]):
        raise DataError(f"parameters: {name} must have the shape {shape}; got {value.shape}.")
    return np.broadcast_to(value, shape)
