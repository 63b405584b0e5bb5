"""All everyday models, by name."""

from tests.posteriors.everyday.edges import EDGES
from tests.posteriors.everyday.groups import GROUPS
from tests.posteriors.everyday.more import MODELS as FIRST
from tests.posteriors.everyday.regressions import REGRESSIONS
from tests.posteriors.everyday.series import SERIES

MODELS = FIRST | GROUPS | REGRESSIONS | SERIES | EDGES
