"""Settings of Hypothesis."""

from hypothesis import settings

# The same examples at every run: a red test is never a matter of luck.
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("fixed")
