"""What every family's formulas say, in arithmetic of as many digits as it takes.

The textbook's formulas, as `bayesmodels` prints them at the top of each model, with mpmath numbers;
nothing here is shared with the package. Quantiles are roots of distribution functions that mpmath
integrates.
"""

from itertools import pairwise

import mpmath as mp
from mpmath import mpf

DIGITS = 50
_SERIES = 400  # parameters up to which mpmath's own incomplete functions are quick
_SPARE = 70  # for lnΓ(1e15) and squares of 1e150 to cancel

# --- counts ---------------------------------------------------------------------------------------


def log_beta(alpha):
    return mp.fsum(mp.loggamma(a) for a in alpha) - mp.loggamma(mp.fsum(alpha))


def log_coefficient(counts):
    return mp.loggamma(mp.fsum(counts) + 1) - mp.fsum(mp.loggamma(n + 1) for n in counts)


def dirichlet_evidence(alpha, counts):
    return log_beta([a + n for a, n in zip(alpha, counts, strict=True)]) - log_beta(alpha)


def dirichlet_mass(alpha, counts):
    return log_coefficient(counts) + dirichlet_evidence(alpha, counts)


def dirichlet_density(alpha, theta):
    return mp.fsum((a - 1) * mp.log(t) for a, t in zip(alpha, theta, strict=True)) - log_beta(alpha)


def beta_density(alpha, beta, theta):
    return (alpha - 1) * mp.log(theta) + (beta - 1) * mp.log1p(-theta) - log_beta([alpha, beta])


def beta_mean(alpha, beta):
    return alpha / (alpha + beta)


def beta_sd(alpha, beta):
    return mp.sqrt(alpha * beta / (alpha + beta + 1)) / (alpha + beta)


# --- laws on the line -----------------------------------------------------------------------------


def inverse_gamma_density(a, b, x):
    return a * mp.log(b) - mp.loggamma(a) - (a + 1) * mp.log(x) - b / x


def student_density(df, location, square, x):
    return (
        mp.loggamma((df + 1) / 2)
        - mp.loggamma(df / 2)
        - mp.log(mp.pi * df * square) / 2
        - (df + 1) / 2 * mp.log1p((x - location) ** 2 / (square * df))
    )


def _integral(log_density, start, step, most, sign):
    """Integrate a log-concave density outwards from `start` to where nothing of 60 digits is left.

    Parts begin with the width `step` and grow to `most`, which is as wide as its high point.
    """
    highest = log_density(start)
    points, width = [start], min(step, most)
    while True:
        points.append(points[-1] + sign * width)
        low = log_density(points[-1])
        highest = max(highest, low)
        if low < highest - 150:
            break
        width = min(width * mpf("1.5"), max(most, abs(points[-1] - start) / 4))
    parts = pairwise(points)
    return abs(mp.fsum(mp.quad(lambda x: mp.exp(log_density(x)), part) for part in parts))


def _root(tail, log_slope, p, u, sign):
    """Solve tail(u) = p by Newton's steps in ln(tail) from a value near the root."""
    for _ in range(60):
        value = tail(u)
        step = sign * (mp.log(value) - mp.log(p)) * value / mp.exp(log_slope(u))
        u -= step
        if abs(step) < mpf(10) ** -(DIGITS // 2 + 2):  # its square is the next one
            return u
    msg = f"no quantile found near {u}"
    raise ArithmeticError(msg)


def student_quantile(df, p):
    """Return the upper quantile of a standard Student-t law, p <= 1/2."""
    if p == mpf(1) / 2:
        return mpf(0)
    from scipy import stats

    constant = student_density(df, mpf(0), mpf(1), mpf(0))

    def log_density(x):
        return constant - (df + 1) / 2 * mp.log1p(x**2 / df)

    def tail(x):
        if df < _SERIES:
            return mp.betainc(df / 2, mpf(1) / 2, 0, df / (df + x**2), regularized=True) / 2
        return _integral(log_density, x, 1 / (1 + abs(x)), mpf(1), 1)

    start = mpf(float(stats.t.isf(float(p), float(df))))
    if start > 1e4:  # a power law, whose logarithm is what Newton's steps are of
        u = _root(
            lambda u: tail(mp.exp(u)), lambda u: log_density(mp.exp(u)) + u, p, mp.log(start), -1
        )
        return mp.exp(u)
    return _root(tail, log_density, p, start, -1)


def gamma_quantile(a, p, *, upper):
    """Return a quantile of a Gamma law of rate 1, whose logarithm has a log-concave density."""
    from scipy import special

    start = mpf(float((special.gammainccinv if upper else special.gammaincinv)(float(a), float(p))))
    right = start > a
    sign = 1 if right else -1

    constant = mp.loggamma(a)

    def log_density(u):
        return a * u - mp.exp(u) - constant

    def tail(u):
        if a < _SERIES:
            ends = (mp.exp(u), mp.inf) if right else (0, mp.exp(u))
            return mp.gammainc(a, *ends, regularized=True)
        return _integral(log_density, u, 1 / abs(a - mp.exp(u)), 1 / mp.sqrt(a), sign)

    target = p if upper == right else 1 - p
    return mp.exp(_root(tail, log_density, target, mp.log(start), -sign))


def inverse_gamma_quantile(a, b, p, *, upper):
    return b / gamma_quantile(a, p, upper=not upper)


def beta_quantile(alpha, beta, p, *, upper):
    """Return a quantile of a Beta law; of two ends the nearer one is integrated from."""
    from scipy import special

    inverse = special.betaincinv, special.betainccinv
    start = mpf(float(inverse[upper](float(alpha), float(beta), float(p))))
    if start > 0.5:  # its distance from 1 is what has digits
        return 1 - beta_quantile(beta, alpha, p, upper=not upper)

    constant = log_beta([alpha, beta])

    def log_density(u):
        return alpha * u + (beta - 1) * mp.log1p(-mp.exp(u)) - constant

    def tail(u):
        if max(alpha, beta) < _SERIES:
            return mp.betainc(alpha, beta, 0, mp.exp(u), regularized=True)
        odds = mp.exp(u) / (1 - mp.exp(u))
        slope = abs(alpha - (beta - 1) * odds)
        return _integral(log_density, u, 1 / slope, 1 / mp.sqrt(alpha * (1 + alpha / beta)), -1)

    target = 1 - p if upper else p
    return mp.exp(_root(tail, log_density, target, mp.log(start), 1))


# --- normal rows ----------------------------------------------------------------------------------


def nig_posterior(m, kappa, a, b, n, mean, scatter):
    pull = kappa * n / (kappa + n) * (mean - m) ** 2
    location = (kappa * m + n * mean) / (kappa + n)
    return location, kappa + n, a + n / 2, b + scatter / 2 + pull / 2


def nig_evidence(m, kappa, a, b, n, mean, scatter):
    _, _, a_n, b_n = nig_posterior(m, kappa, a, b, n, mean, scatter)
    return (
        mp.loggamma(a_n)
        - mp.loggamma(a)
        + a * mp.log(b)
        - a_n * mp.log(b_n)
        + mp.log(kappa / (kappa + n)) / 2
        - n / 2 * mp.log(2 * mp.pi)
    )


def moments(rows):
    n = mpf(len(rows))
    mean = mp.fsum(rows) / n
    return n, mean, mp.fsum((x - mean) ** 2 for x in rows)


def nig_evidence_of_rows(m, kappa, a, b, rows):
    return nig_evidence(m, kappa, a, b, *moments(rows))


def nig_density(m, kappa, a, b, mu, sigma2):
    normal = mp.log(kappa / (2 * mp.pi * sigma2)) / 2 - kappa * (mu - m) ** 2 / (2 * sigma2)
    return normal + inverse_gamma_density(a, b, sigma2)


def nig_predictive(m, kappa, a, b, x):
    return student_density(2 * a, m, b * (kappa + 1) / (a * kappa), x)


# --- vectors --------------------------------------------------------------------------------------


def log_multigamma(x, width):
    each = mp.fsum(mp.loggamma(x - mpf(j) / 2) for j in range(width))
    return each + mpf(width * (width - 1)) / 4 * mp.log(mp.pi)


def niw_posterior(m, kappa, df, scale, rows):
    m, scale, n = mp.matrix(m), mp.matrix(scale), mpf(len(rows))
    vectors = [mp.matrix(row) for row in rows]
    mean = sum(vectors, mp.zeros(len(m), 1)) / max(n, 1)
    for x in vectors:
        scale = scale + (x - mean) * (x - mean).T
    scale = scale + kappa * n / (kappa + n) * (mean - m) * (mean - m).T
    return (kappa * m + n * mean) / (kappa + n), kappa + n, df + n, scale


def niw_evidence(m, kappa, df, scale, rows):
    n, width = len(rows), len(m)
    _, kappa_n, df_n, scale_n = niw_posterior(m, kappa, df, scale, rows)
    return (
        -mpf(n * width) / 2 * mp.log(mp.pi)
        + log_multigamma(df_n / 2, width)
        - log_multigamma(df / 2, width)
        + df / 2 * mp.log(mp.det(mp.matrix(scale)))
        - df_n / 2 * mp.log(mp.det(scale_n))
        + mpf(width) / 2 * mp.log(kappa / kappa_n)
    )


def niw_density(m, kappa, df, scale, mu, sigma):
    width, scale, sigma = len(m), mp.matrix(scale), mp.matrix(sigma)
    gap, det = mp.matrix(mu) - mp.matrix(m), mp.log(mp.det(sigma))
    square = (gap.T * mp.lu_solve(sigma, gap))[0]
    trace = mp.fsum((mp.inverse(sigma) * scale)[j, j] for j in range(width))
    normal = mpf(width) / 2 * mp.log(kappa / (2 * mp.pi)) - det / 2 - kappa * square / 2
    wishart = (
        df / 2 * mp.log(mp.det(scale))
        - df * width / 2 * mp.log(2)
        - log_multigamma(df / 2, width)
        - (df + width + 1) / 2 * det
        - trace / 2
    )
    return normal + wishart


def multivariate_student(df, location, scale, x):
    width = len(x)
    gap = mp.matrix(x) - mp.matrix(location)
    square = (gap.T * mp.lu_solve(scale, gap))[0]
    return (
        mp.loggamma((df + width) / 2)
        - mp.loggamma(df / 2)
        - mpf(width) / 2 * mp.log(df * mp.pi)
        - mp.log(mp.det(scale)) / 2
        - (df + width) / 2 * mp.log1p(square / df)
    )


def niw_predictive(m, kappa, df, scale, x):
    left = df - len(m) + 1
    return multivariate_student(left, m, mp.matrix(scale) * ((kappa + 1) / (kappa * left)), x)


def niw_entry_sd(df, scale, i, j):
    """Return the standard deviation of an entry of Sigma (Mardia, Kent and Bibby, 1979)."""
    i, j, width = int(i), int(j), len(scale)
    spare = df - width
    top = (spare + 1) * scale[i][j] ** 2 + (spare - 1) * scale[i][i] * scale[j][j]
    return mp.sqrt(top / (spare * (spare - 1) ** 2 * (spare - 3)))


# --- regression -----------------------------------------------------------------------------------


def regression_posterior(m, precision, a, b, X, y):
    """Return P_n, m_n, a_n, b_n of the normal equations, which have digits enough here."""
    P, m = mp.matrix(precision), mp.matrix(m)
    if not y:
        return P, m, a, b
    X, y = mp.matrix(X), mp.matrix(y)
    P_n = P + X.T * X
    m_n = mp.lu_solve(P_n, P * m + X.T * y)
    residual, moved = y - X * m_n, m_n - m
    b_n = b + ((residual.T * residual)[0] + (moved.T * P * moved)[0]) / 2
    return P_n, m_n, a + mpf(len(y)) / 2, b_n


def regression_evidence(m, precision, a, b, X, y):
    P_n, _, a_n, b_n = regression_posterior(m, precision, a, b, X, y)
    return (
        -mpf(len(y)) / 2 * mp.log(2 * mp.pi)
        + mp.log(mp.det(mp.matrix(precision)) / mp.det(P_n)) / 2
        + a * mp.log(b)
        - a_n * mp.log(b_n)
        + mp.loggamma(a_n)
        - mp.loggamma(a)
    )


def regression_mean(m, precision, a, b, X, y, j):
    return regression_posterior(m, precision, a, b, X, y)[1][int(j)]


def regression_sd(m, precision, a, b, X, y, j):
    P_n, _, a_n, b_n = regression_posterior(m, precision, a, b, X, y)
    j = int(j)
    return mp.sqrt(b_n / (a_n - 1) * mp.inverse(P_n)[j, j])


def regression_predictive(m, precision, a, b, X, y, row, at):
    P_n, m_n, a_n, b_n = regression_posterior(m, precision, a, b, X, y)
    x = mp.matrix(row)
    reach = (x.T * mp.lu_solve(P_n, x))[0]
    return student_density(2 * a_n, (x.T * m_n)[0], b_n / a_n * (1 + reach), at)


def regression_density(m, precision, a, b, w, sigma2):
    P, gap = mp.matrix(precision), mp.matrix(w) - mp.matrix(m)
    square = (gap.T * P * gap)[0]
    normal = mp.log(mp.det(P)) / 2 - mpf(len(m)) / 2 * mp.log(2 * mp.pi * sigma2)
    return normal - square / (2 * sigma2) + inverse_gamma_density(a, b, sigma2)


# --- compositions ---------------------------------------------------------------------------------


def naive_bayes_evidence(classes, alpha, nig, rows, labels):
    """One block of bits and one of numbers, two classes; rows are pairs (bit, number)."""
    C = len(classes)
    own = [[row for row, c in zip(rows, labels, strict=True) if int(c) == k] for k in range(C)]
    total = dirichlet_evidence(classes, [mpf(len(some)) for some in own])
    for some in own:
        ones = mp.fsum(bit for bit, _ in some)
        total += dirichlet_evidence(alpha, [ones, len(some) - ones])
        if some:
            total += nig_evidence_of_rows(*nig, [x for _, x in some])
    return total


def naive_bayes_joint(classes, alpha, nig, rows, labels, bit, number, c):
    """Return ln p(class c, bit, number | rows)."""
    some = [row for row, k in zip(rows, labels, strict=True) if k == c]
    ones = mp.fsum(b for b, _ in some)
    own = mpf(len(some))
    mass = (classes[int(c)] + own) / (mp.fsum(classes) + len(rows))
    counted = alpha[0] + ones if bit else alpha[1] + own - ones
    after = nig_posterior(*nig, *moments([x for _, x in some])) if some else nig
    density = nig_predictive(*after, number)
    return mp.log(mass * counted / (mp.fsum(alpha) + own)) + density


def concept_evidence(prior, sizes, n):
    """Strong sampling: hypotheses that hold all n rows, of these sizes."""
    weight = mp.fsum(p * mp.power(s, -n) for p, s in zip(prior, sizes, strict=True))
    return mp.log(weight / mp.fsum(prior))


def concept_posterior(prior, sizes, n, h):
    p, s = prior[int(h)], sizes[int(h)]
    return mp.log(p * mp.power(s, -n) / mp.fsum(prior)) - concept_evidence(prior, sizes, n)


# --- evaluating -----------------------------------------------------------------------------------


def exact(function, arguments, spare=_SPARE, **options):
    """Evaluate at doubles, with `spare` digits for cancellations; return 50-digit text.

    Quantiles are integrals, for which 50 digits and a few for rounding are enough.
    """
    with mp.workdps(DIGITS + spare):
        value = function(*map(read, arguments), **options)
    with mp.workdps(DIGITS):
        return mp.nstr(+value, 40)


def read(value):
    """Return doubles, or lists of them, as mpmath's numbers."""
    return [read(part) for part in value] if isinstance(value, list) else mpf(value)
