"""Mixtures of naive Bayes: exact posteriors, EM."""
