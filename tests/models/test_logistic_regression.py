"""Logistic regression: against statsmodels, scikit-learn, mpmath, quadrature and PyMC."""

import copy

import mpmath
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit
from sklearn.linear_model import LogisticRegression as SklearnLogistic

import bayesmodels as bm
from bayesmodels.belief import reading
from bayesmodels.numerics import softmax
from bayesmodels.report.approximation import errors_of

SEEDS = st.integers(0, 2**32 - 1)
SPECTOR = sm.datasets.spector.load_pandas()
COURSES = bm.Design(SPECTOR.exog, SPECTOR.endog, intercept=True)
COURSE_PRIOR = bm.LogisticRegression(np.zeros(4), 25)
IRIS = bm.datasets.load("iris")
NAMES = ["setosa", "versicolor", "virginica"]
FLOWERS = bm.Design.from_frame(IRIS, "species", ["sepal_length", "sepal_width"], intercept=True)
FLOWER_PRIOR = bm.LogisticRegression(np.zeros(3), 4, classes=NAMES)


def made(seed, n=80, width=3):
    """Return rows and classes that overlap, with an intercept first."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.standard_normal((n, width - 1))])
    y = rng.random(n) < expit(X @ rng.standard_normal(width))
    return np.concatenate([X, X[:8]]), np.concatenate([y, ~y[:8]])


def three_classes(seed):
    """Return rows and classes 0, 1 and 2 that overlap."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(60), rng.standard_normal((60, 2))])
    return X, (X @ rng.standard_normal((3, 3)) + rng.gumbel(size=(60, 3))).argmax(-1)


# --- maximum likelihood ---------------------------------------------------------------------------


def test_spector_as_statsmodels_has_it():
    X = sm.add_constant(SPECTOR.exog)
    theirs = sm.Logit(SPECTOR.endog, X).fit(method="newton", disp=0, tol=1e-12)
    ours = COURSE_PRIOR.mle(COURSES)
    np.testing.assert_allclose(ours.w, theirs.params, rtol=1e-10)
    np.testing.assert_allclose(ours.standard_errors, theirs.bse, rtol=1e-10)
    np.testing.assert_allclose(ours.value, theirs.llf, rtol=1e-13)
    # Greene, *Econometric Analysis*, table 21.1, prints these.
    np.testing.assert_allclose(ours.w, [-13.021, 2.826, 0.095, 2.379], atol=6e-4)
    table = ours.summary()
    assert list(table.index) == ["w[intercept]", "w[GPA]", "w[TUCE]", "w[PSI]"]
    np.testing.assert_allclose(table["z"], theirs.tvalues, rtol=1e-10)


def test_several_classes_as_statsmodels_has_them():
    data = sm.datasets.anes96.load_pandas()
    theirs = sm.MNLogit(data.endog, data.exog).fit(method="newton", disp=0, tol=1e-12)
    width = data.exog.shape[1]
    ours = bm.LogisticRegression(np.zeros(width), 1, classes=range(7)).mle((data.exog, data.endog))
    np.testing.assert_allclose(ours.w, theirs.params.T, rtol=1e-9)
    np.testing.assert_allclose(ours.standard_errors, theirs.bse.T, rtol=1e-9)
    np.testing.assert_allclose(ours.value, theirs.llf, rtol=1e-13)


def test_the_mode_as_scikit_learn_has_it():
    # A penalty on all weights alike is a normal prior; theirs leaves the intercept out.
    X, y = FLOWERS.features.to_numpy(), FLOWERS.target.to_numpy()
    binary = y != "virginica"
    theirs = SklearnLogistic(C=4.0, fit_intercept=False, tol=1e-12, max_iter=10_000)
    theirs.fit(X[binary], y[binary])
    model = bm.LogisticRegression([0, 0], 4, classes=NAMES[:2])
    np.testing.assert_allclose(model.map((X[binary], y[binary])).w, theirs.coef_[0], rtol=1e-5)


@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_newton_never_lets_the_objective_fall(seed):
    data = made(seed)
    model = bm.LogisticRegression([1.0, 0, -1], np.diag([1, 4, 9.0]))
    for found in (model.mle(data), model.map(data)):
        assert found.trace.converged
        assert (np.diff(found.trace.loss) <= 1e-13 * np.abs(found.trace.loss[1:])).all()
    near = model.map(data).w + 1e-3 * np.random.default_rng(seed).standard_normal((20, 3))
    assert (model.log_joint({"w": near}, data) < model.map(data).value).all()


@pytest.mark.parametrize("of", ["likelihood", "posterior"])
@pytest.mark.parametrize("step", ["lipschitz", "backtracking", 0.02])
def test_gradient_ascent_reaches_what_newton_finds(of, step):
    data = made(3)
    model = bm.LogisticRegression([0.0, 0, 0], 4)
    trace = model.ascend(data, step=step, of=of, tolerance=1e-11)
    goal = model.mle(data) if of == "likelihood" else model.map(data)
    assert trace.converged
    np.testing.assert_allclose(trace.last, goal.w, rtol=1e-8)
    assert (np.diff(trace.loss) <= 1e-12 * trace.loss[1:]).all()


def test_gradient_ascent_of_several_classes_and_of_single_rows():
    three = bm.LogisticRegression(np.zeros(3), 4, classes=range(3))
    for step in ("lipschitz", "backtracking"):
        trace = three.ascend(three_classes(1), of="posterior", step=step, tolerance=1e-10)
        np.testing.assert_allclose(trace.last, three.map(three_classes(1)).w, rtol=1e-7)
    data = made(3)
    model = bm.LogisticRegression([0.0, 0, 0], 4)
    wander = model.ascend(data, step=0.01, stochastic=True, most=60, rng=np.random.default_rng(2))
    np.testing.assert_allclose(wander.last, model.mle(data).w, atol=0.1)
    assert len(wander.loss) == 61


def test_the_notes_update_is_the_fixed_step():
    X, y = made(4)
    w = np.zeros(3)
    for _ in range(5):
        w = w + 0.01 * (y - expit(X @ w)) @ X
    trace = bm.LogisticRegression(np.zeros(3), 1).ascend((X, y), step=0.01, most=5)
    np.testing.assert_allclose(trace.last, w, rtol=1e-13)


# --- extremes -------------------------------------------------------------------------------------


@given(SEEDS, st.lists(st.integers(-150, 150), min_size=2, max_size=2))
@settings(max_examples=8, deadline=None)
def test_units_of_the_columns_do_not_matter(seed, powers):
    X, y = made(seed)
    model = bm.LogisticRegression(np.zeros(3), 1)
    unit = np.append(1.0, 10.0 ** np.array(powers))
    plain, scaled = model.mle((X, y)), model.mle((X * unit, y))
    np.testing.assert_allclose(scaled.w * unit, plain.w, rtol=1e-9)
    np.testing.assert_allclose(scaled.standard_errors * unit, plain.standard_errors, rtol=1e-9)
    assert np.isfinite(model.laplace((X * unit, y)).approximate_log_evidence)


@given(SEEDS, st.sampled_from([1e4, 1e8, -1e8]))
@settings(max_examples=10, deadline=None)
def test_an_offset_of_a_column_costs_no_digit(seed, offset):
    rng = np.random.default_rng(seed)
    x = rng.integers(-8, 9, 60) / 8.0  # exact beside the offset
    y = rng.random(60) < expit(x)
    x, y = np.tile(x, 2), np.concatenate([y, y[::-1]])
    model = bm.LogisticRegression([0, 0], 1)
    plain = model.mle(bm.Design(x[:, None], y, intercept=True))
    moved = model.mle(bm.Design(x[:, None] + offset, y, intercept=True))
    np.testing.assert_allclose(moved.w[1], plain.w[1], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(moved.standard_errors[1], plain.standard_errors[1], rtol=1e-9)


@given(SEEDS, st.floats(-8, 8), st.floats(-8, 8))
@settings(max_examples=10, deadline=None)
def test_nothing_is_ever_nan(seed, wide, far):
    X, y = made(seed, n=12)
    model = bm.LogisticRegression(np.full(3, 10.0**far / 1e4), 10.0**wide)
    near = model.laplace((X * 1e6, y))
    found = model.map((X * 1e6, y))
    assert found.trace.converged
    for array in (near.location, near.factor, found.standard_errors, found.value):
        assert np.isfinite(array).all()
    p = near.class_probabilities(X * 1e6)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(-1), 1, rtol=1e-12)


@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_any_sizes_of_columns_and_priors(seed):
    rng = np.random.default_rng(seed)
    n, p, classes = rng.integers([1, 1, 2], [30, 5, 5])
    X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-4, 7, p)
    X[:, 0] += 10.0 ** rng.integers(0, 9)
    mean = rng.standard_normal(p) * 10.0 ** rng.integers(-5, 3)
    model = bm.LogisticRegression(mean, 10.0 ** rng.integers(-6, 7), classes=range(classes))
    data = (X, rng.integers(0, classes, n))
    found = model.map(data)
    assert found.trace.converged
    near = found.w + 1e-2 * found.standard_errors * rng.standard_normal((20, *found.w.shape))
    slack = model.log_joint_rounding({"w": near}, data)
    assert (model.log_joint({"w": near}, data) <= found.value + slack).all()


def test_a_mode_that_rounding_hides_is_no_answer():
    model = bm.LogisticRegression([1e3, -1e3, 1e3], 1e-8, classes=range(3))
    rows = [[1, 1e90, 3], [1, -2e90, 1], [1, 1.5e90, -4], [1, 3e89, 1]]
    for verb in (model.map, model.laplace):
        with pytest.raises(bm.DataError, match=r"no maximum was found .* Scale the columns"):
            verb((rows, [1, 0, 0, 2]))


def test_log_probabilities_keep_their_digits():
    mpmath.mp.dps = 60
    score = np.array([[40.0, -40.0], [-800, 800], [1e-17, 0], [300, 299]])
    found = softmax.log_probabilities(score)
    for row, logs in zip(score, found, strict=True):
        terms = [mpmath.mpf(1), *(mpmath.exp(mpmath.mpf(s)) for s in row)]
        exact = [mpmath.log(term / mpmath.fsum(terms)) for term in terms]
        np.testing.assert_allclose(logs, np.array(exact, dtype=float), rtol=1e-14)


def test_collinear_columns_have_no_mle_but_a_mode():
    X, y = made(1)
    X = np.column_stack([X, X[:, 1] - X[:, 2]])
    model = bm.LogisticRegression(np.zeros(4), 1)
    with pytest.raises(bm.DataError, match=r"independent columns; \[3\] depend"):
        model.mle((X, y))
    found = model.map((X, y))
    assert found.trace.converged
    assert np.isfinite(found.standard_errors).all()


def test_without_rows_the_mode_is_the_prior():
    model = bm.LogisticRegression([1.0, -2], [[2.0, 0.5], [0.5, 1]])
    near = model.laplace((np.empty((0, 2)), np.empty(0, dtype=int)))
    np.testing.assert_allclose(near.location, [1, -2], rtol=1e-13)
    np.testing.assert_allclose(near.covariance, model.cov, rtol=1e-12)
    assert abs(near.approximate_log_evidence) < 1e-13


# --- counts, weights, classes ---------------------------------------------------------------------


def test_counts_weights_and_repeated_rows_are_one_thing():
    x, successes, trials = np.array([[0.0], [1], [2]]), [1, 3, 4], [5, 6, 5]
    model = bm.LogisticRegression([0, 0], 4)
    counted = bm.Design(x, bm.BinomialCounts(successes, trials), intercept=True)
    rows = np.repeat(x, trials, axis=0)
    y = np.concatenate([np.arange(n) < k for k, n in zip(successes, trials, strict=True)])
    single = bm.Design(rows, y, intercept=True)
    both = np.concatenate([x, x]), np.repeat([1, 0], 3)
    counts = np.concatenate([successes, np.subtract(trials, successes)])
    weighted = bm.Weighted(bm.Design(*both, intercept=True), counts)
    several = bm.Design(
        x,
        bm.MultinomialCounts(np.stack([np.subtract(trials, successes), successes], -1)),
        intercept=True,
    )
    exact = model.mle(single)
    for data in (counted, weighted, several):
        np.testing.assert_allclose(model.mle(data).w, exact.w, rtol=1e-12)
        np.testing.assert_allclose(
            model.mle(data).standard_errors, exact.standard_errors, rtol=1e-12
        )
    coefficient = stats.binom(trials, 0.5).logpmf(successes) + np.array(trials) * np.log(2)
    np.testing.assert_allclose(model.mle(counted).value, exact.value + coefficient.sum())
    np.testing.assert_allclose(model.mle(weighted).value, exact.value)


def test_labels_of_classes():
    X, y = made(2)
    names = np.where(y, "yes", "no")
    plain = bm.LogisticRegression(np.zeros(3), 1).map((X, y))
    named = bm.LogisticRegression(np.zeros(3), 1, classes=["no", "yes"])
    np.testing.assert_array_equal(named.map((X, names)).w, plain.w)
    turned = bm.LogisticRegression(np.zeros(3), 1, classes=["yes", "no"])
    np.testing.assert_allclose(turned.map((X, names)).w, -plain.w, rtol=1e-12)
    assert set(named.laplace((X, names)).most_probable_class(X)) == {"no", "yes"}


def test_classes_in_another_order_have_the_same_mle():
    order = ["virginica", "setosa", "versicolor"]
    petals = bm.Design.from_frame(
        IRIS[IRIS["species"] != "setosa"], "species", ["sepal_length", "petal_length"]
    )
    two = bm.LogisticRegression(np.zeros(2), 1, classes=NAMES[1:])
    turned = bm.LogisticRegression(np.zeros(2), 1, classes=NAMES[:0:-1])
    np.testing.assert_allclose(two.mle(petals).w, -turned.mle(petals).w, rtol=1e-10)
    X, y = three_classes(5)
    y = np.array(NAMES)[y]
    other = bm.LogisticRegression(np.zeros(3), 4, classes=order)
    p = FLOWER_PRIOR.class_probabilities(X, FLOWER_PRIOR.mle((X, y)).parameters)
    q = other.class_probabilities(X, other.mle((X, y)).parameters)
    np.testing.assert_allclose(p[:, [2, 0, 1]], q, atol=1e-12)


# --- densities and predictions --------------------------------------------------------------------


def test_log_joint_by_its_definition():
    rng = np.random.default_rng(0)
    X, y = made(6)
    cov = np.array([[2.0, 0.3, 0], [0.3, 1, 0.2], [0, 0.2, 3]])
    model = bm.LogisticRegression([0.5, 0, -1], cov)
    w = rng.standard_normal((2, 5, 3))
    rows = stats.bernoulli.logpmf(y, expit(w @ X.T))
    np.testing.assert_allclose(model.log_likelihood({"w": w}, (X, y))["y"], rows, rtol=1e-12)
    prior = stats.multivariate_normal([0.5, 0, -1], cov).logpdf(w)
    np.testing.assert_allclose(model.log_density({"w": w}), prior, rtol=1e-13)
    np.testing.assert_allclose(model.log_joint({"w": w}, (X, y)), prior + rows.sum(-1), rtol=1e-13)


def test_the_curvature_is_that_of_the_log_joint():
    at = FLOWER_PRIOR.laplace(FLOWERS)
    step = 1e-4
    size = at.location.size

    def joint(shift):
        return FLOWER_PRIOR.log_joint({"w": at.location + shift.reshape(2, 3)}, FLOWERS)

    H, unit = np.empty((size, size)), step * np.eye(size)
    for i in range(size):
        for j in range(size):
            corners = [joint(a * unit[i] + b * unit[j]) * a * b for a in (1, -1) for b in (1, -1)]
            H[i, j] = -sum(corners) / (4 * step**2)
    np.testing.assert_allclose(at.factor.T @ at.factor, H, rtol=1e-4, atol=1e-3)


def test_averaged_probabilities():
    X, y = made(8, n=20)
    near = bm.LogisticRegression(np.zeros(3), 100).laplace((X, y))
    w = near.sample(40_000, np.random.default_rng(1))["w"]
    each = expit(X @ w.T)
    error = each.std(-1) / np.sqrt(40_000)
    assert (np.abs(near.class_probabilities(X)[:, 1] - each.mean(-1)) < 5 * error).all()
    # Averaging moves probabilities towards a half, never across it.
    plug_in = near.class_probabilities(X, near.mode())
    mixed = near.class_probabilities(X)
    assert (np.abs(mixed - 0.5) < np.abs(plug_in - 0.5)).all()
    assert ((mixed > 0.5) == (plug_in > 0.5)).all()


@pytest.mark.parametrize("sd", [0.0, 1e-3, 1.0, 1.999, 2.001, 30.0, 1e6])
@pytest.mark.parametrize("mean", [0.0, -3.0, 12.5, 30.0])
def test_the_logistic_normal_integral(mean, sd):
    mpmath.mp.dps = 30
    found = float(softmax.averaged_binary(np.array(mean), np.array(sd)))
    # Split where the logistic curve bends, in units of the normal law.
    bends = [(t - mean) / sd for t in (-40, -5, 0, 5, 40)] if sd else []
    ends = sorted({-12.0, *np.clip(bends, -12, 12).tolist(), 12.0})
    exact = mpmath.quad(
        lambda z: mpmath.npdf(z) / (1 + mpmath.exp(-(mean + sd * z))), [mpmath.mpf(e) for e in ends]
    )
    assert abs(found - float(exact)) < 1e-13


def test_new_rows_have_two_axes():
    found = bm.LogisticRegression([0, 0], 1).laplace(([[1.0, 2], [0, 1]], [0, 1]))
    with pytest.raises(
        bm.DataError, match=r"features: must have rows and columns only; got shape \(1, 2, 2\)"
    ):
        found.class_probabilities(np.ones((1, 2, 2)))


def test_several_classes_are_averaged_over_draws():
    near = FLOWER_PRIOR.laplace(FLOWERS)
    rows = [[6.0, 3.0], [5.0, 3.5]]
    p = near.class_probabilities(rows, intercept=True, rng=np.random.default_rng(1))
    w = near.sample(4000, np.random.default_rng(1))["w"]
    each = near.class_probabilities(rows, {"w": w}, intercept=True)
    np.testing.assert_allclose(p, each.mean(0), rtol=1e-12)
    np.testing.assert_allclose(p.sum(-1), 1, rtol=1e-14)


def test_new_rows_follow_the_weights():
    X, y = made(9)
    model = bm.LogisticRegression(np.zeros(3), 1)
    w = np.tile([0.5, 1, -1], (4000, 1))
    new = model.replicate({"w": w}, (X, y), np.random.default_rng(3))["y"]
    assert new.shape == (4000, len(X))
    p = expit(X @ w[0])
    assert (np.abs(new.mean(0) - p) < 5 * np.sqrt(p * (1 - p) / 4000)).all()
    counted = (X, bm.BinomialCounts(np.full(len(X), 2), np.full(len(X), 10)))
    assert model.replicate({"w": w}, counted, np.random.default_rng(3))["y"].max() == 10


# --- the approximation says what it is ------------------------------------------------------------


def test_an_approximation_is_labelled_everywhere():
    near = COURSE_PRIOR.laplace(COURSES)
    assert "approximation" in repr(near)
    assert "not the exact posterior" in repr(near)
    assert near.title == "Laplace approximation"
    assert near.summary().attrs["approximation"] == "Laplace approximation"
    tree = near.to_datatree(draws=10, rng=np.random.default_rng(1))
    assert tree.attrs["approximation"] == "Laplace approximation"
    assert tree.posterior.attrs["approximation"] == "Laplace approximation"
    assert list(tree.posterior["w"].coords["feature"].values) == ["intercept", "GPA", "TUCE", "PSI"]
    assert not hasattr(near, "log_evidence")
    assert not hasattr(COURSE_PRIOR, "update")
    np.testing.assert_allclose(near.location, COURSE_PRIOR.map(COURSES).w, rtol=1e-14)
    np.testing.assert_allclose(
        near.marginals()["w"].std(), COURSE_PRIOR.map(COURSES).standard_errors, rtol=1e-12
    )


def test_its_law_is_one():
    near = FLOWER_PRIOR.laplace(FLOWERS)
    draws = near.sample(3, np.random.default_rng(5))
    law = stats.multivariate_normal(near.location.ravel(), near.covariance)
    np.testing.assert_allclose(
        near.log_density(draws), law.logpdf(draws["w"].reshape(3, -1)), rtol=1e-9
    )
    verdict = bm.compare(near, near.to_datatree(rng=np.random.default_rng(2)))
    assert verdict.outcome == "agree"


def test_the_approximate_evidence_comes_nearer_with_rows():
    model = bm.LogisticRegression([0, 0], 4)
    grid = np.stack(np.meshgrid(*[np.linspace(-4, 5, 361)] * 2, indexing="ij"), -1)
    errors = []
    for times in (1, 10):
        counts = bm.BinomialCounts(times * np.array([2, 3, 5, 9]), [10 * times] * 4)
        data = bm.Design([[-1.0], [0], [1], [2]], counts, intercept=True)
        exact = np.log(np.exp(model.log_joint({"w": grid}, data)).sum() * 0.025**2)
        errors.append(abs(model.laplace(data).approximate_log_evidence - exact))
    # Its error is of the order of one over the number of rows.
    assert 8 < errors[0] / errors[1] < 12
    assert errors[0] < 0.05


def test_the_prior_is_a_belief():
    assert COURSE_PRIOR.mean()["w"].tolist() == [0] * 4
    assert COURSE_PRIOR.summary()["sd"].tolist() == [5] * 4
    tree = COURSE_PRIOR.to_datatree(rng=np.random.default_rng(1))
    assert bm.compare(COURSE_PRIOR, tree).outcome == "agree"
    assert copy.deepcopy(COURSE_PRIOR) == COURSE_PRIOR
    assert COURSE_PRIOR != FLOWER_PRIOR
    assert "cov=" in repr(bm.LogisticRegression([0], 1))
    assert set(COURSE_PRIOR.parameters()) != set()


# --- messages -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 0], np.ones((3, 3))), "mean: must have shape"),
        (([0, 0], [[1, 2], [2, 1]]), "cov: must be positive definite; its smallest eigenv.* -1"),
        (
            ([0, 0], [[1, 2], [0, 1]]),
            r"cov: must be a symmetric matrix; its entries \(0, 1\) and \(1, 0\) are 2 and 0",
        ),
        (([0, 0], 0), "cov: must be positive definite"),
        (([0, np.nan], 1), "mean: .*"),
        (([0, 0], 1, "ab"), "classes: must be a sequence of two labels"),
        (([0, 0], 1, ["a"]), "classes: must be a sequence of two labels"),
        (([0, 0], 1, ["a", "a"]), "classes: labels must differ"),
        (([0, 0], 1, None, ["x", "x"]), "features must differ"),
    ],
)
def test_a_wrong_prior_is_refused(arguments, words):
    with pytest.raises(bm.PriorError if "differ" not in words else bm.DataError, match=words):
        bm.LogisticRegression(*arguments)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (([[1.0]], [1]), r"features: must have 2 columns.*intercept forgotten"),
        (([[1.0, 2]], [2]), r"target: must hold only the model's classes \[0, 1\]; row 0 holds 2"),
        (([[1.0, 2]], [np.nan]), "target: .*missing"),
        (([[1.0, np.inf]], [1]), "features: "),
        (([[1.0, 2]], [0, 1]), "target: must have as many rows"),
        (([1.0, 2], [0, 1]), "features: must have rows and columns"),
        ((np.ones((2, 3, 2)), [0, 1]), "rows and columns only"),
        (([[1.0, 2]], [[0], [1]]), "target: "),
        (([[1.0, 2]], [[0, 1]]), "target: must hold one class a row"),
        (([[1.0, 2]], bm.MultinomialCounts([[3, 2, 1]])), "must have one column for each"),
        (5, "data: must be a bayesmodels.Design"),
        (bm.Weighted(([[1.0, 2]], [1]), [-1.0]), "weights: must not be negative"),
    ],
)
def test_wrong_data_are_refused(data, words):
    with pytest.raises(bm.DataError, match=words):
        bm.LogisticRegression([0, 0], 1).map(data)


def test_other_requests_that_make_no_sense():
    model = bm.LogisticRegression([0, 0], 1, features=["a", "b"])
    data = ([[1.0, 2], [2.0, 1]], [0, 1])
    with pytest.raises(bm.DataError, match=r"columns must be \('a', 'b'\)"):
        model.map((pd.DataFrame({"b": [1.0], "a": [2.0]}), [1]))
    with pytest.raises(bm.DataError, match="of: must be 'likelihood' or 'posterior'"):
        model.ascend(data, of="prior")
    with pytest.raises(bm.DataError, match=r"start: must have the shape \(2,\)"):
        model.ascend(data, start=[1.0])
    with pytest.raises(bm.DataError, match="step: must be a number with stochastic"):
        model.ascend(data, stochastic=True)
    with pytest.raises(bm.DataError, match="must hold 'w'"):
        model.class_probabilities([[1.0, 2]], {"theta": 1})
    with pytest.raises(bm.DataError, match=r"w must have the shape \(\.\.\., 2\)"):
        model.class_probabilities([[1.0, 2]], {"w": [1.0]})
    with pytest.raises(bm.DataError, match="finite"):
        model.class_probabilities([[1.0, 2]], {"w": [1.0, np.nan]})
    with pytest.raises(bm.DataError, match="grow beyond all numbers"):
        model.class_probabilities([[1e300, 2]], {"w": [1e300, 0.0]})
    with pytest.raises(bm.DataError, match="BinomialCounts are of two classes"):
        FLOWER_PRIOR.map((np.ones((1, 3)), bm.BinomialCounts([1], [2])))
    with pytest.raises(bm.DataError, match="no statistic smaller than its rows"):
        model.declare(data, "statistic")
    with pytest.raises(bm.DataError, match="weighted rows have no PyMC model"):
        model.declare(bm.Weighted(data, [1.0, 2.0]))


# --- PyMC -----------------------------------------------------------------------------------------

COUNTED = bm.Design(
    [[-1.0], [0], [1], [2]], bm.BinomialCounts([2, 3, 5, 9], [10] * 4), intercept=True
)
DECLARED = {
    "two classes": (COURSE_PRIOR, COURSES),
    "a full covariance": (
        bm.LogisticRegression([1.0, 0, -1], [[2.0, 0.3, 0], [0.3, 1, 0.2], [0, 0.2, 3]]),
        made(0),
    ),
    "three classes": (FLOWER_PRIOR, FLOWERS),
    "binomial counts": (bm.LogisticRegression([0, 0], 4), COUNTED),
    "multinomial counts": (
        bm.LogisticRegression([0, 0], [[2.0, 0.5], [0.5, 1]], classes=["a", "b", "c"]),
        bm.Design([[-1.0], [1.0]], bm.MultinomialCounts([[3, 2, 1], [0, 4, 2]]), intercept=True),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", DECLARED)
def test_the_joint_density_is_pymcs(case):
    model, data = DECLARED[case]
    for seed in range(2):
        joint, rng = model.joint(data), np.random.default_rng(seed)
        found = bm.check_identity(model.declare(data), joint, model, 0.0, rng=rng)
        assert found.holds, found.sentences()[0]
        assert found.points == 20


@pytest.mark.slow
def test_names_dims_and_coords_in_pymc():
    model = FLOWER_PRIOR.declare(FLOWERS)
    assert model.named_vars_to_dims["w"] == ("class", "feature")
    assert model.coords["class"] == ("versicolor", "virginica")
    assert model.coords["feature"] == ("intercept", "sepal_length", "sepal_width")
    assert model["y"].owner.op.name == "categorical"


class Elementwise:
    """One law a weight, as `compare` wants them."""

    def __init__(self, laws):
        self._laws = laws

    def __getattr__(self, name):
        return lambda *args: np.array([getattr(law, name)(*args) for law in self._laws])

    def cdf(self, x):
        """Return probabilities at points whose last axis is that of the laws."""
        return np.stack([law.cdf(x[..., i]) for i, law in enumerate(self._laws)], -1)

    def sf(self, x):
        """Return the probabilities of more."""
        return 1 - self.cdf(x)


class Quadrature:
    """The exact posterior of two weights, on a grid."""

    dims = {"w": ("feature",)}  # noqa: RUF012 - a constant
    coords = {"feature": (0, 1)}  # noqa: RUF012 - a constant
    summary = reading.summary

    def __init__(self, model, data, size=1201, reach=14.0):
        near = model.laplace(data)
        mean, sd = near.mean()["w"], near.marginals()["w"].std()
        edges = [
            np.linspace(m - reach * s, m + reach * s, size + 1)
            for m, s in zip(mean, sd, strict=True)
        ]
        middle = [(e[1:] + e[:-1]) / 2 for e in edges]
        grid = np.stack(np.meshgrid(*middle, indexing="ij"), -1)
        log_p = model.log_joint({"w": grid}, data)
        mass = np.exp(log_p - log_p.max())
        self.laws = [
            stats.rv_histogram((mass.sum(1 - j), edges[j]), density=False)() for j in range(2)
        ]
        # Nothing of the posterior is left out.
        assert (
            max(law.pdf(e[[1, -2]]).max() for law, e in zip(self.laws, edges, strict=True)) < 1e-9
        )

    def marginals(self):
        return {"w": Elementwise(self.laws)}


@pytest.mark.slow
def test_nuts_agrees_with_quadrature_and_not_with_laplace():
    import pymc as pm

    model, data = (
        bm.LogisticRegression([0, 0], 25),
        bm.Design([[0.5], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1], intercept=True),
    )
    with model.declare(data):
        draws = pm.sample(
            2500,
            tune=1000,
            chains=4,
            random_seed=4,
            progressbar=False,
            quiet=True,
            target_accept=0.95,
        )
    exact = Quadrature(model, data)
    verdict = bm.compare(exact, draws)
    assert verdict.outcome == "agree", verdict.sentences()[0]
    near = model.laplace(data)
    found = bm.compare(near, draws)
    assert found.outcome == "disagree"
    assert found.sentences()[0].startswith("The draws do not come from the approximate law")
    error = errors_of(found.table)
    # What the table says is what quadrature says, to its own Monte-Carlo error.
    mean, sd = exact.marginals()["w"].mean(), exact.marginals()["w"].std()
    true = (near.location - mean) / sd
    assert (np.abs(error["error"] - true) < 4 * error["mcse"]).all()
    assert (np.abs(true) > 0.1).all()  # the approximation is off, and the table shows it


@pytest.mark.slow
def test_draws_with_all_groups():
    tree = bm.mcmc_draws(FLOWER_PRIOR, FLOWERS, draws=200, rng=np.random.default_rng(1))
    assert set(tree.children) == {
        "posterior",
        "sample_stats",
        "prior",
        "observed_data",
        "posterior_predictive",
        "log_likelihood",
        "log_prior",
    }
    assert tree.posterior["w"].dims == ("chain", "draw", "class", "feature")
    assert list(tree.posterior["feature"].values) == ["intercept", "sepal_length", "sepal_width"]
    table = bm.compare(FLOWER_PRIOR.laplace(FLOWERS), tree).table
    assert table.index[0] == "w[versicolor, intercept]"


@pytest.mark.parametrize(
    ("mean", "sd", "expected"),  # integrals by mpmath, 40 digits
    [
        (-50.0, 10.0, -14.62202797665533),
        (-90.0, 10.0, -41.81679043771199),
        (-700.0, 0.1, -699.995),
        (-1250.0, 50.0, -316.188197843116),
        (-8.0, 2.1, -5.895329832235943),
        (5.0, 4.0, -0.1357287932686936),
    ],
)
def test_log_of_a_small_average(mean, sd, expected):
    found = softmax.log_averaged_binary(np.array(mean), np.array(sd))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
def test_logs_of_averaged_class_probabilities(classes):
    rng = np.random.default_rng(31)
    X, y = rng.normal(size=(60, 2)), rng.choice(classes, 60)
    near = bm.LogisticRegression([0, 0], 4, classes).laplace((X, y))
    logs = near.log_class_probabilities(X, rng=np.random.default_rng(5))
    plain = near.class_probabilities(X, rng=np.random.default_rng(5))
    np.testing.assert_allclose(np.exp(logs), plain, rtol=1e-12)
    far = near.log_class_probabilities(1e3 * X, rng=np.random.default_rng(5))
    assert np.isfinite(far).all()
