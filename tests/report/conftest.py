"""Pictures without a screen, and no figure left open by one test for the next."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def closed():
    """Draw without a screen; close what earlier tests left open, and then one's own."""
    plt.close("all")
    with mpl.rc_context({"backend": "agg"}):
        yield
    plt.close("all")
