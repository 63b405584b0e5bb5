"""The table of structured models: chains, trees, change points, mixtures, counts, normal systems.

Each is an `Entry`, which `bm.exact` solves, or a `Row`, which `bm.integrate` solves.
"""

from tests.posteriors.entry import Entry
from tests.posteriors.integrated.row import Row
from tests.posteriors.structured import chains, changes, counts, mixtures, normals, scales, trees

MODULES = (chains, trees, changes, mixtures, counts, normals, scales)
MODELS = {
    entry.name: (module.__name__.split(".")[-1], entry)
    for module in MODULES
    for entry in vars(module).values()
    if isinstance(entry, Entry | Row)
}
