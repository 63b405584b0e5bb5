"""A progress bar of an integral, in a terminal or a notebook."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bayesmodels.numerics.lattice_integral import Told


@contextmanager
def bar(seconds: float, *, show: bool) -> Iterator[Told | None]:
    """Yield what is told of points; None where there is no bar: none is asked for, or seen.

    The bar is as long as the seconds that the integral may compute. It leaves nothing behind,
    however it ends.
    """
    if not show:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(file=sys.stderr)
    if not (console.is_terminal or console.is_jupyter):
        yield None
        return
    words = TextColumn("{task.description}")
    begun = time.process_time()
    with Progress(BarColumn(20), words, console=console, transient=True) as progress:
        task = progress.add_task("looking for what is conjugate", total=seconds)

        def told(points: int, share: float) -> None:
            took = time.process_time() - begun
            effective = "" if math.isnan(share) else f", effective share {share:.2f}"
            left = f"at most {max(0.0, seconds - took):.0f} s to go"
            said = f"{points:,} points{effective}, {left}"
            progress.update(task, completed=took, description=said)

        yield told
