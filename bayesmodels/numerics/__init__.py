"""Arrays in, arrays out: special functions, laws, matrices, kernels, optimisation."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Logs = Array
"""Logarithms; -inf of what is impossible."""
AnyFloat = float
"""A number that may be infinite or NaN."""
