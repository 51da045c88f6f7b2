"""The command line: what it prints, and how it fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

from interplay.demo import run_demo


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "interplay", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_info_names_what_a_bug_report_needs() -> None:
    done = run("info")
    assert done.returncode == 0
    for word in ("interplay", "numpy", "SIMD levels", "cores"):
        assert word in done.stdout


def test_info_says_which_bound_is_cheaper_here() -> None:
    lines = [line for line in run("info", "-v").stdout.splitlines() if line.startswith("bound")]
    assert [line.split("class ")[1].split(",")[0] for line in lines] == ["50%", "40%", "30%", "20%"]
    assert all(int(line.split("cheaper: ")[1][0]) + int(line[-1]) == 1 for line in lines)  # one thread, one choice


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["demo", "-k", "9"], ["demo", "--seed", "-1"], ["demo", "--folder"]]
)
def test_bad_usage_is_exit_code_2_without_a_traceback(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "Error" in done.stderr


def test_demo_finds_more_with_more_dimensions(tmp_path: Path, capsys) -> None:
    mpl.use("Agg")
    selections = run_demo(tmp_path / "new", max_dimensions=3)
    found = [len(selections[f"{k}D"].relevant) for k in (1, 2, 3)]
    assert found == sorted(found)
    assert found[0] < found[2] == 20
    assert (tmp_path / "new" / "gains.png").stat().st_size > 10_000
    assert "20 of 20" in capsys.readouterr().out


def test_demo_without_matplotlib_says_how_to_get_it(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    run_demo(tmp_path, max_dimensions=1)
    assert '"interplay[plot]"' in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
