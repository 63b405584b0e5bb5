"""What a row of the table of solvable models is."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import pymc as pm


def opened(fill):
    """Return a function that opens a PyMC model, has it filled, and returns it."""

    @wraps(fill)
    def build():
        with pm.Model() as model:
            fill()
        return model

    return build


def axes(coords):
    """Give the model that is open labelled axes."""
    pm.modelcontext(None).add_coords(coords)


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


def solved(reference, *, own=False):
    """Put a function that fills a model beside one that works its posterior out.

    If `own`, the function returns a model that it made itself.
    """
    return lambda fill: Entry(
        fill.__name__.replace("_", " "), fill if own else opened(fill), reference
    )
