"""A decision between groups: which is best, what choosing it may cost, and whether to stop."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesmodels.belief import notebook
from bayesmodels.belief.intervals import renamed
from bayesmodels.decisions.contrasts import Contrast, Kind, KnownContrast
from bayesmodels.decisions.drawn import DrawnContrast
from bayesmodels.decisions.groups import Groups, groups
from bayesmodels.decisions.next_batch import value_of_batch
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.containers import index_of, listed
from bayesmodels.input.parameters import count, parameter, proportion, randomness

if TYPE_CHECKING:
    import pandas as pd

AnyContrast = Contrast | DrawnContrast | KnownContrast
_PROB = 0.89
_SURE = 0.9995  # probabilities nearer to one are not written out


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """What `decide` found; everything is worked out when it is asked for.

    Attributes
    ----------
    labels : tuple
        The groups.
    quantity : str
        Which variable they are compared in.
    largest : bool
        Whether the largest is best, or else the smallest.
    rope : (float, float) or None
        Differences that make no difference.
    acceptable_loss : float or None
        Expected loss at which one may stop.
    how : {"quadrature", "draws"}
        Independent groups are integrated, to nine digits or more; others are drawn. Differences of
        two weights of a regression are known in closed form.
    """

    labels: tuple[Hashable, ...]
    quantity: str
    largest: bool
    rope: tuple[float, float] | None
    acceptable_loss: float | None
    how: Literal["quadrature", "draws"]
    _groups: Groups

    # --- how sure ---------------------------------------------------------------------------------

    @property
    def best(self) -> pd.Series[float]:
        """How probable it is that each group is best. Groups that tie in a draw share it."""
        return self._series(self._best[0], "best")

    @property
    def order(self) -> pd.DataFrame:
        """How probable it is that the group of a row exceeds that of a column."""
        return self._frame(self._order[0])

    @property
    def expected_loss(self) -> pd.Series[float]:
        r"""By how much the best group is expected to be better than each.

        .. math:: E[\max_j \theta_j - \theta_i]

        with the least in place of the most, and signs changed, where the smallest is best.

        Raises
        ------
        PriorError
            If a mean is not finite.
        """
        return self._series(self._loss[0], "expected_loss")

    @property
    def errors(self) -> dict[str, Any]:
        """How far off these may be: estimates of quadrature; of draws, standard errors."""
        return {
            "best": self._series(self._best[1], "best"),
            "order": self._frame(self._order[1]),
            "expected_loss": self._series(self._loss[1], "expected_loss"),
        }

    @cached_property
    def _best(self) -> tuple[Any, Any]:
        return self._groups.joint.best(largest=self.largest)

    @cached_property
    def _order(self) -> tuple[Any, Any]:
        return self._groups.joint.order()

    @cached_property
    def _loss(self) -> tuple[Any, Any]:
        return self._groups.joint.expected_loss(largest=self.largest)

    # --- how large --------------------------------------------------------------------------------

    def difference(self, a: Hashable, b: Hashable) -> AnyContrast:
        """Return the law of a - b, with `mean`, `std`, `interval`, `cdf`, `sf` and `ppf`."""
        return self._contrast("difference", a, b)

    def ratio(self, a: Hashable, b: Hashable) -> AnyContrast:
        """Return the law of a / b; less one, that is the lift of a over b."""
        return self._contrast("ratio", a, b)

    def odds_ratio(self, a: Hashable, b: Hashable) -> AnyContrast:
        """Return the law of the odds of a over those of b, of two probabilities."""
        return self._contrast("odds_ratio", a, b)

    def _contrast(self, kind: Kind, *pair: Hashable) -> AnyContrast:
        for label in pair:
            if label not in self.labels:
                raise DataError(f"{kind}: must be of two of {listed(self.labels)}; got {label!r}.")
        if pair[0] == pair[1]:
            raise DataError(f"{kind}: must be of two different groups; got {pair[0]!r} twice.")
        a, b = map(self.labels.index, pair)
        return self._groups.joint.contrast(kind, a, b)

    @cached_property
    def in_rope(self) -> pd.DataFrame:
        """How probable it is that a - b is below, inside and above the ROPE, one row a pair.

        Raises
        ------
        DataError
            If `decide` was given no `rope`.
        """
        import pandas as pd

        if self.rope is None:
            raise DataError("rope: must be given to decide(), such as rope=0.01.")
        low, high = self.rope
        rows = {}
        for a, b in combinations(self.labels, 2):
            law = self.difference(a, b)
            below, above = float(law.cdf(low)), float(law.sf(high))
            rows[f"{a} - {b}"] = {"below": below, "inside": 1 - below - above, "above": above}
        return pd.DataFrame.from_dict(rows, orient="index")

    # --- what to do -------------------------------------------------------------------------------

    @property
    def choice(self) -> Hashable:
        """The group with the smallest expected loss."""
        return self.labels[int(np.argmin(self._loss[0]))]

    @property
    def stop(self) -> bool | None:
        """Whether the smallest expected loss is acceptable; None if nobody said which is."""
        if self.acceptable_loss is None:
            return None
        return bool(self._loss[0].min() <= self.acceptable_loss)

    def value_of(self, n: int) -> float:
        r"""Return by how much `n` more rows a group lower the least expected loss, on average.

        .. math:: E_x[\max_i E(\theta_i \mid x)] - \max_i E(\theta_i)

        the expected value of sample information, over what the posterior predicts of the rows:
        exact sums for counts, else quadrature.

        Parameters
        ----------
        n : int
            Rows that each group gets; of counts with exposures, each of exposure 1.

        Raises
        ------
        DataError
            If the posterior is none of conjugate beliefs that know the law of their next mean.

        References
        ----------
        Raiffa and Schlaifer (1961), *Applied Statistical Decision Theory*, section 4.5.
        """
        n = count(n, "n", 1)
        return value_of_batch(self._groups.posterior, self.quantity, n, largest=self.largest)

    # --- in words ---------------------------------------------------------------------------------

    @renamed
    def table(self, ci_prob: float = _PROB) -> pd.DataFrame:
        """Return mean, deviation, `ci_prob` interval, probability of being best, expected loss."""
        import pandas as pd

        joint, kind = self._groups.joint, f"eti{100 * ci_prob:g}"
        low, high = joint.interval(proportion(ci_prob, "ci_prob"))
        moments = {"mean": joint.mean(), "sd": joint.std(), f"{kind}_lb": low, f"{kind}_ub": high}
        columns = {**moments, "best": self.best, "expected_loss": self.expected_loss}
        return pd.DataFrame(columns, index=index_of(self.labels))

    @renamed
    def sentences(self, ci_prob: float = _PROB) -> list[str]:
        """Say in words which group to choose, how sure that is, and what it may cost.

        `ci_prob` is the probability of the interval of the difference of the best two.
        """
        choice, what = self.choice, "largest" if self.largest else "smallest"
        at = self.labels.index(choice)
        others = [label for label in self.labels if label != choice]
        runner = min(others, key=lambda label: self._loss[0][self.labels.index(label)])
        law = self.difference(choice, runner)
        low, high = law.interval(ci_prob)
        loss, other = self._loss[0][at], self._loss[0][self.labels.index(runner)]
        choice, runner = _named(choice), _named(runner)
        said = [
            (
                f"{choice} has the {what} {self.quantity} of {len(self.labels)} groups with "
                f"probability {_probability(self._best[0][at])}."
            ),
            (
                f"{choice} minus {runner} is {float(law.mean()):.3g} ({100 * ci_prob:g} % interval "
                f"{low:.3g} to {high:.3g})."
            ),
            (
                f"The expected loss of choosing {choice} is {loss:.3g}; of choosing {runner} it is "
                f"{other:.3g}."
            ),
        ]
        if self.rope is not None:
            inside = float(law.cdf(self.rope[1]) - law.cdf(self.rope[0]))
            ends = "from {:g} to {:g}".format(*self.rope)
            said.append(
                f"{choice} minus {runner} lies {ends}, too little to matter (the region of "
                f"practical equivalence, ROPE), with probability {_probability(inside)}."
            )
        if self.acceptable_loss is not None:
            verb = ("Stop", "is at most") if self.stop else ("Go on", "exceeds")
            said.append(
                f"{verb[0]}: the expected loss of choosing {choice} {verb[1]} the acceptable loss "
                f"of {self.acceptable_loss:g}."
            )
        joint = self._groups.joint
        if joint.how == "draws":
            off, ties = self._best[1][at], joint.ties(largest=self.largest)
            said.append(
                f"The groups depend on each other, so probabilities and losses of all groups are "
                f"averages over draws; the first has a Monte-Carlo error of {off:.1g}."
            )
            if ties:
                said.append(
                    f"In {100 * ties:.3g} % of the draws groups tie for the {what}, and share it."
                )
        return said

    @renamed
    def to_dict(self, ci_prob: float = _PROB) -> dict[str, Any]:
        """Return everything as plain values, for JSON; `ci_prob` is that of intervals."""
        return {
            "quantity": self.quantity,
            "best_is": "largest" if self.largest else "smallest",
            "choice": str(self.choice),
            "stop": self.stop,
            "acceptable_loss": self.acceptable_loss,
            "how": self.how,
            "table": {str(k): _by_text(row) for k, row in self.table(ci_prob).iterrows()},
            "order": {str(k): _by_text(row) for k, row in self.order.iterrows()},
            "rope": None if self.rope is None else list(self.rope),
            "in_rope": None if self.rope is None else self.in_rope.to_dict(orient="index"),
            "sentences": self.sentences(ci_prob),
        }

    def _repr_html_(self) -> str:
        said = " ".join(self.sentences())
        return notebook.frame("Decision", notebook.paragraph(said), notebook.table(self.table()))

    def __repr__(self) -> str:
        try:
            shown = self.table()
        except PriorError:  # tails too heavy for a loss
            shown = self.best.to_frame()
        return f"Decision on {self.quantity}, by {self.how}\n{shown}"

    def _series(self, values: Any, name: str) -> pd.Series[float]:
        import pandas as pd

        return pd.Series(values, index_of(self.labels), name=name)

    def _frame(self, values: Any) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(values, index_of(self.labels), index_of(self.labels))


def _by_text(row: pd.Series[float]) -> dict[str, float]:
    return {str(label): float(x) for label, x in row.items()}


def _named(label: Hashable) -> str:
    """Return a label as it stands in a sentence: in quotes if it has a comma."""
    return f"“{label}”" if "," in str(label) else str(label)


def _probability(p: float) -> str:
    """Say a probability to three digits, which never say that something is certain.

    Examples
    --------
    >>> _probability(0.12345), _probability(0.99999)
    ('0.123', 'over 0.999')
    """
    if p > _SURE:
        return "over 0.999"
    return "below 0.001" if p < 1 - _SURE else f"{p:.3f}"


def decide(
    posterior: Any,
    quantity: str | None = None,
    *,
    best: Literal["largest", "smallest"] = "largest",
    rope: float | tuple[float, float] | None = None,
    acceptable_loss: float | None = None,
    draws: int = 100_000,
    rng: np.random.Generator | int | None = None,
) -> Decision:
    r"""Decide between groups: which is best, how sure that is, and what a wrong choice costs.

    .. math:: P(i \text{ best}) = \int f_i \prod_{j \ne i} F_j \, dx, \qquad
        E[\max_j \theta_j - \theta_i] = \int F_i \Bigl(1 - \prod_{j \ne i} F_j\Bigr) dx

    Parameters
    ----------
    posterior : belief, mapping, ExactPosterior, IntegratedPosterior, DataTree
        What is known of the groups: a belief updated with `Grouped` rows or with a table that has a
        column a group; a mapping from names to beliefs, posteriors or frozen SciPy laws, which are
        then independent; the posterior of a PyMC model with a vector variable; or draws of one.
    quantity : str, optional
        The variable to compare, such as ``"theta"``; by default the first that groups have.
    best : {"largest", "smallest"}, default "largest"
        Which value is good.
    rope : float or (float, float), optional
        Region of practical equivalence: differences that make no difference, from -rope to rope.
    acceptable_loss : float, optional
        Expected loss at which one may stop, in units of the quantity.
    draws : int, default 100,000
        How many independent draws are made of groups that depend on each other.
    rng : numpy.random.Generator or int, optional
        Their source of randomness, or a seed; fresh if not given.

    Returns
    -------
    Decision
        With `best`, `order`, `expected_loss`, `difference`, `ratio`, `odds_ratio`, `in_rope`,
        `value_of`, `stop`, `table` and `sentences`.

    Raises
    ------
    DataError
        If there are not two groups, no such quantity, or an argument is out of range.
    PriorError
        If the integrals have no digits left.

    See Also
    --------
    bayesmodels.stopping_rates : how often the rule of `stop` errs.
    bayesmodels.assurance : the probability of a decision as the number of rows grows.

    References
    ----------
    Stucchio (2015), *Bayesian A/B Testing at VWO*; Kruschke (2018), *Rejecting or accepting
    parameter values in Bayesian estimation*, Advances in Methods and Practices in Psychological
    Science 1, 270-280, on the ROPE.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> rows = bm.Grouped(bm.BinomialCounts([10, 15], [100, 100]), by=["old", "new"])
    >>> found = bm.decide(bm.BetaBernoulli(1, 1).update(rows), acceptable_loss=0.005)
    >>> found.best.round(4).to_dict()
    {'new': 0.8533, 'old': 0.1467}
    >>> print(*found.sentences()[:2], sep="\n")
    new has the largest theta of 2 groups with probability 0.853.
    new minus old is 0.049 (89 % interval -0.0257 to 0.125).
    >>> found.stop, round(found.value_of(100), 5)
    (True, 0.001)
    """
    if best not in ("largest", "smallest"):
        raise DataError(f"best: must be 'largest' or 'smallest'; got {best!r}.")
    if acceptable_loss is not None and not parameter(acceptable_loss, "acceptable_loss") > 0:
        raise DataError(f"acceptable_loss: must be positive; got {acceptable_loss!r}.")
    result = groups(posterior, quantity, count(draws, "draws", 100), randomness(rng))
    return Decision(
        labels=result.labels,
        quantity=result.quantity,
        largest=best == "largest",
        rope=None if rope is None else _ends(rope),
        acceptable_loss=None if acceptable_loss is None else float(acceptable_loss),
        how=result.joint.how,
        _groups=result,
    )


def _ends(rope: Any) -> tuple[float, float]:
    ends = parameter(rope, "rope")
    low, high = (-ends, ends) if ends.ndim == 0 else ends if ends.shape == (2,) else (0, 0)
    if not low < high:
        raise DataError(f"rope: must be a positive number, or two in order; got {rope!r}.")
    return float(low), float(high)
