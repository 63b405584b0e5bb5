"""Hypothesis strategies, in one place: numbers, and rows in every container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

# --- numbers --------------------------------------------------------------------------------------


def log_uniform(low, high):
    """Positive numbers, every order of magnitude as likely as any other; the ends included."""
    exponents = st.floats(float(np.log10(low)), float(np.log10(high)))
    return exponents.map(lambda e: float(np.clip(10.0**e, low, high)))


def concentrations(low=1e-10, high=1e10, max_size=5):
    """Parameters of Dirichlet laws, from hardly any to overwhelming."""
    return st.lists(log_uniform(low, high), min_size=2, max_size=max_size)


# --- containers -----------------------------------------------------------------------------------

BINARY_CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "list of float": lambda rows: [float(x) for x in rows],
    "list of bool": lambda rows: [bool(x) for x in rows],
    "NumPy": lambda rows: np.array(rows, dtype=np.int64),
    "NumPy bool": lambda rows: np.array(rows, dtype=bool),
    "NumPy int8": lambda rows: np.array(rows, dtype=np.int8),
    "NumPy uint8": lambda rows: np.array(rows, dtype=np.uint8),
    "NumPy float32": lambda rows: np.array(rows, dtype=np.float32),
    "NumPy object": lambda rows: np.array(rows, dtype=object),
    "pandas": lambda rows: pd.Series(rows, dtype="int64"),
    "pandas bool": lambda rows: pd.Series(rows, dtype="bool"),
    "pandas Int8": lambda rows: pd.Series(rows, dtype="Int8"),
    "pandas boolean": lambda rows: pd.Series(rows, dtype="boolean"),
    "pandas Float64": lambda rows: pd.Series(rows, dtype="Float64"),
    "pandas category": lambda rows: pd.Series(rows, dtype=pd.CategoricalDtype([0, 1])),
    "pandas on Arrow": lambda rows: pd.Series(rows, dtype="int64[pyarrow]"),
    "polars": lambda rows: pl.Series(rows, dtype=pl.Int64),
    "polars Boolean": lambda rows: pl.Series([bool(x) for x in rows], dtype=pl.Boolean),
    "polars UInt8": lambda rows: pl.Series(rows, dtype=pl.UInt8),
    "Arrow": lambda rows: pa.array(rows, type=pa.int64()),
    "Arrow bool": lambda rows: pa.array([bool(x) for x in rows], type=pa.bool_()),
    "Arrow chunks": lambda rows: pa.chunked_array([rows[:2], rows[2:]], type=pa.uint8()),
}

LABEL_CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "NumPy": lambda rows: np.array(rows, dtype=str),
    "NumPy object": lambda rows: np.array(rows, dtype=object),
    "pandas": lambda rows: pd.Series(rows, dtype="str"),
    "pandas object": lambda rows: pd.Series(rows, dtype=object),
    "pandas string": lambda rows: pd.Series(rows, dtype="string"),
    "pandas category": lambda rows: pd.Series(rows, dtype="category"),
    "polars": lambda rows: pl.Series(rows, dtype=pl.String),
    "polars Categorical": lambda rows: pl.Series(rows, dtype=pl.Categorical),
    "Arrow": lambda rows: pa.array(rows, type=pa.string()),
    "Arrow dictionary": lambda rows: pa.array(rows, type=pa.string()).dictionary_encode(),
}

FRAME_CONTAINERS = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "Arrow batch": pa.record_batch,
}


# --- rows -----------------------------------------------------------------------------------------


def binary_rows(max_size=30):
    return st.lists(st.integers(0, 1), max_size=max_size)


def labels(levels, max_size=30):
    return st.lists(st.sampled_from(levels), max_size=max_size)
