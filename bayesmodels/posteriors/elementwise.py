"""Laws of a variable whose elements have laws of different kinds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partialmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from bayesmodels.numerics import Array
from bayesmodels.numerics.law import Law
from bayesmodels.numerics.laws import MixtureLaw
from bayesmodels.numerics.laws import element as element_of
from bayesmodels.posteriors.families import ElementLaw

Part = tuple[NDArray[np.intp], Any, NDArray[np.intp]]


class Scattered:
    """Laws of elements put together to the law of an array, used like a frozen SciPy law.

    Of each part (places, law, own) the elements `own` of the law belong at flat `places`.
    """

    def __init__(self, shape: tuple[int, ...], parts: Sequence[Part]) -> None:
        self.shape, self.parts = shape, parts

    def _gather(self, verb: str, *inputs: Any, **named: Any) -> Array:
        result = np.empty(int(np.prod(self.shape, dtype=int)))
        for places, law, indices in self.parts:
            result[places] = np.ravel(np.asarray(getattr(law, verb)(*inputs, **named)))[indices]
        return np.asarray(result.reshape(self.shape))[()]

    def _at(self, verb: str, x: ArrayLike) -> Array:
        """Evaluate at x, which broadcasts against the array on its last axes."""
        x = np.asarray(x, dtype=float)
        shape = np.broadcast_shapes(x.shape, self.shape)
        batch = shape[: len(shape) - len(self.shape)]
        flat = np.broadcast_to(x, shape).reshape(*batch, -1)
        result = np.empty(flat.shape)
        for places, law, indices in self.parts:
            size = np.shape(law.std())
            inputs = np.zeros((*batch, int(np.prod(size, dtype=int))))
            inputs[...] = flat[..., places[:1]]
            inputs[..., indices] = flat[..., places]
            values = np.asarray(getattr(law, verb)(inputs.reshape((*batch, *size))))
            result[..., places] = values.reshape(*batch, -1)[..., indices]
        return np.asarray(result.reshape(shape))[()]

    def _quantiles(self, verb: str, q: ArrayLike) -> Array:
        """Return quantiles; entries of a matrix have them at one probability for all."""
        return self._gather(verb, q) if np.ndim(q) == 0 else self._at(verb, q)

    def entry(self, at: tuple[int, ...]) -> Any:
        """Return the law of one element."""
        place = int(np.ravel_multi_index(at, self.shape))
        law, index = next((of, i[np.asarray(p) == place]) for p, of, i in self.parts if place in p)
        return element_of(law, tuple(map(int, np.unravel_index(index[0], np.shape(law.std())))))

    mean = partialmethod(_gather, "mean")
    var = partialmethod(_gather, "var")
    std = partialmethod(_gather, "std")
    stats = partialmethod(_gather, "stats")  # "s": skewness, "k": excess kurtosis
    ppf = partialmethod(_quantiles, "ppf")
    isf = partialmethod(_quantiles, "isf")
    cdf = partialmethod(_at, "cdf")
    sf = partialmethod(_at, "sf")
    logpdf = partialmethod(_at, "logpdf")


class Certain:
    """Indicators of the values of finite variables, each with its probability; values come last."""

    def __init__(self, mass: Array) -> None:
        self._law = stats.bernoulli(np.clip(mass, 0.0, 1.0))
        self.pmf = mass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._law, name)

    def isf(self, q: float) -> Array:
        """Return quantiles counted from above."""
        return np.asarray(self._law.isf(q))


class Whole(Law):
    """Finite variables as numbers: values, and their probabilities along a last axis."""

    def __init__(self, values: Sequence[Any], mass: Array) -> None:
        self.values, self.mass = np.array(values, dtype=float), np.asarray(mass)

    def mean(self) -> Array:
        """Return the means."""
        return np.asarray(self.mass @ self.values)

    def std(self) -> Array:
        """Return the standard deviations."""
        gaps = self.values - self.mean()[..., None]
        return np.asarray(np.sqrt((self.mass * gaps**2).sum(-1)))

    def stats(self, _moments: str) -> Array:
        """Return the excess kurtosis, the only moment that is asked for."""
        fourth = (self.mass * (self.values - self.mean()[..., None]) ** 4).sum(-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(fourth / self.std() ** 4 - 3)

    def moment_errors(self, off: Array) -> tuple[Array, Array]:
        """Return how far off mean and deviation may be where the probabilities are so far off."""
        gaps, sd = np.abs(self.values - self.mean()[..., None]), self.std()
        of_mean = (off * gaps).sum(-1)
        at_most = np.sqrt((off * gaps**2).sum(-1))  # of a deviation of zero, too
        with np.errstate(divide="ignore", invalid="ignore"):
            of_sd = np.where(sd > 0, at_most**2 / (2 * sd), np.inf)
        return of_mean, np.minimum(of_sd, at_most)

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probability of at most x."""
        return np.asarray((self.mass * (self.values <= np.asarray(x)[..., None])).sum(-1))

    def _quantile(self, below: Array, above: Array) -> Array:
        """Return the first values with so much probability at most there, by the smaller tail."""
        below, above = below[..., None], above[..., None]
        tails = np.cumsum(self.mass[..., ::-1], -1)[..., ::-1]
        more = np.concatenate([tails[..., 1:], 0 * tails[..., :1]], -1)
        beyond = np.where(below <= above, np.cumsum(self.mass, -1) < below, more > above)
        return self.values[np.minimum(beyond.sum(-1), len(self.values) - 1)]


def mixed(weights: Array, laws: Sequence[Sequence[ElementLaw]]) -> list[ElementLaw]:
    """Return the laws of elements, from those they have given finite variables.

    Elements that have the same law in all configurations could be told apart; they are not.
    """
    by_element: dict[int, list[tuple[Any, int]]] = {}
    for law in (law for each in laws for law in each):
        for place, element in enumerate(law.elements):
            by_element.setdefault(int(element), []).append((law.law, place))
    return [
        ElementLaw(np.array([element]), "Mixture", MixtureLaw(weights, _stacked(parts)), {})
        for element, parts in by_element.items()
    ]


def _stacked(parts: Sequence[tuple[Any, int]]) -> Any:
    """Return the laws of one element in several configurations as one law along a first axis."""
    frozen = all(hasattr(law, "args") for law, _ in parts)
    kinds = {(type(law.dist), len(law.args), *law.kwds) for law, _ in parts} if frozen else ()
    if len(kinds) != 1:  # of several kinds, or of a kind that SciPy does not have
        return Stacked([Scattered((), [(np.array([0]), law, np.array([i]))]) for law, i in parts])

    def along(values: Iterable[Any]) -> Array:
        pairs = zip(values, parts, strict=True)
        numbers = [np.broadcast_to(v, np.shape(law.std())).flat[i] for v, (law, i) in pairs]
        return np.array(numbers, dtype=float)

    args = [along(each) for each in zip(*(law.args for law, _ in parts), strict=True)]
    first = parts[0][0]
    named = {name: along(law.kwds[name] for law, _ in parts) for name in first.kwds}
    return first.dist(*args, **named)


class Stacked:
    """Laws of one element in several configurations, along a first axis."""

    def __init__(self, laws: Sequence[Any]) -> None:
        self.laws = laws

    def __getattr__(self, verb: str) -> Any:
        def every(*arguments: Any) -> Any:
            if arguments and np.ndim(arguments[0]):
                x = np.asarray(arguments[0])
                x = np.broadcast_to(x, (*x.shape[:-1], len(self.laws))) if x.shape[-1] == 1 else x
                return np.stack(
                    [getattr(law, verb)(x[..., i]) for i, law in enumerate(self.laws)], -1
                )
            return np.array([getattr(law, verb)(*arguments) for law in self.laws])

        return every

    def pdf(self, x: Any) -> Array:
        """Return densities."""
        return np.exp(self.logpdf(x))
