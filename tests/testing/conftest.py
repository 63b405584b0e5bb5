"""The sample project is run by tests, and is none of them."""

collect_ignore = ["sample_project"]
