"""Files as people have them, each through the command: its numbers, or a refusal, or what is said.

A row has a kind, the text of a file, a command, and what must come of it: the clean file whose
posterior it has, in every mean and label, and words that are said; or words of the refusal. Rows
that are read come again with Windows' line ends, with a mark of UTF-8, with all cells quoted, and
with semicolons and decimal commas.
"""

# ruff: noqa: E501 - a row a file

import csv
import io
import re
from typing import NamedTuple

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.command import cli
from bayesmodels.command.preparation import prepared

ARMS = "arm,ok\nA,1\nA,0\nB,1\nB,1\n"
BY_ARM = "beta-bernoulli --target ok --by arm"
SPEED = "speed\n0.9\n1.2\n0.8\n1.1\n1.25\n0.7\n"
NORMAL = "normal-inverse-gamma --target speed"
LINE = "y,x\n" + "".join(f"{i % 5 + 0.5},{(i * 7) % 11 + 1}\n" for i in range(12))
REGRESS = "linear-regression --target y"
BAYES = "naive-bayes --target y"
AGES = [
    26,
    31,
    35,
    28,
    33,
    24,
    30,
    29,
    36,
    27,
    32,
    25,
    52,
    47,
    55,
    49,
    51,
    46,
    53,
    48,
    57,
    50,
    45,
    54,
]
CLASS = ["lo"] * 12 + ["hi"] * 12
NUMBER = re.compile(r"-?(?:\d+\.\d*|\.\d+)")
DOSES = ["None,lo"] * 10 + ["Low,lo"] * 2 + ["High,hi"] * 6 + ["None,hi"] * 2


def table(heading, *columns):
    """Return columns as the text of a file."""
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    return "\n".join([heading, *rows]) + "\n"


def ages(sixth):
    """Return ages with another text in row 6."""
    return table("age,y", [*AGES[:5], sixth, *AGES[6:]], CLASS)


def cells(*texts):
    """Return a regression on one column, whose cells are repeated."""
    return table("y,x", [i % 5 + 0.5 for i in range(12)], [*texts] * (12 // len(texts)))


class Row(NamedTuple):
    """A file, the command that reads it, and what is to come of it."""

    kind: str
    text: str | bytes
    command: str
    clean: str = ""  # the file that says the same
    words: str = ""  # of what is said, or of the refusal
    name: str = "t.csv"


LOST = ages("")
MEAN = "must hold numbers; row 6 below the heading holds "
UNITS = "y,x\nyears,kg\n" + LINE.split("\n", 1)[1]
FEW = table("dose,y", *zip(*(row.split(",") for row in DOSES), strict=True))
SALES = "sales\n1234\n2050\n987\n1100\n"
MONEY = "normal-inverse-gamma --target sales"
WIDE = table("id,day,x,y", range(101, 113), [f"2024-01-{i + 1:02}" for i in range(12)],
             *([c.split(",")[i] for c in LINE.split("\n")[1:13]] for i in (1, 0)))  # fmt: skip
SWAPPED = table("x,y", *([c.split(",")[i] for c in LINE.split("\n")[1:13]] for i in (1, 0)))
RTABLE = '"arm" "ok"\n"1" "A" 1\n"2" "A" 0\n"3" "B" 1\n"4" "B" 1\n'
CHINESE = "组,ok\n男,1\n男,0\n女,1\n女,1\n"
JAPANESE = "群,ok\n男性,1\n男性,0\n女性,1\n女性,1\n"
GENDER = "beta-bernoulli --target ok --by 1"

READ = [
    # One cell among numbers
    Row("an empty cell", ages(""), BAYES, LOST),
    *(Row(f"{mark} for a gap, said", ages(mark), f"{BAYES} --missing {mark}", LOST, "1 cell of column 'age' is")
      for mark in (".", "?", "-", "*", "missing", "9999", "-1")),
    *(Row(f"{mark} for a gap of one column", ages(mark), f"{BAYES} --missing age={mark}", LOST, "1 cell of column 'age' is")
      for mark in (".", "99", "-99", "unknown")),
    Row("two marks", ages("x").replace("31,", "?,"), f"{BAYES} --missing x --missing ?", ages("").replace("31,", ","), "2 cells of"),
    *(Row(f"{word} in a column of numbers", ages(word), BAYES, LOST, f"1 cell '{word}' of column 'age' is empty.")
      for word in ("NA", "NaN", "nan", "null", "NULL", "n/a", "N/A", "None", "none", "NONE", "#N/A")),
    Row("blanks around cells", ages(" 24 ").replace(",", " , "), BAYES, ages("24")),
    Row("a mark that no cell holds", ages("24"), f"{BAYES} --missing 9999", ages("24"), "No cell holds ['9999']"),
    Row("codes in a target", "arm,ok\nA,1\nA,2\nB,1\nB,9\n", f"{BY_ARM} --success 1 --missing 9 --drop-missing",
        "arm,ok\nA,1\nA,0\nB,1\n", "1 cell of column 'ok' is empty"),
    *(Row(f"{code} is no age, said", ages(code), BAYES, ages(code), f"1 cell of column 'age' holds {code}, far from all others; say --missing age={code} if")
      for code in ("-99", "-9", "999")),
    Row("decimals beside whole numbers and a gap", cells(1, 2.9, 3, 4).replace("1.5,2.9", "1.5,"), f"{REGRESS} --drop-missing", cells("1.0", 2.9, "3.0", "4.0").replace("1.5,2.9", "1.5,")),
    # Labels that look empty
    Row("None is a level", FEW, BAYES, FEW.replace("None", "Nonex"), "12 cells 'None' of column 'dose' are labels"),
    *(Row(f"{word} is a level", FEW.replace("None", word), BAYES, FEW.replace("None", f"{word}x"),
          f"12 cells '{word}' of column 'dose' are labels") for word in ("NA", "null", "NULL", "n/a", "none", "NONE", "NaN", "?", "-")),
    Row("None is a gap", FEW, f"{BAYES} --missing None", FEW.replace("None", ""), "12 cells of column 'dose' are empty"),
    Row("None is a gap of one column", FEW, f"{BAYES} --missing dose=None", FEW.replace("None", ""), "12 cells of"),
    Row("an arm called None", "arm,ok\nNone,1\nNone,0\nB,1\nB,1\n", f"{BY_ARM} --drop-missing", ARMS.replace("A", "None"), "'None' of column 'arm' are labels"),
    Row("an arm called NA", "arm,ok\nNA,1\nNA,0\nB,1\nB,1\n", BY_ARM, ARMS.replace("A", "NA"), "'NA' of column 'arm' are labels"),
    # Columns that tell nothing
    Row("ids and dates", WIDE, REGRESS, SWAPPED, "Left out of the features: 'id' numbers the rows; 'day' holds dates. To use 'id', name it"),
    Row("row numbers", table("nr,x,y", range(1, 13), *zip(*(r.split(",") for r in SWAPPED.split("\n")[1:13]), strict=True)), REGRESS, SWAPPED, "'nr' numbers the rows"),
    Row("text of its own in each row", table("who,x,y", [f"p{i}" for i in range(12)], *zip(*(r.split(",") for r in SWAPPED.split("\n")[1:13]), strict=True)), REGRESS, SWAPPED, "'who' holds another text in most rows"),
    Row("names in naive Bayes", table("who,age,y", [f"p{i}" for i in range(24)], AGES, CLASS), BAYES, table("age,y", AGES, CLASS), "'who' holds another text"),
    Row("dates in naive Bayes", table("when,age,y", [f"{i + 1}.3.2024" for i in range(24)], AGES, CLASS), BAYES, table("age,y", AGES, CLASS), "'when' holds dates"),
    Row("ids in a mixture", table("id,age,h", range(7, 31), AGES, [a % 7 for a in AGES]), "naive-bayes-mixture", table("age,h", AGES, [a % 7 for a in AGES]), "'id' numbers the rows"),
    Row("ids in a discriminant", table("id,age,h,y", range(7, 31), AGES, [a % 7 for a in AGES], CLASS), "discriminant-shared --target y", table("age,h,y", AGES, [a % 7 for a in AGES], CLASS), "'id' numbers the rows"),
    Row("ids that repeat", table("subject,x,y", [*range(6)] * 2, *zip(*(r.split(",") for r in SWAPPED.split("\n")[1:13]), strict=True)), REGRESS, SWAPPED, "'subject' holds ids."),
    Row("empty columns", table("e,f,x,y", ["NA"] * 12, [""] * 12, *zip(*(r.split(",") for r in SWAPPED.split("\n")[1:13]), strict=True)), REGRESS, SWAPPED, "'e' is empty; 'f' is empty."),
    Row("acid is no id", table("acid,age,y", AGES[::-1], AGES, [i % 5 for i in range(24)]), REGRESS, table("acidx,age,y", [f"{i}.0" for i in AGES[::-1]], AGES, [i % 5 for i in range(24)])),
    Row("time is a feature", table("day,age,y", range(1, 25), AGES, [i % 5 for i in range(24)]), REGRESS, table("dayx,age,y", [f"{i}.0" for i in range(1, 25)], AGES, [i % 5 for i in range(24)])),
    Row("years are numbers", table("year,age,y", range(2001, 2025), AGES, [i % 5 for i in range(24)]), REGRESS, table("yearx,age,y", [f"{i}.0" for i in range(2001, 2025)], AGES, [i % 5 for i in range(24)])),
    # Numbers with something beside them
    Row("percent", cells("42%", "32%", "43%"), REGRESS, cells(42, 32, 43), "without '%': '42%' is 42."),
    Row("percent after a blank", cells("42 %", "32 %", "43.5 %"), REGRESS, cells(42, 32, 43.5), "'42 %' is 42."),
    Row("dollars", cells("$10", "$20", "$35"), REGRESS, cells(10, 20, 35), "without '$': '$10' is 10."),
    Row("negative dollars", cells("-$10", "$20", "$35"), REGRESS, cells(-10, 20, 35), "'-$10' is -10."),
    Row("euros", cells("10 €", "20 €", "35 €"), REGRESS, cells(10, 20, 35), "without '€'"),
    Row("milligrams", cells("10 mg", "20 mg", "5 mg"), REGRESS, cells(10, 20, 5), "without 'mg': '10 mg' is 10."),
    Row("kilograms without a blank", cells("10kg", "20kg", "5.5kg"), REGRESS, cells(10, 20, 5.5), "without 'kg'"),
    Row("thousands that points prove", cells('"1,000"', '"2,000"', '"3,500.5"'), REGRESS, cells(1000, 2000, 3500.5), "'1,000' is 1000."),
    Row("thousands that another column proves", cells('"1,000"', '"2,000"', '"3,000"'), REGRESS, cells(1000, 2000, 3000), "'1,000' is 1000."),
    Row("millions", cells('"1,000,000"', '"2,000,000"', '"3,000"'), REGRESS, cells(1000000, 2000000, 3000), "is 1000000."),
    Row("thousands by option", "sales\n" + '"1,234"\n"2,050"\n987\n"1,100"\n', f"{MONEY} --thousands ,", SALES, "'1,234' is 1234."),
    Row("decimals by option", "sales\n" + '"1,234"\n"2,050"\n987\n"1,100"\n', f"{MONEY} --decimal ,", "sales\n1.234\n2.05\n987\n1.1\n"),
    Row("thousands by blanks", "sales\n1 234\n2 050\n987\n1 100\n", f"{MONEY} --separator ,", SALES, "'1 234' is 1234."),
    Row("thousands by narrow blanks", "sales\n1\u202f234\n2\u202f050\n987\n1\u202f100\n", MONEY, SALES, "is 1234."),
    Row("Swiss thousands", "sales\n1'234\n2'050\n987\n1'100\n", MONEY, SALES, "is 1234."),
    Row("quoted decimal commas", 'speed\n"0,9"\n"1,2"\n"0,8"\n"1,1"\n"1,25"\n"0,7"\n', NORMAL, SPEED, "decimal commas in ['speed']"),
    Row("quoted decimal commas beside points", cells('"0,5"', '"1,5"', '"2,5"'), REGRESS, cells(0.5, 1.5, 2.5), "decimal commas in ['x']"),
    Row("a minus sign of typographers", cells("−1", "2", "3"), REGRESS, cells(-1, 2, 3), "'−1' is -1."),
    Row("exponents and bare points", cells("1e1", ".5", "3."), REGRESS, cells(10, 0.5, 3)),
    Row("points before three digits", "sales\n1.234\n2.050\n987\n1.100\n", MONEY, "sales\n1.234\n2.05\n987\n1.1\n"),
    # Labels written as numbers
    Row("1 and 2 with a gap", "arm,ok\nA,1\nA,2\nB,1\nB,\n", f"{BY_ARM} --success 1 --drop-missing", "arm,ok\nA,1\nA,0\nB,1\n"),
    Row("groups 1 and 2 with a gap", "arm,ok\n1,1\n1,0\n2,1\n2,1\n,1\n", f"{BY_ARM} --drop-missing", ARMS.replace("A", "1").replace("B", "2")),
    Row("TRUE and FALSE", "arm,ok\nA,TRUE\nA,FALSE\nB,TRUE\nB,TRUE\n", f"{BY_ARM} --success TRUE", ARMS),
    Row("codes with zeros", "arm,ok\n007,1\n007,0\n010,1\n010,1\n", BY_ARM, ARMS.replace("A", "'007'").replace("B", "'010'").replace("'", ""), "codes such as '007'"),
    Row("numbers of many digits are codes", "arm,ok\n12345678901234567890,1\n12345678901234567890,0\n12345678901234567891,1\n12345678901234567891,1\n", BY_ARM, ARMS.replace("A", "12345678901234567890x").replace("B", "12345678901234567891x"), "holds codes such as '12345678901234567890'"),
    Row("doses are groups", "arm,ok\n10 mg,1\n10 mg,0\n20 mg,1\n20 mg,1\n", BY_ARM, ARMS.replace("A", "10 mg").replace("B", "20 mg")),
    Row("groups of numbers with commas", 'arm,ok\n"0,5",1\n"0,5",0\n"1,5",1\n"1,5",1\n', BY_ARM, ARMS.replace("A", '"0,5"').replace("B", '"1,5"')),
    Row("1st, 2nd and 3rd are labels", FEW.replace("None", "1st").replace("Low", "2nd").replace("High", "3rd"), BAYES, FEW.replace("None", "1stx").replace("Low", "2ndx").replace("High", "3rdx")),
    Row("classes 1 and 2", table("age,y", AGES, [1] * 12 + [2] * 12), BAYES, table("age,y", AGES, ["1"] * 12 + ["2"] * 12)),
    Row("classes with a gap, in a mixture", table("age,y", AGES, [1] * 11 + [""] + [2] * 12), "naive-bayes-mixture --target y", table("age,y", AGES, [1] * 11 + [""] + [2] * 12)),
    # Forms of text
    Row("R's write.table", RTABLE, BY_ARM, ARMS, "Left out: the first column, which holds labels of rows; row 1 is ['1', 'A', '1']", "t.txt"),
    Row("R's write.csv", '"","arm","ok"\n"1","A",1\n"2","A",0\n"3","B",1\n"4","B",1\n', BY_ARM, ARMS, "which holds labels of rows"),
    Row("row names of text", "arm,ok\nann,A,1\nbob,A,0\ncid,B,1\ndan,B,1\n", BY_ARM, ARMS, "row 1 is ['ann', 'A', '1']"),
    Row("row names 1 to n", "arm,ok\n1,A,1\n2,A,0\n3,B,1\n4,B,1\n", BY_ARM, ARMS, "row 1 is ['1', 'A', '1']"),
    Row("pipes", ARMS.replace(",", "|"), BY_ARM, ARMS, "separated by pipes"),
    Row("tabs", ARMS.replace(",", "\t"), BY_ARM, ARMS, "tabs between columns"),
    Row("semicolons", ARMS.replace(",", ";"), BY_ARM, ARMS, "semicolons between columns"),
    Row("blanks by option", ARMS.replace(",", "   "), f"{BY_ARM} --separator space", ARMS),
    Row("colons by option", ARMS.replace(",", ":"), f"{BY_ARM} --separator :", ARMS),
    Row("tabs by name", ARMS.replace(",", "\t"), f"{BY_ARM} --separator tab", ARMS, "", "t.tsv"),
    Row("sep=;", "sep=;\n" + ARMS.replace(",", ";"), BY_ARM, ARMS, "'sep=;', says how cells are separated"),
    Row("comments above", "# made in May\n# by us\n" + ARMS, BY_ARM, ARMS, "begin with # were left out: ['# made in May', '# by us']"),
    Row("comments between", ARMS.replace("B,1", "# now, B, it is\nB,1", 1), BY_ARM, ARMS, "begin with # were left out"),
    Row("a heading behind #", "#" + ARMS, BY_ARM, ARMS, "heading begins with #"),
    Row("whole lines quoted", "".join(f'"{line}"\n' for line in ARMS.split()), BY_ARM, ARMS, "quotes as a whole"),
    Row("Excel's empty columns", ARMS.replace("\n", ",,\n"), BY_ARM, ARMS),
    Row("Excel's empty rows", ARMS + ",\n,\n", BY_ARM, ARMS, "Left out: rows 5, 6 below the heading, which are empty."),
    Row("an empty row between", ARMS.replace("B", ",\nB", 1), BY_ARM, ARMS, "row 3 below the heading, which is empty"),
    Row("empty lines", "\n\n" + ARMS.replace("\n", "\n\n"), BY_ARM, ARMS),
    Row("no line end at the end", ARMS[:-1], BY_ARM, ARMS),
    Row("old Macs", ARMS.replace("\n", "\r"), BY_ARM, ARMS),
    Row("lines in cells", ARMS.replace("A", '"A\nA"'), BY_ARM, ARMS.replace("A", '"A\nA"')),
    Row("separators in cells", ARMS.replace("A", '"A, a"'), BY_ARM, ARMS.replace("A", '"A, a"')),
    Row("quotes in cells", ARMS.replace("A", '"5"" pipe"'), BY_ARM, ARMS.replace("A", '5" pipe')),
    Row("a Total that is none", "arm,ok\nTotal,1\nTotal,0\nB,1\nB,1\n", BY_ARM, ARMS.replace("A", "Total"), "'Total' stands in column 'arm'"),
    # Encodings
    Row("UTF-16", ARMS.encode("utf-16"), BY_ARM, ARMS),
    Row("UTF-16 without a mark", ARMS.encode("utf-16-le"), BY_ARM, ARMS, "was read as UTF-16, though"),
    Row("UTF-16 without a mark, big end first", ARMS.encode("utf-16-be"), BY_ARM, ARMS, "was read as UTF-16, though"),
    Row("Latin-1", ARMS.replace("A", "Größe").encode("latin-1"), BY_ARM, ARMS.replace("A", "Größe"), "was read as Windows-1252"),
    Row("Windows-1252", ARMS.replace("A", "5 € – créée").encode("cp1252"), BY_ARM, ARMS.replace("A", "5 € – créée"), "was read as Windows-1252"),
    Row("GB2312 by option", CHINESE.encode("gb2312"), "beta-bernoulli --target ok --by 组 --encoding gb18030", CHINESE),
    Row("Shift-JIS by option", JAPANESE.encode("shift_jis"), "beta-bernoulli --target ok --by 群 --encoding shift_jis", JAPANESE),
    Row("Cyrillic by option", ARMS.replace("A", "да").encode("cp1251"), f"{BY_ARM} --encoding cp1251", ARMS.replace("A", "да")),
]  # fmt: skip
OF_ITS_OWN = [  # these can't be written with semicolons and decimal commas, or are already
    Row("decimal commas, semicolons", "speed;n\n0,9;1\n1,2;1\n0,8;1\n1,1;1\n1,25;1\n0,7;1\n", NORMAL, SPEED, "decimal commas in ['speed']"),
    Row("decimal commas, tabs", "speed\tn\n0,9\t1\n1,2\t1\n0,8\t1\n1,1\t1\n1,25\t1\n0,7\t1\n", NORMAL, SPEED, "decimal commas in ['speed']"),
    Row("points and commas", "sales;n\n1.234,0;1\n2.050,0;1\n987,0;1\n1.100,0;1\n", MONEY, SALES, "decimal commas"),
    Row("points between thousands, said", "n;sales\n1;1.234\n2;2.050\n3;987\n4;1.100\n", MONEY, "sales\n1.234\n2.05\n987\n1.1\n",
        "read as decimals, though three digits stand behind each point; are these thousands, say --decimal ,"),
    Row("points between thousands by option", "n;sales\n1;1.234\n2;2.050\n3;987\n4;1.100\n", f"{MONEY} --decimal ,", SALES),
    Row("thousands that a neighbour proves", "sales;v\n1.234;0,5\n2.050;0,5\n987;0,7\n1.100;0,8\n", MONEY, SALES, "'1.234' is 1234."),
    Row("commas between thousands, tabs", "n\tsales\n1\t1,234\n2\t2,050\n3\t987\n4\t1,100\n", f"{MONEY} --thousands ,", SALES),
]  # fmt: skip
REFUSED = [
    *(Row(f"{mark} among numbers, {model.split()[0]}", ages(mark), model, words=f"column 'age': {MEAN}'{mark}'")
      for mark in (".", "?", "-", "31 %", "x", "24;5", "12:30") for model in (BAYES,)),
    *(Row(f"{mark} among numbers, mixture", ages(mark), "naive-bayes-mixture", words=f"column 'age': {MEAN}'{mark}'") for mark in (".", "31 %")),
    Row("a point among numbers, discriminant", ages("."), "discriminant-full --target y", words=f"column 'age': {MEAN}'.'"),
    Row("a point among numbers, logistic", ages("."), "logistic-regression --target y", words=f"column 'age': {MEAN}'.'"),
    Row("a point among numbers, regression", ages(".").replace("lo", "1").replace("hi", "2"), REGRESS, words=f"column 'age': {MEAN}'.'"),
    Row("a point among numbers, formula", ages(".").replace("lo", "1").replace("hi", "2"), "linear-regression --formula y~age", words=f"column 'age': {MEAN}'.'"),
    Row("a comma among points", ages('"24,5"').replace("31,", "31.5,"), BAYES, words=f"{MEAN}'24,5'"),
    Row("points where decimal commas are said", "y;x\n" + "".join(f"{i},5;{i % 5}.25\n" for i in range(12)), f"{REGRESS} --decimal ,", words="column 'x': must hold numbers; row 1 below the heading holds '0.25', and 11 more"),
    Row("commas and points in turn", cells('"1,5"', "2.5", '"3,5"', "4.5"), REGRESS, words="column 'x': must hold numbers; row 1 below the heading holds '1,5', and 5 more"),
    Row("two slips", ages(".").replace("31,", "?,"), BAYES, words=r"row 2 below the heading holds '\?', and 1 more"),
    Row("an unknown column of gaps", ages("."), f"{BAYES} --missing weight=.", words="--missing: there is no column 'weight'"),
    Row("dates as a feature by name", WIDE, f"{REGRESS} --features day,x", words="column 'day': holds dates, such as '2024-01-01'"),
    Row("names in a regression by name", table("who,x,y", [f"p{i}" for i in range(12)], *zip(*(r.split(",") for r in SWAPPED.split("\n")[1:13]), strict=True)), f"{REGRESS} --features who", words="column 'who': holds 12 different texts"),
    Row("nothing but dates", table("day,y", [f"2024-01-{i + 1:02}" for i in range(12)], range(12)), REGRESS, words="--features: no column is left"),
    Row("mixed units", cells("10 mg", "20 mg", "1 g"), REGRESS, words="column 'x': must hold numbers; row 3 below the heading holds '1 g'"),
    Row("decimal commas in a comma file", "id,speed\n1,0,9\n2,1,2\n3,0,8\n4,1,1\n5,1,0\n6,0,7\n", NORMAL, words="its first cells are no labels of rows"),
    Row("decimal commas in a comma file, first", "speed,n\n0,9,1\n1,2,1\n0,8,1\n", NORMAL, words="its first cells are no labels of rows"),
    Row("some decimal commas in a comma file", "speed\n0,9\n1\n0,8\n", NORMAL, words="its first cells are no labels of rows|has 1 cell"),
    Row("commas before three digits, tabs", "n\tsales\n1\t139,750\n2\t204,100\n", MONEY, words="column 'sales': three digits stand behind each comma"),
    Row("commas before three digits, semicolons", 'n;sales\n1;"1,234"\n2;"2,050"\n', MONEY, words="Say --decimal , or --thousands ,"),
    Row("commas before three digits, quoted", 'n,sales\n1,"1,234"\n2,"2,050"\n', MONEY, words="three digits stand behind each comma"),
    Row("a title", "Study 12 results\n" + ARMS, BY_ARM, words="2 cells below a heading of 1, .*'Study 12 results'"),
    Row("a title of unlike rows", "Study\nwho,grade\nAnn,A\nBob,B\n", "dirichlet-categorical", words="no labels of rows"),
    Row("a title with empty cells", "Study 12 results,\n" + ARMS, BY_ARM, words="column 2 has no name and holds 'ok'"),
    Row("a wide title", "Exported in May\n\na,b,c\n1,2,3\n", MONEY, words="3 cells below a heading of 1"),
    Row("a line of units", UNITS, REGRESS, words=r"row 1 below the heading, \['years', 'kg'\], holds no number"),
    Row("a second heading in brackets", ARMS.replace("A", "(code),(text)\nA", 1), BY_ARM, words="is the second part of a heading"),
    Row("a repeated heading", ARMS + "arm,ok\nA,1\n", BY_ARM, words=r"row 5 below the heading, \['arm', 'ok'\], repeats the heading"),
    Row("a repeated heading of labels", "arm,grade\nA,good\narm,grade\nB,bad\n", "dirichlet-categorical", words="row 2 below the heading"),
    Row("a total", "arm,conv,n\nA,12,100\nB,20,100\nTotal,32,200\n", "beta-bernoulli --target conv --trials n --by arm", words=r"row 3 below the heading, \['Total', '32', '200'\], is the sum"),
    Row("a sum", "arm,conv,n\nA,12,100\nB,20,100\nSUM,32,200\n", "beta-bernoulli --target conv --trials n --by arm", words="is the sum or the mean of the others"),
    Row("a mean", "arm,conv\nA,12\nB,21\nAverage,16.5\n", "normal-inverse-gamma --target conv", words=r"row 3 below the heading, \['Average', '16.5'\], is the sum or the mean"),
    Row("all of them", "arm,conv,n\nA,12,100\nB,20,100\nAll arms:,32,200\n", "beta-bernoulli --target conv --trials n --by arm", words="is the sum or the mean of the others"),
    Row("a line below the heading", "|arm|ok|\n|---|---|\n|A|1|\n|B|0|\n", BY_ARM, words="is the second part of a heading"),
    Row("a total first", "arm,conv,n\nGesamt,32,200\nA,12,100\nB,20,100\n", "beta-bernoulli --target conv --trials n --by arm", words="row 1 below the heading"),
    Row("a footnote", ARMS + "Source: WHO\n", BY_ARM, words="row 5 below the heading, 'Source: WHO', has 1 cell"),
    Row("a footnote with empty cells", ARMS + "Source: WHO,\n", BY_ARM, words=r"row 5 below the heading, \['Source: WHO', ''\], holds a single cell"),
    Row("a footnote below numbers", SPEED.replace("speed", "speed,n").replace("\n", ",1\n").replace("n,1", "n", 1) + "* measured by us,\n", NORMAL, words="as a footnote"),
    Row("a row too short", "a,b,c\n1,2,3\n4,5\n", MONEY, words="row 2 below the heading, '4,5', has 2 cells; the heading has 3"),
    Row("a row too long", "a,b,c\n1,2,3\n4,5,6,7\n", MONEY, words="row 2 below the heading, '4,5,6,7', has 4 cells"),
    Row("a quotation mark too many", 'a,b\n1,"2\n3,4\n', MONEY, words="quotation mark"),
    Row("two columns of one name", "a,a\n1,2\n", MONEY, words="two columns of .* are called 'a'"),
    Row("an unnamed column", "a,,b\n1,x,2\n", MONEY, words="column 2 has no name and holds 'x'"),
    Row("blanks that may separate", "arm ok\nA 1\nB 0\n", BY_ARM, words="Say --separator space, or --separator , if it is one column"),
    Row("another separator", ARMS.replace(",", ":"), BY_ARM, words="there is no column 'ok'; there are .'arm:ok'"),
    Row("an unknown mark", SPEED, f"{NORMAL} --decimal x", words="--decimal: must be '.' or ','; got 'x'"),
    Row("an unknown encoding", SPEED, f"{NORMAL} --encoding elvish", words="--encoding: must be a name such as"),
    Row("an encoding that is not", "größe\n1\n".encode("latin-1"), f"{NORMAL} --encoding utf-8", words="is no text in utf-8"),
    Row("a separator of two", SPEED, f"{NORMAL} --separator ;;", words="--separator: must be one character"),
    Row("a sheet of no spreadsheet", SPEED, f"{NORMAL} --sheet 2", words="--sheet: t.csv has no sheets"),
    Row("GB2312", CHINESE.encode("gb2312"), GENDER, words="is no UTF-8 text, and what else it is can't be told"),
    Row("Shift-JIS", JAPANESE.encode("shift_jis"), GENDER, words="Say --encoding gb18030"),
    Row("Big5", CHINESE.replace("组", "組").encode("big5"), GENDER, words="what else it is can't be told"),
    Row("EUC-KR", ARMS.replace("A", "남자").encode("euc-kr"), BY_ARM, words="what else it is can't be told"),
    Row("Cyrillic", ARMS.replace("A", "да").encode("cp1251"), BY_ARM, words="what else it is can't be told"),
    Row("letters of old Macs", ARMS.replace("A", "München").encode("mac_roman"), BY_ARM, words="what else it is can't be told"),
    Row("one character of GBK behind a letter", ARMS.replace("A", "A男").encode("gbk"), BY_ARM, words="what else it is can't be told"),
    Row("a title with a year", "Results,2020\n" + ARMS, "dirichlet-categorical --target Results", words="as a line of units or a second heading"),
    Row("Greek", ARMS.replace("A", "ναι").encode("cp1253"), BY_ARM, words="what else it is can't be told"),
    Row("characters of no text", "arm,ok\nA\x19,1\nB,0\n", BY_ARM, words="no text has, the first in line 2. Remove them"),
    Row("no text", b"a,b\n1,\0\0\0\n", BY_ARM, words="is no text"),
    Row("nothing", "", BY_ARM, words="it is empty"),
]  # fmt: skip


def outcome(path, row):
    """Return means and labels of the posterior, and what was said on the way."""
    path.write_bytes(row.text if isinstance(row.text, bytes) else row.text.encode())
    model, *options = row.command.split()
    asked = cli.report.make_context("report", [model, str(path), *options]).params
    parts = ("by", "freq", "success", "formula", "drop_missing")
    parts += ("target", "features", "trials", "exposure", "observed", *cli._READING)
    prior, data, _, reading = cli._belief_and_data(
        model, path, {}, {part: asked[part] for part in parts}
    )
    posterior = prior if model.endswith("mixture") and not asked["target"] else prior.update(data)
    labels = {name: [*map(str, own)] for name, own in dict(posterior.coords).items()}
    return posterior.mean(), labels, " ".join(": ".join(fact) for fact in reading.facts())


def variants(row):
    """Return a row of text in other clothes that change nothing."""
    if isinstance(row.text, bytes) or row.name != "t.csv":
        return
    windows = row.text.replace("\r", "\n").replace("\n", "\r\n")
    yield row._replace(kind=f"{row.kind}, Windows", text=f"\ufeff{windows}")
    plain = (
        row in READ
        and not re.search(r"^sep|#|\||\t|;|\"|:  ?|\r|\n\n|   ", row.text)
        and "separator" not in row.command
    )
    if (
        plain
        and "," in row.text
        and ",," not in row.text
        and len({line.count(",") for line in row.text.split()}) == 1
    ):
        rows = [*csv.reader(io.StringIO(row.text))]
        for kind, quoting in (
            ("quotes", csv.QUOTE_ALL),
            ("quotes where needed", csv.QUOTE_MINIMAL),
        ):
            text = io.StringIO()
            german = kind != "quotes"
            some = [
                [c.replace(".", ",") if german and NUMBER.fullmatch(c) else c for c in r]
                for r in rows
            ]
            csv.writer(text, delimiter=";" if german else ",", quoting=quoting).writerows(some)
            yield row._replace(
                kind=f"{row.kind}, {'semicolons' if german else 'quotes'}", text=text.getvalue()
            )


ALL = [*READ, *OF_ITS_OWN]
ALL += [variant for row in ALL for variant in variants(row)]


WAYS = re.compile(r" --(?:missing|decimal|thousands|separator|encoding|success|sheet) \S+")
CLEAN = {}


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.kind)
def test_what_is_read_is_what_stands_there(row, tmp_path):
    means, labels, said = outcome(tmp_path / row.name, row)
    assert row.words in said
    clean = Row("", row.clean, WAYS.sub("", row.command))
    if clean not in CLEAN:
        CLEAN[clean] = outcome(tmp_path / "clean.csv", clean)
    wanted, names, _ = CLEAN[clean]
    assert means.keys() == wanted.keys()
    for name in wanted:
        np.testing.assert_allclose(means[name], wanted[name], rtol=1e-12)
    stand_ins = {f"{own}x": own for some in labels.values() for own in some}
    assert labels == {
        name: [stand_ins.get(own, own) for own in some] for name, some in names.items()
    }


@pytest.mark.parametrize(
    "row", [*REFUSED, *(v for row in REFUSED for v in variants(row))], ids=lambda row: row.kind
)
def test_what_cannot_be_told_is_refused(row, tmp_path, capsys):
    with pytest.raises((SystemExit, ValueError)) as refusal:
        outcome(tmp_path / row.name, row)
    said = f"{capsys.readouterr().err} {refusal.value}"
    assert re.search(row.words, " ".join(said.split()).replace("\\", ""))


def test_codes_with_a_gap_stay_whole_numbers_in_a_formula(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("y,code\n1.5,1\n2.5,2\n3,3\n4,\n5,2\n")
    table = bm.read_table(path)
    frame, *_ = prepared("linear-regression", table, formula="y ~ C(code)", drop_missing=True)
    assert list(frame) == ["y", "code[2]", "code[3]"]


def test_there_are_many_files():
    rows = [*ALL, *REFUSED]
    assert len({(row.text, row.command) for row in rows}) > 300
