"""What docs/small-samples.md says: with few rows, integrating over parameters wins by far."""

import pytest

from tests.benchmarks import bench_small_samples as bench


@pytest.mark.slow
def test_four_rows_a_class_cost_gaussian_nb_ten_times_the_log_loss():
    names = ["NaiveBayes, integrated", "NaiveBayes, at the posterior mean", "GaussianNB()"]
    found = bench.scores({name: bench.NAIVE_BAYES[name] for name in names}, sets=200, seed=1)
    integrated, at_the_mean, theirs = (found[name].mean for name in names)
    assert integrated < at_the_mean < theirs
    assert integrated <= theirs / 10


@pytest.mark.slow
def test_quadratic_discriminant_analysis_refuses_what_ours_answers():
    names = ["GaussianDiscriminant, full", "QDA()"]
    found = bench.scores({name: bench.DISCRIMINANTS[name] for name in names}, sets=5, seed=2)
    ours, theirs = (found[name] for name in names)
    assert len(ours.losses) == 5
    assert not ours.messages
    assert sum(theirs.messages.values()) == 5
