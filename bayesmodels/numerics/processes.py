"""Work that several processes share, and samplers that end on Ctrl-C and repeat themselves."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from multiprocessing import active_children, get_context
from types import FrameType
from typing import Any

from threadpoolctl import threadpool_limits

from bayesmodels.numerics.threads import CORES


def side_by_side[Task, Result](
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    workers: int,
    start: Callable[..., object] | None = None,
    arguments: tuple[Any, ...] = (),
) -> Generator[tuple[Task, Result]]:
    """Yield each task with its result as soon as it is done, in any order.

    Processes are spawned, not forked: compiled samplers and BLAS have threads. They stop with the
    generator, on Ctrl-C for instance; put it into `contextlib.closing`. `start` is called with
    `arguments` once in every process. Each has its share of the cores for BLAS, which beside
    others' threads takes milliseconds for a system of three rows.
    """
    before = set(active_children())
    context = get_context("spawn")
    with ProcessPoolExecutor(
        workers,
        mp_context=context,
        initializer=_begin,
        initargs=(max(1, CORES // workers), start, arguments),
    ) as pool:
        running = {pool.submit(function, task): task for task in tasks}
        try:
            for done in as_completed(running):
                yield running[done], done.result()
        except BaseException:  # GeneratorExit is none of Exception
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - before:
                worker.terminate()
            raise


def _begin(threads: int, start: Callable[..., object] | None, arguments: tuple[Any, ...]) -> None:
    # The parent alone answers Ctrl-C, which reaches every process of a terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import scipy.linalg  # noqa: F401 - loads BLAS, NumPy's and SciPy's

    threadpool_limits(threads, user_api="blas")
    if start is not None:
        start(*arguments)


@contextmanager
def same_rounding() -> Iterator[None]:
    """Let PyTensor compile without fast-math, so that a seed gives the same draws every time.

    With it, LLVM adds up in an order that depends on what it compiles together: all functions
    where the cache of compiled ones is empty, few where it is not. Draws differ in the last digit,
    and chains that start so part after some hundred steps.
    """
    from pytensor.configdefaults import config

    with config.change_flags(numba__fastmath=False):
        yield


class _Stopped(BaseException):
    """Ctrl-C, by a name that samplers do not catch."""


@contextmanager
def _lost_ones_again() -> Iterator[None]:
    """Let Ctrl-C come once more where it is ignored: in callbacks, as LLVM's while it compiles."""
    report, timers = sys.unraisablehook, []

    def ignored(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is _Stopped:
            timers.append(threading.Timer(0.1, _thread.interrupt_main))
            timers[-1].start()
        else:
            report(unraisable)

    sys.unraisablehook = ignored
    try:
        yield
    finally:
        sys.unraisablehook = report
        for timer in timers:
            timer.cancel()


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Let Ctrl-C end a sampler's work with a `KeyboardInterrupt` that says so.

    Samplers take it for a wish for fewer draws, return those that they have as if nothing had
    happened, or go on with the next chain.
    """
    came, before = False, signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal came
        try:
            if callable(before):  # somebody's own handler may choose to go on
                before(number, frame)
        except KeyboardInterrupt:
            came = True
            raise _Stopped from None

    # Other threads never hear of Ctrl-C.
    handled = callable(before) and threading.current_thread() is threading.main_thread()
    if handled:
        signal.signal(signal.SIGINT, stop)
    try:
        with _lost_ones_again() if handled else nullcontext():
            yield
    except _Stopped:
        pass
    except Exception:  # what a sampler that was stopped stumbles over
        if not came:
            raise
    finally:
        if handled:
            signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt(
            "Stopped while sampling; no draws were kept. For fewer of them, set draws= and tune=."
        )
