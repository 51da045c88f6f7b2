"""`interplay run` and `interplay report`: files in, results out, complete or not at all."""

import contextlib
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import interplay
from command_line import exclusive_or, in_shell
from interplay.ask.cli.options import SELECT_OPTIONS
from interplay.ask.cli.outputs import read_config, write_config
from interplay.ask.cli.run import run as run_command
from interplay.show.results.selection import Selection

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals, devices and limits of POSIX")


@pytest.fixture
def data(tmp_path):
    """A table in which g3 and g12 tell the outcome together, and neither does alone."""
    frame = exclusive_or()
    frame["g1"] = frame["g1"].round()
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def files(folder):
    return sorted(os.listdir(folder))


def test_the_summary_goes_to_stdout_and_notes_to_stderr(command, data):
    done = command("run", data, "--target", "outcome", "-k", 2, "--seed", 1, "--save", "run.interplay")
    assert done.code == 0
    assert done.out.startswith("2 of 20 variables relevant (adjusted p < 0.05)\n")
    assert done.err == "save: run.interplay\n"
    assert sorted(interplay.load(data.parent / "run.interplay").relevant) == ["g12", "g3"]


def test_it_is_select_on_the_same_data(command, data):
    options = ["-k", 2, "--divisions", 2, "--discretizations", 3, "--range", 0.3, "--pseudocount", 0.5, "--level", 0.01,
               "--n-contrast", 40, "--p-adjust", "BH", "--fit", "tail", "--seed", 7, "--discrete", "none",
               "--missing", "impute", "--decision", "classes", "-j", 2]  # fmt: skip
    assert command("run", data, "--target", "outcome", *options, "--save", "run.interplay").code == 0
    frame = pd.read_csv(data)
    expected = interplay.select(
        frame.drop(columns="outcome"), frame["outcome"], dimensions=2, divisions=2, discretizations=3, range_=0.3,
        pseudocount=0.5, level=0.01, n_contrast=40, p_adjust="BH", fit="tail", random_state=7, discrete="none",
        missing="impute", decision="classes",
    )  # fmt: skip
    found = interplay.load("run.interplay")
    pd.testing.assert_frame_equal(found.table, expected.table)
    assert found.settings == expected.settings


def test_strata_are_a_column(command, data):
    frame = pd.read_csv(data)
    frame["batch"] = np.where(np.arange(300) % 3 == 0, "a", "b")
    frame.to_csv("batches.csv", index=False)
    options = ["run", "batches.csv", "--target", "outcome", "--strata", "batch", "-k", 2, "--seed", 1]
    assert command(*options, "--save", "run.interplay").code == 0
    expected = interplay.select(
        frame.drop(columns=["outcome", "batch"]), frame["outcome"], dimensions=2, strata=frame["batch"], random_state=1
    )
    found = interplay.load("run.interplay")
    pd.testing.assert_frame_equal(found.table, expected.table)
    assert found.provenance["strata"] == {"a": 100, "b": 200}
    dry = command(*options, "--dry-run")
    assert dry.code == 0
    assert "20 variables" in dry.out


def test_a_number_as_outcome(command, data):
    frame = pd.read_csv(data)
    values = frame.drop(columns="outcome").to_numpy()
    frame["outcome"] = np.sign(values[:, 3] * values[:, 12]) + np.random.default_rng(1).normal(size=len(frame))
    frame.to_csv(data, index=False)
    plain = command("run", data, "--target", "outcome", "--seed", 0)
    assert plain.code == 0
    assert "outcome a number, median" in plain.out
    assert "by ranks" in plain.out
    assert "g12" in plain.out
    by_values = command("run", data, "--target", "outcome", "--seed", 0, "--scale", "values", "--decision", "number")
    assert "by values" in by_values.out
    cut = command("run", data, "--target", "outcome", "--seed", 0, "--decision-divisions", 1)
    assert "classes y <=" in cut.out


def test_every_argument_of_select_is_an_option():
    arguments = set(inspect.signature(interplay.select).parameters) - {"X", "y"}
    options = {parameter.name for parameter in run_command.params}
    assert arguments <= options
    defaults = {p.name: p.default for p in run_command.params if p.name in arguments}
    # All as in Python, but for what a command should do by itself.
    different = {"n_jobs": -1, "discrete": ["auto"]}
    for name, parameter in inspect.signature(interplay.select).parameters.items():
        if name in defaults and isinstance(parameter.default, str | int | float):
            assert defaults[name] == different.get(name, parameter.default), name
    assert len(SELECT_OPTIONS) == len(arguments)


@pytest.mark.parametrize("where", [["--out", "-"], ["--format", "csv"], ["--out", "-", "--format", "csv"]])
def test_the_table_on_stdout_is_nothing_but_the_table(command, data, where):
    done = command("run", data, "--target", "outcome", "-k", 2, "--seed", 1, *where)
    lines = done.out.splitlines()
    of_gains = "variable,gain,p_value,p_adjusted,relevant,partners,discretization,gain_alone,synergy"
    of_effects = "direction,effect,effect_low,effect_high,effect_kind,representative,short_list"
    assert lines[0] == f"{of_gains},{of_effects},verdict,interacting,p_interaction"
    assert len(lines) == 21
    assert done.err == ""


def test_json_on_stdout(command, data):
    rows = json.loads(command("run", data, "--target", "outcome", "--seed", 1, "--format", "json").out)
    assert rows[3]["partners"] == ["g12"]


def test_quiet_says_nothing(command, data):
    done = command("run", data, "--target", "outcome", "-q", "--out", "table.csv")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert len(pd.read_csv("table.csv")) == 20


def test_progress_goes_to_stderr(command, data):
    done = command("run", data, "--target", "outcome", "--progress", "--format", "csv")
    assert "tuples/s" in done.err
    assert "tuples/s" not in done.out


def test_a_run_can_be_recorded_and_repeated(command, data):
    first = command("run", data, "--target", "outcome", "--level", 0.1, "--drop", "g0", "--discrete", "g1",
                    "--write-config", "run.toml", "--format", "csv")  # fmt: skip
    record = tomllib.loads(Path("run.toml").read_text())
    assert record["target"] == "outcome"
    assert record["level"] == 0.1
    assert isinstance(record["seed"], int)  # it was drawn
    assert command("run", "--config", "run.toml", "--format", "csv").out == first.out
    # The command line goes before the file.
    other = command("run", "--config", "run.toml", "-k", 1, "--save", "one.interplay")
    assert other.code == 0
    assert interplay.load("one.interplay").settings["dimensions"] == 1


def test_a_config_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "run.toml").write_bytes(b'\xef\xbb\xbftarget = "y"\n')
    assert read_config(str(tmp_path / "run.toml"), {"target"}) == {"target": "y"}


def test_configs_survive_any_name(tmp_path):
    settings = {"target": 'a "quoted" \\ back\nslash \x7f \u2713', "drop": ["a,b", ""], "level": 0.05, "divisions": 3}
    path = str(tmp_path / "run.toml")
    write_config(path, {**settings, "range_": None, "random_state": 5}, comment="two\nlines")
    read = read_config(path, {"target", "drop", "level", "divisions", "random_state"})
    assert read == {**settings, "level": "0.05", "divisions": "3", "random_state": "5"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("fit = 'best'", "'best' is not one of"),
        ("[run]\nlevel = 1", "sets 'run'"),
        ("target = 'nope'", "no column 'nope'"),
    ],
)
def test_bad_configs(command, data, content, message):
    Path("bad.toml").write_text(content)
    done = command("run", data, "--config", "bad.toml")
    assert done.code == 2
    assert message in done.error_line


def test_dry_run_measures_and_does_nothing(command, data):
    options = ["run", data, "--target", "outcome", "-k", 3, "--n-contrast", 50, "--save", "s", "--dry-run"]
    done = command(*options)
    assert done.code == 0
    for word in ("300 samples, 20 variables, 50 contrast variables", "memory", "tuples/s", "time"):
        assert word in done.out
    work = json.loads(command(*options, "--format", "json").out)
    assert work["n_tuples"] == 20 * 19 * 18 / 6 + 50 * 20 * 19 / 2
    assert files(data.parent) == ["data.csv"]
    # What the run would refuse, the dry run refuses.
    assert (
        "needs at least 30 variables" in command("run", data, "--target", "outcome", "-k", 30, "--dry-run").error_line
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "outcom"], "did you mean 'outcome'?"),
        (["--target", "outcome", "--discrete", "none", "--discrete", "g1"], "--discrete none stands for all columns"),
        (["--target", "outcome", "--drop", "nope"], "no column 'nope'"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(command, data, arguments, message):
    before = data.read_bytes()
    done = command("run", "data.csv", *arguments)
    assert done.code == 2
    assert message in done.error_line
    assert done.out == ""
    assert files(data.parent) == ["data.csv"]
    assert data.read_bytes() == before


def test_missing_values_say_what_to_do(command, data):
    frame = pd.read_csv(data)
    frame.loc[[4, 7], "g5"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    done = command("run", "gaps.csv", "--target", "outcome", "--missing", "error")
    assert done.code == 2
    assert "g5" in done.error_line
    done = command("run", "gaps.csv", "--target", "outcome")
    assert done.code == 0
    assert "missing values: drawn from the other values in 1 column" in done.out.splitlines()[0]


@posix_only
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0 and not Path("/usr/bin/setpriv").exists(),
                    reason="root may write everywhere")  # fmt: skip
def test_a_folder_without_write_permission(data):
    locked = data.parent / "locked"
    locked.mkdir()
    (locked / "old.csv").write_text("old")
    data.chmod(0o644)
    locked.chmod(0o555)
    # As another user where this one is root, who may write everywhere.
    leave_root = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    for folder in data.parents:
        if leave_root and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    if subprocess.run([*leave_root, sys.executable, "-c", ""], capture_output=True).returncode:
        pytest.skip("another user cannot run this Python")
    command = [*leave_root, sys.executable, "-m", "interplay", "run", data, "--target", "outcome", "--out"]
    # Nor may the other user write what `make coverage` wants written.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    for name in ("new.csv", "old.csv"):
        done = subprocess.run([*command, locked / name], capture_output=True, text=True, env=environment, timeout=120)
        assert done.returncode == 2, done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert "ermission denied" in done.stderr or "read-only" in done.stderr
    assert files(locked) == ["old.csv"]
    assert (locked / "old.csv").read_text() == "old"


@posix_only
def test_a_full_disk_leaves_the_old_file_and_no_half_one(data):
    import resource

    folder = data.parent / "results"
    folder.mkdir()
    (folder / "table.csv").write_text("old")

    def no_space_for_more_than_1000_bytes():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = in_shell("run", data, "--target", "outcome", "--out", folder / "table.csv",
                    "--save", folder / "run.interplay", "--write-config", folder / "run.toml",
                    preexec_fn=no_space_for_more_than_1000_bytes)  # fmt: skip
    assert done.returncode == 3
    errors = [line for line in done.stderr.splitlines() if line.startswith("Error")]
    assert len(errors) == 1
    assert "table.csv" in errors[0]
    assert "run.interplay" in errors[0]
    assert (folder / "table.csv").read_text() == "old"
    assert files(folder) == ["run.toml", "table.csv"]  # what was small enough is there, whole
    assert tomllib.loads((folder / "run.toml").read_text())["target"] == "outcome"


@posix_only
@pytest.mark.parametrize("options", [[], ["--format", "csv"], ["--save", "/dev/full", "-q"]])
def test_a_full_device(data, options):
    with open("/dev/full", "w") as full:
        done = in_shell("run", data, "--target", "outcome", *options, capture_output=False, stdout=full,
                        stderr=subprocess.PIPE)  # fmt: skip
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1
    assert "No space left on device" in done.stderr
    assert "/dev/full" in done.stderr or "standard output" in done.stderr


@posix_only
@pytest.mark.parametrize("options", [[], ["--format", "csv"], ["--dry-run"]])
def test_a_reader_that_went_away_is_no_error_to_talk_about(data, options):
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = in_shell("run", data, "--target", "outcome", *options, capture_output=False, stdout=theirs,
                        stderr=subprocess.PIPE)  # fmt: skip
    finally:
        os.close(theirs)
    assert done.returncode == 141
    assert done.stderr == ""


@posix_only
@pytest.mark.parametrize(("options", "code"), [([], 3), (["--format", "csv"], 3), (["--out", "t.csv"], 0)])
def test_a_closed_standard_output(data, tmp_path, options, code):
    line = [sys.executable, "-m", "interplay", "run", data, "--target", "outcome", *options]
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *line], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert ("cannot write standard output: it is closed" in done.stderr) is (code == 3)
    assert (tmp_path / "t.csv").exists() is (code == 0)


@posix_only
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_that_an_import_swallows(command, data, monkeypatch, number, code):
    def interrupted(*_, **__):
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), number)
            time.sleep(5)
        raise AttributeError("partially initialized module 'pandas' has no attribute 'DataFrame'")

    monkeypatch.setattr("interplay.ask.selection.call.select", interrupted)
    done = command("run", data, "--target", "outcome")
    assert (done.code, done.error_line.partition(";")[2]) == (code, " nothing was written.")


def test_an_interrupt_after_the_search_leaves_what_was_found(command, data, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("interplay.ask.selection.significance.explained", interrupted)
    kept = {name: tmp_path / name for name in ("run.interplay", "table.csv", "report.html")}
    save, out, report = kept.values()
    done = command("run", data, "--target", "outcome", "--save", save, "--out", out, "--report", report, "--quiet")
    said = "Interrupted after the search; what was found is written, without tuples, effects and the short list."
    assert (done.code, done.error_line) == (130, said)
    assert set(interplay.load(save).relevant) == {"g3", "g12"}
    assert all(path.exists() for path in kept.values())


@posix_only
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_stops_at_once_and_leaves_nothing(tmp_path, number, code):
    X, y, _ = interplay.datasets.make_madelon(n_samples=1000, n_vars=300, random_state=1)
    np.savez(tmp_path / "big.npz", X=X, y=y)
    command = [sys.executable, "-m", "interplay", "run", tmp_path / "big.npz", "-k", "4", "--progress", "-j", "2",
               "--out", tmp_path / "table.csv", "--save", tmp_path / "run.interplay"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert "tuples/s" in process.stderr.readline()  # it is under way
    process.send_signal(number)
    started = time.monotonic()
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - started < 10
    assert process.returncode == code
    assert out == ""
    assert "% of the search; nothing was written." in err.splitlines()[-1]
    assert files(tmp_path) == ["big.npz"]


def test_an_interrupted_run_with_a_checkpoint_says_where_it_goes_on(command, data, monkeypatch):
    def interrupted(*_, checkpoint, **__):
        raise interplay.SearchInterrupted(None, 0.5, checkpoint)

    monkeypatch.setattr("interplay.ask.selection.call.select", interrupted)
    done = command("run", data, "--target", "outcome", "--checkpoint", "run.ckpt")
    assert done.code == 130
    assert done.error_line == "Interrupted after 50.0% of the search; the same command goes on from 'run.ckpt'."


# --- Reports --------------------------------------------------------------------------------------------------


def test_report_of_a_run_and_of_a_saved_result_are_the_same(command, data):
    done = command("run", data, "--target", "outcome", "--report", "a.html", "--save", "run.interplay")
    assert done.code == 0
    done = command("report", "run.interplay", "b.html")
    assert (done.code, done.out, done.err) == (0, "", "report: b.html\n")
    pages = [Path(name).read_text(encoding="utf-8") for name in ("a.html", "b.html")]
    assert pages[0] == pages[1]
    assert pages[0].startswith("<!doctype html>")


def test_report_says_what_is_wrong(command, data):
    assert "is not a saved selection" in command("report", data, "b.html").error_line
    assert "No such file" in command("report", "nothing", "b.html").error_line
    command("run", data, "--target", "outcome", "--save", "run.interplay")
    assert "make it first" in command("report", "run.interplay", "no/b.html").error_line
    assert files(data.parent) == ["data.csv", "run.interplay"]


def test_a_report_that_fails_leaves_the_other_results(command, data, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    def write_to_full_disk(selection, path):
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            write_report(selection, path)

    write_report = Selection.to_html
    monkeypatch.setattr(Selection, "to_html", write_to_full_disk)
    done = command("run", data, "--target", "outcome", "--report", "a.html", "--out", "table.csv", "-q")
    assert done.code == 3
    assert done.error_line == "Error: cannot write 'a.html': No space left on device"
    assert files(data.parent) == ["data.csv", "table.csv"]


@posix_only
def test_where_interrupts_are_ignored_a_run_is_as_ever(data):
    """As where a script starts it with &."""
    ignoring = ["bash", "-c", 'trap "" INT; exec "$@"', "bash", sys.executable, "-m", "interplay"]
    options = ["run", str(data), "--target", "outcome", "--seed", "1", "--format", "csv", "-q"]
    done = subprocess.run([*ignoring, *options], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == in_shell(*options).stdout


def test_best_names_what_a_model_should_get(command, data):
    options = ["run", data, "--target", "outcome", "-k", 2, "--seed", 1]
    done = command(*options, "--best", 4, "--save", "run.interplay", "--out", "table.csv", "--report", "report.html")
    assert done.code == 0
    table = pd.read_csv("table.csv")
    in_order = table[table["best"] > 0].sort_values("best")["variable"].tolist()
    found = interplay.load("run.interplay")
    assert in_order == found.best(4)
    assert set(in_order[:2]) == {"g3", "g12"}
    line = f"Best 4 for a model, 2 of them relevant: {', '.join(in_order)}."
    assert line in found.summary()
    assert line in Path("report.html").read_text(encoding="utf-8")
    assert "--best 4" in found.provenance["source"]["command"]
    done = command(*options, "--best", "auto")
    assert re.search(r"Best 2 for a model, 2 of them relevant: g\d+, g\d+\. So many explain \d+% of the outc", done.out)
    assert "--best must be" in command(*options, "--best", 0).error_line
    assert "neither a whole number nor 'auto'" in command(*options, "--best", "few").error_line
    refused = command(*options, "--best", 3, "--shard", "1/2", "--save", "part")
    assert "--best needs the whole result: ask the merged one" in refused.error_line


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "Interrupted; what was found is written, without the best variables for a model."),
        (ValueError("class a has 2"), 2, "class a has 2"),
    ],
)
def test_a_search_is_not_lost_where_best_auto_fails(command, data, monkeypatch, error, code, said):
    from interplay.show.results.selection import Selection

    def fail(*_):
        raise error

    monkeypatch.setattr(Selection, "with_best", fail)
    done = command(
        "run", data, "--target", "outcome", "-k", 1, "--seed", 1, "--best", "auto", "--save", "kept.interplay"
    )
    assert done.code == code
    assert said in done.err
    assert interplay.load("kept.interplay").names
    assert "relevant" in done.out
