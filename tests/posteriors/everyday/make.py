"""Make the figures again: python -m tests.posteriors.everyday.make [words of names]."""

import json
import sys
import time
from pathlib import Path

from tests.posteriors.everyday.models import MODELS

FILE = Path(__file__).parent / "figures.json"


def kept():
    """Return the figures that are kept, by name of model."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


if __name__ == "__main__":
    figures = kept()
    for name, model in MODELS.items():
        if " ".join(sys.argv[1:]) not in name:
            continue
        begun = time.perf_counter()
        figures[name] = model.reference()
        ordered = {name: figures[name] for name in MODELS if name in figures}
        FILE.write_text(json.dumps(ordered, indent=1) + "\n")
        one, took = figures[name], time.perf_counter() - begun
        print(  # noqa: T201 - a script
            f"{name}: {one['log_evidence']:.6f} +- {one['log_evidence_error']:.1g}, "
            f"share {one['effective_share']:.2f}, {took:.0f} s",
            flush=True,
        )
