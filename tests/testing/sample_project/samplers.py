"""Samplers as a project may have them: draws by formulas, Gibbs, Metropolis, and predictions.

Draws have the axes (chain, draw, ...).
"""

import numpy as np

CHAINS = 4


def coin(flips, alpha, beta, draws, rng):
    """Chance of heads, under a Beta prior."""
    heads = np.sum(flips)
    tails = len(flips) - heads
    return {"theta": rng.beta(alpha + heads, beta + tails, (CHAINS, draws))}


def heads_in(trials, flips, alpha, beta, draws, rng):
    """Heads among new flips."""
    theta = coin(flips, alpha, beta, draws, rng)["theta"]
    return {"heads": rng.binomial(trials, theta)}


def calls(events, hours, shape, rate, draws, rng):
    """Rate of events, under a Gamma prior."""
    lam = rng.gamma(shape + np.sum(events), 1 / (rate + np.sum(hours)), (CHAINS, draws))
    return {"lam": lam}


def calls_in(hour, events, hours, shape, rate, draws, rng):
    """Events in new hours."""
    lam = calls(events, hours, shape, rate, draws, rng)["lam"]
    return {"events": rng.poisson(hour * lam)}


def die(counts, alpha, draws, rng):
    """Chances of categories, under a Dirichlet prior: Gamma draws, normalised."""
    pieces = rng.gamma(alpha + np.asarray(counts), size=(CHAINS, draws, len(counts)))
    return {"theta": pieces / pieces.sum(axis=-1, keepdims=True)}


def normal(y, mean, kappa, shape, scale, draws, rng):
    """Mean and variance of numbers, under a normal-inverse-gamma prior."""
    n, center = len(y), np.mean(y)
    squares = np.sum((y - center) ** 2)
    between = kappa * n / (kappa + n) * (center - mean) ** 2
    b = scale + (squares + between) / 2
    sigma2 = b / rng.gamma(shape + n / 2, size=(CHAINS, draws))
    m = (kappa * mean + n * center) / (kappa + n)
    return {"mu": rng.normal(m, np.sqrt(sigma2 / (kappa + n))), "sigma2": sigma2}


def normal_gibbs(y, mean, kappa, shape, scale, draws, rng, warmup=20):
    """Draw the same, one variable given the other."""
    n = len(y)
    m = (kappa * mean + np.sum(y)) / (kappa + n)
    mu, sigma2 = np.full(CHAINS, 100.0), np.full(CHAINS, 1000.0)
    kept = np.empty((2, draws, CHAINS))
    for step in range(warmup + draws):
        mu = rng.normal(m, np.sqrt(sigma2 / (kappa + n)))
        squares = np.sum((np.asarray(y)[:, None] - mu) ** 2, axis=0)
        b = scale + (squares + kappa * (mu - mean) ** 2) / 2
        sigma2 = b / rng.gamma(shape + (n + 1) / 2, size=CHAINS)
        if step >= warmup:
            kept[:, step - warmup] = mu, sigma2
    return {"mu": kept[0].T, "sigma2": kept[1].T}


def regression(x, y, precision, shape, scale, draws, rng):
    """Coefficients and noise of a regression, under a normal-inverse-gamma prior about zero."""
    n, columns = x.shape
    after = precision * np.eye(columns) + x.T @ x
    factor = np.linalg.cholesky(after)
    mean = np.linalg.solve(after, x.T @ y)
    b = scale + (y @ y - mean @ after @ mean) / 2
    sigma2 = b / rng.gamma(shape + n / 2, size=(CHAINS, draws))
    z = rng.normal(size=(CHAINS, draws, columns))
    w = mean + np.sqrt(sigma2)[..., None] * np.linalg.solve(factor.T, z[..., None])[..., 0]
    return {"w": w, "sigma2": sigma2}


def vectors(y, kappa, df, scale, draws, rng):
    """Mean and covariance of vectors, by Bartlett's decomposition of a Wishart precision."""
    n, size = y.shape
    center = y.mean(axis=0)
    apart = y - center
    after = scale + apart.T @ apart + kappa * n / (kappa + n) * np.outer(center, center)
    factor = np.linalg.cholesky(np.linalg.inv(after))
    bartlett = np.tril(rng.normal(size=(CHAINS, draws, size, size)), -1)
    for i in range(size):
        bartlett[..., i, i] = np.sqrt(rng.chisquare(df + n - i, (CHAINS, draws)))
    root = factor @ bartlett
    sigma = np.linalg.inv(root @ np.swapaxes(root, -1, -2))
    z = rng.normal(size=(CHAINS, draws, size, 1))
    m = n * center / (kappa + n)
    mu = m + (np.linalg.cholesky(sigma / (kappa + n)) @ z)[..., 0]
    return {"mu": mu, "Sigma": (sigma + np.swapaxes(sigma, -1, -2)) / 2}


def metropolis(log_density, scale, draws, rng, warmup=100, thin=4):
    """Draw numbers by a random walk."""
    steps = warmup + draws * thin
    moves, chances = rng.normal(0, scale, (steps, CHAINS)), np.log(rng.random((steps, CHAINS)))
    x, kept = np.zeros(CHAINS), np.empty((steps, CHAINS))
    density = log_density(x)
    for step in range(steps):
        proposal = x + moves[step]
        proposed = log_density(proposal)
        accepted = chances[step] < proposed - density
        x, density = np.where(accepted, proposal, x), np.where(accepted, proposed, density)
        kept[step] = x
    return kept[warmup::thin].T


def coin_by_metropolis(flips, alpha, beta, draws, rng):
    """Chance of heads, by a random walk of its logit."""
    a, b = alpha + np.sum(flips), beta + len(flips) - np.sum(flips)

    def log_density(logit):
        theta = 1 / (1 + np.exp(-logit))
        jacobian = np.log(theta * (1 - theta))
        return (a - 1) * np.log(theta) + (b - 1) * np.log1p(-theta) + jacobian

    return {
        "theta": 1
        / (1 + np.exp(-metropolis(log_density, 2.4 / np.sqrt(a * b / (a + b)), draws, rng)))
    }


def flip(parameters, rng):
    """Return new flips of a coin whose chance of heads is known."""
    return rng.random(12) < parameters["theta"]


def measure(parameters, rng):
    """Return new measurements with known mean and variance."""
    return rng.normal(parameters["mu"], np.sqrt(parameters["sigma2"]), 8)
