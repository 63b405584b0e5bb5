"""A number stays with its label, whatever two models of other labels do with each other.

Two models of one kind list their categories, classes, features, groups or hypotheses: the same, or
permuted, renamed, added to, dropped from, or only numbered. What meets is right by a dict from
label to number, which plain Python adds up over the rows, or it is refused.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bayesmodels as bm
from bayesmodels.belief.reading import places
from bayesmodels.scale.checkpoint import Checkpoint
from bayesmodels.scale.clusters import from_dask
from bayesmodels.scale.folding import Fold

ALPHABET = {
    "category": ("red", "green", "blue", "grey"),
    "class": ("yes", "no", "maybe", "never"),
    "feature": ("size", "age", "dose", "pulse"),
    "group": ("north", "south", "east", "west"),
    "hypothesis": ("small", "middle", "large", "all"),
}
SETS = {"small": {1, 2}, "middle": {1, 2, 3}, "large": {1, 2, 3, 4, 5}, "all": set(range(1, 9))}


def weight(label):
    """Return what a prior says of a label: a number of its own, wherever the label stands."""
    every = [x for own in ALPHABET.values() for x in own]
    return 0.5 + (every.index(label) if label in every else label + 0.25)


@dataclass(frozen=True)
class Family:
    """Models of one kind, by labels along `axes`; numbers of a statistic or a belief, by label."""

    axes: tuple[str, ...]
    model: Callable[[Any], Any]
    data: Callable[[Any, Any], Any]
    numbers: Callable[[Any], dict]
    of_belief: Callable[[Any], dict]
    oracle: Callable[[Any, Any], dict]
    in_files: bool = True


def by_axis(coords, axis, numbers):
    return dict(zip(coords[axis], np.asarray(numbers, float).tolist(), strict=True))


def over_groups(model, number, of_belief, of_row):
    """Return a family of one belief a group."""

    def data(labels, rows):
        x, by = [of_row(row["x"]) for row in rows], [row["group"] for row in rows]
        return bm.Grouped(x, by, groups=labels["group"])

    def oracle(_, rows):
        found = Counter()
        for row in rows:
            found[row["group"]] += of_row(row["x"])
        return found

    return Family(
        ("group",),
        lambda labels: model([weight(x) for x in labels["group"]], {"group": labels["group"]}),
        data,
        lambda s: by_axis(s.coords, "group", number(s)),
        lambda b: by_axis(b.coords, "group", of_belief(b)),
        oracle,
    )


def less(found, labels):
    """Return what was added to a prior that says `weight` of each label."""
    return np.asarray(found) - [weight(x) for x in labels]


def category_of(s):
    return s.coords.get("category", range(s.counts.shape[-1]))


def counted(axis):
    return lambda _, rows: Counter(row[axis] for row in rows)


def table(labels, rows):
    """Return the columns of features, in the order of the labels; an array if these are numbers."""
    values = np.array([[row[f] for f in labels["feature"]] for row in rows], dtype=float)
    values = values.reshape(len(rows), len(labels["feature"]))
    if labels["feature"][0] == 0:
        return values
    return pd.DataFrame(values, columns=list(labels["feature"]))


def names_of(labels):
    return None if labels["feature"][0] == 0 else labels["feature"]


def feature_sums(labels, rows):
    return {f: sum(row[f] for row in rows) for f in labels["feature"]}


def named(features, numbers):
    numbers = np.asarray(numbers, float).tolist()
    return dict(zip(features or range(len(numbers)), numbers, strict=True))


def line(labels):
    precision = np.diag([weight(f) for f in labels["feature"]])
    return bm.LinearRegression(0, precision, 2, 1, features=names_of(labels))


def line_data(labels, rows):
    return table(labels, rows), np.array([row["x"] for row in rows], dtype=float)


def squares(labels, rows):
    return {f: sum(row[f] ** 2 for row in rows) for f in labels["feature"]}


def classes(labels):
    return bm.DirichletCategorical([weight(c) for c in labels["class"]], labels["class"])


def naive(labels, kind=bm.NaiveBayes):
    blocks = {
        "colour": bm.DirichletCategorical(
            [weight(c) for c in labels["category"]], labels["category"]
        ),
        "bits": (bm.BetaBernoulli(1, 1), list(labels["feature"])),
    }
    return kind(classes(labels), blocks)


def naive_data(labels, rows):
    frame = pd.DataFrame({"colour": [row["category"] for row in rows]}, dtype=object)
    for f in labels["feature"]:
        frame[f] = [int(row[f] > 0) for row in rows]
    return frame, np.array([row["class"] for row in rows], dtype=object)


def of_classes(s):
    """Return the counts of classes, and in each class those of categories and of ones."""
    found = by_axis({"category": category_of(s.classes)}, "category", s.classes.counts)
    colour, bits = s.features["colour"], s.features["bits"]
    for own, counts in zip(colour.coords["class"], colour.counts, strict=True):
        found |= {(own, c): float(n) for c, n in zip(category_of(colour), counts, strict=True)}
    for own, ones in zip(bits.coords["class"], bits.ones, strict=True):
        found |= {(own, f): float(n) for f, n in zip(bits.coords["feature"], ones, strict=True)}
    return found


def of_classes_belief(b):
    own = b.classes.categories
    found = dict(zip(own, less(b.classes.alpha, own), strict=True))
    colour, bits = (b.blocks[name].belief for name in ("colour", "bits"))
    for c, alpha in zip(colour.coords["class"], colour.alpha, strict=True):
        categories = colour.coords["category"]
        found |= {(c, k): n for k, n in zip(categories, less(alpha, categories), strict=True)}
    for c, alpha in zip(bits.coords["class"], bits.alpha, strict=True):
        found |= {(c, f): n - 1 for f, n in zip(bits.coords["feature"], alpha, strict=True)}
    return found


def classified(labels, rows):
    found = Counter(row["class"] for row in rows)
    for row in rows:
        found[row["class"], row["category"]] += 1
        for f in labels["feature"]:
            found[row["class"], f] += row[f] > 0
    return found


def of_words(block, s):
    """Return the counts of classes, and in each class those of words."""
    found = by_axis({"category": category_of(s.classes)}, "category", s.classes.counts)
    part = s.features[block]
    for own, counts in zip(part.coords["class"], part.counts, strict=True):
        found |= {(own, w): float(n) for w, n in zip(category_of(part), counts, strict=True)}
    return found


def of_words_belief(block, b):
    own = b.classes.categories
    found = dict(zip(own, less(b.classes.alpha, own), strict=True))
    part = b.blocks[block].belief
    for c, alpha in zip(part.coords["class"], part.alpha, strict=True):
        found |= {(c, w): a - 1 for w, a in zip(part.coords["category"], alpha, strict=True)}
    return found


def listed_words(labels, rows):
    """Return the same of the columns that the model lists: it leaves out others."""
    named = {"x", "class", *labels["feature"]}
    return words(labels, [{k: n for k, n in row.items() if k in named} for row in rows])


def words(_, rows):
    found = Counter(row["class"] for row in rows)
    for row in rows:
        for label, n in row.items():
            if label not in ("x", "class"):
                found[row["class"], label] += n + 3
    return found


def of_mixture(s):
    """Return the same of distinct rows, all of known classes."""
    found = Counter()
    own, categories = s.axes["colour"]["class"], s.axes["colour"]["category"]
    for k, at, bits, n in zip(s.labels, s.rows["colour"], s.rows["bits"], s.weights, strict=True):
        found[own[k]] += n
        found[own[k], categories[at]] += n
        for f, bit in zip(s.axes["bits"]["feature"], bits, strict=True):
            found[own[k], f] += bit * n
    return found


def of_mixture_belief(b):
    (counts,) = b.terms.counts
    found = dict(zip(b.classes.categories, counts, strict=True))
    colour, bits = b.terms.parts["colour"], b.terms.parts["bits"]
    categories = b.blocks["colour"].belief.categories
    for c, ns in zip(colour.coords["class"], colour.counts[0], strict=True):
        found |= {(c, k): n for k, n in zip(categories, ns, strict=True)}
    for c, ones in zip(bits.coords["class"], bits.ones[0], strict=True):
        found |= {(c, f): n for f, n in zip(bits.coords["feature"], ones, strict=True)}
    return found


def discriminant(covariance, labels):
    width = len(labels["feature"])
    normal = bm.NormalInverseWishart(np.zeros(width), 1, width + 2, np.eye(width), names_of(labels))
    return bm.GaussianDiscriminant(classes(labels), normal, covariance=covariance)


def of_discriminant(s):
    found = by_axis({"category": category_of(s.classes)}, "category", s.classes.counts)
    part = s.features[""]
    for own, n, mean in zip(part.coords["class"], part.n, part.mean, strict=True):
        found |= {(own, f): x for f, x in named(part.features, n * mean).items()}
    return found


def of_discriminant_belief(b):
    own = b.classes.categories
    found = dict(zip(own, less(b.classes.alpha, own), strict=True))
    part = b.gaussian
    for c, kappa, mean in zip(part.coords["class"], part.kappa, part.location, strict=True):
        found |= {(c, f): x for f, x in named(part.features, kappa * mean).items()}
    return found


def sums_by_class(labels, rows):
    found = Counter(row["class"] for row in rows)
    for row in rows:
        for f in labels["feature"]:
            found[row["class"], f] += row[f]
    return found


FAMILIES = {
    "Beta–Bernoulli": over_groups(
        lambda own, coords: bm.BetaBernoulli(own, 1, coords),
        lambda s: s.ones,
        lambda b: less(b.alpha, b.coords["group"]),
        lambda x: int(x > 0),
    ),
    "gamma–Poisson": over_groups(
        lambda own, coords: bm.GammaPoisson(own, 1, coords),
        lambda s: s.events,
        lambda b: less(b.shape, b.coords["group"]),
        lambda x: int(x > 0),
    ),
    "gamma–exponential": over_groups(
        lambda own, coords: bm.GammaExponential(1, own, coords),
        lambda s: s.exposure,
        lambda b: less(b.rate, b.coords["group"]),
        lambda x: 1 + int(x > 0),
    ),
    "normal–inverse-gamma": over_groups(
        lambda own, coords: bm.NormalInverseGamma(0, own, 1, 1, coords),
        lambda s: s.n * s.mean,
        lambda b: b.kappa * b.location,
        lambda x: x,
    ),
    "Dirichlet": Family(
        ("category",),
        lambda labels: bm.DirichletCategorical(
            [weight(c) for c in labels["category"]], labels["category"]
        ),
        lambda _, rows: np.array([row["category"] for row in rows], dtype=object),
        lambda s: dict(zip(category_of(s), s.counts.tolist(), strict=True)),
        lambda b: dict(zip(b.categories, less(b.alpha, b.categories), strict=True)),
        counted("category"),
    ),
    "Dirichlet without names, counts of named columns": Family(
        ("feature",),
        lambda labels: bm.DirichletCategorical(np.ones(len(labels["feature"]))),
        lambda labels, rows: bm.MultinomialCounts(table(labels, rows) + 3),
        lambda s: dict(zip(category_of(s), s.counts.tolist(), strict=True)),
        lambda b: dict(zip(b.coords["category"], b.alpha - 1, strict=True)),
        lambda _, rows: sum(
            (Counter({f: n + 3 for f, n in row.items() if f != "x"}) for row in rows), Counter()
        ),
    ),
    "normal–inverse-Wishart": Family(
        ("feature",),
        lambda labels: bm.NormalInverseWishart(
            np.zeros(len(labels["feature"])), 1, 9, np.diag([weight(f) for f in labels["feature"]]),
            names_of(labels),
        ),
        table,
        lambda s: named(s.features, s.n * s.mean),
        lambda b: named(b.features, b.kappa * b.location),
        feature_sums,
    ),
    "regression": Family(
        ("feature",),
        line,
        line_data,
        lambda s: named(s.features, (s.triangle()[:, :-1] ** 2).sum(0)),
        lambda b: named(
            b.features, less(np.diag(b.precision), b.features or range(len(b.precision)))
        ),
        squares,
    ),
    "naive Bayes": Family(
        ("class", "category", "feature"),
        naive, naive_data, of_classes, of_classes_belief, classified,
    ),
    "mixture": Family(
        ("class", "category", "feature"),
        partial(naive, kind=bm.NaiveBayesMixture), naive_data, of_mixture, of_mixture_belief,
        classified, in_files=False,
    ),
    "naive Bayes of listed columns of counts": Family(
        ("class", "feature"),
        lambda labels: bm.NaiveBayes(
            classes(labels),
            {"words": (
                bm.DirichletCategorical(np.ones(len(labels["feature"]))),
                bm.MultinomialCounts(list(labels["feature"])),
            )},
        ),
        lambda labels, rows: (
            table(labels, rows) + 3, np.array([row["class"] for row in rows], dtype=object)
        ),
        partial(of_words, "words"), partial(of_words_belief, "words"), listed_words,
    ),
    "naive Bayes of a table of counts": Family(
        ("class", "feature"),
        lambda labels: bm.NaiveBayes(
            classes(labels), bm.DirichletCategorical(np.ones(len(labels["feature"])))
        ),
        lambda labels, rows: (
            bm.MultinomialCounts(table(labels, rows) + 3),
            np.array([row["class"] for row in rows], dtype=object),
        ),
        partial(of_words, ""), partial(of_words_belief, ""), words,
    ),
    "discriminant": Family(
        ("class", "feature"),
        partial(discriminant, "full"),
        lambda labels, rows: (
            table(labels, rows), np.array([row["class"] for row in rows], dtype=object)
        ),
        of_discriminant, of_discriminant_belief, sums_by_class,
    ),
    "discriminant, shared": Family(
        ("class", "feature"),
        partial(discriminant, "shared"),
        lambda labels, rows: (
            table(labels, rows), np.array([row["class"] for row in rows], dtype=object)
        ),
        of_discriminant, of_discriminant_belief, sums_by_class,
    ),
    "hypotheses": Family(
        ("hypothesis",),
        lambda labels: bm.ConceptLearning(
            {h: SETS.get(h, {1, 2}) for h in labels["hypothesis"]}, items=range(1, 9)
        ),
        lambda _, rows: [1 + int(row["x"] > 0) for row in rows],
        lambda s: dict(zip(s.hypotheses, s.log_likelihood.tolist(), strict=True)),
        lambda b: dict(
            zip(b.hypotheses, (b.log_weights + np.log(len(b.hypotheses))).tolist(), strict=True)
        ),
        lambda labels, rows: {
            h: -len(rows) * np.log(len(SETS.get(h, {1, 2}))) for h in labels["hypothesis"]
        },
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Two models of a family with labels and rows of their own, and a folder."""

    family: Family
    labels: tuple[Any, Any]
    rows: tuple[Any, Any]
    folder: Any

    @property
    def all_rows(self):
        return [*self.rows[0], *self.rows[1]]

    @property
    def models(self):
        return tuple(map(self.family.model, self.labels))

    @property
    def statistics(self):
        return tuple(
            model.statistic(self.family.data(labels, rows))
            for model, labels, rows in zip(self.models, self.labels, self.rows, strict=True)
        )

    def saved(self, value, name):
        bm.save(value, self.folder / f"{name}.json")
        return bm.load(self.folder / f"{name}.json")


def plus(case):
    one, two = case.statistics
    return case.family.numbers(one + two), case.all_rows


def minus(case):
    """Take the second rows out of all, of which the first model saw those that have its labels."""
    one, two = case.statistics
    own = case.labels[0]
    axes = [axis for axis in own if axis != "feature"]
    nothing = dict.fromkeys(own.get("feature", ()), 0)
    rows = [nothing | row for row in case.rows[1] if all(row[axis] in own[axis] for axis in axes)]
    whole = one + case.models[0].statistic(case.family.data(own, rows)) if rows else one
    return case.family.numbers(whole - two), case.rows[0]


def update(case):
    return case.family.of_belief(case.models[0].update(case.statistics[1])), case.rows[1]


def update_after(case):
    one, two = case.statistics
    return case.family.of_belief(case.models[0].update(one).update(two)), case.all_rows


def rows_after(case):
    """Rows of a second frame or column, which names what is in it; of an array, by place."""
    after = case.models[0].update(case.statistics[0])
    found = after.update(case.family.data(case.labels[1], case.rows[1]))
    of_place = dict(enumerate(case.labels[0].get("feature", ())))
    rows = [{of_place.get(k, k): x for k, x in row.items()} for row in case.rows[1]]
    return case.family.of_belief(found), case.rows[0] + rows


def loaded(case):
    one, two = case.statistics
    belief = case.saved(case.models[0].update(one), "belief")
    return case.family.of_belief(belief.update(case.saved(two, "statistic"))), case.all_rows


def merged(case):
    for name, part in zip("ab", case.statistics, strict=True):
        case.saved(part, name)
    found = bm.scale.merge([case.folder / "a.json", case.folder / "b.json"])
    return case.family.numbers(found), case.all_rows


def resumed(case):
    """Go on with the second model where the first one stopped."""
    source = case.folder / "rows.csv"
    source.write_text("x\n1\n")
    passes = [Checkpoint(case.folder / "s.json", m, source, None, None) for m in case.models]
    one, two = case.statistics
    passes[0].write(Fold([one]), (0, 0), 1)
    begun, _, _ = passes[1].begun()
    begun.add(two)
    return case.family.numbers(begun.total()), case.all_rows


def folded_by_dask(case):
    """Partitions of one bag, each with labels of its own."""
    from dask.bag import from_sequence
    from dask.config import set as configured

    def of_data(data, number):
        return case.models[number].statistic(data[0])

    parts = [case.family.data(*each) for each in zip(case.labels, case.rows, strict=True)]
    with configured(scheduler="synchronous"):
        bag = from_sequence(parts, npartitions=2)
        return case.family.numbers(from_dask(of_data, bag, None, list)), case.all_rows


IN_MEMORY = (plus, minus, update, update_after, rows_after)
IN_FILES = (loaded, merged, resumed, folded_by_dask)


def changed(draw, labels):
    """Return labels in another order, of other names, with one more or one less, or numbers."""
    alphabet, change = labels[0], draw(st.sampled_from(range(6)))
    own = labels[1]
    if change == 1:
        return tuple(draw(st.permutations(own)))
    if change == 2:
        return (*own[:-1], alphabet[-1])
    if change == 3:
        return (*own, alphabet[-1])
    if change == 4:
        return own[1:]
    return tuple(range(len(own))) if change == 5 else own


@st.composite
def cases(draw, family):
    """Draw two sets of labels, and for each some rows with these labels."""
    first, second = {}, {}
    for axis in family.axes:
        alphabet = ALPHABET[axis]
        first[axis] = tuple(draw(st.permutations(alphabet[:3])))
        second[axis] = first[axis]
    axis = draw(st.sampled_from(family.axes))
    second[axis] = changed(draw, (ALPHABET[axis], first[axis]))
    number = st.integers(-3, 3)

    def rows(labels):
        found = []
        for _ in range(draw(st.integers(1, 4))):
            row = {"x": draw(number)}
            for axis, own in labels.items():
                if axis == "feature":
                    row |= {f: draw(number) for f in own}
                else:
                    row[axis] = draw(st.sampled_from(own))
            found.append(row)
        return found

    return (first, second), (rows(first), rows(second))


def check(family, way, drawn, folder):
    """Check numbers by label, unless labels differ and the meeting is refused."""
    labels, rows = drawn
    case = Case(family, labels, rows, folder)
    try:
        found, seen = way(case)
    except bm.DataError:
        assert labels[0] != labels[1]
        return
    wanted = family.oracle(labels[0], seen)
    for label in {*found, *wanted}:
        assert found.get(label, 0) == pytest.approx(wanted.get(label, 0), abs=1e-9), label


EVERY = [
    (name, way)
    for name, family in FAMILIES.items()
    for way in (*IN_MEMORY, *(IN_FILES if family.in_files else IN_FILES[-1:]))
]
NAMED = [f"{name}, {way.__name__}" for name, way in EVERY]


@pytest.mark.parametrize(("name", "way"), EVERY, ids=NAMED)
def test_a_number_stays_with_its_label(name, way, tmp_path):
    """Some of the cases; the others are slow."""
    _many(3, name, way, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), EVERY, ids=NAMED)
def test_a_number_stays_with_its_label_in_many_cases(name, way, tmp_path):
    _many(6, name, way, tmp_path)


def _many(number, name, way, folder):
    family = FAMILIES[name]

    @settings(max_examples=number, suppress_health_check=list(HealthCheck), database=None)
    @given(cases(family))
    def tried(drawn):
        check(family, way, drawn, folder)

    tried()


def test_labels_of_two_axes_that_hold_commas_stay_apart():
    """Labels 'x, y' with 'z' and 'x' with 'y, z' read alike: a dict held one of them."""
    coords = {"site": ["x, y", "x"], "arm": ["z", "y, z"]}
    belief = bm.BetaBernoulli([[1, 2], [3, 4]], 5, coords)
    texts = [text for text, _ in places(belief, "theta", (2, 2))]
    assert texts == ["theta['x, y', z]", "theta['x, y', 'y, z']", "theta[x, z]", "theta[x, 'y, z']"]
    options = bm.decide(belief, "theta").table()
    assert options.index.is_unique
    assert options.loc["x, 'y, z'", "mean"] == pytest.approx(4 / 9)
    draws = belief.to_datatree(500, rng=1)
    found = bm.compare(belief, draws)
    assert "theta[x, 'y, z']" in found.table.index


@pytest.mark.parametrize("kind", [bm.NaiveBayes, bm.NaiveBayesMixture])
def test_a_statistic_of_other_columns_is_refused_by_a_prior(kind):
    """A prior that lists its columns has met no data, and took the counts of any others."""
    first = {"class": ("yes", "no"), "category": ("red", "green"), "feature": ("size", "age")}
    other = first | {"feature": ("size", "pulse")}
    rows = [{"class": "yes", "category": "red", "size": 1, "pulse": 0}]
    statistic = naive(other, kind).statistic(naive_data(other, rows))
    with pytest.raises(bm.DataError, match=r"must be a statistic of the columns \['size', 'age'\]"):
        naive(first, kind).update(statistic)


@pytest.mark.parametrize("rows", [np.array([[0, 1, 1], [1, 1, 0]]), {"bits": [[1, 1], [1, 0]]}])
def test_columns_chosen_by_number_keep_their_numbers(rows):
    """Columns 1 and 2 of an array were called 0 and 1, in every table and in files."""
    model = bm.NaiveBayes(
        bm.DirichletCategorical([1, 1]), {"bits": (bm.BetaBernoulli(1, 1), (1, 2))}
    )
    belief = model.update((rows, [0, 1])).blocks["bits"].belief
    assert belief.coords["feature"] == (1, 2)


@pytest.mark.parametrize("kind", [bm.NaiveBayes, bm.NaiveBayesMixture])
def test_a_table_of_counts_predicts_by_the_names_of_its_columns(kind):
    """Another order of the same columns exchanged their counts, silently."""
    counts = pd.DataFrame({"cat": [5, 1], "dog": [0, 2]})
    turned, target = counts[["dog", "cat"]], np.array(["no", "yes"], dtype=object)
    known = bm.DirichletCategorical([1, 1], ["no", "yes"])
    table = kind(known, bm.DirichletCategorical([1, 1])).update(
        (bm.MultinomialCounts(counts), target)
    )
    for read in (table.log_joint, table.log_predictive):
        with pytest.raises(bm.DataError, match="columns must be the model's categories"):
            read(bm.MultinomialCounts(turned))
    words = bm.DirichletCategorical([1, 1]), bm.MultinomialCounts(["cat", "dog"])
    listed = kind(known, {"words": words}).update((counts, target))
    np.testing.assert_array_equal(listed.log_joint(turned), listed.log_joint(counts))


def test_rows_of_a_block_have_the_columns_that_it_lists():
    model = bm.NaiveBayes(
        bm.DirichletCategorical([1, 1]), {"bits": (bm.BetaBernoulli(1, 1), ["a", "b"])}
    )
    with pytest.raises(bm.DataError, match="must have the 2 columns that the block lists"):
        model.update(({"bits": [[0, 1, 1], [1, 1, 0]]}, [0, 1]))
    frame = pd.DataFrame({"b": [0, 1], "a": [1, 1]})
    with pytest.raises(bm.DataError, match=r"Select them: frame\[\['a', 'b'\]\]"):
        model.update(({"bits": frame}, [0, 1]))
    assert model.update(({"bits": frame[["a", "b"]]}, [0, 1])).blocks["bits"].belief.coords[
        "feature"
    ] == ("a", "b")
