"""Sphinx: `make docs` builds docs/_build/html, warnings as errors. The examples are run."""

import os
import sys
from importlib.metadata import version as _version
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"
sys.path.insert(0, str(Path(__file__).parent))
from measured import make_performance_page

project = "interplay"
author = "the interplay developers"
copyright = "the interplay developers"
release = version = _version("interplay")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_click",
]
exclude_patterns = [
    "_build",
    "_generated/*.md",
    "power_*.md",  # parts of power.md
    "examples",
    "auto_examples/*.ipynb",
    "auto_examples/*.py*",
]
html_theme = "pydata_sphinx_theme"
highlight_language = "none"  # blocks that say nothing are commands and what they print
html_sidebars = {"[!a]*": []}  # only auto_examples has pages below it
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
    "pygments_light_style": "tango",
}
html_title = "interplay"
html_static_path = ["static"]
html_css_files = ["interplay.css"]
html_show_sourcelink = False
numpydoc_show_class_members = False
autodoc_typehints = "none"  # numpydoc sections say it
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "dollarmath"]
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
    "min_reported_time": 3600,
}


def setup(app):
    app.connect("builder-inited", make_performance_page)
