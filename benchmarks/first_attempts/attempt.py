"""A table → the command of a first attempt, its answer, its messages, and what is wrong with these."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd

import interplay
from benchmarks.first_attempts.tables import FirstTable


def attempt(table: FirstTable, frame: pd.DataFrame, *, seed: int) -> dict[str, Any]:
    """Run the command with the outcome alone; where its message says what to add, run it again with that."""
    with tempfile.TemporaryDirectory() as folder:
        path, saved = Path(folder) / f"{table.name}.csv", Path(folder) / "result.interplay"
        frame.to_csv(path, index=False)
        of_times = ["--time", table.target, "--event", str(table.event)]
        words = of_times if table.event else ["--target", table.target]
        started = time.perf_counter()
        first = _run(["run", str(path), *words, "--seed", str(seed), "--save", str(saved)])
        seconds = time.perf_counter() - started
        added = re.search(r"To go on, add: (.*)", first["err"])
        second = (
            _run(["run", str(path), *words, "--seed", str(seed), "--save", str(saved), *added[1].split()])
            if (first["code"] and added)
            else first
        )
        relevant = [] if second["code"] else interplay.load(saved).relevant
    said = [line.replace(f"{folder}/", "") for line in first["err"].splitlines() if not line.startswith("save:")]
    result = {
        "package": table.package, "name": table.name, "target": table.target, "event": table.event,
        "n_samples": len(frame), "n_columns": frame.shape[1], "known": table.known,
        "command": f"interplay run {table.name}.csv {' '.join(words)}", "code": first["code"], "said": said,
        "added": added[1] if first["code"] and added else "", "answer": second["out"], "relevant": relevant,
        "seconds": round(seconds, 1),
    }  # fmt: skip
    return result | {"wrong": wrong(table, result)}


def _run(words: list[str]) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", "interplay", *words], capture_output=True, text=True)
    return {"code": done.returncode, "out": done.stdout, "err": done.stderr}


def wrong(table: FirstTable, result: dict[str, Any]) -> list[str]:
    """Return what is not as it has to be, in words."""
    said = " ".join(result["said"])
    if result["code"] and not table.message:
        return [f"no answer: {said}"]
    problems = [f"{name} is not found" for name in table.must if name not in result["relevant"]]
    problems += [f"{name} is found" for name in table.never if name in result["relevant"]]
    return problems + ([f"no message with {table.message!r}"] if table.message not in said else [])
