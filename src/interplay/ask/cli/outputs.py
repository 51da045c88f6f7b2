"""Output files of a command: their options, checks before the search, writing after it; files of settings (TOML)."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from interplay.ask.cli.errors import ClosedStdout, NotWrittenError, StoppedAfterSearchError, summary_in_options, writing
from interplay.ask.cli.options import NumberOrAuto, option
from interplay.base.checks import check_int
from interplay.files.whole_file import check_writable, whole_file
from interplay.infer.linkage import DEFAULT_R2, FLOOR
from interplay.show.results.leads import check_r2
from interplay.show.results.result import check_table_ending, table_bytes, write_table
from interplay.show.results.variants import sumstats_bytes

if TYPE_CHECKING:
    from interplay.ask.cli.expected_work import ExpectedWork
    from interplay.ask.selection.part import Part
    from interplay.show.results.combined import Combined
    from interplay.show.results.interactions import Interactions
    from interplay.show.results.selection import Selection


def use_config(context: click.Context, _: click.Parameter, path: str | None) -> str | None:
    """Take the values in a file as defaults, which options on the command line override."""
    if path is None:
        return None
    known = {parameter.name for parameter in context.command.params if parameter.name} - {"config", "config_out"}
    context.default_map = {**(context.default_map or {}), **read_config(path, known)}
    return path


def read_config(path: str, known: set[str]) -> dict[str, Any]:
    """Return the settings in a file, by the names of their options, as texts that click parses."""
    try:
        with open(path, "rb") as file:
            content = tomllib.loads(file.read().decode("utf-8-sig"))  # some editors begin files with a mark
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path!r} is not a TOML file: {error}") from None
    except RecursionError:
        raise ValueError(f"{path!r} is not a file of settings: its tables are nested too deeply") from None
    settings = {}
    for key, value in content.items():
        name = _ALIASES.get(key, key.replace("-", "_"))
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise ValueError(
                f"{path!r} sets {key!r}, which is not an option" + (f": did you mean {near[0]!r}?" if near else "")
            )
        if isinstance(value, dict):
            raise ValueError(f"{path!r}: {key!r} must be a value, not a table")
        # As text, so that click refuses 2.5 as a whole number and does not cut it.
        settings[name] = [str(entry) for entry in value] if isinstance(value, list) else _typed(value)
        if name in _LISTS and not isinstance(value, list):
            settings[name] = [str(value)]
    return settings


def write_config(path: str, settings: Mapping[str, Any], *, comment: str) -> None:
    """Write settings that are not None so that `read_config` reads them back."""
    lines = [f"# {line}" for line in comment.splitlines()]
    for name, value in settings.items():
        if value is not None:
            lines.append(f"{_NAMES.get(name, name)} = {_toml(value)}")
    with whole_file(Path(path)) as file:
        file.write(("\n".join(lines) + "\n").encode())


def record_command(path: str, command: str, settings: Mapping[str, Any]) -> None:
    """Write the settings with which a command was run to a file that repeats it."""
    from interplay import __version__

    comment = f"`interplay {command} --config {os.path.basename(path)}` repeats this run (interplay {__version__})."
    write_config(path, {name: value for name, value in settings.items() if name != "progress"}, comment=comment)


#: Options whose names differ from the names of their arguments.
_ALIASES = {
    "seed": "random_state", "range": "range_", "jobs": "n_jobs", "format": "format_", "arm": "arms",
    "covariate": "covariates",
}  # fmt: skip
_NAMES = {name: alias for alias, name in _ALIASES.items()}
_LISTS = ("drop", "reference", "discrete", "na_values", "keep_na_values", "arms", "covariates", "variables", "partners")


def _typed(value: Any) -> Any:
    return value if isinstance(value, bool) else str(value)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    if isinstance(value, int | float):
        return repr(value)
    # A JSON string is a TOML string, except that TOML wants DEL escaped.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


Write = Callable[[str], Any]

OUTPUT_OPTIONS = (
    option("--out", metavar="FILE",
           help="Write the table of the result: .csv, .tsv, .parquet or .json; - is stdout."),
    option("--format", "format_", type=click.Choice(["csv", "tsv", "json"]),
           help="Print the table to stdout in this format."),
    option("--report", metavar="FILE", help="Write an HTML report."),
    option("--save", metavar="FILE", help="Save the whole result, for `interplay report` and interplay.load()."),
)  # fmt: skip
CLUMP_OPTION = option(
    "--clump", type=float, default=DEFAULT_R2, metavar="R2",
    help="Take finds whose members have at least this r² with those of a stronger one as one signal, in summary, "
    "report and network.",
)  # fmt: skip
BEST_OPTION = option(
    "--best", type=NumberOrAuto(), metavar="N|auto",
    help="Also name the N variables that a model should get, significant or not, in summary, report and the column "
    "best of the table.  auto: as many as predict best, by repeating the search in parts of the samples.",
)  # fmt: skip
QUIET_OPTION = option("-q", "--quiet", is_flag=True, help="Print only the requested results, and errors.")
#: Options of commands that run a search.
SEARCH_OPTIONS = (
    *OUTPUT_OPTIONS,
    option("--shard", metavar="I/N",
           help="Search only the I-th of N parts; save it with --save, for `interplay merge`."),
    option("--sumstats", metavar="FILE",
           help="Genotypes: write summary statistics per allele in the format of the GWAS catalog (GWAS-SSF), or of "
           "pairs with both variants."),
    option("--config", metavar="FILE", is_eager=True, callback=use_config, help="Take settings from a TOML file."),
    option("--write-config", "config_out", metavar="FILE", help="Write the settings of this run to a TOML file."),
    option("--dry-run", is_flag=True, help="Only measure and print how much time and memory the search takes."),
    QUIET_OPTION,
)  # fmt: skip

#: Options that do not decide the result. Repeated, some of them would overwrite files.
_NOT_REPEATED = {
    "out", "format_", "report", "save", "sumstats", "config", "config_out", "checkpoint", "progress", "quiet",
    "dry_run",
}  # fmt: skip


@dataclass(frozen=True)
class Outputs:
    """Where the result of a command goes: to files, and to stdout."""

    #: `out`, `format_`, `report`, `save`, `config_out`: values of the options; `config_out` is the file of
    #: --write-config.
    out: str | None
    format_: str | None
    report: str | None
    save: str | None
    #: Whether to print only requested results.
    quiet: bool
    config_out: str | None
    #: The r² of --clump.
    clump: float | None = None
    sumstats: str | None = None
    #: How many variables for a model are named.
    best: int | str | None = None

    @classmethod
    def taken_from(cls, values: dict[str, Any]) -> Outputs:
        """Take the values of these options out of the values of all options of a command."""
        return cls(**{field.name: values.pop(field.name, None) for field in fields(cls)})

    def check(self, inputs: Sequence[str | None], *, checkpoint: str | None = None, shard: str | None = None) -> None:
        """Refuse options that contradict each other and files that cannot be written, before the search.

        `inputs` are the files that the command reads, which no result may replace.
        """
        if self.format_ is not None and self.out not in (None, "-"):
            raise click.UsageError(
                "--format is for the table on stdout: leave it out, because the file extension of --out gives the "
                "format"
            )
        if self.clump is not None:
            check_r2(self.clump, FLOOR, name="--clump")
        if isinstance(self.best, int):
            check_int("--best", self.best, low=1)
        if shard is not None:
            self._check_shard(shard)
        files = {
            "out": None if self.out == "-" else self.out,
            "report": self.report,
            "save": self.save,
            "write-config": self.config_out,
            "sumstats": self.sumstats,
            "checkpoint": checkpoint,
        }
        check_files({name: path for name, path in files.items() if path is not None}, inputs)

    def check_variants(self, X: Any) -> None:
        """Refuse --sumstats where the table has no variants."""
        if self.sumstats is not None and getattr(X, "alleles", None) is None:
            raise click.UsageError("--sumstats is for files of genotypes (.bed, .pgen, .bgen, .vcf): leave it out")

    def _check_shard(self, shard: str) -> None:
        """Refuse outputs of a whole result with --shard, which computes only a part."""
        from interplay.search.loop import Shard

        Shard.parse(shard)
        if self.save is None:
            raise click.UsageError("--shard computes a part of a result: name a file for it with --save")
        not_yet = {"out": self.out, "format": self.format_, "report": self.report, "write-config": self.config_out}
        not_yet |= {"sumstats": self.sumstats}
        if self.best is not None:
            raise click.UsageError("--best needs the whole result: ask the merged one, interplay.load(FILE).best(N)")
        for name, value in not_yet.items():
            if value is not None:
                raise click.UsageError(
                    f"--{name} needs the whole result: use it with `interplay merge`, not with --shard"
                )

    def write(
        self,
        found: Selection | Interactions | Combined,
        *,
        data: str | None,
        dropped: Sequence[str],
        record: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a result to files, with the command that repeats it, and the table or a summary to stdout.

        `record` has the settings of a search as the user gave them; the seed may have been drawn.
        """
        drawn = {} if record is None else {"random_state": found.settings["random_state"]}
        repeats = _repeated_command(click.get_current_context(), **drawn)
        found = found.with_source(file=data, dropped=dropped, command=repeats)
        if self.clump is not None:
            from interplay.show.results.combined import Combined

            found = found if isinstance(found, Combined) else found.with_clumps(self.clump)
        stop: BaseException | None = None
        if self.best is not None:
            n_vars = len(found.names)
            best = self.best if isinstance(self.best, str) else min(self.best, n_vars)
            try:  # "auto" searches again: what the first search found is written in any case
                found = cast("Selection", found).with_best(best)
            except KeyboardInterrupt:
                stop = StoppedAfterSearchError("what was found is written, without the best variables for a model")
            except ValueError as error:
                stop = error
        files: dict[str, tuple[str | None, Write]] = {
            "save": (self.save, found.save),
            "out": (None if self.out == "-" else self.out, lambda path: write_table(found.table, path)),
            "report": (self.report, found.to_html),
            "sumstats": (self.sumstats, partial(_write_sumstats, found)),
            "write-config": (self.config_out, lambda path: _record({**(record or {}), **drawn}, path)),
        }
        wanted = {name: (path, write) for name, (path, write) in files.items() if path is not None}
        _write_all(wanted, quiet=self.quiet)
        if self.out == "-" or self.format_ is not None:
            _to_stdout(table_bytes(found.table, self.format_ or "csv"))
        elif not self.quiet and not (wanted and isinstance(sys.stdout, ClosedStdout)):
            click.echo(summary_in_options(found.summary()))
        if stop is not None:
            raise stop

    def write_part(self, part: Part | Interactions) -> None:
        """Write the part of a result that one shard found."""
        _write_all({"save": (str(self.save), part.save)}, quiet=self.quiet)

    def show_work(
        self, work: ExpectedWork, *, record: Mapping[str, Any], shard: str | None, notes: Sequence[str] = ()
    ) -> None:
        """Print the work that --dry-run measured, as text or JSON; write the settings for --write-config."""
        if self.format_ == "json":
            click.echo(json.dumps(work.to_dict(), indent=1))
        else:
            share = [] if shard is None else [f"shard    {shard}: an equal share of these tuples and this time"]
            click.echo("\n".join([work.summary(), *share, *notes]))
        if self.config_out is not None:
            _record(record, self.config_out)


def _write_sumstats(found: Any, path: str) -> None:
    with whole_file(path) as file:
        file.write(sumstats_bytes(found.sumstats()))


def _record(settings: Mapping[str, Any], path: str) -> None:
    record_command(path, str(click.get_current_context().command.name), settings)


def check_files(outputs: Mapping[str, str], inputs: Sequence[str | None], *, of_table: str = "out") -> None:
    """Refuse files that cannot be written, or are inputs too; the ending of the file `of_table` names a format."""
    taken = {os.path.realpath(path): path for path in inputs if path is not None and path != "-"}
    for name, path in outputs.items():
        if os.path.realpath(path) in taken and not path.startswith("/dev/"):
            raise click.UsageError(f"--{name} {path!r} is also used for something else: name another file")
        taken[os.path.realpath(path)] = path
        if name == of_table:
            check_table_ending(path)
        check_writable(path)


def _write_all(writers: dict[str, tuple[str, Write]], *, quiet: bool) -> None:
    """Write as many of the results as possible, and report all failures at the end."""
    problems = []
    for name, (path, write) in writers.items():
        try:
            with writing():
                write(path)
            if not quiet:
                click.echo(f"{name}: {path}", err=True)
        except NotWrittenError as problem:
            problems.append(str(problem))
    if problems:
        raise NotWrittenError("; ".join(problems))


def _to_stdout(content: bytes) -> None:
    with writing():
        sys.stdout.flush()
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:  # a replacement of stdout that takes text only
            sys.stdout.write(content.decode())


def _repeated_command(context: click.Context, **decided: Any) -> str:
    """Return the line that repeats a command, with the values that were `decided` during the run (the seed).

    Options with default values are left out; options from a file of settings are written out.
    """
    words = context.command_path.split()
    for parameter in context.command.params:
        name = str(parameter.name)
        is_given = context.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP)
        if name in _NOT_REPEATED or not (is_given or name in decided):
            continue
        words += _words(parameter, decided.get(name, context.params.get(name)))
    return shlex.join(words)


def _words(parameter: click.Parameter, value: Any) -> list[str]:
    if value is None:
        return []
    values = [str(entry) for entry in (value if isinstance(value, list | tuple) else [value])]
    if isinstance(parameter, click.Argument):
        return values
    option = max(parameter.opts, key=len)  # --seed rather than -s: longer, and clear
    if isinstance(value, bool):
        return [option] if value else list(parameter.secondary_opts[:1])
    return [word for entry in values for word in (option, entry)]
