"""The same rows in other dtypes, layouts and containers: the model learns the same."""

import re
from functools import cache, partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

import bayesmodels as bm
from tests.hard.case import Case
from tests.hard.families import COUNTS, FAMILIES, N, documents, readings, words

SAME = 1e-12
SLOW = ("mixture", "discriminant, proportional", "discriminant, shared", "naive Bayes, vectors")


# --- what NumPy can do to an array ----------------------------------------------------------------


def strided(rows):
    wide = np.full((2 * len(rows), *rows.shape[1:]), 77.0)
    wide[::2] = rows
    return wide[::2]


def backwards(rows):
    return rows[::-1].copy()[::-1]


def read_only(rows):
    rows = rows.copy()
    rows.flags.writeable = False
    return rows


def misaligned(rows):
    raw = np.zeros(rows.nbytes + 1, np.uint8)
    view = raw[1:].view(np.float64).reshape(rows.shape)
    view[...] = rows
    return view


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "every second row of an array": strided,
    "an array read backwards": backwards,
    "a read-only array": read_only,
    "a misaligned array": misaligned,
    "a subclass of ndarray": lambda rows: rows.view(type("Mine", (np.ndarray,), {})),
    "a masked array with nothing masked": np.ma.masked_array,
    "big-endian float64": lambda rows: rows.astype(">f8"),
    "big-endian float32": lambda rows: rows.astype(">f4"),
    "big-endian int16": lambda rows: rows.astype(">i2"),
    "long double": lambda rows: rows.astype(np.longdouble),
    "object array of ints": lambda rows: rows.astype(int).astype(object),
    "object array of floats": lambda rows: rows.astype(object),
    "object array of NumPy scalars": lambda rows: as_objects(rows, np.int8),
    "nested lists": lambda rows: rows.tolist(),
    "minus zeros": lambda rows: np.where(rows == 0, -0.0, rows),
}


def as_objects(rows, kind):
    found = np.empty(rows.shape, dtype=object)
    for at in np.ndindex(rows.shape):
        found[at] = kind(rows[at])
    return found


# --- dtypes at their limits: squares and sums do not fit into them --------------------------------

LIMITS = {
    "int8 up to its limits": (np.int8, 1),
    "int16 up to its limits": (np.int16, 258),
    "int32 up to its limits": (np.int32, 16_909_320),
    "int64, sums of squares beyond it": (np.int64, 2**45),
    "float16 up to its limits": (np.float16, 512),
    "float32, squares beyond it": (np.float32, 2.0**100),
    "pandas Int32": ("Int32", 16_909_320),
    "pandas Float32": ("Float32", 2.0**100),
    "Arrow int32 in pandas": ("int32[pyarrow]", 16_909_320),
}
UNSIGNED = {
    "uint8 up to its limits": (np.uint8, 2),
    "uint16 up to its limits": (np.uint16, 516),
    "uint32 up to its limits": (np.uint32, 33_818_640),
    "uint64, squares beyond it": (np.uint64, 2**45),
    "pandas UInt8": ("UInt8", 2),
}


def of_dtype(dtype, rows):
    if isinstance(dtype, str):
        frame = pd.DataFrame if rows.ndim == 2 else pd.Series
        return frame(rows.astype(np.int64) if "nt" in dtype else rows).astype(dtype)
    return rows.astype(dtype)


# --- frames and series ----------------------------------------------------------------------------


def frame(rows, **named):
    if rows.ndim == 1:
        return pd.Series(rows, **named)
    return pd.DataFrame(rows, columns=[f"c{j}" for j in range(rows.shape[1])], **named)


def shuffled_index(rows):
    return frame(rows, index=np.random.default_rng(5).permutation(len(rows)))


def doubled_index(rows):
    return frame(rows, index=np.arange(len(rows)) // 2)


def multi_index(rows):
    pairs = [("a" if i % 2 else "b", i) for i in range(len(rows))]
    return frame(rows, index=pd.MultiIndex.from_tuples(pairs))


def time_index(rows):
    return frame(rows, index=pd.date_range("2026-01-01", periods=len(rows), tz="Asia/Kolkata"))


def with_nothing_at_nan(rows):
    return frame(rows, index=[np.nan] * len(rows))


def with_polars(rows):
    if rows.ndim == 1:
        return pl.Series(rows)
    return pl.DataFrame({f"c{j}": rows[:, j] for j in range(rows.shape[1])})


def with_arrow(rows):
    if rows.ndim == 1:
        return pa.chunked_array([rows[:2], rows[2:2], rows[2:]])
    columns = [pa.chunked_array([column[:1], column[1:1], column[1:]]) for column in rows.T]
    return pa.table({f"c{j}": column for j, column in enumerate(columns)})


def mixed_columns(rows):
    if rows.ndim == 1:
        return pd.Series(rows).astype("Int64")
    kinds = ["Int64", "float32", "int16[pyarrow]"]
    return frame(rows).astype({f"c{j}": kinds[j] for j in range(rows.shape[1])})


FRAMES = {
    "a frame with a shuffled index": shuffled_index,
    "a frame whose index repeats itself": doubled_index,
    "a frame with a MultiIndex": multi_index,
    "a frame with a time index": time_index,
    "a frame with an index of NaN": with_nothing_at_nan,
    "a frame with columns of three dtypes": mixed_columns,
    "pandas Int64": lambda rows: frame(rows).astype("Int64"),
    "pandas Float64": lambda rows: frame(rows).astype("Float64"),
    "pandas object": lambda rows: frame(rows).astype(object),
    "polars": with_polars,
    "Arrow chunks, one of them empty": with_arrow,
}

BOOLEANS = {
    "bool": lambda rows: rows.astype(bool),
    "object array of bools": lambda rows: rows.astype(bool).astype(object),
    "pandas boolean": lambda rows: frame(rows).astype("boolean"),
    "Arrow bool in pandas": lambda rows: frame(rows).astype("bool[pyarrow]"),
    "polars Boolean": lambda rows: with_polars(rows.astype(bool)),
}


def same(hard, family, dress, unit=1, *, positive=False):
    """Return the case of rows in another dress, numbers in multiples of a unit."""
    unit = unit if family.kind == "numbers" else 1
    return Case(
        "containers",
        hard,
        family.name,
        "as of plain float64",
        lambda: family.read(dress(in_units(family, unit, positive=positive))),
        partial(of_plain, family, unit, positive),
        SAME,
        absolute=True,
        slow=family.name.startswith(SLOW),
    )


def in_units(family, unit, *, positive):
    rows = family.rows * unit
    return abs(rows) if positive else rows


@cache
def of_plain(family, unit, positive):
    return family.read(in_units(family, unit, positive=positive))


def dressed():
    for family in FAMILIES:
        for hard, dress in (LAYOUTS | FRAMES).items():
            yield same(hard, family, dress)
        for hard, (dtype, unit) in LIMITS.items():
            yield same(hard, family, partial(of_dtype, dtype), unit)
        for hard, (dtype, unit) in UNSIGNED.items():
            yield same(hard, family, partial(of_dtype, dtype), unit, positive=True)
        if family.kind == "bits":
            for hard, dress in BOOLEANS.items():
                yield same(hard, family, dress)


# --- targets --------------------------------------------------------------------------------------

TARGETS = {
    "a target of int8": lambda y: y.astype(np.int8),
    "a target of uint64": lambda y: y.astype(np.uint64),
    "a target of floats": lambda y: y.astype(float),
    "a target of big-endian ints": lambda y: y.astype(">i4"),
    "a target of bools": lambda y: y.astype(bool),
    "a target in an object array": lambda y: y.astype(object),
    "a target of pandas Int64": lambda y: pd.Series(y, dtype="Int64"),
    "a target of pandas boolean": lambda y: pd.Series(y, dtype="boolean"),
    "a read-only target": read_only,
    "a target that is a category": lambda y: pd.Series(y, dtype="category"),
    "a target in polars": pl.Series,
}


TARGETS_OF_CLASSES = re.compile("bool|category|uint")


def targets():
    for family in FAMILIES:
        for hard, dress in TARGETS.items():
            if not isinstance(family.data(family.rows), tuple):
                continue
            x, y = family.data(family.rows)
            if family.name == "linear regression" and TARGETS_OF_CLASSES.search(hard):
                continue
            yield Case(
                "containers",
                hard,
                family.name,
                "as of plain numbers",
                partial(readings, family.prior, (x, dress(y))),
                partial(readings, family.prior, (x, y)),
                SAME,
                absolute=True,
            )


# --- sparse counts --------------------------------------------------------------------------------


def explicit_zeros(counts):
    table = sparse.csr_array(np.ones(counts.shape))
    table.data[:] = counts.ravel()
    return table


def unsorted(counts):
    table = explicit_zeros(counts)
    table.indices[:] = np.tile(np.arange(counts.shape[1])[::-1], len(counts))
    table.data[:] = counts[:, ::-1].ravel()
    table.has_sorted_indices = False
    return table


def doubled(counts, dtype=np.int64, pieces=2):
    """Every cell in several entries, which add up to it; in int8 their sum may not fit."""
    rows, columns = np.indices(counts.shape)
    share = counts // pieces
    parts = [share] * (pieces - 1) + [counts - share * (pieces - 1)]
    places = [np.tile(axis.ravel(), pieces) for axis in (rows, columns)]
    entries = np.concatenate([part.ravel() for part in parts]).astype(dtype)
    order = np.lexsort((np.arange(len(entries)), places[0]))
    pointers = np.searchsorted(places[0][order], np.arange(len(counts) + 1))
    return sparse.csr_array((entries[order], places[1][order], pointers), shape=counts.shape)


def doubled_coordinates(counts):
    rows, columns = np.indices(counts.shape)
    first = counts // 2
    entries = np.concatenate([first.ravel(), (counts - first).ravel()])
    at = tuple(np.tile(axis.ravel(), 2) for axis in (rows, columns))
    return sparse.coo_array((entries, at), shape=counts.shape)


SPARSE = {
    "sparse with explicit zeros": explicit_zeros,
    "sparse with unsorted entries": unsorted,
    "sparse with duplicate entries": doubled,
    "sparse coordinates given twice": doubled_coordinates,
    "sparse int8 whose duplicates add up beyond it": lambda c: doubled(c + 100, np.int8, 4),
    "sparse uint8 whose rows add up beyond it": lambda c: sparse.csr_array(c.astype(np.uint8)),
    "sparse float32": lambda c: sparse.csr_array(c.astype(np.float32)),
    "sparse bool": lambda c: sparse.csr_array(c > 50),
    "sparse columns": sparse.csc_array,
    "sparse lists of lists": sparse.lil_array,
    "sparse diagonals": sparse.dia_array,
    "a sparse matrix of blocks": lambda c: sparse.bsr_array(sparse.csr_array(c), blocksize=(2, 3)),
    "a sparse matrix, not array": sparse.csr_matrix,
    "sparse with 64-bit indices": lambda c: wide_indices(sparse.csr_array(c)),
    "sparse and read-only": lambda c: frozen(sparse.csr_array(c)),
}


def wide_indices(table):
    table.indices, table.indptr = table.indices.astype(np.int64), table.indptr.astype(np.int64)
    return table


def frozen(table):
    for part in (table.data, table.indices, table.indptr):
        part.flags.writeable = False
    return table


def in_sparse():
    counts = COUNTS.astype(np.int64)
    for family in FAMILIES:
        if family.data not in (words, documents):
            continue
        for hard, dress in SPARSE.items():
            table = dress(counts)
            plain = np.asarray(table.todense(), dtype=float)
            if "int8 whose duplicates" in hard:  # SciPy's own sum does not fit
                plain = counts + 100.0
            yield Case(
                "containers",
                hard,
                family.name,
                "as of plain float64",
                partial(readings, family.prior, family.data(table)),
                partial(readings, family.prior, family.data(plain)),
                SAME,
                absolute=True,
            )


# --- groups and weights ---------------------------------------------------------------------------


def grouped():
    """Weights of one, or zero, and groups in any order change nothing but what they should."""
    for family in FAMILIES:
        if family.name == "Beta–binomial" or family.name.startswith("mixture"):
            continue
        data = family.data(family.rows)
        yield Case(
            "containers",
            "weights of one",
            family.name,
            "as without weights",
            partial(readings_of_update, family.prior, bm.Weighted(data, np.ones(N, np.int8))),
            partial(readings_of_update, family.prior, data),
            SAME,
            absolute=True,
        )
        twice = np.concatenate([family.rows, 0 * family.rows])
        if data is family.rows:
            yield Case(
                "containers",
                "rows of weight zero",
                family.name,
                "as without them",
                partial(
                    readings_of_update,
                    family.prior,
                    bm.Weighted(twice, np.repeat([True, False], N)),
                ),
                partial(readings_of_update, family.prior, data),
                SAME,
                absolute=True,
            )


def readings_of_update(prior, data):
    if isinstance(prior, bm.LogisticRegression):
        law = prior.laplace(data)
        return [law.mean(), law.var()]
    after = prior.update(data)
    return [prior.log_evidence(data), after.mean(), after.var()]


def cases():
    yield from dressed()
    yield from targets()
    yield from in_sparse()
    yield from grouped()
