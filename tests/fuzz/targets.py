"""What is fuzzed, and what must hold: our own errors or a right answer, in time."""

import hashlib
import json
import re
import signal
import tempfile
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from hypothesis import strategies as st

import bayesmodels as bm
from bayesmodels.command import cli
from tests.fuzz.anything import anything, bare

OURS = bm.DataError, bm.PriorError, bm.ModeError, bm.NotConjugate, bm.SeparationError
SECONDS = 90  # more than it takes to import PyMC on a busy machine

CLASSES = bm.DirichletCategorical([1, 1], categories=["a", "b"])
MODELS = {
    "bits": bm.BetaBernoulli(1, 2),
    "bits, two problems": bm.BetaBernoulli([1, 2], 1),
    "categories": bm.DirichletCategorical([1, 1, 1]),
    "words": bm.DirichletCategorical([1, 1], categories=["a", "b"]),
    "other words": bm.DirichletCategorical([1, 1], categories=["a", "rest"], other="rest"),
    "numbers": bm.NormalInverseGamma(0, 1, 2, 1),
    "vectors": bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2)),
    "line": bm.LinearRegression(0, np.eye(2), 2, 1),
    "flat line": bm.LinearRegression.flat(1),
    "naive Bayes": bm.NaiveBayes(CLASSES, bm.BetaBernoulli(1, 1)),
    "naive Bayes, mixed": bm.NaiveBayes(
        CLASSES, {"x": bm.BetaBernoulli(1, 1), "y": bm.NormalInverseGamma(0, 1, 2, 1)}
    ),
    "naive Bayes, words": bm.NaiveBayes(
        CLASSES,
        {"t": (bm.DirichletCategorical([1, 1], ["x", "y"]), bm.MultinomialCounts(["x", "y"]))},
    ),
    "discriminant": bm.GaussianDiscriminant(
        CLASSES, bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2)), covariance="shared"
    ),
    "mixture": bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 2)),
    "logistic": bm.LogisticRegression([0, 0], np.eye(2)),
    "concept": bm.ConceptLearning({"even": [0, 2], "all": [0, 1, 2], "words": ["a", "b"]}),
}  # fmt: skip


@contextmanager
def in_time(seconds=SECONDS):
    """Raise TimeoutError where something hangs."""

    def late(*_):
        msg = f"no answer after {seconds} s"
        raise TimeoutError(msg)

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def assert_no_nan(belief):
    for name, value in belief.parameters().items():
        array = np.asarray(value)
        assert array.dtype.kind not in "fc" or not np.isnan(array).any(), name


# --- any data, any model --------------------------------------------------------------------------


@st.composite
def data_cases(draw):
    return draw(st.sampled_from(list(MODELS))), draw(anything()), draw(bare())


def data_case(case):
    """Ask a model to learn from anything, and to predict anything afterwards."""
    name, data, new = case
    model = MODELS[name]
    with in_time():
        after = model
        try:
            statistic = model.statistic(data) if hasattr(model, "statistic") else data
            after = model.update(statistic) if hasattr(model, "update") else model
            evidence = model.log_evidence(statistic) if hasattr(model, "log_evidence") else 0.0
        except OURS:
            pass
        else:
            assert not np.isnan(np.asarray(evidence, dtype=float)).any(), "evidence"
            if hasattr(after, "parameters"):
                assert_no_nan(after)
        for verb in ("class_probabilities", "read"):
            if hasattr(model, verb):
                try:
                    found = getattr(model, verb)(new)
                except OURS:
                    continue
                if verb == "class_probabilities":
                    assert not np.isnan(np.asarray(found)).any(), verb


# --- any arguments of the command line ------------------------------------------------------------

WORDS = [
    "", "-", "--", "a", "0", "-1", "nan", "inf", "1e309", "x", "y,", ",", "alpha=2", "alpha=-1",
    "alpha=nan", "=", "y=a,b", "🙂", "a\nb", "no.csv", "bits.csv", "words.csv", "broken.csv",
    "empty.csv", "broken.parquet", "noise.json", "a.json", "b.json", "a.npz", "*.csv",
    ".", "folder", "rows.parquet", "all", "models", "beta-bernoulli", "normal-inverse-gamma",
    "naive-bayes", "linear-regression", "concept-learning", "dirichlet-categorical", "out.json",
    "out.npz", "no/out.json", "model.py:m", "model.py", "noise.py:m",
]  # fmt: skip
OPTIONS = [
    "--help", "--json", "--target", "--features", "--by", "--trials", "--prior", "-o", "--output",
    "--seed", "--draws", "--chains", "--likelihood", "--weights", "--missing", "--decimal",
    "--html", "--var-names", "--level", "--tolerance", "--no-sample", "--nonsense",
]  # fmt: skip
QUICK = ["models", "compare", "report", "exact", "validate"]


@st.composite
def commands(draw):
    """Return arguments of which some are right, so that some get past the first check."""
    command = draw(st.sampled_from(QUICK))
    words = st.sampled_from(WORDS)
    pairs = st.tuples(st.sampled_from(OPTIONS), words).map(list)
    right = {
        "report": ["beta-bernoulli", "no.csv"],
        "compare": ["a.json", "b.json"],
        "exact": ["model.py:m"],
        "validate": ["nothing"],
    }.get(command, [])
    start = [draw(words) if draw(st.integers(0, 3)) == 0 else word for word in right]
    return [command, *start, *chain.from_iterable(draw(st.lists(pairs, max_size=3)))]


def write_files(folder):
    """Fill a folder with files good and bad."""
    (folder / "bits.csv").write_text("x,y\n1,0\n0,1\n1,1\n")
    (folder / "words.csv").write_text("x,y\na,b\nb,a\n,a\n")
    (folder / "broken.csv").write_text('x,y\n1,"2\n3')
    (folder / "empty.csv").write_text("")
    (folder / "broken.parquet").write_bytes(b"PAR1" + bytes(range(64)) + b"PAR1")
    (folder / "noise.json").write_bytes(bytes(range(256)))
    (folder / "noise.py").write_text("def m(:\n")
    (folder / "model.py").write_text("m = 3\n")
    (folder / "folder").mkdir()
    bm.save(bm.statistics.BernoulliStatistic(1, 2), folder / "a.json")
    bm.save(bm.statistics.BernoulliStatistic(3, 4), folder / "b.json")
    (folder / "a.npz").write_bytes(b"PK\3\4" + bytes(range(256)))
    import pandas as pd

    pd.DataFrame({"x": [1, 0], "y": [0.5, 2.0]}).to_parquet(folder / "rows.parquet")


def _costly(args):
    """Whether a command would sample, which compiles for minutes."""
    samples = args[0] == "validate" and (len(args) < 2 or "all" in args or args[1][:2] == "--")
    known = {"beta-bernoulli", "normal-inverse-gamma", "naive-bayes", "linear-regression",
             "concept-learning", "dirichlet-categorical"}  # fmt: skip
    return samples or (args[0] in ("validate", "report") and known.intersection(args[1:]) and
                       (args[0] == "validate" or "no.csv" not in args))  # fmt: skip


def command_case(args):
    """Run a command in a folder of its own: 0, 1, 2 or 3 with a message, never a traceback."""
    if _costly(args):
        return
    runner = CliRunner()
    with tempfile.TemporaryDirectory() as name, runner.isolated_filesystem(name), in_time():
        write_files(Path.cwd())
        before = {path.name for path in Path.cwd().iterdir()}
        result = runner.invoke(cli.main, args)
        after = {path.name for path in Path.cwd().iterdir()}
        error = result.exception
        assert error is None or isinstance(error, SystemExit), repr(error)
        assert result.exit_code in (0, 1, 2, 3), result.exit_code
        assert "Traceback" not in result.output
        assert result.output.strip(), "silence"
        assert "nan" in " ".join(args) or not re.search(r"\bnan\b", result.stdout.lower())
        assert not {name for name in after - before if name.startswith(".")}, after - before


# --- damaged files --------------------------------------------------------------------------------

STATISTICS = [
    bm.statistics.BernoulliStatistic([3, 1], [17, 0], coords={"arm": ["new", "old"]}),
    bm.statistics.CategoricalStatistic([1, 2, 3]),
    bm.statistics.NormalStatistic(4, 1e8, 2.5),
    bm.statistics.HypothesisStatistic([-1.5, -np.inf], ["even", "odd"]),
    MODELS["line"].statistic(([[1.0, 2.0], [3.0, 4.0], [0.5, 1.0]], [1.0, 2.0, 0.0])),
    MODELS["vectors"].statistic([[1.0, 2.0], [3.0, 4.0]]),
    MODELS["naive Bayes"].statistic(([[1, 0], [0, 1], [1, 1]], ["a", "b", "a"])),
    MODELS["discriminant"].statistic(([[1.0, 0.5], [0.0, 1.0], [2.0, 1.0]], ["a", "b", "a"])),
]


@st.composite
def file_cases(draw):
    """Return number of a statistic, and changes at fractions of the file's length."""
    change = st.tuples(
        st.sampled_from(["flip", "cut", "insert", "double", "swap", "text"]),
        st.floats(0, 1),
        st.integers(0, 255),
    )
    return draw(st.integers(0, len(STATISTICS) - 1)), draw(st.lists(change, max_size=4))


TEXTS = [b"null", b"NaN", b"-1", b"1e999", b"[]", b"{}", b'"', b"true", b"Infinity", b"[" * 5000]


def damaged(content, changes):
    for kind, where, byte in changes:
        at = int(where * len(content))
        if kind == "flip" and content:
            at = min(at, len(content) - 1)
            content = content[:at] + bytes([content[at] ^ (byte or 1)]) + content[at + 1 :]
        elif kind == "cut":
            content = content[:at]
        elif kind == "insert":
            content = content[:at] + bytes([byte]) + content[at:]
        elif kind == "double":
            content = content[:at] + content
        elif kind == "swap":
            content = content[at:] + content[:at]
        else:
            content = content[:at] + TEXTS[byte % len(TEXTS)] + content[at + byte % 8 :]
    return content


def file_case(case):
    """Load a damaged file: the statistic that was written, or a named error."""
    number, changes = case
    with tempfile.TemporaryDirectory() as name, in_time():
        path = Path(name) / "s.json"
        bm.save(STATISTICS[number], path)
        path.write_bytes(damaged(path.read_bytes(), changes))
        try:
            found = bm.load(path)
        except bm.DataError as error:
            assert path.name in str(error)  # noqa: PT017 - one of two good outcomes
        else:
            assert found == STATISTICS[number]


# --- files that somebody signed -------------------------------------------------------------------


def signed(value):
    """Return the checksum of a value in a JSON file, as the documentation of the format says."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def body(header):
    """Return the name of the one entry of a file that is not about the file."""
    (name,) = header.keys() - {"format", "schema", "sha256"}
    return name


def forged_case(case):
    """Load JSON whose checksum fits what was changed: a named error, or a value."""
    number, changes = case
    with tempfile.TemporaryDirectory() as folder, in_time():
        path = Path(folder) / "s.json"
        bm.save(STATISTICS[number], path)
        header = json.loads(path.read_text(encoding="utf-8"))
        name = body(header)
        try:
            header[name] = json.loads(damaged(json.dumps(header[name]).encode(), changes))
            header["sha256"] = signed(header[name])
            path.write_text(json.dumps(header), encoding="utf-8")
        except (ValueError, RecursionError):
            return
        with suppress(bm.DataError):
            bm.load(path)


TARGETS = {
    "data": (data_cases(), data_case),
    "arguments": (commands(), command_case),
    "files": (file_cases(), file_case),
    "forged files": (file_cases(), forged_case),
}
