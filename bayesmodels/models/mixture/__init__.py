"""Mixtures of naive Bayes: exact posteriors, EM, Gibbs sampling."""
