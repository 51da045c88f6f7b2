"""Words, content, style and scripts → the text of the page."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from interplay.report.about import facts, repeat, shown_value
from interplay.report.content import report_content
from interplay.report.study_words import references
from interplay.report.words import REFERENCES, headline, methods_paragraph, summary_sentences

if TYPE_CHECKING:
    from interplay.results.selection import Selection

#: In this order: each may use what stands before it.
_SCRIPTS = (
    "base.js", "chart.js", "ranks.js", "null_fit.js", "correlation.js", "network.js", "why.js",
    "survival.js", "details.js", "table.js", "main.js",
)  # fmt: skip

_ABOUT_ALONE = "Gains are in bits × samples. Select a variable to see the classes in each of its levels."
_ABOUT_TUPLES = (
    "Gains are in bits × samples. <em>Alone</em> is the gain without partners, and <em>synergy</em> is what the best "
    "tuple adds to it. Synergy is negative if the partners carry part of the same information. <em>Together</em> is "
    "the verdict on the partners; p-values of interactions are adjusted for all tuples of the search. Select a "
    "variable to see its tuples and why they matter."
)


def report_page(selection: Selection) -> str:
    """Return the whole report as HTML."""
    style = page_file("report.css")
    # One function around all of them: nothing leaks into the page's global names.
    script = "(() => {\n'use strict';\n" + "\n".join(page_file(name) for name in _SCRIPTS) + "\n})();\n"
    return Template(page_file("report.html")).substitute(
        style_hash=csp_hash(style),
        script_hash=csp_hash(script),
        style=style,
        script=script,
        headline=html.escape(headline(selection)),
        about=_ABOUT_ALONE if selection.dimensions == (1,) else _ABOUT_TUPLES,
        facts=facts_list(facts(selection)),
        summary="\n".join(f"<p>{html.escape(sentence)}</p>" for sentence in summary_sentences(selection)),
        methods=html.escape(methods_paragraph(selection)),
        references="\n".join(
            f"<li>{html.escape(reference)}</li>" for reference in (*REFERENCES, *references(selection))
        ),
        settings=rows_of(selection.settings.items()),
        provenance=rows_of(flat(selection.provenance)),
        repeat=html.escape(repeat(selection)),
        version=html.escape(str(selection.provenance["versions"]["interplay"])),
        data=embedded_json(report_content(selection)),
    )


def embedded_json(content: Any) -> str:
    """Return JSON that is safe inside a script element, whatever the names are.

    HTML looks for ``</script`` and ``<!--`` without knowing about strings. Escaped, the same JSON holds no such thing.
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def csp_hash(text: str) -> str:
    """Return what the content security policy calls this text: nothing else is allowed to run."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page_file(name: str) -> str:
    """Return a file of the folder page/."""
    return (files("interplay.report") / "page" / name).read_text(encoding="utf-8")


def facts_list(entries: Iterable[tuple[str, str]]) -> str:
    """Return names and values as entries of a description list."""
    return "\n".join(f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>" for name, value in entries)


def rows_of(entries: Iterable[tuple[str, Any]]) -> str:
    """Return names and values as rows of a table."""
    return "\n".join(
        f'<tr><th scope="row">{html.escape(str(name))}</th><td>{html.escape(shown_value(value))}</td></tr>'
        for name, value in entries
    )


def flat(entries: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return a dict of dicts as names and values."""
    found: list[tuple[str, Any]] = []
    for name, value in entries.items():
        found += flat(value, f"{prefix}{name} ") if isinstance(value, dict) else [(f"{prefix}{name}", value)]
    return found
