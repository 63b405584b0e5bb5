"""One simulation after the other: parameters, data, draws of the posterior, and the ranks.

Each simulation has random numbers of its own, which depend on the seed and on its number alone: the
ranks are the same whatever was simulated before, in which process, and in how many goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from bayesmodels.belief.protocol import Draws, LatentClasses, Simulating, Statistic
from bayesmodels.belief.reading import levels, numbers, places
from bayesmodels.belief.simulation import Simulated, of_data, of_rows
from bayesmodels.errors import DataError
from bayesmodels.input.data import weighted
from bayesmodels.numerics import Array
from bayesmodels.numerics.ess import effective_draws
from bayesmodels.posteriors.compiled_sampler import Anatomy, Sampler, draws_of

Method = Literal["exact", "partial", "integrated", "mcmc"]
Around = Literal["prior", "posterior"]

SIMULATION, EXAMPLE = 0, 1  # kinds of streams of random numbers
_EXAMPLES = 10  # models by which it is seen which constants are data
_PRIOR = 1000  # draws by which copies of a scalar are found
_TRIES, _SPARE = 3, 1.5  # of the sampler, each time longer


@dataclass(frozen=True)
class Setup:
    """What is simulated: the prior, with the axes that data give it, and how, as in `calibrate`.

    Of a belief, one of `design` and `simulate` is None. `draws` are those of each posterior.
    """

    model: Any
    design: Any
    simulate: Any
    method: Method
    draws: int
    seed: tuple[int, ...]
    around: Around = "prior"

    def rng(self, kind: int, number: int) -> np.random.Generator:
        """Return the random numbers of one simulation."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(kind, number)))

    def simulated(self, rng: np.random.Generator) -> tuple[dict[str, Any], Simulated]:
        """Draw parameters from the prior, and data."""
        true = self.model.sample(1, rng)
        if self.simulate is None:
            return true, simulated(self.model, self.design, true, rng)
        return true, of_data(self.model, self.simulate({k: x[0] for k, x in true.items()}, rng))


def simulated(model: Any, design: Any, parameters: Draws, rng: np.random.Generator) -> Simulated:
    """Draw data like `design`: as many rows, the same predictors, groups, trials and gaps.

    Parameters have a sample axis of length one. A statistic and weighted rows are refused.
    """
    if isinstance(design, Statistic):
        raise DataError("design: must be rows, of which new ones are drawn; got a statistic.")
    if weighted(design):
        raise DataError(
            "design: must not be weighted, since no row is drawn half a time; leave weights out."
        )
    if isinstance(model, Simulating):
        return model.simulated(design, parameters, rng)
    return of_rows(model, design, parameters, rng)


class Simulations(Protocol):
    """Ranks of true quantities, with their `labels`, among draws of posteriors."""

    labels: list[str]

    def depends_on(self) -> dict[str, Any]:
        """Return, in words and in numbers, all that the ranks depend on."""
        ...

    def ranks(self, simulations: Sequence[int]) -> tuple[Array, int]:
        """Return ranks of some simulations, and for how many a model was compiled anew.

        They are between 0 and 1, of shape (simulations, quantities + 1); the last column has the
        effective number of draws.
        """
        ...


class Simulator:
    """Ranks of true quantities, with their `labels`, among draws of the posterior."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        model, rng = setup.model, setup.rng(EXAMPLE, 0)
        self._true, self._example = setup.simulated(rng)
        rows = self._example.statistic
        self._symmetric = isinstance(model, LatentClasses) and model.interchangeable(rows)
        if self._symmetric:  # single parameters mean nothing where classes may change places
            free = model.label_invariants(self._true, rows)
            result = [f"{name}[{i}]" for name, x in free.items() for i in range(x.shape[-1])]
            self._kept = np.arange(len(result))
        else:
            result, self._kept = _labels(model, model.sample(_PRIOR, rng))
        self.labels = [*result, "log density", "log likelihood"]

    def depends_on(self) -> dict[str, Any]:
        """Return the settings and data that the ranks depend on, for a checkpoint."""
        setup, new = self._setup, self._example
        after = setup.model.update(new.statistic) if setup.method == "exact" else None
        values = self._values(after, new, self._true)
        result = {
            "model": type(setup.model).__name__,
            "method": setup.method,
            "number of draws": setup.draws,
            "seed": np.array(setup.seed, dtype=np.uint32),
            "set of quantities": np.array(self.labels),
            "prior": np.concatenate([np.ravel(x) for x in self._true.values()]).astype(float),
            "design or simulator": values[:, -1],
            "posterior": values,
        }
        if setup.method == "mcmc":
            result["declaration"] = Anatomy.of(new.declare()).digest()
        return result

    def ranks(self, simulations: Sequence[int]) -> tuple[Array, int]:
        """Return ranks of some simulations, as `Simulations` has it."""
        result = [self._rank(number) for number in simulations]
        return np.array([row for row, _ in result]), sum(anew for _, anew in result)

    def _rank(self, number: int) -> tuple[Array, bool]:
        setup = self._setup
        rng = setup.rng(SIMULATION, number)
        true, new = setup.simulated(rng)
        anew, effective = False, float(setup.draws)
        if setup.method == "exact":
            after = setup.model.update(new.statistic)
            values = self._quantities(after, new, true, after.sample(setup.draws, rng))
        else:
            compiled, anew = self._sampler.compiled(new.declare())
            values, effective = self._sampled(compiled, new, true, rng)
        return np.append(ranks_among(values, rng), effective), anew

    @cached_property
    def _sampler(self) -> Sampler:
        examples = [self._setup.simulated(self._setup.rng(EXAMPLE, k)) for k in range(_EXAMPLES)]
        return Sampler([new.declare() for _, new in examples])

    def _sampled(
        self, compiled: Any, new: Simulated, true: Draws, rng: np.random.Generator
    ) -> tuple[Array, float]:
        """Return quantities of the truth and of PyMC's draws."""

        def quantities(length: int) -> Array:
            drawn = draws_of(compiled, length, int(rng.integers(2**31)))
            return self._quantities(None, new, true, drawn)

        return thinned(quantities, self._setup.draws)

    def _quantities(self, after: Any, new: Simulated, true: Draws, drawn: Draws) -> Array:
        """Return quantities of the truth, first, and of draws."""
        for name, x in true.items():
            if drawn[name].shape[1:] != x.shape[1:]:
                raise DataError(
                    f"model: its {name} must have the shape that data give it, "
                    f"{drawn[name].shape[1:]}; got {x.shape[1:]}. Give the prior an axis for "
                    "groups or columns."
                )
        both = {name: np.concatenate([x, drawn[name]]) for name, x in true.items()}
        return self._values(after, new, both)

    def _values(self, after: Any, new: Simulated, draws: Draws) -> Array:
        """Return every quantity in a column, one row a draw."""
        model, likelihood = self._setup.model, new.log_likelihood(draws)
        if self._symmetric:
            free = model.label_invariants(draws, self._example.statistic)
            scalars = np.concatenate(list(free.values()), axis=-1)
        else:
            flat = [np.asarray(x, dtype=float) for x in numbers(model, draws).values()]
            scalars = np.concatenate([x.reshape(len(x), -1) for x in flat], axis=1)
        density = np.asarray((model if after is None else after).log_density(draws))
        density = density.reshape(len(density), -1).sum(-1)
        if after is None:  # a constant, the evidence, is left out
            density = density + likelihood
        return np.column_stack([scalars[:, self._kept], density, likelihood])


def _labels(law: Any, true: Draws) -> tuple[list[str], NDArray[np.intp]]:
    """Return labels of all scalars that are no copies of others, and their places."""
    labels: list[str] = []
    kept: list[int] = []
    for name, x in numbers(law, true).items():
        result = [label for label, _ in places(law, name, x.shape[1:])]
        every = np.arange(len(result))
        if name not in levels(law):  # of a symmetric matrix, one half
            _, first = np.unique(x.reshape(len(x), -1), axis=1, return_index=True)
            every = np.sort(first)
        kept += (len(labels) + every).tolist()
        labels += result
    return [labels[k] for k in kept], np.array(kept, dtype=np.intp)


def ranks_among(values: Array, rng: np.random.Generator) -> Array:
    """Return ranks, between 0 and 1, of the first row's quantities among those of the others."""
    below, equal = (values[1:] < values[0]).sum(0), (values[1:] == values[0]).sum(0)
    return np.asarray((below + rng.random(values.shape[1]) * (equal + 1)) / len(values))


def thinned(quantities: Callable[[int], Array], least: int) -> tuple[Array, float]:
    """Return quantities of the truth and of draws so far apart that they are independent.

    `quantities` makes a chain of some length, with the truth before it. Where fewer draws are
    effective than are asked for, the chain is made longer, and drawn again from its start.
    """
    length, effective = 5 * least, 0.0
    for _ in range(_TRIES):
        values = quantities(length)
        moving = values[1:, np.ptp(values[1:], axis=0) > 0]
        ranks = rankdata(moving, axis=0).T[:, None, :]
        effective = float(effective_draws(ranks).number.min(initial=length))
        if effective >= least:
            break
        length = int(length * _SPARE * least / effective)
    at = np.linspace(1, len(values) - 1, least).round().astype(np.intp)
    return values[[0, *at]], effective
