"""Bambi's models are taken as they are, and `Intercept` is the one that the formula means."""

import bambi
import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.belief.bambi_model import of_formula
from tests.posteriors.formulas import FORMULAS, table

pytestmark = [
    pytest.mark.usefixtures("slow_clock"),
    # What Bambi and PyMC say of their own parts is not of interest here.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
]


def predictor_at_zero(model, values):
    """Return what Bambi's predictor is where all columns are zero: by its own `predict`."""
    data = model.data.head(1).assign(x=0.0, z=0.0, arm="new")
    draws = {name: np.asarray(x)[None, None] for name, x in values.items()}
    import arviz as az

    tree = az.from_dict({"posterior": draws})
    return float(model.predict(tree, data=data, inplace=False).posterior["mu"].squeeze())


def test_the_intercept_is_where_the_columns_are_zero():
    rows = table()
    model = bambi.Model("y ~ x + I(x**2) + arm", rows)
    taken = of_formula(model)
    slopes = {"x": 0.7, "I(x ** 2)": -0.3, "arm": np.array([1.5])}
    values = {taken[name]: x for name, x in slopes.items()} | {taken["Intercept_centered"]: 2.0}
    intercept = taken["Intercept"].eval(values)
    design = np.column_stack([rows.x, rows.x**2, rows.arm == "old"])
    assert intercept == pytest.approx(2.0 - design.mean(0) @ [0.7, -0.3, 1.5], rel=1e-12)
    at = {"x": 0.7, "I(x ** 2)": -0.3, "arm": np.array([1.5]), "Intercept": intercept}
    assert predictor_at_zero(model, at | {"sigma": 1.0}) == pytest.approx(intercept)


def test_several_classes_have_an_intercept_each():
    rows = table()
    taken = of_formula(bambi.Model("kind ~ x + z", rows, family="categorical"))
    x, z, centred = np.array([1.0, -2.0]), np.array([0.5, 0.0]), np.array([0.3, 0.1])
    values = {taken["x"]: x, taken["z"]: z, taken["Intercept_centered"]: centred}
    expected = centred - rows.x.mean() * x - rows.z.mean() * z
    assert taken["Intercept"].eval(values) == pytest.approx(expected)
    assert taken.named_vars_to_dims["Intercept"] == taken.named_vars_to_dims["Intercept_centered"]


def test_without_columns_or_centring_the_intercept_stays():
    rows = table()
    for text, more in (("y ~ 1 + (1|g)", {}), ("y ~ x", {"center_predictors": False})):
        taken = of_formula(bambi.Model(text, rows, **more))
        assert "Intercept" in [rv.name for rv in taken.free_RVs]


def test_the_users_model_stays_as_it_was():
    model = bambi.Model("y ~ x", table())
    model.build()
    names = sorted(model.backend.model.named_vars)
    assert "Intercept_centered" in of_formula(model).named_vars
    assert sorted(model.backend.model.named_vars) == names
    assert of_formula(3.0) == 3.0


def test_a_line_is_the_one_of_least_squares():
    rows = table()
    model = bambi.Model("y ~ x", rows)
    posterior = bm.integrate(model, rng=1)
    summary = posterior.summary()
    slope, intercept = np.polyfit(rows.x, rows.y, 1)
    for name, wanted in (("x", slope), ("Intercept", intercept)):  # priors are weak
        assert abs(summary["mean"][name] - wanted) < 0.1 * summary["sd"][name]
    with pytest.raises(bm.NotConjugate, match="sigma"):
        bm.exact(model, rng=1)


KINDS = {  # of terms, and of what the formula's parameters are
    "slopes of groups",
    "crossed groups",
    "a spread of groups",
    "kinds",
    "grades",
    "a process in a basis",
    "trials",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "formula", [pytest.param(one, id=one.name) for one in FORMULAS if one.name in KINDS]
)
def test_the_density_is_bambis(formula):
    text = bambi.Formula(formula.text, *formula.further) if formula.further else formula.text
    model = bambi.Model(text, table(), family=formula.family, **formula.more)
    taken = of_formula(model)
    logs = [
        one.compile_logp(mode="FAST_COMPILE")(one.initial_point())
        for one in (taken, model.backend.model)
    ]
    assert logs[0] == pytest.approx(logs[1], rel=1e-12)
    centred = {rv.name for rv in taken.free_RVs if rv.name.endswith("_centered")}
    known = {v.name for v in taken.deterministics}
    assert {name.removesuffix("_centered") for name in centred} <= known


@pytest.mark.slow
def test_every_verb_takes_a_formula():
    rows = table()
    model, other = (bambi.Model(text, rows) for text in ("y ~ x", "y ~ 1"))
    tree = bm.sample(model, 500, rng=1)
    assert tree.attrs["sampler"] == "integrated"
    assert bm.compare(model, tree, rng=1).outcome == "agree"
    assert bm.validate(model, rng=1).outcome == "agree"
    table_of = bm.compare_evidence({"line": model, "level": other}, rng=1)
    assert "line" in str(table_of)
    assert bm.same(model, model, rng=1).outcome == "agree"
