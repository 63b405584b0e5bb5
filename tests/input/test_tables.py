"""Files as they come: separators, decimal commas, encodings, blanks, row labels."""

import sys

import pandas as pd
import pytest

import bayesmodels as bm

WANTED = {"größe": [1.5, 2.0], "farbe": ["rot", "blau"]}
PLAIN = "größe,farbe\n1.5,rot\n2,blau\n"


def read(tmp_path, content, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return bm.read_table(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (PLAIN, ""),
        (PLAIN.encode("utf-8-sig"), ""),
        (PLAIN.encode("utf-16"), ""),
        (PLAIN.encode("latin-1"), "no UTF-8 text and was read as Windows-1252"),
        (PLAIN.replace("\n", "\r\n"), ""),
        ("\n" + PLAIN, ""),
        ("größe , farbe\n 1.5 , rot \n2 ,  blau\n", ""),
        ('"größe","farbe"\n1.5,"rot "\n2," blau"\n', ""),
        ("größe,farbe,\n1.5,rot,\n2,blau,\n".replace("farbe,", "farbe", 1), ""),
        (PLAIN.replace(",", ";"), "semicolons between columns."),
        ("größe;farbe\n1,5;rot\n2;blau\n", "Numbers have decimal commas in ['größe']."),
        ("größe\tfarbe\n1,5\trot\n2\tblau\n", "table.csv has tabs between columns."),
        (
            '"","größe","farbe"\n"a",1.5,"rot"\n"b",2,"blau"\n',
            "the first column, which holds labels of rows",
        ),
        (
            "rownames,größe,farbe\n1,1.5,rot\n2,2,blau\n",
            "the first column, which holds labels of rows",
        ),
        ("größe,farbe\na,1.5,rot\nb,2,blau\n", "the first column, which holds labels of rows"),
    ],
)
def test_files_that_say_the_same_are_the_same(tmp_path, content, words):
    table = read(tmp_path, content)
    assert table.to_dict("list") == WANTED
    assert words in " ".join(table.attrs["notes"])
    assert bool(words) == bool(table.attrs["notes"])


def test_a_tab_file_by_name_needs_no_word(tmp_path):
    assert read(tmp_path, "a\tb\n1\t2\n", "t.tsv").attrs["notes"] == []


def test_blank_cells_are_empty_and_what_is_no_number_stays_text(tmp_path):
    table = read(tmp_path, "a,b,c\n  ,1 x,01.02.2020\nu,2,3\n")
    assert table["a"].isna().tolist() == [True, False]
    assert table["b"].tolist() == ["1 x", "2"]
    slip, note = table.attrs["notes"]
    assert slip.startswith(
        "Column 'b' was read as labels: row 1 below the heading holds '1 x'; say"
    )
    assert note == "1 of 2 labels of column 'c' are numbers."
    assert read(tmp_path, "a;b\n1,5;2.5\n2;3.5\n").to_dict("list") == {
        "a": [1.5, 2],
        "b": [2.5, 3.5],
    }
    assert read(tmp_path, "a;b\n1,5;01.02.2020\n2;03.02.2020\n")["b"].tolist() == [
        "01.02.2020",
        "03.02.2020",
    ]


def test_a_column_that_is_mostly_gaps_has_the_mark_of_its_numbers(tmp_path):
    table = read(tmp_path, "a;b\n1,5;u\nNA;v\nNA;w\n")
    assert table["a"].fillna(0).tolist() == [1.5, 0, 0]


def test_a_row_in_place_of_a_heading_and_capitals_are_told(tmp_path):
    (note,) = read(tmp_path, "1.5,-2e3\n2,3\n").attrs["notes"]
    assert note == "The first row, ['1.5', '-2e3'], was read as a heading; is there none?"
    (note,) = read(tmp_path, "a,b\nyes,x\nYes,y\nno,z\n").attrs["notes"]
    assert note == "Labels of column 'a' differ only in capitals: ['Yes', 'yes']."


def test_true_and_false_with_gaps_stay_what_they_are(tmp_path):
    assert read(tmp_path, "a,b\nTrue,1\n,2\nFalse,3\n")["a"].tolist()[::2] == [True, False]


def test_parquet_is_read_alike(tmp_path):
    pd.DataFrame({" a ": [" x", "y "]}, index=["p", "q"]).to_parquet(tmp_path / "t.parquet")
    table = bm.read_table(tmp_path / "t.parquet")
    assert table.to_dict("list") == {"a": ["x", "y"]}


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        ("a,b\n1,2\n", "t.xls", r"^file: must end in \.csv, \.tsv, \.txt, .*, \.dta; got "),
        ("a,b\n1,2\n", "t.xlsx", "can't be read as xlsx"),
        ("", "t.csv", r"^file: .*t\.csv' can't be read: it is empty"),
        (
            "a,b\n1,2\n1,2,3\n",
            "t.csv",
            "row 2 below the heading, '1,2,3', has 3 cells; the heading has",
        ),
        ("a,a \n1,2\n", "t.csv", "two columns of .* are called 'a'"),
        ("no parquet", "t.parquet", "can't be read as parquet"),
        (
            "Exported in May\n\na,b,c\n1,2,3\n",
            "t.csv",
            "3 cells below a heading of 1, .* 'Exported",
        ),
        ("a,b\n1,2,3,4\n", "t.csv", "4 cells below a heading of 2, which begins with 'a'. Remove"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, content, name, words):
    with pytest.raises(bm.DataError, match=words):
        read(tmp_path, content, name)
    with pytest.raises(bm.DataError, match="there is no file"):
        bm.read_table(tmp_path / "none.csv")


def sheets(path):
    """Write a workbook as people have it: empty rows and columns, dates, errors, a second sheet."""
    rows = [[None, None, None], [" arm", "n", None], ["A", 12.0, None], ["B", 0.5, None]]
    with pd.ExcelWriter(str(path)) as book:  # of a Path pandas makes .xlsx
        for name, frame in (("data", rows), ("more", [["x", "day"], ["", "n"], [1, "?"]])):
            pd.DataFrame(frame).to_excel(book, sheet_name=name, header=False, index=False)


@pytest.mark.parametrize("kind", ["xlsx", "ods"])
def test_spreadsheets_are_read_as_text_is(tmp_path, kind):
    sheets(tmp_path / f"t.{kind}")
    table = bm.read_table(tmp_path / f"t.{kind}")
    assert table.to_dict("list") == {"arm": ["A", "B"], "n": [12, 0.5]}
    assert table.attrs["notes"] == ["Sheet 'data' was read; for one of ['more'] say sheet=..."]
    assert table.attrs["read"]["first_row"] == {"arm": "A", "n": "12"}
    for sheet in ("more", 2):
        more = bm.read_table(tmp_path / f"t.{kind}", sheet=sheet, missing=["?"])
        assert more["x"].tolist()[-1] == 1
    with pytest.raises(bm.DataError, match=r"^sheet: must be one of \['data', 'more'\]; got 'no'"):
        bm.read_table(tmp_path / f"t.{kind}", sheet="no")


def test_tables_of_spss_and_stata_are_read_with_their_labels(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"arm": [1.0, 2.0, 2.0], "score": [1.5, None, 99.0]})
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels={"arm": {1: "A", 2: "B"}})
    frame.to_stata(tmp_path / "t.dta", write_index=False)
    spss = bm.read_table(tmp_path / "t.sav", missing="score=99")
    assert spss["arm"].tolist() == ["A", "B", "B"]
    assert spss["score"].isna().tolist() == [False, True, True]
    assert "1 cell of column 'score' is empty" in spss.attrs["notes"][0]
    assert bm.read_table(tmp_path / "t.dta")["score"].tolist()[::2] == [1.5, 99]


def test_what_was_read_stands_beside_the_table_and_goes_where_it_goes(tmp_path):
    table = read(tmp_path, "id,x,when,ok\n7,1 mg,2020-01-01,TRUE\n8,,2020-01-02,FALSE\n,,,\n")
    read_so = table.attrs["read"]
    assert read_so["columns"] == {
        "id": "number",
        "x": "number",
        "when": "date",
        "ok": "truth value",
    }
    assert read_so["left_out"] == [("row 3 below the heading", "is empty")]
    assert read_so["first_row"] == {"id": "7", "x": "1 mg", "when": "2020-01-01", "ok": "TRUE"}
    assert read_so["recoded"] == ["Column 'x' is read as numbers, without 'mg': '1 mg' is 1."]
    assert (read_so["file"], read_so["rows"]) == ("table.csv", 2)
    table.to_parquet(tmp_path / "again.parquet")  # as JSON


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"decimal": ";"}, "^decimal: must be '.' or ','; got ';'"),
        ({"decimal": ".", "thousands": "."}, "^thousands: must be another mark"),
        ({"missing": "z=9"}, "^missing: there is no column 'z'; there are"),
        ({"separator": ""}, "^separator: must be one character, or one of"),
    ],
)
def test_settings_are_checked(tmp_path, settings, words):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(bm.DataError, match=words):
        bm.read_table(tmp_path / "t.csv", **settings)


@pytest.mark.parametrize(
    ("name", "package", "words"),
    [
        ("t.xlsx", "openpyxl", "a package is not installed: pip install 'bayesmodels\\[tables\\]'"),
        ("t.ods", "odf", "a package is not installed: pip install odfpy"),
        (
            "t.sav",
            "pyreadstat",
            "a package is not installed: pip install 'bayesmodels\\[tables\\]'",
        ),
        ("t.sav", "", "can't be read as sav"),
    ],
)
def test_what_to_install_is_said(tmp_path, monkeypatch, name, package, words):
    if name == "t.sav":
        (tmp_path / name).write_text("a,b\n1,2\n")
    else:
        sheets(tmp_path / name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(bm.DataError, match=words):
        bm.read_table(tmp_path / name)


def test_formulas_without_values_and_errors_are_no_empty_cells(tmp_path):
    frame = pd.DataFrame([["x", "y"], ["=1+1", 2], [3, 4]])
    frame.to_excel(tmp_path / "t.xlsx", header=False, index=False)
    with pytest.raises(bm.DataError, match="has formulas without their values"):
        bm.read_table(tmp_path / "t.xlsx")
    frame = pd.DataFrame([["x", "y"], ["#DIV/0!", 2], [3, 4], [4, 4]])
    frame.to_excel(tmp_path / "t.xlsx", header=False, index=False)
    (note,) = bm.read_table(tmp_path / "t.xlsx").attrs["notes"]
    assert note.startswith("Column 'x' was read as labels: row 1 below the heading holds '#")


def test_types_of_pandas_with_gaps_are_plain(tmp_path):
    frame = pd.DataFrame(
        {"n": pd.array([1, None], "Int64"), "ok": pd.array([True, None], "boolean")}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = bm.read_table(tmp_path / "t.parquet")
    assert table["n"].dtype == float
    assert table["ok"].tolist()[0] is True
    assert table.attrs["read"]["written"] == {"n": [(1.0, "1")]}
