"""Logistic regression and its Laplace approximation."""
