"""The same formulas with as many digits as it takes."""

import mpmath
import numpy as np

from tests.reference.exact_values import dirichlet_mass


def exactly(function, *arguments):
    """Evaluate with enough digits for 50 to remain after every cancellation; return a float.

    Stirling's remainder at 1e100 is 200 orders below its terms, hence precision grows with the
    order of magnitude of the arguments.
    """
    orders = [abs(np.log10(abs(float(x)))) for part in arguments for x in np.ravel(part) if x]
    with mpmath.workdps(60 + 2 * int(max(orders, default=0))):
        exact = [
            [mpmath.mpf(float(x)) for x in part] if np.ndim(part) else mpmath.mpf(float(part))
            for part in arguments
        ]
        return float(function(*exact))


def error(value, exact):
    """Error relative to the result, or to 1 where the result is smaller."""
    return abs(float(value) - exact) / max(1.0, abs(exact))


def log_gamma_difference(x, step):
    return mpmath.loggamma(x + step) - mpmath.loggamma(x)


def log_mass(counts, alpha):
    """Dirichlet-multinomial log mass."""
    return dirichlet_mass(alpha, counts)
