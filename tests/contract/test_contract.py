"""What every model promises, tested over every case of one table.

The tests ask the belief, never which model it is. Statistical ones draw with fixed seeds, at a
level of 1e-6 a number, of which there are thousands.
"""

import pickle
from collections.abc import Mapping
from functools import reduce
from itertools import cycle
from math import prod
from operator import add

import numpy as np
import pytest
from scipy import integrate, stats

import bayesmodels as bm
from bayesmodels.belief.reading import levels, numbers
from bayesmodels.draws import load, save
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.store import dumps
from tests.contract.cases import CASES, DISCRIMINANTS, FAMILIES


def per_row(likelihood, draws):
    """Add up log likelihoods over everything that is observed; one number a draw."""
    return sum(each.reshape(draws, -1).sum(-1) for each in likelihood.values())


LARGEST_Z = stats.norm.isf(0.5e-6)


def name_of(case):
    return case.id.replace(" ", "-")


@pytest.fixture(params=CASES, ids=name_of, name="case")
def _case(request):
    return request.param


# Cases of a family have laws of one kind: the fast suite looks at those of the first. Those of a
# discriminant are those of vectors.
EACH_LAW = pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=name_of(case),
            marks=pytest.mark.slow if number or family is DISCRIMINANTS else (),
        )
        for family in FAMILIES
        for number, case in enumerate(family)
    ],
)


def assert_same(one, other, rtol=1e-12):
    """Compare two beliefs number by number: means, spreads and intervals."""
    if one == other:
        return
    assert type(one) is type(other)
    assert one.coords == other.coords
    one, other = one.summary(), other.summary()
    assert list(one.index) == list(other.index)
    scale = other.abs().add(other["sd"].where(np.isfinite(other["sd"]), 0), axis=0)
    assert (one.eq(other) | one.sub(other).abs().le(rtol * scale)).all(axis=None)


def parts(case, rng):
    """Split the rows into three parts in random order, the middle one empty."""
    order = rng.permutation(case.rows)
    cut = rng.integers(1, case.rows)
    return [case.take(order[:cut]), case.take([]), case.take(order[cut:])]


def points_of(belief):
    """Count the points that an identity compares: all there are, if they are finitely many."""
    return prod(map(len, levels(belief).values())) if levels(belief) else 20


def is_discrete(law):
    return hasattr(law, "pmf")


# --- statistics and updates -----------------------------------------------------------------------


def test_merging_shuffled_parts_changes_nothing(case):
    rng = np.random.default_rng(1)
    whole = case.prior.statistic(case.data)
    merged = reduce(add, [case.prior.statistic(part) for part in parts(case, rng)])
    assert_same(case.prior.update(merged), case.prior.update(whole), case.rounding)
    evidence = case.start.log_evidence(merged)
    np.testing.assert_allclose(evidence, case.start.log_evidence(whole), rtol=case.rounding)


def test_updating_part_by_part_is_updating_once(case):
    step_by_step = case.prior
    for part in parts(case, np.random.default_rng(2)):
        step_by_step = step_by_step.update(part)
    assert_same(step_by_step, case.prior.update(case.data), case.rounding)


def test_no_rows_change_nothing(case):
    nothing, posterior = case.take([]), case.prior.update(case.data)
    assert_same(posterior.update(nothing), posterior)
    assert_same(case.prior.update(nothing).update(case.data), posterior)
    assert_same(
        case.prior.update(case.prior.statistic(case.data).without_rows()).update(case.data),
        posterior,
    )
    np.testing.assert_array_equal(posterior.log_evidence(nothing), 0)


def test_evidence_is_the_product_of_one_step_predictive_densities(case):
    belief, total = case.start, 0.0
    for i in range(case.warm_up, case.rows):
        row = case.take([i])
        total += case.next_row(belief, row)
        belief = belief.update(row)
    evidence = np.sum(case.start.log_evidence(case.rest))
    assert total == pytest.approx(evidence, rel=max(1e-11, case.rounding))


@pytest.mark.parametrize("case", [c for c in CASES if c.members], ids=name_of)
def test_a_batch_is_its_members(case):
    together = case.prior.update(case.data)
    priors, data = zip(*case.members(), strict=True)
    alone = [prior.update(rows) for prior, rows in zip(priors, data, strict=True)]
    for name, exact in together.mean().items():
        np.testing.assert_allclose(exact, [one.mean()[name] for one in alone], rtol=1e-12)
        variances = [one.var()[name] for one in alone]
        np.testing.assert_allclose(together.var()[name], variances, rtol=1e-11)
    evidence = [prior.log_evidence(rows) for prior, rows in zip(priors, data, strict=True)]
    np.testing.assert_allclose(case.prior.log_evidence(case.data), evidence, rtol=1e-12)


def test_a_file_gives_back_prior_and_posterior_bit_by_bit(case, tmp_path):
    for belief in (case.prior, case.prior.update(case.data)):
        bm.save(belief, tmp_path / "belief.json")
        after = bm.load(tmp_path / "belief.json")
        assert after == belief
        assert after.coords == belief.coords
        assert dumps(after) == dumps(belief)  # digits and signs of zero


# --- algebra and PyMC -----------------------------------------------------------------------------


# Each compiles a model: the fast suite takes the first case of some families, the slow one all.
SOME = [family[0] for family in FAMILIES[::6]]
QUICK = [(case, "rows") for case in SOME]
IDENTITIES = [
    pytest.param(
        case,
        likelihood,
        id=f"{name_of(case)}-{likelihood}",
        marks=[] if (case, likelihood) in QUICK else pytest.mark.slow,
    )
    for case in CASES
    for likelihood in ("rows", "statistic")
]


@pytest.mark.parametrize(("case", "likelihood"), IDENTITIES)
def test_identity_of_the_posterior(case, likelihood):
    found = bm.check_identity(
        case.prior.declare(case.data, likelihood),
        case.prior.update(case.data),
        case.prior,
        case.log_evidence,
        rng=np.random.default_rng(3),
    )
    assert found.points == points_of(case.prior)
    assert found.holds, found


@pytest.mark.slow
@pytest.mark.parametrize("likelihood", ["rows", "statistic"])
def test_identity_of_the_prior(case, likelihood):
    """Without rows the posterior is the prior, and the evidence is one."""
    belief, nothing = case.start.update(case.take([])), case.take([])
    model = belief.declare(nothing, likelihood)
    found = bm.check_identity(model, belief, belief, 0.0, rng=np.random.default_rng(4))
    assert found.points == points_of(belief)
    assert found.holds, found


@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in CASES if c.warm_up], ids=name_of)
def test_rows_and_their_statistic_declare_the_same_density(case):
    """And that density over the prior's is the likelihood of the rows.

    Where there is an evidence, that is what the identities above say, and the test of posterior
    times evidence below.
    """
    start, rest = case.start, case.rest
    rows = ModelDensity(start.declare(rest, "rows"))
    statistic = ModelDensity(start.declare(start.statistic(rest), "statistic"))
    posterior = start.update(rest)
    blank = start.update(case.take([]))
    draws = posterior.sample(3, np.random.default_rng(5))
    likelihood = posterior.log_likelihood(draws, rest)
    for i in range(3):
        point = {name: values[i] for name, values in draws.items()}
        one, other = rows(point, point), statistic(point, point)
        assert abs(one.value - other.value) <= one.rounding + other.rounding
        terms = np.concatenate([each[i].ravel() for each in likelihood.values()])
        own = np.sum(blank.log_density(point)) + terms.sum()
        slack = np.sum(blank.log_density_rounding(point))
        assert abs(one.value - own) <= one.rounding + slack + 1e-14 * np.abs(terms).sum()


def test_posterior_times_evidence_is_prior_times_likelihood(case):
    start, rest = case.start.update(case.take([])), case.rest
    posterior = start.update(rest)
    draws = posterior.sample(10, np.random.default_rng(6))
    likelihood = per_row(posterior.log_likelihood(draws, rest), 10)
    before, after = (b.log_density(draws).reshape(10, -1).sum(-1) for b in (start, posterior))
    evidence = np.sum(start.log_evidence(rest))
    bound = sum(b.log_density_rounding(draws).reshape(10, -1).sum(-1) for b in (start, posterior))
    assert (np.abs(after + evidence - before - likelihood) <= bound + 1e-12).all()


@pytest.mark.parametrize("case", [family[0] for family in FAMILIES], ids=name_of)
def test_draws_under_other_names_are_refused(case):
    draws = {f"{name}_": x for name, x in case.prior.update(case.data).sample(3, 1).items()}
    for ask in (
        case.prior.log_density,
        case.prior.log_density_rounding,
        lambda draws: case.prior.log_likelihood(draws, case.data),
        lambda draws: case.prior.replicate(draws, case.data, 1),
    ):
        with pytest.raises(bm.DataError, match=r"draws: must have the variable '.*'; has "):
            ask(draws)


@pytest.mark.parametrize("case", [family[0] for family in FAMILIES], ids=name_of)
def test_there_is_no_density_outside_of_the_support(case):
    posterior = case.prior.update(case.data)
    draws = posterior.sample(3, 1)
    for name in {"theta", "pi", "lam", "sigma2", "Sigma"} & set(draws):
        density = posterior.log_density(draws | {name: -draws[name]})
        np.testing.assert_array_equal(density, np.full(np.shape(density), -np.inf))


def observed_alike(rows, model, drawn):
    """Compare the observed rows of a belief, of its model and beside its draws."""
    assert set(drawn.observed_data.data_vars) == set(rows)
    seen = {v.name for v in model.observed_RVs}
    if seen:  # or else something is summed out of the rows, and they are part of a potential
        assert seen == set(rows)
    else:
        assert model.potentials
    for name, (values, axes) in rows.items():
        observed = drawn.observed_data[name]
        assert observed.dims == tuple(axes)
        np.testing.assert_array_equal(observed, values)
        if name in seen:
            assert tuple(model.named_vars_to_dims[name]) == observed.dims
            np.testing.assert_array_equal(model.rvs_to_values[model[name]].data, values)
        for axis, labels in axes.items():
            assert name not in seen or tuple(model.coords[axis]) == labels
            assert [str(v) for v in observed[axis].to_numpy()] == [str(v) for v in labels]


def test_names_agree_everywhere(case):
    belief = case.prior.update(case.data)
    drawn = bm.exact_draws(case.prior, case.data, draws=5, chains=2)
    models = {of: case.prior.declare(case.data, of) for of in ("rows", "statistic")}
    for model in models.values():
        assert {v.name for v in model.free_RVs} == set(belief.dims)
        for name, axes in belief.dims.items():
            assert tuple(model.named_vars_to_dims.get(name, ())) == axes
        for axis, labels in belief.coords.items():
            assert tuple(model.coords[axis]) == labels
    for tree in (belief.to_datatree(draws=5, chains=2).posterior, drawn.posterior):
        assert set(tree.data_vars) == set(belief.dims) == set(belief.marginals())
        for name, axes in belief.dims.items():
            assert tree[name].dims == ("chain", "draw", *axes)
        for axis, labels in belief.coords.items():
            assert tuple(tree[axis].to_numpy().tolist()) == labels
    observed_alike(case.prior.observed(case.data), models["rows"], drawn)


# --- laws and draws -------------------------------------------------------------------------------


@EACH_LAW
def test_marginals_integrate_to_one(case):
    """Piece by piece between quantiles, each of which holds the probability that it should."""
    levels = np.array([1e-3, 0.1, 0.5, 0.9, 1 - 1e-3])
    for law in case.prior.update(case.data).marginals().values():
        if is_discrete(law):
            lowest, highest = (end.flat[0] for end in map(np.asarray, law.support()))
            mass = sum(law.pmf(k) for k in np.arange(lowest, highest + 1))
            np.testing.assert_allclose(mass, 1, rtol=1e-12)
            continue
        cuts = [law.ppf(level) for level in levels]
        for low, high, inside in zip(cuts[:-1], cuts[1:], np.diff(levels), strict=True):
            width = high - low
            mass, _ = integrate.quad_vec(
                lambda t, low=low, width=width, law=law: (
                    np.exp(law.logpdf(low + width * t)) * width
                ),
                0,
                1,
                epsrel=1e-10,
            )
            np.testing.assert_allclose(mass, inside, rtol=1e-8)


@EACH_LAW
def test_quantiles_invert_probabilities(case):
    for law in case.prior.update(case.data).marginals().values():
        for level in (1e-9, 1e-3, 0.2, 0.5, 0.99):
            if is_discrete(law):  # the smallest value with that probability or more below or at it
                assert (law.cdf(law.ppf(level)) >= level).all()
                assert (law.cdf(law.ppf(level) - 1) < level).all()
                assert (law.sf(law.isf(level)) <= level).all()
                assert (law.sf(law.isf(level) - 1) > level).all()
                continue
            np.testing.assert_allclose(law.cdf(law.ppf(level)), level, rtol=1e-7)
            np.testing.assert_allclose(law.sf(law.isf(level)), level, rtol=1e-7)


@EACH_LAW
def test_exact_draws_follow_the_marginals(case):
    belief = case.prior.update(case.data)
    rng = np.random.default_rng(7)
    draws = numbers(belief, belief.sample(4000, rng))
    for name, law in belief.marginals().items():
        probabilities = law.cdf(draws[name])
        if is_discrete(law):  # anywhere within the step
            probabilities = probabilities - rng.random(draws[name].shape) * law.pmf(draws[name])
        probabilities = probabilities.reshape(4000, -1)
        assert (stats.kstest(probabilities, "uniform").pvalue > 1e-6).all()


def test_means_variances_and_intervals_are_those_of_the_draws(case):
    belief, n = case.prior.update(case.data), 4000
    draws = numbers(belief, belief.sample(n, np.random.default_rng(8)))
    means, variances, intervals = belief.mean(), belief.var(), belief.interval(0.8)
    for name, x in draws.items():
        low, high = intervals[name]
        for outside in (x < low, x > high):
            above = outside.mean(0) - 0.1  # a discrete law has less in its tails, perhaps
            above = above if is_discrete(belief.marginals()[name]) else np.abs(above)
            assert (above < LARGEST_Z * np.sqrt(0.1 * 0.9 / n)).all()
        assert (np.abs(x.mean(0) - means[name]) <= LARGEST_Z * np.sqrt(variances[name] / n)).all()
        squares = (x - means[name]) ** 2
        noise = squares.std(0) / np.sqrt(n)
        assert (np.abs(squares.mean(0) - variances[name]) <= LARGEST_Z * noise).all()


def test_exact_draws_have_the_joint_law(case):
    """The average likelihood of a row over draws of the parameters is the row's evidence."""
    belief, row = case.prior.update(case.data), case.take([0])
    draws = belief.sample(4000, np.random.default_rng(9))
    ratio = np.exp(
        per_row(belief.log_likelihood(draws, row), 4000) - np.sum(belief.log_evidence(row))
    )
    rounding = 1e-12  # all that is left where every draw explains the row equally well
    assert abs(ratio.mean() - 1) < LARGEST_Z * ratio.std() / np.sqrt(len(ratio)) + rounding


def _has_mode(case):
    try:
        case.prior.update(case.data).mode()
    except bm.ModeError:
        return False
    return True


@pytest.mark.parametrize("case", list(filter(_has_mode, CASES)), ids=name_of)
def test_nothing_near_the_mode_is_denser(case):
    belief = case.prior.update(case.data)
    mode = belief.mode()
    top = belief.log_density(mode)
    draws = belief.sample(200, np.random.default_rng(13))
    for nearness in (0, 0.9, 0.999):
        near = {
            name: x if name in levels(belief) else x + nearness * (mode[name] - x)
            for name, x in draws.items()
        }
        assert (belief.log_density(near) <= top + belief.log_density_rounding(mode)).all()


@EACH_LAW
def test_the_referee_agrees_with_exact_draws(case):
    belief = case.prior.update(case.data)
    verdict = bm.compare(belief, belief.to_datatree(draws=1500, rng=np.random.default_rng(10)))
    assert verdict.outcome == "agree", verdict


def test_replicated_rows_have_the_shape_of_the_rows_with_sample_axes_in_front(case):
    belief = case.prior.update(case.data)
    rng = np.random.default_rng(11)
    rows = case.prior.observed(case.data)
    flat = belief.sample(6, rng)
    for axes in [(6,), (2, 3), (3, 1, 2)]:
        draws = {name: x.reshape(*axes, *x.shape[1:]) for name, x in flat.items()}
        replicated = belief.replicate(draws, case.data, rng)
        likelihood = belief.log_likelihood(draws, case.data)
        again = belief.log_likelihood(flat, case.data)
        for name, (values, _) in rows.items():
            assert replicated[name].shape == (*axes, *values.shape)
        # Of what is observed; or of whole rows, if a row is more than the product of its parts.
        assert set(likelihood) in (set(rows), {"rows"})
        for name in likelihood:
            n = len(rows[name][0]) if name in rows else len(next(iter(rows.values()))[0])
            assert likelihood[name].shape[: len(axes) + 1] == (*axes, n)
            one, other = likelihood[name], again[name].reshape(likelihood[name].shape)
            np.testing.assert_array_equal(one, other)


FILES = [
    pytest.param(
        case,
        suffix,
        id=f"{name_of(case)}{suffix}",
        marks=[] if case in CASES[:2] else pytest.mark.slow,
    )
    for case, suffix in zip(CASES, cycle([".nc", ".zarr"]), strict=False)
]


@pytest.mark.parametrize(("case", "suffix"), FILES)
def test_draws_come_back_from_disk(case, suffix, tmp_path):
    tree = bm.exact_draws(case.prior, case.data, draws=5, chains=2, rng=np.random.default_rng(12))
    path = tmp_path / f"draws{suffix}"
    save(tree, path)
    save(tree, path)  # over an old file
    assert list(tmp_path.iterdir()) == [path]
    back = load(path)
    assert set(back.children) == set(tree.children)
    for group in tree.children:
        assert tree[group].dataset.equals(back[group].dataset)


# --- values ---------------------------------------------------------------------------------------


def test_beliefs_and_statistics_are_values(case):
    belief, statistic = case.prior.update(case.data), case.prior.statistic(case.data)
    for value, fresh, other in (
        (belief, case.prior.update(case.data), case.prior),
        (statistic, case.prior.statistic(case.data), statistic.without_rows()),
    ):
        assert value == fresh
        assert value != other
        assert value != "something else"
        assert type(value).__name__ in repr(value)
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own bytes
        with pytest.raises(TypeError, match="unhashable"):
            hash(value)


def test_beliefs_and_statistics_are_frozen(case):
    belief, statistic = case.prior.update(case.data), case.prior.statistic(case.data)
    for value in (belief, statistic, pickle.loads(pickle.dumps(belief))):  # noqa: S301 - as above
        parts = [value]
        for part in parts:
            for name, field in getattr(part, "__dict__", {}).items():
                with pytest.raises((AttributeError, TypeError)):
                    setattr(part, name, field)
                assert not isinstance(field, np.ndarray) or not field.flags.writeable
                inner = field.values() if isinstance(field, Mapping) else [field]
                parts += [each for each in inner if type(each).__module__.startswith("bayesmodels")]


def test_updating_leaves_the_prior_as_it_was(case):
    before = pickle.dumps(case.prior)
    case.prior.update(case.data)
    assert pickle.dumps(case.prior) == before
