"""Sentences, content, style and scripts → the HTML of a page, and its file."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from interplay.files.whole_file import whole_file
from interplay.show.report.about import facts, references, repeat, shown_value
from interplay.show.report.content import report_content
from interplay.show.report.methods import REFERENCES, methods_paragraph
from interplay.show.report.words import first_sentences, headline, summary_sentences
from interplay.show.results.summary_words import FIRST_WORDS

if TYPE_CHECKING:
    from interplay.show.results.result import Result
    from interplay.show.results.selection import Selection

#: In this order: a script may use the scripts before it.
_SCRIPTS = (
    "theme.js", "elements.js", "base.js", "chart.js", "ranks.js", "null_fit.js", "correlation.js", "network.js",
    "boxes.js", "why.js", "survival.js", "variants.js", "details.js", "table.js", "main.js",
)  # fmt: skip

_ABOUT_FIRST = (
    "Which way a variable goes with the outcome and how much, how sure that is, and with which others it works. "
    "Select a variable to see why."
)
_ABOUT_EFFECTS = (
    "<em>Direction</em> says which way a variable goes with the outcome, and <em>effect</em> how much, with its 95 % "
    "interval. "
)
_ABOUT_ADJUSTED = "Both are those of the variable by itself, not adjusted for covariates. "
_ABOUT_ALONE = "Gains are in bits × samples. Select a variable to see the classes in each of its levels."
_ABOUT_TUPLES = (
    "<em>Together</em> is the verdict on the partners; p-values of interactions are adjusted for all tuples of the "
    "search. Gains are in bits × samples. Select a variable to see its effects, its tuples and why they matter."
)


def report_page(selection: Selection) -> str:
    """Return the whole report as HTML."""
    first = first_sentences(selection)
    return filled_page(
        "report.html",
        selection,
        styles=["report.css"],
        script=joined_scripts(_SCRIPTS),
        headline=escape(headline(selection)),
        about=_ABOUT_FIRST,
        about_all=_about_effects(selection) + (_ABOUT_ALONE if selection.dimensions == (1,) else _ABOUT_TUPLES),
        summary=_paragraphs(first),
        searched=_paragraphs([sentence for sentence in summary_sentences(selection) if sentence not in first]),
        glossary="\n".join(f"<dt>{escape(word)}</dt><dd>{escape(said)}</dd>" for word, said in FIRST_WORDS.items()),
        methods=escape(methods_paragraph(selection)),
        references="\n".join(f"<li>{escape(reference)}</li>" for reference in (*REFERENCES, *references(selection))),
        data=embedded_json(report_content(selection)),
    )


def _paragraphs(sentences: Sequence[str]) -> str:
    return "\n".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def _about_effects(selection: Selection) -> str:
    if selection.effects is None or not len(selection.ranked):
        return ""
    return _ABOUT_EFFECTS + (_ABOUT_ADJUSTED if selection.record.covariates else "")


def filled_page(
    template: str, result: Result, *, styles: Sequence[str], headline: str, script: str = "", **parts: str
) -> str:
    """Return a page from a template of the folder page/, its style sheets and its parts as HTML.

    Head, facts, settings, provenance and the call that repeats the run are filled in for all results.
    """
    version = escape(str(result.record.versions["interplay"]))
    style = "".join(map(_page_file, styles))
    head = Template(_page_file("head.html")).substitute(
        script_policy=f"script-src 'sha256-{_csp_hash(script)}'; " if script else "",
        style_hash=_csp_hash(style),
        style=style,
        headline=headline,
        version=version,
    )
    facts_list = (f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts(result))
    return Template(_page_file(template)).substitute(
        head=head,
        headline=headline,
        script=script,
        facts="\n".join(facts_list),
        settings=_rows_of(result.settings.items()),
        provenance=_rows_of(_flat(result.provenance)),
        repeat=escape(repeat(result)),
        version=version,
        **parts,
    )


def joined_scripts(names: Iterable[str]) -> str:
    """Return scripts of the folder page/ as one function: nothing leaks into the page's global names."""
    return "(() => {\n'use strict';\n" + "\n".join(map(_page_file, names)) + "\n})();\n"


def write_page(page: str, path: str | os.PathLike[str]) -> None:
    """Write a page to `path`, whole or not at all."""
    with whole_file(path) as file:
        # Half a surrogate pair in a name cannot be encoded; it is shown as "?".
        file.write(page.encode("utf-8", errors="replace"))


def embedded_json(content: Any) -> str:
    """Return JSON that is safe inside a script element, whatever the names are.

    HTML looks for ``</script`` and ``<!--`` even inside strings. The same JSON with escapes contains neither.
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _csp_hash(text: str) -> str:
    """Return the hash by which the content security policy allows this script or style, and no other."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _page_file(name: str) -> str:
    """Return a file of the folder page/."""
    return (files("interplay.show.report") / "page" / name).read_text(encoding="utf-8")


def _rows_of(entries: Iterable[tuple[str, Any]]) -> str:
    """Return names and values as rows of a table."""
    return "\n".join(
        f'<tr><th scope="row">{escape(str(name))}</th><td>{escape(shown_value(value))}</td></tr>'
        for name, value in entries
    )


def _flat(entries: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return a dict of dicts as names and values."""
    found: list[tuple[str, Any]] = []
    for name, value in entries.items():
        if value in ("", [], ()):
            continue  # no layout, no strata: nothing to say
        found += _flat(value, f"{prefix}{name} ") if isinstance(value, dict) else [(f"{prefix}{name}", value)]
    return found
