r"""Collapsed Gibbs sampling of mixtures of naive Bayes.

All parameters are integrated out; the class of each row is drawn given the classes of all others,

.. math:: p(y_i = c \mid y_{-i}, x) \propto (\alpha_c + n_{c,-i})
    \prod_j p(x_{ij} \mid \{x_{lj} : y_l = c, l \neq i\}),

the family's predictive. Parameters are then drawn from their conjugate posterior given the classes.

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), section 24.2.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, hstack, kron

from bayesmodels.belief.datatree import tree_of
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.data import weighted
from bayesmodels.input.parameters import count, randomness
from bayesmodels.models.mixture.latent_rows import (
    UNKNOWN,
    Events,
    MixtureStatistic,
    Numbers,
    latent_rows,
)
from bayesmodels.models.mixture.naive_bayes_mixture import NaiveBayesMixture
from bayesmodels.numerics import Array, kernels

if TYPE_CHECKING:
    import xarray as xr

_AT_ONCE = 4_000_000  # numbers


def gibbs_draws(
    prior: NaiveBayesMixture,
    data: Any,
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[str], object] = lambda _: None,
) -> xr.DataTree:
    """Return draws of classes and parameters of a mixture by collapsed Gibbs sampling.

    Parameters
    ----------
    prior : NaiveBayesMixture
        The prior.
    data : features, or pair (X, y) with missing entries in y
        A known class stays what it is; a missing cell is integrated out.
    draws, tune, chains : int
        Numbers of draws and of discarded sweeps a chain, and of chains.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.
    progress : callable, optional
        Told, in words, which chain runs.

    Returns
    -------
    xarray.DataTree
        The groups of `exact_draws`; ``posterior`` holds the class of each row as ``y`` besides the
        parameters.

    Raises
    ------
    DataError
        If the rows are weighted, or there are none.

    Notes
    -----
    Chains may stay in different orders of the classes; see `relabel`.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 24.2.4.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    >>> bits = [[1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 1]]
    >>> tree = bm.gibbs_draws(prior, bits, draws=50, tune=10, rng=np.random.default_rng(1))
    >>> dict(tree.posterior.theta.sizes)
    {'chain': 4, 'draw': 50, 'class': 2, 'feature': 3}
    """
    if prior.terms is not None:
        raise PriorError(
            "prior: must be a prior, not an exact posterior; pass all rows to the prior."
        )
    if weighted(data) or isinstance(data, MixtureStatistic):
        raise DataError(
            "data: Gibbs sampling gives a class to every single row; pass rows without weights, "
            "not a statistic."
        )
    number, before = count(draws, "draws", 1), count(tune, "tune")
    several = count(chains, "chains", 1)
    rng = randomness(rng)
    s = latent_rows(prior.classes, prior.blocks, data)
    if not len(s.labels):
        raise DataError("data: must have rows; got none.")
    met = prior.update(s.distinct().without_rows())
    tables = _tables(met, s)
    sweep = kernels.gibbs_sweep
    alpha = met.classes.alpha
    kept = np.empty((several, number, len(s.labels)), dtype=np.intp)
    for chain in range(several):
        progress(f"Gibbs sampling: chain {chain + 1} of {several}")
        z = np.where(s.labels == UNKNOWN, rng.integers(0, len(alpha), len(s.labels)), s.labels)
        for step in range(before + number):
            sweep(z, s.labels, alpha, *tables, rng.random(len(z)))
            if step >= before:
                kept[chain, step - before] = z
    posterior = _parameters(met, s, kept.reshape(-1, kept.shape[-1]), rng)
    shaped: dict[str, NDArray[Any]] = {
        name: x.reshape(several, number, *x.shape[1:]) for name, x in posterior.items()
    }
    lp = np.asarray(met.log_density(shaped))
    lp = lp + prior.log_likelihood(shaped, data)["rows"].sum(-1)
    shaped["y"] = kept
    return tree_of(prior, met, data, shaped, {"lp": lp}, rng)


def _parameters(
    met: NaiveBayesMixture, s: MixtureStatistic, z: NDArray[np.intp], rng: np.random.Generator
) -> dict[str, Array]:
    """Draw parameters given the classes, once for each set of classes (draws, n)."""
    size = len(met.classes.alpha)
    step = max(1, _AT_ONCE // (size * z.shape[1]))
    found: dict[str, list[Array]] = {}
    for start in range(0, len(z), step):
        allotted = (z[start : start + step, :, None] == np.arange(size)).astype(float)
        for name, x in met.sample_given(s, allotted, rng).items():
            found.setdefault(name, []).append(x)
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _tables(met: NaiveBayesMixture, s: MixtureStatistic) -> tuple[Any, Any, Any, Any]:
    """Return rows and priors of all blocks in the form in which the sweep reads them.

    Of levels and of groups of levels, each of which has one Dirichlet law, a table and
    pseudo-counts; of numbers the rows less their columns' centres, which are there, and priors; of
    events these, their exposures and priors.
    """
    n, size = len(s.labels), len(met.classes.alpha)
    levels, groups = [csr_array((n, 0))], [csr_array((n, 0))]
    alphas, totals = [np.zeros((size, 0))], [np.zeros((size, 0))]
    numbers, priors = [np.zeros((2, n, 0))], [np.zeros((4, size, 0))]
    events, rates = [np.zeros((2, n, 0))], [np.zeros((2, size, 0))]
    for part, _ in met.cells_of(s):
        if isinstance(part, Numbers):
            b = part.belief
            own = [x.reshape(size, -1) for x in (b.location, b.kappa, b.shape, b.scale)]
            priors.append(np.stack([own[0] - part.centre, *own[1:]]))
            numbers.append(np.stack([part.x - part.centre, part.here]))
            continue
        if isinstance(part, Events):
            rates.append(
                np.stack([x.reshape(size, -1) for x in (part.belief.shape, part.belief.rate)])
            )
            events.append(np.stack([part.events, part.exposure]))
            continue
        table, alpha, width = csr_array(part.indicators), part.pseudo_counts(), part.shape[-1]
        of_group = kron(eye_array(table.shape[1] // width), np.ones((width, 1)))
        levels.append(table)
        groups.append(csr_array(table @ of_group))
        alphas.append(alpha)
        totals.append(alpha.reshape(size, -1, width).sum(-1))
    rows, waits = (
        (*np.concatenate(told, axis=-1), *np.concatenate(own, axis=-1))
        for told, own in ((numbers, priors), (events, rates))
    )
    return _pointed(levels, alphas), _pointed(groups, totals), rows, waits


def _pointed(tables: list[Any], alphas: list[Array]) -> tuple[Any, ...]:
    table = csr_array(hstack(tables, format="csr"))
    table.eliminate_zeros()
    return (
        table.indptr.astype(np.intp),
        table.indices.astype(np.intp),
        table.data.astype(float),
        np.ascontiguousarray(np.concatenate(alphas, axis=1)),
    )
