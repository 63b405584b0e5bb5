"""What many tests ask: whether numbers are near each other, and what a complaint says."""

import numpy as np
import pytest

import bayesmodels as bm


def close(ours, theirs, tolerance=1e-12):
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def complaint(function, *arguments, error=bm.DataError, **options):
    """Return the message; every one says first which argument is wrong, and ends as a sentence."""
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    message = str(caught.value)
    assert message.endswith((".", "?"))
    return message
