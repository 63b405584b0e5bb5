"""The errors of this package: a message names the argument, the rule, the value and a way out."""


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
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SeparationError(ValueError):
    """A classification likelihood has no finite maximum; the message names the columns."""
