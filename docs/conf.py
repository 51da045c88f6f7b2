"""Sphinx: `make docs` builds docs/_build/html, warnings as errors."""

from importlib.metadata import version as _version

project = "interplay"
author = "the interplay developers"
copyright = "the interplay developers"
release = version = _version("interplay")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_prev_next": False}
html_title = "interplay"
numpydoc_show_class_members = False
autodoc_typehints = "none"  # numpydoc sections say it
myst_heading_anchors = 2
