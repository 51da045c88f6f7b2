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

from interplay.report.content import report_content
from interplay.report.words import REFERENCES, headline, methods_paragraph, summary_sentences

if TYPE_CHECKING:
    from interplay.results.selection import Selection

#: In this order: each may use what stands before it.
_SCRIPTS = (
    "base.js", "chart.js", "ranks.js", "null_fit.js", "correlation.js", "network.js", "why.js", "details.js",
    "table.js", "main.js",
)  # fmt: skip

_ABOUT_ALONE = "Gains are in bits × samples. Choose a variable to see how the classes are spread over its levels."
_ABOUT_TUPLES = (
    "Gains are in bits × samples. <em>Alone</em> is the gain without partners, <em>synergy</em> what the best tuple "
    "adds to it. Choose a variable to see its tuples and why they matter."
)


def report_page(selection: Selection) -> str:
    """Return the whole report as HTML."""
    style = _file("report.css")
    # One function around all of them: nothing leaks into the page's global names.
    script = "(() => {\n'use strict';\n" + "\n".join(_file(name) for name in _SCRIPTS) + "\n})();\n"
    return Template(_file("report.html")).substitute(
        style_hash=_csp_hash(style),
        script_hash=_csp_hash(script),
        style=style,
        script=script,
        headline=html.escape(headline(selection)),
        about=_ABOUT_ALONE if selection.dimensions == (1,) else _ABOUT_TUPLES,
        summary="\n".join(f"<p>{html.escape(sentence)}</p>" for sentence in summary_sentences(selection)),
        methods=html.escape(methods_paragraph(selection)),
        references="\n".join(f"<li>{html.escape(reference)}</li>" for reference in REFERENCES),
        settings=_rows(selection.settings.items()),
        provenance=_rows(_flat(selection.provenance)),
        repeat=html.escape(_call(selection.settings, with_strata=bool(selection.provenance.get("strata")))),
        version=html.escape(str(selection.provenance["versions"]["interplay"])),
        data=embedded_json(report_content(selection)),
    )


def embedded_json(content: Any) -> str:
    """Return JSON that is safe inside a script element, whatever the names are.

    HTML looks for ``</script`` and ``<!--`` without knowing about strings. Escaped, the same JSON holds no such thing.
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _csp_hash(text: str) -> str:
    """Return what the content security policy calls this text: nothing else is allowed to run."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _file(name: str) -> str:
    return (files("interplay.report") / "page" / name).read_text(encoding="utf-8")


def _rows(entries: Iterable[tuple[str, Any]]) -> str:
    return "\n".join(
        f'<tr><th scope="row">{html.escape(str(name))}</th><td>{html.escape(_shown(value))}</td></tr>'
        for name, value in entries
    )


def _flat(entries: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for name, value in entries.items():
        flat += _flat(value, f"{prefix}{name} ") if isinstance(value, dict) else [(f"{prefix}{name}", value)]
    return flat


def _shown(value: Any) -> str:
    """Return a setting as it would be written, but not pages of it."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 500 else text[:499] + "…"


def _call(settings: dict[str, Any], *, with_strata: bool) -> str:
    """Return the call that repeats the run; of a long list only the beginning."""
    lines = "".join(
        f"    {name}={_shown(value) if isinstance(value, list) else repr(value)},\n" for name, value in settings.items()
    )
    return (
        f"import interplay\n\nresult = interplay.select(\n    X, y,{' strata=strata,' if with_strata else ''}\n{lines})"
    )
