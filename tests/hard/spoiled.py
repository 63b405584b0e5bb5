"""Rows that no model can take: refused by the package's own error, which names the argument."""

import datetime as dt
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import xarray as xr
from scipy import sparse

import bayesmodels as bm
from tests.hard import exactly
from tests.hard.case import Case, Refusal
from tests.hard.families import FAMILIES, TARGET, with_target


def with_cell(value, kind=float):
    def spoil(rows):
        rows = rows.astype(kind)
        rows[2 if rows.ndim == 1 else (2, 1)] = value
        return rows

    return spoil


def frame(rows):
    if rows.ndim == 1:
        return pd.Series(rows)
    return pd.DataFrame(rows, columns=[f"c{j}" for j in range(rows.shape[1])])


def masked(rows):
    return np.ma.masked_array(rows, np.isnan(with_cell(np.nan)(rows)))


def consumed(rows):
    found = (row for row in rows.tolist())
    for _ in found:
        pass
    return found


def with_na(rows):
    found = frame(rows).astype("Float64")
    found.iloc[(2,) if rows.ndim == 1 else (2, 1)] = pd.NA
    return found


def nulls(rows, series, table):
    cells = with_cell(None, object)(rows)
    if rows.ndim == 1:
        return series(cells.tolist())
    return table({f"c{j}": column.tolist() for j, column in enumerate(cells.T)})


def structs(rows):
    return pl.Series([{"a": cell, "b": cell} for cell in rows.ravel().tolist()])


def union(rows):
    kinds = pa.array([0] * len(rows), pa.int8())
    return pa.UnionArray.from_sparse(kinds, [pa.array(np.ravel(rows)[: len(rows)])])


def int128(rows):
    return pl.DataFrame(rows.astype(int)).cast(pl.Int128)


EVERYWHERE = {
    "a polars series of structs": structs,
    "an Arrow column of structs": lambda rows: structs(rows).to_arrow(),
    "a column of structs in a frame": lambda rows: structs(rows).to_frame("a"),
    "polars arrays": lambda rows: pl.Series([[1, 0]] * len(rows), dtype=pl.Array(pl.Int8, 2)),
    "an Arrow union": union,
    "a table of an Arrow union": lambda rows: pa.table({"a": union(rows)}),
    "polars Int128": int128,
    "an xarray Dataset": lambda rows: xr.Dataset({"a": ("row", rows.ravel())}),
    "an xarray DataTree": lambda rows: xr.DataTree(xr.Dataset({"a": ("row", rows.ravel())})),
    "inf": with_cell(np.inf),
    "-inf": with_cell(-np.inf),
    "-inf in float32": with_cell(-np.inf, np.float32),
    "a string among numbers": with_cell("12", object),
    "a date among numbers": with_cell(dt.date(2026, 1, 1), object),
    "a list among numbers": with_cell([1, 2], object),
    "a complex number": with_cell(1 + 1j, complex),
    "columns of dates": lambda rows: np.zeros(rows.shape, "datetime64[ns]"),
    "columns of time differences": lambda rows: np.zeros(rows.shape, "timedelta64[s]"),
    "columns of strings": lambda rows: rows.astype(int).astype(str),
    "columns of bytes": lambda rows: rows.astype(int).astype("S3"),
    "a structured array": lambda rows: np.zeros(len(rows), [("a", float), ("b", float)]),
    "a frame of dates": lambda rows: frame(rows).apply(pd.to_datetime),
    "a set": lambda rows: set(rows.ravel().tolist()),
    "an iterator": lambda rows: iter(rows.tolist()),
    "a generator already consumed": consumed,
    "None": lambda _: None,
    "a string": lambda _: "rows.csv",
    "rows of unequal lengths": lambda rows: [*rows.tolist()[:-1], [1, 2, 3, 4, 5]],
}
MISSING = {
    "NaN": with_cell(np.nan),
    "NaN in float16": with_cell(np.nan, np.float16),
    "None in an object array": with_cell(None, object),
    "pandas NA": with_na,
    "NaT in an object array": with_cell(pd.NaT, object),
    "a masked cell": masked,
    "null in polars": lambda rows: nulls(rows, pl.Series, pl.DataFrame),
    "null in Arrow": lambda rows: nulls(rows, pa.array, pa.table),
}
FRACTIONS = {"a half": with_cell(0.5), "a number just below 1": with_cell(1 - 1e-16)}
NEGATIVE = {"-1": with_cell(-1), "-1 in int8": with_cell(-1, np.int8)}
BEYOND = {
    "3, beyond the categories": with_cell(3),
    "the largest uint64": with_cell(2**64 - 1, np.uint64),
    "2**53 + 2": with_cell(2**53 + 2, np.int64),
}
TOO_MANY = {"2**60, where float64 has gaps": with_cell(2**60, np.int64), "1e300": with_cell(1e300)}


def refusals():
    for family in FAMILIES:
        spoils = dict(EVERYWHERE)
        if not family.missing:
            spoils |= MISSING
        if family.name != "concept learning":  # a single outcome is a row
            spoils["a single number"] = lambda _: 1.0
        if family.kind in ("bits", "codes", "counts"):
            spoils |= FRACTIONS | NEGATIVE
        if family.kind in ("bits", "codes"):
            spoils |= BEYOND
        if family.kind == "counts":
            spoils |= TOO_MANY
        for hard, spoil in spoils.items():
            yield Case(
                "refused",
                hard,
                family.name,
                "update",
                lambda family=family, spoil=spoil: family.read(spoil(family.rows)),
                Refusal(bm.DataError, family.argument),
            )


# --- classes, targets and weights -----------------------------------------------------------------

WRONG_TARGETS = {
    "a target shorter than the features": TARGET[:-1],
    "a target of two columns": np.column_stack([TARGET, TARGET]),
    "a target with NaN": np.where(TARGET == 1, np.nan, TARGET),
    "a target with inf": np.where(TARGET == 1, np.inf, TARGET),
    "a target of dates": np.zeros(len(TARGET), "datetime64[D]"),
    "a target of strings": np.array(["a", "b"])[TARGET],
    "a target that is a number": 1,
    "a target that is None": None,
    "a target with another index": pd.Series(TARGET, index=np.arange(len(TARGET)) + 1),
}
WRONG_WEIGHTS = {
    "a negative weight": np.where(TARGET == 1, -1.0, 1.0),
    "a weight of NaN": np.where(TARGET == 1, np.nan, 1.0),
    "an infinite weight": np.where(TARGET == 1, np.inf, 1.0),
    "too few weights": np.ones(3),
    "weights of two columns": np.ones((len(TARGET), 2)),
    "weights of strings": np.full(len(TARGET), "1"),
}


def targets():
    for family in FAMILIES:
        data = family.data(family.rows)
        if not isinstance(data, tuple):
            continue
        for hard, target in WRONG_TARGETS.items():
            features = data[0]
            if family.name == "linear regression" and hard == "a target of two columns":
                continue  # two regressions
            if "index" in hard:
                if isinstance(features, bm.MultinomialCounts):
                    continue
                features = frame(features)
            yield Case(
                "refused",
                hard,
                family.name,
                "update",
                partial(update, family.prior, (features, target)),
                Refusal(bm.DataError, "target"),
            )
    for family in FAMILIES:
        if family.name == "Beta–binomial" or family.name.startswith("mixture"):
            continue
        for hard, weights in WRONG_WEIGHTS.items():
            yield Case(
                "refused",
                hard,
                family.name,
                "update",
                lambda family=family, weights=weights: update(
                    family.prior, bm.Weighted(family.data(family.rows), weights)
                ),
                Refusal(bm.DataError, "weights"),
            )


def update(prior, data):
    return prior.laplace(data) if isinstance(prior, bm.LogisticRegression) else prior.update(data)


# --- priors ---------------------------------------------------------------------------------------

BAD = {
    "zero": 0.0,
    "a negative number": -1.0,
    "NaN": np.nan,
    "inf": np.inf,
    "None": None,
    "a string": "1",
    "a date": np.datetime64("2026-01-01"),
    "a complex number": 1j,
}


def priors():
    makers = {
        ("Beta–Bernoulli", "alpha"): lambda bad: bm.BetaBernoulli(bad, 1),
        ("Beta–Bernoulli", "beta"): lambda bad: bm.BetaBernoulli(1, bad),
        ("Dirichlet–categorical", "alpha"): lambda bad: bm.DirichletCategorical([1, bad]),
        ("normal–inverse-gamma", "kappa"): lambda bad: bm.NormalInverseGamma(0, bad, 1, 1),
        ("normal–inverse-gamma", "shape"): lambda bad: bm.NormalInverseGamma(0, 1, bad, 1),
        ("normal–inverse-gamma", "scale"): lambda bad: bm.NormalInverseGamma(0, 1, 1, bad),
        ("normal–inverse-Wishart", "kappa"): lambda bad: bm.NormalInverseWishart(
            [0, 0], bad, 4, np.eye(2)
        ),
        ("normal–inverse-Wishart", "df"): lambda bad: bm.NormalInverseWishart(
            [0, 0], 1, bad, np.eye(2)
        ),
        ("normal–inverse-Wishart", "scale"): lambda bad: bm.NormalInverseWishart(
            [0, 0], 1, 4, [[1, 0], [0, bad]]
        ),
        ("logistic regression", "cov"): lambda bad: bm.LogisticRegression([0, 0], bad),
    }
    for (model, argument), make in makers.items():
        for hard, bad in BAD.items():
            yield Case(
                "refused",
                f"a prior with {hard} as {argument}",
                model,
                "making it",
                partial(make, bad),
                Refusal(bm.PriorError, argument),
            )
    matrices = {
        "a singular matrix": [[1, 1], [1, 1]],
        "a matrix that is not symmetric": [[1, 0.5], [0, 1]],
        "an indefinite matrix": [[1, 2], [2, 1]],
    }
    for hard, matrix in matrices.items():
        yield Case(
            "refused",
            f"a prior with {hard}",
            "normal–inverse-Wishart",
            "making it",
            partial(bm.NormalInverseWishart, [0, 0], 1, 4, matrix),
            Refusal(bm.PriorError, "scale"),
        )
        yield Case(
            "refused",
            f"a prior with {hard}",
            "linear regression",
            "making it",
            partial(bm.LinearRegression, [0, 0], matrix, 1, 1),
            Refusal(bm.PriorError, "precision"),
        )


# --- labels of groups and of parameters -----------------------------------------------------------

NO_LABEL = {
    "NaN": [1.0, np.nan, 1.0],
    "NaT": np.array(["2026-01-01", "NaT", "2026-01-02"], "datetime64[D]"),
    "NaT of time differences": np.array([1, "NaT", 2], "timedelta64[s]"),
    "NaN in polars": pl.Series([1.0, float("nan"), 1.0]),
    "null in polars": pl.Series(["a", None, "a"]),
    "NaN among texts": ["a", float("nan"), "a"],
    "a missing category": pd.Categorical(["a", None, "a"]),
}


def unlike(labels):
    return pd.Series([1.0, 2.0], index=list(labels))


def square(labels):
    return pd.DataFrame(np.eye(2), index=list(labels), columns=list(labels))


def labelled():
    for hard, by in NO_LABEL.items():
        yield Case(
            "refused",
            f"groups whose labels miss one: {hard}",
            "Beta–Bernoulli",
            "update",
            partial(bm.BetaBernoulli(1, 1).update, bm.Grouped([1, 0, 1], by=by)),
            Refusal(bm.DataError, "by: missing"),
        )
    ab, ba = unlike("ab"), unlike("ba")
    priors = {
        ("Beta–Bernoulli", "beta"): partial(bm.BetaBernoulli, ab, ba),
        ("Beta–Bernoulli, coords", "alpha"): partial(
            bm.BetaBernoulli, ba, 1, coords={"group": ["a", "b"]}
        ),
        ("Dirichlet–categorical", "alpha"): partial(bm.DirichletCategorical, ba, ["a", "b"]),
        ("normal–inverse-gamma", "kappa"): partial(bm.NormalInverseGamma, ab, ba, 1, 1),
        ("normal–inverse-Wishart", "scale"): partial(
            bm.NormalInverseWishart, ab, 1, 4, square("ba")
        ),
        ("normal–inverse-Wishart, shared", "scale"): partial(
            bm.SharedNormalInverseWishart,
            pd.DataFrame(np.eye(2), columns=["a", "b"]), 1, 4, square("ba"),
        ),
        ("linear regression", "precision"): partial(
            bm.LinearRegression, ab, square("ba"), 1, 1
        ),
        ("linear regression, features", "mean"): partial(
            bm.LinearRegression, ba, 1, 1, 1, features=["a", "b"]
        ),
        ("logistic regression", "cov"): partial(bm.LogisticRegression, ab, square("ba")),
    }  # fmt: skip
    for (model, argument), make in priors.items():
        yield Case(
            "refused",
            "parameters whose labels are in another order",
            model,
            "making it",
            make,
            Refusal(bm.PriorError, f"{argument}: must have the labels"),
        )
    yield Case(
        "refused",
        "a prior's labels in another order than the groups",
        "Beta–Bernoulli",
        "update",
        partial(bm.BetaBernoulli(ba, 1).update, bm.Grouped([1, 0, 1], by=["a", "a", "b"])),
        Refusal(bm.DataError, "data: axes must have the labels"),
    )
    yield Case(
        "refused",
        "a prior with the labels of the groups",
        "Beta–Bernoulli",
        "update",
        lambda: bm.BetaBernoulli(ab, 1).update(bm.Grouped([1, 0, 1], by=["a", "a", "b"])).alpha,
        lambda: [2.0, 3.0],
    )


# --- missing cells that are integrated out --------------------------------------------------------


def integrated_out():
    """Leave out the factor of a missing cell, whatever it is called, and nothing else."""
    for family in FAMILIES:
        if not family.missing or family.kind != "numbers" or family.data is not with_target:
            continue
        for hard, spoil in MISSING.items():
            yield Case(
                "missing",
                hard,
                family.name,
                "log evidence",
                lambda family=family, spoil=spoil: family.prior.log_evidence(
                    family.data(spoil(family.rows))
                ),
                partial(without_cell, family),
                1e-12,
                absolute=True,
            )


def without_cell(family):
    there = np.ones(family.rows.shape, bool)
    there[2, 1] = False
    prior = (0, 1, 3, 100)
    evidence = exactly.log_rows(np.bincount(TARGET), [1, 2])
    for c in (0, 1):
        for j in (0, 1):
            rows = family.rows[(c == TARGET) & there[:, j], j]
            evidence += exactly.normal(rows, prior)["evidence"]
    return evidence


def unusual():
    """Take what may look wrong and is not."""
    bit = bm.BetaBernoulli(1, 1)
    exact = partial(exactly.log_rows, [2, 2], [1, 1])
    yield Case(
        "refused",
        "Decimal numbers",
        "Beta–Bernoulli",
        "log evidence",
        partial(bit.log_evidence, [Decimal(1), Decimal(0)]),
        Refusal(bm.DataError, "x"),
    )
    for hard, rows in {
        "sparse zeros and ones, made dense": sparse.csr_array([[1, 0, 1, 0]]).toarray()[0],
        "bools among numbers": [True, 0, 1.0, np.int8(0)],
    }.items():
        yield Case(
            "containers",
            hard,
            "Beta–Bernoulli",
            "log evidence",
            partial(bit.log_evidence, rows),
            exact,
            1e-12,
        )


def cases():
    yield from refusals()
    yield from targets()
    yield from priors()
    yield from labelled()
    yield from integrated_out()
    yield from unusual()
