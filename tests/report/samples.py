"""Reports without a sampler: exact draws stand in for its own."""

import dataclasses
from functools import cache, partial

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import statsmodels.api as sm
import xarray as xr
from scipy.sparse import csr_array

import bayesmodels as bm
from bayesmodels.posteriors import posterior, sampling
from bayesmodels.posteriors.ladder import solved
from bayesmodels.referee import EvidenceEstimate, Identity
from bayesmodels.report import Report, approximation, belief_validation
from bayesmodels.report.contents import contents as in_order
from bayesmodels.report.html import set_in_html
from tests.contract import cases

HOSTILE = (
    "<script>document.title='pwned'</script>",
    "<img src=x onerror=alert(1)>",
    "\"quotes' & &amp; ampersands",
    "naïve 🫠 café 漢字",
    "עמודה \N{RIGHT-TO-LEFT OVERRIDE}reversed",
    "$x_1$ 100 % of $y$",
    "long" * 60,
    "{{ 7 * 7 }} two\nlines\x07",
)
MARKUP = (
    "--><script>document.title='pwned'</script><!--",
    "]]></title></style></svg><script>document.title='pwned'</script>",
    "' onload='alert(1)' x=\"",
    "\"><svg onload=alert(1)><iframe srcdoc='<script>alert(1)</script>'>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "javascript:alert(1)",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd",
)
"""What leaves attributes, comments and other places than text; and formulas."""


SETTINGS = {
    "draws a chain": 400,
    "tuning steps a chain": 400,
    "chains": 4,
    "likelihood": "rows",
    "level": 0.01,
    "seed": 1,
}


def report(prior, data, *, wrong=None, settings=None, source="made up", rows=None, **found):
    """Return a report whose draws come from the belief `wrong`, or else from the posterior."""
    given = SETTINGS | (settings or {})
    size = {"draws": given["draws a chain"], "chains": given["chains"]}
    posterior = prior.update(data)
    try:
        log_evidence = float(np.sum(prior.log_evidence(data)))
    except bm.PriorError:
        log_evidence = None
    sampled = bm.exact_draws(prior, data, rng=np.random.default_rng(2), **size)
    if wrong is not None:
        sampled["posterior"] = wrong.to_datatree(rng=np.random.default_rng(3), **size)["posterior"]
    stated = {
        "points": 20,
        "constancy": 0.2,
        "slope": 0.001,
        "evidence": None if log_evidence is None else 0.3,
        "constant": log_evidence or 1.0,
        "log_evidence": log_evidence,
        "bound": 3e-11,
    }
    return Report(
        title=prior.title,
        prior=prior,
        posterior=posterior,
        data=data,
        source=source,
        log_evidence=log_evidence,
        identity=Identity(**(stated | found)),
        comparison=bm.compare(posterior, sampled, level=given["level"], rows=rows),
        exact=bm.exact_draws(prior, data, rng=np.random.default_rng(1), **size),
        sampled=sampled,
        settings=given,
        seconds={"posterior": 0.001, "sampling": 2.5},
        judge=belief_validation.judge,
        contents=partial(in_order, belief_validation),
        versions={"bayesmodels": bm.__version__, "python": "3.13.0"},
    )


def column(table, head, group=""):
    return next(c.cells for c in table.columns if (c.head, c.group) == (head, group))


def excerpt(report):
    """Return what a report says of its data, and the first rows, if there are rows."""
    facts, *rows = belief_validation.data_of(report).parts
    return facts.content, rows[0] if rows else None


def coin():
    frame = bm.datasets.load("coin")
    found = report(bm.BetaBernoulli(1, 1), frame["heads"])
    estimate = EvidenceEstimate(found.log_evidence + 0.01, 0.004, 100.0, 500.0)
    return dataclasses.replace(found, bridge=estimate)


def aspirin():
    table = bm.datasets.load("aspirin")
    counts = bm.BinomialCounts(table["infarctions"], table["participants"])
    return report(bm.BetaBernoulli(1, 1), bm.Grouped(counts, by=table["arm"]))


def party():
    rows = bm.datasets.load("party")["party"]
    levels = list(rows.cat.categories)
    return report(bm.DirichletCategorical([1] * len(levels), levels), rows)


def regression():
    frame = bm.datasets.load("longley")
    data = bm.Design.from_frame(frame, frame.columns[0], intercept=True)
    names = ("intercept", *data.features.columns)
    return report(bm.LinearRegression(0, 1e-3, 2, 10, features=names), data)


def flat():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(30, 2))
    return report(bm.LinearRegression.flat(2), (x, x @ [1, -2] + rng.normal(size=30)))


def normal():
    rows = np.random.default_rng(4).normal(3, 2, (30, 2))
    return report(bm.NormalInverseGamma(0, 1, 2, 2), pd.DataFrame(rows, columns=["a", "b"]))


def vectors():
    case = cases.VECTORS_OF_NUMBERS[0]
    return report(case.prior, case.data)


def statistic():
    return report(bm.BetaBernoulli(2, 2), bm.statistics.BernoulliStatistic(3, 17))


def wide():
    """Count more categories than a table, and far more than the pictures, have room for."""
    rows = np.random.default_rng(6).integers(0, 60, 500)
    return report(bm.DirichletCategorical(np.ones(60)), rows)


def targets():
    """Regress two named targets side by side."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(25, 2))
    y = pd.DataFrame(rng.normal(size=(25, 2)), columns=["left", "right"])
    return report(bm.LinearRegression(np.zeros(2), 1, 2, 2), (x, y))


def hostile():
    """Regress on columns with names that want to be code."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(40, len(HOSTILE))), columns=list(HOSTILE))
    data = bm.Design.from_frame(frame.assign(y=rng.normal(size=40)), "y")
    prior = bm.LinearRegression(0, 1, 2, 2, features=HOSTILE)
    return report(prior, data, source=f"{HOSTILE[0]} and {HOSTILE[1]}")


def hostile_groups():
    """Count categories by groups with such names, which stand within a picture too."""
    rng = np.random.default_rng(9)
    rows, by = rng.choice(list(HOSTILE), 200), rng.choice(list(HOSTILE[:3]), 200)
    return report(
        bm.DirichletCategorical([1] * len(HOSTILE), HOSTILE),
        bm.Grouped(rows, by, groups=HOSTILE[:3]),
    )


def patients():
    """Classify by a bit, a category and two numbers, some of them missing."""
    case = by_name("naive Bayes of mixed features with missing cells")
    data = case.take(range(case.rows))
    return report(case.prior, data, rows=data[0])


def words():
    """Classify documents by their words, in a sparse table that stays sparse."""
    rng = np.random.default_rng(10)
    counts = rng.poisson(0.3, (40, 30))
    names = [f"word {i}" for i in range(30)]
    classes = bm.DirichletCategorical([1, 1], categories=["ham", "spam"])
    prior = bm.NaiveBayes(classes, bm.DirichletCategorical([0.5] * 30, categories=names))
    labels = rng.choice(["ham", "spam"], 40)
    return report(prior, (bm.MultinomialCounts(csr_array(counts)), labels))


def flowers():
    """Classify three kinds of flowers by two numbers."""
    frame = bm.datasets.load("iris")
    features, kinds = frame[list(frame.columns[:2])], frame[frame.columns[-1]]
    classes = bm.DirichletCategorical([1, 1, 1], categories=sorted(set(kinds)))
    prior = bm.NaiveBayes(classes, bm.NormalInverseGamma(4, 0.1, 2, 1))
    return report(prior, (features, kinds), rows=features.iloc[45:55])


def hostile_classes():
    """Classify by columns with such names, into classes with such names."""
    rng = np.random.default_rng(11)
    columns = {name: rng.normal(size=30) for name in HOSTILE[:4]}
    columns |= {name: rng.integers(0, 2, 30) for name in HOSTILE[4:]}
    frame = pd.DataFrame(columns)
    blocks = {
        HOSTILE[5]: (bm.NormalInverseGamma(0, 1, 2, 2), list(HOSTILE[:4])),
        HOSTILE[1]: (bm.BetaBernoulli(1, 1), list(HOSTILE[4:])),
    }
    names = [HOSTILE[0], *HOSTILE[5:]]
    prior = bm.NaiveBayes(bm.DirichletCategorical([1] * 4, categories=names), blocks)
    return report(prior, (frame, rng.choice(names, 30)), rows=frame.iloc[:3])


def by_name(name):
    """Return a case of the contract."""
    return next(case for case in cases.NAIVE_BAYES if case.id == name)


def hypotheses():
    """Learn a concept from hypotheses, about items, that have such names."""
    sets = {name: set(HOSTILE[k:]) for k, name in enumerate(HOSTILE)}
    return report(bm.ConceptLearning(sets, sampling="weak"), [HOSTILE[-1], f"not {HOSTILE[0]}"])


def number_game():
    return report(bm.ConceptLearning.number_game(), [16, 8, 2, 64])


def disagreeing():
    return report(
        bm.BetaBernoulli(1, 1), bm.BinomialCounts(30, 100), wrong=bm.BetaBernoulli(71, 31)
    )


def inconclusive():
    return report(bm.BetaBernoulli(1, 1), [1, 0, 1, 1], settings={"draws a chain": 20})


def fitness():
    rows = bm.datasets.load("fitness")
    prior = bm.NaiveBayesMixture(bm.DirichletCategorical([2, 2]), bm.BetaBernoulli(2, 2))
    return report(prior, rows, rows=rows)


def half_known():
    case = cases.MIXTURES[1]
    return report(case.prior, case.take(range(case.rows)))


def two_sets():
    """Compare draws that differ, with labels that want to be code, whole and constant numbers."""
    rng = np.random.default_rng(12)
    sets = [
        xr.Dataset(
            {
                "mu": (("chain", "draw", "city"), rng.normal(shift, 1, (chains, draws, 4))),
                "k": (("chain", "draw"), rng.poisson(3, (chains, draws))),
                "still": (("chain", "draw"), np.ones((chains, draws))),
            },
            coords={"city": list(HOSTILE[:4])},
            attrs={"inference_library": HOSTILE[1]},
        )
        for shift, chains, draws in ((0.1, 4, 400), (0.0, 3, 300))
    ]
    told = xr.Dataset({"diverging": (("chain", "draw"), rng.random((4, 400)) < 0.01)})
    first = xr.DataTree.from_dict({"posterior": sets[0], "sample_stats": told})
    return bm.validate_draws(first, sets[1], names=(HOSTILE[0], HOSTILE[5]))


def hostile_variables():
    """Compare draws of variables, along axes, with such names, from files with such names."""
    rng = np.random.default_rng(13)
    axis, *names = (name for name in (*MARKUP, *HOSTILE) if "/" not in name)  # as a tree's have
    sets = [
        xr.Dataset(
            {name: (("chain", "draw", axis), rng.normal(size=(2, 200, 2))) for name in names[:6]},
            coords={axis: list(MARKUP[:2])},
        )
        for _ in range(2)
    ]
    return bm.validate_draws(*sets, names=(MARKUP[0], MARKUP[3]))


def hostile_levels():
    """Count categories by groups whose names leave attributes and comments."""
    rng = np.random.default_rng(14)
    rows, by = rng.choice(MARKUP, 200), rng.choice(MARKUP[:2], 200)
    return report(
        bm.DirichletCategorical([1] * len(MARKUP), MARKUP),
        bm.Grouped(rows, by, groups=MARKUP[:2]),
        source=MARKUP[1],
    )


def same_sets():
    """Compare draws of one law, one set of half as many chains."""
    one, other = (
        bm.BetaBernoulli(5, 19).to_datatree(chains=chains, rng=np.random.default_rng(20 + chains))
        for chains in (2, 4)
    )
    return bm.validate_draws(one, other, var_names=["theta"])


def approximated(model, data, *, draws=400, chains=4, shift=0.3):
    """Return a report whose draws are those of the approximation, moved by some sd."""
    near = model.laplace(data)
    tree = near.to_datatree(draws, chains, np.random.default_rng(1))
    moved = tree.posterior["w"] + shift * near.marginals()["w"].std()
    tree["posterior"] = tree["posterior"].to_dataset().assign(w=moved)
    tree["sample_stats"] = (
        tree.posterior["w"].sum(tree.posterior["w"].dims[2:]).to_dataset(name="lp")
    )
    return Report(
        title=model.title,
        prior=model.met(data),
        posterior=near,
        data=data,
        source="made up",
        identity=Identity(20, 0.1, 0.01, 0.1, 0.0, 0.0, 1e-12),
        errors=approximation.errors_of(bm.compare(near, tree).table),
        sampled=tree,
        newton=model.map(data).trace,
        ascent=model.ascend(data, of="posterior", most=200),
        settings=SETTINGS,
        seconds={"sampling": 1.0},
        judge=approximation.judge,
        contents=partial(in_order, approximation),
        versions={"bayesmodels": bm.__version__, "python": "3"},
    )


def courses():
    given = sm.datasets.spector.load_pandas()
    data = bm.Design(given.exog, given.endog.astype(int), intercept=True)
    return approximated(bm.LogisticRegression(np.zeros(4), 25), data)


def coin_in_pymc():
    with pm.Model(name="coin") as model:
        theta = pm.Beta("theta", 2, 2)
        pm.Bernoulli("heads", theta, observed=[1, 0, 1, 1])
    return model


def mixed_in_pymc():
    """Return a model with two kinds of law, a finite variable, and labels that are no markup."""
    with pm.Model(coords={"arm": [HOSTILE[1], "old"]}) as model:
        rate = pm.Gamma("rate", 2, 1, dims="arm")
        pm.Poisson("visits", pm.Data("weeks", [2.0, 3.0], dims="arm") * rate, observed=[3, 9])
        shown = pm.DiscreteUniform("shown", 3, 9, shape=2)
        pm.Poisson("seen", shown, observed=[4, 8])
    return model


def integrated_in_pymc():
    """Return a model without a closed form: two scalars, a block, and a hidden switch."""
    with pm.Model(coords={"arm": [HOSTILE[1], "old"]}) as model:
        shift = pm.StudentT("shift", 4, mu=0, sigma=1)
        spread = pm.LogNormal("spread", 0, 0.5)
        level = pm.Normal("level", shift, spread, dims="arm")
        late = pm.Bernoulli("late", 0.3)
        pm.Normal("size", level + late, 1, observed=[0.7, 2.1], dims="arm")
    return model


@cache
def of_model(build, *, shift=0.0, draws=400):
    """Return a report whose draws are exact ones, moved by so much."""

    def stand_in(model, draws, rng, *, chains, **_):
        tree = sampling.independent_tree(solved(model, rng)[0], draws, chains, rng)
        first = next(iter(tree.posterior.data_vars))
        moved = tree.posterior.to_dataset()
        tree["posterior"] = moved.assign({first: moved[first] * (1 - shift)})
        return tree

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(posterior, "sampled", stand_in)
        return bm.validate(build(), draws=draws, tune=0, rng=3, source="made up")


def mixed():
    return of_model(mixed_in_pymc)


def integrated():
    return of_model(integrated_in_pymc)


SAMPLES = {
    make.__name__: cache(make)
    for make in (
        coin,
        aspirin,
        party,
        regression,
        flat,
        normal,
        vectors,
        statistic,
        wide,
        targets,
        hostile,
        hostile_groups,
        hostile_levels,
        patients,
        words,
        flowers,
        hostile_classes,
        hypotheses,
        number_game,
        fitness,
        half_known,
        disagreeing,
        inconclusive,
    )
}


# Two sets of draws, without a model.
DRAWS = {make.__name__: cache(make) for make in (two_sets, hostile_variables, same_sets)}
KINDS = SAMPLES | DRAWS | {"courses": cache(courses), "mixed": mixed, "integrated": integrated}
"""Every kind of report: also of an approximation, and of a PyMC model."""


@cache
def contents(name):
    """Return what a sample shows, as data; many tests look at the same one."""
    return KINDS[name]().page()


@cache
def page(name):
    """Return the HTML of a sample."""
    return set_in_html(contents(name))
