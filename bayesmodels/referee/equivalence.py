r"""Whether two programs state the same model.

Two joint log densities are those of one model if their difference is the same number at every
point; variables that are functions of others bring the log Jacobian of the map with them,

.. math:: \ln p_b(z) - \ln p_a(f(z)) - \ln \left| \det \frac{\partial f}{\partial z} \right|
          = \text{const}.

Constant means: up to the rounding errors that both computations can make at these points, which are
computed beside the values. Where the spaces of two programs cannot be mapped one to one, as where
one has summed a variable out, draws of both posteriors are compared instead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief import notebook
from bayesmodels.errors import DataError
from bayesmodels.input.parameters import count, randomness
from bayesmodels.referee.alignment import Pair, aligned
from bayesmodels.referee.blame import Gap, differing, gap
from bayesmodels.referee.log_terms import Logs, Point, in_words, same_support, total
from bayesmodels.referee.one_to_one import Folds, check_slopes, folds, unreached
from bayesmodels.referee.programs import NotComparableError, Transform
from bayesmodels.referee.random_points import random_points
from bayesmodels.referee.verdict import Outcome, Verdict, compare
from bayesmodels.referee.visits import COARSE, Visits, visits

if TYPE_CHECKING:
    import pandas as pd

_LEAST_POINTS = 3  # at which both are finite
_SHOWN = 20  # far points at which terms are looked at one by one
_LARGEST = 1000  # number whose logarithm a constant may be
_RECOGNISED = 1e-6  # a bound above which a number says nothing
_LOG_2PI = math.log(2 * math.pi)
_EPS = float(np.finfo(float).eps)

Terms = Mapping[str, Logs]


@dataclass(frozen=True)
class Equivalence:
    """What the comparison of two programs found.

    Attributes
    ----------
    outcome : {"agree", "disagree", "inconclusive"}
        Whether they state the same model, up to a constant.
    constant : float or None
        Log density of the second program minus that of the first: the log of the ratio of their
        evidences. None if there is no such number, or draws were compared.
    bound : float or None
        What rounding may add to `constant`.
    points : int
        Number of points at which both are possible.
    varies : float
        How far the difference is from a constant, over its bound: up to 1 is rounding, infinite
        where one program alone is possible.
    terms : tuple of str
        What is to blame, in words: ``"the prior of tau"``, ``"the likelihood of y"``, ``"the
        Jacobian of sigma"``, ``"the term support"``.
    findings : tuple of str
        Further sentences.
    visited : dict of tuple of float
        The least and the largest number of each variable at which both were compared.
    table : pandas.DataFrame
        Both log densities, their difference and its bound at each point; of draws, theirs.
    verdict : Verdict or None
        That on draws, if they were compared.
    """

    outcome: Outcome
    constant: float | None
    bound: float | None
    points: int
    varies: float
    terms: tuple[str, ...]
    findings: tuple[str, ...]
    table: pd.DataFrame = field(repr=False)
    verdict: Verdict | None = None
    visited: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def sentences(self) -> list[str]:
        """Say what was found in words, the most important first."""
        return [self._sentence()]

    def _sentence(self) -> str:
        """Say the finding in words."""
        if self.verdict is not None:
            return f"Draws were compared, not densities. {self.verdict.sentences()[0]}"
        if self.outcome == "inconclusive":
            return f"No verdict on the two programs: {self.findings[0]}"
        if self.outcome == "disagree":
            named = f" To blame: {' and '.join(self.terms)}." if self.terms else ""
            how = (
                "one is possible where the other is not"
                if np.isinf(self.varies)
                else f"the difference of their log densities varies by {self.varies:.3g} times its "
                "rounding bound"
            )
            return f"The two programs do not state the same model: {how}.{named}"
        assert self.constant is not None and self.bound is not None  # noqa: PT018, S101
        where = f"at all {self.points} points, up to rounding ({self.bound:.1g})"
        seen = [f"{n} from {low:.2g} to {high:.2g}" for n, (low, high) in self.visited.items()]
        verb = "were" if len(seen) > 1 else "was"
        compared = f" Compared {verb} {', '.join(seen)}." if seen else ""
        if abs(self.constant) <= self.bound:
            return f"The two programs state the same model, constants included, {where}.{compared}"
        number = constant_in_words(self.constant, self.bound)
        return (
            f"The two programs state the same model up to the constant {number}, {where}: the "
            f"posteriors are the same, the evidences are not.{compared}"
        )

    def __repr__(self) -> str:
        return f"Equivalence({self.outcome!r}: {self._sentence()})"

    def _repr_html_(self) -> str:
        return notebook.judged(
            "Two programs", self.outcome, [self._sentence()], self.findings, self.table
        )


def same(
    a: Any,
    b: Any,
    *,
    rename: Mapping[str, str] | None = None,
    transform: Transform | None = None,
    points: int = 20,
    level: float = 0.01,
    rng: np.random.Generator | int | None = None,
) -> Equivalence:
    """Decide whether two programs state the same model, and name the term that differs.

    Joint log densities, data included, are compared at random points: draws of both priors, moved
    ones, and some outside of each variable's support; then far out along each variable, and on both
    sides of whatever the models compare: ends of supports, branches, clips. Their difference must
    be constant up to the rounding errors of both. Terms are compared one by one, or a few with a
    few.

    Parameters
    ----------
    a, b : pymc.Model or callable
        Two PyMC models; or one, and a function of a dict of values in natural space, by names of
        variables, that returns the joint log density or a dict of its terms by name.
    rename : mapping of str, optional
        Names in `b` and what they are called in `a`: of variables, data, Potentials, or of a
        function's arguments.
    transform : mapping of callables, optional
        Free variables of one program, each as a function of a dict of the other's variables
        (Deterministics included, by their names in `a`) in PyTensor: ``{"sigma": lambda v: 1 /
        pt.sqrt(v["tau"])}``. The log Jacobian is worked out. Free variables that are
        Deterministics of the other program by name need none. For a callable, these are all of its
        arguments, as functions of the PyMC model's variables.
    points : int, default 20
        Number of random points, beside those outside and far out.
    level : float, default 0.01
        Where draws are compared: probability of ``disagree`` for the same model.
    rng : numpy.random.Generator or int, optional
        Source of points and draws.

    Returns
    -------
    Equivalence
        The outcome, the constant, and what is to blame.

    Raises
    ------
    DataError
        If neither is a PyMC model, variables have no partner or another shape, or a transform
        cannot be differentiated.

    Notes
    -----
    A constant difference leaves the posterior as it is, so that the outcome is ``agree``; the
    sentence says the constant. If free variables cannot be mapped one to one, because one model has
    more of them or a map is not one to one, posteriors are drawn by `bayesmodels.sample`, and the
    variables that both have (Deterministics included) compared by `bayesmodels.compare`. Maps that
    lose signs alone, at both of which the density is the same, are allowed for: it is doubled.

    The operations of a function are not seen. Its error is taken to be the PyMC model's bound, and
    16 times the units in the last place of its value, what it moves by where its arguments move in
    their last places, and how rough it is. Values that all fit in single precision count as such.
    Nor is seen what it compares; in tails where the density is tiny it is not asked.

    References
    ----------
    N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., SIAM, 2002, sec. 3.1.

    Examples
    --------
    >>> import pymc as pm, bayesmodels as bm
    >>> with pm.Model() as centred:
    ...     tau = pm.HalfNormal("tau", 2.0)
    ...     theta = pm.Normal("theta", 1.0, tau, shape=3)
    >>> with pm.Model() as other:
    ...     tau = pm.HalfNormal("tau", 2.0)
    ...     z = pm.Normal("z", shape=3)
    ...     theta = pm.Deterministic("theta", 1.0 + tau**2 * z)
    >>> found = bm.same(centred, other, rng=1)
    >>> found.outcome, found.terms
    ('disagree', ('the prior of theta',))
    """
    rng, number = randomness(rng), count(points, "points", 1)
    try:
        return judge(aligned(a, b, rename or {}, transform or {}), number, rng)
    except NotComparableError as found:
        if any(callable(given) for given in (a, b)):
            raise DataError(
                f"a, b: {found}; draws cannot be compared, as one is a function. Give a transform "
                "that is one to one."
            ) from found
        return _by_draws(a, b, rename or {}, str(found), level, rng)


def judge(pair: Pair, number: int, rng: np.random.Generator) -> Equivalence:
    """Compare both at random points; where they agree, at far ones, too."""
    inside, outside = random_points(pair.source, pair.other, pair.kept, number, rng)
    at = [*inside, *outside]
    known = folds(pair, inside)
    terms = _terms(pair, at, known)
    sums = [total(side.values(), len(at)) for side in terms]
    result = gap(*sums)
    if not result.holds:
        return _disagreement(pair, at, terms, result, _table(sums, result))
    far = visits(pair, inside, rng)
    check_slopes(pair, far.tight, known)
    if (beyond := unreached(pair, far.possible)) is not None:
        name, said = beyond
        words = (f"the prior of {name}",)
        used = int(result.used.sum())
        return Equivalence(
            "disagree", None, None, used, np.inf, words, (said,), _table(sums, result)
        )
    extra = _constants(pair, known, len(far.points))
    sums = [
        one.followed_by(two + total(more.values(), len(far.points)))
        for one, two, more in zip(sums, far.logs, extra, strict=True)
    ]
    result = gap(*sums, one_sided=np.append(~same_support(*sums)[: len(at)], far.one_sided))
    table = _table(sums, result)
    if result.holds:
        return _agreement(result, pair, terms, table, far)
    points = [*at, *far.points]
    odd = np.argsort(-result.off, kind="stable")[:_SHOWN].tolist()
    odd = [i for i in odd if result.off[i] > 1]
    said = _where(points[odd[0]], [logs.value[odd[0]] for logs in sums])
    at = [*at, *(points[i] for i in odd)]
    terms = _terms(pair, at, known)
    here = gap(*(total(side.values(), len(at)) for side in terms))
    return _disagreement(pair, at, terms, replace(here, varies=result.varies), table, said)


def _where(point: Point, values: Sequence[float]) -> str:
    """Say where two programs differ."""
    return f"At {in_words(point)} the log densities are {values[0]:.6g} and {values[1]:.6g}."


def _terms(pair: Pair, at: list[Point], known: Folds) -> tuple[Terms, Terms]:
    """Return both programs' log terms, by name, at points."""
    first, second = (
        dict(side.run(at)) | more
        for side, more in zip(pair.sides, _constants(pair, known, len(at)), strict=True)
    )
    return first, second


def _constants(pair: Pair, known: Folds, number: int) -> list[dict[str, Logs]]:
    """Return each program's log factors for folded signs, at so many points."""
    value = {name: Logs(np.full(number, x), np.zeros(number)) for name, x in known.terms.items()}
    return [{} if side.map is not None else value for side in pair.sides]


def _table(sums: Sequence[Logs], difference: Gap) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(
        {
            "first": sums[0].value,
            "second": sums[1].value,
            "difference": difference.value,
            "rounding": difference.bound,
        }
    )
    table.index = table.index.map("point {}".format)
    return table


def _disagreement(
    pair: Pair,
    at: list[Point],
    terms: tuple[Terms, Terms],
    difference: Gap,
    table: pd.DataFrame,
    where: str = "",
) -> Equivalence:
    """Return that the difference is not constant, and which terms are to blame."""
    named, said = differing(pair, at, terms, difference.used)
    used = int(np.isfinite(table["difference"]).sum())
    said = [*said, *([where] if where else [])]
    names = tuple(dict.fromkeys(named))
    return Equivalence("disagree", None, None, used, difference.varies, names, tuple(said), table)


def _agreement(
    diff: Gap, pair: Pair, terms: tuple[Terms, Terms], table: pd.DataFrame, far: Visits
) -> Equivalence:
    """Return that the difference is constant, if enough was seen, and which terms bring it."""
    used, (first, second) = int(diff.used.sum()), terms
    if used < _LEAST_POINTS or not diff.tightest < COARSE:
        why = (
            f"both densities are positive at {used} points only; give priors that are proper."
            if used < _LEAST_POINTS
            else f"rounding may be as large as {diff.tightest:.1g}; centre data that lie "
            "far from zero, and let a function compute in double precision."
        )
        return Equivalence("inconclusive", None, None, used, diff.varies, (), (why,), table)
    said = []
    for name in first.keys() & second.keys() if abs(diff.constant) > diff.tightest else ():
        term_gap = gap(first[name], second[name])
        if term_gap.holds and abs(term_gap.constant) > term_gap.tightest:
            number = constant_in_words(term_gap.constant, term_gap.tightest)
            said.append(f"The constant of {pair.sides[0].words.get(name, name)} is {number}.")
    said += far.findings
    how = diff.constant, diff.tightest, used, diff.varies, (), tuple(said), table
    return Equivalence("agree", *how, visited=far.ranges)


def _by_draws(
    a: Any, b: Any, rename: Mapping[str, str], why: str, level: float, rng: np.random.Generator
) -> Equivalence:
    """Compare draws of both posteriors, of the variables that both have."""
    from bayesmodels.posteriors.sampling import sample

    trees = [sample(model, rng=rng).posterior.to_dataset() for model in (a, b)]
    trees[1] = trees[1].rename_vars({k: v for k, v in rename.items() if k in trees[1]})
    common = [str(name) for name in trees[0].data_vars if name in trees[1].data_vars]
    if not common:
        raise DataError(
            f"a, b: {why}, and no variable is in both whose draws could be compared; give "
            "rename or transform, or a Deterministic of one name in both."
        )
    result = compare(*trees, var_names=common, level=level)
    said = (
        f"Densities cannot be compared: {why}.",
        f"Draws of {', '.join(common)} were, at level {level:g}.",
        *result.findings,
    )
    outcome = result.outcome
    return Equivalence(outcome, None, None, 0, np.nan, (), said, result.table, result)


def constant_in_words(constant: float, bound: float) -> str:
    """Return a constant as a logarithm that one recognises, if it is one; else as a number.

    Examples
    --------
    >>> constant_in_words(-0.6931471805599453, 1e-12), constant_in_words(1.25, 1e-12)
    ('-log 2', '1.25')
    """
    sign, size = "-" if constant < 0 else "", abs(constant)
    if size < math.log(_LARGEST) and bound < _RECOGNISED:
        argument = round(math.exp(size))
        if argument > 1 and abs(math.log(argument) - size) <= bound + 4 * _EPS * size:
            return f"{sign}log {argument}"
    for name, unit in (("log 2", math.log(2)), ("log π", math.log(math.pi)), ("log 2π", _LOG_2PI)):
        for part in (1, 2):
            times = round(part * size / unit)
            off = abs(times * unit / part - size)
            if 0 < times <= _LARGEST and bound < _RECOGNISED and off <= bound + 4 * _EPS * size:
                factor = f"{times}/2" if times % 2 and part > 1 else f"{times // part}"
                return f"{sign}{name}" if factor == "1" else f"{sign}{factor} {name}"
    return f"{constant:.6g}"
