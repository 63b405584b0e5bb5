"""The joint log density of a NumPyro model, term by term."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesmodels.errors import DataError


def numpyro_density(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Return a NumPyro model's log density as a function of values, for `bayesmodels.same`.

    Its terms are those of NumPyro's own ``compute_log_probs``, in double precision. Needs the extra
    ``bayesmodels[numpyro]``.

    Parameters
    ----------
    model : callable
        The model's function.
    *args, **kwargs
        What it is called with, such as data.

    Returns
    -------
    callable
        From a dict of values of latent sites, in natural space, to a dict of log terms by site.

    Raises
    ------
    DataError
        When called, if a latent site has no value.

    References
    ----------
    D. Phan, N. Pradhan and M. Jankowiak, "Composable Effects for Flexible and Accelerated
    Probabilistic Programming in NumPyro", arXiv:1912.11554, 2019.

    Examples
    --------
    >>> import numpyro, numpyro.distributions as dist
    >>> def model(y):
    ...     mu = numpyro.sample("mu", dist.Normal(0.0, 1.0))
    ...     numpyro.sample("y", dist.Normal(mu, 1.0), obs=y)
    >>> {name: round(x, 3) for name, x in numpyro_density(model, 1.0)({"mu": 0.0}).items()}
    {'mu': -0.919, 'y': -1.419}
    """

    def terms(values: Mapping[str, Any]) -> dict[str, float]:
        import jax
        from numpyro import validation_enabled
        from numpyro.infer.util import compute_log_probs

        def logs(*, validated: bool) -> dict[str, Any]:
            with validation_enabled(is_validate=validated):
                found: dict[str, Any] = compute_log_probs(model, args, kwargs, dict(values))[0]
            return found

        double: Any = jax.enable_x64
        with double(new_val=True), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of values out of support, whose density is zero
            try:
                return {name: float(value) for name, value in logs(validated=True).items()}
            except ValueError:  # of a parameter: impossible
                return dict.fromkeys(logs(validated=False), -np.inf)
            except AssertionError as error:
                raise DataError(
                    "b: every latent site of the NumPyro model must have a value, by its name; got "
                    f"{sorted(values)}. Give rename or transform."
                ) from error

    return terms
