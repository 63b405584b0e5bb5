r"""Are the verbs of a belief those of one law? Each against its log density, without a sampler.

The log density p is what `check_identity` holds against PyMC. By it are judged

- `log_likelihood`: prior times likelihood is evidence times posterior, at draws, up to rounding;
- `sample`: moved such that draws of p stay draws of p, they must not change (`moves`);
- `marginals`: their distribution functions, at draws of `sample` that pass, as in `compare`; of a
  nominal variable, its probabilities;
- `mean`, `var`, `interval`: moments and quantiles of the marginals;
- `mode`: nothing near it, nor among draws, is denser;
- `predictive`: the density of a number is its evidence;
- `replicate`: as `sample`, by moves between two parameters, new rows of the first given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayesmodels.belief import reading
from bayesmodels.belief.declaring import number_of_rows
from bayesmodels.belief.protocol import (
    Belief,
    MassFunction,
    Modal,
    Predictive,
    Replicating,
    Statistic,
    Summarised,
)
from bayesmodels.belief.reading import configurations, levels
from bayesmodels.belief.rows import readable, rows_at
from bayesmodels.belief.simulation import total
from bayesmodels.errors import DataError, ModeError, PriorError
from bayesmodels.input.data import weighted
from bayesmodels.input.parameters import proportion, randomness
from bayesmodels.input.wrappers import PER_ROW
from bayesmodels.numerics import Array
from bayesmodels.referee.one_sample import one_sample_tests
from bayesmodels.referee.sbc import simulated
from bayesmodels.referee.tests import sentence
from bayesmodels.referee.verdict import significant
from bayesmodels.testing.moves import flat, largest_change, proposed

LEVEL = 1e-4
"""Chance of a false alarm, small beside that of a verdict on draws."""

_DRAWS, _FEWEST, _NUMBERS = 20_000, 500, 400_000  # the more scalars, the fewer draws
_SUBSET, _SUBSET_NUMBERS = 4000, 200_000  # of them, for what takes longer
_POINTS, _ROWS = 10, 5  # at which densities are compared
_SETS, _LEAST_ROWS, _MOST_ROWS = 100, 200, 2000  # new data, and rows in each
_TIES = 0.01  # part of draws
_SAME = 1e-6  # part of a width that two ways to a moment or a quantile may differ by
_NEAREST = 1e-14  # part of a number that is about rounding
_NEAR = 1e-8  # part of a log density that rounding may take at an offset of 1e10


@dataclass(frozen=True)
class BeliefCheck:
    """What was found about the verbs of a belief.

    Attributes
    ----------
    to_blame : tuple of str
        Verbs that are not those of the belief's log density; empty if all are.
    findings : tuple of str
        A sentence for each of them.
    level : float
        Probability that a right verb is blamed, over all of them.
    """

    to_blame: tuple[str, ...]
    findings: tuple[str, ...]
    level: float

    @property
    def outcome(self) -> Literal["agree", "disagree"]:
        """Whether all verbs agree."""
        return "disagree" if self.to_blame else "agree"

    def sentences(self) -> list[str]:
        """Say what was found in words, the most important first."""
        return [self._sentence()]

    def _sentence(self) -> str:
        """Say the finding in words."""
        if not self.to_blame:
            return "The belief's verbs are those of its log density."
        return f"To blame: {' and '.join(self.to_blame)}. {' '.join(self.findings)}"


def check_belief(
    prior: Belief,
    data: Any,
    *,
    level: float = LEVEL,
    rng: np.random.Generator | int | None = None,
) -> BeliefCheck:
    r"""Compare the verbs of a belief with its joint log density, without PyMC and its sampler.

    For those who write a model: `check_identity` says whether `log_density` is right, this which of
    `sample`, `marginals`, `mean`, `var`, `interval`, `mode`, `predictive`,
    `log_likelihood` and `replicate` are not of that density.

    Parameters
    ----------
    prior : Belief
        The belief before the data.
    data : rows or statistic
        As in the belief's `update`. Without rows, nothing is said of what predicts rows.
    level : float, default 1e-4
        Probability that a right verb is blamed, over all of them.
    rng : numpy.random.Generator or int, optional
        Source of draws, or a seed.

    Returns
    -------
    BeliefCheck
        With `outcome`, `to_blame`, `findings` and `sentence`.

    Raises
    ------
    DataError
        If `level` is not between 0 and 1.
    PriorError
        If the posterior is improper.

    Notes
    -----
    Outside of its support, `log_density` must be NaN or minus infinity.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> class Wrong(bm.BetaBernoulli):
    ...     def mode(self):
    ...         return self.mean()
    >>> bm.testing.check_belief(Wrong(2, 2), [1, 0, 0, 1, 0, 0], rng=1).to_blame
    ('mode',)
    """
    check = _Check(prior, data, proportion(level, "level"), randomness(rng))
    result = dict(check.findings())
    return BeliefCheck(tuple(result), tuple(result.values()), level)


class _Check:
    """One belief and its data, draws of it, and their log densities."""

    def __init__(self, prior: Any, data: Any, level: float, rng: np.random.Generator) -> None:
        self.prior, self.data, self.rng = prior, data, rng
        self.level = level / 3  # of sample, marginals and replicate; all else is certain
        self.law = prior.update(data)
        self.size = max(1, sum(x[0].size for x in self.law.sample(1, rng).values()))
        self.number = int(np.clip(_NUMBERS // self.size, _FEWEST, _DRAWS))
        self.subset = int(np.clip(_SUBSET_NUMBERS // self.size, _FEWEST, _SUBSET))
        self.draws = self.law.sample(3 * self.number, rng)
        self.rows = not isinstance(data, Statistic) and not weighted(data)

    def findings(self) -> Iterator[tuple[str, str]]:
        """Yield verbs that are wrong, each with a sentence."""
        said = self._likelihood() if self.rows else ""
        if said:
            yield "log_likelihood", said
        elif isinstance(self.law, Replicating) and (replicated := self._replicated()):
            yield "replicate", replicated
        yield from self._laws()
        if isinstance(self.law, Summarised):
            yield from self._moments(self.law)
        if isinstance(self.law, Modal) and (denser := self._mode()):
            yield "mode", denser
        plain = self.rows and not isinstance(self.data, (*PER_ROW, tuple))
        rows_are_x = plain and isinstance(self.law, Predictive) and not hasattr(self.law, "event")
        if rows_are_x and not levels(self.law) and (predicted := self._predictive()):
            yield "predictive", predicted

    # --- densities, up to rounding ----------------------------------------------------------------

    def _likelihood(self) -> str:
        draws = {name: x[:_POINTS] for name, x in self.draws.items()}
        before: Any = self.prior.update(self.prior.statistic(self.data).without_rows())
        after = self.law
        try:
            evidence = float(np.sum(self.prior.log_evidence(self.data)))
            logs = [_sum(before.log_density(draws))]
        except PriorError:  # it is improper; the posterior is the prior of the same rows once more
            before, after = after, after.update(self.data)
            evidence = float(np.sum(before.log_evidence(self.data)))
            logs = [_sum(before.log_density(draws))]
        try:
            likelihood = self.law.log_likelihood(draws, self.data)
        except DataError:  # sparse counts are not spread out
            return ""
        logs += [total(likelihood), -np.full(_POINTS, evidence), -_sum(after.log_density(draws))]
        bound = sum(_sum(belief.log_density_rounding(draws)) for belief in (before, after))
        terms = total({name: np.abs(x) for name, x in likelihood.items()})
        with np.errstate(invalid="ignore"):
            gap = np.abs(np.sum(logs, axis=0))
        off = np.isfinite(logs).all(0) & ~(gap <= bound + _NEAR * (1 + terms))
        if not off.any():
            return ""
        return (
            "Prior times log_likelihood is not evidence times posterior: at draws, the logarithms "
            f"are up to {np.max(gap[off]):.2g} apart."
        )

    def _mode(self) -> str:
        try:
            mode = self.law.mode()
        except (ModeError, PriorError):
            return ""
        subset = {name: x[: self.subset] for name, x in self.draws.items()}
        with np.errstate(all="ignore"):
            top = np.asarray(self.law.log_density(mode))
            if not (top > -np.inf).all():  # NaN, too
                return "The mode is outside of the log density's support."
            slack = np.asarray(self.law.log_density_rounding(mode))
            for nearness in (0.0, 0.9, 0.999):
                near = {
                    name: x if name in levels(self.law) else x + nearness * (mode[name] - x)
                    for name, x in subset.items()
                }
                above = np.nanmax(np.asarray(self.law.log_density(near)) - top - slack)
                if above > 0:
                    return f"Near the mode the log density is up to {above:.2g} higher than at it."
        return ""

    def _predictive(self) -> str:
        rows, law = readable(self.law, self.data), self.law.predictive()
        number = number_of_rows(rows)
        part = {name: x[:_POINTS] for name, x in self.draws.items()}
        slack = float(np.min(_sum(self.law.log_density_rounding(part))))  # as of what it divides
        for at in np.unique(np.linspace(0, number - 1, min(_ROWS, number)).astype(int)).tolist():
            row = rows_at(rows, slice(at, at + 1))
            ((x, _),) = self.law.observed(row).values()
            said = float(np.sum(law.logpmf(x) if isinstance(law, MassFunction) else law.logpdf(x)))
            right = float(np.sum(self.law.log_evidence(row)))
            if not abs(said - right) <= slack + _NEAR * max(1.0, abs(right)):
                return (
                    f"After all rows, the log predictive density of row {at} is {said:.6g}, its "
                    f"log evidence {right:.6g}."
                )
        return ""

    # --- laws of draws ----------------------------------------------------------------------------

    def _laws(self) -> Iterator[tuple[str, str]]:
        """Judge `sample` by the log density, then `marginals` by `sample`."""
        proved = self._by_density()
        if proved:
            yield "marginals", proved
        p, z, what = (1.0, 0.0, "") if levels(self.law) else self._moved()
        if p < self.level:
            said = "moved such that draws of the log density stay draws of it, they change"
            yield "sample", f"Draws are of another law: {said} ({what}: {z:.1f} standard errors)."
        elif not proved and not self._tied():
            drawn = {name: x[None, : self.subset] for name, x in self.draws.items()}
            tests = one_sample_tests(self.law, drawn, self.rng, joint=False)
            wrong = significant(tests, self.level)
            if wrong and proved is not None:
                yield "sample", f"Draws do not fit the marginals: {sentence(wrong[0], None)}"
            elif wrong:
                said = "Draws that fit the log density do not fit the marginals"
                yield "marginals", f"{said}: {sentence(wrong[0], None)}"

    def _moved(self) -> tuple[float, float, str]:
        x, to = proposed(self.draws)
        with np.errstate(all="ignore"):
            gain = _sum(self.law.log_density(to)) - _sum(self.law.log_density(x))
        return largest_change(self.law, x, to, gain, self.rng)

    def _tied(self) -> bool:
        """Return whether draws of a continuous law are equal, rounded to an end of its support."""
        if levels(self.law):
            return False
        every = np.sort(flat(self.draws)[: self.subset], axis=0)
        return bool(((np.diff(every, axis=0) == 0).mean(0) > _TIES).any())

    def _by_density(self) -> str | None:
        """Compare joint and marginal density of the only variable, nominal or scalar; else None."""
        if len(self.law.dims) > 1:
            return None
        ((name, law),) = self.law.marginals().items()
        if levels(self.law):
            points = configurations(self.law)
            density = np.exp([float(self.law.log_density(point)) for point in points])
            gap, slack = np.abs(np.ravel(law.mean()) - density), np.array(_NEAR)
        else:
            subset = {name: self.draws[name][:_POINTS]}
            density = np.asarray(self.law.log_density(subset))
            if density.shape != subset[name].shape:
                return None
            with np.errstate(all="ignore"):  # at the border densities may be infinite
                gap = np.abs(law.logpdf(subset[name]) - density)
                slack = self.law.log_density_rounding(subset) + _NEAR * (1 + np.abs(density))
            gap = np.where(np.isfinite(density), gap, 0.0)
        what = "probabilities" if levels(self.law) else "log density"
        if (gap <= slack).all():
            return ""
        return f"By its marginal law, the {what} of {name} differ by up to {np.max(gap):.2g}."

    def _moments(self, law: Summarised) -> Iterator[tuple[str, str]]:
        """Compare the belief's mean, var and interval with those of its marginals."""
        for verb, shared, read in (
            ("mean", reading.mean, law.mean),
            ("var", reading.var, law.var),
            ("interval", reading.interval, law.interval),
        ):
            if getattr(read, "__func__", None) is shared:
                continue
            try:
                stated, right = read(), shared(self.law)
            except PriorError:
                continue
            for name, marginal in self.law.marginals().items():
                one, other = np.asarray(stated[name]), np.asarray(right[name])
                width = (
                    np.abs(other) if verb == "var" else marginal.isf(0.055) - marginal.ppf(0.055)
                )
                with np.errstate(invalid="ignore"):
                    near = np.abs(one - other) <= _SAME * width + _NEAREST * np.abs(other)
                if one.shape != other.shape or not ((one == other) | near).all():
                    yield verb, f"{verb} of {name} is not that of its marginal law."
                    break

    # --- new rows ---------------------------------------------------------------------------------

    def _replicated(self) -> str:
        """Test `replicate`: draws that move by the likelihood of new rows keep their law."""
        if not self.rows:
            return ""
        rows = readable(self.law, self.data)
        number = number_of_rows(rows)
        if not number or levels(self.law):
            return ""
        size = int(np.clip(number, _LEAST_ROWS, _MOST_ROWS))
        design = rows_at(rows, np.resize(self.rng.permutation(number), size).tolist())
        step = min(1.0, np.sqrt(number / size)) / 2  # about as far as so many rows can tell apart
        x, to = {}, {}
        for name, every in self.draws.items():
            one, other = every[:_SETS], every[_SETS : 2 * _SETS]
            x[name] = (one + other) / 2 + step * (one - other)
            to[name] = (one + other) / 2 - step * (one - other)
        gain = np.empty(_SETS)
        for k in range(_SETS):
            here = {name: value[k : k + 1] for name, value in x.items()}
            both = {name: np.stack([x[name][k], to[name][k]]) for name in x}
            first, second = simulated(self.law, design, here, self.rng).log_likelihood(both)
            gain[k] = second - first
        p, z, what = largest_change(self.law, x, to, gain, self.rng)
        if p >= self.level:
            return ""
        return (
            "New rows are not those of log_likelihood: by it, they are rather of other parameters "
            f"than their own ({what}: {z:.1f} standard errors)."
        )


def _sum(value: Any) -> Array:
    """Return one log density a draw, summed over the problems of a batch."""
    result = np.asarray(value)
    return result.reshape(len(result), -1).sum(-1)
