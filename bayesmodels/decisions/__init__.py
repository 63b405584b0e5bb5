"""Decisions between groups: which is best, what a wrong choice costs, and how many rows it takes.

``bm.decide``, ``bm.stopping_rates`` and ``bm.assurance`` are the way in. Rules for the last are
made of `probability_best` and `expected_losses`, which take many posteriors at once.
"""

from bayesmodels.decisions.many import expected_losses, probability_best

__all__ = ["expected_losses", "probability_best"]
