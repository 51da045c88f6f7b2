"""Parts of a summary that Selection and Interactions share: samples, classes, strata, cuts, the table."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from interplay.base.text import printable

if TYPE_CHECKING:
    import pandas as pd

    from interplay.show.results.interactions import Interactions
    from interplay.show.results.provenance import Provenance
    from interplay.show.results.selection import Selection

#: Rows of the table that a summary shows.
ROWS_SHOWN = 20

#: More classes than these are counted, not all listed.
_LISTED_CLASSES = 6


def samples_in_words(n_samples: int, left_out: int) -> str:
    """Return the number of samples, and of those left out.

    Examples
    --------
    >>> samples_in_words(97, 3)
    '97 samples (3 left out)'
    """
    return f"{n_samples} samples" + (f" ({left_out} left out)" if left_out else "")


def filters_in_words(filters: Mapping[str, int]) -> list[str]:
    """Return a line on the filters of a file of genotypes; none where there were none.

    Examples
    --------
    >>> filters_in_words({"people by keep": 3, "variants by min_maf=0.01": 120})
    ['Filters left out 3 people by keep, 120 variants by min_maf=0.01.']
    """
    listed = ", ".join(f"{n} {words}" for words, n in filters.items())
    return [f"Filters left out {listed}."] if listed else []


def missing_in_words(missing: Mapping[str, int]) -> list[str]:
    """Return what became of missing values, one text; none where there were no missing values.

    Examples
    --------
    >>> missing_in_words({"level": 1, "impute": 12})
    ['missing values: a level of their own in 1 column, drawn from the other values in 12 columns']
    """
    said = {"level": "a level of their own", "impute": "drawn from the other values", "omit": "left out of tests"}
    listed = [f"{said[treatment]} in {n} column{'' if n == 1 else 's'}" for treatment, n in missing.items()]
    return [f"missing values: {', '.join(listed)}"] if listed else []


def classes_in_words(class_sizes: Mapping[str, int]) -> str:
    """Return the classes and their sizes in one line.

    Examples
    --------
    >>> classes_in_words({"ill": 40, "well": 57})
    'classes ill: 40, well: 57'
    """
    listed = ", ".join(f"{printable(label)}: {size}" for label, size in list(class_sizes.items())[:_LISTED_CLASSES])
    if len(class_sizes) <= _LISTED_CLASSES:
        return f"classes {listed}"
    return f"{len(class_sizes)} classes ({listed}, …)"


def model_in_words(record: Provenance) -> str:
    """Return the model of covariates, offset and times that an answer is given; "" if there is none.

    For example "age, sex (logistic model)".
    """
    names = [printable(name) for name in record.covariates]
    listed = [", ".join(names[:6]) + ", …" * (len(names) > 6)] if names else []
    listed += ["the offset"] if record.offset else []
    return f"{' and '.join(listed)} ({record.model} model)" if listed and record.model else ""


def outcome_in_words(result: Selection | Interactions) -> str:
    """Return the outcome in one line: its classes and their sizes, or the middle of its numbers."""
    quartiles, events = result.record.outcome.quartiles, result.record.survival
    return result.words.outcome.format(
        classes=classes_in_words(result.class_sizes),
        n_events=events and events.n_events,
        middle=f", median {quartiles[2]:.4g} (quartiles {quartiles[1]:.4g} to {quartiles[3]:.4g})" if quartiles else "",
        scale=result.asked.scale or "ranks",
        order=" < ".join(map(printable, result.record.outcome.order)),
    )


def strata_in_words(n_strata: int) -> str:
    """Return the number of strata as a part of a sentence, or nothing."""
    return f"within {n_strata} strata; " if n_strata else ""


def cuts_in_words(divisions: int, n_ways: int) -> str:
    """Return how numbers were cut. Columns whose values are levels were not, such as genotypes.

    Examples
    --------
    >>> cuts_in_words(1, 1)
    'numbers cut into 2 levels'
    >>> cuts_in_words(2, 30)
    'numbers cut into 3 levels, in 30 ways'
    """
    return f"numbers cut into {divisions + 1} levels" + (f", in {n_ways} ways" if n_ways > 1 else "")


def rows_as_text(rows: pd.DataFrame, n_all: int) -> list[str]:
    """Return the shown rows of a table of `n_all` rows as lines, and a line on the others."""
    more = [f"… and {n_all - len(rows)} more in .table"] if n_all > len(rows) else []
    return ["", rows.to_string(index=False, float_format=_four_digits), *more] if len(rows) else []


def summary_as_html(headline: str, details: str, rows: pd.DataFrame, n_all: int, notes: Iterable[str] = ()) -> str:
    """Return a summary for notebooks, with the shown rows of a table of `n_all` rows."""
    parts = [f"<p><b>{html.escape(headline)}</b><br>{html.escape(details)}</p>"]
    if len(rows):
        parts.append(rows.to_html(index=False, float_format=_four_digits, escape=True))
    if n_all > len(rows):
        parts.append(f"<p>… and {n_all - len(rows)} more in <code>.table</code></p>")
    return "".join([*parts, *(f"<p><small>{html.escape(note)}</small></p>" for note in notes)])


def _four_digits(value: float) -> str:
    return f"{value:.4g}"
