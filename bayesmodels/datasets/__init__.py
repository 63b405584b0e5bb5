"""Small real data sets, shipped with the package; SOURCES.md beside them tells of every column.

>>> from bayesmodels import datasets
>>> datasets.names()
('aspirin', 'coin', 'diabetes', 'fitness', 'iris', 'leukemia', 'longley', 'number_game',
 'party', 'wine')
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from bayesmodels.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_ABOUT = {
    "aspirin": (
        "Heart attacks among 22,071 physicians given aspirin or placebo; Physicians' Health Study, "
        "preliminary report, NEJM 318 (1988) 262-264; facts of a published table."
    ),
    "coin": "100 tosses with 55 heads in an arbitrary order; made for this package; BSD-3-Clause.",
    "diabetes": (
        "442 patients, ten measurements and disease progression a year later; Efron, Hastie, "
        "Johnstone and Tibshirani (2004), as in scikit-learn (BSD-3-Clause)."
    ),
    "fitness": (
        "Whether each of 20 middle-aged men of a fitness club is above the median in three "
        "exercises and in weight; A. C. Linnerud, in Tenenhaus (1998), as in scikit-learn "
        "(BSD-3-Clause)."
    ),
    "iris": (
        "Sepals and petals of 150 irises of three species; Anderson (1935), Fisher (1936), as in "
        "scikit-learn (UCI Iris, CC BY 4.0)."
    ),
    "leukemia": (
        "Weeks of remission of 42 children with leukaemia, some cut short by the end of the trial; "
        "Freireich et al., Blood 21 (1963) 699-716; facts of a published table."
    ),
    "longley": (
        "US employment and six indicators, 1947-1962; Longley (1967), NIST StRD reference data; "
        "public domain."
    ),
    "number_game": (
        "Four examples of a concept in the number game of Tenenbaum (1999), as in Murphy (2012), "
        "section 3.2; facts of a published example."
    ),
    "party": (
        "Party, expected vote, age and education of 944 voters; American National Election Study "
        "1996, as in statsmodels; public domain."
    ),
    "wine": (
        "Thirteen chemical measurements of 178 Italian wines from three cultivars; Forina and "
        "others, as in scikit-learn (UCI Wine, CC BY 4.0)."
    ),
}

# Labels whose order means something; read as an ordered categorical.
_ORDERED = {
    "party": {
        "party": (
            "Strong Democrat",
            "Weak Democrat",
            "Independent Democrat",
            "Independent",
            "Independent Republican",
            "Weak Republican",
            "Strong Republican",
        )
    }
}


def names() -> tuple[str, ...]:
    """Return the names of the data sets.

    Returns
    -------
    tuple of str
        In alphabetical order.

    Examples
    --------
    >>> "coin" in names()
    True
    """
    return tuple(_ABOUT)


def describe(name: str) -> str:
    """Return one line about a data set: what it holds, its source and its licence.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    str
        A line without a line break.

    Raises
    ------
    DataError
        If there is no such data set.

    Examples
    --------
    >>> describe("coin")
    '100 tosses with 55 heads in an arbitrary order; made for this package; BSD-3-Clause.'
    """
    if name not in _ABOUT:
        raise DataError(f"name: must be one of the data sets {', '.join(names())}; got {name!r}.")
    return _ABOUT[name]


def load(name: str) -> pd.DataFrame:
    """Return a data set as a frame.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    pandas.DataFrame
        One row for each observation; a new frame at each call. Labels with a natural order are an
        ordered categorical.

    Raises
    ------
    DataError
        If there is no such data set.

    Examples
    --------
    >>> load("aspirin")
           arm  infarctions  participants
    0  aspirin          104         11037
    1  placebo          189         11034
    >>> load("party")["party"].cat.categories[0]
    'Strong Democrat'
    """
    describe(name)
    import pandas as pd

    with (files(__name__) / f"{name}.csv").open("rb") as file:
        frame = pd.read_csv(file)
    for column, levels in _ORDERED.get(name, {}).items():
        frame[column] = pd.Categorical(frame[column], levels, ordered=True)
    return frame
