"""The one table of models that `bm.integrate` solves, each with its figures by quadrature."""

from tests.posteriors.integrated import (
    bounded,
    counts,
    generalized,
    panels,
    processes,
    regressions,
    schools,
    series,
)
from tests.posteriors.integrated.row import Row

MODULES = (schools, regressions, panels, series, processes, generalized, counts, bounded)
ROWS = {
    entry.name: entry
    for module in MODULES
    for entry in vars(module).values()
    if isinstance(entry, Row)
}
