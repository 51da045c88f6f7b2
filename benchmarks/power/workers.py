"""One waiting process for each module of methods, started when first asked and again after a call that ended it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from power.call import Hints

BENCHMARKS = Path(__file__).parent.parent

#: Times are of one thread, whatever a package would take by itself.
ONE_THREAD = dict.fromkeys(
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"], "1"
)


class Workers:
    """Calls methods by name; `python_of` gives the interpreter that has the packages of a module."""

    def __init__(self, python_of: Callable[[str], Path], limit_seconds: float):
        self._python_of = python_of
        self._limit = limit_seconds
        self._running: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._running.values():
            with worker:  # closes its pipes and waits
                worker.kill()

    def call(self, module: str, method: str, data: Path, hints: Hints) -> dict:
        """What the worker answers: "selected" and "seconds", or "error"."""
        worker = self._worker(module)
        assert worker.stdin is not None
        assert worker.stdout is not None
        asked = {"method": method, "data": str(data), "hints": asdict(hints), "limit_seconds": self._limit}
        worker.stdin.write(json.dumps(asked) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
        if line:
            return json.loads(line)
        with self._running.pop(module):  # closes its pipes and waits
            pass
        return {"error": self._end_in_words(worker.returncode)}

    def _worker(self, module: str) -> subprocess.Popen[str]:
        if module not in self._running:
            self._running[module] = subprocess.Popen(
                [self._python_of(module), "-m", "power.worker", module],
                cwd=BENCHMARKS,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=os.environ | ONE_THREAD,
            )
        return self._running[module]

    def _end_in_words(self, returncode: int) -> str:
        if returncode == -signal.SIGPROF:
            return f"took more than {self._limit:g} s"
        return f"ended the process with status {returncode}"
