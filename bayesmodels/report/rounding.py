"""Numbers as people read them: no more digits than mean something, and a true minus sign."""

from __future__ import annotations

import numpy as np

_LARGEST, _SMALLEST = 1e9, 1e-4  # beyond these, digits are counted rather than read
_WHOLE = 1e15  # so far, float64 shows whole numbers digit by digit
_NOTHING = 1e-12  # of a spread


def rounded(x: float, decimals: int) -> str:
    """Return a number with so many decimals, or in powers of ten where that would not be read."""
    if not np.isfinite(x):
        return "–" if np.isnan(x) else "∞" if x > 0 else "−∞"
    if abs(x) >= _LARGEST or 10.0**-decimals < 1 / _LARGEST:
        return powers(x, 5)
    return f"{round(x, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def significant(x: float, digits: int = 6) -> str:
    """Return a number with up to so many digits; whole numbers in full."""
    if not np.isfinite(x):
        return rounded(x, 0)
    if x == np.floor(x) and abs(x) < _WHOLE:
        return rounded(x, 0) if abs(x) < _LARGEST else f"{x:.0f}".replace("-", "−")
    if not _SMALLEST <= abs(x) < _LARGEST:
        return powers(x, digits - 1)
    return np.format_float_positional(x, digits, fractional=False, trim="-").replace("-", "−")


def beside(x: float, spread: float) -> str:
    """Return a number with four digits, or as many as show three of its spread; 0 if next to it."""
    more = 0
    if np.isfinite(x) and x != 0 and 0 < spread < np.inf:
        if abs(x) < _NOTHING * spread:  # what rounding leaves of zero
            return "0"
        more = int(np.floor(np.log10(abs(x))) - np.floor(np.log10(spread)))
    return significant(x, max(4, min(more, 12) + 3))


def powers(x: float, decimals: int) -> str:
    """Return a number as a power of ten."""
    return f"{x:.{decimals}e}".replace("-", "−")


def signed(z: float) -> str:
    """Return a discrepancy with its sign; a dash where there is none."""
    return "–" if np.isnan(z) else f"{z:+.1f}".replace("-", "−")


def decimals_of(spread: float, digits: int) -> int:
    """Return how many decimals show so many digits of a spread."""
    if not np.isfinite(spread) or spread <= 0:
        return 3
    return max(0, digits - 1 - int(np.floor(np.log10(spread))))
