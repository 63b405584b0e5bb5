r"""Naive Bayes: a class, and features that are independent given the class.

=============  =================================================================================
Prior          pi ~ Dirichlet(alpha); for each class and feature a belief of the feature's family
Rows           y_i | pi ~ Categorical(pi), x_ij | y_i = c ~ family(parameters of feature j, class c)
Statistic      N_c, and the family's statistic of feature j over the rows of class c
Posterior      the same beliefs, each updated with the rows of its class
Log evidence   the sum of the parts'
Predictive     p(c | x) ∝ p(c) prod_j p(x_j | c), each factor the family's predictive
=============  =================================================================================

Families: `BetaBernoulli` for bits, `DirichletCategorical` for categories, the same with counts for
bags of words (one multinomial observation a document), `NormalInverseGamma` for numbers,
`NormalInverseWishart` for vectors. A missing cell is integrated out: its factor is dropped, in
training as in prediction, which is right if what is missing does not depend on its value.

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), section 3.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from bayesmodels.belief import values
from bayesmodels.belief.protocol import Draws
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input import labels
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers import decision
from bayesmodels.models.classifiers.features import Block, block_of, features_argument, of_classes
from bayesmodels.models.classifiers.generative import GenerativeClassifier, check_classes
from bayesmodels.models.classifiers.logistic_coefficients import known, logistic_coefficients
from bayesmodels.models.classifiers.ranking import mutual_information_at
from bayesmodels.models.normal import NormalInverseGamma
from bayesmodels.numerics import Array


@value
class NaiveBayes(GenerativeClassifier):
    r"""Belief about class probabilities and about features given the class.

    .. math:: p(y = c, x) = \pi_c \prod_j p(x_j \mid \theta_{jc})

    Parameters
    ----------
    classes : DirichletCategorical
        Belief about the class probabilities; its categories are the labels of the classes.
    features : belief or mapping
        One belief for all columns, or from the name of a block of columns to a belief or a pair
        ``(belief, columns)``. Columns are a label, a list of labels, or a function from the frame
        to labels, such as scikit-learn's ``make_column_selector``; by default the column that the
        block is named after. ``MultinomialCounts([...])`` marks columns that are counts, such as
        words. A belief without the axis ``class`` is the prior of every class.

    Raises
    ------
    PriorError
        If a block has no belief about features.

    Notes
    -----
    Variables are ``pi`` and those of the families, with the block's name behind them:
    ``theta_smoker``, ``mu_size``. With one belief for all columns they stay ``theta``, ``mu``.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 3.5.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> classes = bm.DirichletCategorical([1, 1], categories=["ham", "spam"])
    >>> prior = bm.NaiveBayes(classes, bm.BetaBernoulli(1, 1))
    >>> posterior = prior.update(([[1, 0], [1, 1], [0, 0]], ["spam", "spam", "ham"]))
    >>> posterior.class_probabilities([[1, 0]]).round(3)
    array([[0.283, 0.717]])

    Several families, and a missing cell:

    >>> import pandas as pd
    >>> table = pd.DataFrame({"smoker": [1, 0, None, 0], "age": [61.0, 35.0, 58.0, 29.0]})
    >>> mixed = bm.NaiveBayes(
    ...     bm.DirichletCategorical([1, 1], categories=["ill", "well"]),
    ...     {"smoker": bm.BetaBernoulli(1, 1), "age": bm.NormalInverseGamma(45, 0.1, 2, 100)},
    ... )
    >>> after = mixed.update((table, ["ill", "well", "ill", "well"]))
    >>> after.most_probable_class(table)
    array(['ill', 'well', 'ill', 'well'], dtype='<U4')
    """

    classes: DirichletCategorical
    blocks: dict[str, Block]

    title: ClassVar = "Naive Bayes"
    equations: ClassVar = (
        ("Prior", r"\pi \sim \mathrm{Dirichlet}(\alpha), \quad \theta_{jc} \sim p_j(\theta)"),
        ("Likelihood", r"y_i \mid \pi \sim \mathrm{Categorical}(\pi)"),
        ("", r"x_{ij} \mid y_i = c \sim p_j(x \mid \theta_{jc})"),
        ("Posterior", r"\pi \mid y \sim \mathrm{Dirichlet}(\alpha + N)"),
        ("", r"\theta_{jc} \mid x, y: \text{ updated with the rows of class } c"),
        ("Predictive", r"p(c \mid x) \propto p(c \mid D) \prod_j p(x_j \mid c, D)"),
    )

    def __init__(self, classes: DirichletCategorical, features: Any) -> None:
        check_classes(classes)
        mapping = features if isinstance(features, Mapping) else {"": features}
        if not mapping:
            raise PriorError("features: must hold at least one block; got none.")
        try:
            for name in labels.unique(tuple(mapping), "features: names of blocks"):
                labels.part_of_names(str(name), "features: names of blocks")
        except DataError as error:
            raise PriorError(str(error)) from None
        blocks = {}
        for name, each in mapping.items():
            blocks[str(name)] = of_classes(block_of(each, name), str(name), classes)
        values.fill(self, classes=classes, blocks=blocks)

    def normals(self, parameters: Draws) -> tuple[Array, Array, Array]:
        """Return class probabilities (C,), means (C, D) and covariances (C, D, D), checked.

        All features must be normal.
        """
        size = len(self.classes.alpha)
        means, variances = [], []
        for belief, names in self.parts()[1:]:
            if not isinstance(belief, NormalInverseGamma):
                raise DataError(
                    f"features: must all be normal; {names('theta')!r} belongs to "
                    f"{type(belief).__name__}. Leave out what is no number."
                )
            axes = [axis for axis in belief.dims["mu"] if axis != "class"]
            shape = (size, *(len(belief.coords[axis]) for axis in axes))
            means.append(known(parameters, names("mu"), shape).reshape(size, -1))
            variances.append(known(parameters, names("sigma2"), shape).reshape(size, -1))
        mu, sigma2 = np.concatenate(means, axis=-1), np.concatenate(variances, axis=-1)
        return known(parameters, "pi", (size,)), mu, sigma2[..., None] * np.eye(mu.shape[-1])

    boundary = decision.boundary_at
    bayes_risk = decision.bayes_risk_at
    logistic_coefficients = logistic_coefficients
    mutual_information = mutual_information_at

    @classmethod
    def _from_file(cls, classes: DirichletCategorical, blocks: dict[str, Block]) -> Self:
        """Return the belief, its blocks checked as a user's are."""
        return cls(classes, features_argument(blocks))
