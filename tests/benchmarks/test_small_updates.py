"""Small updates are cheap: the calls are counted, since a busy machine does not change these."""

import sys

import pytest

from tests.benchmarks import bench_small_updates as bench

JOBS = dict(bench.jobs())
# About half as many again as there are. Of input that is checked again at every step, there were
# three times as many.
MOST_CALLS = {
    "Beta, 3 of 20 read anew.update": 270,
    "Beta, 3 of 20.update, of a statistic": 35,
    "Beta, 3 of 20.log_evidence, of a statistic": 190,
    "Beta, 3 of 20: statistic + statistic": 160,
    "Beta, five rows.update": 220,
    "Dirichlet, counts.update": 200,
    "Dirichlet, five rows.update, of a statistic": 35,
    "normal, five rows.update": 300,
    "normal, five rows.update, of a statistic": 70,
    "multivariate normal, 5 x 2.update, of a statistic": 270,
    "multivariate normal, 5 x 2: statistic + statistic": 75,
    "regression, 442 x 11 in pandas.update": 930,
    "naive Bayes, 10 x 3.update, of a statistic": 150,
    "discriminant, 10 x 3.update, of a statistic": 340,
}


def calls(job):
    """Return how many functions a job calls, the interpreter's own included."""
    number = 0

    def count(_frame, event, _argument):
        nonlocal number
        number += event in ("call", "c_call")

    job()  # once before, so that what is imported late is there
    sys.setprofile(count)
    try:
        job()
    finally:
        sys.setprofile(None)
    return number


@pytest.mark.parametrize(("name", "most"), MOST_CALLS.items())
def test_what_was_checked_at_the_door_is_not_checked_again(name, most):
    assert calls(JOBS[name]) <= most
