"""Every kernel against a slow version that can be read, at all dtypes, layouts and sizes."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.special import gammaln

from bayesmodels.numerics import checks, class_densities, kernels, moments, threads, token_counts

WHOLE = [np.bool_, np.int8, np.uint8, np.int32, np.int64, np.float16, np.float32, np.float64]
FLOATS = [np.float16, np.float32, np.float64]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Make blocks of a few rows, so that a few rows are many blocks, on several threads."""
    monkeypatch.setattr(threads, "BLOCK", 256)
    monkeypatch.setattr(threads, "PARALLEL_FROM", 1000)
    monkeypatch.setattr(threads, "CORES", 2)


def laid_out(x, layout):
    """Return the same numbers, differently in memory."""
    if layout == "fortran":
        return np.asfortranarray(x)
    if layout == "strided":
        return np.repeat(x, 2, axis=0)[::2]
    if layout == "reversed":
        return x[::-1].copy()[::-1]
    if layout == "read-only":
        x = x.copy()
        x.setflags(write=False)
    return x


@st.composite
def rows(draw, dtypes, *, levels=None, dims=(0, 1, 2)):
    """Draw rows, their groups (or None), the number of groups, and weights (or None)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([0, 1, 2, 7, 300]))
    shape = (n, *(draw(st.sampled_from([0, 1, 3])) for _ in range(draw(st.sampled_from(dims)))))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    if levels is not None:
        x = rng.integers(0, levels, shape)
    elif dtype.kind == "f":
        x = rng.normal(3, 2, shape)
    else:
        x = rng.integers(0, 2 if dtype == np.bool_ else 100, shape)
    x = laid_out(
        x.astype(dtype), draw(st.sampled_from(["C", "fortran", "strided", "reversed", "read-only"]))
    )
    size = draw(st.sampled_from([1, 2, 9]))
    groups = draw(st.sampled_from([None, rng.integers(0, max(1, size - 1), n)]))  # the last: empty
    if groups is None:
        size = 1
    weights = draw(st.sampled_from([None, rng.random(n) * rng.integers(0, 2, n)]))
    return x, groups, size, weights


def parts(x, groups, size, weights):
    """Yield the float64 rows and the weights of each group."""
    w = np.ones(len(x)) if weights is None else weights
    for g in range(size):
        here = np.ones(len(x), bool) if groups is None else groups == g
        yield x[here].astype(float), w[here]


# --- statistics ------------------------------------------------------------------------------


@given(rows(WHOLE))
def test_sums(drawn):
    x, *_ = drawn
    expected = [np.tensordot(w, part, (0, 0)) for part, w in parts(*drawn)]
    result = moments.sums(*drawn)
    assert result.dtype == float
    assert result.shape == (drawn[2], *x.shape[1:])
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


@given(drawn=rows(WHOLE))
def test_moments(drawn):
    n, mean, scatter = moments.moments(*drawn)
    for g, (part, w) in enumerate(parts(*drawn)):
        assert n[g] == pytest.approx(w.sum(), rel=1e-13)
        if w.sum() == 0:
            assert not mean[g].any()
            assert not scatter[g].any()
            continue
        middle = np.tensordot(w, part, (0, 0)) / w.sum()
        np.testing.assert_allclose(mean[g], middle, rtol=1e-12, atol=1e-12)
        expected = np.tensordot(w, (part - middle) ** 2, (0, 0))
        np.testing.assert_allclose(scatter[g], expected, rtol=1e-10, atol=1e-10)


@given(rows(WHOLE, dims=(1,)))
def test_scatters(drawn):
    n, mean, scatter = moments.scatters(*drawn)
    each = moments.moments(*drawn)
    np.testing.assert_allclose(n, each[0], rtol=1e-13)
    np.testing.assert_allclose(mean, each[1], rtol=1e-13, atol=1e-13)
    diagonal = np.diagonal(scatter, axis1=1, axis2=2)
    np.testing.assert_allclose(diagonal, each[2], rtol=1e-11, atol=1e-11)
    for g, (part, w) in enumerate(parts(*drawn)):
        away = part - mean[g]
        np.testing.assert_allclose(scatter[g], (away.T * w) @ away, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("block", [2**12, 2**17])
@pytest.mark.parametrize("kernel", [moments.moments, moments.scatters])
def test_moments_far_from_zero(monkeypatch, kernel, block):
    monkeypatch.setattr(threads, "BLOCK", block)
    rng = np.random.default_rng(3)
    x = 1e8 + rng.normal(size=(5000, 2))
    groups = np.sort(rng.integers(0, 3, 5000))  # whole blocks lack a group
    _, mean, scatter = kernel(x, groups, 3)
    for g, j in np.ndindex(3, 2):
        with mpmath.workdps(40):
            column = [mpmath.mpf(float(v)) for v in x[groups == g, j]]
            exact = mpmath.fsum(column) / len(column)
            square = mpmath.fsum((v - exact) ** 2 for v in column)
            assert abs(exact - float(mean[g, j])) <= np.spacing(1e8)
            ours = scatter[g, j] if scatter.ndim == 2 else scatter[g, j, j]
            assert abs(float(ours) / square - 1) < 1e-8


def test_a_drifting_mean_costs_no_digits():
    x = np.linspace(0, 1e9, 3000)[:, None] + np.array([0.0, 1e8])
    _, mean, scatter = moments.moments(x, None, 1)
    np.testing.assert_allclose(mean[0], [5e8, 6e8], rtol=1e-15)
    np.testing.assert_allclose(
        scatter[0], 3000 * (1e9 / 2999) ** 2 * (3000**2 - 1) / 12, rtol=1e-12
    )


@given(rows([np.int8, np.uint8, np.int32, np.int64], levels=4, dims=(0, 1)))
def test_tables(drawn):
    codes, groups, size, weights = drawn
    result = moments.tables(codes, groups, 4, size, weights)
    assert result.dtype == float
    for g, (part, w) in enumerate(parts(*drawn)):
        for k in range(4):
            expected = np.tensordot(w, part == k, (0, 0))
            np.testing.assert_allclose(result[g, ..., k], expected, rtol=1e-12)


def test_many_groups():
    rng = np.random.default_rng(0)
    x, groups = rng.integers(0, 5, (4000, 2)), rng.integers(0, 700, 4000)
    total = np.zeros((700, 2))
    np.add.at(total, groups, x)
    np.testing.assert_array_equal(moments.sums(x, groups, 700), total)
    count = moments.tables(x, groups, 5, 700)
    np.testing.assert_array_equal(count @ np.arange(5), total)


# --- sparse counts ---------------------------------------------------------------------------


@st.composite
def counts(draw):
    """Draw a sparse table of counts in any format, and the same as an array."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, V = draw(st.sampled_from([0, 1, 5, 60])), draw(st.sampled_from([1, 4, 30]))
    cells = draw(st.sampled_from([0, 1, 400])) if n else 0
    largest = draw(st.sampled_from([1, 3, 12, 400, 10**7]))
    values = rng.integers(0, largest + 1, cells)  # zeros, and cells given twice
    place = rng.integers(0, max(n, 1), cells), rng.integers(0, V, cells)
    dtype = draw(st.sampled_from([np.int64, np.float64, np.float32]))
    x = sparse.coo_array((values.astype(dtype), place), shape=(n, V))
    form = draw(st.sampled_from(["coo", "csr", "csc", "unsorted", "matrix", "lil", "dense"]))
    if form == "unsorted":
        order = rng.permutation(cells)
        order = order[np.argsort(place[0][order], kind="stable")]
        pointers = np.searchsorted(place[0][order], np.arange(n + 1))
        given_x = sparse.csr_array((x.data[order], place[1][order], pointers), shape=(n, V))
    elif form == "dense":
        given_x = x.toarray()
    elif form == "matrix":
        given_x = sparse.csr_matrix(x)
    else:
        given_x = x.asformat(form)
    size = draw(st.sampled_from([1, 3]))
    groups = rng.integers(0, size, n) if size > 1 else None
    dense = given_x.astype(float).toarray() if form != "dense" else x.toarray().astype(float)
    return given_x, dense, groups, size


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["numpy", "numba"])
def compiled(request, monkeypatch):
    monkeypatch.setattr(kernels, "pay", lambda _: request.param)


@pytest.mark.usefixtures("compiled")
class TestCounts:
    @given(counts(), st.booleans())
    @settings(deadline=None)
    def test_sparse_sums(self, drawn, weighted):
        x, dense, groups, size = drawn
        weights = np.linspace(0, 1, len(dense)) if weighted else None
        x = x if sparse.issparse(x) else sparse.csr_array(x)
        result = token_counts.sparse_sums(x, groups, size, weights)
        expected = moments.sums(dense, groups, size, weights)
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)

    def test_sums_are_the_same_whatever_the_machine(self, monkeypatch):
        """Neither the number of cores nor which thread ends first changes a digit."""
        rng = np.random.default_rng(1)
        x, weights = sparse.csr_array(rng.poisson(1.0, (3000, 7))), rng.random(3000)
        monkeypatch.setattr(kernels, "pay", lambda _: True)
        sums = []
        for cores in (1, 2, 5):
            monkeypatch.setattr(threads, "CORES", cores)
            sums.append(token_counts.sparse_sums(x, None, 1, weights))
        late = threads.run
        monkeypatch.setattr(
            threads, "run", lambda work, each, n: late(work, reversed(list(each)), n)
        )
        sums.append(token_counts.sparse_sums(x, None, 1, weights))
        assert all((other == sums[0]).all() for other in sums)

    @given(counts())
    @settings(deadline=None)
    def test_coefficients(self, drawn):
        x, dense, groups, size = drawn
        before = x.copy()
        result = token_counts.count_log_coefficients(x, groups, size)
        each = gammaln(dense.sum(1) + 1) - gammaln(dense + 1).sum(1)
        for g in range(size):
            here = slice(None) if groups is None else groups == g
            scale = np.abs(gammaln(dense[here].sum(1) + 1)).sum()
            assert result[g] == pytest.approx(each[here].sum(), abs=1e-15 * scale + 1e-10)
        if sparse.issparse(x):  # the caller's matrix is as it was
            assert (x != before).nnz == 0
            assert x.nnz == before.nnz

    @given(counts(), st.booleans())
    @settings(deadline=None)
    def test_tokens(self, drawn, whole):
        x, dense, *_ = drawn
        V = dense.shape[1]
        alpha = np.random.default_rng(0).gamma(0.5, size=(3, V)) + 1e-3
        alpha = np.ceil(alpha) if whole else alpha  # few numbers, or all of them different
        result = token_counts.log_tokens(x, alpha)
        assert result.shape == (len(dense), 3)
        for c in range(3):
            expected = [exact_mass(row, alpha[c]) for row in dense]
            np.testing.assert_allclose(result[:, c], expected, rtol=1e-11, atol=1e-11)

    @given(counts(), st.booleans())
    @settings(deadline=None)
    def test_words(self, drawn, impossible):
        x, dense, *_ = drawn
        rng = np.random.default_rng(0)
        theta = rng.dirichlet(np.ones(dense.shape[1]), (2, 3))
        theta[..., 0] *= not impossible
        with np.errstate(divide="ignore"):
            logs = np.log(theta)
        result = token_counts.log_words(x, logs)
        assert result.shape == (2, len(dense), 3)
        with np.errstate(invalid="ignore"):
            terms = np.where(dense[:, None] > 0, dense[:, None] * logs[:, None], 0).sum(-1)
        each = gammaln(dense.sum(1) + 1) - gammaln(dense + 1).sum(1)
        np.testing.assert_allclose(result, terms + each[:, None], rtol=1e-11, atol=1e-8)

    def test_huge_counts_keep_their_digits(self):
        x = np.array([[10**9, 10**9, 0], [10**12, 0, 3], [5000, 1, 0], [0, 0, 0]])
        alpha = np.array([[1.0, 1.0, 1.0], [1e-3, 1e5, 2.0]])
        result = token_counts.log_tokens(sparse.csr_array(x), alpha)
        expected = [[exact_mass(row, a) for a in alpha] for row in x]
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-13)
        coefficient = token_counts.count_log_coefficients(x, np.arange(4), 4)
        with mpmath.workdps(50):
            exact = [
                float(log_factorial(row.sum()) - mpmath.fsum(map(log_factorial, row))) for row in x
            ]
        np.testing.assert_allclose(coefficient, exact, rtol=1e-13)

    def test_tiny_concentrations(self):
        x = sparse.csr_array([[1, 0, 2], [0, 20, 1]])
        alpha = np.array([[1e-300, 1e-10, 1.0]])
        expected = [[exact_mass(row, alpha[0])] for row in x.toarray()]
        np.testing.assert_allclose(token_counts.log_tokens(x, alpha), expected, rtol=1e-13)


def log_factorial(n):
    return mpmath.loggamma(mpmath.mpf(int(n)) + 1)


def exact_mass(counts, alpha):
    """Return the Dirichlet-multinomial log mass by its formula, in many digits."""
    with mpmath.workdps(50):
        n, a = [mpmath.mpf(int(v)) for v in counts], [mpmath.mpf(float(v)) for v in alpha]
        lg = mpmath.loggamma
        value = lg(sum(n) + 1) + lg(sum(a)) - lg(sum(a) + sum(n))
        value += mpmath.fsum(lg(b + m) - lg(b) - lg(m + 1) for b, m in zip(a, n, strict=True) if m)
        return float(value)


def test_loops_read_as_python():
    x = sparse.csr_array([[1, 0, 2], [0, 0, 0], [0, 3, 1]])
    total, logs = np.empty(3), np.empty(3)
    table = np.array([0.0, 10.0, 200.0, 3000.0])
    kernels.add_rows.__wrapped__(x.data.astype(float), x.indptr, table, total, logs)
    assert total.tolist() == [3, 0, 4]
    assert logs.tolist() == [210, 0, 3010]
    tables = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    places = np.array([0, 2, 1, 2, 2, 2, 0, 0, 0], dtype=np.uint32)  # two classes, and three more
    sums = np.empty((3, 4))
    kernels.add_tokens.__wrapped__(
        x.data.astype(float), x.indices, x.indptr, tables, places, 2, logs, sums
    )
    assert logs.tolist() == [3, 0, 4]
    assert sums[:, :2].tolist() == [[1 + 30, 3 + 30], [0, 0], [20 + 3, 30 + 3]]
    total = np.zeros((2, 3))
    groups, weights = np.array([0, 0, 1]), np.array([1.0, 1.0, 0.5])
    kernels.add_cells.__wrapped__(x.data.astype(float), x.indices, x.indptr, groups, weights, total)
    assert total.tolist() == [[1, 0, 2], [0, 1.5, 0.5]]


def test_sums_read_as_python():
    """The same of the loop that adds up products: rows beyond whole lanes."""
    rng = np.random.default_rng(1)
    x, y, shift = rng.normal(size=(301, 3)), rng.normal(size=301), np.array([1.0, 2.0, 0.0, -1.0])
    total = np.zeros((5, 5))
    kernels.add_products(x, y, shift, total)
    wide = np.c_[np.c_[x, y] - shift, np.ones(301)]
    np.testing.assert_allclose(total, wide.T @ wide, rtol=1e-12, atol=1e-12)


def test_compiled_loops_are_for_many_cells(monkeypatch):
    assert kernels.pay(2**24)
    monkeypatch.delitem(kernels.sys.modules, "numba", raising=False)
    assert not kernels.pay(2**20)


# --- checks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("layout", ["C", "fortran", "strided", "read-only"])
def test_checks_pass(dtype, layout):
    x = laid_out(np.random.default_rng(0).integers(0, 2, (500, 3)).astype(dtype), layout)
    for y in (x, x[:0], x[:, :0], x[:, 0]):
        assert checks.not_binary(y) is None
        assert checks.not_finite(y) is None
        assert checks.not_codes(y, 2) is None


@pytest.mark.parametrize("at", [(0, 0), (90, 2), (499, 1)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_checks_find_the_first(at, dtype):
    x = np.zeros((500, 3), dtype)
    for bad in (np.nan, np.inf, -np.inf):
        x[-1, -1] = x[at] = bad
        assert checks.not_finite(x) == at
        assert checks.not_binary(x) == at
        assert checks.not_codes(x, 2) == at
    for bad in (2, -1, 0.5):
        x[-1, -1] = x[at] = bad
        assert checks.not_binary(x) == at
        assert checks.not_codes(x, 2) == at
        assert checks.not_finite(x) is None
    x[at] = np.nan
    assert checks.not_binary(x, missing=True) == (499, 2)


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_checks_of_integers(dtype):
    x = np.zeros((500, 3), dtype)
    x[300, 1] = -1
    assert checks.not_binary(x) == (300, 1)
    assert checks.not_codes(x, 3) == (300, 1)
    assert checks.not_codes(x[:, 1], 3) == (300,)
    x[200, 0] = 5
    assert checks.not_codes(x, 5) == (200, 0)
    assert checks.not_binary(x, missing=True) == (200, 0)
    assert checks.not_codes(np.array([True, False]), 1) == (0,)


# --- densities -------------------------------------------------------------------------------


def some_rows(n=300, F=3, *, missing=False, dtype=float):
    x = np.random.default_rng(1).normal(size=(n, F)).astype(dtype)
    if missing:
        x[:: max(1, n // 5), : F // 2 + 1] = np.nan
    return x


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize(("n", "F"), [(300, 3), (1, 1), (0, 2), (70, 0), (40, 100)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_log_student(n, F, alike, missing, dtype):
    rng = np.random.default_rng(2)
    x = some_rows(n, F, missing=missing and n > 0 and F > 0, dtype=dtype)
    location, scale = rng.normal(size=(2, F)), rng.gamma(2, size=(2, F)) + 0.1
    df = rng.gamma(2, size=(2, 1 if alike else F)) * [[1.0], [1e6]] + np.zeros((2, F))
    result = class_densities.log_student(x, location, scale, df)
    assert result.shape == (n, 2)
    for c in range(2):
        terms = stats.t.logpdf(x.astype(float), df[c], location[c], scale[c])
        np.testing.assert_allclose(result[:, c], np.nansum(terms, 1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("df", [0.5, 3.0, 1e3, 1e9, 1e15])
@pytest.mark.parametrize("x", [1e-9, 0.3, 40.0, 1e8, 1e150])
def test_log_student_keeps_its_digits(x, df):
    F = 40
    result = class_densities.log_student(
        np.full((1, F), x), np.zeros((1, F)), np.ones((1, F)), np.full((1, F), df)
    )
    with mpmath.workdps(60):
        v, t = mpmath.mpf(df), mpmath.mpf(x)
        one = mpmath.loggamma((v + 1) / 2) - mpmath.loggamma(v / 2) - mpmath.log(mpmath.pi * v) / 2
        exact = F * (one - (v + 1) / 2 * mpmath.log1p(t * t / v))
    assert float(result[0, 0]) == pytest.approx(float(exact), rel=1e-14, abs=1e-13)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("n", "F"), [(300, 3), (1, 1), (0, 2), (70, 0)])
def test_log_normal(n, F, missing):
    rng = np.random.default_rng(2)
    x = some_rows(n, F, missing=missing and n > 0 and F > 0)
    mean, variance = rng.normal(size=(4, 2, F)), rng.gamma(2, size=(4, 2, F)) + 0.01
    result = class_densities.log_normal(x, mean, variance)
    assert result.shape == (4, n, 2)
    terms = stats.norm.logpdf(x[:, None], mean[:, None], np.sqrt(variance)[:, None])
    np.testing.assert_allclose(result, np.nansum(terms, -1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("C", [1, 2, 3, 7])
@pytest.mark.parametrize("D", [1, 2, 5, 40])
@pytest.mark.parametrize("n", [1, 400])
def test_log_multivariate_student(n, C, D):
    rng = np.random.default_rng(4)
    x, location = rng.normal(size=(n, D)), rng.normal(size=(C, D)) * 3
    a = rng.normal(size=(C, D, 2 * D + 1))
    scale = a @ a.swapaxes(1, 2)
    df = rng.gamma(2, size=C) + 0.5
    factor = rng.gamma(2, size=C) + 0.1
    separate = class_densities.log_multivariate_student(x, location, np.linalg.cholesky(scale), df)
    shared = class_densities.log_multivariate_student(
        x, location, np.linalg.cholesky(scale[0]), df, factor
    )
    df[0] = np.inf
    normal = class_densities.log_multivariate_student(x, location, np.linalg.cholesky(scale), df)
    assert separate.shape == shared.shape == (n, C)
    none = class_densities.log_multivariate_student(x[:0], location, scale, df)
    assert none.shape == (0, C)
    np.testing.assert_array_equal(normal[:, 1:], separate[:, 1:])
    law = stats.multivariate_normal(location[0], scale[0])
    np.testing.assert_allclose(normal[:, 0], np.atleast_1d(law.logpdf(x)), rtol=1e-10)
    df[0] = 1.0
    for c in range(1, C):
        law = stats.multivariate_t(location[c], scale[c], df[c])
        np.testing.assert_allclose(separate[:, c], np.atleast_1d(law.logpdf(x)), rtol=1e-10)
        law = stats.multivariate_t(location[c], factor[c] * scale[0], df[c])
        np.testing.assert_allclose(shared[:, c], np.atleast_1d(law.logpdf(x)), rtol=1e-10)


def test_classes_far_apart_are_told_to_all_digits():
    location = np.array([[0.0, 0.0, 0.0], [1e8, 1e8, 0.0], [-1e8, 3e8, 1e8]])
    x = location + np.array([0.5, -0.25, 1.0])
    df = np.full(3, 5.0)
    result = class_densities.log_multivariate_student(x, location, np.eye(3), df)
    exact = stats.multivariate_t(np.zeros(3), np.eye(3), 5).logpdf([0.5, -0.25, 1.0])
    np.testing.assert_allclose(np.diagonal(result), exact, rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize(("n", "F"), [(300, 3), (1, 1), (0, 2), (70, 0)])
def test_log_table(n, F, dtype):
    rng = np.random.default_rng(5)
    codes = rng.integers(-1, 4, (n, F)).astype(dtype)
    theta = rng.dirichlet(np.ones(4), (2, 3, F))
    theta[..., 1] = 0
    with np.errstate(divide="ignore"):
        logs = np.log(theta)
    result = class_densities.log_table(codes, logs)
    assert result.shape == (2, n, 3)
    expected = np.zeros((2, n, 3))
    for i, j in np.ndindex(n, F):
        if codes[i, j] >= 0:
            expected[:, i] += logs[:, :, j, codes[i, j]]
    np.testing.assert_allclose(result, expected, rtol=1e-13)


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("n", "F"), [(300, 3), (1, 1), (0, 2), (70, 0)])
def test_log_bits(n, F, missing, dtype):
    rng = np.random.default_rng(6)
    x = rng.integers(0, 2, (n, F)).astype(dtype)
    if missing and np.dtype(dtype).kind == "f":
        x[rng.random((n, F)) < 0.3] = np.nan
    p = rng.random((2, 3, F))
    p[0, 0], p[1, 1] = 0, 1
    with np.errstate(divide="ignore"):
        one, zero = np.log(p), np.log1p(-p)
    result = class_densities.log_bits(x, one, zero)
    assert result.shape == (2, n, 3)
    expected = np.zeros((2, n, 3))
    for i, j in np.ndindex(n, F):
        if x[i, j] in (0, 1):
            expected[:, i] += (one if x[i, j] else zero)[:, :, j]
    np.testing.assert_allclose(result, expected, rtol=1e-13)


@pytest.mark.parametrize("layout", ["C", "fortran"])
@pytest.mark.parametrize("shape", [(0, 3), (500, 3), (1, 1), (2, 100, 4)])
def test_normalise(shape, layout):
    logs = np.random.default_rng(7).normal(-1e4, 300, shape)
    logs.reshape(-1)[::5] = -np.inf
    if len(shape) == 2 and shape[0]:
        logs[-1] = -np.inf
    given_logs = laid_out(logs, layout)
    expected = np.zeros(shape)
    for at in np.ndindex(shape[:-1]):
        top = logs[at].max()
        if np.isfinite(top):
            expected[at] = np.exp(logs[at] - top) / np.exp(logs[at] - top).sum()
    assert class_densities.normalise(given_logs) is given_logs
    np.testing.assert_allclose(given_logs, expected, rtol=1e-13)
