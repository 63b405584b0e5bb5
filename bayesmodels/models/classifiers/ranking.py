"""Which features tell most of the class, under a belief about classes and features.

The information of a feature depends on parameters that are uncertain, hence so does the order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.intervals import renamed
from bayesmodels.belief.protocol import Draws
from bayesmodels.errors import DataError
from bayesmodels.input.parameters import count, proportion, randomness
from bayesmodels.models.classifiers.generative import ProductOfBeliefs
from bayesmodels.models.classifiers.information import mutual_information, mutual_information_normal
from bayesmodels.models.shared_covariance import SharedNormalInverseWishart
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pandas as pd


_SAMPLE = 1 << 22  # numbers drawn at a time


@renamed
def rank_features(
    belief: Any,
    *,
    top: int = 10,
    words: Sequence[str] | None = None,
    ci_prob: float = 0.89,
    draws: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Return how much each feature tells of the class, the most telling feature first.

    The best k features are ``rank_features(belief).head(k)``.

    Parameters
    ----------
    belief : NaiveBayes or GaussianDiscriminant
        A belief about classes and features, after data. Of a vector of features (a full
        covariance) each feature is taken alone.
    top : int, default 10
        What ``probability_top`` speaks of: being among so many best features.
    words : sequence of str, optional
        Blocks in which each category is a feature: whether the next token is this word. By default
        those given as counts, and a single unnamed block of categories.
    ci_prob : float, default 0.89
        Probability of the equal-tailed intervals.
    draws : int, default 1000
        Number of draws of the parameters.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.

    Returns
    -------
    pandas.DataFrame
        One row a feature. ``mutual_information`` is that of the parameters' posterior mean, which
        orders the rows; ``mean``, ``lower`` and ``upper`` describe its posterior; all in nats.
        ``probability_top`` is the posterior probability of being among the `top` features.
        Where there are several blocks, ``block`` names the feature's.

    Raises
    ------
    DataError
        If `belief` is not about classes and features or has met no data, or a variance has no
        finite mean.
    PriorError
        If a mean has no mean (tails too heavy).

    Notes
    -----
    The posterior mean of the information lies above the information at the posterior mean where
    rows are few: parameters that are merely uncertain differ between classes in every draw.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 3.5.4.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np, pandas as pd
    >>> rows = pd.DataFrame({"fever": [1, 1, 1, 0, 0, 0], "left-handed": [0, 1, 0, 1, 0, 1]})
    >>> prior = bm.NaiveBayes(
    ...     bm.DirichletCategorical([1, 1], categories=["ill", "well"]), bm.BetaBernoulli(1, 1)
    ... )
    >>> posterior = prior.update((rows, ["ill"] * 3 + ["well"] * 3))
    >>> rank_features(posterior, rng=np.random.default_rng(1))["mutual_information"].round(3)
    fever          0.193
    left-handed    0.020
    Name: mutual_information, dtype: float64
    """
    import pandas as pd

    ci_prob = proportion(ci_prob, "ci_prob")
    number, best = count(draws, "draws", 1), count(top, "top", 1)
    blocks = _features(belief, words)
    means = belief.mean()
    for name, value in means.items():
        if not np.isfinite(value).all():
            raise DataError(
                f"belief: the mean of {name} is infinite, so that there is no information at the "
                "mean. Update the belief with more rows, or give it a prior with lighter tails."
            )

    def information(values: Draws) -> Array:
        return np.concatenate([tells(values) for _, _, tells in blocks], axis=-1)

    rng = randomness(rng)
    step = max(1, _SAMPLE // sum(np.size(value) for value in means.values()))
    sizes = [min(step, number - start) for start in range(0, number, step)]
    sampled = np.concatenate([information(belief.sample(size, rng)) for size in sizes])
    lower, upper = np.quantile(sampled, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0)
    best = min(best, sampled.shape[-1])
    least = np.partition(sampled, -best, axis=-1)[:, -best, None]
    table = pd.DataFrame(
        {
            "mutual_information": information(means),
            "mean": sampled.mean(0),
            "lower": lower,
            "upper": upper,
            "probability_top": (sampled >= least).mean(0),
        },
        index=pd.Index([label for _, labels, _ in blocks for label in labels]),
    )
    if len(blocks) > 1:
        table["block"] = [name for name, labels, _ in blocks for _ in labels]
    return table.sort_values("mutual_information", ascending=False, kind="stable")


def mutual_information_at(
    self: Any, parameters: Draws, *, words: Sequence[str] | None = None
) -> pd.Series:
    r"""Return what each feature tells of the class, as if the parameters were known.

    .. math:: I_j = \sum_c \pi_c \sum_x p(x_j = x \mid c) \ln \frac{p(x_j = x \mid c)}{p(x_j = x)}

    Parameters
    ----------
    parameters : mapping
        Such as ``belief.mean()``, of a belief that has met data.
    words : sequence of str, optional
        Blocks in which each category is a feature, as in `rank_features`, which also says how
        uncertain the information is.

    Returns
    -------
    pandas.Series
        In nats, by feature, in the order of the features.

    Raises
    ------
    DataError
        If the belief has met no data, or `words` names no block.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, equation 3.75.

    Examples
    --------
    >>> import bayesmodels as bm, pandas as pd
    >>> rows = pd.DataFrame({"fever": [1, 1, 1, 0, 0, 0], "left-handed": [0, 1, 0, 1, 0, 1]})
    >>> prior = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    >>> posterior = prior.update((rows, [1, 1, 1, 0, 0, 0]))
    >>> posterior.mutual_information(posterior.mean()).round(3)
    fever          0.193
    left-handed    0.020
    dtype: float64
    """
    import pandas as pd

    blocks = _features(self, words)
    values = np.concatenate([tells(parameters) for _, _, tells in blocks], axis=-1)
    return pd.Series(values, [label for _, labels, _ in blocks for label in labels])


# --- the blocks of a belief -----------------------------------------------------------------------

_Tells = Callable[[Draws], Array]


def _features(
    belief: Any, words: Sequence[str] | None
) -> list[tuple[str, tuple[Hashable, ...], _Tells]]:
    """Return name, labels of features and their information, for each block of a belief."""
    if not isinstance(belief, ProductOfBeliefs):
        raise DataError(
            "belief: must be about classes and features, such as NaiveBayes; got "
            f"{type(belief).__name__}."
        )
    unknown = set(words or ()) - set(belief.blocks)
    if unknown or isinstance(words, str):
        raise DataError(
            f"words: must be a list of names of blocks, {list(belief.blocks)}; got {words!r}."
        )
    result = []
    for (name, block), (part, names) in zip(belief.blocks.items(), belief.parts()[1:], strict=True):
        if "class" not in part.coords:
            raise DataError(
                "belief: has met no data, and so has no classes in its features. Update it first."
            )
        axes = [axis for axis in part.coords if axis not in ("class", "other_feature")]
        tokens = name in words if words is not None else block.counted or not name
        tokens = tokens and axes == ["category"]
        labelled = "category" if tokens else "feature"
        label = block.columns if isinstance(block.columns, Hashable) else name
        labels = part.coords[labelled] if labelled in axes else (label,)
        result.append((name, labels, _block(part, names, tokens=tokens)))
    return result


def _block(part: Any, names: Any, *, tokens: bool) -> _Tells:
    """Return the function from values of the variables to the information of a block's features."""
    axes = [axis for axis in part.coords if axis != "class"]
    single = "feature" not in axes and not tokens
    categories = "category" in axes and not tokens

    def of_theta(values: Draws) -> Array:
        theta = np.asarray(values[names("theta")])
        if single:
            theta = np.expand_dims(theta, theta.ndim - categories)
        return mutual_information(values["pi"], theta, categories=categories)

    def of_mu(values: Draws) -> Array:
        mu, spread = (np.asarray(values[names(v)]) for v in part.dims)
        if isinstance(part, SharedNormalInverseWishart):
            spread = part.each(spread)  # one matrix for all classes, or known multiples of it
        if "Sigma" in part.dims:
            spread = np.diagonal(spread, axis1=-2, axis2=-1)
        if single:
            mu, spread = mu[..., None], spread[..., None]
        return mutual_information_normal(values["pi"], mu, spread)

    return of_theta if "theta" in part.dims else of_mu
