"""The command `interplay`: bad usage and bad files end in one line and exit code 2."""

import os
from pathlib import Path

import interplay
from hostile.case import Area, CommandRefused, refused, same
from hostile.commands import run_command
from hostile.data import FRAME, X, Y, selected


def command(*arguments, stdin=b""):
    """Run it beside a good file; raise its one line if it refuses, and return what it prints if not."""
    if not Path("data.csv").exists():
        FRAME.assign(y=Y).to_csv("data.csv", index=False)
    done = run_command(*arguments, stdin=stdin)
    lines = [line for line in done.err.splitlines() if not line.startswith("Warning: ")]
    if done.code == 2:
        assert len(lines) == 1, done.err
        raise CommandRefused(lines[0])
    assert done.code == 0, done
    assert "Traceback" not in done.err
    return done.out


def run(*options):
    defaults = {"--target": "y", "--n-contrast": "30", "--seed": "0"}
    of_all = [word for name, value in defaults.items() if name not in options for word in (name, value)]
    return command("run", "data.csv", *of_all, *options)


def with_file(name, content):
    Path(name).write_bytes(content)
    return name


def printed_table():
    return run("--format", "csv")


AREA = Area(
    "The command line",
    [
        refused("no command", lambda: command("dance"), "No such command 'dance'"),
        refused(
            "`power` with `--samples` and `--power`",
            lambda: command("power", "--samples", 100, "--power", 0.8),
            "--samples and --power cannot be given together",
        ),
        refused("`power --levels two`", lambda: command("power", "--levels", "two"), "--levels 'two' must be numbers"),
        refused("`power -k 1`", lambda: command("power", "-k", 1), "dimensions must be a whole number"),
        refused("`run` without a file", lambda: command("run"), "Missing argument 'DATA'"),
        refused("`run` of a file that does not exist", lambda: command("run", "dat.csv"), "did you mean 'data.csv'"),
        refused("`run` of a folder", lambda: command("run", "."), "it is a folder"),
        refused("`run` of an empty name", lambda: command("run", "", "--target", "y"), "''|folder|file"),
        refused("`run` of a name of 5000 letters", lambda: command("run", "a" * 5000, "--target", "y"), "aaa"),
        refused("`run` without a target", lambda: command("run", "data.csv"), "target is needed"),
        refused("an option that does not exist", lambda: run("--dimension", "2"), "No such option"),
        refused("an option without its value", lambda: run("--level"), "--level"),
        refused("`-k two`", lambda: run("-k", "two"), "'-k'"),
        refused("`-k 0`", lambda: run("-k", "0"), "dimensions must be"),
        refused("`-k 2.5`", lambda: run("-k", "2.5"), "'-k'"),
        refused("`-k` with 5000 digits", lambda: run("-k", "9" * 5000), "-k|dimensions"),
        refused("`--seed -1`", lambda: run("--seed", "-1"), "random_state must be|seed"),
        refused("`--seed 99999999999`", lambda: run("--seed", "99999999999"), "random_state must be|seed"),
        refused("`--level nan`", lambda: run("--level", "nan"), "level must be"),
        refused("`--pseudocount inf`", lambda: run("--pseudocount", "inf"), "pseudocount must be"),
        refused("`--reference arm`", lambda: run("--reference", "arm"), "write COLUMN=LEVEL"),
        refused("`--redundancy 2`", lambda: run("--redundancy", "2"), "redundancy must be"),
        refused("`--range -1`", lambda: run("--range", "-1"), "range_? must be"),
        refused("`--p-adjust tukey`", lambda: run("--p-adjust", "tukey"), "--p-adjust"),
        refused("`--n-contrast some`", lambda: run("--n-contrast", "some"), "--n-contrast"),
        refused("`--jobs 0`", lambda: run("--jobs", "0"), "n_jobs must not be 0|--jobs"),
        refused("`--engine tpu`", lambda: run("--engine", "tpu"), "engine must be one of"),
        refused(
            "`--discretizations 1000000000000`", lambda: run("--discretizations", 10**12, "--range", "0.5"), "discreti"
        ),
        refused("`--strata zz`", lambda: run("--strata", "zz"), "strata names 'zz'"),
        refused("`--groups zz`", lambda: run("--groups", "zz"), "groups names 'zz'"),
        refused("`--covariate zz`", lambda: run("--covariate", "zz"), "--covariate names 'zz'"),
        refused("`--offset zz`", lambda: run("--offset", "zz"), "offset names 'zz'"),
        refused("`--entry v1` without times", lambda: run("--entry", "v1"), "entry is for times"),
        refused("`--time` without `--event`", lambda: run("--time", "v1"), "--time and --event belong together"),
        refused(
            "`--target` twice",
            lambda: command("run", "data.csv", "--target", "y", "--target", "x"),
            "--target is given more than once",
        ),
        refused("`--event` and `--target`", lambda: run("--time", "v1", "--event", "v2"), "--target does not go with"),
        refused(
            "`--permutations --n-permutations 3`",
            lambda: run("--n-contrast", "0", "--permutations", "--n-permutations", "3"),
            "--n-permutations 3 gives",
        ),
        refused("`--discrete zz`", lambda: run("--discrete", "zz"), "discrete names 'zz'"),
        refused("`--delimiter ab`", lambda: run("--delimiter", "ab"), "delimiter must be"),
        refused("`--out table.docx`", lambda: run("--out", "table.docx"), "'table.docx' must end in one of"),
        refused("`--out` in a missing folder", lambda: run("--out", "no/a.csv"), "no/a.csv"),
        refused("`--out` over the data", lambda: run("--out", "data.csv"), "also used for something else"),
        refused("`--report` and `--save` to one file", lambda: run("--report", "a", "--save", "a"), "also used"),
        refused("`--save` to a folder", lambda: run("--save", "."), "it is a folder"),
        refused("`--format` with `--out`", lambda: run("--format", "csv", "--out", "a.csv"), "--format is for"),
        refused("`--shard 9/3`", lambda: run("--shard", "9/3", "--save", "p"), "number of the shard"),
        refused("`--shard x`", lambda: run("--shard", "x", "--save", "p"), "shard must be like"),
        refused("`--shard` without `--save`", lambda: run("--shard", "1/2"), "--save"),
        refused("`--config` of a file that does not exist", lambda: run("--config", "no.toml"), "no.toml"),
        refused(
            "`--config` that is not TOML",
            lambda: run("--config", with_file("a.toml", b"= =")),
            "'a.toml' is not a TOML",
        ),
        refused(
            "`--config` of bytes", lambda: run("--config", with_file("a.toml", b"\xff\0")), "'a.toml' is not a TOML"
        ),
        refused(
            "`--config` with a setting that does not exist",
            lambda: run("--config", with_file("a.toml", b"dimension = 3")),
            "sets 'dimension'",
        ),
        refused(
            "`--config` with a table",
            lambda: run("--config", with_file("a.toml", b"[level]\na = 1")),
            "'level' must be",
        ),
        refused(
            "`--config` with a text for a number",
            lambda: run("--config", with_file("a.toml", b'divisions = "two"')),
            "two",
        ),
        refused(
            "`--config` with a date", lambda: run("--config", with_file("a.toml", b"divisions = 2020-01-01")), "2020"
        ),
        refused(
            "`--config` nested ten thousand deep",
            lambda: run("--config", with_file("a.toml", b"level = " + b"[" * 10**4)),
            "'a.toml'",
        ),
        refused(
            "`--checkpoint` of something else",
            lambda: run("--checkpoint", with_file("c", b"gains")),
            "'c' is not a checkpoint of interplay",
        ),
        refused("an empty standard input", lambda: command("run", "-", "--target", "y"), "standard input is empty"),
        refused(
            "bytes on standard input",
            lambda: command("run", "-", "--target", "y", stdin=b"\xff\xfe\0"),
            "standard input",
        ),
        refused("`--dry-run` with `-k 9`", lambda: run("--dry-run", "-k", "9"), "--dimensions 9 needs"),
        refused("`merge` of nothing", lambda: command("merge"), "Missing argument"),
        refused("`merge` of a file that does not exist", lambda: command("merge", "p1"), "p1"),
        refused("`merge` of the data", lambda: command("merge", "data.csv"), "'data.csv' is not a part of interplay"),
        refused("`merge` of a folder", lambda: command("merge", "."), "directory|folder"),
        refused("`merge` of one part of two", lambda: command("merge", a_part()), "2 of 2 is missing"),
        refused("`merge` of a part twice", lambda: command("merge", a_part(), a_part()), "is given twice"),
        refused("`report` of a file that does not exist", lambda: command("report", "no", "a.html"), "no"),
        refused("`report` of the data", lambda: command("report", "data.csv", "a.html"), "is not a saved selection"),
        refused("`report` to a missing folder", lambda: command("report", saved(), "no/a.html"), "no/a.html"),
        refused("`report` without a file to write", lambda: command("report", "a"), "Missing argument"),
        refused("`demo --seed -1`", lambda: command("demo", "--seed", "-1"), "--seed"),
        refused("`demo -k 9`", lambda: command("demo", "-k", "9"), "'-k'"),
        refused("`demo --folder` of a file", lambda: command("demo", "--folder", "data.csv"), "data.csv"),
        refused("`bench -k 9`", lambda: command("bench", "-k", "9"), "'-k'"),
        refused("`bench --samples 1`", lambda: command("bench", "--samples", "1"), "--samples"),
        refused("`bench --engine tpu`", lambda: command("bench", "--engine", "tpu"), "engine must be one of"),
        refused(
            "`bench` of too many tuples", lambda: command("bench", "-k", "5", "--vars", "99999"), "too many for a quick"
        ),
        refused(
            "`bench --jobs 0`",
            lambda: command("bench", "-k", "2", "--vars", "20", "--jobs", "0"),
            "--jobs must not be 0",
        ),
        refused("`info` with an argument", lambda: command("info", "all"), "unexpected extra argument"),
        refused("`completion tcsh`", lambda: command("completion", "tcsh"), "tcsh"),
        refused("`completion` of nothing", lambda: command("completion"), "Missing argument"),
        refused(
            "`INTERPLAY_ENGINE=tpu`", lambda: with_variable("INTERPLAY_ENGINE", "tpu"), "INTERPLAY_ENGINE must be one"
        ),
        refused(
            "`INTERPLAY_SIMD_LEVEL=mmx`",
            lambda: with_variable("INTERPLAY_SIMD_LEVEL", "mmx"),
            "INTERPLAY_SIMD_LEVEL",
            theirs="must be one of ",
        ),
        same(
            "csv on standard input",
            lambda: command(
                "run",
                "-",
                "--target",
                "y",
                "--n-contrast",
                "30",
                "--seed",
                "0",
                "--format",
                "csv",
                stdin=FRAME.assign(y=Y).to_csv(index=False).encode(),
            ),
            "the file",
            printed_table,
        ),
        same(
            "`--config` and options",
            lambda: run("--config", with_file("a.toml", b"format = 'csv'\nseed = 7")),
            "the options",
            printed_table,
        ),
        same("parts merged", lambda: _merged_table(), "the whole", printed_table),
    ],
)


def a_part():
    interplay.search_shard(X, Y, dimensions=2, shard="1/2", n_contrast=30).save("part1")
    return "part1"


def saved():
    selected().save("saved")
    return "saved"


def with_variable(name, value):
    os.environ[name] = value
    try:
        return run()
    finally:
        del os.environ[name]


def _merged_table():
    for number in (1, 2):
        run("--shard", f"{number}/2", "--save", f"p{number}")
    return command("merge", "p1", "p2", "--data", "data.csv", "--target", "y", "--format", "csv")
