"""The one table of models that have a closed form, each with its posterior worked out by hand."""

from tests.conjugacy import coins, lines, rates
from tests.conjugacy.entry import Entry

ZOO = [
    row
    for module in (coins, rates, lines)
    for row in vars(module).values()
    if isinstance(row, Entry)
]
