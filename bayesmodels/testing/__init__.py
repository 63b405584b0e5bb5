"""Statistical tests in your own test suite, with one false-alarm budget for a whole run of pytest.

Nothing heavy is loaded before an assertion is made: pytest loads the plugin at every start.
"""

from bayesmodels.testing.assertions import assert_calibrated, assert_posterior, assert_same
from bayesmodels.testing.verdicts import write_verdicts

__all__ = ["assert_calibrated", "assert_posterior", "assert_same", "write_verdicts"]
