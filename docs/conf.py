"""Settings of Sphinx; build with ``sphinx-build -W -b html docs docs/_build``."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from cycler import cycler
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util.display import status_iterator
from sphinx.util.docutils import SphinxDirective

from bayesmodels import __version__
from bayesmodels.report.canvas import COLOURS

sys.path.insert(0, str(Path(__file__).parents[1]))  # the page of mistakes is made from tests

project = "bayesmodels"
author = "bayesmodels contributors"
copyright = "2026, bayesmodels contributors"  # noqa: A001 - Sphinx wants this name
release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "matplotlib.sphinxext.plot_directive",
]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
exclude_patterns = ["_build"]
templates_path = ["_templates"]  # of the page that each public name gets
autodoc_typehints = "none"  # numpydoc sections state types and shapes
autodoc_member_order = "bysource"
napoleon_google_docstring = False
html_theme = "furo"
html_title = "bayesmodels"
html_css_files = ["custom.css"]
html_js_files = ["accessible.js"]
html_theme_options = {"top_of_page_buttons": []}
html_show_sourcelink = False
html_math_renderer = "mathml"
html_static_path = ["_static"]

# Figures are made by the code on the pages and by examples/, which save them where they run.
_scratch = TemporaryDirectory()
plot_working_directory = _scratch.name
plot_pre_code = ""  # pages import what they use
plot_formats = ["svg"]
plot_include_source = True
plot_html_show_formats = False
plot_html_show_source_link = False
plot_rcparams = {
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",  # so that figures are read on a dark page as well
    "font.size": 9,
    "legend.frameon": False,
    "svg.hashsalt": "bayesmodels",
}
html_search_scorer = str(Path(__file__).with_name("scorer.js"))


class Mistakes(SphinxDirective):
    """The table of printed mistakes, as the tests find them now."""

    def run(self):
        """Judge every printed form and its correction; write a row for each."""
        from tests.negative import printed, work

        head = ("", "Note", "Printed", "Right", "Who objects", "What was said")
        rows = []
        for slip in printed.PRINTED:
            layer, evidence = work.judge(slip.wrong)
            if layer != slip.layer or work.judge(slip.right) != (None, ""):
                msg = f"{slip.label}: the printed form was accepted, or the right one rejected"
                raise self.error(msg)
            rows.append((slip.id, slip.note, slip.printed, slip.correct, layer, evidence))
        rows.sort(key=lambda row: int(row[0].removeprefix("E")))
        for module in (printed, work):
            self.env.note_dependency(module.__file__)
        lines = "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])
        return self.parse_text_to_nodes(lines)


def run_code(app, env, pages):
    """Run the code of the pages that are to be read."""
    del app
    from docs.tools import blocks

    for page in status_iterator(pages, "running code... ", "purple", len(pages)):
        blocks.run(Path(env.doc2path(page)))


def finish_page(app, page, template, context, doctree):
    """Say on which level the sidebar's headings are; an empty heading of a table is none."""
    del app, page, template, doctree
    heading = 'role="heading"'
    tree = context["furo_navigation_tree"].replace(heading, f'{heading} aria-level="2"')
    context["furo_navigation_tree"] = tree
    empty = '<th class="head"><p></p></th>'
    context["body"] = context.get("body", "").replace(empty, "<td></td>")


def setup(app):
    """Run code, add the table of mistakes, and set equations as MathML, which needs no script."""
    app.connect("env-before-read-docs", run_code)
    app.connect("html-page-context", finish_page, priority=900)  # after the theme
    app.add_directive("mistakes", Mistakes)

    def put(display):
        def visit(translator, node):
            formula = convert(node.astext(), display=display)
            if display == "block":  # one that is wider than a phone is scrolled by itself
                formula = f'<div class="equation">{formula}</div>'
            translator.body.append(formula)
            raise nodes.SkipNode

        return visit

    app.add_html_math_renderer(
        "mathml", inline_renderers=(put("inline"), None), block_renderers=(put("block"), None)
    )
