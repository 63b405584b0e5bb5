"""Gaussian discriminants: scikit-learn's at the maximum likelihood, evidences, and plug-ins."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import logsumexp
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import GaussianNB

import bayesmodels as bm
from bayesmodels.models.classifiers.information import mutual_information_normal
from tests.asking import close, complaint

KINDS = ("full", "shared", "proportional", "diagonal")
TARGETS = {"iris": "species", "wine": "cultivar"}


def loaded(name):
    """Return features, as a frame and as numbers, and the classes."""
    frame = bm.datasets.load(name)
    X = frame.drop(columns=TARGETS[name])
    return X, X.to_numpy(), frame[TARGETS[name]].to_numpy()


def model_of(kind, labels, width, prior=1.0):
    classes = bm.DirichletCategorical([prior] * len(labels), categories=labels)
    ratio = 1 + np.arange(len(labels)) if kind == "proportional" else None
    if kind == "diagonal":
        features = bm.NormalInverseGamma(np.zeros(width), 1, 2, 1)
    else:
        features = bm.NormalInverseWishart(np.zeros(width), 1, width + 2, np.eye(width))
    return bm.GaussianDiscriminant(classes, features, kind, ratio)


def mle_of(kind, name):
    X, x, y = loaded(name)
    model = model_of(kind, np.unique(y).tolist(), x.shape[1])
    known = model.statistic((X, y)).mle()
    return X, x, y, known, model.class_probabilities(X, parameters=known)


def standardised(x):
    """Their eigenvectors lose digits on columns of unlike size; probabilities stay the same."""
    return (x - x.mean(0)) / x.std(0)


# --- scikit-learn ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TARGETS)
def test_full_at_the_mle_is_quadratic_discriminant_analysis(name):
    """Ours divides the scatter by N_c, and so does scikit-learn 1.9, where they agree."""
    _, x, y, known, found = mle_of("full", name)
    theirs = QuadraticDiscriminantAnalysis(solver="eigen", store_covariance=True).fit(x, y)
    assert_allclose(known["pi"], theirs.priors_, rtol=1e-12)
    assert_allclose(known["mu"], theirs.means_, rtol=1e-12)
    assert_allclose(known["Sigma"], theirs.covariance_, rtol=1e-12)
    z = standardised(x)
    close(found, QuadraticDiscriminantAnalysis().fit(z, y).predict_proba(z))


@pytest.mark.parametrize("name", TARGETS)
def test_shared_at_the_mle_is_linear_discriminant_analysis(name):
    """Their covariance is the weighted one within classes: the sum of scatters over N."""
    X, x, y, known, found = mle_of("shared", name)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(x, y)
    assert_allclose(known["pi"], theirs.priors_, rtol=1e-12)
    assert_allclose(known["mu"], theirs.means_, rtol=1e-12)
    assert_allclose(known["Sigma"], theirs.covariance_, rtol=1e-12)
    within = x - pd.DataFrame(x).groupby(y).transform("mean").to_numpy()
    assert_allclose(known["Sigma"], within.T @ within / len(X), rtol=1e-12)
    z = standardised(x)
    close(found, LinearDiscriminantAnalysis(solver="lsqr").fit(z, y).predict_proba(z))


@pytest.mark.parametrize("name", TARGETS)
def test_diagonal_at_the_mle_is_gaussian_naive_bayes(name):
    X, x, y, known, found = mle_of("diagonal", name)
    theirs = GaussianNB(var_smoothing=0).fit(x, y)
    assert_allclose(known["pi"], theirs.class_prior_, rtol=1e-12)
    assert_allclose(known["mu"], theirs.theta_, rtol=1e-12)
    assert_allclose(known["sigma2"], theirs.var_, rtol=1e-12)
    close(found, theirs.predict_proba(x))
    classes = bm.DirichletCategorical([1] * 3, categories=np.unique(y).tolist())
    naive = bm.NaiveBayes(classes, bm.NormalInverseGamma(0, 1, 2, 1))
    assert naive.statistic((X, y)).mle().keys() == known.keys()
    assert_array_equal(naive.class_probabilities(X, known), found)


def test_proportional_at_the_mle():
    X, x, y, known, found = mle_of("proportional", "iris")
    names, counts = np.unique(y, return_counts=True)
    each = [np.cov(x[y == name].T, bias=True) for name in names]
    sigma = sum(n * S / (1 + c) for c, (n, S) in enumerate(zip(counts, each, strict=True))) / len(y)
    assert_allclose(known["Sigma"], sigma, rtol=1e-12)
    model = model_of("proportional", names.tolist(), 4)
    close(model.covariances(known), [sigma, 2 * sigma, 3 * sigma])
    close(found, by_hand(known, [sigma, 2 * sigma, 3 * sigma], X.to_numpy()))


# --- probabilities --------------------------------------------------------------------------------


def by_hand(known, covariances, x):
    """Class probabilities of rows by SciPy's normal densities, one class at a time."""
    logs = [
        np.log(p) + stats.multivariate_normal(mu, S).logpdf(x)
        for p, mu, S in zip(known["pi"], known["mu"], covariances, strict=True)
    ]
    return np.exp(np.array(logs) - logsumexp(logs, axis=0)).T


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("point", ["mean", "mode", "mle"])
def test_plug_ins_are_normal_densities(kind, point):
    X, x, y = loaded("iris")
    model = model_of(kind, np.unique(y).tolist(), 4, prior=2)
    posterior = model.update((X, y))
    known = model.statistic((X, y)).mle() if point == "mle" else getattr(posterior, point)()
    covariances = posterior.covariances(known)
    assert covariances.shape == (3, 4, 4)
    close(posterior.class_probabilities(X, known), by_hand(known, covariances, x))


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_ratios_of_evidences(kind):
    """Three columns and few rows: one class has fewer than columns, another none."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(7, 3)), list("aabbaab")
    model = model_of(kind, ["a", "b", "none"], 3)
    posterior, new = model.update((x, y)), rng.normal(size=(1, 3))
    labels = model.classes.categories
    both = [model.log_evidence((np.vstack([x, new]), [*y, c])) for c in labels]
    joint = np.array(both) - model.log_evidence((x, y))
    close(posterior.log_joint(new)[0], joint)
    close(posterior.class_probabilities(new)[0], np.exp(joint - logsumexp(joint)))
    close(posterior.log_predictive(new)[0], logsumexp(joint))


@pytest.mark.parametrize("kind", KINDS)
def test_a_prior_predicts_its_class_probabilities(kind):
    """A ratio would tell the classes apart; equal priors do not."""
    model = model_of(kind, ["a", "b"], 2)
    found = model.class_probabilities(np.array([[0.5, 1.0]]))
    if kind != "proportional":
        close(found, [[0.5, 0.5]])
    close(found.sum(), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_cell_is_integrated_out_of_predictions(kind):
    X, _, y = loaded("iris")
    posterior = model_of(kind, np.unique(y).tolist(), 4).update((X, y))
    row = X.iloc[[70]].astype(object)
    row.iloc[0, 2] = None
    found = posterior.class_probabilities(row)
    draws = posterior.sample(4_000, np.random.default_rng(2))
    each = posterior.class_probabilities(row, draws)[:, 0]
    error = each.std(0) / np.sqrt(4_000)
    joint = np.exp(posterior.log_joint(row, draws)[:, 0])
    close(found[0], joint.mean(0) / joint.mean(0).sum(), 6 * error.max())


def test_training_rows_must_be_whole():
    X, _, y = loaded("iris")
    X = X.astype(object)
    X.iloc[3, 1] = None
    assert complaint(model_of("full", np.unique(y).tolist(), 4).update, (X, y)) == (
        "features: missing cells cannot be integrated out of the update of a covariance matrix in "
        "closed form. Drop these rows, or use NormalInverseGamma features (a diagonal covariance)."
    )
    diagonal = model_of("diagonal", np.unique(y).tolist(), 4).update((X, y))
    assert diagonal.gaussian.kappa[0].tolist() == [51, 50, 51, 51]


def test_few_rows_have_no_density_at_the_mle_but_one_integrated():
    model = model_of("full", ["a", "b"], 3)
    x, y = np.random.default_rng(3).normal(size=(4, 3)), list("aabb")
    assert np.isfinite(model.update((x, y)).class_probabilities(x)).all()
    assert complaint(model.class_probabilities, x, model.statistic((x, y)).mle()) == (
        "Sigma: must be positive definite for a density; the maximum-likelihood estimate of at "
        "most D rows is not, nor are, to rounding, some draws with hardly more than D - 1 degrees "
        "of freedom. Integrate over the belief instead."
    )


# --- boundary, risk, ranking ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("point", ["mean", "mode"])
def test_the_boundary_has_the_log_odds_of_the_plug_in(kind, point):
    x = np.random.default_rng(4).normal(size=(30, 2)) * [1, 10]
    y = np.repeat(["a", "b"], 15)
    posterior = model_of(kind, ["a", "b"], 2, prior=2).update((x + (y == "b")[:, None], y))
    known = getattr(posterior, point)()
    both = posterior.boundary(known)
    joint = posterior.log_joint(x, known)
    close(both.log_odds(x), joint[:, 1] - joint[:, 0])
    found = posterior.class_probabilities(x, known)
    close(both.log_odds(x), np.log(found[:, 1] / found[:, 0]), 1e-11)
    assert both.linear == (kind == "shared")


@pytest.mark.parametrize("kind", KINDS)
def test_the_risk_is_the_rate_of_errors_on_rows_from_the_model(kind):
    rng = np.random.default_rng(5)
    known = {"pi": [0.3, 0.7], "mu": np.array([[0.0, 0.0], [1.5, 0.5]])}
    if kind == "full":
        known["Sigma"] = np.array([[[1.0, 0.3], [0.3, 1.0]], [[2.0, 0.0], [0.0, 0.5]]])
    elif kind == "diagonal":
        known["sigma2"] = np.array([[1.0, 2.0], [3.0, 0.5]])
    else:
        known["Sigma"] = np.array([[1.0, 0.3], [0.3, 2.0]])
    model = model_of(kind, ["a", "b"], 2)
    covariances = model.covariances(known)
    risk = model.bayes_risk(known, rng=rng)
    n = 20_000
    y = rng.choice(2, n, p=known["pi"])
    noise = np.linalg.cholesky(covariances)[y] @ rng.normal(size=(n, 2, 1))
    found = model.most_probable_class(known["mu"][y] + noise[..., 0], known)
    rate = (found != np.array(["a", "b"])[y]).mean()
    assert abs(rate - risk.value) < 5 * np.sqrt(risk.value * (1 - risk.value) / n)
    assert (risk.standard_error == 0) == (kind == "shared")


@pytest.mark.parametrize("kind", KINDS)
def test_features_are_ranked_one_by_one(kind):
    X, _, y = loaded("iris")
    posterior = model_of(kind, np.unique(y).tolist(), 4).update((X, y))
    known = posterior.mean()
    variances = np.diagonal(posterior.covariances(known), axis1=-2, axis2=-1)
    expected = mutual_information_normal(known["pi"], known["mu"], variances)
    for draws in (3, 50):  # as many draws as classes: their axes used to be mixed up
        found = bm.rank_features(posterior, draws=draws, rng=np.random.default_rng(6))
        assert_allclose(found.loc[X.columns, "mutual_information"], expected)
        assert sorted(found.index[:2]) == ["petal_length", "petal_width"]
        assert (found["lower"] < found["upper"]).all()
    inside = (found["lower"] < found["mutual_information"]) & (
        found["mutual_information"] < found["upper"]
    )
    assert inside.all()


# --- what is refused ------------------------------------------------------------------------------

TWO = bm.DirichletCategorical([1, 1], categories=["a", "b"])
VECTOR = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
NUMBERS = bm.NormalInverseGamma([0, 0], 1, 2, 1)
TIED = "gaussian: df and scale must be the same for all classes, since the covariance is; means and"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((TWO, VECTOR, "round"), "covariance: must be one of ('full', 'shared', 'proportional', "),
        ((TWO, NUMBERS), "gaussian: must be a NormalInverseWishart belief with covariance='full'"),
        ((TWO, VECTOR, "diagonal"), "gaussian: must be a NormalInverseGamma belief with covarianc"),
        ((TWO, VECTOR, "proportional"), "ratio: goes with covariance='proportional', and with it "),
        ((TWO, VECTOR, "shared", 2), "ratio: goes with covariance='proportional', and with it alo"),
        ((TWO, VECTOR, "proportional", -1), "ratio: must be positive; got -1."),
        (([1, 1], VECTOR), "classes: must be one DirichletCategorical belief, whose categories a"),
        ((TWO, bm.NormalInverseWishart([0], 1, [3, 4], [[1]]), "shared"), TIED),
        (
            (bm.DirichletCategorical([1, 1, 1]), VECTOR, "proportional", 2),
            "ratio: must hold one number for each of the 3 classes; got 2.",
        ),
    ],
)
def test_wrong_models(arguments, message):
    found = complaint(bm.GaussianDiscriminant, *arguments, error=bm.PriorError)
    assert found.startswith(message)
