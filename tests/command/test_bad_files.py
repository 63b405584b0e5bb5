"""What a user of the command line reads when a file is not as it should be.

Every message names the option or the column, the row as one finds it in the file, and a way out
that works on the command line: no word of Python.
"""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from bayesmodels.command import catalog, cli

ROWS = [[str(i % 7), f"{i * 3 % 5}.5", "ab"[i % 2], str(i % 2)] for i in range(12)]
HEADING = "age,fare,cabin,survived"


def changed(column, change):
    """Return the table as text, with one column changed."""
    at = HEADING.split(",").index(column)
    rows = [[*row[:at], change(i, row[at]), *row[at + 1 :]] for i, row in enumerate(ROWS)]
    return "\n".join([HEADING, *map(",".join, rows)]) + "\n"


FILES = {
    "good": changed("age", lambda _, x: x),
    "text": changed("age", lambda i, x: "abc" if i == 3 else x),
    "empty_cell": changed("age", lambda i, x: "" if i == 3 else x),
    "no_class": changed("cabin", lambda i, x: "" if i == 5 else x),
    "negative": changed("age", lambda i, x: "-1" if i == 3 else x),
    "zero": changed("age", lambda *_: "0"),
    "gone": changed("age", lambda *_: ""),
    "yes": changed("survived", lambda _, x: "yes" if x == "1" else "no"),
    "labels": changed("cabin", lambda i, _: f"cabin {i}"),
    "one_class": changed("cabin", lambda *_: "a"),
    "constant": changed("age", lambda *_: "5"),
    "infinite": changed("age", lambda i, x: "inf" if i == 3 else x),
    "huge": changed("fare", lambda i, x: f"{x}e200" if i % 2 else x),
    "twice": changed("age", lambda _, x: x).replace("fare", "age", 1),
    "intercept": changed("age", lambda _, x: x).replace("age", "intercept", 1),
    "preamble": "Exported in May\n\n" + changed("age", lambda _, x: x),
    "thousands": changed("fare", lambda i, _: f'"{i + 1},000"'),
    "target": "won\n1\n0\n1\n",
    "counts": "won,of\n1,5\n6,5\n",
    "half": "won,of\n1,5\n2.5,5\n",
    "no_row": f"{HEADING}\n",
    "nothing": "",
    "ragged": f"{HEADING}\n1,2,a,1\n1,2,a,1,7\n",
}
CASES = [
    ("report beta-bernoulli yes",
     "only 0 and 1; row 1 below the heading holds 'no'. Name the label that counts, such as"),
    ("report beta-bernoulli good --target fare",
     "Name the column with numbers of successes by --target, that of trials by --trials; for"),
    ("report gamma-exponential yes --target fare --observed survived",
     "only 0 and 1; row 1 below the heading holds 'no'. Say by --event which of ['no', 'yes']"),
    ("report beta-bernoulli text --target age", "row 4 below the heading holds 'abc'. Correct the"),
    ("report beta-bernoulli good --target age", "row 3 below the heading holds 2"),
    ("report beta-bernoulli empty_cell --target age",
     "in row 4 below the heading. Fill them, or leave such rows out with --drop-missing"),
    ("report beta-bernoulli yes --success ja",
     "--success: must be one of several labels in column 'survived', which holds ['no', 'yes']"),
    ("report beta-bernoulli one_class --target cabin --success a", "--success: must be one of"),
    ("report naive-bayes good --success a", "--success: naive-bayes has no use for it; leave it"),
    ("report beta-bernoulli negative --target survived --freq age",
     "column 'age': must hold whole numbers, 0 or more; row 4 below the heading holds -1"),
    ("report beta-bernoulli good --target survived --freq fare",
     "column 'fare': must hold whole numbers, 0 or more; row 1 below the heading holds 0.5"),
    ("report beta-bernoulli zero --target survived --weights age",
     "--freq: the numbers in column 'age' must add up to between 1 and 10,000,000; got 0."),
    ("report beta-bernoulli good --freq n", "--freq: there is no column 'n'; there are ['age',"),
    ("report beta-bernoulli good --by cabin --by cabin", "--by: must not hold a column twice"),
    ("report beta-bernoulli good --by cabin,sex", "--by: there is no column 'sex'"),
    ("report beta-bernoulli gone --target age --drop-missing",
     "--drop-missing: every row has an empty cell. Choose fewer columns."),
    ("report linear-regression good --formula fare~weight",
     "--formula: there is no column 'weight'; there are ['age', 'fare', 'cabin', 'survived']."),
    ("report linear-regression good --formula fare~0+age",
     "--formula: must have an intercept; leave out '0 +' or '- 1'."),
    ("report linear-regression good --formula fare", "--formula: must have one target, ~, and"),
    ("report linear-regression good --formula fare~age --target fare",
     "--formula: names target and features; leave --target and --features out."),
    ("report linear-regression good --formula fare~fare+age",
     "--formula: must not explain the target by itself; got 'fare~fare+age'."),
    ("report linear-regression good --formula fare~log(age)",
     "column 'log(age)': must hold finite numbers; row 1"),
    ("report linear-regression empty_cell --formula fare~age",
     "column 'age': 1 of 12 cells are empty, the first in row 4 below the heading. Fill them, or"),
    ("report linear-regression no_class --target fare",
     "column 'cabin': 1 of 12 cells are empty, the first in row 6 below the heading. Fill them"),
    ("report gamma-poisson good --formula age~fare", "--formula: gamma-poisson has no use for it"),
    ("report beta-bernoulli good --target sex", "--target: there is no column 'sex'; there are"),
    ("report beta-bernoulli good --by sex", "--by: there is no column 'sex'"),
    ("report beta-bernoulli good --features age", "--features: beta-bernoulli has no use for it"),
    ("report beta-bernoulli no_class --by cabin", "column 'cabin': 1 of 12 cells are empty"),
    ("report beta-bernoulli counts --target won --trials of",
     "column 'won': must not exceed 'of'; row 2 below the heading has 6 successes in 5 trials"),
    ("report beta-bernoulli half --target won --trials of",
     "column 'won': must hold whole numbers, 0 or more; row 2 below the heading holds 2.5"),
    ("report beta-bernoulli good --prior alpha=nan", "--prior: must be KEY=NUMBER"),
    ("report beta-bernoulli no_row", "FILE: has no rows below the heading"),
    ("report beta-bernoulli nothing", "FILE: 'nothing.csv' can't be read: it is empty"),
    ("report beta-bernoulli preamble",
     "FILE: 'preamble.csv' has 4 cells below a heading of 1, which begins with 'Exported in May'."),
    ("report naive-bayes target", "--features: the table has no column left for them; add one"),
    ("report discriminant-full target", "--features: the table has no column left for them"),
    ("report naive-bayes-mixture target --target won", "--features: the table has no column left"),
    ("report linear-regression thousands --target survived",
     "column 'fare': three digits stand behind each comma, which may stand before decimals or"),
    ("report logistic-regression labels --target cabin --features age",
     "column 'cabin': holds 12 different values in 12 rows, too many for classes. Name another"),
    ("report beta-bernoulli ragged", "FILE: row 2 below the heading, '1,2,a,1,7', has 5 cells"),
    ("report beta-bernoulli twice", "FILE: two columns of 'twice.csv' are called 'age'"),
    ("report linear-regression text --target fare --features age",
     "column 'age': must hold numbers; row 4 below the heading holds 'abc'. Correct the file"),
    ("report linear-regression labels --target fare --features cabin",
     "column 'cabin': holds 12 different texts in 12 rows, which tells nothing. Choose other"),
    ("report linear-regression one_class --target fare",
     "column 'cabin': holds a single value"),
    ("report normal-inverse-wishart good",
     "column 'cabin': must hold numbers; row 1 below the heading holds 'a'. Correct the file, or"),
    ("report linear-regression infinite --target fare --features age",
     "column 'age': must hold finite numbers; row 4 below the heading"),
    ("report linear-regression huge --target fare --features age",
     "column 'fare': must not exceed 1e+150"),
    ("report linear-regression constant --target fare --features age",
     "column 'age': holds a single value"),
    ("report linear-regression good --target fare --features age,age", "--features: must not hold"),
    ("report linear-regression good --target fare --features fare", "--features: must not hold"),
    ("report linear-regression intercept --target fare --features intercept",
     "column 'intercept': the model adds one of this name"),
    ("report naive-bayes one_class --target cabin",
     "column 'cabin': must hold two classes or more; it holds only 'a'"),
    ("report discriminant-full no_class --target cabin", "column 'cabin': 1 of 12 cells are empty"),
    ("report logistic-regression one_class --target cabin", "must hold two classes or more"),
    ("report dirichlet-categorical one_class --target cabin", "must hold two classes or more"),
    ("report concept-learning good --target age",
     "column 'age': must hold numbers from 1 to 100; row 1 below the heading holds 0"),
    ("report naive-bayes-mixture good --features age --prior classes=1", "classes: must be a"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")


def said(command):
    """Return what a command complains about, which must be all that it does."""
    verb, model, file, *rest = command.split()
    result = CliRunner().invoke(cli.main, [verb, model, f"{file}.csv", *rest])
    assert result.exit_code == cli.BAD_INPUT, result.output
    assert result.stdout == ""
    return result.stderr


@pytest.mark.parametrize(("command", "words"), CASES)
def test_a_complaint_names_the_column_the_row_and_a_way_out(command, words):
    message = said(command)
    assert message.startswith(f"Error: {words}") or words in message
    assert message.count("\n") == 1
    of_python = r"Columns\(|BinomialCounts|Design|\bx:|dtype|np\.|DirichletCategorical|=False"
    assert not re.search(of_python, message)


def test_columns_that_depend_on_each_other_are_named_with_what_can_be_done():
    """Without --prior they do no harm, since the prior is proper."""
    frame_text = "age,twice,fare\n" + "".join(f"{i},{2 * i},{i * 3 % 5}\n" for i in range(9))
    file = Path("dependent.csv")
    file.write_text(frame_text, encoding="utf-8")
    message = said("report linear-regression dependent --prior precision=0")
    assert "flat in the direction of ['twice']" in message
    assert "Leave columns out that depend on others" in message
    columns = catalog.Columns()
    belief, data = catalog.from_frame("linear-regression", cli._read(file), columns, {})
    assert belief.update(data).mean()["w"].shape == (3,)
