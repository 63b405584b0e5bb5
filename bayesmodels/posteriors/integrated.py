"""What `bm.integrate` returns: a posterior by numerical integration, with its errors."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pytensor.configdefaults import config

from bayesmodels.belief import datatree, intervals, notebook
from bayesmodels.belief import reading as belief_reading
from bayesmodels.belief.intervals import CI_PROB, CiKind, renamed
from bayesmodels.belief.protocol import Law
from bayesmodels.errors import DataError, NotConjugate, PriorError
from bayesmodels.input.parameters import asked, randomness
from bayesmodels.numerics import Array
from bayesmodels.numerics.lattice_integral import Integral
from bayesmodels.numerics.lattice_law import Curve, LatticeLaw, Number
from bayesmodels.numerics.laws import MixtureLaw, RepeatedLaw
from bayesmodels.numerics.node_law import NodeLaw
from bayesmodels.numerics.product import Product
from bayesmodels.numerics.weights import FAR, Weighted
from bayesmodels.posteriors import reading
from bayesmodels.posteriors.batch_density import BatchDensity
from bayesmodels.posteriors.budget import SECONDS
from bayesmodels.posteriors.conditional import batched
from bayesmodels.posteriors.density import add, named_terms, plain
from bayesmodels.posteriors.deterministic_laws import DRAWS, Known, known, of_draws
from bayesmodels.posteriors.elementwise import Certain, Whole
from bayesmodels.posteriors.more_rows import held_data, log_evidence_given_before, update
from bayesmodels.posteriors.new_data import Forward
from bayesmodels.posteriors.partial import PartialPosterior
from bayesmodels.posteriors.rows_left_out import rows_left_out
from bayesmodels.posteriors.support import listed, shaped, within
from bayesmodels.posteriors.unseen import without

if TYPE_CHECKING:
    import pandas as pd

_LIGHT = 0.1  # of the points: the lightest ones
_BATCH = 2**22  # densities of configurations that draws are chosen by at once
_NOTHING = 1e-12  # of the mass: what is left out of mixtures
_SURE = 3.0  # standard errors that what is read off draws may be off
_AGAIN = 20  # times that draws are made which rounding leaves nothing of


class IntegratedPosterior:
    """A PyMC model's posterior by numerical integration; made by `bayesmodels.integrate`.

    Read like a belief: `mean`, `var`, `interval`, `summary`, `marginals`, `sample` and
    `to_datatree`, under the model's own names, dims and coords; `errors` says how far off they
    may be.

    Attributes
    ----------
    model : pymc.Model
        The model.
    integrated, remaining : tuple of str
        Names of the variables in the conjugate block, and of those integrated on the lattice.
    forward : tuple of str
        Those that nothing depends on, such as missing data: drawn from their own laws given the
        rest. What is known of them is read off draws.
    dims : dict of tuple of str
        Names of each variable's axes.
    coords : dict of tuple
        Labels along every axis.
    levels : dict of tuple
        Values of finite variables.
    points : int
        Number of points, of a lattice or weighted ones.
    rung : str
        ``"integrated"`` on a lattice, or ``"weighted"``.
    error_kind, errors_from : str
        What the errors are, ``"at most"`` or ``"standard error"``, and what they are taken from.
    before : tuple of float or None
        The log evidence before the last `update`, and its error.
    log_evidence_error : float
        The error of the log evidence, as in `errors`.
    seconds : float
        What it took.
    tolerance : float
        What was asked for.
    """

    def __init__(
        self,
        model: pm.Model,
        held: pm.Model,
        density: BatchDensity,
        result: Integral | Product | Weighted,
        part: PartialPosterior | None,
        tolerance: float,
        seconds: float,
        again: Callable[..., IntegratedPosterior] | None = None,
        forward: Sequence[str] = (),
    ) -> None:
        self.again, self.data = again, held_data(model)
        self.before: tuple[float, float] | None = None
        self.model, self.tolerance, self.seconds = model, tolerance, seconds
        self._held, self._density, self._integral, self._part = held, density, result, part
        self.log_integral, self.log_evidence_error = result.log_total, result.log_error
        self.integrated, self.forward = part.integrated if part else (), tuple(forward)
        shapes = {rv.name: shape for _, rv, shape in shaped(model)}
        self.shapes = {rv.name: shapes[rv.name] for rv in model.free_RVs}
        known = {*self.integrated, *self.forward}
        self.remaining = tuple(name for name in self.shapes if name not in known)
        self.dims, self.coords = reading.dims_and_coords(model, self.shapes)
        self.levels: dict[str, tuple[Hashable, ...]] = {s.name: s.values for s in density.finite}
        self.levels |= part.levels if part else {}
        self.points, self.rung = result.points, result.rung
        self.error_kind, self.errors_from = result.error_kind, result.errors_from

    mean = belief_reading.mean
    var = belief_reading.var
    log_evidence = property(reading.log_evidence)
    log_evidence_given_before = property(log_evidence_given_before)
    update = update
    summary = reading.summary
    numbers = reading.numbers
    log_density = reading.log_density
    to_datatree = reading.to_datatree
    plot = datatree.plot
    predictive = reading.predictive

    @renamed
    def interval(
        self, ci_prob: float = CI_PROB, ci_kind: CiKind = "eti"
    ) -> dict[str, tuple[Array, Array]]:
        """Return intervals; those of `drawn` variables are read off exact draws.

        Parameters
        ----------
        ci_prob : float, default 0.89
            Probability inside, between 0 and 1.
        ci_kind : {"eti", "hdi"}, default "eti"
            Equal tails below and above, or highest density.
        """
        ci_prob = intervals.checked(ci_prob, ci_kind)
        result: dict[str, tuple[Array, Array]] = {}
        for name, law in self.numbers().items():
            if name in self.drawn:
                result[name] = intervals.of_draws(self._draws[name], ci_prob, ci_kind)
            else:
                result[name] = intervals.ends(law, ci_prob, ci_kind)
        return result

    @cached_property
    def drawn(self) -> tuple[str, ...]:
        """Variables whose elements depend on several coordinates, so that there are no laws."""
        result = list(self.forward)
        for name in self._on_lattice:
            try:
                self._density.maps(name, 0)
            except NotConjugate:
                result.append(name)
        return tuple(result)

    @cached_property
    def _draws(self) -> dict[str, Any]:
        """Draws that are read off where there is no law: the same each time.

        Independent ones; or weighted points, drawn by their weights at equal distances: of new
        ones most would be rejected.
        """
        rng = np.random.default_rng(0)
        if not isinstance(self._integral, Weighted):
            return self.sample(DRAWS, rng)
        even = (np.arange(DRAWS) + rng.random()) / DRAWS
        chosen = np.searchsorted(np.cumsum(self._integral.weights), even)
        points = self._integral.points_at(chosen.clip(max=self.points - 1))
        return self._with_block(self._at(points, rng), DRAWS, rng)

    @property
    def _effective(self) -> float:
        """As many independent draws these are worth."""
        integral = self._integral
        share = integral.share if isinstance(integral, Weighted) else np.inf
        return float(min(DRAWS, share * self.points))

    @renamed
    def deterministics(self, ci_prob: float = CI_PROB, ci_kind: CiKind = "eti") -> dict[str, Known]:
        """Return what is known of the model's Deterministics, all of it read off draws."""
        return known(self.model, self._draws, (ci_prob, ci_kind))

    @cached_property
    def _forward(self) -> dict[str, Known]:
        """What is known of variables that are drawn from their own laws."""
        return {name: of_draws(self._draws[name], (0.5, "eti")) for name in self.forward}

    @cached_property
    def errors(self) -> dict[str, Any]:
        """How far off the numbers may be: ``log_evidence``, ``mean`` and ``sd`` by variable.

        From how they changed with the last refinements of the lattice, and what is beyond it. Of
        weighted points they are standard errors. They are in the units of the numbers themselves.
        """
        means, sds = {}, {}
        laws = self.numbers()
        for name in self.dims:
            if name in self.integrated:
                means[name], sds[name] = self._errors_of_block(name)
                if isinstance(whole := laws[name], Whole):
                    means[name], sds[name] = whole.moment_errors(means[name])
                continue
            if name in self.forward:
                sd = self._forward[name].sd
                means[name] = _SURE * sd / np.sqrt(self._effective)
                spread = np.maximum(self._laws[name].stats("k") + 2, 0.0)  # less of a constant
                sds[name] = _SURE * sd * np.sqrt(spread / (4 * self._effective))
                continue
            at, shape = self._density.slices[name], self._shape(name)
            unit = self._integral.unit[at]
            of_mean, of_sd = (
                self._integral.mean_error[at] * unit,
                self._integral.sd_error[at] * unit,
            )
            if name in self.levels:  # what is known is the probability
                p = self._integral.mean[at]
                of_mean = np.maximum(of_mean, self._integral.log_error * p * (1 - p))
                of_sd = np.abs(_deviation(p + of_mean) - _deviation(p))
            means[name], sds[name] = of_mean.reshape(shape)[()], of_sd.reshape(shape)[()]
            if isinstance(whole := laws[name], Whole):
                means[name], sds[name] = whole.moment_errors(means[name])
        return {"log_evidence": self._integral.log_error, "mean": means, "sd": sds}

    def _shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of what is read off a variable."""
        more = (len(self.levels[name]),) if name in self.levels else ()
        return (*self.shapes[name], *more)

    def marginals(self) -> dict[str, Law]:
        """Return each variable's law, elementwise over its shape.

        Of the block they are mixtures, over the lattice, of laws given the rest. Of a finite
        variable they are those of the indicators of its values, along a last axis.
        """
        return {name: self._laws[name] for name in self.dims}

    @cached_property
    def _laws(self) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for name in self.remaining:
            at, shape = self._density.slices[name], self._shape(name)
            if name in self.levels:
                result[name] = Certain(self._integral.mean[at].reshape(shape))
                continue
            numbers = [self._number(name, k) for k in range(at.start, at.stop)]
            result[name] = LatticeLaw(shape, numbers)
        for name, moments in self._forward.items():
            gaps = (self._draws[name] - moments.mean) / np.where(moments.sd > 0, moments.sd, 1.0)
            parts = (np.ravel(x) for x in (moments.mean, moments.sd, (gaps**4).mean(0) - 3.0))
            numbers = [Number(each, partial(_no_law, name)) for each in zip(*parts, strict=True)]
            result[name] = LatticeLaw(self.shapes[name], numbers)
        if self._part:
            weights, _, laws = self._mixtures
            for name in laws:
                mixture = self._mixture(weights, name)
                result[name] = Certain(mixture.mean()) if name in self.levels else mixture
        return result

    def _number(self, name: str, k: int) -> Number:
        """Return the law of one scalar."""
        result, column = self._integral, k
        if isinstance(result, Product):
            result, column = result.of_number(k)
        sd = result.sd[column] or 1.0  # of a number that is certain
        gap = (result.numbers[:, column] - result.mean[column]) / sd
        kurtosis = float(result.weights @ gap**4) - 3.0
        moments = (float(result.mean[column]), float(result.sd[column]), kurtosis)

        def curve() -> Curve:
            maps = self._density.maps(name, k - self._density.slices[name].start)
            return Curve(self._integral.table(maps.coordinate), maps.there, maps.back, maps.slope)

        return Number(moments, curve)

    @cached_property
    def _rows(self) -> tuple[dict[str, Array], Array, Array]:
        """Values of the remaining variables, a point and level of the finite ones a row.

        And the weights of the rows, of the last lattice and of the one before.
        """
        result, density = self._integral, self._density
        assert not isinstance(result, Product)  # noqa: S101 - of a block there is one set
        kept = np.flatnonzero(_heavy(result.weights) | _heavy(result.before))
        each, natural = np.zeros((len(kept), 1)), result.numbers[kept]
        if density.finite:
            each, natural = density.by_level(result.points_at(kept))
        share = np.exp(each - each.max(1, keepdims=True))
        share = share / share.sum(1, keepdims=True)
        weights, before = ((w[kept, None] * share).ravel() for w in (result.weights, result.before))
        kept_rows = np.flatnonzero(_heavy(weights) | _heavy(before))
        point, level = np.divmod(kept_rows, share.shape[1])
        return density.rows(natural[point], level), weights[kept_rows], before[kept_rows]

    @cached_property
    def _mixtures(self) -> tuple[Array, Array, dict[str, Any]]:
        """Laws of the block given the rest, with their weights on both lattices.

        Where rounding leaves no digits of them, they are left out.
        """
        assert self._part is not None  # noqa: S101 - asked for with a block only
        rows, weights, before = self._rows
        laws, known = self._part.laws(rows)
        lost = weights[~known].sum()
        if lost > self.tolerance:
            raise PriorError(
                f"{listed(self.integrated)}: given values of the rest that have {lost:.1g} of the "
                "mass, rounding leaves no digits of the law. Keep scales away from zero."
            )
        return weights[known], before[known], laws

    def _mixture(self, weights: Array, name: str) -> Law:
        """Return the law of a variable of the block, from its laws given the rest."""
        mixture, which = MixtureLaw(weights, self._mixtures[2][name]), self._which(name)
        return mixture if which is ... else RepeatedLaw(mixture, which)

    def _which(self, name: str) -> Any:
        """Return which of a variable's laws given the rest each element has, as an index."""
        return self._part.which.get(name, ...) if self._part else ...

    def _errors_of_block(self, name: str) -> tuple[Array, Array]:
        """Return how far off mean and deviation are: at least as far as those of the rest.

        What mass is left out is as far off as the block is where hardly any mass is.
        """
        last, before, laws = self._mixtures
        law = laws[name]
        one, other = (MixtureLaw(weights, law) for weights in (last, before))
        of_rest = [*self._integral.mean_error, *self._integral.sd_error]
        mean, sd = one.mean(), one.std()
        assert not isinstance(self._integral, Product)  # noqa: S101 - as above
        lost = max(0.0, 1 - last.sum()) + self._integral.mass_outside
        light = last <= np.quantile(last, _LIGHT)
        far = (law.var() + (law.mean() - mean) ** 2)[light].max(0)
        least = np.nanmax([self._integral.log_error, *of_rest]) * sd
        with np.errstate(invalid="ignore", divide="ignore"):
            off = np.where(sd > 0, lost * far / sd, 0.0)
        which = self._which(name)
        return (
            (np.maximum(np.abs(mean - other.mean()), least) + lost * np.sqrt(far))[which],
            (np.maximum(np.abs(sd - other.std()), least) + off)[which],
        )

    @renamed
    def interval_errors(self, ci_prob: float = 0.89) -> dict[str, tuple[Array, Array]]:
        """Return how far off the ends of equal-tailed intervals may be.

        Parameters
        ----------
        ci_prob : float, default 0.89
            Probability inside, between 0 and 1.
        """
        ci_prob = intervals.checked(ci_prob, "eti")
        tail, of_numbers = (1 - ci_prob) / 2, self.numbers()
        result = {}
        for name, (low, high) in self.interval(ci_prob).items():
            law = self._laws[name]
            if name in self.levels:
                result[name] = (np.zeros_like(low), np.zeros_like(high))
                if isinstance(whole := of_numbers[name], Whole):
                    less, more = (tail + sign * self._integral.log_error for sign in (-1, 1))
                    result[name] = (
                        whole.ppf(more) - whole.ppf(less),
                        whole.isf(less) - whole.isf(more),
                    )
                continue
            if name in self.drawn:
                result[name] = self._off_in_draws(name, ci_prob)
                continue
            if name in self.remaining:
                off = (law.error(), law.error())
            else:
                _, before, laws = self._mixtures
                other, inner = self._mixture(before, name), self._integral.log_error
                if isinstance(laws[name], NodeLaw):
                    inner = inner + laws[name].off().max(0)[self._which(name)]
                both = [np.abs(law.cdf(end) - other.cdf(end)) for end in (low, high)]
                off = tuple(each + inner for each in both)
            with np.errstate(divide="ignore"):
                result[name] = (off[0] / np.exp(law.logpdf(low)), off[1] / np.exp(law.logpdf(high)))
        return result

    def _off_in_draws(self, name: str, prob: float) -> tuple[Array, Array]:
        """Return three standard errors of interval ends that are read off draws."""
        tail = (1 - prob) / 2
        wide = _SURE * np.sqrt(tail * (1 - tail) / self._effective)
        low, high = max(tail - wide, 0.0), min(tail + wide, 1.0)
        ends = np.quantile(self._draws[name], [low, high, 1 - high, 1 - low], axis=0)
        return ends[1] - ends[0], ends[3] - ends[2]

    @cached_property
    def reference(self) -> float:
        """As many independent draws would be as far off as the law of some variable may be."""
        inner = [*self._integral.mean_error, *self._integral.sd_error, self._integral.log_error]
        laws = [self._laws[name] for name in self._on_lattice if name not in self.drawn]
        worst = max(float(np.nanmax(inner)), *(float(np.max(law.error())) for law in laws), 0.0)
        worst *= FAR if isinstance(self._integral, Weighted) else 1.0
        return 1 / worst**2 if worst > 0 else np.inf

    def log_density_of(self, values: dict[str, Array]) -> Array:
        """Return the log density of rows of values, which have the variables' shapes."""
        return np.asarray(self._joint(values) - self.log_integral)

    @cached_property
    def _joint(self) -> Any:
        points, terms = named_terms(self._held)
        with config.change_flags(floatX="float64", traceback__limit=0):
            inside = within(self._held, {p.name: p for p in points}).values()
            cut = [pt.switch(each, 0.0, -np.inf) for each in inside]
            run = batched(points, plain([add([term.sum() for term in terms.values()] + cut)]))
        return lambda values: np.asarray(run(values)[0])

    def sample(
        self, draws: int, rng: np.random.Generator | int | None = None
    ) -> dict[str, NDArray[Any]]:
        """Return independent draws, sample axis first."""
        draws, rng = asked(draws, rng)
        return self._with_block(self._drawn(draws, rng), draws, rng)

    def _with_block(
        self, rest: dict[str, NDArray[Any]], draws: int, rng: np.random.Generator
    ) -> dict[str, NDArray[Any]]:
        """Return draws of the rest with one of all else for each."""
        values: dict[str, NDArray[Any]] = {}
        if self._part:
            for _ in range(_AGAIN):
                values, known = self._part.drawn(rest, rng)
                if known.all():
                    break
                fresh = self._drawn(int((~known).sum()), rng)
                rest = {name: x.copy() for name, x in rest.items()}
                for name, x in rest.items():
                    x[~known] = fresh[name]
        both = rest | values
        if self.forward:
            run = Forward(self._held, self.forward, list(both))
            rows = [run(rng, {name: x[i] for name, x in both.items()}) for i in range(draws)]
            both |= {name: np.stack([row[name] for row in rows]) for name in self.forward}
            for name in self.forward:
                if np.isnan(both[name]).any():
                    raise NotConjugate(f"{name}: a parameter of its law is not a number somewhere.")
        return {name: both[name] for name in self.dims}

    def _drawn(self, number: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Return draws of the remaining variables."""
        size = self._density.size
        return self._at(self._integral.draws(number, rng) if size else np.zeros((number, 0)), rng)

    def _at(self, points: Array, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Return the remaining variables at points, finite ones drawn."""
        density, parts = self._density, []
        pieces = 1 + len(points) * len(density.levels) // _BATCH
        for piece in np.array_split(points, pieces):
            each, natural = density.by_level(piece)
            level = (each + rng.gumbel(size=each.shape)).argmax(1)
            parts.append(density.rows(natural, level))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def leave_one_out(
        self, *, seconds: float = SECONDS, rng: np.random.Generator | int | None = None
    ) -> pd.DataFrame:
        r"""Return the log predictive density of each observed number by all others.

        .. math:: \ln p(y_i \mid y_{-i}) = \ln p(y) - \ln p(y_{-i})

        Parameters
        ----------
        seconds : float, default 50
            What it may compute.
        rng : numpy.random.Generator or int, optional
            Source of the points at which the block is looked at, or a seed; fresh if not given.

        Returns
        -------
        pandas.DataFrame
            Columns ``log_density`` and ``error``, one row an observed number; the sum of the
            former is what ArviZ's `loo` estimates from draws. An error is large where the posterior
            of the others reaches beyond the lattice: have them integrated alone.

        Raises
        ------
        DataError
            If it would take longer than `seconds`.
        """
        import pandas as pd

        if self._density.ends:
            raise DataError(
                f"leave_one_out: where {listed(self._density.ends)} may lie depends on the data or "
                "a potential; integrate again without each row."
            )
        if self._part and not self._part.closed:
            raise DataError(
                f"leave_one_out: {listed(self.integrated)} are eliminated, and without a "
                "row they are not looked at yet: bm.sample draws, and ArviZ's loo reads the draws."
            )
        block = self._part is not None
        rows, logs, errors = rows_left_out(
            without(self._held, self.forward),
            self._integral,
            seconds,
            randomness(rng),
            block=block,
            sizes=self._density.sizes,
        )
        return pd.DataFrame({"log_density": logs, "error": errors}, index=rows)

    def explain(self) -> str:
        """Say what was integrated how, and how far off it may be."""
        parts = []
        if self._part:
            parts.append(f"Given the rest, {self._part.how}")
            parts += [s.cut for s in self._part.endless]
        if self._density.finite:
            number = len(self._density.levels)
            parts.append(f"{listed(self._added_up)}: all {number:,} configurations added up")
            parts += [s.cut for s in self._density.finite if s.endless]
        if self.forward:
            parts.append(
                f"Nothing depends on {listed(self.forward)}: drawn given the rest, and what is "
                f"known of it is read off {DRAWS:,} draws"
            )
        names = self._on_lattice
        if names:
            modes = self._integral.modes
            parts += [
                f"{name} can only lie between {low:g} and {high:g}"
                for name, (low, high) in self._density.ends.items()
            ]
            parts.append(
                f"{listed(names)} ({self._density.size} "
                f"scalar{'s' if self._density.size > 1 else ''}) {self._integral.how}"
                + (f" around {modes} modes" if modes > 1 else "")
            )
        worst = float(np.nanmax([*self._integral.mean_error, *self._integral.sd_error, 0.0]))
        said = self._integral.precision if names else "Log evidence known to {:.1g}"
        parts.append(said.format(self._integral.log_error, worst))
        return ". ".join(parts) + "."

    def _repr_html_(self) -> str:
        return notebook.frame(
            "Posterior by integration",
            notebook.paragraph(self.explain()),
            notebook.summary(self),
        )

    def __repr__(self) -> str:
        how = "eliminated" if self._part and not self._part.closed else "closed form"
        parts = [f"{how}: {', '.join(self.integrated) or 'nothing'}"]
        if self._density.finite:
            parts.append(f"added up: {', '.join(self._added_up)}")
        if self._on_lattice:
            parts.append(f"{self.rung}: {', '.join(self._on_lattice)}; {self.points:,} points")
        if self.forward:
            parts.append(f"drawn: {', '.join(self.forward)}")
        return f"IntegratedPosterior({'; '.join(parts)})"

    @property
    def _added_up(self) -> list[str]:
        return [name for name in self.remaining if name in self.levels]

    @property
    def _on_lattice(self) -> list[str]:
        return [name for name in self.remaining if name not in self.levels]


def _heavy(weights: Array) -> NDArray[np.bool_]:
    """Return which of the points have all of the mass but next to nothing."""
    order = np.argsort(weights)
    return weights >= weights[order[np.searchsorted(np.cumsum(weights[order]), _NOTHING)]]


def _no_law(name: str) -> NoReturn:
    raise NotConjugate(
        f"{name}: it is drawn given the rest, and there is no law of it here: read mean() and "
        "var(), or sample()."
    )


def _deviation(p: Array) -> Array:
    """Return the standard deviation of an indicator."""
    return np.sqrt(np.clip(p * (1 - p), 0.0, None))
