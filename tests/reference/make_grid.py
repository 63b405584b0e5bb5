"""Write grid.jsonl: ``python -m tests.reference.make_grid``, from the root of the repository.

Values that are in the file already are kept; ``--all`` makes them all anew, in about ten minutes.
One line a value: the quantity, its inputs as exact hexadecimal doubles, and the value in decimal.
"""

import json
import sys
import time
from pathlib import Path

from tests.reference.exact_values import exact
from tests.reference.quantities import QUANTITIES

FILE = Path(__file__).with_name("grid.jsonl")


def written(value):
    """Return inputs with every double in its exact hexadecimal form."""
    return [written(part) for part in value] if isinstance(value, list) else float(value).hex()


def read(value):
    """Return doubles from what `written` made."""
    return [read(part) for part in value] if isinstance(value, list) else float.fromhex(value)


def value_at(quantity, inputs, spare=70):
    """Return the reference value as text; quantiles need no digits for cancellations."""
    spare = 10 if quantity.kind == "quantile" else spare
    return exact(quantity.exact, inputs, spare, **quantity.options)


def main():
    text = FILE.read_text(encoding="utf-8") if FILE.exists() and "--all" not in sys.argv else ""
    known = {line.rpartition(", ")[0]: line for line in text.splitlines()}
    lines = []
    for quantity in QUANTITIES:
        start = time.perf_counter()
        for inputs in quantity.inputs:
            asked = json.dumps([quantity.key, written(inputs)], ensure_ascii=False)[:-1]
            if asked not in known:
                known[asked] = f'{asked}, "{value_at(quantity, inputs)}"]'
            lines.append(known[asked])
        took = time.perf_counter() - start
        sys.stdout.write(f"{quantity.key}: {len(quantity.inputs)} values, {took:.1f} s\n")
        sys.stdout.flush()
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(f"{FILE.name}: {len(lines)} values, {FILE.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
