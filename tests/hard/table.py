"""The table of hard inputs: each with the number, or the error, that is required."""

from tests.hard import amounts, containers, magnitudes, many, names, spoiled

CASES = [
    case
    for chapter in (amounts, magnitudes, containers, names, spoiled, many)
    for case in chapter.cases()
]
