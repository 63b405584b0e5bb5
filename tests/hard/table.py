"""The table of hard inputs: each with the number, or the error, that is required."""

from tests.hard import amounts, containers, magnitudes

CASES = [case for chapter in (amounts, magnitudes, containers) for case in chapter.cases()]
