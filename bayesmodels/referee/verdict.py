"""The verdict on draws: agree, disagree or inconclusive, at one level over everything tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy import stats

from bayesmodels.belief import notebook
from bayesmodels.belief.bambi_model import of_formula
from bayesmodels.belief.declaring import is_pymc
from bayesmodels.belief.protocol import Approximate, Integrated, LatentClasses, MarginalLaws
from bayesmodels.belief.values import stored
from bayesmodels.errors import DataError
from bayesmodels.input.parameters import proportion, randomness
from bayesmodels.numerics import AnyFloat
from bayesmodels.numerics.multiple_testing import holm
from bayesmodels.referee.bounds import CONFIDENCE, Bounds
from bayesmodels.referee.copies import in_order, without_copies
from bayesmodels.referee.named_laws import NamedLaws, are_laws, invariant_law
from bayesmodels.referee.one_sample import one_sample
from bayesmodels.referee.scalars import LEAST_CHAINS, LawDraws, law_draws
from bayesmodels.referee.sequential import until_decided
from bayesmodels.referee.tests import KINDS, Test, name_of, sentence
from bayesmodels.referee.tests.class_probabilities import class_probabilities
from bayesmodels.referee.tests.polynomials import LOCATION, SPREAD
from bayesmodels.referee.tests.support import log_densities, support_tests
from bayesmodels.referee.two_samples import in_both, two_samples

if TYPE_CHECKING:
    import pandas as pd

Outcome = Literal["agree", "disagree", "inconclusive"]
Kind = Literal["exact", "integrated", "approximate"]

LEAST_ESS = 400.0
"""Effective draws that every tested function needs before draws can agree."""
LEAST_TO_DISAGREE = 50.0
"""Effective draws of a function below which its standard error is not known well enough to judge
anything by."""
LARGEST_R_HAT = 1.01
STANDING = 100.0
"""R-hat above which chains stand still, each somewhere else."""
MOST_TIMES = 100.0
"""Times as many draws, beyond which drawing more is no advice."""
TOLERANCE = 0.1
"""Standard deviations that locations, and part of themselves that spreads, may be off to agree."""
_FIRST = 1000
"""Draws a chain that a sampler is asked for at first."""
_TIMES_LOOSER = 2.0
"""Times the tolerance that means may be off where ranks are within it."""

_SURE = float(stats.norm.ppf(CONFIDENCE))
_SEED = 20260519  # the same draws always get the same verdict


@stored
@dataclass(frozen=True)
class Verdict:
    """What was decided about draws, and why.

    Attributes
    ----------
    outcome : {"agree", "disagree", "inconclusive"}
        The decision.
    findings : tuple of str
        Sentences, the gravest first; empty if there is nothing to say.
    level : float
        Probability of ``disagree`` for correct draws, over all tests together.
    tests : tuple of Test
        Everything that was tested.
    table : pandas.DataFrame
        Exact beside sampled values; see `bayesmodels.referee.one_sample.one_sample_table`.
    predictions : pandas.DataFrame or None
        Exact beside sampled class probabilities, if rows were given.
    law, draws : Any
        What was compared: the law and the draws as given, or those of quantities that do not depend
        on the order of a mixture's classes. Of draws against draws, `law` is the first set.
    exact : bool
        Whether the law was exact, or integrated; not if it was known by draws only.
    tolerance : float
        What ``agree`` keeps discrepancies below: of locations in standard deviations of the law, of
        spreads in parts of themselves.
    bound : float
        The largest such discrepancy there may be, at 95 % confidence each; zero if there is no
        location, as of nominal variables. Locations and spreads are by ranks, which a few draws
        cannot move.
    bounds : Bounds or None
        How far the means, standard deviations and intervals of the table may be off.
    more : float or None
        About how many times as many draws would decide, where the verdict is ``inconclusive`` for
        want of draws; None where chains do not move, or are copies.
    diverged : int
        Transitions that diverged, where the draws come with a sampler's statistics.
    left_out : tuple of str
        Variables that one of two sets of draws alone has.
    kind : {"exact", "integrated", "approximate"}
        What the law is, where there is one.
    resampled : str
        What is said of draws that are copies of each other, as resampling makes them.
    """

    outcome: Outcome
    findings: tuple[str, ...]
    level: float
    tests: tuple[Test, ...]
    table: pd.DataFrame
    predictions: pd.DataFrame | None = None
    law: Any = field(default=None, repr=False, metadata={"stored": False})
    draws: Any = field(default=None, repr=False, metadata={"stored": False})
    exact: bool = True
    tolerance: float = TOLERANCE
    bound: float = 0.0
    more: AnyFloat | None = None
    bounds: Bounds | None = None
    diverged: int = 0
    left_out: tuple[str, ...] = ()
    kind: Kind = "exact"
    resampled: str = ""

    @classmethod
    def _from_file(cls, **fields: Any) -> Self:
        """Return a verdict whose parts go together."""
        verdict = cls(**fields)
        if unknown := {test.kind for test in verdict.tests} - KINDS.keys():
            raise DataError(f"tests: must be of the kinds {sorted(KINDS)}; got {sorted(unknown)}.")
        if not verdict.tests or bool(verdict.findings) == (verdict.outcome == "agree"):
            raise DataError("tests, findings: there must be tests, and findings unless it agrees.")
        positive = 0 < verdict.level < 1 and verdict.tolerance > 0
        if not positive or verdict.bound < 0 or not (verdict.more is None or verdict.more > 0):
            raise DataError(
                "level, tolerance, more, bound: level must be between 0 and 1, tolerance and more "
                "positive, bound not negative."
            )
        return verdict

    @property
    def largest(self) -> Test:
        """The test with the largest discrepancy."""
        return max(self.tests, key=lambda test: abs(test.z))

    def sentences(self) -> list[str]:
        """Say what was found in words, the most important first."""
        return [self._sentence()]

    def _sentence(self) -> str:
        """Say the verdict in one sentence; and what diverged or was left out, if anything."""
        said = [self._decision()]
        if self.diverged:
            said.append(f"{self.diverged:,} transitions of the sampler diverged.")
        if self.left_out:
            said.append(f"Not compared: {', '.join(self.left_out)}.")
        if self.resampled:
            said.append(self.resampled)
        return " ".join(said)

    def _decision(self) -> str:
        worst = self.largest
        subject = "The draws" if self.exact else "The two sets of draws"
        if self.outcome == "agree":
            agree = f"agree with the {self.kind} law" if self.exact else "agree"
            near = f"{self.bounds.sentences()[0]}, and " if self.bounds else ""
            return (
                f"{subject} {agree}: {near}the largest of {len(self.tests)} discrepancies is "
                f"{abs(worst.z):.1f} standard errors ({worst.label}, {name_of(worst)}), which "
                f"is not significant (family-wise level {self.level:g})."
            )
        lead = {
            "disagree": f"{subject} do not come from "
            f"{f'the {self.kind} law' if self.exact else 'one law'}: ",
            "inconclusive": "No verdict on the draws: ",
        }[self.outcome]
        return lead + self.findings[0]

    def measured(self) -> dict[str, Any]:
        """Return what the verdict rests on as plain values."""
        return {
            "level": self.level,
            "largest": f"{self.largest.label}, {name_of(self.largest)}",
            "largest_z": self.largest.z,
            "smallest_ess": min(test.ess for test in self.tests),
            "largest_r_hat": float(self.table["r_hat"].max()),
        }

    def _repr_html_(self) -> str:
        subject = f"Draws against an {self.kind} law" if self.exact else "Draws against draws"
        further = self.findings[1:]
        return notebook.judged(subject, self.outcome, [self._sentence()], further, self.table)

    def __repr__(self) -> str:
        return f"Verdict({self.outcome!r}: {self._sentence()})"


def compare(
    law: Any,
    draws: Any,
    *,
    level: float = 0.01,
    tolerance: float = TOLERANCE,
    rows: Any = None,
    var_names: Sequence[str] | None = None,
    rng: np.random.Generator | int | None = None,
) -> Verdict:
    """Decide whether draws come from a known law, or two sets of draws from one law.

    Every scalar is put through its distribution function; location, spread, skew and tails of the
    result, visits of quartiles and tails, and chains against each other are measured in Monte-Carlo
    standard errors. Scalars are compared together by the log density, rank correlations and random
    directions; of a nominal variable, how often each value was visited. Holm's correction (1979)
    keeps the probability of a false alarm at `level` over all of them; of one scalar,
    shifts may use four fifths of it, since means are what is reported first.

    A sampler in the place of draws is asked for 1,000 draws a chain. If these leave the verdict
    open, it is asked once more, for as many as should decide it, at most ten times as many, and
    these alone are compared. Each of the two comparisons has half of the level (Bonferroni).

    An approximation, such as Laplace's, is not the posterior, and enough draws will say so. How far
    it is off is in the table: ``mean - sampled_mean``, in units of ``sampled_sd``, with the
    Monte-Carlo error ``mcse_mean``; and ``sd`` beside ``sampled_sd``.

    Two sets of draws, of two samplers or libraries, are compared by the same functions of ranks
    among both together, with the standard errors of both; of several scalars together, by rank
    correlations and random directions. Findings speak of the first set.

    Parameters
    ----------
    law : Belief, pymc.Model, mapping of laws, xarray.DataTree or mapping of arrays
        The exact law; or a PyMC model, whose posterior is found as `exact` does it, or else
        `integrate`; or laws by the names of variables, as of predictions, each elementwise over
        its shape; or draws, as below.
    draws : xarray.DataTree, mapping or callable
        Arrays with the axes (chain, draw, ...), of any sampler or library; of predictions the group
        they are in, such as ``tree.posterior_predictive``. Or a sampler: from a number of draws a
        chain to new draws of this form.
    level : float, default 0.01
        Probability of ``disagree`` for correct draws.
    tolerance : float, default 0.1
        To agree, every location must be within so many standard deviations of the law's, and every
        spread within that part of its own, at 95 % confidence each. It decides how many draws are
        needed: about 1,400 effective ones of one scalar, 3,000 of each of hundreds. What is
        significantly off disagrees, however little it is.
    rows : features, optional
        For a classifier: a few rows whose class probabilities are compared as well. For a mixture:
        the data; then quantities are compared that do not depend on the order of the classes, and
        single parameters, which the order decides, are not.
    var_names : sequence of str, optional
        Of two sets of draws, the variables to be compared; if not given, those that both have.
    rng : numpy.random.Generator or int, optional
        Source of random directions, and of the exact draws that several scalars together, and a
        mixture's invariant quantities, are compared with; if not given always the same, so that
        the same draws get the same verdict.

    Returns
    -------
    Verdict
        With the draws that it is about as `draws`; ``inconclusive`` where nothing is significant,
        but a discrepancy may be as large as `tolerance`, effective draws are fewer than 400, or
        R-hat exceeds 1.01. What has fewer than 50 effective draws is never significant: its
        standard error is not known.

    Raises
    ------
    DataError
        If a variable is missing, has other axes or labels, holds what is no finite number, has a
        single chain or fewer than 8 draws in each, or `level` is not between 0 and 1 or
        `tolerance` is not positive; if `rows` are given with two sets of draws, or `var_names` with
        a law.
    NotConjugate
        If a PyMC model has no closed form and can't be integrated.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> law = bm.BetaBernoulli(5, 19)
    >>> compare(law, law.to_datatree(rng=np.random.default_rng(1))).outcome
    'agree'
    >>> wrong = bm.BetaBernoulli(19, 5).to_datatree(rng=np.random.default_rng(1))
    >>> compare(law, wrong).outcome
    'disagree'
    >>> y = law.predictive(trials=10).rvs((4, 1000), random_state=np.random.default_rng(1))
    >>> compare({"y": law.predictive(trials=10)}, {"y": y}).outcome
    'agree'
    >>> rng = np.random.default_rng(1)
    >>> compare(law, lambda n: law.to_datatree(draws=4 * n, rng=rng)).outcome
    'agree'
    >>> again = law.to_datatree(rng=np.random.default_rng(2))
    >>> compare(again, law.to_datatree(rng=np.random.default_rng(1))).outcome
    'agree'
    """
    check_limits(level, tolerance)
    if callable(draws):
        options = {"tolerance": tolerance, "rows": rows, "var_names": var_names, "rng": rng}
        return until_decided(
            draws,
            lambda sampled, share: compare(law, sampled, level=share, **options),
            _FIRST,
            level,
        ).verdict
    limits = (level, tolerance, _divergences(draws))
    rng = randomness(_SEED if rng is None else rng)
    law = of_formula(law)
    if is_pymc(law):
        from bayesmodels.posteriors.ladder import solved

        law, _ = solved(law, rng)
    elif are_laws(law):
        law = NamedLaws(law)
    exact = isinstance(law, MarginalLaws)
    if exact and var_names is not None:
        raise DataError("var_names: chooses variables of two sets of draws; a law has its own.")
    if not exact:
        if rows is not None:
            raise DataError(
                "rows: must not be given with two sets of draws, which predict nothing."
            )
        _, unshared = in_both(law, draws, var_names)
        judged = two_samples(law, draws, var_names, rng)
        return _decided(*judged, *limits, law, draws, exact=False, left_out=unshared)
    different, copied = without_copies(law_draws(law, draws, chains=LEAST_CHAINS))
    ordered, resampled = in_order(different, rng, "Of")
    values = LawDraws(law, ordered)
    impossible: list[Test] = []
    known: Any = law
    if rows is not None and isinstance(law, LatentClasses):
        impossible = support_tests(law, values, log_densities(law, values, 2), rng)
        known, invariant = invariant_law(law, values, rows, rng)
        values, rows = LawDraws(known, invariant), None
    result, table, bounds = one_sample(known, values, rng)
    predictions = None
    if rows is not None:
        of_classes, predictions = class_probabilities(known, values, rows)
        result = [*result, *of_classes]
    stated = table, bounds, copied, resampled
    shown = draws if known is law else values
    return _decided([*impossible, *result], *stated, *limits, known, shown, predictions=predictions)


def check_limits(level: float, tolerance: float) -> None:
    """Refuse a level or a tolerance that is none."""
    level = proportion(level, "level")
    if not (np.isfinite(tolerance) and tolerance > 0):
        raise DataError(f"tolerance: must be positive and finite; got {tolerance!r}.")


def _decided(
    tests: list[Test],
    table: pd.DataFrame,
    bounds: Bounds | None,
    copied: str,
    resampled: str,
    level: float,
    tolerance: float,
    diverged: int,
    law: Any,
    draws: Any,
    **more: Any,
) -> Verdict:
    """Return the verdict on all tests, and on chains and draws that are copies, if there are."""
    sizes = [test for test in tests if KINDS[test.kind].measures and test.label in table.index]
    loose = max(sizes, key=_bound, default=None)
    bound = 0.0 if loose is None else _bound(loose)
    fields = {"tolerance": tolerance, "bound": bound, "bounds": bounds, **more}
    fields |= {"law": law, "draws": draws, "diverged": diverged, "resampled": resampled}
    fields["kind"] = (
        "approximate"
        if isinstance(law, Approximate)
        else "integrated"
        if isinstance(law, Integrated)
        else "exact"
    )

    def verdict(outcome: Outcome, findings: Sequence[str]) -> Verdict:
        return Verdict(outcome, tuple(findings), level, tuple(tests), table, **fields)

    if wrong := significant(tests, level):
        # What is wrong of one scalar explains more than what is wrong of all together.
        wrong.sort(key=lambda t: (KINDS[t.kind].order, t.label not in table.index))
        significant_kinds = {(test.label, test.kind) for test in wrong}
        rows = table.to_dict(orient="index")
        said = [
            sentence(test, rows.get(test.label))
            for test in wrong
            if (test.label, KINDS[test.kind].yields_to) not in significant_kinds  # the same again
        ]
        return verdict("disagree", [*said, copied] if copied else said)
    mixed = table["r_hat"].to_dict()
    standing = [
        test.label
        for test in sizes
        if test.kind == LOCATION.name and stands_still(test.ess, mixed[test.label])
    ]
    if standing or copied:
        said = [still(standing)] if standing else []
        return verdict("inconclusive", [copied, *said] if copied else said)
    worst = min(tests, key=lambda test: test.ess)
    open_questions = too_few(f"the {name_of(worst)} of {worst.label}", worst.ess)
    factors = [LEAST_ESS / worst.ess] if open_questions else []
    if loose is not None and bound > tolerance:
        factors.append(_factor(sizes, tolerance))
        unit = "" if loose.kind == SPREAD.name else " standard deviations"
        open_questions.append(
            f"the {loose.kind} of {loose.label} is only known to within {bound:.2g}{unit}, "
            f"and {tolerance:g} are allowed."
        )
    elif bounds is not None and bounds.mean > _TIMES_LOOSER * tolerance:
        open_questions.append(
            f"the bulk of the draws fits, but means are only known to within {bounds.mean:.2g} "
            "standard deviations. Look at the outermost draws."
        )
    if (worst_mixed := table["r_hat"].max()) > LARGEST_R_HAT:
        factors.append(1.5 * (worst_mixed - 1) / (LARGEST_R_HAT - 1))  # it falls as draws rise
    open_questions += unmixed(table["r_hat"])
    if factors:  # one piece of advice, that serves all of them
        fields["more"] = max(factors)
        open_questions[0] += f" {advice(fields['more'])}"
    return verdict("inconclusive" if open_questions else "agree", open_questions)


def stands_still(ess: float, r_hat: float) -> bool:
    """Say whether all draws of a scalar are the same, or nearly so in each chain."""
    return ess <= 1 or r_hat > STANDING


def still(labels: Sequence[str]) -> str:
    """Say that chains do not move."""
    others = f" and {len(labels) - 1:,} other scalars" if len(labels) > 1 else ""
    return (
        f"the chains do not move: in each, all draws of {labels[0]}{others} are the same or nearly "
        "so. More draws will not help; look at the sampler's steps and starting points."
    )


def too_few(what: str, ess: float) -> list[str]:
    """Say that something has too few effective draws, if it has."""
    draws = f"{ess:.0f} effective draw{'' if round(ess) == 1 else 's'}"
    said = f"{what} has {draws}; at least {LEAST_ESS:.0f} are needed."
    return [said] if ess < LEAST_ESS else []


def unmixed(r_hat: pd.Series[float]) -> list[str]:
    """Say that chains have not mixed, if they have not, or that there is only one."""
    if r_hat.isna().all():
        return ["there is only one chain, and none to compare it with. Run four."]
    said = f"the chains have not mixed: R-hat of {r_hat.idxmax()} is {r_hat.max():.3f}, above"
    return [] if r_hat.max() <= LARGEST_R_HAT else [f"{said} {LARGEST_R_HAT}."]


def advice(more: float) -> str:
    """Say about how many times as many draws would decide, if that many can be asked for."""
    if more > MOST_TIMES:
        return (
            f"More draws alone will not do, for it would take over {MOST_TIMES:.0f} times as many: "
            "tune longer, or write the model in other parameters."
        )
    return f"Draw about {float(f'{more:.2g}'):g} times as many."


def significant(tests: Sequence[Test], level: float) -> list[Test]:
    """Return the tests that are significant at one level over all of them.

    An indicator that hardly ever changes looks as if it mixed well: of a scalar whose location or
    spread has too few effective draws no function counts, but for differences of chains.
    """
    least: dict[str, float] = {}
    for test in tests:
        if KINDS[test.kind].measures:
            least[test.label] = min(test.ess, least.get(test.label, np.inf))

    def counts(test: Test) -> bool:
        kind = KINDS[test.kind]
        known = test.ess if kind.own_ess else min(test.ess, least.get(test.label, np.inf))
        return known >= LEAST_TO_DISAGREE or not kind.needs_ess

    p = [test.p if counts(test) else 1.0 for test in tests]
    tested = {(test.label, test.kind) for test in tests}

    def weight(test: Test) -> float:
        kind = KINDS[test.kind]
        return 1.0 if (test.label, kind.yields_to) in tested else kind.weight

    weights = [weight(test) for test in tests]
    return [tests[number] for number in holm(p, level, weights)]


def _divergences(draws: Any) -> int:
    """Return how many transitions diverged, where draws come with a sampler's statistics."""
    stats = getattr(draws, "sample_stats", {})
    return int(np.sum(np.asarray(stats["diverging"], dtype=bool))) if "diverging" in stats else 0


def _error(test: Test) -> float:
    """Return the standard error of an effect."""
    return abs(test.effect / test.z) if test.z else 0.0


def _bound(test: Test) -> float:
    """Return how large a discrepancy may be, at the confidence that is asked for."""
    return abs(test.effect) + _SURE * _error(test)


def _factor(sizes: list[Test], tolerance: float) -> float:
    """Return how many times as many draws bound all effects, most likely, if they are right."""
    likely = float(stats.norm.isf((1 - CONFIDENCE) / 2 / len(sizes)))  # the largest of so many
    needed = tolerance / (_SURE + likely)
    return max(1.5, *((_error(test) / needed) ** 2 for test in sizes))
