r"""Draws of mixtures whose classes may change places: invariant quantities, and a common order.

The posterior of a mixture is the same for every order of its classes, and so is its sampler's work:
chains may sit in different orders, and one chain may change its order. That is no fault of the
sampler, but averages and R-hat of single parameters mean nothing then. Two ways out: quantities
that do not depend on the order, and draws put into one order by a stated rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from bayesmodels.belief.reading import places
from bayesmodels.input.draws import read
from bayesmodels.models.mixture.latent_rows import latent_rows, shares
from bayesmodels.models.mixture.naive_bayes_mixture import NaiveBayesMixture
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

RULE = (
    "the classes of each draw are permuted such that its probabilities of the rows' classes agree "
    "most with their average over all draws (Stephens, 2000)"
)
KEPT = "prior or known labels tell the classes apart, so that each keeps its place"
_MOST_ROWS = 500
_PASSES = 20
_MIXED, _NOT_MIXED = 1.01, 1.1
_SWITCHED = 0.01  # part of the draws that are in another order


@dataclass(frozen=True)
class Relabelled:
    """Draws of a mixture in one order of the classes, for reading.

    Attributes
    ----------
    draws : xarray.DataTree
        The group ``posterior``, permuted.
    table : pandas.DataFrame
        R-hat of every scalar that has a class: ``r_hat_before`` and ``r_hat_after``.
    invariants : pandas.DataFrame
        R-hat of quantities that do not depend on the order, in the column ``r_hat``.
    permutations : ndarray of shape (chain, draw, class)
        Which class of the draw each class of the result is.
    rule : str
        How the order was found, in words.
    """

    draws: xr.DataTree = field(repr=False)
    table: pd.DataFrame = field(repr=False)
    invariants: pd.DataFrame = field(repr=False)
    permutations: NDArray[np.intp] = field(repr=False)
    rule: str = RULE

    def sentences(self) -> list[str]:
        """Say what was found in words, the most important first."""
        return [self._sentence()]

    def _sentence(self) -> str:
        """Say in words what R-hat says before and after, and what follows."""
        before, after = (float(self.table[f"r_hat_{when}"].max()) for when in ("before", "after"))
        free = float(self.invariants["r_hat"].max())
        moved = float((self.permutations != np.arange(self.permutations.shape[-1])).any(-1).mean())
        said = (
            f"R-hat of single parameters is up to {before:.3f} as sampled, {after:.3f} in a common "
            f"order of the classes ({100 * moved:.0f} % of the draws were permuted), and "
            f"{free:.3f} for quantities that do not depend on the order."
        )
        if before > _MIXED >= max(free, after):
            return (
                f"The chains hold the classes in different orders: {said} The sampler has mixed; "
                "averages of single parameters as sampled mean nothing, those of the relabelled "
                "draws do."
            )
        if free > _MIXED:
            return f"The chains have not mixed, whatever the order of the classes: {said}"
        if after > _MIXED:
            return (
                f"No order of the classes makes single parameters comparable: {said} Read what "
                "does not depend on the order."
            )
        if moved > _SWITCHED:
            return f"Classes change places within every chain, in all of them alike: {said}"
        return f"The chains hold the classes in one order: {said}"


def relabel(model: NaiveBayesMixture, draws: Any, data: Any) -> Relabelled:
    """Put the classes of all draws of a mixture into one order, and say what that does to R-hat.

    Parameters
    ----------
    model : NaiveBayesMixture
        The prior, or an exact posterior of it.
    draws : xarray.DataTree or mapping
        Arrays with the axes (chain, draw, ...), of any sampler.
    data : as the model's data
        Rows whose class probabilities decide; of many, 500 that are spread evenly.

    Returns
    -------
    Relabelled
        With the permuted draws, R-hat before and after, and `sentence`.

    References
    ----------
    Stephens (2000), "Dealing with label switching in mixture models", algorithm 2 with the squared
    distance in place of the divergence.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.NaiveBayesMixture(bm.DirichletCategorical([3, 3]), bm.BetaBernoulli(1, 1))
    >>> bits = [[1, 1, 1]] * 8 + [[0, 0, 0]] * 6
    >>> tree = prior.update(bits).to_datatree(rng=np.random.default_rng(1))
    >>> result = bm.relabel(prior, tree, bits)
    >>> result.draws.posterior["theta"].mean(("chain", "draw")).to_numpy().round(1).tolist()
    [[0.9, 0.9, 0.9], [0.1, 0.1, 0.1]]
    """
    import pandas as pd
    from arviz_base import from_dict
    from arviz_stats.sampling_diagnostics import rhat

    s = latent_rows(model.classes, model.blocks, data).spread(_MOST_ROWS)
    wide = model.with_axes(s)
    known = read(draws, wide.dims, wide.coords)
    share = shares(wide.log_joint_of(s, known))[0]
    lead = share.shape[:2]
    alike = model.interchangeable(data)
    if alike:
        order = _permutations(share.reshape(-1, *share.shape[2:]), s.weights)
    else:
        order = np.broadcast_to(np.arange(share.shape[-1]), (*lead, share.shape[-1]))
    order = order.reshape(*lead, -1)
    moved = {name: _permuted(x, order, wide.dims[name]) for name, x in known.items()}
    rows = {}
    for name, x in moved.items():
        for label, at in places(wide, name, x.shape[2:]):
            pair = (_chains_last(part)[at] for part in (known[name], x))
            rows[label] = [float(rhat(part)) for part in pair]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["r_hat_before", "r_hat_after"])
    free = {}
    for name, x in model.label_invariants(known, data).items():
        for at in np.ndindex(x.shape[2:]):
            inner = ", ".join(map(str, at))
            free[f"{name}[{inner}]"] = [float(rhat(_chains_last(x)[at]))]
    tree = from_dict(
        {"posterior": moved},
        dims={name: list(axes) for name, axes in wide.dims.items()},
        coords={axis: cast("Any", list(labels)) for axis, labels in wide.coords.items()},
    )
    invariants = pd.DataFrame.from_dict(free, orient="index", columns=["r_hat"])
    return Relabelled(tree, table, invariants, order, RULE if alike else KEPT)


def _chains_last(x: Array) -> Array:
    """Turn (chain, draw, ...) into (..., chain, draw)."""
    return np.moveaxis(x, (0, 1), (-2, -1))


def _permutations(share: Array, weights: Array) -> NDArray[np.intp]:
    """Return which class of each draw comes first, second, ...: (draws, class)."""
    draws, _, size = share.shape
    order = np.broadcast_to(np.arange(size), (draws, size)).copy()
    target = share[-1]
    for _ in range(_PASSES):
        gain = np.einsum("nc,n,sne->sce", target, weights, share, optimize=True)
        result = np.array([linear_sum_assignment(-each)[1] for each in gain])
        target = np.take_along_axis(share, result[:, None, :], axis=-1).mean(0)
        if (result == order).all():
            break
        order = result
    by_size = np.argsort(-(weights @ target), kind="stable")  # the largest class first
    return order[:, by_size]


def _permuted(x: Array, order: NDArray[np.intp], axes: tuple[str, ...]) -> Array:
    """Return draws (chain, draw, ...) with the classes in the given order."""
    at = 2 + axes.index("class")
    shape = [*order.shape[:2], *(1,) * (x.ndim - 2)]
    shape[at] = order.shape[-1]
    return np.take_along_axis(x, order.reshape(shape), axis=at)
