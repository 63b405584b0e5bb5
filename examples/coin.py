"""A coin that fell on heads 55 times in 100: prior, posterior, and what comes next."""

import bayesmodels as bm

rows = bm.datasets.load("coin")["heads"]
prior = bm.BetaBernoulli(alpha=1, beta=1)
posterior = prior.update(rows)
print(posterior.summary().round(3))
print("log evidence:", prior.log_evidence(rows).round(3))
print("P(at least 6 heads in 10):", posterior.predictive(trials=10).sf(5).round(3))
