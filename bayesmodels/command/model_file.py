"""A PyMC model from a Python file, by name."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from importlib.util import module_from_spec, spec_from_file_location
from inspect import Parameter, signature
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bayesmodels.belief.bambi_model import of_formula
from bayesmodels.belief.declaring import is_pymc
from bayesmodels.errors import DataError

if TYPE_CHECKING:
    import pymc as pm

_MOST_NAMES = 8  # in a message


def load_model(target: str) -> pm.Model:
    """Run a Python file and return the PyMC model under a name, or what a function makes.

    What the file prints goes to standard error. Its folder is looked through for what it imports,
    as Python does with a script; what stands under ``if __name__ == "__main__"`` is not run. The
    target is file and name, such as ``trial.py:model``; a function without arguments is called.
    """
    file, colon, name = target.rpartition(":")
    if not colon or not file or not name:
        raise DataError(
            f"FILE.py:NAME: must be a file and a name, such as trial.py:model; got {target!r}."
        )
    path = Path(file)
    if path.suffix != ".py":
        raise DataError(f"FILE.py:NAME: the file must end in .py; got {file!r}.")
    if not path.is_file():
        raise DataError(f"FILE.py:NAME: there is no file {file!r}.")
    with redirect_stdout(sys.stderr):
        module = _run(path)
        if name not in vars(module):
            models = [key for key, value in vars(module).items() if is_pymc(of_formula(value))]
            offered = f"models in it: {', '.join(models[:_MOST_NAMES])}"
            offered = offered if models else "no name in it is a pymc.Model"
            raise DataError(f"FILE.py:NAME: {file!r} has no {name!r}; {offered}.")
        result = of_formula(_called(vars(module)[name], target, path))
    if not is_pymc(result):
        raise DataError(
            f"FILE.py:NAME: {target!r} must be a pymc.Model; it is a {type(result).__name__}."
        )
    return result


def _run(path: Path) -> ModuleType:
    """Import a file under a name of its own, which no other process can import."""
    import cloudpickle

    spec = spec_from_file_location(f"bayesmodels_file_{path.stem}", path.resolve())
    if spec is None or spec.loader is None:
        raise DataError(f"FILE.py:NAME: {str(path)!r} can't be imported.")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    cloudpickle.register_pickle_by_value(module)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise DataError(_failed("running", str(path), error, path)) from error
    finally:
        sys.path.pop(0)
    return module


def _called(value: Any, target: str, path: Path) -> Any:
    """Return the result of a function without arguments, and any other value as it is."""
    if not callable(value) or isinstance(value, type) or is_pymc(value):
        return value
    needed = [p for p in signature(value).parameters.values() if p.default is Parameter.empty]
    if any(p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) for p in needed):
        names = ", ".join(p.name for p in needed)
        raise DataError(
            f"FILE.py:NAME: the function {target!r} must need no arguments; it needs {names}."
        )
    try:
        return value()
    except (Exception, SystemExit) as error:
        raise DataError(_failed("calling", target, error, path)) from error


def _failed(doing: str, what: str, error: BaseException, path: Path) -> str:
    words = " ".join(str(error).split())  # on one line
    filename, frames = str(path.resolve()), extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == filename]
    at = f" (line {lines[-1]})" if lines else ""
    return f"FILE.py:NAME: {doing} {what!r} raised {type(error).__name__}: {words}{at}"
