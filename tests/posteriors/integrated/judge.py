"""How far an integrated posterior is from the figures by quadrature, and what it said itself."""

from dataclasses import dataclass

import numpy as np

TOLERANCE = 1e-6
OWN = 2.0  # times its own error of the reference


@dataclass(frozen=True)
class Gap:
    """A figure's error: the true one, the one stated, and the quadrature's own, in one unit.

    The unit of a mean or sd is the sd of the posterior, that of the log evidence is one.
    """

    figure: str
    true: float
    stated: float
    own: float

    @property
    def tolerable(self):
        """The figure is as near as was asked for."""
        return self.true <= TOLERANCE + self.own

    @property
    def honest(self):
        """The true error is at most twice the stated one."""
        return self.true <= 2 * self.stated + self.own


def gaps(found, reference):
    """Return the gaps of all figures that the reference has."""
    own = OWN * reference.error
    true = abs(found.log_evidence - reference.log_evidence)
    every = [Gap("log evidence", true, float(found.errors["log_evidence"]), own)]
    means, variances = found.mean(), found.var()
    for name, sd in reference.sd.items():
        pairs = {
            "mean": (means[name], reference.mean[name]),
            "sd": (np.sqrt(variances[name]), sd),
        }
        for kind, (here, there) in pairs.items():
            off = np.abs(np.asarray(here, dtype=float) - there) / sd
            stated = np.broadcast_to(found.errors[kind][name] / sd, np.shape(off))
            for at in np.ndindex(np.shape(off)):
                label = f"{kind} of {name}{list(at) if at else ''}"
                every.append(Gap(label, float(off[at]), float(stated[at]), own))
    return every
