"""Mixtures of naive Bayes: exact posteriors against sums over all labels, EM, errors."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

import bayesmodels as bm

TWO = bm.DirichletCategorical([1, 2], categories=["a", "b"])
EVEN = bm.DirichletCategorical([1, 1])
BITS = np.array([[1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 1], [1, 0, 1]])
PEOPLE = pd.DataFrame(
    {
        "smoker": [1, 0, None, 1, 0, 1, 0],
        "age": [61.0, 35, 58, None, 30, 47, 52],
        "colour": ["r", "g", "r", "b", None, "g", "g"],
        "ham": [3, 0, 1, 2, 2, 0, 1],
        "spam": [0, 4, 1, 1, 0, 2, 2],
        "visits": [2, 0, None, 7, 1, 9, 3],
        "wait": [0.5, 3.0, 1.2, 0.1, None, 0.3, 4.0],
    }
)
MIXED = {
    "smoker": bm.BetaBernoulli(2, 1),
    "age": bm.NormalInverseGamma(45, 0.1, 2, 100),
    "colour": bm.DirichletCategorical([1, 2, 0.5], ["r", "g", "b"]),
    "words": (bm.DirichletCategorical([1, 1.5]), bm.MultinomialCounts(["ham", "spam"])),
    "visits": bm.GammaPoisson(2, 0.5),
    "wait": bm.GammaExponential(1.5, 2),
}
HALF = ["a", None, None, "b", None, "b", None]


def by_brute_force(classes, features, rows, labels):
    """Add up the evidence of naive Bayes over all ways to fill in the labels."""
    model, levels = bm.NaiveBayes(classes, features), classes.coords["category"]
    ways = [levels if label is None else [label] for label in labels]
    return logsumexp([float(model.log_evidence((rows, list(z)))) for z in product(*ways)])


# --- the exact posterior --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "features", "rows", "labels"),
    [
        pytest.param(EVEN, bm.BetaBernoulli(1, 1), BITS, [None] * 5, id="no label"),
        pytest.param(TWO, MIXED, PEOPLE, HALF, id="half of the labels, mixed features"),
        pytest.param(
            *(TWO, MIXED, PEOPLE, [None] * 7), id="mixed features", marks=pytest.mark.slow
        ),
        pytest.param(
            bm.DirichletCategorical([1, 1, 0.5]),
            bm.DirichletCategorical([1, 1, 2]),
            np.array([[0, 2], [1, 1], [0, 2], [2, 2]]),
            [None, 2, None, 0],
            id="three classes of categories",
        ),
    ],
)
def test_evidence_is_the_sum_over_all_labels(classes, features, rows, labels):
    model = bm.NaiveBayesMixture(classes, features)
    wanted = by_brute_force(classes, features, rows, labels)
    assert float(model.log_evidence((rows, labels))) == pytest.approx(wanted, abs=1e-10)
    if all(label is None for label in labels):
        assert float(model.log_evidence(rows)) == pytest.approx(wanted, abs=1e-10)


def test_simulated_rows_have_gaps_and_unknown_labels_where_the_design_has():
    model = bm.NaiveBayesMixture(TWO, MIXED)
    new = model.simulated((PEOPLE, HALF), model.sample(1, 3), 4).statistic
    np.testing.assert_array_equal(new.labels == -1, [label is None for label in HALF])
    for name in PEOPLE.columns.drop(["ham", "spam"]):
        values = np.asarray(new.rows[name], dtype=float)
        missing = values == -1 if name == "colour" else np.isnan(values)
        np.testing.assert_array_equal(missing, PEOPLE[name].isna(), err_msg=name)


def test_known_labels_make_it_naive_bayes():
    labels = ["a", "b", "a", "b", "a", "b", "b"]
    mixture = bm.NaiveBayesMixture(TWO, MIXED).update((PEOPLE, labels))
    plain = bm.NaiveBayes(TWO, MIXED).update((PEOPLE, labels))
    assert len(mixture.terms) == 1
    one, other = mixture.summary(), plain.summary()
    np.testing.assert_allclose(one, other.loc[one.index], rtol=1e-10)
    np.testing.assert_allclose(
        mixture.responsibilities(PEOPLE), plain.class_probabilities(PEOPLE), rtol=1e-10
    )


def test_rows_of_equal_counts_are_one_term():
    many = np.repeat(BITS, 4, axis=0)
    posterior = bm.NaiveBayesMixture(EVEN, bm.BetaBernoulli(1, 1)).update(many)
    assert len(posterior.terms) < 9**4  # 20 rows have 2^20 labellings
    assert float(np.exp(posterior.log_weights).sum()) == pytest.approx(1)


def test_an_equal_prior_leaves_the_classes_alike_and_labels_do_not():
    model = bm.NaiveBayesMixture(EVEN, bm.BetaBernoulli(1, 1))
    assert model.update(BITS).exchangeable
    assert not model.update((BITS, [0, None, 1, None, None])).exchangeable
    np.testing.assert_allclose(model.update(BITS).mean()["pi"], 0.5)


def test_the_number_of_classes_by_evidence():
    rng = np.random.default_rng(5)
    z = np.repeat([0, 1], 7)
    bits = (rng.random((14, 6)) < np.where(z, 0.95, 0.05)[:, None]).astype(int)
    one = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    two = bm.NaiveBayesMixture(EVEN, bm.BetaBernoulli(1, 1))
    alone = float(one.log_evidence((bits, np.zeros(14, int)))) - float(
        one.classes.log_evidence(np.zeros(14, int))
    )
    assert float(two.log_evidence(bits)) > alone + 5


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.lists(st.sampled_from([0, 1, None]), min_size=2, max_size=2), max_size=5))
def test_any_bits_with_gaps(rows):
    table = pd.DataFrame(rows, columns=["x", "y"], dtype=object)
    features = {name: bm.BetaBernoulli(1, 2) for name in table}
    model = bm.NaiveBayesMixture(TWO, features)
    wanted = by_brute_force(TWO, features, table, [None] * len(rows)) if rows else 0.0
    assert float(model.log_evidence(table)) == pytest.approx(wanted, abs=1e-10)


# --- EM -------------------------------------------------------------------------------------------


def two_kinds(rng, n=400):
    z = rng.choice(2, size=n, p=[0.6, 0.4])
    return z, pd.DataFrame(
        {
            "a": (rng.random(n) < np.array([0.2, 0.8])[z]).astype(float),
            "b": (rng.random(n) < np.array([0.3, 0.9])[z]).astype(float),
            "x": rng.normal(np.array([0.0, 3.0])[z], np.array([1.0, 2.0])[z]),
            "n": rng.poisson(np.array([2.0, 5.0])[z]).astype(float),
            "t": rng.exponential(np.array([4.0, 1.0])[z]),
        }
    )


KINDS = bm.NaiveBayesMixture(
    EVEN,
    {
        "bits": (bm.BetaBernoulli(2, 2), ["a", "b"]),
        "x": bm.NormalInverseGamma(0, 0.1, 2, 2),
        "n": bm.GammaPoisson(2, 1),
        "t": bm.GammaExponential(2, 1),
    },
)


@pytest.mark.parametrize("estimate", ["mle", "map"])
def test_em_ends_where_no_direction_goes_up(estimate):
    _, rows = two_kinds(np.random.default_rng(1))
    rows.loc[3, "a"] = rows.loc[4, "n"] = rows.loc[5, "t"] = None
    found = KINDS.em(rows, estimate=estimate, starts=5, tolerance=1e-14, rng=1)
    assert (np.diff(found.trace) >= -1e-9 * np.abs(found.trace[1:])).all()
    best = found.parameters

    def objective(parameters):
        value = KINDS.log_likelihood(parameters, rows)["rows"].sum()
        if estimate == "map":
            value += KINDS.update(rows.iloc[:0]).log_density(parameters)
        return float(value)

    assert objective(best) == pytest.approx(found.objective, rel=1e-12)
    rng = np.random.default_rng(2)
    for _ in range(20):
        moved = {name: x * np.exp(1e-3 * rng.normal(size=x.shape)) for name, x in best.items()}
        moved["pi"] = moved["pi"] / moved["pi"].sum()
        assert objective(moved) <= found.objective


def test_em_on_known_labels_is_counting():
    z, rows = two_kinds(np.random.default_rng(2))
    found = KINDS.em((rows, z), starts=2, rng=1)
    plain = bm.NaiveBayes(EVEN, {name: (b.belief, b.columns) for name, b in KINDS.blocks.items()})
    for name, value in plain.statistic((rows, z)).mle().items():
        np.testing.assert_allclose(found.parameters[name], value, rtol=1e-12)
    assert found.entropy == pytest.approx(0)


def test_patterns_and_weights_are_rows():
    _, rows = two_kinds(np.random.default_rng(4))
    bits = rows[["a", "b"]]
    model = bm.NaiveBayesMixture(EVEN, bm.BetaBernoulli(1, 1))
    patterns = model.statistic(bits)
    assert len(patterns.labels) == 4
    assert patterns.number_of_rows == 400
    weighted = bits.drop_duplicates()
    counts = bits.value_counts().loc[[tuple(row) for row in weighted.to_numpy()]].to_numpy()
    one = model.em(bits, starts=3, rng=1).log_likelihood
    other = model.em(bm.Weighted(weighted, counts), starts=3, rng=1).log_likelihood
    assert one == pytest.approx(other, rel=1e-12)
    assert model.statistic(bits.iloc[:150]) + model.statistic(bits.iloc[150:]) == patterns


def test_too_many_classes_are_named():
    bits = np.repeat([[1, 1, 0], [0, 0, 1]], 30, axis=0)
    three = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1, 1]), bm.BetaBernoulli(1, 1))
    said = " ".join(three.em(bits, starts=5, rng=1).findings)
    assert "fewer" in said
    assert "border" in said


@pytest.mark.slow
def test_a_class_of_one_number_has_no_bound():
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.normal(0, 1, 15), rng.normal(6, 1, 15), [2.0, 2.0]])
    model = bm.NaiveBayesMixture(
        bm.DirichletCategorical(np.ones(4)), bm.NormalInverseGamma(0, 1, 2, 1)
    )
    found = model.em(rows, starts=40, rng=1)
    assert any("no spread" in said for said in found.findings)
    equal = bm.NaiveBayesMixture(EVEN, bm.NormalInverseGamma(0, 1, 2, 1))
    with pytest.raises(bm.DataError, match="has no bound"):
        equal.em(np.zeros(4), starts=3, rng=1)
    assert np.isfinite(equal.em(np.zeros(4), estimate="map", starts=3, rng=1).objective)


def test_new_rows_of_rates_have_the_rates_of_their_classes():
    features = {"n": (bm.GammaPoisson(2, 1), "n"), "t": (bm.GammaExponential(2, 1), "t")}
    model = bm.NaiveBayesMixture(EVEN, features)
    rows = pd.DataFrame({"n": np.ones(20_000), "t": np.ones(20_000)})
    known = {"pi": np.array([0.5, 0.5]), "lam_n": np.array([2.0, 9]), "lam_t": np.array([4, 0.5])}
    z = np.repeat([0, 1], 10_000)
    new = model.replicate(known, (rows, z), rng=1)
    for c in (0, 1):
        n, t = new["x_n"][z == c], new["x_t"][z == c]
        assert abs(n.mean() - known["lam_n"][c]) < 4 * np.sqrt(known["lam_n"][c] / len(n))
        assert abs(n.var() / n.mean() - 1) < 4 * np.sqrt(2.2 / len(n))
        assert abs(t.mean() * known["lam_t"][c] - 1) < 4 / np.sqrt(len(t))


def test_a_rate_of_0_is_on_the_border():
    calls = np.array([0.0] * 30 + [40.0] * 30)
    found = bm.NaiveBayesMixture(EVEN, bm.GammaPoisson(1, 1)).em(calls, starts=3, rng=1)
    assert sorted(found.parameters["lam"]) == pytest.approx([0, 40], abs=1e-12)
    (said,) = found.findings
    assert said.startswith("On the border of what is possible: lam[")
    with pytest.raises(bm.PriorError, match="lam: MAP needs pseudo-counts of at least 1"):
        bm.NaiveBayesMixture(EVEN, bm.GammaPoisson(0.5, 1)).em(calls, estimate="map")


def test_information_criteria():
    _, rows = two_kinds(np.random.default_rng(6))
    found = KINDS.em(rows, starts=3, rng=1)
    assert found.free_parameters == 1 + 2 * 2 + 2 * 2 + 2 + 2
    assert found.aic == pytest.approx(26 - 2 * found.log_likelihood)
    assert found.bic == pytest.approx(13 * np.log(400) - 2 * found.log_likelihood)
    assert 0 < found.relative_entropy < 1
    r = found.responsibilities(rows)
    wanted = -(r * np.log(r)).sum()
    assert found.entropy == pytest.approx(wanted, rel=1e-9)


def test_a_far_offset_costs_no_digits():
    z, rows = two_kinds(np.random.default_rng(7))
    model = bm.NaiveBayesMixture(EVEN, bm.NormalInverseGamma(0, 0.1, 2, 2))
    near = np.round(rows["x"].to_numpy() * 1024) / 1024
    labels = [int(k) if i % 2 else None for i, k in enumerate(z)]
    one, other = (
        model.em((x, labels), starts=1, tolerance=1e-15, rng=1) for x in (near, near + 2.0**27)
    )
    # Not all digits: the means themselves are rounded, to 1.5e-8.
    np.testing.assert_allclose(one.parameters["sigma2"], other.parameters["sigma2"], rtol=1e-8)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-9)


# --- errors ---------------------------------------------------------------------------------------


def test_errors_say_what_to_do():
    model = bm.NaiveBayesMixture(EVEN, bm.BetaBernoulli(0.5, 1), budget=100)
    with pytest.raises(bm.DataError, match="the budget is 100"):
        model.update(np.random.default_rng(1).integers(0, 2, (30, 4)))
    many = bm.Weighted(BITS, [1e9, 1, 1, 1, 1])  # refused before they are written down
    with pytest.raises(bm.DataError, match="the budget is 100"):
        model.update(many)
    with pytest.raises(bm.DataError, match="whole numbers of rows"):
        model.update(bm.Weighted(BITS, [0.5, 1, 1, 1, 1]))
    with pytest.raises(bm.PriorError, match="pseudo-counts of at least 1"):
        model.em(BITS, estimate="map")
    with pytest.raises(bm.DataError, match="'mle' or 'map'"):
        model.em(BITS, estimate="ml")
    with pytest.raises(bm.DataError, match="at least one row"):
        model.em(BITS[:0])
    with pytest.raises(bm.PriorError, match="not an exact posterior"):
        model.update(BITS[:2]).em(BITS)
    with pytest.raises(bm.PriorError, match="cannot be declared as a prior"):
        model.update(BITS[:2]).declare(BITS)
    with pytest.raises(bm.ModeError, match="estimate='map'"):
        model.update(BITS[:2]).mode()
    with pytest.raises(bm.DataError, match=r"2 .*categories|must hold only"):
        model.update((BITS, [2, None, None, None, None]))
    with pytest.raises(bm.DataError, match="as many rows as features; got 2 and 5"):
        model.update((BITS, [0, None]))
    vectors = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
    with pytest.raises(bm.PriorError, match="a mixture takes"):
        bm.NaiveBayesMixture(EVEN, vectors).update(np.zeros((3, 2)))


# --- sampling -------------------------------------------------------------------------------------


def test_wrong_draws_of_a_mixture_disagree():
    rng = np.random.default_rng(2)
    model = bm.NaiveBayesMixture(EVEN, bm.BetaBernoulli(1, 1))
    wrong = bm.NaiveBayesMixture(EVEN, bm.BetaBernoulli(2, 2)).update(BITS).to_datatree(rng=rng)
    assert bm.compare(model.update(BITS), wrong, rows=BITS, rng=rng).outcome == "disagree"


@pytest.mark.slow
def test_permuted_labels_are_found_and_put_right():
    """Four chains of right draws, each with its own order of the classes."""
    rng = np.random.default_rng(3)
    bits = (rng.random((60, 5)) < np.repeat([0.9, 0.1], [35, 25])[:, None]).astype(int)
    model = bm.NaiveBayesMixture(bm.DirichletCategorical([2, 2]), bm.BetaBernoulli(1, 1))
    tree = bm.mcmc_draws(model, bits, rng=rng)
    straight = bm.relabel(model, tree, bits).draws.posterior
    order = np.array([[0, 1], [1, 0], [0, 1], [1, 0]])
    permuted = {
        "pi": np.stack([straight.pi.to_numpy()[c][:, o] for c, o in enumerate(order)]),
        "theta": np.stack([straight.theta.to_numpy()[c][:, o] for c, o in enumerate(order)]),
    }
    found = bm.relabel(model, permuted, bits)
    assert found.table["r_hat_before"].max() > 1.1
    assert found.table["r_hat_after"].max() < 1.01
    assert found.invariants["r_hat"].max() < 1.01
    assert "different orders" in found.sentences()[0]
    assert "sampler has mixed" in found.sentences()[0]


def test_classes_that_change_places_in_every_chain_are_not_said_to_keep_one_order():
    model = bm.NaiveBayesMixture(bm.DirichletCategorical([2, 2]), bm.BetaBernoulli(1, 1))
    bits = [[1, 1, 1]] * 6 + [[0, 0, 0]] * 5
    tree = model.update(bits).to_datatree(rng=np.random.default_rng(1))  # either order alike
    found = bm.relabel(model, tree, bits)
    assert found.table["r_hat_before"].max() < 1.01
    assert found.sentences()[0].startswith("Classes change places within every chain")
    straight = bm.relabel(model, found.draws, bits)
    assert straight.sentences()[0].startswith("The chains hold the classes in one order")


def test_known_classes_keep_their_places():
    rng = np.random.default_rng(4)
    bits = [[1, 1, 1]] * 5 + [[0, 0, 0]] * 15
    labels = [0, 0, *[None] * 16, 1, 1]
    model = bm.NaiveBayesMixture(bm.DirichletCategorical([2, 2]), bm.BetaBernoulli(1, 1))
    tree = model.update((bits, labels)).to_datatree(rng=rng)
    found = bm.relabel(model, tree, (bits, labels))
    assert found.draws.posterior["pi"].mean(("chain", "draw")).to_numpy()[0] < 0.4
    assert found.draws.posterior["theta"].mean(("chain", "draw")).to_numpy()[0].mean() > 0.6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "data"),
    [
        pytest.param(
            bm.NaiveBayesMixture(bm.DirichletCategorical([2, 2]), bm.BetaBernoulli(1, 1)),
            np.repeat(BITS, 2, axis=0),
            id="no label",
        ),
        pytest.param(
            bm.NaiveBayesMixture(TWO, bm.BetaBernoulli(1, 2)),
            (BITS, ["a", None, "b", None, None]),
            id="half of the labels",
        ),
        pytest.param(bm.NaiveBayesMixture(EVEN, MIXED), PEOPLE, id="mixed features"),
    ],
)
def test_pymc_agrees_with_the_exact_posterior(model, data):
    report = bm.validate(model, data, draws=2000, rng=5)
    assert report.identity.holds
    assert report.outcome == "agree", report.sentences()


def test_counts_of_words_for_bits_are_refused_by_name():
    """Found by fuzzing: it was an IndexError."""
    prior = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 2))
    with pytest.raises(bm.DataError, match="got MultinomialCounts"):
        prior.log_evidence(bm.MultinomialCounts([[1, 0], [0, 1]]))
