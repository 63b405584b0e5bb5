"""Names, levels and classes of any characters, and those that repeat themselves."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import bayesmodels as bm
from tests.hard.case import Case, Refusal
from tests.hard.families import BITS, CODES, NUMBERS, TARGET, Y, readings

ODD = {
    "newlines and tabs": ("line\nbreak", "tab\tstop", "carriage\rreturn"),
    "HTML": ("<script>alert(1)</script>", "&amp;", '"><img src=x onerror=alert(1)>'),
    "text from right to left": ("שלום", "\u202eevil\u202c", "مرحبا"),
    "emoji and their joiners": ("👩‍👩‍👧‍👦", "👍🏽", "🇳🇱"),
    "letters and accents of their own": ("é", "e\u0301", "E"),
    "the empty string and blanks": ("", " ", "\u00a0"),
    "braces and percent signs": ("{name}", "%s", "{0!r}"),
    "words that mean missing": ("nan", "NA", "None"),
    "numbers as strings": ("1", "1.0", "01"),
    "NUL at the end": ("a", "a\0", "a\0\0"),
    "formulas": ("=1+1", "+1", "@cmd"),
    "a name of 100,000 letters": ("x" * 100_000, "x" * 99_999, "y"),
}
LABELS = {
    "tuples": ((1, 2), (1, 3), (2, "a")),
    "dates": tuple(pd.date_range("2026-01-01", periods=3)),
    "whole numbers beyond int64": (2**70, -(2**70), 0),
    "floats": (0.1, 0.2, 0.30000000000000004),
    "numbers and strings": (1, "a", 2.5),
    "bools and strings": (True, False, "maybe"),
}


def of_objects(labels):
    found = np.empty(len(labels), dtype=object)
    found[:] = labels
    return found


COLUMN_KINDS = {
    "list": list,
    "object array": of_objects,
    "pandas": lambda labels: pd.Series(of_objects(labels), dtype=object),
    "pandas category": lambda labels: pd.Series(labels, dtype="category"),
    "polars": pl.Series,
    "Arrow dictionary": lambda labels: pa.array(labels).dictionary_encode(),
}


def learnt(prior, data):
    after = prior.update(data)
    return [prior.log_evidence(data), after.mean(), after.var()]


def levels():
    codes = CODES[:, 0].astype(int)
    for hard, names in (ODD | LABELS).items():
        rows = [names[code] for code in codes]
        plain = partial(learnt, bm.DirichletCategorical([1, 0.5, 2]), codes)
        for kind, make in COLUMN_KINDS.items():
            if hard in LABELS and kind in ("polars", "Arrow dictionary", "pandas category"):
                continue
            if hard == "tuples" and kind == "list":
                continue  # which is a table
            yield Case(
                "names",
                f"{hard} as levels, {kind}",
                "Dirichlet–categorical",
                "as of codes",
                lambda names=names, rows=rows, make=make: learnt(
                    bm.DirichletCategorical([1, 0.5, 2], categories=names), make(rows)
                ),
                plain,
            )
        yield Case(
            "names",
            f"{hard} as hypotheses and outcomes",
            "concept learning",
            "as of numbers",
            lambda names=names, rows=rows: concept(names).update(of_objects(rows)).mean()["h"],
            lambda: concept(None).update(codes).mean()["h"],
        )
        yield from classes(hard, names)


def concept(names):
    table = [[0.5, 0.25, 0.25], [0.125, 0.5, 0.375], [0.25, 0.5, 0.25]]
    return bm.ConceptLearning.from_table(table, hypotheses=names, outcomes=names)


def classes(hard, names):
    """Classes, groups and columns of these names."""
    target = of_objects([names[c] for c in TARGET])
    named = bm.DirichletCategorical([1, 2, 1], categories=names)
    plain = bm.DirichletCategorical([1, 2, 1])
    models = {
        "naive Bayes, bits": (bm.BetaBernoulli(1, 2), BITS, bm.NaiveBayes),
        "discriminant, full": (
            bm.NormalInverseWishart([0, 0], 1, 5, [[200, 50], [50, 100]]),
            NUMBERS,
            bm.GaussianDiscriminant,
        ),
    }
    for name, (belief, rows, kind) in models.items():
        yield Case(
            "names",
            f"{hard} as classes",
            name,
            "as of numbers",
            lambda kind=kind, belief=belief, rows=rows: readings(
                kind(named, belief), (rows, target)
            ),
            lambda kind=kind, belief=belief, rows=rows: readings(
                kind(plain, belief), (rows, TARGET)
            ),
        )
    yield Case(
        "names",
        f"{hard} as classes",
        "logistic regression",
        "as of numbers",
        lambda: bm.LogisticRegression([0, 0], 1, classes=names).laplace((BITS, target)).mean(),
        lambda: bm.LogisticRegression([0, 0], 1, classes=[0, 1, 2]).laplace((BITS, TARGET)).mean(),
    )
    yield Case(
        "names",
        f"{hard} as groups",
        "Beta–Bernoulli",
        "as of numbers",
        lambda: learnt(
            bm.BetaBernoulli(1, 1), bm.Grouped(BITS[:, 0], target, groups=list(names[:2]))
        ),
        lambda: learnt(bm.BetaBernoulli(1, 1), bm.Grouped(BITS[:, 0], TARGET, groups=[0, 1])),
    )
    columns = list(names[:2])
    table = pd.DataFrame(NUMBERS, columns=pd.Index(columns, dtype=object, tupleize_cols=False))
    yield Case(
        "names",
        f"{hard} as columns",
        "linear regression",
        "as of numbers",
        lambda: learnt(bm.LinearRegression([0, 0], 1, 3, 1, features=columns), (table, Y)),
        lambda: learnt(bm.LinearRegression([0, 0], 1, 3, 1), (NUMBERS, Y)),
    )
    yield Case(
        "names",
        f"{hard} as columns",
        "naive Bayes, numbers",
        "as of numbers",
        lambda: readings(bm.NaiveBayes(plain, bm.NormalInverseGamma(0, 1, 3, 9)), (table, TARGET)),
        lambda: readings(
            bm.NaiveBayes(plain, bm.NormalInverseGamma(0, 1, 3, 9)), (NUMBERS, TARGET)
        ),
    )
    if hard in ODD:
        yield Case(
            "names",
            f"{hard}, shown in a notebook",
            "Dirichlet–categorical",
            "no markup of theirs",
            lambda: float(any(text in named._repr_html_() for text in ("<script>", "<img"))),
            lambda: 0.0,
        )
        yield Case(
            "names",
            f"{hard}, in an error",
            "Dirichlet–categorical",
            "one line, at most 2,000 characters",
            lambda: of_message(named),
            lambda: [0.0, 1.0],
        )


def of_message(belief):
    try:
        belief.update(["not one\nof them"])
    except bm.DataError as error:
        return [str(error).count("\n"), float(len(str(error)) <= 2000)]
    return [0.0, 0.0]


# --- names that repeat themselves -----------------------------------------------------------------


def twice():
    table = pd.DataFrame(NUMBERS, columns=["a", "a"])
    two = bm.DirichletCategorical([1, 1])
    number = bm.NormalInverseGamma(0, 1, 2, 1)
    vector = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
    asked = {
        "normal–inverse-gamma": (number.update, table, "x"),
        "normal–inverse-Wishart": (vector.update, table, "x"),
        "linear regression": (bm.LinearRegression([0, 0], 1, 2, 1).update, (table, Y), "features"),
        "naive Bayes, numbers": (bm.NaiveBayes(two, number).update, (table, TARGET), "features"),
        "discriminant, full": (
            bm.GaussianDiscriminant(two, vector).update,
            (table, TARGET),
            "features",
        ),
        "logistic regression": (
            bm.LogisticRegression([0, 0], 1).laplace,
            (table, TARGET),
            "features",
        ),
        "Beta–Bernoulli": (
            bm.BetaBernoulli(1, 1).update,
            pd.DataFrame(BITS, columns=["a", "a"]),
            "x",
        ),
        "Dirichlet–multinomial": (
            two.update,
            bm.MultinomialCounts(pd.DataFrame(BITS, columns=["a", "a"])),
            "counts",
        ),
    }
    for model, (ask, data, argument) in asked.items():
        refused = Refusal(bm.DataError, argument)
        yield Case("names", "two columns of one name", model, "update", partial(ask, data), refused)
    half = "\ud800"  # of a pair: no file of Unicode can hold it
    surrogates = {
        "categories": lambda: bm.DirichletCategorical([1, 1], categories=["a", half]),
        "features": lambda: bm.LinearRegression([0, 0], 1, 1, 1, features=["a", half]),
        "hypotheses": lambda: concept(["a", "b", half]),
        "groups": lambda: bm.BetaBernoulli(1, 1).update(bm.Grouped([0], ["a"], groups=[half])),
        "by": lambda: bm.BetaBernoulli(1, 1).update(bm.Grouped([0], [half])),
        "x": lambda: bm.DirichletCategorical([1, 1], categories=["a", "b"]).update([half]),
    }
    for argument, make in surrogates.items():
        hard = "a lone surrogate"
        refused = Refusal(bm.DataError, argument)
        yield Case("names", hard, f"in {argument}", "making it, or update", make, refused)
    makers = {
        "categories": lambda: bm.DirichletCategorical([1, 1], categories=["a", "a"]),
        "categories: ": lambda: bm.DirichletCategorical([1, 1], categories=[1, "1"]),
        "features": lambda: bm.LinearRegression([0, 0], 1, 1, 1, features=["a", "a"]),
        "classes": lambda: bm.LogisticRegression([0, 0], 1, classes=["a", "a"]),
        "hypotheses": lambda: bm.ConceptLearning.from_table([[1.0], [1.0]], hypotheses=["a", "a"]),
    }
    for argument, make in makers.items():
        yield Case(
            "names",
            f"{argument.strip(': ')} that repeat themselves{' as text' if ':' in argument else ''}",
            "making a belief",
            "making it",
            make,
            Refusal(ValueError, argument.strip(": ")),
        )
    yield Case(
        "names",
        "columns in another order",
        "linear regression",
        "update",
        lambda: bm.LinearRegression([0, 0], 1, 1, 1, features=["a", "b"]).update(
            (pd.DataFrame(NUMBERS, columns=["b", "a"]), Y)
        ),
        Refusal(bm.DataError, "features"),
    )


def reserved():
    """Refuse what draws and PyMC models can't be named after."""
    classes, bit = bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1)
    for name in ("a/b", "::", "a:", "/", "NUL\0", "new\nline", "blank "):
        for model in (bm.NaiveBayes, bm.NaiveBayesMixture):
            yield Case(
                "names",
                f"a block named {name!r}",
                model.__name__,
                "making it",
                partial(model, classes, {name: (bit, ["u"]), "other": (bit, ["v"])}),
                Refusal(bm.PriorError, "features: names of blocks"),
            )
    for axis in ("chain", "draw", "sample", "__sample__", "theta", "x", "row", "a/b", "", 1, None):
        yield Case(
            "names",
            f"an axis named {axis!r}",
            "Beta–Bernoulli",
            "making it",
            partial(bm.BetaBernoulli, [1, 1], 1, coords={axis: ["u", "v"]}),
            Refusal(bm.DataError, "coords: names of axes"),
        )
    for equal in ((1, 1.0), (1, True), (False, 0), (np.int64(1), 1.0), (1, 1 + 0j)):
        makers = {
            "categories": partial(bm.DirichletCategorical, [1, 1], equal),
            "features": partial(bm.LinearRegression, [0, 0], 1, 1, 1, features=equal),
            "classes": partial(bm.LogisticRegression, [0, 0], 1, classes=equal),
            "groups": partial(bit.update, bm.Grouped([1, 0], by=list(equal), groups=equal)),
            "coords": partial(bm.BetaBernoulli, [1, 1], 1, coords={"group": equal}),
            "hypotheses": partial(bm.ConceptLearning.from_table, [[1.0], [1.0]], hypotheses=equal),
        }
        for argument, make in makers.items():
            refused = Refusal(ValueError, argument)
            yield Case("names", f"{equal} as {argument}", "", "making it, or update", make, refused)


def cases():
    yield from reserved()
    yield from levels()
    yield from twice()
