"""How far a closed form is from the posterior worked out by hand."""

import numpy as np

# What a parameter's error is measured in, beside its own size: a mean of nearly zero is not more
# exact than its deviation lets it be.
SPREAD = {"Normal": "sd", "StudentT": "scale"}


def parameter_error(posterior, reference):
    """Return the largest relative error over all parameters of all variables.

    Parameters
    ----------
    posterior : ExactPosterior
        The closed form.
    reference : references.Reference
        The posterior worked out by hand.

    Returns
    -------
    float
        Infinite where families, parameters or shapes are others.
    """
    if posterior.families != reference.families:
        return np.inf
    found = posterior.parameters()
    worst = 0.0
    for name, expected in reference.parameters.items():
        family = reference.families[name]
        if family == "Mixture":
            continue
        if set(found[name]) != set(expected):
            return np.inf
        for key, value in expected.items():
            size = np.abs(value)
            if key == "mean" and family in SPREAD:
                size = np.maximum(size, expected[SPREAD[family]])
            if key == "scale" and family in ("Wishart", "InverseWishart"):
                root = np.sqrt(np.diagonal(value, axis1=-2, axis2=-1))
                size = root[..., :, None] * root[..., None, :]
            if key == "probability":
                size = np.ones_like(value)
            worst = max(worst, _largest(found[name][key], value, size))
    return worst


def moment_error(posterior, reference):
    """Return the largest error of means, in deviations or relative, and of variances, relative."""
    worst = 0.0
    means, variances = posterior.mean(), posterior.var()
    for name, value in reference.mean.items():
        size = np.abs(value)
        if name in reference.var:
            size = np.maximum(size, np.sqrt(reference.var[name]))
        worst = max(worst, _largest(means[name], value, size))
    for name, value in reference.var.items():
        worst = max(worst, _largest(variances[name], value, np.abs(value)))
    return worst


def _largest(found, expected, size):
    found = np.asarray(found, dtype=float)
    if found.shape != np.shape(expected):
        return np.inf
    with np.errstate(invalid="ignore"):  # an end of an interval may be zero or infinite
        error = np.where(found == expected, 0.0, np.abs(found - expected) / size)
    return float(np.max(np.nan_to_num(error, nan=np.inf), initial=0.0))


def evidence_error(posterior, reference):
    """Return the absolute error of the log evidence; zero under an improper prior."""
    if reference.log_evidence is None:
        return 0.0
    return _distance(posterior.log_evidence, reference.log_evidence)


def density_error(posterior, reference, rng, number=5):
    """Return the largest error of log densities at points drawn from the reference."""
    points = [reference.draw(rng) for _ in range(number)]
    draws = {name: np.stack([np.asarray(point[name]) for point in points]) for name in points[0]}
    expected = np.array([reference.log_density(point) for point in points])
    return _largest(posterior.log_density(draws), expected, np.ones(number))


def _distance(one, other):
    distance = abs(float(one) - other)
    return distance if np.isfinite(distance) else np.inf
