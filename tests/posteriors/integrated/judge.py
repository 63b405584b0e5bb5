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


def gaps(found, reference, *, proper=True):
    """Return the gaps of all figures that the reference has.

    Labels are numbers in the reference, and shares of their values in what was found.
    Without a proper prior there is no log evidence.
    """
    own = OWN * reference.error
    every = []
    if proper:
        true = abs(found.log_evidence - reference.log_evidence)
        every = [Gap("log evidence", true, float(found.errors["log_evidence"]), own)]
    laws = found.numbers()
    for name, sd in reference.sd.items():
        here = [laws[name].mean(), laws[name].std()]
        stated = [found.errors[kind][name] for kind in ("mean", "sd")]
        if np.shape(here[0]) != np.shape(sd):  # of labels
            here, stated = _as_number(found.levels[name], here[0], stated[0])
        for kind, x, error, there in zip(
            ("mean", "sd"), here, stated, (reference.mean[name], sd), strict=True
        ):
            off = np.abs(np.asarray(x, dtype=float) - there) / sd
            said = np.broadcast_to(error / sd, np.shape(off))
            for at in np.ndindex(np.shape(off)):
                label = f"{kind} of {name}{list(at) if at else ''}"
                every.append(Gap(label, float(off[at]), float(said[at]), own))
    return every


def _as_number(levels, shares, errors):
    """Return mean and sd of finite elements, and the errors that those of their shares imply."""
    x = np.asarray(levels, dtype=float)
    mean = shares @ x
    gap = np.abs(x - mean[..., None])
    sd = np.sqrt((gap**2 * shares).sum(-1))
    return [mean, sd], [(gap * errors).sum(-1), (gap**2 * errors).sum(-1) / (2 * sd)]
