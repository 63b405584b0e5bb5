"""What `bm.exact(model, partial=True)` returns: a conjugate block integrated out of a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray

from bayesmodels.belief import notebook
from bayesmodels.errors import DataError, NotConjugate
from bayesmodels.input.parameters import randomness
from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import BETA, DIRICHLET, Family
from bayesmodels.numerics.laws import normal, sum_of_others
from bayesmodels.posteriors import reading
from bayesmodels.posteriors.audit import Audit, audit
from bayesmodels.posteriors.batch_density import MOST_LEVELS
from bayesmodels.posteriors.chosen_elements import chosen
from bayesmodels.posteriors.conditional import BATCHED, Conditionals
from bayesmodels.posteriors.continuous_marginal import ContinuousMarginal
from bayesmodels.posteriors.density import in_halves
from bayesmodels.posteriors.elementwise import Certain
from bayesmodels.posteriors.finite_marginal import FiniteMarginal
from bayesmodels.posteriors.gradient import Point
from bayesmodels.posteriors.linked_marginal import LinkedMarginal
from bayesmodels.posteriors.marginalize import Marginal
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.operations import EVERYTHING
from bayesmodels.posteriors.points import WILD, otherwise, somewhere
from bayesmodels.posteriors.posterior import add_data, sampled
from bayesmodels.posteriors.remaining_model import remaining_model
from bayesmodels.posteriors.selection import Choice, choose, conjugate_at, normals_at
from bayesmodels.posteriors.solution import Solution
from bayesmodels.posteriors.support import listed
from bayesmodels.posteriors.support.kind import Support
from bayesmodels.posteriors.verify import FEW, USELESS, Imprecise, Verification, verify
from bayesmodels.posteriors.zero_sum import zero_sums

if TYPE_CHECKING:
    import xarray as xr


_SUMMED = 2**10  # configurations of finite variables from which on these are summed out
_POINTS = 3
_FULLY = 8  # configurations out of many for which laws are compared one by one
_LOOSE = 0.3  # relative error of a precision that is allowed where next to no mass is


def partial_posterior(conditionals: Conditionals, rng: np.random.Generator) -> PartialPosterior:
    """Integrate what is conjugate given the rest out of a model; called by `exact`."""
    configurations = math.prod(s.levels**s.size for s in conditionals.finite.values())
    summed = None
    if configurations > _SUMMED:
        # Other variables stay in the model, as they are.
        original = conditionals
        if conditionals.zero_sums:
            original = Conditionals(conditionals.original, conditionals.budget, {})
        with suppress(NotConjugate):  # too many depend on each other: they remain
            summed = FiniteMarginal(original, original.finite, original.somewhere(rng))
            if summed.form.looks < configurations or configurations > MOST_LEVELS:
                return _summed(original, summed, rng)
    try:
        return _conjugate(conditionals, rng)
    except NotConjugate:
        if summed is None:
            raise
        return _summed(original, summed, rng)


def _conjugate(conditionals: Conditionals, rng: np.random.Generator) -> PartialPosterior:
    """Integrate a conjugate block out, for every configuration of finite variables."""
    chosen, choice = _chosen(conditionals, rng, one_by_one=False)
    try:
        return _integrated(chosen, choice, rng)
    except NotConjugate:
        # One variable may spoil it for all.
        chosen, strict = _chosen(conditionals, rng, one_by_one=True)
        if (strict.normals, strict.others) == (choice.normals, choice.others):
            raise
        return _integrated(chosen, strict, rng)


def _chosen(
    conditionals: Conditionals, rng: np.random.Generator, *, one_by_one: bool
) -> tuple[Conditionals, Choice]:
    """Choose what is integrated out; variables that sum to zero and remain are as they were."""
    choice = choose(conditionals, rng, one_by_one=one_by_one)
    kept = [name for name in conditionals.zero_sums if name not in choice.normals]
    if not kept:
        return conditionals, choice
    sums = {name: zero_sum for name, zero_sum in conditionals.zero_sums.items() if name not in kept}
    fewer = Conditionals(conditionals.original, conditionals.budget, sums)
    fewer.reasons |= {name: choice.reasons[name] for name in kept if name in choice.reasons}
    return _chosen(fewer, rng, one_by_one=one_by_one)


def _summed(
    conditionals: Conditionals, marginal: FiniteMarginal, rng: np.random.Generator
) -> PartialPosterior:
    """Sum finite variables out of a model that have too many configurations to be enumerated."""
    finite, model = conditionals.finite, conditionals.original
    if len(finite) == len(model.free_RVs):
        raise NotConjugate(
            f"nothing but {listed(finite)} is to be summed out: bm.exact(model) does it."
        )
    remaining = remaining_model(conditionals.model, marginal, conditionals.supports)
    density, seen = ModelDensity(remaining), []
    for _ in range(_POINTS):
        point = conditionals.somewhere(rng)
        value, bound = density.value(point)
        law = marginal.given({p.name: point[p.name][None] for p in marginal.remaining})
        for levels in (marginal.row(point), law.sample(1, rng)[0]):
            joint, in_joint = conditionals.density.value(point | marginal.values_of(levels))
            probability = law.log_probability(levels)
            if joint == probability == -np.inf:
                continue  # these levels are impossible
            gap = joint - probability
            over = abs(gap - value) / (bound + in_joint)
            seen.append((over, gap, bound + in_joint))
            if not over <= 1:
                raise NotConjugate(
                    f"with {listed(finite)} summed out the density is off by {over:.3g} times what "
                    "rounding explains."
                )
    _, constant, bound = seen[-1]
    worst = max(over for over, *_ in seen)
    verification = Verification(len(seen), worst, 0.0, constant, bound, settled=True)
    others = {rv.name for rv in model.free_RVs} - set(finite)
    why = f"a law given the levels of {listed(finite)} is not looked for"
    choice = Choice(dict.fromkeys(finite, "Categorical"), dict.fromkeys(others, why), (), ())
    return PartialPosterior(model, remaining, density, marginal, choice, verification)


def eliminated(
    conditionals: Conditionals, rng: np.random.Generator, *, linked: bool = False
) -> PartialPosterior:
    """Integrate continuous elements out on nodes: alone given the rest, or `linked` in pairs."""
    model = conditionals.original
    if conditionals.zero_sums:  # they remain, as they are
        conditionals = Conditionals(model, conditionals.budget, {})
    names = chosen(conditionals, linked=linked)
    if not names:
        raise NotConjugate("no elements are alone given the rest, or meet few others.")
    kind = LinkedMarginal if linked else ContinuousMarginal
    marginal = kind(conditionals, names, rng)
    remaining = remaining_model(conditionals.model, marginal, conditionals.supports)
    why = "too many others depend on it to be eliminated"
    others = {str(rv.name) for rv in model.free_RVs} - set(names)
    choice = Choice(dict.fromkeys(names, "nodes"), dict.fromkeys(others, why), (), ())
    verification = Verification(0, 0.0, 0.0, 0.0, 0.0, settled=True)
    density = ModelDensity(remaining)
    return PartialPosterior(model, remaining, density, marginal, choice, verification)


def _integrated(
    conditionals: Conditionals, choice: Choice, rng: np.random.Generator
) -> PartialPosterior:
    names, model = (*choice.normals, *choice.others), conditionals.original
    if not names:
        why = "; ".join(dict.fromkeys(said.rstrip(".") for said in choice.reasons.values()))
        raise NotConjugate(
            f"no variable is conjugate given the rest that can be integrated out: {why}."
        )
    if len(names) == len(model.free_RVs):
        raise NotConjugate(
            f"{listed(names)} would be integrated out, so that nothing remains to be sampled: "
            "bm.exact(model) gives the closed form."
        )
    points = [conditionals.somewhere(rng) for _ in range(2)]
    normals = normals_at(conditionals, choice.normals, points, rng) if choice.normals else None
    others = [conjugate_at(conditionals, name, points[0], rng) for name in choice.others]
    marginal = Marginal(conditionals, normals, others)
    remaining = remaining_model(conditionals.model, marginal, conditionals.supports)
    density = ModelDensity(remaining)
    seen, unseen = _verified(conditionals, marginal, density, rng)
    return PartialPosterior(model, remaining, density, marginal, choice, seen, unseen)


def _verified(
    conditionals: Conditionals, marginal: Marginal, density: ModelDensity, rng: np.random.Generator
) -> tuple[Verification, tuple[str, ...]]:
    """Compare with the joint density at fresh values of the rest, and of the block given them.

    The joint density less that of the block given the rest must be the same at several values of
    the block, and be the `density` of the model that remains.
    """
    names = list(marginal.probes)
    points = conditionals.everywhere(names, rng)
    audited, unseen = _audited(conditionals, names, points[0])
    if audited.questions and conditionals.impossible(names, rng):
        raise NotConjugate(
            f"with some values of the finite variables the joint density of {', '.join(names)} and "
            "the rest is zero wherever it was looked at, and comparisons may make it positive "
            "elsewhere: a hard constraint."
        )
    must = len(points)
    points += _otherwise(conditionals, names, audited, points[:2], rng)
    result: Verification | None = None
    chosen = list(range(len(points)))
    if must > BATCHED:
        others = rng.choice(np.arange(_POINTS, must), _FULLY, replace=False)
        chosen = [*range(_POINTS), *map(int, others), *range(must, len(points))]
        _compared(conditionals, marginal, density, points[:must], rng)
    for number in chosen:
        point = points[number]
        solution = Solution(conditionals.given(names, point), marginal.factors(point), [])
        try:
            seen = verify(solution, audited, rng, FEW)
        except Imprecise:
            if number < must:
                raise
            continue  # so far out that no digits are left
        value, bound = density.value(point)
        over = abs(value - seen.log_evidence) / (bound + seen.bound)
        _explained(over, names)
        worst = max(seen.value, over, result.value if result else 0.0)
        total = seen.points + (result.points if result else 0)
        result = replace(seen, value=worst, points=total, settled=not unseen)
    assert result is not None  # noqa: S101 - there is at least one point
    return result, unseen


def _compared(
    conditionals: Conditionals,
    marginal: Marginal,
    density: ModelDensity,
    points: Sequence[Point],
    rng: np.random.Generator,
) -> None:
    """Compare at many values of the rest, each with one of the block, all at once."""
    names = list(marginal.probes)
    rest = {p.name: np.stack([point[p.name] for point in points]) for p in marginal.remaining}
    block, logs, bounds = [], [], []
    for point, factors in zip(points, marginal.laws(rest), strict=True):
        solution = Solution(conditionals.given(names, point), factors, [])
        x, levels = (batch[0] for batch in solution.sample(1, rng))
        block.append(solution.field.variables(x))
        logs.append(solution.log_density(x, levels))
        bounds.append(solution.rounding(x, levels))
    joint, in_joint = conditionals.density.values(
        {p.name: np.stack([point[p.name] for point in block]) for p in conditionals.density.points}
    )
    left, in_left = density.values(rest)
    bound = in_joint + bounds + in_left
    _explained(float((np.abs(joint - logs - left) / bound).max()), names)
    if not bound.max() <= USELESS:
        raise Imprecise(
            f"the closed form of {listed(names)} can't be verified in double precision: the joint "
            f"density is only known to {bound.max():.2g} at some values of the rest."
        )


def _explained(over: float, names: Sequence[str]) -> None:
    if not over <= 1:
        raise NotConjugate(
            f"with {', '.join(names)} integrated out the density is off by {over:.3g} times "
            "what rounding explains."
        )


def _audited(
    conditionals: Conditionals, names: Sequence[str], start: Point
) -> tuple[Audit, tuple[str, ...]]:
    """Return what is not analytic, in the block or in what its law is given, and in words."""
    view = conditionals.given(names, start)
    rest = {
        p.name: conditionals.supports[p.name].ends
        if p.name in conditionals.supports
        else EVERYTHING
        for p in conditionals.density.points
        if p.name not in names and np.dtype(p.dtype).kind == "f"
    }
    result = audit(view, rest)
    unseen = [*result.opaque, *([f"comparisons: {result.questions}"] if result.questions else [])]
    counts = conditionals.unbounded(names)
    if counts:
        further = audit(view, rest | dict.fromkeys(counts, EVERYTHING))
        if further.questions > result.questions or further.opaque != result.opaque:
            raise NotConjugate(
                f"the law of {', '.join(names)} may change with the value of {', '.join(counts)}, "
                "of which there are infinitely many or an unknown number."
            )
        unseen.append(f"most values of {', '.join(counts)}")
    return result, tuple(unseen)


def _otherwise(
    conditionals: Conditionals,
    names: Sequence[str],
    audited: Audit,
    points: Sequence[Point],
    rng: np.random.Generator,
) -> list[Point]:
    """Return values of the rest at which comparisons fall out differently."""
    rest = [name for name in conditionals.supports if name not in names]
    if not audited.questions or not rest:
        return []
    view, none = conditionals.given(rest, points[0]), np.zeros(0, dtype=int)
    near = [(view.row(point), none) for point in points]
    far = [(somewhere(view, rng, WILD), none) for _ in range(_POINTS)]
    others = [*far, *otherwise(view, audited, near, far, rng)]
    return [p for p in (view.variables(*other) for other in others) if conditionals.possible(p)]


class PartialPosterior:
    r"""A PyMC model with a conjugate block integrated out; made by `bayesmodels.exact`.

    With the block x and the other variables :math:`\phi`,

    .. math:: p(\phi \mid y) \propto \int p(y, x, \phi) \, dx, \qquad
        p(x, \phi \mid y) = p(\phi \mid y) \, p(x \mid \phi, y),

    where the integral and the law of x given the rest are exact: a sampler has fewer variables to
    move, without the narrow passages that they make, and the posterior is the same.

    Integrated out are normal variables, the largest first, as long as they are jointly normal; then
    Beta, Dirichlet and (inverse) Gamma variables, and those whose squares are, as long as their law
    does not depend on what is integrated out already. Finite variables with more than 1,024
    configurations are summed out instead, and nothing else is; where they depend on each other too
    much for that, or all on all, they remain.

    Attributes
    ----------
    model : pymc.Model
        Over the remaining variables, with their names, dims, coords, priors and transforms, and
        the block's marginal likelihood as a `Potential`; data and dims are frozen.
    original : pymc.Model
        The model that it was made of.
    conjugate : dict of str
        The family of each variable that is conjugate given all others.
    integrated, remaining : tuple of str
        Names of the variables that are integrated out, and of the others.
    verification : Verification
        How densities were compared; its `log_evidence` is that of the last point compared.

    Notes
    -----
    `model` has no second derivatives where normal variables are integrated out.

    Normal elements cost what their structure costs: chains (random walks), groups that share a few
    means, and nested groups about their number. Where all of p elements depend on each other, a
    gradient costs about p times that of the original model, and p cubed operations.

    Examples
    --------
    >>> import pymc as pm, bayesmodels as bm
    >>> with pm.Model() as model:
    ...     level = pm.Normal("level", 0, 10)
    ...     noise = pm.HalfNormal("noise", 2)
    ...     _ = pm.Normal("y", level, noise, observed=[1.2, 0.7, 2.3])
    >>> partial = bm.exact(model, partial=True, rng=1)
    >>> partial.integrated, [rv.name for rv in partial.model.free_RVs]
    (('level',), ['noise'])
    >>> partial.conditional({"noise": 1.0})["level"]["mean"].round(4)
    np.float64(1.3953)
    """

    def __init__(
        self,
        original: pm.Model,
        model: pm.Model,
        density: ModelDensity,
        marginal: Marginal | FiniteMarginal | ContinuousMarginal | LinkedMarginal,
        choice: Choice,
        verification: Verification,
        unseen: tuple[str, ...] = (),
    ) -> None:
        self.original, self.model, self.verification = original, model, verification
        self.density = density
        self._marginal, self._choice, self._unseen = marginal, choice, unseen
        self.conjugate = dict(choice.families)
        order = [rv.name for rv in original.free_RVs]
        self.integrated = tuple(name for name in order if name in marginal.probes)
        self.remaining = tuple(name for name in order if name not in marginal.probes)

    verified = property(reading.verified)

    def conditional(self, rest: Mapping[str, Any]) -> dict[str, dict[str, Array]]:
        """Return the parameters of each integrated variable's law given the rest.

        Of jointly normal variables means and standard deviations.

        Parameters
        ----------
        rest : mapping
            Values of the remaining variables, with any number of sample axes first.
        """
        rows, batch = self._rows(rest)
        result = self._marginal.parameters(rows)
        for name, which in self.which.items():
            result[name] = {key: value[:, which] for key, value in result[name].items()}
        return {
            name: {key: _unflattened(value, batch) for key, value in of.items()}
            for name, of in result.items()
        }

    def draw(
        self, rest: Mapping[str, Any], rng: np.random.Generator | int | None = None
    ) -> dict[str, Array]:
        """Return one exact draw of the integrated variables for each value of the rest.

        Parameters
        ----------
        rest : mapping
            Draws of the remaining variables, with any number of sample axes first.
        rng : numpy.random.Generator or int, optional
            Source of randomness, or a seed; fresh if not given.
        """
        rows, batch = self._rows(rest)
        result = self._marginal.draw(rows, randomness(rng))
        return {name: _unflattened(result[name], batch) for name in self.integrated}

    def laws(self, rows: Point) -> tuple[dict[str, Any], NDArray[np.bool_]]:
        """Return each variable's law for every row of the rest, and which rows have digits left.

        Of elements that are alike there is one law: `which` says which.
        """
        result, known = _where_known(lambda part: self._marginal.parameters(part, _LOOSE), rows)
        families = {one.name: one.family for one in self._marginal.others}
        laws: dict[str, Any] = {}
        for name, of in result.items():
            if name in self.levels:
                laws[name] = Certain(of["probability"])
            elif self.on_nodes:
                laws[name] = self.on_nodes.law(name, **of)
            elif name in families:
                laws[name] = _law(families[name], **of)
            else:
                laws[name] = normal(*of.values())
        return laws, known

    def drawn(
        self, rows: Point, rng: np.random.Generator | int | None = None
    ) -> tuple[dict[str, Array], NDArray[np.bool_]]:
        """Return one draw for every row of the rest, NaN in rows that have no digits left."""
        rng = randomness(rng)
        draws, known = _where_known(lambda part: {"": self._marginal.draw(part, rng)}, rows)
        result = {}
        for name, x in draws[""].items():
            result[name] = np.full((len(known), *x.shape[1:]), np.nan)
            result[name][known] = x
        return result, known

    @property
    def closed(self) -> bool:
        """Whether the law of what is integrated out is known in closed form, given the rest."""
        return self.on_nodes is None

    @property
    def cost(self) -> int:
        """About how many numbers are worked out inside of the block, of one point of the rest."""
        return self._marginal.cost

    @property
    def on_nodes(self) -> ContinuousMarginal | LinkedMarginal | None:
        """What has no closed form given the rest."""
        marginal = self._marginal
        return marginal if isinstance(marginal, ContinuousMarginal | LinkedMarginal) else None

    @property
    def linked(self) -> bool:
        """Whether elements that are eliminated meet each other."""
        return isinstance(self._marginal, LinkedMarginal)

    @property
    def which(self) -> dict[str, NDArray[np.intp]]:
        """Which law each element has, by variable, if some of its elements are alike."""
        return self.on_nodes.which if self.on_nodes else {}

    @property
    def how(self) -> str:
        """What was integrated out, and how."""
        if self.on_nodes:
            return f"{listed(self.integrated)} {self.on_nodes.how}"
        laws = [f"{name} ({self.conjugate[name]})" for name in self.integrated]
        return f"{listed(laws)} integrated out in closed form"

    def off(self, rows: Point) -> float:
        """Return how far off the log density of the rest may be, at some of its values."""
        return self.on_nodes.off(rows) if self.on_nodes else 0.0

    @property
    def endless(self) -> list[Support]:
        """Whole numbers without an end that are added up."""
        return self._marginal.endless

    @property
    def levels(self) -> dict[str, tuple[Hashable, ...]]:
        """The values of integrated variables that are finite."""
        return self._marginal.levels

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the integrated variables."""
        sums = zero_sums(self.original)
        probes = self._marginal.probes
        return {n: sums[n].shape if n in sums else x.shape[1:] for n, x in probes.items()}

    def _rows(self, rest: Mapping[str, Any]) -> tuple[Point, tuple[int, ...]]:
        """Return values with one sample axis, and what axes there were."""
        result: Point = {}
        batch: tuple[int, ...] | None = None
        for point in self._marginal.remaining:
            if point.name not in rest:
                raise DataError(
                    f"rest: must have {point.name!r}; has {[str(name) for name in rest]}."
                )
            value = np.asarray(rest[point.name])
            axes = value.shape[: value.ndim - point.type.ndim]
            batch = axes if batch is None else batch
            if axes != batch or value.ndim < point.type.ndim:
                raise DataError(
                    f"rest: {point.name!r} has shape {value.shape}, with other axes than before."
                )
            result[point.name] = value.reshape((-1, *value.shape[len(axes) :]))
        return result, batch or ()

    def sample(
        self,
        draws: int = 1000,
        *,
        tune: int = 1000,
        chains: int = 4,
        rng: np.random.Generator | int | None = None,
        **pm_sample_kwargs: Any,
    ) -> xr.DataTree:
        """Sample the remaining variables with `pm.sample`, and the others exactly given them.

        Parameters
        ----------
        draws, tune, chains : int
            Numbers of draws and of tuning steps a chain, and of chains.
        rng : numpy.random.Generator or int, optional
            Source of randomness, or a seed; fresh if not given.
        **pm_sample_kwargs
            For `pm.sample`.

        Returns
        -------
        xarray.DataTree
            As `pm.sample` of the original model gives it, Deterministics included.
        """
        rng = randomness(rng)
        tree = sampled(self.model, draws, rng, tune=tune, chains=chains, **pm_sample_kwargs)
        return self.completed(tree, rng)

    def completed(
        self, tree: xr.DataTree, rng: np.random.Generator | int | None = None
    ) -> xr.DataTree:
        """Return draws of the remaining variables with exact draws of the others added.

        Parameters
        ----------
        tree : xarray.DataTree
            What a sampler drew from `model`.
        rng : numpy.random.Generator or int, optional
            Source of randomness, or a seed; fresh if not given.
        """
        import xarray as xr

        posterior = tree["posterior"].to_dataset()
        posterior = posterior[list(self.remaining)]
        drawn = self.draw({name: posterior[name].to_numpy() for name in self.remaining}, rng)
        for name, values in drawn.items():
            axes = reading.labelled_axes(self.original, name, values.shape[2:])
            posterior[name] = xr.DataArray(
                values,
                {axis: list(labels) for axis, labels in axes},
                ("chain", "draw", *(axis for axis, _ in axes)),
            )
        posterior = posterior[[rv.name for rv in self.original.free_RVs]]
        if self.original.deterministics:
            computed = reading.values_of_deterministics(self.original, posterior)
            posterior = posterior.assign(computed.data_vars)
        posterior.attrs = tree["posterior"].attrs
        result = tree.copy()
        result["posterior"] = xr.DataTree(posterior)
        add_data(result, self.original, posterior)
        return result

    def explain(self) -> str:
        """Say what is conjugate given the rest, what is integrated out, and how it was verified."""
        laws = [f"{name} ({self.conjugate[name]})" for name in self.integrated]
        parts = [f"Given {listed(self.remaining)}, {listed(laws)} can be integrated out"]
        kept = {n: self._choice.reasons[n] for n in self.remaining if n in self._choice.reasons}
        parts += [s.cut for s in self.endless]
        parts += [f"{name} remains: {why.rstrip('.')}" for name, why in kept.items()]
        proof = (
            "the density is analytic in them, so this holds everywhere"
            if self.verification.settled
            else "the graph has more than can be shown to be harmless, so this is known only at "
            f"the points compared ({', '.join(self._unseen)})"
        )
        parts.append(
            "Joint density, their law given the rest and the density that remains agree at "
            f"{self.verification.points} points, up to rounding; {proof}"
        )
        return ". ".join(parts) + "."

    def _repr_html_(self) -> str:
        said = notebook.paragraph(self.explain())
        return notebook.frame("Posterior in closed form, in part", said)

    def __repr__(self) -> str:
        return (
            f"PartialPosterior(integrated: {', '.join(self.integrated)}; remaining: "
            f"{', '.join(self.remaining)}; verified {self.verified})"
        )


def _law(family: Family, **parameters: Array) -> Any:
    if family is not DIRICHLET:
        return family.law(*parameters.values())
    alpha = parameters["alpha"]
    return BETA.law(alpha, sum_of_others(alpha))


def _where_known(
    run: Callable[[Point], dict[str, dict[str, Array]]], rows: Point
) -> tuple[dict[str, dict[str, Array]], NDArray[np.bool_]]:
    """Evaluate for all rows but those that rounding leaves no digits of; say which are known."""
    parts = in_halves(
        lambda part: run({name: x[part] for name, x in rows.items()}),
        slice(0, len(next(iter(rows.values())))),
        (DataError, np.linalg.LinAlgError),
    )
    results = [result for _, result in parts if result]
    joined = {
        name: {key: np.concatenate([result[name][key] for result in results]) for key in of}
        for name, of in (results[0] if results else {}).items()
    }
    known = np.repeat([result is not None for _, result in parts], [n for n, _ in parts])
    floats = [x for of in joined.values() for x in of.values() if x.dtype.kind == "f"]
    some = ~np.logical_or.reduce([np.isnan(x).reshape(len(x), -1).any(1) for x in floats])
    if np.all(some):
        return joined, known
    known[known] = some
    return {
        name: {key: x[some] if x.dtype.kind == "f" else x for key, x in of.items()}
        for name, of in joined.items()
    }, known


def _unflattened(value: Array, batch: tuple[int, ...]) -> Array:
    return np.asarray(value.reshape((*batch, *value.shape[1:])))
