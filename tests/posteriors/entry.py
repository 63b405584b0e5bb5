"""What a row of the table of solvable models is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A model as a user would write it, and its posterior worked out by hand.

    Attributes
    ----------
    name : str
        Shown in the names of the tests.
    build : callable
        Makes the PyMC model afresh.
    reference : callable
        Makes the `references.Reference`.
    """

    name: str
    build: Callable[[], Any]
    reference: Callable[[], Any]


def solved(reference):
    """Put a function that builds a model beside one that works its posterior out."""
    return lambda build: Entry(build.__name__.replace("_", " "), build, reference)
