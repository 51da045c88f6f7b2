"""Parts of a summary that Selection and Interactions share: samples, classes, strata, cuts, the table."""

from __future__ import annotations

import html
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from interplay.base.text import printable

if TYPE_CHECKING:
    import pandas as pd

    from interplay.show.results.interactions import Interactions
    from interplay.show.results.provenance import Provenance
    from interplay.show.results.selection import Selection

#: The words of the first answer: summaries and the first screen of the report use no others of the method.
FIRST_WORDS = {
    "variable": "a column of the table that may matter",
    "outcome": "the column that is explained: classes, a number, or times to an event",
    "class": "a value of an outcome such as ill or well",
    "level": "a value of a variable such as yes or no",
    "relevant": "tells something about the outcome, alone or together with others; p is small enough",
    "p": "how often chance alone would look as clear; adjusted for the number of variables that were searched",
    "interval": "numbers in brackets: the true size lies there in 95 of 100 studies",
    "AUC": "how often a sample of the named class has the larger value: 0.5 is none, 0 and 1 are always",
    "odds ratio": "odds of a class at one level over those at another; 1 is no effect",
    "rank correlation": "from −1 to 1, 0 is none; Spearman's rho",
    "hazard ratio": "risk per unit of time over that of others; per SD: of one standard deviation more",
    "works with": "partners with which the effect is more than the sum of the separate effects: an interaction",
    "given others": "among samples that are alike in stronger variables",
    "redundant": "variables so alike (their association is 0 to 1) that one stands for the group",
    "short list": "few variables, each of which is relevant given the others on the list",
}

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
        order=_order_in_words([printable(name) for name in result.record.outcome.order]),
    )


def _order_in_words(names: list[str]) -> str:
    """Return ordered classes, the first and the last of many."""
    shown = names if len(names) <= _LISTED_CLASSES else [*names[: _LISTED_CLASSES - 1], "…", names[-1]]
    return " < ".join(shown)


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
    """Return the shown rows of a table of `n_all` rows as lines, and a line on the others.

    In a terminal, lines keep to its width: long cells are wrapped, and columns that have no room are named.
    """
    if not len(rows):
        return []
    cells = {str(name): [_as_text(value) for value in column] for name, column in rows.items()}
    is_number = [bool(rows[name].dtype.kind in "fi") for name in rows]
    lines, left_out = as_lines(cells, is_number, _terminal_width())
    more = [f"… and {n_all - len(rows)} more in .table"] if n_all > len(rows) else []
    more += [f"(too wide for this terminal, in .table: {', '.join(left_out)})"] if left_out else []
    return ["", *lines, *more]


def _as_text(value: object) -> str:
    return _four_digits(value).replace("nan", "NaN") if isinstance(value, float) else str(value)


def _terminal_width() -> int | None:
    """Return the columns of the terminal that stdout is; None for files, pipes and notebooks."""
    try:
        is_terminal = sys.stdout.isatty()
    except (AttributeError, ValueError):  # no stdout, or a closed one
        return None
    return shutil.get_terminal_size().columns if is_terminal else None


#: The narrowest column of wrapped text.
_NARROWEST = 16


def as_lines(
    cells: Mapping[str, Sequence[str]], is_number: Sequence[bool], width: int | None
) -> tuple[list[str], list[str]]:
    r"""Lay out columns of text; return the lines, and the names of columns for which `width` has no room.

    Numbers stand at the right, text at the left. The widest columns of text are wrapped where that is enough.

    Examples
    --------
    >>> cells = {"name": ["a"], "size": ["very large indeed, beyond all others"]}
    >>> print("\n".join(as_lines(cells, [False, False], 30)[0]))
    name  size
    a     very large indeed,
          beyond all others
    """
    names, numeric = list(cells), dict(zip(cells, is_number, strict=True))
    widths = {name: max(map(len, [name, *cells[name]])) for name in names}
    if width is not None:
        while _total(widths) > width:
            widest = max(names, key=lambda name: 0 if numeric[name] else widths[name])
            narrowest = max(_NARROWEST, len(widest))
            if numeric[widest] or widths[widest] <= narrowest:
                break
            widths[widest] -= 1
        while _total(widths) > width and len(widths) > 1:
            widths.popitem()
    lines = []
    for row in range(-1, len(next(iter(cells.values())))):
        wrapped = {name: textwrap.wrap(name if row < 0 else cells[name][row], widths[name]) or [""] for name in widths}
        for part in range(max(map(len, wrapped.values()))):
            texts = [
                (text[part] if part < len(text) else "").rjust(widths[name])
                if numeric[name]
                else (text[part] if part < len(text) else "").ljust(widths[name])
                for name, text in wrapped.items()
            ]
            lines.append("  ".join(texts).rstrip())
    return lines, [name for name in names if name not in widths]


def _total(widths: Mapping[str, int]) -> int:
    return sum(widths.values()) + 2 * (len(widths) - 1)


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
