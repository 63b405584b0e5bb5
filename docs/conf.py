"""Settings of Sphinx; build with ``sphinx-build -W -b html docs docs/_build``."""

from docutils import nodes
from latex2mathml.converter import convert

from bayesmodels import __version__

project = "bayesmodels"
author = "bayesmodels contributors"
copyright = "2026, bayesmodels contributors"  # noqa: A001 - Sphinx wants this name
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
exclude_patterns = ["_build"]
autodoc_typehints = "none"  # numpydoc sections state types and shapes
autodoc_member_order = "bysource"
napoleon_google_docstring = False
html_theme = "alabaster"
html_theme_options = {
    "description": "Is this posterior right?",
    "fixed_sidebar": True,
    "page_width": "1080px",
}
html_math_renderer = "mathml"


def setup(app):
    """Set equations as MathML, which browsers draw without a script from elsewhere."""

    def put(display):
        def visit(translator, node):
            translator.body.append(convert(node.astext(), display=display))
            raise nodes.SkipNode

        return visit

    app.add_html_math_renderer(
        "mathml", inline_renderers=(put("inline"), None), block_renderers=(put("block"), None)
    )
