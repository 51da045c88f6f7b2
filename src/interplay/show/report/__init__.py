"""Selection or Interactions → one self-contained HTML file, which needs no network, no server and no matplotlib.

::

    page.py               content + words  → the page: template, style and scripts of the folder page/
    content.py            Selection        → the numbers that tables and pictures show
    words.py              Selection        → headline and summary
    methods.py            Selection        → a methods paragraph for a paper
    interaction_page.py   Interactions     → the page; its sentences are in interaction_words.py
    interaction_words.py      and, with notes, in results/interaction_summary.py
    about.py              provenance       → outcome, file, samples, date; call that repeats the run; sentences of both

Pictures are drawn by the scripts, in the browser.
"""

from interplay.show.report.page import report_page

__all__ = ["report_page"]
