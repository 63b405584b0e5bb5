"""Hypothesis strategies, in one place."""

import numpy as np
from hypothesis import strategies as st


def log_uniform(low, high):
    """Positive numbers, every order of magnitude as likely as any other; the ends included."""
    exponents = st.floats(float(np.log10(low)), float(np.log10(high)))
    return exponents.map(lambda e: float(np.clip(10.0**e, low, high)))


def concentrations(low=1e-10, high=1e10, max_size=5):
    """Parameters of Dirichlet laws, from hardly any to overwhelming."""
    return st.lists(log_uniform(low, high), min_size=2, max_size=max_size)
