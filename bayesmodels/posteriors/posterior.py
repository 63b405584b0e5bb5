"""What `bm.exact` returns: a posterior in closed form under the names of a PyMC model."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray

from bayesmodels.belief import datatree, notebook
from bayesmodels.belief import reading as belief_reading
from bayesmodels.belief.conditioning import digits_of_matrix
from bayesmodels.belief.intervals import CI_PROB, CiKind, renamed
from bayesmodels.belief.protocol import Law
from bayesmodels.errors import ModeError
from bayesmodels.input.parameters import asked
from bayesmodels.numerics import Array
from bayesmodels.numerics.processes import all_or_nothing, same_rounding
from bayesmodels.posteriors import reading
from bayesmodels.posteriors.audit import Audit
from bayesmodels.posteriors.deterministic_laws import DRAWS, Known, known
from bayesmodels.posteriors.elementwise import Certain, Scattered, mixed
from bayesmodels.posteriors.families import (
    ElementLaw,
    Factor,
    Gaussian,
    Independent,
    ScaledGaussian,
)
from bayesmodels.posteriors.more_rows import held_data, log_evidence_given_before, update
from bayesmodels.posteriors.normal_matrix import NormalMatrix
from bayesmodels.posteriors.solution import Solution
from bayesmodels.posteriors.support import listed
from bayesmodels.posteriors.verify import Verification
from bayesmodels.posteriors.zero_sum import elements, zero_sums

if TYPE_CHECKING:
    import xarray as xr


class ExactPosterior:
    """A PyMC model's posterior in closed form; made by `bayesmodels.exact`.

    Read like a belief: `mean`, `var`, `mode`, `interval`, `summary`, `marginals`, `sample`,
    `log_density` and `to_datatree`, under the model's own names, dims and coords.

    Attributes
    ----------
    model : pymc.Model
        The model.
    verification : Verification
        How joint density and closed form were compared.
    dims : dict of tuple of str
        Names of each variable's axes.
    coords : dict of tuple
        Labels along every axis.
    levels : dict of tuple
        Values of finite variables.
    rung : str
        ``"closed form"``.
    before : tuple of float or None
        The log evidence before the last `update`, and its error.
    log_evidence_error : float
        What rounding may do to the log evidence.
    """

    rung = "closed form"

    def __init__(
        self,
        model: pm.Model,
        solution: Solution,
        verification: Verification,
        audited: Audit,
        again: Callable[..., ExactPosterior],
    ) -> None:
        self.model, self.verification, self.again = model, verification, again
        self.data = held_data(model)
        self.before: tuple[float, float] | None = None
        self._solution, self._audit = solution, audited
        self.log_integral, self.log_evidence_error = verification.log_evidence, verification.bound
        field = solution.field
        self._order = [rv.name for rv in model.free_RVs]
        self._supports = {s.name: s for s in (*field.continuous, *field.finite)}
        self._zero_sums = zero_sums(model)
        known: Any = self._supports | self._zero_sums
        self.shapes: dict[str, tuple[int, ...]] = {n: known[n].shape for n in self._order}
        self.dims, self.coords = reading.dims_and_coords(model, self.shapes)
        self.levels: dict[str, tuple[Hashable, ...]] = {s.name: s.values for s in field.finite}

    mean = belief_reading.mean
    var = belief_reading.var
    interval = belief_reading.interval
    verified = property(reading.verified)
    log_evidence = property(reading.log_evidence)
    log_evidence_given_before = property(log_evidence_given_before)
    update = update
    summary = reading.summary
    numbers = reading.numbers
    log_density = reading.log_density
    to_datatree = reading.to_datatree
    plot = datatree.plot
    predictive = reading.predictive
    drawn = ()

    @renamed
    def deterministics(self, ci_prob: float = CI_PROB, ci_kind: CiKind = "eti") -> dict[str, Known]:
        """Return what is known of the model's Deterministics, some of it read off exact draws."""
        x, levels = self._solution.sample(DRAWS, np.random.default_rng(0))
        draws = elements(self._zero_sums, self._solution.field.variables(x, levels))
        laws = () if self._solution.finite else (x, self.blocks)
        return known(self.model, draws, (ci_prob, ci_kind), *laws)

    @property
    def blocks(self) -> tuple[Factor, ...]:
        """The independent laws; those given finite variables are not among them."""
        return tuple(self._solution.factors)

    @cached_property
    def _laws(self) -> list[ElementLaw]:
        """The laws of all continuous elements."""
        laws = [law for factor in self._solution.factors for law in factor.laws()]
        for part in self._solution.finite:
            by_level = [[law for factor in each for law in factor.laws()] for each in part.factors]
            laws += mixed(part.sum.probabilities()[0, 0], by_level) if by_level else []
        return laws

    def _summing_to_zero(self, name: str, number: int) -> list[ElementLaw]:
        """Return the laws of the elements of a variable, from those of its coordinates."""
        field, fixed = self._solution.field, self._solution.factors
        laws = partial(self._zero_sums[name].laws, int(field.start[number]), field.size)
        for part in self._solution.finite:
            moved = [e for each in part.factors[:1] for f in each for e in f.elements]
            if (field.owner[moved] == number).any():
                conditional = [laws([*fixed, *each]) for each in part.factors]
                return mixed(part.sum.probabilities()[0, 0], conditional)
        return laws(fixed)

    def _of(self, name: str) -> list[tuple[NDArray[np.intp], ElementLaw, NDArray[np.intp]]]:
        """Return, for each law of elements of a variable: places, law, and which of its own."""
        field = self._solution.field
        number = [s.name for s in field.continuous].index(name)
        if name in self._zero_sums:
            laws = self._summing_to_zero(name, number)
            return [(law.elements, law, np.arange(len(law.elements))) for law in laws]
        result = []
        for law in self._laws:
            indices = np.flatnonzero(field.owner[law.elements] == number)
            if len(indices):
                result.append((law.elements[indices] - field.start[number], law, indices))
        return result

    @property
    def families(self) -> dict[str, str]:
        """The family of each variable; of one whose elements differ all of them, with commas."""
        return {
            name: "Categorical"
            if name in self.levels
            else ", ".join(dict.fromkeys(law.family for _, law, _ in self._of(name)))
            for name in self._order
        }

    def parameters(self) -> dict[str, dict[str, Array]]:
        """Return the parameters of each variable's marginal law, of the variable's shape.

        Elements whose family has no such parameter have NaN. Of a finite variable the
        probabilities of its values, along a last axis; of a mixture nothing.
        """
        result: dict[str, dict[str, Array]] = {}
        for name in self._order:
            shape = self.shapes[name]
            if name in self.levels:
                result[name] = {"probability": self._probabilities(name)}
                continue
            values: dict[str, Array] = {}
            for places, law, indices in self._of(name):
                for key, value in law.parameters.items():
                    flat = values.setdefault(key, np.full(math.prod(shape), np.nan))
                    flat[places] = np.asarray(value)[indices]
            result[name] = {key: value.reshape(shape)[()] for key, value in values.items()}
        return result

    def _probabilities(self, name: str) -> Array:
        """Return how probable each value of each element of a finite variable is."""
        field, s = self._solution.field, self._supports[name]
        elements = np.flatnonzero(field.finite_owner == list(self.levels).index(name))
        mass = np.zeros((s.size, s.levels))
        for part in self._solution.finite:
            here = np.isin(part.elements, elements)
            result = part.probabilities()[here, : s.levels]
            mass[part.elements[here] - elements[:1], : result.shape[1]] = result
        return mass.reshape(*s.shape, s.levels)

    def marginals(self) -> dict[str, Law]:
        """Return each variable's law, elementwise over its shape.

        Of a finite variable the laws of the indicators of its values, along a last axis.
        """
        result: dict[str, Law] = {}
        for name in self._order:
            if name in self.levels:
                result[name] = Certain(self._probabilities(name))
                continue
            parts = [(places, law.law, indices) for places, law, indices in self._of(name)]
            result[name] = Scattered(self.shapes[name], parts)
        return result

    def separate(self, name: str) -> bool:
        """Return whether all elements of a variable are independent of each other."""
        if name in self.levels or name in self._zero_sums or self._solution.finite:
            return False
        field = self._solution.field
        number = [s.name for s in field.continuous].index(name)
        factors = [f for f in self.blocks if (field.owner[f.elements] == number).any()]
        return all(len(f.elements) == 1 or _elementwise(f) for f in factors)

    def mode(self) -> dict[str, Array]:
        """Return where the joint density is largest.

        Raises
        ------
        ModeError
            If there is none inside the support, or one for each value of finite variables.
        """
        field = self._solution.field
        levels = np.zeros(len(field.sizes), dtype=int)
        for part in self._solution.finite:
            if part.factors:
                raise ModeError(
                    "mode: given finite variables there is one for each of their values."
                )
            levels[part.elements] = part.mode()
        x = np.empty(field.size)
        for factor in self._solution.factors:
            x[factor.elements] = factor.mode()
        if np.isnan(x).any():
            name = field.label(int(np.flatnonzero(np.isnan(x))[0]))
            raise ModeError(f"mode: the density of {name} is largest at the border of its support.")
        values = elements(self._zero_sums, field.variables(x, levels))
        return {name: values[name] for name in self._order}

    def log_density_of(self, values: dict[str, Array]) -> Array:
        """Return the log density of rows of values, which have the variables' shapes."""
        field, rows, flat = self._solution.field, 1, []
        inside: Any = True
        for s in (*field.continuous, *field.finite):
            value = values[s.name]
            if s.name in self._zero_sums:
                zero_sum = self._zero_sums[s.name]
                inside, value = inside & zero_sum.holds(value), zero_sum.coordinates(value)
            else:
                inside = inside & s.holds(value)
            rows = len(value)
            flat.append(value.reshape(rows, s.size) - s.lowest)
            if s.finite:
                flat[-1] = np.clip(flat[-1], 0, s.levels - 1)
        cut = len(field.continuous)
        x = np.concatenate([np.zeros((rows, 0)), *flat[:cut]], -1)
        levels = np.concatenate([np.zeros((rows, 0)), *flat[cut:]], -1).astype(int)
        if self._solution.finite:
            each = [self._solution.log_density(x[i], levels[i]) for i in range(rows)]
            return np.where(inside, each, -np.inf)
        total = np.zeros(rows)
        for factor in self._solution.factors:
            total += factor.log_density(x[:, factor.elements])
        return np.where(inside, total, -np.inf)

    def sample(
        self, draws: int, rng: np.random.Generator | int | None = None
    ) -> dict[str, NDArray[Any]]:
        """Return independent draws, sample axis first."""
        draws, rng = asked(draws, rng)
        values = self._solution.field.variables(*self._solution.sample(draws, rng))
        values = elements(self._zero_sums, values)
        return {name: values[name] for name in self._order}

    def digits_lost(self, statistic: Any = None) -> float | None:
        """Return about how many digits are lost, by the condition of normal blocks.

        None if there are finite variables: these are as many posteriors as there are levels.
        """
        del statistic
        return None if self.levels else max(map(_digits_lost_by, self.blocks), default=0.0)

    def explain(self) -> str:
        """Say which variable has which law, and how that was verified."""
        field = self._solution.field
        parts = [f.sentence(listed(self._owners(f))) for f in self._solution.factors]
        for part in self._solution.finite:
            owners = dict.fromkeys(field.finite_owner[part.elements])
            who = listed(field.finite[i].name for i in owners)
            parts.append(part.sentence(who, lambda factor: listed(self._owners(factor))))
        parts += [s.cut for s in field.finite if s.endless]
        for name, zero_sum in self._zero_sums.items():
            sizes = math.prod(zero_sum.shape), math.prod(zero_sum.inner)
            parts.append(
                "{} sums to zero: its {} elements have {} coordinates".format(name, *sizes)
            )
        parts = parts or ["There is no free variable: the evidence is the density of the data"]
        seen = self.verification
        proof = (
            "The density is analytic, so this holds everywhere."
            if seen.settled
            else "The model's graph has operations that are not analytic, so this is known only "
            f"at the points compared ({self._why_numerically()})."
        )
        return (
            ". ".join(parts)
            + f". Joint density and closed form differ by the same constant at {seen.points} "
            f"points near and far, up to rounding ({seen.bound:.1g}). {proof}"
        )

    def _owners(self, factor: Factor) -> list[str]:
        field = self._solution.field
        names = [field.continuous[i].name for i in dict.fromkeys(field.owner[factor.elements])]
        return [f"{n}'s coordinates" if n in self._zero_sums else n for n in names]

    def _why_numerically(self) -> str:
        parts = list(self._audit.opaque)
        if self._audit.questions:
            parts.append(f"comparisons or roundings: {self._audit.questions}")
        return ", ".join(parts)

    def _repr_html_(self) -> str:
        return notebook.frame(
            "Posterior in closed form",
            notebook.paragraph(self.explain()),
            notebook.summary(self),
            notebook.paragraph(f"Verified {self.verified}."),
        )

    def __repr__(self) -> str:
        families = ", ".join(f"{name}: {family}" for name, family in self.families.items())
        return f"ExactPosterior({families}; verified {self.verified})"


def _elementwise(factor: Factor) -> bool:
    """Whether a factor's elements are independent."""
    match factor:
        case Independent():
            return not factor.family.adds_up
        case Gaussian():
            return not factor.joint
    return False


def _digits_lost_by(factor: Factor) -> float:
    """Return what is lost by a law of some elements."""
    match factor:
        case Gaussian():
            return factor.digits_lost()
        case ScaledGaussian():
            return factor.gaussian.digits_lost()
        case NormalMatrix():
            return max(digits_of_matrix(m) for m in (factor.scale, factor.strength) if m.size)
    return 0.0


def add_data(tree: xr.DataTree, model: pm.Model, free: xr.Dataset) -> None:
    """Give draws of free variables the observed and constant data, as PyMC writes them down."""
    # It does so only beside some draws; which ones does not matter.
    first = {rv.name: free[rv.name].to_numpy()[0] for rv in model.free_RVs}
    groups = pm.to_inference_data(prior=first, model=model)
    for name in ("observed_data", "constant_data"):
        if name in groups.children:
            tree[name] = groups[name].to_dataset()


def sampled(
    model: pm.Model, draws: int, rng: np.random.Generator, **pm_sample_kwargs: Any
) -> xr.DataTree:
    """Return draws of `pm.sample`."""
    seed = int(rng.integers(2**31))
    with all_or_nothing(), same_rounding():
        tree: xr.DataTree = pm.sample(draws, model=model, random_seed=seed, **pm_sample_kwargs)
    tree.attrs["sampler"] = tree.posterior.attrs.get("inference_library", "pymc")
    return tree
