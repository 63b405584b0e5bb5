"""Settings of Sphinx; build with ``sphinx-build -W -b html docs docs/_build``."""

from bayesmodels import __version__

project = "bayesmodels"
author = "bayesmodels contributors"
copyright = "2026, bayesmodels contributors"  # noqa: A001 - Sphinx wants this name
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
exclude_patterns = ["_build"]
autodoc_typehints = "none"  # numpydoc sections state types and shapes
autodoc_member_order = "bysource"
napoleon_google_docstring = False
suppress_warnings = ["myst.header"]
html_theme = "alabaster"
html_theme_options = {"description": "Is this posterior right?", "fixed_sidebar": True}
