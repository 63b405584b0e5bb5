"""The one table of models that `bm.integrate` solves, each with its figures by quadrature."""

from functools import cache

from tests.posteriors.integrated import (
    bounded,
    counts,
    generalized,
    panels,
    processes,
    regressions,
    schools,
    series,
    weights,
)
from tests.posteriors.integrated.row import Row
from tests.posteriors.integrated.store import kept

MODULES = (schools, regressions, weights, panels, series, processes, generalized, counts, bounded)
ROWS = {
    entry.name: entry
    for module in MODULES
    for entry in vars(module).values()
    if isinstance(entry, Row)
}


@cache
def figures(name):
    """Return the figures of a row: those that are kept if it takes long."""
    stored = kept()
    return stored[name] if name in stored else ROWS[name].reference()
