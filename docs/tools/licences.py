"""List the licences of every package that an installation brings, as their metadata say.

``python -m docs.tools.licences`` writes docs/licences.md. It needs an environment with all extras.
"""

from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path(__file__).parents[1] / "licences.md"
HEAD = """# Licences

`bayesmodels` is under the BSD 3-Clause licence, and so is all that it carries but for the data
sets, whose sources and licences stand in `bayesmodels/datasets/SOURCES.md`. Reports and saved files
contain no code of other packages: figures are SVG, and formulas are MathML.

An installation brings these packages. Licences are those of their metadata, at the versions that
the tests run with; `python -m docs.tools.licences` makes this page anew.
"""
PARTS = {
    "": "Always",
    "sklearn": "With `bayesmodels[sklearn]`",
    "tables": "With `bayesmodels[tables]`",
    "dask": "With `bayesmodels[dask]`",
    "bambi": "With `bayesmodels[bambi]`",
}
NOTE = """
`bayesmodels[spark]` asks for pyspark (Apache-2.0), which needs Java 17. Packages that only tests
and documentation need are not listed.
"""


def wanted(found: Distribution, extras: set[str]) -> Iterator[Requirement]:
    """Yield what a package requires here, with some of its extras."""
    for line in found.requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def closure(extra: str) -> dict[str, Distribution]:
    """Return every package that bayesmodels brings with an extra, by canonical name."""
    brought: dict[str, Distribution] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(f"bayesmodels[{extra}]" if extra else "bayesmodels")]
    while waiting:
        requirement = waiting.pop()
        key = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if key in seen:
            continue
        seen.add(key)
        brought[key[0]] = distribution(requirement.name)
        waiting += wanted(brought[key[0]], set(requirement.extras))
    del brought["bayesmodels"]
    return brought


def licence(found: Distribution) -> str:
    """Return the licence that a package states: an expression, a classifier, or its first line."""
    metadata = found.metadata
    if "License-Expression" in metadata:
        return str(metadata["License-Expression"])
    classified = [
        line.rsplit(" :: ", 1)[1]
        for line in metadata.get_all("Classifier", [])
        if line.startswith("License :: ") and line.count(" :: ") > 1
    ]
    if classified:
        return ", ".join(classified)
    stated = str(metadata.get("License", "")).strip().splitlines()
    return stated[0] if stated else "not stated in its metadata"


def page() -> str:
    """Return the page."""
    parts, before = [HEAD], set()
    for extra, title in PARTS.items():
        brought = closure(extra)
        lines = [
            f"| {found.metadata['Name']} | {licence(found).replace('|', '/')} |"
            for name, found in sorted(brought.items())
            if name not in before
        ]
        before |= set(brought)
        parts.append(
            "\n".join([f"## {title}", "", "| package | licence |", "| --- | --- |", *lines])
        )
    return "\n\n".join(part.strip() for part in parts) + "\n" + NOTE


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
