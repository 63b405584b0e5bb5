"""Arrays in, arrays out: special functions, laws, matrices, kernels, optimisation."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
