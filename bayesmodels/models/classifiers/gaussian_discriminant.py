r"""Gaussian discriminant analysis: a class, and a normal vector of features given the class.

=============  =================================================================================
Prior          pi ~ Dirichlet(alpha); means and covariances of the classes, one of
               ``full``          Sigma_c ~ InverseWishart for each class (`NormalInverseWishart`)
               ``shared``        one Sigma for all classes (`SharedNormalInverseWishart`)
               ``proportional``  Sigma_c = r_c Sigma with known ratios r_c (the same)
               ``diagonal``      variances of each class and feature (`NormalInverseGamma`)
Rows           y_i | pi ~ Categorical(pi),  x_i | y_i = c ~ Normal(mu_c, Sigma_c)
Log evidence   the sum of the parts'
Predictive     p(c | x) ∝ p(c) p(x | c), the latter a multivariate Student-t density
=============  =================================================================================

With parameters known, ``full`` is quadratic discriminant analysis and ``shared`` linear
discriminant analysis. Integrated over the parameters, few rows a class are no trouble, and the
boundary is bent by what is not known.

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), section 4.2.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from bayesmodels.belief import values
from bayesmodels.belief.protocol import Draws
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers import decision
from bayesmodels.models.classifiers.features import Block, of_classes
from bayesmodels.models.classifiers.generative import GenerativeClassifier, check_classes
from bayesmodels.models.classifiers.logistic_coefficients import known, logistic_coefficients
from bayesmodels.models.classifiers.ranking import mutual_information_at
from bayesmodels.models.multivariate_normal import NormalInverseWishart
from bayesmodels.models.normal import NormalInverseGamma
from bayesmodels.models.shared_covariance import SharedNormalInverseWishart
from bayesmodels.numerics import Array

Covariance = Literal["full", "shared", "proportional", "diagonal"]
COVARIANCES = ("full", "shared", "proportional", "diagonal")


@value
class GaussianDiscriminant(GenerativeClassifier):
    r"""Belief about class probabilities and about a normal law of the features in each class.

    .. math:: p(y = c, x) = \pi_c \, N(x \mid \mu_c, \Sigma_c)

    Parameters
    ----------
    classes : DirichletCategorical
        Belief about the class probabilities; its categories are the labels of the classes.
    gaussian : NormalInverseWishart or NormalInverseGamma
        Belief about means and covariances of D features: one for every class, or with the leading
        axis of classes. ``NormalInverseGamma`` (a batch over features) for ``"diagonal"``. For a
        covariance that classes share, df and scale are those of this one covariance.
    covariance : {"full", "shared", "proportional", "diagonal"}
        What is assumed of the covariances of the classes.
    ratio : array_like, optional
        For ``"proportional"``: the ratios of the classes' covariances to Sigma, one a class; for
        two classes also the single ratio of the second to the first.

    Raises
    ------
    PriorError
        If the belief does not fit the kind of covariance, or a ratio is missing or not positive.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 4.2.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> flowers = bm.datasets.load("iris")
    >>> data = bm.Design.from_frame(flowers, "species")
    >>> classes = bm.DirichletCategorical([1, 1, 1], sorted(set(flowers["species"])))
    >>> normal = bm.NormalInverseWishart([6, 3, 4, 1], 0.01, 6, np.eye(4))
    >>> full = bm.GaussianDiscriminant(classes, normal).update(data)
    >>> full.class_probabilities([[6.0, 2.5, 4.9, 1.6]]).round(3)
    array([[0.   , 0.305, 0.695]])

    Which covariances do the data speak for?

    >>> shared = bm.GaussianDiscriminant(classes, normal, covariance="shared")
    >>> models = {"full": bm.GaussianDiscriminant(classes, normal), "shared": shared}
    >>> bm.compare_evidence(models, data).index[0]
    'full'
    """

    classes: DirichletCategorical
    blocks: dict[str, Block]
    covariance: Covariance

    title: ClassVar = "Gaussian discriminant analysis"
    equations: ClassVar = (
        ("Prior", r"\pi \sim \mathrm{Dirichlet}(\alpha)"),
        ("", r"\mu_c, \Sigma_c \sim p(\mu, \Sigma)"),
        ("Likelihood", r"y_i \mid \pi \sim \mathrm{Categorical}(\pi)"),
        ("", r"x_i \mid y_i = c \sim \mathrm{Normal}(\mu_c, \Sigma_c)"),
        ("Posterior", r"\pi \mid y \sim \mathrm{Dirichlet}(\alpha + N)"),
        ("", r"\mu_c, \Sigma_c \mid x, y: \text{ updated with the rows of class } c"),
        ("Predictive", r"p(c \mid x) \propto p(c \mid D) \, p(x \mid c, D)"),
    )

    def __init__(
        self,
        classes: DirichletCategorical,
        gaussian: Any,
        covariance: Covariance = "full",
        ratio: ArrayLike | None = None,
    ) -> None:
        check_classes(classes)
        if covariance not in COVARIANCES:
            raise PriorError(f"covariance: must be one of {COVARIANCES}; got {covariance!r}.")
        wanted = NormalInverseGamma if covariance == "diagonal" else NormalInverseWishart
        if not isinstance(gaussian, wanted):
            raise PriorError(
                f"gaussian: must be a {wanted.__name__} belief with covariance={covariance!r}; got "
                f"{type(gaussian).__name__}."
            )
        if (ratio is not None) != (covariance == "proportional"):
            raise PriorError(
                f"ratio: goes with covariance='proportional', and with it alone; got {ratio!r} and "
                f"{covariance!r}. Of an unknown ratio, compare the log_evidence of several."
            )
        belief: Any = gaussian
        if covariance in ("shared", "proportional"):
            belief = _tied(classes, belief, 1.0 if ratio is None else ratio)
        values.fill(self, classes=classes, blocks={"": Block(belief)}, covariance=covariance)

    @classmethod
    def _from_file(
        cls, classes: DirichletCategorical, gaussian: Any, covariance: Covariance
    ) -> Self:
        """Return the belief; a covariance that classes share is there, and not made again."""
        shared = isinstance(gaussian, SharedNormalInverseWishart)
        if shared != (covariance in ("shared", "proportional")) or (
            covariance == "shared" and (gaussian.ratio != 1).any()
        ):
            raise DataError(f"covariance: {covariance!r} does not fit the gaussian.")
        if not shared:
            belief = cls(classes, gaussian, covariance)
            of_classes(belief.blocks[""], "", classes)
            return belief
        check_classes(classes)
        if "class" not in gaussian.coords:
            raise DataError("gaussian: must have the axis class.")
        block = of_classes(Block(gaussian), "", classes)
        return checked.build(cls, classes, {"": block}, covariance)

    @property
    def gaussian(self) -> Any:
        """Belief about means and covariances."""
        return self.blocks[""].belief

    def covariances(self, parameters: Draws) -> Array:
        """Return the covariance matrix of each class, of shape (..., C, D, D).

        Parameters
        ----------
        parameters : mapping
            Such as ``belief.mean()``, ``belief.mode()`` or draws.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> two = bm.DirichletCategorical([1, 1])
        >>> normal = bm.NormalInverseWishart([0, 0], 1, 5, np.eye(2))
        >>> model = bm.GaussianDiscriminant(two, normal, "proportional", ratio=4)
        >>> model.covariances({"mu": np.zeros((2, 2)), "Sigma": np.eye(2)})[1]
        array([[4., 0.],
               [0., 4.]])
        """
        mu = np.asarray(parameters["mu"])
        if self.covariance == "diagonal":
            return np.asarray(parameters["sigma2"])[..., None] * np.eye(mu.shape[-1])
        sigma = np.asarray(parameters["Sigma"])
        return sigma if self.covariance == "full" else self.gaussian.each(sigma)

    def normals(self, parameters: Draws) -> tuple[Array, Array, Array]:
        """Return class probabilities (C,), means (C, D) and covariances (C, D, D), checked."""
        size, width = len(self.classes.alpha), self.gaussian.location.shape[-1]
        pi = known(parameters, "pi", (size,))
        mu = known(parameters, "mu", (size, width))
        result = np.asarray(self.covariances({**parameters, "mu": mu}), dtype=float)
        return pi, mu, np.broadcast_to(result, (size, width, width))

    boundary = decision.boundary_at
    bayes_risk = decision.bayes_risk_at
    logistic_coefficients = logistic_coefficients
    mutual_information = mutual_information_at


def _tied(
    classes: DirichletCategorical, gaussian: NormalInverseWishart, ratio: ArrayLike
) -> SharedNormalInverseWishart:
    """Return the belief in which classes share one covariance, up to ratios."""
    size, width = len(classes.alpha), gaussian.location.shape[-1]
    ratios = checked.parameter(ratio, "ratio", positive=True)
    if ratios.ndim == 0 and (ratios != 1 or size == 2):  # noqa: PLR2004 - the second over the first
        if size != 2:  # noqa: PLR2004
            raise PriorError(
                f"ratio: must hold one number for each of the {size} classes; got {ratio!r}."
            )
        ratios = np.array([1.0, float(ratios)])
    same = (gaussian.df == gaussian.df.flat[0]).all()
    if not same or not (gaussian.scale == gaussian.scale.reshape(-1, width, width)[0]).all():
        raise PriorError(
            "gaussian: df and scale must be the same for all classes, since the covariance is; "
            "means and kappa may differ."
        )
    return SharedNormalInverseWishart(
        np.broadcast_to(gaussian.location, (size, width)),
        np.broadcast_to(gaussian.kappa, (size,)),
        gaussian.df.flat[0],
        gaussian.scale.reshape(-1, width, width)[0],
        ratios,
        gaussian.features,
        {"class": classes.coords["category"]},
    )
