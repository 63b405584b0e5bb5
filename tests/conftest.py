"""Settings of Hypothesis, BLAS and garbage collection; tables that tests leave for the summary."""

import gc


def pytest_collection():
    """Set what tests run with; the process that only hands them to workers needs none of it."""
    import scipy.linalg  # noqa: F401 - loads BLAS, NumPy's and SciPy's
    from hypothesis import settings
    from threadpoolctl import threadpool_limits

    # With threads of its own beside another worker's, BLAS takes 10 ms for a system of three rows.
    threadpool_limits(1, user_api="blas")

    # The same examples at every run: a red test is never a matter of luck.
    settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=50)
    settings.load_profile("fixed")


def pytest_collection_finish():
    """Let the garbage collector seldom walk: it took an eighth of all."""
    gc.set_threshold(2_000, 10, 50)


def pytest_terminal_summary(terminalreporter):
    """Print what tests recorded with record_property (which travels between xdist's workers)."""
    reports = (r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, []))
    recorded = [pair for report in reports for pair in report.user_properties]
    slips = [value for name, value in recorded if name == "slip"]
    if slips:
        terminalreporter.section("planted slips: which layer objected, and to what")
        wide = max(len(name) for name, _, _ in slips)
        for name, layer, evidence in sorted(slips, key=lambda slip: slip[1]):
            terminalreporter.write_line(f"{name:{wide}}  {layer:10}  {evidence}")
    checked = [value for name, value in recorded if name == "worst identity"]
    if checked:
        terminalreporter.section("identity: largest discrepancy in rounding bounds")
    for model in sorted({model for model, *_ in checked}):
        own = [row for row in checked if row[0] == model]
        ratio, seed = max((ratio, seed) for _, _, ratio, seed in own)
        number = sum(checks for _, checks, _, _ in own)
        terminalreporter.write_line(f"{model:12}  {number} checks  {ratio:.3g}  (seed {seed})")
