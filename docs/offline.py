"""The built pages are complete: nothing in them is loaded from another host, so they can be read without a network."""

import re
from pathlib import Path

#: Tags and attributes that make a browser load something; links in the text (<a href>) load nothing.
_LOADS = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed|object|link)\b[^>]*?
        \b(?:src|srcset|href|data|poster)\s*=\s*["']?\s*((?:https?:)?//[^"'\s>]+)""",
    re.IGNORECASE | re.VERBOSE,
)
_LOADS_IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?\s*((?:https?:)?//[^"')\s;]+)""", re.IGNORECASE)
#: A link that names another place without loading anything from it.
_ONLY_NAMES = re.compile(
    r"""<link\b[^>]*\brel\s*=\s*["']?(?:canonical|author|license|help|next|prev)\b""", re.IGNORECASE
)


def other_hosts(text: str, *, is_style: bool = False) -> list[str]:
    """Return the addresses on other hosts that a page or style sheet loads."""
    found = _LOADS_IN_STYLE.findall(text)
    if not is_style:
        found += [match[1] for match in _LOADS.finditer(text) if not _ONLY_NAMES.match(match[0])]
    return found


def refuse_other_hosts(app, exception) -> None:
    """Fail the build if a page loads something from another host."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    faults = [
        f"{file.relative_to(folder)} loads {address}"
        for file in sorted([*folder.rglob("*.html"), *folder.rglob("*.css")])
        for address in other_hosts(file.read_text(encoding="utf-8"), is_style=file.suffix == ".css")
    ]
    if faults:
        listed = "; ".join(faults)
        raise ValueError(f"pages must be readable offline (`make clean` removes those of earlier builds): {listed}")
