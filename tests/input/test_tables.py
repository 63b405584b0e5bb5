"""Files as they come: separators, decimal commas, encodings, blanks, row labels."""

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
        ("größe;farbe\n1,5;rot\n2;blau\n", "semicolons between columns and decimal commas."),
        ("größe\tfarbe\n1,5\trot\n2\tblau\n", "tabs between columns and decimal commas."),
        ('"","größe","farbe"\n"a",1.5,"rot"\n"b",2,"blau"\n', "first column holds labels of rows"),
        ("rownames,größe,farbe\n1,1.5,rot\n2,2,blau\n", "first column holds labels of rows"),
        ("größe,farbe\na,1.5,rot\nb,2,blau\n", "first column holds labels of rows"),
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
    assert read(tmp_path, "a;b\n1,5;01.02.2020\n2;03.02.2020\n")["b"].tolist() == [
        "01.02.2020",
        "03.02.2020",
    ]


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
        ("a,b\n1,2\n", "t.xlsx", r"^file: must end in \.csv, \.tsv, \.txt, \.parquet; got "),
        ("", "t.csv", r"^file: .*t\.csv' can't be read as csv"),
        ("a,b\n1,2\n1,2,3\n", "t.csv", r"can't be read as csv: .* line 3, saw 3"),
        ("a,a \n1,2\n", "t.csv", "two columns of .* are called 'a'"),
        ("a;b\n1,5;2.5\n2;3.5\n", "t.csv", r"decimal commas \(column 'a'\) and points \(column"),
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
