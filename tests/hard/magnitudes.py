"""Offsets, scales, columns that depend on others, and hardly any rows."""

from functools import partial

import mpmath
import numpy as np

import bayesmodels as bm
from tests.hard import exactly
from tests.hard.case import Case, Refusal

RNG = np.random.default_rng(20261122)
Z = RNG.normal(size=(12, 2))
CLASS = np.array([0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0])


def last_place(offset):
    """Return how far from the next float64 an offset is: what a law's own mean may be off by."""
    return float(np.spacing(abs(offset))) if offset else 0.0


def flat_beliefs(offset, scale):
    """Priors that fit rows of this offset and scale."""
    at, square = np.full(2, float(offset)), scale * scale
    vector = (at, 0.5, 5.0, np.array([[2.0, 0.5], [0.5, 1.0]]) * square)
    return (at[0], 0.5, 3.0, 2.0 * square), vector


def normal(hard, offset, scale=1.0, x=None, group="offsets", precision=1e-9):
    """All that a normal law says of rows."""
    x = offset + scale * Z[:, 0] if x is None else x
    prior, _ = flat_beliefs(offset, scale)
    model = bm.NormalInverseGamma(*prior)
    case = partial(Case, group, hard, "normal–inverse-gamma")
    new = offset + 1.25 * scale
    exact = partial(exactly.normal, x, prior)
    yield case(
        "log evidence",
        partial(model.log_evidence, x),
        lambda: exact()["evidence"],
        precision,
        absolute=True,
    )

    def ours():
        after = model.update(x)
        sd = after.marginals()["mu"].std()
        return [after.mean()["mu"], sd, after.scale, after.mean()["sigma2"]]

    def right():
        after = exact()
        with mpmath.workdps(exactly.DIGITS):
            variance = after["scale"] / (after["shape"] - 1)
        return [after["mean"], after["sd"], after["scale"], variance]

    yield case("posterior mean, sd and scale", ours, right, precision)
    yield case(
        "predictive log density",
        lambda: model.update(x).predictive().logpdf(new),
        lambda: exactly.next_number(new, exact()),
        max(precision, last_place(offset)),
        absolute=True,
    )


def vectors(hard, rows, prior, new, group="offsets", precision=1e-9):
    model = bm.NormalInverseWishart(*prior)
    case = partial(Case, group, hard, "normal–inverse-Wishart")
    exact = partial(exactly.vectors, rows, prior)
    yield case(
        "log evidence",
        partial(model.log_evidence, rows),
        lambda: exact()["evidence"],
        precision,
        absolute=True,
    )
    yield case(
        "posterior mean and scale",
        lambda: [model.update(rows).mean()["mu"], model.update(rows).scale],
        lambda: [list(exact()["mean"]), [list(row) for row in exact()["scale"].tolist()]],
        precision,
    )
    yield case(
        "predictive log density",
        lambda: model.update(rows).predictive().logpdf(new),
        lambda: exactly.next_vector(new, exact()),
        max(precision, last_place(prior[0][0])),
        absolute=True,
    )


def regression(hard, X, y, prior, new, group="offsets", precision=1e-9):
    model = bm.LinearRegression(*prior)
    width = X.shape[1]
    case = partial(Case, group, hard, "linear regression")
    exact = partial(exactly.regression, X, y, (*prior[:1], full(prior[1], width), *prior[2:]))
    yield case(
        "log evidence",
        partial(model.log_evidence, (X, y)),
        lambda: exact()["evidence"],
        precision,
        absolute=True,
    )

    def ours():
        after = model.update((X, y))
        return [after.mean()["w"], after.marginals()["w"].std(), after.scale]

    yield case(
        "posterior mean, sd and scale",
        ours,
        lambda: [exact()["w"], exact()["sd"], exact()["scale"]],
        precision,
    )
    at, target = new
    yield case(
        "predictive log density",
        lambda: model.update((X, y)).predictive(np.asarray(at)[None]).logpdf(target),
        lambda: exactly.next_target(at, target, exact()),
        precision,
        absolute=True,
    )


def full(precision, width):
    return precision * np.eye(width) if np.ndim(precision) == 0 else precision


def classifiers(hard, offset, scale=1.0, group="offsets", precision=1e-9):
    """Naive Bayes and every discriminant: evidence, and the probability of a class."""
    X = offset + scale * (Z + CLASS[:, None])
    new = offset + scale * np.array([0.75, 0.5])
    number, vector = flat_beliefs(offset, scale)
    classes = bm.DirichletCategorical([1, 2])
    alone = bm.NormalInverseGamma(*number)
    several = bm.NormalInverseGamma(vector[0], *number[1:])
    together = bm.NormalInverseWishart(*vector)
    models = {
        "naive Bayes, numbers": bm.NaiveBayes(classes, alone),
        "naive Bayes, vectors": bm.NaiveBayes(classes, together),
        "discriminant, diagonal": bm.GaussianDiscriminant(classes, several, "diagonal"),
        "discriminant, full": bm.GaussianDiscriminant(classes, together),
        "discriminant, shared": bm.GaussianDiscriminant(classes, together, "shared"),
        "discriminant, proportional": bm.GaussianDiscriminant(
            classes, together, "proportional", ratio=4
        ),
    }
    laws = {
        "naive Bayes, numbers": partial(by_column, number),
        "naive Bayes, vectors": partial(by_vector, vector),
        "discriminant, diagonal": partial(by_column, number),
        "discriminant, full": partial(by_vector, vector),
        "discriminant, shared": partial(exactly.tied, prior=vector, ratio=[1, 1]),
        "discriminant, proportional": partial(exactly.tied, prior=vector, ratio=[1, 4]),
    }
    for name, model in models.items():
        case = partial(Case, group, hard, name)
        yield case(
            "log evidence",
            partial(model.log_evidence, (X, CLASS)),
            lambda law=laws[name]: law(X, CLASS, new)[0] + exactly.log_rows([6, 6], [1, 2]),
            precision,
            absolute=True,
        )
        yield case(
            "log class probabilities of a new row",
            lambda model=model: np.log(model.update((X, CLASS)).class_probabilities(new[None])),
            lambda law=laws[name]: shares(law(X, CLASS, new)[1]),
            max(precision, last_place(offset)),
            absolute=True,
        )


def shares(logs):
    """Return log probabilities of the classes, whose own posterior is Dirichlet(7, 8)."""
    with mpmath.workdps(exactly.DIGITS):
        joint = [mpmath.exp(each) * a for each, a in zip(logs, (7, 8), strict=True)]
        return [mpmath.log(each / sum(joint)) for each in joint]


def by_column(prior, X, labels, new):
    after = [[exactly.normal(X[labels == c, j], prior) for j in (0, 1)] for c in (0, 1)]
    with mpmath.workdps(exactly.DIGITS):
        evidence = sum(column["evidence"] for columns in after for column in columns)
        logs = [sum(exactly.next_number(new[j], columns[j]) for j in (0, 1)) for columns in after]
    return evidence, logs


def by_vector(prior, X, labels, new):
    after = [exactly.vectors(X[labels == c], prior) for c in (0, 1)]
    return sum(each["evidence"] for each in after), [exactly.next_vector(new, a) for a in after]


def far():
    for offset in (1e8, 1e12):
        hard = f"offset of {offset:.0e}".replace("e+0", "e").replace("e+", "e")
        # Means are doubles: of 1e12 they leave four digits of a deviation, more of most answers.
        kept = 1e-9 if offset == 1e8 else last_place(offset)
        yield from normal(hard, offset, precision=kept)
        _, prior = flat_beliefs(offset, 1.0)
        new = offset + np.array([1.0, -0.5])
        yield from vectors(hard, offset + Z, prior, new, precision=kept)
        yield from classifiers(hard, offset, precision=kept)
        X = np.column_stack([np.ones(12), Z[:, 0]])
        y = offset + Z @ [1.0, 2.0]
        weak = (np.array([offset, 0.0]), 0.25, 2.0, 1.0)
        at = ([1.0, 0.5], offset + 1.0)
        place = max(1e-9, last_place(offset))  # means of the rows are rounded to it
        yield from regression(f"target, {hard}", X, y, weak, at, precision=place)
        # An intercept and a column far from zero are all but parallel: digits of the coefficients
        # are lost to the data themselves, those of a prediction are not.
        far_X = np.column_stack([np.ones(12), offset + Z[:, 0]])
        slope = (np.zeros(2), np.diag([1e-12, 1e-4]), 2.0, 1.0)
        found = regression(f"column, {hard}", far_X, Z[:, 1], slope, ([1.0, offset + 0.5], 0.25))
        yield from found


def scaled():
    for scale in (1e-150, 1e-100, 1e100, 1e150):
        hard = f"numbers of size {scale:.0e}".replace("e+0", "e").replace("e+", "e")
        kind = {"group": "scales"}
        unit = scale / 16 if scale == 1e150 else scale
        yield from normal(hard, 0.0, unit, **kind)
        _, prior = flat_beliefs(0.0, unit)
        yield from vectors(hard, unit * Z, prior, unit * np.array([1.0, -0.5]), **kind)
        yield from classifiers(hard, 0.0, unit, **kind)
        X = np.column_stack([Z[:, 0], unit * Z[:, 1]])
        both = (np.zeros(2), np.diag([1.0, unit**2]), 2.0, 1.0)
        y = Z @ [1.0, 2.0]
        yield from regression(f"a column, {hard}", X, y, both, ([1.0, unit], 0.5), **kind)
        target = (np.zeros(2), 1.0, 3.0, unit**2)
        yield from regression(f"a target, {hard}", Z, unit * y, target, ([1.0, 2.0], unit), **kind)
    yield from mixed_scales()


def mixed_scales():
    sizes = np.array([1e-150, 1e149])
    location, kappa, df = np.zeros(2), 0.5, 5.0
    scale = np.array([[2.0, 0.5], [0.5, 1.0]]) * np.outer(sizes, sizes)
    kind = {"group": "scales"}
    hard = "columns of sizes 1e-150 and 1e149"
    yield from vectors(hard, Z * sizes, (location, kappa, df, scale), sizes, **kind)
    slope = (np.zeros(2), np.diag(sizes**2), 2.0, 1.0)
    yield from regression(hard, Z * sizes, Z.sum(1), slope, (sizes, 0.5), **kind)
    for large in (1.1e150, 1e200, 1.7e308):
        rows = Z.copy()
        rows[3, 1] = large
        for name, argument, ask in refusing(rows):
            yield Case(
                "scales",
                f"a number of size {large:g}, whose square has no place in float64",
                name,
                "update",
                ask,
                Refusal(bm.DataError, argument),
            )
    yield Case(
        "scales",
        "1e10 rows of size 1e150, by weights: their squares add up to more than float64 holds",
        "normal–inverse-gamma",
        "update",
        partial(
            bm.NormalInverseGamma(0, 1, 2, 1).update,
            bm.Weighted([1e150, -1e150], [1e10, 1e10]),
        ),
        Refusal(bm.DataError, "scatter"),
    )


def refusing(rows):
    classes, number = bm.DirichletCategorical([1, 1]), bm.NormalInverseGamma(0, 1, 2, 1)
    vector = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
    two = bm.NormalInverseGamma([0, 0], 1, 2, 1)
    line = bm.LinearRegression([0, 0], 1, 2, 1)
    yield "normal–inverse-gamma", "x", partial(number.update, rows[:, 1])
    yield "normal–inverse-Wishart", "x", partial(vector.update, rows)
    yield "linear regression", "features", partial(line.update, (rows, CLASS))
    yield "linear regression, target", "target", partial(line.update, (Z, rows[:, 1]))
    yield (
        "naive Bayes, numbers",
        "features",
        partial(bm.NaiveBayes(classes, number).update, (rows, CLASS)),
    )
    yield (
        "mixture of numbers",
        "features",
        partial(bm.NaiveBayesMixture(classes, number).update, rows[:5]),
    )
    for kind, belief in (("full", vector), ("shared", vector), ("diagonal", two)):
        yield (
            f"discriminant, {kind}",
            "features",
            partial(bm.GaussianDiscriminant(classes, belief, kind).update, (rows, CLASS)),
        )
    logistic = bm.LogisticRegression([0, 0], 1)
    yield "logistic regression", "features", partial(logistic.laplace, (rows, CLASS))


# --- columns that depend on others, and few rows --------------------------------------------------


def dependent():
    """Ask posteriors that are proper by their priors alone."""
    z = Z[:6, 0]
    kinds = {
        "a duplicated column": np.column_stack([z, z]),
        "a column that is the sum of two others": np.column_stack([z, Z[:6, 1], z + Z[:6, 1]]),
        "columns that differ in the tenth digit": np.column_stack([z, z * (1 + 1e-10)]),
        "a constant column": np.column_stack([z, np.full(6, 7.0)]),
        "columns of zeros": np.zeros((6, 2)),
        "five columns, two rows": RNG.normal(size=(2, 5)),
        "twelve columns, three rows": RNG.normal(size=(3, 12)),
        "one row": Z[:1],
        "no row": Z[:0],
    }
    for hard, X in kinds.items():
        n, width = X.shape
        y = 2 + Z[:n, 1]
        new = np.linspace(-1, 1, width)
        kind = {"group": "shapes"}
        yield from regression(hard, X, y, (np.zeros(width), 0.5, 2.0, 1.0), (new, 1.5), **kind)
        prior = (np.zeros(width), 0.5, width + 2.0, np.eye(width))
        yield from vectors(hard, X, prior, new, **kind)
    for hard in ("a duplicated column", "five columns, two rows", "no row"):
        X = kinds[hard]
        yield Case(
            "shapes",
            f"{hard}, least squares without a prior",
            "linear regression",
            "mle",
            lambda X=X: bm.LinearRegression.flat(X.shape[1]).statistic((X, Z[: len(X), 1])).mle(),
            Refusal(bm.DataError, "features"),
        )
        yield Case(
            "shapes",
            f"{hard}, under a flat prior",
            "linear regression",
            "posterior mean",
            lambda X=X: bm.LinearRegression.flat(X.shape[1]).update((X, Z[: len(X), 1])).mean(),
            Refusal(bm.PriorError, "w is flat"),
        )
    yield from normal("one row", 0.0, x=Z[:1, 0], group="shapes")
    yield from normal("no row", 0.0, x=Z[:0, 0], group="shapes")
    yield from normal("equal rows", 0.0, x=np.full(5, 0.1), group="shapes")
    yield from normal("subnormal rows", 0.0, x=np.array([5e-324, 1e-310, 0, -0.0]), group="shapes")


def cases():
    yield from far()
    yield from scaled()
    yield from dependent()
