"""Selection or Interactions → one self-contained HTML file, which needs no network, no server and no matplotlib.

::

    page.py               content + words  → the page: template, style and scripts of the folder page/
    content.py            Selection        → the numbers that tables and pictures show
    words.py              Selection        → sentences; study_words.py: on groups, covariates, times;
    verdict_words.py          on interactions
    interaction_page.py   Interactions     → the page
    about.py              provenance       → outcome, file, samples, date; the call that repeats the run
    numbers.py            numbers and names as the report writes them

Pictures are drawn by the scripts, in the browser.
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
