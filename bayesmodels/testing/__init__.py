"""Statistical tests in your own test suite, with one false-alarm budget for a whole run of pytest.

Nothing heavy is loaded before an assertion is made: pytest loads the plugin at every start.
"""

from typing import TYPE_CHECKING, Any

from bayesmodels.testing.assertions import assert_calibrated, assert_posterior, assert_same
from bayesmodels.testing.verdicts import write_verdicts

if TYPE_CHECKING:
    from bayesmodels.testing.belief_check import check_belief as check_belief

__all__ = ["assert_calibrated", "assert_posterior", "assert_same", "check_belief", "write_verdicts"]


def __getattr__(name: str) -> Any:
    if name != "check_belief":
        raise AttributeError(f"module 'bayesmodels.testing' has no attribute {name!r}")
    from bayesmodels.testing.belief_check import check_belief

    return check_belief
