"""Decisions between groups: which is best, what a wrong choice costs, and how many rows it takes.

`bm.decide`, `stopping_rates` and `assurance` are the way in. Rules for the last are
made of `probability_best` and `expected_losses`, which take many posteriors at once.
"""

from bayesmodels.decisions.assurance import assurance
from bayesmodels.decisions.many import expected_losses, probability_best
from bayesmodels.decisions.stopping import stopping_rates

__all__ = ["assurance", "expected_losses", "probability_best", "stopping_rates"]
