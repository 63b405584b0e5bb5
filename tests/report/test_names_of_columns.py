"""Columns may be called as parts of containers are, or variables, axes and blocks of models."""

import numpy as np
import pandas as pd
import pytest

from bayesmodels.command import catalog, preparation
from bayesmodels.draws import exact_draws
from bayesmodels.report.belief_validation import _rows_to_compare
from bayesmodels.report.excerpt import excerpt

NAMES = [
    "name",
    "index",
    "values",
    "T",
    "count",
    "dtype",
    "size",
    "shape",
    "columns",
    "chain",
    "draw",
    "theta",
    "pi",
    "y",
    "mu",
    "w",
    "lam",
    "sigma2",
    "Sigma",
    "h",
    "class",
    "feature",
    "category",
    "x",
    "z",
    "row",
    "group",
    "bits",
    "numbers",
    "words",
    "rows",
    "data",
    "coords",
    "dims",
    "target",
    "features",
    "posterior",
    "0",
    "None",
]
RNG = np.random.default_rng(3)
N = 18
FRAME = pd.DataFrame(
    {
        "number": RNG.normal(size=N).round(3),
        "other": RNG.normal(size=N).round(3),
        "label": np.array(["a", "b", "c"])[np.arange(N) % 3],
        "bit": RNG.random(N) < 0.5,
        "count": RNG.integers(1, 9, N),
        "one": np.arange(N) // 3 % 2,
        "group": np.array(["g", "k"])[np.arange(N) % 2],
    }
)
MODELS = {  # columns, the last one the target, and options that name columns
    "beta-bernoulli": (["group", "one"], {"by": "group"}),
    "dirichlet-categorical": (["group", "label"], {"by": "group"}),
    "concept-learning": (["count"], {}),
    "linear-regression": (["number", "label", "other"], {}),
    "logistic-regression": (["number", "label", "group"], {}),
    "normal-inverse-gamma": (["group", "number"], {"by": "group"}),
    "normal-inverse-wishart": (["group", "number", "other"], {"by": "group"}),
    "naive-bayes": (["number", "other", "label", "bit", "group"], {}),
    "naive-bayes-mixture": (["number", "label", "bit"], {}),
    "discriminant-full": (["number", "other", "group"], {}),
    "discriminant-shared": (["number", "other", "group"], {}),
    "gamma-poisson": (["group", "one", "count"], {"by": "group", "exposure": "count"}),
    "gamma-exponential": (["group", "one", "count"], {"by": "group", "observed": "one"}),
}
SLOW = (
    "discriminant-full",
    "discriminant-shared",
    "naive-bayes",
    "naive-bayes-mixture",
    "normal-inverse-wishart",
)


def found(model, names, *, declared):
    """Return numbers and headings of all that a report makes without a sampler."""
    columns, options = MODELS[model]
    called = dict(zip(columns, names, strict=True))
    frame = FRAME[columns].rename(columns=called)
    frame = frame[:6] if model == "naive-bayes-mixture" else frame
    asked = {key: called[column] for key, column in options.items()}
    if "by" in asked:
        asked["by"] = [asked["by"]]
    frame, chosen, _ = preparation.prepared(model, frame, **asked)
    belief, data = catalog.from_frame(model, frame, chosen, {})
    if model == "logistic-regression":
        after = belief.laplace(data)
        return after.summary().to_numpy(dtype=float), 0.0, after.summary().index, []
    after = belief.update(data)
    heads = [column.head for column in excerpt(data, after, {}, "rows")[1].columns]
    if declared:
        exact_draws(belief, data, draws=2, chains=2, rng=1)
        _rows_to_compare(after, data)
        belief.declare(data, "rows")
    evidence = float(np.sum(belief.log_evidence(data)))
    return after.summary().to_numpy(dtype=float), evidence, after.summary().index, heads


@pytest.mark.parametrize(
    "model",  # those with covariances take seconds
    [pytest.param(m, marks=pytest.mark.slow if m in SLOW else ()) for m in MODELS],
)
def test_no_name_of_a_column_changes_a_number_or_is_lost(model):
    columns, _ = MODELS[model]
    width = len(columns)
    numbers, evidence, *_ = found(model, [f"plain {i}" for i in range(width)], declared=False)
    starts = [*range(0, len(NAMES), width)]
    if model.startswith("naive-bayes"):  # columns of each kind, whose blocks have names
        starts += [
            (NAMES.index(name) - columns.index("label")) for name in ("name", "numbers", "bits")
        ]
    for at in starts:
        names = [NAMES[(at + i) % len(NAMES)] for i in range(width)]
        same, again, labels, heads = found(model, names, declared=at == 0)
        np.testing.assert_allclose(same, numbers, rtol=1e-9, atol=1e-12, err_msg=str(names))
        assert again == pytest.approx(evidence, rel=1e-12), names
        if model.startswith("naive-bayes"):
            told = [*heads, *labels]
            features = names if model.endswith("mixture") else names[:-1]
            assert all(any(name in head for head in told) for name in features), names
