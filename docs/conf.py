"""Sphinx: `make docs` builds docs/_build/html, warnings as errors. The examples are run."""

import os
import sys
from importlib.metadata import version as _version
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"
sys.path.insert(0, str(Path(__file__).parent))
from measured import make_performance_page
from offline import refuse_other_hosts

from interplay import Interactions, Selection

project = "interplay"
author = "the interplay developers"
copyright = "the interplay developers"
release = version = _version("interplay")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx_click",
]
exclude_patterns = [
    "_build",
    "_generated/*.md",
    "interaction_table.md",  # a part of interactions.md
    "null_fits_table.md",  # a part of calibration.md
    "number_noise_table.md",  # a part of calibration.md
    "number_power_table.md",  # a part of power.md
    "power_*.md",  # parts of power.md
    "examples",
    "auto_examples/*.ipynb",
    "auto_examples/*.py*",
    "**sg_execution_times.rst",  # loads scripts from elsewhere
]
templates_path = ["templates"]
default_role = "autolink"  # `select` in a docstring is a link to its page
highlight_language = "none"  # blocks without a language are commands and their output

html_theme = "pydata_sphinx_theme"
html_title = "interplay"
html_static_path = ["static"]
html_css_files = ["interplay.css"]
html_show_sourcelink = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "interplay"},
    "navbar_align": "left",
    "navigation_with_keys": False,
    "pygments_light_style": "tango",
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_nav_level": 1,
    "show_toc_level": 2,
}


def _documented(class_: type, members: str) -> list[tuple[str, str]]:
    """Return the directive and the name of each member, in this order."""
    names = members.split(", ")
    assert all(hasattr(class_, name) for name in names)
    return [("automethod" if callable(getattr(class_, name)) else "autoproperty", name) for name in names]


# A page for each object of the reference, written into docs/api.
autosummary_generate = True
# What users call; other public names of these classes serve the package itself.
autosummary_context = {
    "shown_members": {
        "interplay.MDFSSelector": "fit, transform",
        "interplay.MaxGains": "gain, tuples, discretization, df, contrast_gain, contrast_tuples, contrast_df, merge",
        "interplay.NullFit": "p_values, log_p_values, summary, plot",
        "interplay.Part": "save, load",
        "interplay.TupleTable": "to_frame",
        "interplay.ask.cli.expected_work.ExpectedWork": "summary, to_dict",
        "interplay.show.plots.InteractionPlots": "effects, network, why",
        "interplay.show.plots.SelectionPlots": "gains, p_values, null_fit, null_histogram, volcano, correlation, "
        "synergies, why",
    },
    # These pages begin with what users call first; autodoc would take the order of the source.
    "ordered_members": {
        "interplay.Selection": _documented(
            Selection,
            "relevant, table, summary, details, plot, to_html, save, tuples_of, counts_of, verdict_of, interactions, "
            "replicate, clusters, synergies, cautions, found, annotate, synergy_graph, of_dimension, arms, p_of_arm, "
            "gains, null_fit, contrast",
        ),
        "interplay.Interactions": _documented(
            Interactions,
            "significant, table, summary, plot, to_html, save, counts_of, replicate, clumps, with_clumps, "
            "tagging, with_tagging, graph, terms, rules, notes",
        ),
    },
}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc sections give the types
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "attrs_block"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
suppress_warnings = ["config.cache"]  # the order of the gallery is a class, which cannot be kept between builds

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "show_signature": False,
    "write_computation_times": False,
}


def setup(app):
    app.connect("builder-inited", make_performance_page)
    app.connect("build-finished", refuse_other_hosts)
