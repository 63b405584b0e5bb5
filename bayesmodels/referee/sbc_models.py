"""Simulations of a PyMC model: parameters, data, draws of the posterior, and the ranks.

Around the prior, parameters are drawn from it. Around the posterior of the data y at hand, they are
drawn from p(θ | y); then come new data y' given θ, and θ must look like a draw of p(θ | y, y').

Säilynoja, Schmitt, Bürkner and Vehtari (2025), *Posterior SBC: Simulation-based
calibration checking conditional on data*.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import pymc as pm
from pymc.distributions.distribution import PartialObservedRV

from bayesmodels.belief.declaring import is_pymc
from bayesmodels.belief.reading import places
from bayesmodels.errors import DataError, NotConjugate, PriorError
from bayesmodels.numerics import Array
from bayesmodels.posteriors.compiled_sampler import Anatomy
from bayesmodels.posteriors.conditional import natural_values
from bayesmodels.posteriors.density import without_initial_values
from bayesmodels.posteriors.ladder import Draw, Posterior, posterior
from bayesmodels.posteriors.new_data import NARROWER, Forward, NewData, Values, made_of_data
from bayesmodels.posteriors.reading import improper, labelled_axes
from bayesmodels.posteriors.support import supports
from bayesmodels.referee.sbc import EXAMPLE, SIMULATION, Around, Setup, ranks_among, thinned


def require_simulations(model: pm.Model, simulate: Any, around: Around) -> None:
    """Refuse a model of which no parameters or no data can be drawn."""
    other = is_pymc(simulate)
    for what, result in (("observe data", model.observed_RVs), ("have parameters", model.free_RVs)):
        if not result:
            raise DataError(f"model: must {what} to be calibrated.")
    if around == "posterior":
        missing = [rv for rv in model.free_RVs if isinstance(rv.owner.op, PartialObservedRV)]
        if missing:
            raise DataError(
                f"around: data with gaps ({missing[0].name}) can't be drawn once more; use "
                "around='prior'."
            )
        if other:
            raise DataError(
                "simulate: around the posterior, parameters are drawn from it; give a function "
                "that draws data, or use around='prior'."
            )
        return
    for name, kind in improper(model):
        raise PriorError(
            f"model: the prior of {name} is improper ({kind}), so that nothing can be drawn from "
            "it; give it a proper prior, or use around='posterior'."
        )
    if model.potentials and not other:
        raise DataError(
            f"model: nothing can be drawn from the potential {model.potentials[0].name}; give as "
            "simulate a PyMC model that draws parameters and data, or use around='posterior'."
        )
    _require_separate_data(model)
    if other:
        needed = [rv.name for rv in (*model.free_RVs, *model.observed_RVs)]
        absent = [name for name in needed if name not in simulate.named_vars]
        if absent:
            raise DataError(f"simulate: the model must have a variable {absent[0]!r}, too.")


def _require_separate_data(model: pm.Model) -> None:
    """Refuse a model in which shared data are not only observed, but stand elsewhere too.

    Whether that changes with new data is not known; of plain arrays it does not.
    """
    for name, data, place in made_of_data(model):
        raise DataError(
            f"model: {data}, as which {name} is observed, stands in the density of {place} too, "
            "where simulated data would not stand. If that shall stay as it is, write it with the "
            f"numbers themselves ({data}.get_value()); or use around='posterior'."
        )


class ModelSimulator:
    """Ranks of true quantities, with their `labels`, among draws of a PyMC model's posterior."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._around = setup.around == "posterior"
        self._data = NewData(setup.model, beside=self._around)
        names, observed = self._data.names, list(self._data.observed)
        self._simulator = setup.simulate if is_pymc(setup.simulate) else None
        source = self._simulator or self._data.model
        data = setup.simulate is None or self._simulator
        if self._around:
            self._forward = Forward(source, observed if data else [], given=names)
        else:
            self._forward = Forward(source, [*names, *(observed if data else [])])
        # What the simulator says of draws sees posteriors that miss a part of its data.
        judges = [self._data]
        if self._simulator is not None:
            same = {rv.name for rv in self._simulator.free_RVs} == set(names)
            if same and {rv.name for rv in self._simulator.observed_RVs} == set(observed):
                judges.append(NewData(self._simulator))
        self._held, self._densities = judges, judges[-1].log_densities()
        self._example = self._draw(setup.rng(EXAMPLE, 0), example=True)
        self.labels = [*self._labelled(self._example[0]), "log density", "log likelihood"]

    def _labelled(self, true: Values) -> list[str]:
        """Return labels of all scalars; of a symmetric matrix, of one half."""
        known = supports(self._data.model, all_known=False)
        symmetric = {s.name for s in known if s.kind.definite}
        labels, kept = [], []
        for name, x in true.items():
            axes = labelled_axes(self._setup.model, name, x.shape[1:])
            dims = {name: tuple(axis for axis, _ in axes)}
            law: Any = SimpleNamespace(dims=dims, coords=dict(axes))
            for label, at in places(law, name, x.shape[1:]):
                kept.append(name not in symmetric or at[-2] <= at[-1])
                labels += [label] if kept[-1] else []
        self._kept = np.flatnonzero(kept)
        return labels

    def depends_on(self) -> dict[str, Any]:
        """Return the settings and data that the ranks depend on, for a checkpoint."""
        setup, (true, data) = self._setup, self._example
        self._hold(data)
        model = self._data.model
        with without_initial_values(model):
            digest = Anatomy.of(model).digest()
        return {
            "model": "PyMC model",
            "method": setup.method,
            "centre": setup.around,
            "number of draws": setup.draws,
            "seed": np.array(setup.seed, dtype=np.uint32),
            "set of quantities": np.array(self.labels),
            "declaration": digest,
            "prior": _in_a_row(true),
            "design or simulator": _in_a_row(data),
            "likelihood": self._values(true)[:, -2:],
        }

    def ranks(self, simulations: Sequence[int]) -> tuple[Array, int]:
        """Return ranks of some simulations, as `Simulations` has it."""
        return np.array([self._rank(number) for number in simulations]), 0

    def _rank(self, number: int) -> Array:
        setup, posteriors = self._setup, self._posteriors
        rng = setup.rng(SIMULATION, number)
        true, data = self._draw(rng)
        self._hold(data)
        try:
            draw = posteriors.given(rng)
        except NotConjugate as error:
            raise DataError(
                f"model: of simulation {number} the posterior was not found: {error.reason} "
                "Use another method."
            ) from error

        def quantities(length: int) -> Array:
            drawn = draw(length, rng)
            both = {name: np.concatenate([x, drawn[name]]) for name, x in true.items()}
            return self._values(both)

        if posteriors.independent:
            values, effective = quantities(setup.draws), float(setup.draws)
        else:
            values, effective = thinned(quantities, setup.draws)
        return np.append(ranks_among(values, rng), effective)

    @cached_property
    def _posteriors(self) -> Posterior:
        """What draws from posteriors; made, in every process, of the model's own data."""
        self._data.hold(self._data.observed)
        return posterior(self._data, self._setup.method, self._setup.rng(EXAMPLE, 1))

    @cached_property
    def _at_hand(self) -> Draw:
        """What draws from the posterior of the data that the model holds."""
        posteriors = self._posteriors
        self._data.hold(self._data.observed, weight=0.0)
        return posteriors.given(self._setup.rng(EXAMPLE, 2))

    def _hold(self, data: Values) -> None:
        for judge in self._held:
            judge.hold(data)

    def _draw(self, rng: np.random.Generator, *, example: bool = False) -> tuple[Values, Values]:
        """Draw parameters, with a sample axis of length one, and data; an example at once."""
        setup, known = self._setup, self._data
        if not self._around:
            result = true = self._forward(rng)
        else:
            if example:
                true = natural_values(known.model)(known.model.initial_point(random_seed=0))
            else:  # the last draw of a chain that has forgotten where it began
                draw = self._at_hand
                known.hold(known.observed, weight=0.0)
                drawn = draw(1 if self._posteriors.independent else setup.draws, rng)
                true = {name: x[-1] for name, x in drawn.items()}
            result = self._forward(rng, true)
        true = {name: true[name] for name in known.names}
        if not self._around:
            self._require_finite(result)
        if setup.simulate is not None and self._simulator is None:
            result = setup.simulate(dict(true), rng)
        return {name: x[None] for name, x in true.items()}, known.checked(result)

    def _require_finite(self, drawn: Values) -> None:
        """Refuse parameters, or data given them, that are no numbers; name the prior to blame."""
        bad = [name for name, x in drawn.items() if not np.isfinite(x).all()]
        if bad:
            ends = {s.name: s.ends for s in supports(self._data.model, all_known=False)}
            edge = [n for n, x in drawn.items() if n in ends and np.isin(x, ends[n]).any()]
            name = (edge or bad)[0]
            value = next(x for x in np.ravel(drawn[name]) if x in ends.get(name, (x,)))
            given = "" if name in bad else f", given which {bad[0]} is no finite number"
            raise DataError(
                f"model: {name} was drawn as {value:g} from its prior{given}. {NARROWER}"
            )

    def _values(self, draws: Values) -> Array:
        """Return every quantity in a column, one row a draw."""
        flat = [np.asarray(draws[name], dtype=float) for name in self._data.names]
        scalars = np.concatenate([x.reshape(len(x), -1) for x in flat], axis=1)
        values = np.column_stack([scalars[:, self._kept], *self._densities(draws)])
        if np.isnan(values).any():
            raise DataError("model: its log density is not a number at draws of its posterior.")
        return values


def _in_a_row(values: Values) -> Array:
    return np.concatenate([np.ravel(x) for x in values.values()]).astype(float)
