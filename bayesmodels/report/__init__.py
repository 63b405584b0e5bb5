"""A validated model as a report for people: tables, figures and one self-contained HTML file."""

from importlib import import_module
from typing import Any

# Loaded when asked for: what prints a few numbers needs neither figures nor pages.
_HOMES = {
    "Report": "html",
    "validate": "validation",
    "validate_draws": "validation",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - a list, of the names above


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
