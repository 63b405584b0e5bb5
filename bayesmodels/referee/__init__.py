"""The referee: decides whether algebra, PyMC declaration and draws agree.

Identity (`check_identity`) needs no sampling and is exact up to rounding; it speaks about formulas
and declarations; of a model without a closed form it compares prior times likelihood. Where it
fails, `diagnose` names the term. Two programs are compared by their densities, too (`same`).
Comparison (`compare`) speaks about draws. Calibration (`calibrate`) draws data from the model, and
speaks about prior, likelihood and posterior together. The evidence of any PyMC model is estimated
by `bridge_sampling`.
"""

from bayesmodels.referee.bridge import EvidenceEstimate, bridge_sampling
from bayesmodels.referee.calibration import Calibration, calibrate
from bayesmodels.referee.diagnosis import Diagnosis, diagnose
from bayesmodels.referee.equivalence import Equivalence, same
from bayesmodels.referee.fit import Fit, check_fit
from bayesmodels.referee.identity import Identity, check_identity
from bayesmodels.referee.leave_one_out import LeaveOneOut, leave_one_out
from bayesmodels.referee.verdict import Verdict, compare

__all__ = [
    "Calibration",
    "Diagnosis",
    "Equivalence",
    "EvidenceEstimate",
    "Fit",
    "Identity",
    "LeaveOneOut",
    "Verdict",
    "bridge_sampling",
    "calibrate",
    "check_fit",
    "check_identity",
    "compare",
    "diagnose",
    "leave_one_out",
    "same",
]
