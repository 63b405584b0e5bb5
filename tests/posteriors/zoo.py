"""The one table of models that have a closed form, each with its posterior worked out by hand."""

from tests.posteriors import coins, intervals, latent, lines, rates, scales
from tests.posteriors.entry import Entry

ZOO = [
    entry
    for module in (coins, rates, lines, scales, latent, intervals)
    for entry in vars(module).values()
    if isinstance(entry, Entry)
]
