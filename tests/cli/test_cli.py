"""The command line as a whole: help, small commands, and how it fails."""

import json
import os
import shutil
import subprocess
import sys
import warnings

import click
import matplotlib as mpl
import pytest

import interplay
from command_line import in_shell
from interplay.ask.cli.commands import commands
from interplay.ask.cli.demo import run_demo
from interplay.ask.cli.errors import exit_code_of
from interplay.ask.cli.options import GROUPS, USUAL


@pytest.mark.parametrize("arguments", [[], ["-v"]])
def test_info_names_what_a_bug_report_needs(command, arguments):
    done = command("info", *arguments)
    assert done.code == 0
    for word in ("interplay", "numpy", "instructions", "cores", "engines      cpu", "GPUs"):
        assert word in done.out
    assert ("pyarrow" in done.out) == bool(arguments)


def test_info_says_which_bound_is_cheaper_here(command):
    lines = [line for line in command("info", "-v").out.splitlines() if line.startswith("bound")]
    assert [line.split("class ")[1].split(",")[0] for line in lines] == ["40%", "30%", "20%"]
    assert all(int(line.split("cheaper: ")[1][0]) + int(line[-1]) == 1 for line in lines)  # one thread, one choice


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["demo", "-k", "9"], ["demo", "--seed", "-1"], ["demo", "--folder"], ["--nonsense"]]
)
def test_bad_usage_is_exit_code_2_and_one_line(command, arguments):
    done = command(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.error_line.startswith("Error: ")
    assert "--help" in done.error_line


def test_without_a_command_there_is_help(command):
    done = command()
    assert "interplay run data.csv --target outcome" in done.out + done.err
    assert "Exit codes" in done.out + done.err


def test_help_of_every_command(command):
    for name in ("run", "report", "demo", "bench", "info", "completion"):
        done = command(name, "--help")
        assert done.code == 0
        assert f"Usage: interplay {name}" in done.out
    assert "Exit codes" in command("run", "--help").out


@pytest.mark.parametrize("name", ["run", "interactions"])
def test_help_shows_the_usual_options_and_help_all_every_option(command, name):
    options = [param for param in commands.commands[name].params if isinstance(param, click.Option)]
    short, whole = command(name, "--help"), command(name, "--help-all")
    assert (short.code, whole.code) == (0, 0)
    assert "--help-all" in short.out
    usual = short.out.partition("Options:")[2].partition("--help-all")[0]
    listed = {param.name for param in options if f" {max(param.opts, key=len)} " in usual}
    assert listed == set(USUAL) & {param.name for param in options}
    assert len(listed) in (15, 16)
    for param in options:
        assert sum(line.lstrip().startswith(tuple(param.opts)) for line in whole.out.splitlines()) >= 1, param.name
    known = {param.name for one in commands.commands.values() for param in one.params} | {"help_all"}
    assert known.issuperset(name for names in (*GROUPS.values(), USUAL) for name in names)


def test_version(command):
    assert command("--version").out == f"interplay {interplay.__version__}\n"


def test_bench_measures_each_dimension(command):
    options = ["bench", "-k", 1, "-k", 2, "--vars", 40, "--samples", 100, "-j", 1, "--engine", "cpu"]
    table = command(*options)
    assert table.code == 0
    lines = [line.split("|") for line in table.out.splitlines() if line.startswith("|")]
    assert [cells[2].strip() for cells in lines] == ["k", "--:", "1", "2"]
    assert len({len(cells) for cells in lines}) == 1
    assert all(cells[-2].strip() == "–" for cells in lines[2:]), "no reference for such a search"
    for words in (f"interplay {interplay.__version__}, Python ", "instruction set: ", "threads: 1 of ", "GPU: "):
        assert words in table.out
    rows = json.loads(command(*options, "--format", "json").out)["rows"]
    assert [row["tuples"] for row in rows] == [40, 40 * 39 // 2]
    assert all(row["tuples_per_second"] == pytest.approx(row["tuples"] / row["seconds"]) for row in rows)


def test_bench_compares_with_what_was_measured(command):
    table = command("bench", "-k", 2, "-j", 1, "--engine", "cpu")
    (row,) = json.loads(command("bench", "-k", 2, "-j", 1, "--engine", "cpu", "--format", "json").out)["rows"]
    assert row["times_reference"] == pytest.approx(row["tuples_per_second"] / 5.363e7)
    assert table.out.endswith("\nReference: cpu: one core of an AMD EPYC (Zen 4) with AVX2\n")


@pytest.mark.parametrize("cores", [1, 3])
def test_bench_compares_core_with_core_and_then_takes_all(command, monkeypatch, cores):
    """The figures of processors are of one core; a machine with one has one row for a search."""
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n_jobs: cores if n_jobs == -1 else n_jobs or 1)
    options = ["bench", "-k", 2, "--vars", 40, "--samples", 100, "--engine", "cpu"]
    threads = sorted({1, cores})
    assert f"threads: {' and '.join(map(str, threads))} of {cores};" in command(*options).out
    rows = json.loads(command(*options, "--format", "json").out)["rows"]
    assert [row["n_threads"] for row in rows] == threads
    (row,) = json.loads(command(*options, "-j", 2, "--format", "json").out)["rows"]
    assert row["n_threads"] == 2


@pytest.mark.parametrize(
    ("gpus", "reason", "told"),
    [
        ([], "no CuPy", "GPU: none\n"),
        (["NVIDIA A, 1 MiB, 5", "NVIDIA B, 1 MiB, 5"], None, "GPU: NVIDIA A, NVIDIA B\n"),
        (["NVIDIA A, 1 MiB, 5"], "no CuPy:\n  install it", "GPU: NVIDIA A (not used: no CuPy: install it)\n"),
    ],
)
def test_bench_says_why_a_gpu_has_no_rows(command, monkeypatch, gpus, reason, told):
    monkeypatch.setattr("interplay.ask.cli.info._gpus", lambda: gpus)
    monkeypatch.setattr("interplay.search.engines.cuda.why_no_cuda", lambda: reason)
    assert told in command("bench", "-k", 1, "--vars", 40, "--samples", 100, "-j", 1, "--engine", "cpu").out


def test_bench_says_that_others_are_at_work(command, monkeypatch):
    options = ["bench", "-k", 1, "--vars", 40, "--samples", 100, "-j", 1, "--engine", "cpu"]
    for load, cores, is_busy in ((0.2, 2, False), (7.91, 2, True), (7.9, 64, False)):
        monkeypatch.setattr("os.getloadavg", lambda load=load: (load, 0.0, 0.0), raising=False)
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        assert ("Busy: load average 7.9 on 2 cores" in command(*options).out) == is_busy


def test_reference_rates_are_those_of_the_results():
    import reference_rates

    if not reference_rates.RESULTS.exists():
        pytest.skip("a source distribution, which has no results")
    written = json.loads(reference_rates.FILE.read_text())
    assert written == reference_rates.reference_rates(), "run python benchmarks/reference_rates.py"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_what_the_shell_runs(command, shell):
    done = command("completion", shell)
    assert done.code == 0
    assert "_INTERPLAY_COMPLETE" in done.out
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=done.out, text=True).returncode == 0


def test_the_tab_key_completes_options_and_their_values(command, monkeypatch):
    monkeypatch.setenv("_INTERPLAY_COMPLETE", "bash_complete")
    for words, expected in [("interplay ru", "run"), ("interplay run --mult", "--multiclass")]:
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        assert f"plain,{expected}" in command().out
    monkeypatch.setenv("COMP_WORDS", "interplay run --fit we")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert "plain,weibull" in command().out


def fails_with(error):
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ValueError("decision='classes' is\nwrong"), 2, "Error: --decision classes is wrong"),
        (FileNotFoundError(2, "No such file", "a.csv"), 2, "Error: 'a.csv': No such file"),
        (ConnectionError("no copy"), 2, "Error: no copy"),
        (MemoryError(), 3, "not enough memory"),
        (OSError(28, "No space left on device"), 3, "cannot write standard output"),
        (KeyError("x"), 70, "please report it"),
        (KeyboardInterrupt(), 130, "Interrupted"),
        (interplay.SearchInterrupted(None, 0.25), 130, "after 25.0% of the search"),
    ],
)
def test_every_failure_is_a_line_and_a_code(capfd, error, code, words):
    assert exit_code_of(fails_with(error)) == code
    err = capfd.readouterr().err
    assert words in err
    assert len(err.splitlines()) == 1


def test_the_traceback_is_there_when_asked_for(capfd, monkeypatch):
    monkeypatch.setenv("INTERPLAY_TRACEBACK", "1")
    assert exit_code_of(fails_with(KeyError("x"))) == 70
    assert "Traceback" in capfd.readouterr().err


def test_warnings_are_one_line_each(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert exit_code_of(lambda: warnings.warn("few samples:\nget more", UserWarning, stacklevel=1)) == 0
    assert capfd.readouterr().err == "Warning: few samples: get more\n"


def test_python_m_interplay_is_the_same_command():
    done = in_shell("--version")
    assert done.stdout == f"interplay {interplay.__version__}\n"


def test_demo_finds_more_with_more_dimensions(tmp_path, capsys):
    mpl.use("Agg")
    selections = run_demo(tmp_path / "new", max_dimensions=3)
    found = [len(selections[f"{k}D"].relevant) for k in (1, 2, 3)]
    assert found == sorted(found)
    assert found[0] < found[2] == 20
    assert (tmp_path / "new" / "gains.png").stat().st_size > 10_000
    assert "20 of 20" in capsys.readouterr().out


def test_demo_without_matplotlib_says_how_to_get_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    run_demo(tmp_path, max_dimensions=1)
    assert 'install "matplotlib>=' in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("module", ["numpy", "pandas", "interplay.ask.cli.run"])
def test_ctrl_c_while_libraries_are_imported_is_one_line(tmp_path, module):
    """Pressed at the moment at which a library begins to be imported."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Press:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Press())\n"
    )
    data = tmp_path / "data.csv"
    data.write_text("a,b,y\n" + "1,2,0\n2,1,1\n" * 20)
    done = in_shell("run", data, "--target", "y", env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 130, done.stderr
    assert done.stderr == "Interrupted; nothing was written.\n"


def test_little_is_imported_before_ctrl_c_is_heard():
    script = "import sys; import interplay.ask.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "pandas", "click", "interplay.ask.selection.call", "importlib.metadata"} & set(loaded)
