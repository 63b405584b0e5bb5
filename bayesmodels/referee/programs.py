"""Two programs of a joint log density, term by term over the same variables.

The points are values of one program's variables; the other's are the same by name, functions that
are given, or Deterministics of the one that bear the other's names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.referee.log_terms import Declared, Logs, Point, total

Transform = Mapping[str, Callable[[Mapping[str, Any]], Any]]


class NotComparableError(Exception):
    """The variables of two programs cannot be mapped one to one."""


@dataclass(frozen=True)
class Program:
    """A PyMC model over inputs of its free variables, under the names of the other program."""

    model: Any
    inputs: dict[str, Any]
    terms: dict[str, Any]
    deterministics: dict[str, Any]
    shapes: dict[str, tuple[int, ...]]
    simplex: frozenset[str]
    roles: dict[str, str]
    called: dict[str, str]

    def variable(self, name: str) -> Any:
        """Return a free variable as one that others may be functions of."""
        from bayesmodels.posteriors.change_of_variables import Variable

        return Variable(self.inputs[name], self.shapes[name], name in self.simplex)

    def continuous(self, name: str) -> bool:
        """Whether a free variable has a density."""
        return str(self.inputs[name].dtype).startswith("float")


def program(model: Any, rename: Mapping[str, str]) -> Program:
    """Read a PyMC model, with some names changed."""
    from bayesmodels.posteriors.density import deterministics, frozen, named_terms, simplexes
    from bayesmodels.posteriors.support import shaped

    model = frozen(model)
    points, terms = named_terms(model)
    computed = deterministics(model, points)
    called = {name: rename.get(name, name) for name in (*terms, *computed)}
    for name in rename:
        if name not in called:
            raise DataError(
                f"rename: {name!r} must be a variable of the second model; it has {sorted(called)}."
            )
    if len({*called.values()}) < len(called):
        raise DataError("rename: two variables of the second model would have one name.")
    for point in points:
        point.name = called[point.name]
    roles = (
        {called[v.name]: "the prior of" for v in model.free_RVs}
        | {called[v.name]: "the likelihood of" for v in model.observed_RVs}
        | {called[v.name]: "the term" for v in model.potentials}
    )
    return Program(
        model,
        {str(point.name): point for point in points},
        {called[name]: term for name, term in terms.items()},
        {called[name]: value for name, value in computed.items()},
        {called[rv.name]: shape for _, rv, shape in shaped(model)},
        frozenset(called[name] for name in simplexes(model)),
        roles,
        called,
    )


def within_transforms(source: Program, other: Program) -> Program:
    """Let a density be zero where a variable's transform does not go, unless both have the same."""
    import pytensor.tensor as pt

    from bayesmodels.posteriors.support import within

    kinds, others = _transforms(source), _transforms(other)
    points = {
        name: source.inputs[called]
        for name, called in source.called.items()
        if called in source.inputs
    }
    cut = {
        source.called[name]: pt.switch(inside, source.terms[source.called[name]], -np.inf)
        for name, inside in within(source.model, points).items()
        if kinds[source.called[name]] is not others.get(source.called[name])
    }
    return replace(source, terms=source.terms | cut)


def _transforms(source: Program) -> dict[str, type]:
    return {source.called[rv.name]: type(t) for rv, t in source.model.rvs_to_transforms.items()}


class Map:
    """Continuous variables of one program, by `names`, as functions of the other's, `of`.

    `signs` are expressions: of the slopes of those that are mapped number by number, of
    determinants of others.
    """

    def __init__(
        self,
        inputs: Sequence[Any],
        values: Mapping[str, Any],
        of: Sequence[str],
        signs: Sequence[Any],
    ) -> None:
        self.names, self.of = tuple(values), tuple(of)
        self._inputs, self._outputs = list(inputs), [*values.values(), *signs]

    @cached_property
    def _run(self) -> Callable[..., list[Any]]:
        from bayesmodels.posteriors.density import compiled

        run: Callable[..., list[Any]] = compiled(self._inputs, self._outputs)
        return run

    def _at(self, point: Point) -> list[Any]:
        return self._run(*(np.asarray(point[v.name], v.dtype) for v in self._inputs))

    def values(self, point: Point) -> Point:
        """Return the mapped variables at a point."""
        return dict(zip(self.names, self._at(point), strict=False))

    def image(self, point: Point) -> Array:
        """Return all their numbers."""
        return _flat(self._at(point)[: len(self.names)])

    def signs(self, point: Point) -> Array:
        """Return all signs."""
        return _flat(self._at(point)[len(self.names) :])


def _flat(values: Sequence[Any]) -> Array:
    return np.concatenate([np.ravel(x).astype(float) for x in values])


@dataclass(frozen=True)
class Side:
    """One program's terms, as functions of the points; `words` say what each term is.

    `terms` are their expressions, if they are known, `summed` a quicker way to their sum, and `map`
    leads from the points' variables to those of this program, if these are others.
    """

    run: Callable[[list[Point]], dict[str, Logs]]
    words: dict[str, str]
    needs: Callable[[str], set[str]] = field(default=lambda _: set())
    jacobians: tuple[str, ...] = ()
    terms: Mapping[str, Any] = field(default_factory=dict)
    summed: Callable[[list[Point]], Logs] | None = None
    map: Map | None = None

    def total(self, at: list[Point]) -> Logs:
        """Return the joint log density at points."""
        return total(self.run(at).values(), len(at))

    def joint(self, at: list[Point]) -> Logs:
        """Return the same at many points, or none."""
        if not at:
            return total((), 0)
        return self.summed(at) if self.summed else self.total(at)


def declared(
    source: Program, terms: Mapping[str, Any], words: dict[str, str], mapping: Map | None = None
) -> Side:
    """Return terms that are graphs over a program's inputs."""
    inside = Declared(source.model, list(source.inputs.values()), terms)

    def run(at: list[Point]) -> dict[str, Logs]:
        return {name: inside(at, [name]) for name in terms}

    jacobians = tuple(name for name, word in words.items() if word.startswith("the Jacobian"))
    return Side(run, words, inside.needs, jacobians, terms, inside.joint, mapping)


def source_side(source: Program) -> Side:
    """Return the terms of the program whose variables the points are."""
    return declared(source, source.terms, _words(source))


def _words(source: Program) -> dict[str, str]:
    return {name: f"{role} {name}" for name, role in source.roles.items()}


def mapped_side(source: Program, target: Program, transform: Transform) -> Side:
    """Return the terms of the other program, at functions of the points, and log Jacobians."""
    from bayesmodels.posteriors.change_of_variables import Variable, substituted

    values = expressions(source, target, transform)
    both = [name for name in target.inputs if name not in values]
    for name in both:
        if source.shapes[name] != target.shapes[name]:
            shapes = sorted([source.shapes[name], target.shapes[name]])
            raise DataError(
                f"a, b: {name} must have one shape in both models; got {shapes[0]} and {shapes[1]}."
            )
        if source.continuous(name) != target.continuous(name):
            raise NotComparableError(f"{name} is continuous in one model and discrete in the other")
    known = {target.inputs[name]: source.inputs[name] for name in both}
    known |= {target.inputs[name]: value for name, value in values.items()}
    terms = substituted(target.terms, known)
    mapped = {
        name: Variable(value, target.shapes[name], name in target.simplex)
        for name, value in values.items()
        if target.continuous(name)
    }
    inner = {n: source.variable(n) for n in source.inputs if n not in both and source.continuous(n)}
    one_to_one(mapped, inner)
    discrete = [n for n in source.inputs if n not in both and n not in inner]
    if sum(source.variable(n).size for n in discrete) != sum(
        target.variable(n).size for n in values if n not in mapped
    ):
        raise NotComparableError(
            f"{', '.join(discrete) or 'a discrete variable'} is in one program only"
        )
    return with_jacobians(source, terms, _words(target), mapped, inner)


def with_jacobians(
    source: Program,
    terms: dict[str, Any],
    words: dict[str, str],
    mapped: dict[str, Any],
    inner: dict[str, Any],
) -> Side:
    """Return terms and the log Jacobians of variables that are functions of the source's."""
    from bayesmodels.posteriors.change_of_variables import log_jacobians

    result = log_jacobians(mapped, inner) if mapped else {}
    named = {f"Jacobian of {name}": value for name, (value, _) in result.items()}
    values = {name: v.expression for name, v in mapped.items()}
    leads = Map(
        [*source.inputs.values()], values, list(inner), [sign for _, sign in result.values()]
    )
    words = words | {name: f"the {name}" for name in named}
    return declared(source, terms | named, words, leads if mapped else None)


def one_to_one(mapped: Mapping[str, Any], inner: Mapping[str, Any]) -> None:
    """Refuse a map between spaces of different sizes."""
    one, other = (sum(v.size for v in side.values()) for side in (mapped, inner))
    if one != other:
        names = [", ".join(side) or "nothing" for side in (inner, mapped)]
        raise NotComparableError(f"one program has {names[0]} where the other has {names[1]}")


def expressions(source: Program, target: Program | None, transform: Transform) -> dict[str, Any]:
    """Return the target's variables that are functions of the source's, as PyTensor has them."""
    import pytensor.tensor as pt

    variables = source.deterministics | source.inputs
    result = {}
    for name, function in transform.items():
        try:
            result[name] = pt.as_tensor(function(variables))
        except KeyError as error:
            raise DataError(
                f"transform: {name!r} asks for {error}, which the other model does not have; it "
                f"has {sorted(variables)}."
            ) from error
    for name in target.inputs if target else ():
        if name not in result and name not in source.inputs and name in source.deterministics:
            result[name] = source.deterministics[name]
    return result


def lacking(source: Program, target: Program, transform: Transform) -> list[str]:
    """Return free variables of the target that nothing of the source is known to be."""
    known = {*source.inputs, *source.deterministics, *transform}
    return [name for name in target.inputs if name not in known]
