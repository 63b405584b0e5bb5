"""CSV for spreadsheets: text from data is never a formula, and numbers stay numbers."""

import csv
import io

import numpy as np
import pytest

from bayesmodels.store.spreadsheets import cell, sheet

FORMULAS = [
    "=cmd|' /C calc'!A0", "+1+1", "-2+3", "-", "@SUM(A1:A9)", "\t=1", "\r=1", "\n=1", " =1",
    '=HYPERLINK("a","b")', "\uff1d1",
]  # fmt: skip
PLAIN = ["", "age", "a=b", "été, 漢字", 'say "no"', "two\nlines", "'=1", "1-2", "x\t=1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_text_that_could_be_a_formula_is_neutralised(text):
    (row,) = csv.reader(io.StringIO(sheet([text], []).decode(), newline=""))
    assert row == ["'" + text]


@pytest.mark.parametrize("text", PLAIN)
def test_other_text_stays_as_it_is(text):
    _, row = csv.reader(io.StringIO(sheet(["head", "x"], [[text, 1]]).decode(), newline=""))
    assert row == [text, "1"]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (-1.5, "-1.5"),
        (0, "0"),
        (-3, "-3"),
        (1e-300, "1e-300"),
        (-1e300, "-1e+300"),
        (1 / 3, "0.33333"),
    ],
)
def test_numbers_stay_numbers(number, text):
    assert cell(number) == text
    assert cell(np.float64(number)) == text
    assert float(cell(number)) == pytest.approx(number, rel=1e-4)


def test_a_cell_of_a_row_is_neutralised_too():
    assert sheet(["x", "name"], [[-1, "=1"], [None, "-1"]]) == b"x,name\r\n-1,'=1\r\n,'-1\r\n"
