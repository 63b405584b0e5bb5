"""The density of a PyMC model in natural space, without anything of `bm.exact`."""

import numpy as np
import pytensor
from pymc.model.transform.conditioning import remove_value_transforms
from pymc.model.transform.optimization import freeze_dims_and_data
from pytensor.compile.mode import Mode

# The graph as it is written, in Python: compiled in milliseconds.
MODE = Mode(linker="py", optimizer=None)
# PyTensor keeps Python's 1e6 in single precision and 3 in 8 bits, and 1 / 3 in single precision:
# this makes a model mean what is written.
AS_WRITTEN = {"floatX": "float64", "cast_policy": "numpy+floatX"}


def log_joint(build):
    """Build a model; return a function from a point to its joint log density there.

    Parameters
    ----------
    build : callable
        Makes the PyMC model.

    Returns
    -------
    callable
        From arrays by variable to a float.
    """
    with pytensor.config.change_flags(**AS_WRITTEN):
        model = build()
        for variable in model.free_RVs:
            # PyMC cannot transform a model that says where a sampler should start.
            model.rvs_to_initial_values[variable] = None
        natural = freeze_dims_and_data(remove_value_transforms(model))
        terms = natural.logp(jacobian=False, sum=False)
        points = natural.value_vars
        compiled = pytensor.function(points, terms, mode=MODE, on_unused_input="ignore")

    def evaluate(point):
        inputs = [np.asarray(point[value.name], dtype=value.dtype) for value in points]
        with np.errstate(all="ignore"):
            found = compiled(*inputs)
        return float(np.sum([np.sum(np.asarray(term, dtype=np.longdouble)) for term in found]))

    return evaluate
