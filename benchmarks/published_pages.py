"""Run a published benchmark, and write its page.

    python benchmarks/published_pages.py NAME [options of the benchmark]

NAME: listopad, hyper, gametes, madelon or nips2003. Writes benchmarks/published/NAME.md and
benchmarks/results/NAME.json. Data that are not at hand are not replaced by others: the script says how to get them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from machine import stamp, write_result

NAMES = ("listopad", "hyper", "gametes", "madelon", "nips2003")


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        raise SystemExit(f"usage: python benchmarks/published_pages.py {'|'.join(NAMES)} [options]")
    name, arguments = sys.argv[1], sys.argv[2:]
    result, page = import_module(f"published.{name}").run(arguments)
    # A folder is one of this machine.
    shown = [each for i, each in enumerate(arguments) if "--folder" not in (each, arguments[i - 1] if i else "")]
    command = f"python benchmarks/published_pages.py {' '.join([name, *shown])}"
    write_result(name, {"command": command, **result})
    about = stamp()
    made = f"*Made by `{command}` on {about['date']}, commit {about['commit']}, {about['processor']}.*"
    path = Path(__file__).parent / "published" / f"{name}.md"
    path.write_text(f"{page}\n{made}\n", encoding="utf-8")
    print("written:", path.name)


if __name__ == "__main__":
    main()
