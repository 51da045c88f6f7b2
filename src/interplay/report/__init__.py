"""Selection → one self-contained HTML file, which needs no network, no server and no matplotlib.

words.py says the result in sentences (study_words.py what groups, covariates and times add), content.py gathers what
tables and pictures show, page.py puts both into the template with its style and its scripts (the folder page/). The
pictures are drawn by those scripts, in the browser.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from interplay.files.whole_file import whole_file
from interplay.report.page import report_page

if TYPE_CHECKING:
    from interplay.results.selection import Selection

__all__ = ["report_page", "write_report"]


def write_report(selection: Selection, path: str | os.PathLike[str]) -> None:
    """Write the report of `selection` to `path`, whole or not at all."""
    page = report_page(selection)
    with whole_file(path) as file:
        # Half a surrogate pair in a name cannot be encoded; it is shown as "?".
        file.write(page.encode("utf-8", errors="replace"))
