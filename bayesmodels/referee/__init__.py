"""The referee: decides whether algebra, PyMC declaration and draws agree.

Identity (`check_identity`) needs no sampling and is exact up to rounding; it speaks about formulas
and declarations. Comparison (`compare`) speaks about draws.
"""

from bayesmodels.referee.identity import Identity, check_identity
from bayesmodels.referee.verdict import Verdict, compare

__all__ = ["Identity", "Verdict", "check_identity", "compare"]
