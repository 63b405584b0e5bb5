"""What somebody hands in, the layers that look at it, and what a slip is.

Work passes through the layers in their order: the data are read, algebra is held against PyMC's
density, draws against the law, and a number against the one in the book.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import bayesmodels as bm


@dataclass(frozen=True)
class Work:
    """What somebody hands in; a layer looks at what is there."""

    # identity
    model: Any = None
    prior: Any = None
    data: Any = None
    posterior: Any = None
    log_evidence: float | None = None
    # sampling
    law: Any = None
    draws: Any = None
    # book value
    value: float | None = None
    book: float | None = None
    within: float = 1e-9


@dataclass(frozen=True)
class Slip:
    """A mistake, the layer that has to object, and the work with and without the mistake.

    A mistake that was found in print has the id of its row, the note, and both forms in words or
    LaTeX, of which the page of mistakes in the documentation is made.
    """

    name: str
    layer: str
    wrong: Callable[[], Work]
    right: Callable[[], Work]
    id: str = ""
    note: str = ""
    printed: str = ""
    correct: str = ""
    term: str = ""  # of the identity: what is to blame
    slow: bool = False  # compiling a model of matrices takes seconds

    @property
    def label(self):
        return f"{self.name} ({self.id})" if self.id else self.name


@cache
def judge(make):
    """Return the first layer that objects and why; (None, "") if none does."""
    try:
        work = make()
    except (bm.DataError, bm.PriorError) as error:
        return "data", str(error)
    if work.model is not None:
        found = bm.check_identity(
            work.model, work.posterior, work.prior, work.log_evidence, rng=np.random.default_rng(1)
        )
        if not found.holds:
            parts = {name: getattr(found, name) for name in ("constancy", "slope", "evidence")}
            worst = max(parts, key=lambda name: np.nan_to_num(parts[name] or 0, nan=np.inf))
            blamed = bm.diagnose(work.model, work.prior, work.data, identity=found, rng=1)
            named = " and ".join(blamed.terms)
            return "identity", f"{named}: {worst} off by {parts[worst]:.1e} rounding bounds"
    if work.draws is not None:
        verdict = bm.compare(work.law, work.draws)
        if verdict.outcome != "agree":
            return "sampling", f"{verdict.outcome}: {verdict.findings[0]}"
    if work.book is not None and not abs(work.value / work.book - 1) <= work.within:
        return "book value", f"{work.value:.6g} is not {work.book:.6g}"
    return None, ""


def hand_in(prior, data, **mistaken):
    """Return the right work about one model and its data, but for what is mistaken."""
    right = Work(
        model=None if "model" in mistaken else prior.declare(data),
        prior=prior,
        data=data,
        posterior=prior.update(data),
        log_evidence=float(np.sum(prior.log_evidence(data))),
    )
    return replace(right, **mistaken)


def number(value, book, within=1e-9):
    """Hand in a number; the book has another, perhaps."""
    return lambda: Work(value=float(value), book=float(book), within=within)
