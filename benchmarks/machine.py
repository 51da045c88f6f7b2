"""What every result is stamped with: the machine and the commit."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def commit() -> str:
    try:
        command = ["git", "describe", "--always"]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=RESULTS.parent).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def stamp() -> dict[str, Any]:
    from interplay.search.engines.cpu import default_simd_level

    try:
        from interplay.ask.cli.info import processor

        name = processor()
    except ImportError:  # without click, where only a search is measured
        name = platform.processor()
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "simd_level": default_simd_level(),
        "python": platform.python_version(),
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def write_result(name: str, result: dict[str, Any]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": stamp(), **result}, indent=1) + "\n")
    return path
