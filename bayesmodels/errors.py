"""The errors of this package: a message names the argument, the rule, the value and a way out.

Numerical trouble that makes an answer wrong is an error. Trouble that leaves it right, but to fewer
digits than float64 has, or a search that was not finished, is the one warning, `NumericsWarning`.
"""

import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent)


class DataError(ValueError):
    """Data, or an argument that is not a prior's parameter, break a rule of the model."""


class PriorError(ValueError):
    """A parameter of a belief is out of range, or the belief is improper where it must not be."""


class ModeError(ValueError):
    """The density has no single interior mode; the message says where it is largest."""


class NotConjugate(Exception):  # noqa: N818 - a finding about a model, not a fault
    """A PyMC model has no closed form that could be proved.

    Attributes
    ----------
    reason : str
        One sentence that names the variable and what was seen.
    hint : str
        What would repair it, where a conjugate prior would; otherwise empty.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(f"{reason} Hint: {hint}." if hint else reason)
        self.reason = reason
        self.hint = hint

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.reason, self.hint)


class SeparationError(ValueError):
    """A classification likelihood has no finite maximum; the message names the columns."""


class NumericsWarning(UserWarning):
    """An answer is right to few digits, or a search has not ended; the message says what to do.

    To make it an error: ``warnings.simplefilter("error", bm.NumericsWarning)``.
    """


def warn(message: str) -> None:
    """Issue a `NumericsWarning` at the line of the caller's own code."""
    warnings.warn(message, NumericsWarning, stacklevel=2, skip_file_prefixes=(_PACKAGE,))
