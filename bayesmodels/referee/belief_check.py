r"""Are the verbs of a belief those of one law? Each against its log density, without a sampler.

The log density p is what `check_identity` holds against PyMC. By it are judged

- `log_likelihood`: prior times likelihood is evidence times posterior, at draws, up to rounding;
- `sample`: draws of p stay draws of p under any Markov chain that has p for its law. Moved from x
  to :math:`x' = x + \gamma (a - b)`, a and b further draws, with Barker's probability
  :math:`p(x') / (p(x) + p(x'))`, no average changes:

  .. math:: E\left[\frac{p(x')}{p(x) + p(x')} (f(x') - f(x))\right] = 0,

  for f bounded functions of each scalar, squares of sums of several, and :math:`\ln p` itself;
- `marginals`: their distribution functions, at draws of `sample` that pass, as in `compare`; of a
  nominal variable, its probabilities;
- `mean`, `var`, `interval`: moments and quantiles of the marginals;
- `mode`: nothing near it, nor among draws, is denser;
- `predictive`: the density of a row is its evidence;
- `replicate`: of new rows y at parameters t, :math:`E[p(y \mid t') / p(y \mid t)] = 1` for any t'.

The move is ter Braak's (2006), *A Markov Chain Monte Carlo version of the genetic algorithm
Differential Evolution*; that a test may start from exact draws is from Gandy and Scott (2020),
*Unit testing for MCMC and other Monte Carlo methods*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats
from scipy.special import expit

from bayesmodels.belief.declaring import number_of_rows
from bayesmodels.belief.protocol import Belief, Predictive, Statistic
from bayesmodels.belief.reading import configurations, label, levels
from bayesmodels.belief.rows import readable, rows_at
from bayesmodels.belief.simulation import total
from bayesmodels.errors import DataError, ModeError, PriorError
from bayesmodels.input.data import weighted
from bayesmodels.input.parameters import proportion, randomness
from bayesmodels.numerics import Array
from bayesmodels.referee.one_sample import one_sample_tests
from bayesmodels.referee.one_step import log_next, no_chain
from bayesmodels.referee.sbc import simulated
from bayesmodels.referee.verdict import sentence_of, significant

LEVEL = 1e-4
"""Chance of a false alarm, small beside that of a verdict on draws."""

_DRAWS, _FEWEST, _NUMBERS = 20_000, 500, 1_000_000  # the more scalars, the fewer draws
_SOME = 4000  # of them, for what takes longer
_POINTS, _ROWS = 10, 5  # at which densities are compared
_DIRECTIONS = 8
_STARTS, _SETS, _SIZE = 3, 15, 200  # parameters, new data at each, and their rows
_STEP = 0.02  # from t on the way to another draw
_SOFTLY = 1e-3  # level at which draws are to blame for what marginals show
_RARE = 100.0  # moves that an average must rest on to be about normal
_SAME = 1e-6  # part of a width that two ways to a moment or a quantile may differ by
_NEAREST = 1e-14  # part of a number that is about rounding
_TAIL = 0.055
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

    def sentence(self) -> str:
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
    `sample`, `marginals`, `mean`, `var`, `interval`, `mode`, `predictive`, `log_next`,
    `log_likelihood` and `replicate` are not of that density. `validate` asks both.

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
    >>> bm.check_belief(Wrong(2, 2), [1, 0, 0, 1, 0, 0], rng=1).to_blame
    ('mode',)
    """
    check = _Check(prior, data, proportion(level, "level"), randomness(rng))
    found = dict(check.findings())
    return BeliefCheck(tuple(found), tuple(found.values()), level)


class _Check:
    """One belief and its data, draws of it, and their log densities."""

    def __init__(self, prior: Any, data: Any, level: float, rng: np.random.Generator) -> None:
        self.prior, self.data, self.rng = prior, data, rng
        self.level = level / 3  # of sample, marginals and replicate; all else is certain
        self.law = prior.update(data)
        self.size = max(1, sum(x[0].size for x in self.law.sample(1, rng).values()))
        self.number = int(np.clip(_NUMBERS // self.size, _FEWEST, _DRAWS))
        self.draws = self.law.sample(3 * self.number, rng)
        self.rows = not isinstance(data, Statistic) and not weighted(data)

    def findings(self) -> Iterator[tuple[str, str]]:
        """Yield verbs that are wrong, each with a sentence."""
        said = self._likelihood() if self.rows else ""
        if said:
            yield "log_likelihood", said
        elif self.rows and not levels(self.law) and (replicated := self._replicated()):
            yield "replicate", replicated
        yield from self._laws()
        yield from self._moments()
        if denser := self._mode():
            yield "mode", denser
        if self.rows and not no_chain(self.prior, self.data) and (predicted := self._predictive()):
            yield "predictive" if isinstance(self.law, Predictive) else "log_next", predicted

    # --- densities, up to rounding ----------------------------------------------------------------

    def _likelihood(self) -> str:
        draws = {name: x[:_POINTS] for name, x in self.draws.items()}
        before: Any = self.prior.update(self.prior.statistic(self.data).without_rows())
        after = self.law
        try:
            evidence = float(np.sum(self.prior.log_evidence(self.data)))
            logs = [_whole(before.log_density(draws))]
        except PriorError:  # it is improper; the posterior is the prior of the same rows once more
            before, after = after, after.update(self.data)
            evidence = float(np.sum(before.log_evidence(self.data)))
            logs = [_whole(before.log_density(draws))]
        try:
            likelihood = self.law.log_likelihood(draws, self.data)
        except DataError:  # sparse counts are not spread out
            return ""
        logs += [total(likelihood), -np.full(_POINTS, evidence), -_whole(after.log_density(draws))]
        bound = sum(_whole(belief.log_density_rounding(draws)) for belief in (before, after))
        terms = total({name: np.abs(x) for name, x in likelihood.items()})
        gap = np.abs(np.sum(logs, axis=0))
        if (gap <= bound + _NEAR * (1 + terms)).all():
            return ""
        return (
            "Prior times log_likelihood is not evidence times posterior: at draws, the logarithms "
            f"are up to {np.max(gap):.2g} apart."
        )

    def _mode(self) -> str:
        try:
            mode = self.law.mode()
        except (ModeError, PriorError):
            return ""
        some = {name: x[:_SOME] for name, x in self.draws.items()}
        with np.errstate(all="ignore"):
            top = np.asarray(self.law.log_density(mode))
            if np.isnan(top).any():
                return "The mode is outside of the log density's support."
            slack = np.asarray(self.law.log_density_rounding(mode))
            for nearness in (0.0, 0.9, 0.999):
                near = {
                    name: x if name in levels(self.law) else x + nearness * (mode[name] - x)
                    for name, x in some.items()
                }
                above = np.nanmax(np.asarray(self.law.log_density(near)) - top - slack)
                if above > 0:
                    return f"Near the mode the log density is up to {above:.2g} higher than at it."
        return ""

    def _predictive(self) -> str:
        rows = readable(self.law, self.data)
        number = number_of_rows(rows)
        for at in np.unique(np.linspace(0, number - 1, min(_ROWS, number)).astype(int)).tolist():
            row = rows_at(rows, slice(at, at + 1))
            said = float(np.sum(log_next(self.law, row)))
            right = float(np.sum(self.law.log_evidence(row)))
            if not abs(said - right) <= _NEAR * max(1.0, abs(right)):
                return (
                    f"After all rows, the log predictive density of row {at} is {said:.6g}, its "
                    f"log evidence {right:.6g}."
                )
        return ""

    # --- laws of draws ----------------------------------------------------------------------------

    def _laws(self) -> Iterator[tuple[str, str]]:
        """Judge `sample` by the log density, and `marginals` by what has been judged."""
        proved = self._alone()
        if proved:
            yield "marginals", proved
        moved = {} if levels(self.law) else self._moved()
        z, worst = max(((abs(z), name) for name, z in moved.items()), default=(0.0, ""))
        if z > _limit(self.level, len(moved)):
            said = "moved by steps that leave the law of the log density as it is, they change"
            yield "sample", f"Draws are of another law: {said} ({worst}: {z:.1f} standard errors)."
        elif not proved:
            drawn = {name: x[None, :_SOME] for name, x in self.draws.items()}
            wrong = significant(one_sample_tests(self.law, drawn, self.rng), self.level)
            # Draws are to blame if marginals are right, or if moving them says so, but softly.
            draws = proved is not None or z > _limit(_SOFTLY, len(moved))
            if wrong and draws:
                yield "sample", f"Draws do not fit the marginals: {sentence_of(wrong[0])}"
            elif wrong:
                said = "Draws that fit the log density do not fit the marginals"
                yield "marginals", f"{said}: {sentence_of(wrong[0])}"

    def _alone(self) -> str | None:
        """Compare densities of the only variable, if it is nominal or a scalar; None of others."""
        if len(self.law.dims) > 1:
            return None
        ((name, law),) = self.law.marginals().items()
        if levels(self.law):
            points = configurations(self.law)
            own = np.exp([float(self.law.log_density(point)) for point in points])
            gap, slack = np.abs(np.ravel(law.mean()) - own), np.array(_NEAR)
        else:
            some = {name: self.draws[name][:_POINTS]}
            own = np.asarray(self.law.log_density(some))
            if own.shape != some[name].shape:
                return None
            gap = np.abs(law.logpdf(some[name]) - own)
            slack = self.law.log_density_rounding(some) + _NEAR * (1 + np.abs(own))
        what = "probabilities" if levels(self.law) else "log density"
        if (gap <= slack).all():
            return ""
        return f"By its marginal law, the {what} of {name} differ by up to {np.max(gap):.2g}."

    def _moved(self) -> dict[str, float]:
        """Return by how many standard errors averages change as draws move."""
        n = self.number
        x, a, b = ({k: v[i : i + n] for k, v in self.draws.items()} for i in (0, n, 2 * n))
        step = 2.38 / np.sqrt(2 * self.size)  # as in ter Braak
        to = {name: x[name] + step * (a[name] - b[name]) for name in x}
        outside = np.any([_outside(to[name], self.draws[name]) for name in x], axis=0)
        to = {name: np.where(_by_draw(outside, x[name]), x[name], to[name]) for name in x}
        with np.errstate(all="ignore"):
            gain = _whole(self.law.log_density(to)) - _whole(self.law.log_density(x))
        gain = np.where(np.isnan(gain), -np.inf, gain)
        chance = expit(gain)
        before, after = _bounded(_flat(x), _flat(to))
        every = [np.where(gain == -np.inf, 0.0, gain), *(after - before).T]
        scalars = [label(self.law, name, at) for name in x for at in np.ndindex(x[name].shape[1:])]
        names = [f"{what} of {of}" for what in ("location", "spread") for of in scalars]
        sums = [f"random direction {number}" for number in range(_DIRECTIONS)]
        for _ in sums if self.size > 1 else ():
            signs = self.rng.choice([-1.0, 1.0], len(names))
            every.append((after @ signs) ** 2 - (before @ signs) ** 2)
        named = zip(["the log density", *names, *sums], every, strict=False)
        return {name: _z(chance * change) for name, change in named}

    def _moments(self) -> Iterator[tuple[str, str]]:
        """Compare what is read off the belief with its marginals."""
        laws = self.law.marginals()
        ends = {name: np.array([law.ppf(_TAIL), law.isf(_TAIL)]) for name, law in laws.items()}
        for verb, read, of_law in (
            ("mean", self.law.mean, {name: law.mean() for name, law in laws.items()}),
            ("var", self.law.var, {name: law.var() for name, law in laws.items()}),
            ("interval", lambda: self.law.interval(1 - 2 * _TAIL), ends),
        ):
            try:
                found = read()
            except PriorError:
                continue
            for name, law in of_law.items():
                said, right = np.asarray(found[name]), np.asarray(law)
                width = np.abs(right) if verb == "var" else ends[name][1] - ends[name][0]
                with np.errstate(invalid="ignore"):
                    near = np.abs(said - right) <= _SAME * width + _NEAREST * np.abs(right)
                if said.shape != right.shape or not ((said == right) | near).all():
                    yield verb, f"{verb} of {name} is not that of its marginal law."
                    break

    # --- new rows ---------------------------------------------------------------------------------

    def _replicated(self) -> str:
        number = number_of_rows(readable(self.law, self.data))
        if not number:
            return ""
        at = np.resize(self.rng.permutation(number), _SIZE).tolist()
        design = rows_at(readable(self.law, self.data), at)
        for k in range(_STARTS):
            here = {name: x[k : k + 1] for name, x in self.draws.items()}
            along = {
                name: np.concatenate([x, x + _STEP * (self.draws[name][-_POINTS:] - x)])
                for name, x in here.items()
            }
            sets = (simulated(self.law, design, here, self.rng) for _ in range(_SETS))
            logs = np.array([new.log_likelihood(along) for new in sets])
            ratio = np.expm1(logs[:, 1:] - logs[:, :1])
            with np.errstate(all="ignore"):
                t = ratio.mean(0) / (ratio.std(0, ddof=1) / np.sqrt(_SETS))
            worst = float(np.nan_to_num(np.abs(t), nan=0.0, posinf=np.inf).max())
            if 2 * stats.t.sf(worst, _SETS - 1) * _POINTS * _STARTS < self.level:
                return f"New rows are not those of log_likelihood ({worst:.1f} standard errors)."
        return ""


def _whole(value: Any) -> Array:
    """Return one log density a draw, of separate problems that of all together."""
    result = np.asarray(value)
    return result.reshape(len(result), -1).sum(-1)


def _flat(draws: dict[str, Array]) -> Array:
    """Return all scalars side by side, (draw, scalar)."""
    return np.concatenate([x.reshape(len(x), -1) for x in draws.values()], axis=1)


def _by_draw(flags: Array, x: Array) -> Array:
    return flags.reshape(-1, *np.ones(x.ndim - 1, dtype=int))


def _outside(x: Array, draws: Array) -> Array:
    """Say which are beyond 0 or 1, where no draw is, or no covariances, as all draws are."""
    positive = (draws > 0).all(0)
    outside = ((x <= 0) & positive) | ((x >= 1) & positive & (draws < 1).all(0))
    square = x.ndim > 2 and x.shape[-1] == x.shape[-2]  # noqa: PLR2004
    if square and np.array_equal(draws, np.swapaxes(draws, -1, -2)):
        outside |= np.linalg.eigvalsh(x)[..., :1, None] <= 0
    return np.asarray(outside.reshape(len(x), -1).any(-1))


def _bounded(x: Array, to: Array) -> tuple[Array, Array]:
    """Return functions of scalars for location and spread, side by side, centred and bounded."""
    low, middle, high = np.quantile(x, [0.25, 0.5, 0.75], axis=0)
    width = np.where(high > low, high - low, 1.0)
    one, two = ((each - middle) / width for each in (x, to))
    one, two = (each / np.sqrt(1 + each**2) for each in (one, two))
    before, after = (np.concatenate([each, each**2], axis=1) for each in (one, two))
    return before - before.mean(0), after - before.mean(0)


def _z(terms: Array) -> float:
    """Return the mean in standard errors; 0 if it rests on few terms."""
    squares = terms**2
    size = squares.sum()
    few = size == 0 or size**2 < _RARE * (squares**2).sum()
    return 0.0 if few else float(terms.sum() / np.sqrt(size))


def _limit(level: float, number: int) -> float:
    return float(stats.norm.isf(level / 2 / max(number, 1)))
