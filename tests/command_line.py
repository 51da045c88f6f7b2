"""Runs the command `interplay`, in this process or in one of its own; and a table to run it on."""

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from interplay.ask import cli


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str

    @property
    def error_line(self):
        """The one line that an error is."""
        lines = [line for line in self.err.splitlines() if not line.startswith("Warning: ")]
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


def in_process(monkeypatch, capfd, *arguments):
    """Fast, and files, exit code and output are the same."""
    monkeypatch.setattr(sys, "argv", ["interplay", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    out, err = capfd.readouterr()
    return Finished(stop.value.code, out, err)


def in_shell(*arguments, **options):
    command = [sys.executable, "-m", "interplay", *map(str, arguments)]
    return subprocess.run(command, text=True, timeout=120, **{"capture_output": True, **options})


def exclusive_or():
    """A table in which g3 and g12 tell the outcome together, and neither does alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    frame = pd.DataFrame(X, columns=[f"g{v}" for v in range(20)])
    return frame.assign(outcome=np.where((X[:, 3] > 0) ^ (X[:, 12] > 0), "ill", "well"))
