"""Print the worst case of every quantity: ``python -m tests.reference.accuracy``."""

import json
import sys
import warnings

import mpmath as mp
import numpy as np

from tests.reference.make_grid import FILE, read
from tests.reference.quantities import QUANTITIES

LIMITS = {"log": 1e-10, "moment": 1e-10, "quantile": 1e-9}
FAR = 1e-7
BY_KEY = {quantity.key: quantity for quantity in QUANTITIES}


def limit(kind, inputs):
    """Return the largest error that is allowed; more only of rows far from zero, and little known.

    A mean of 1e8 is a double, of whose deviations eight digits are left; a prior that expects a
    deviation of 1e-4 makes a predictive law so narrow that the last of them counts tenfold.
    """
    sure = any(
        isinstance(part, list) and part[:1] == [1e8] and part[3:4] == [1e-8]
        for part in (inputs, *inputs)
    )
    return FAR if kind == "log" and sure else LIMITS[kind]


def error(kind, value, exact):
    """Return the error as docs/accuracy.md defines it.

    An error d of the logarithm of a density is a relative error d of the density. Hence a logarithm
    is off by d where it is smaller than 1, and zero is no special place; a larger one, of which a
    double has 16 digits at most, is off by d divided by its size. Anything else: by plain division.
    """
    if not np.isfinite(value):
        return np.inf
    with mp.workdps(60):
        exact = mp.mpf(exact)
        gap = abs(mp.mpf(float(value)) - exact)
        size = max(abs(exact), 1) if kind == "log" else abs(exact)
        return float(gap / size) if gap else 0.0


def answers(quantity, inputs):
    """Return our value; a warning is as bad as a wrong number."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return float(np.asarray(quantity.ours(*inputs)).item())


def grid():
    """Return the file's quantities, inputs and values."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        key, inputs, value = json.loads(line)
        yield BY_KEY[key], read(inputs), value


def worst_cases():
    """Return number of values, largest error and its inputs and values, by quantity."""
    found = {}
    for quantity, inputs, value in grid():
        try:
            ours = answers(quantity, inputs)
        except Exception as problem:  # noqa: BLE001 - it is shown
            ours, off = repr(problem), np.inf
        else:
            off = error(quantity.kind, ours, value)
        number, largest, *rest = found.get(quantity.key, (0, -1.0, None, None, None))
        if off > largest:
            largest, rest = off, [inputs, ours, value]
        found[quantity.key] = (number + 1, largest, *rest)
    return found


def main():
    found = worst_cases()
    print("| family | quantity | values | worst error | at | exact value |")
    print("|---|---|---:|---:|---|---|")
    for key, (number, off, inputs, ours, value) in found.items():
        quantity = BY_KEY[key]
        text = ", ".join(
            "…" if isinstance(x, list) and len(str(x)) > 40 else _short(x) for x in inputs
        )
        print(
            f"| {quantity.family} | {quantity.name} | {number} | {off:.1e} | {text} | "
            f"{mp.nstr(mp.mpf(value), 6)} |"
        )
        if off > limit(quantity.kind, inputs):
            print(f"MISSES: {ours} for {value} at {inputs}", file=sys.stderr)
    each = {k: max(v[1] for key, v in found.items() if BY_KEY[key].kind == k) for k in LIMITS}
    total = sum(v[0] for v in found.values())
    print(
        f"\n{total} values; worst error of log densities and evidences {each['log']:.1e}, of means "
        f"and standard deviations {each['moment']:.1e}, of quantiles {each['quantile']:.1e}."
    )


def _short(value):
    return f"[{', '.join(map(_short, value))}]" if isinstance(value, list) else f"{value:.6g}"


if __name__ == "__main__":
    main()
