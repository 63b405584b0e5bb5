"""The referee: decides whether algebra, PyMC declaration and draws agree.

Identity (`check_identity`) needs no sampling and is exact up to rounding; it speaks about formulas
and declarations. Comparison (`compare`) speaks about draws. Of a model without a closed form the
joint density is checked (`check_joint`), and of an approximation how far draws are from it
(`approximation_error`), which is a report and no verdict.
"""

from bayesmodels.referee.approximation import JointIdentity, approximation_error, check_joint
from bayesmodels.referee.identity import Identity, check_identity
from bayesmodels.referee.verdict import Verdict, compare

__all__ = [
    "Identity",
    "JointIdentity",
    "Verdict",
    "approximation_error",
    "check_identity",
    "check_joint",
    "compare",
]
