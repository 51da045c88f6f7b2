"""Commands on this machine: `interplay info`, what it has, and `interplay bench`, how fast it is."""

from __future__ import annotations

import json
import logging
import math
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

#: Packages of the extras.
_OPTIONAL = (
    "matplotlib",
    "pyarrow",
    "anndata",
    "bed-reader",
    "Pgenlib",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "dask",
    "polars",
)

#: Shares of the rarer class to try. There is no choice below about a fifth, where only the rational bound is sound, and
#: for nearly even classes, where it is not tighter.
_SHARES = (0.4, 0.3, 0.2)


@click.command()
@click.option(
    "-v", "--verbose", is_flag=True, help="Also print optional packages, file locations and the choice of a bound."
)
def info(verbose: bool) -> None:
    """Print versions and engines: what a bug report needs."""
    from interplay.base.jobs import resolve_n_jobs
    from interplay.search.engines.cpu import default_simd_level, simd_levels
    from interplay.show.results.provenance import versions

    rows = dict(versions())
    rows["platform"] = platform.platform()
    rows["cores"] = str(resolve_n_jobs(-1))
    rows["instructions"] = f"{', '.join(simd_levels())} (in use: {default_simd_level()})"
    rows["engines"] = ", ".join(engines_here())
    rows["GPUs"] = "; ".join(_gpus()) or "none found"
    if "cuda" not in engines_here():
        from interplay.search.engines.cuda import why_no_cuda

        rows["no CUDA"] = " ".join(str(why_no_cuda()).split())
    if verbose:
        import interplay

        rows |= {name: _version_or_none(name) for name in _OPTIONAL}
        rows["installed in"] = os.path.dirname(interplay.__file__)
    rows |= {name: value for name, value in sorted(os.environ.items()) if name.startswith("INTERPLAY_")}
    for name, value in rows.items():
        click.echo(f"{name:<12} {value}")
    if verbose:
        _show_bound_choices(click.echo)


def engines_here() -> list[str]:
    """Return the names of the engines that can run on this machine."""
    from interplay.search.engines.cuda import why_no_cuda

    return ["cpu", "cuda"] if why_no_cuda() is None else ["cpu"]


def machine(threads: list[int]) -> dict[str, str]:
    """Return the facts that decide the speed of searches with these numbers of threads."""
    from interplay.base.jobs import resolve_n_jobs
    from interplay.search.engines.cpu import default_simd_level

    return {
        "processor": processor(),
        "threads": f"{' and '.join(map(str, threads))} of {resolve_n_jobs(-1)}",
        "instruction set": default_simd_level(),
        "GPU": _gpus_and_whether_used(),
    }


def _gpus_and_whether_used() -> str:
    """Name the GPUs, with the reason if interplay cannot use them."""
    from interplay.search.engines.cuda import why_no_cuda

    gpus = ", ".join(gpu.split(",")[0] for gpu in _gpus())
    if gpus and (reason := why_no_cuda()) is not None:
        return f"{gpus} (not used: {' '.join(str(reason).split())})"
    return gpus or "none"


def processor() -> str:
    """Return the name of the processor, or its architecture."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _gpus() -> list[str]:
    """Return the GPUs that the driver reports, which needs no CuPy."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    try:
        command = [program, "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.split("\n")[:-1]


def _version_or_none(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _show_bound_choices(show: Callable[[str], None]) -> None:
    """Search a few small problems, and show which bound the search chooses for each."""
    import numpy as np

    from interplay.ask.gains.call import max_information_gain
    from interplay.datasets import make_madelon
    from interplay.search.engines.cpu import CpuEngine, logger

    handler = _Handler(show)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        for share in _SHARES:
            x, y, _ = make_madelon(1000, 200, random_state=1)
            rare = np.random.default_rng(0).random(len(y)) < 2 * share
            handler.prefix = f"{'bound':<12} rarer class {share:.0%}, "
            max_information_gain(x, np.where(rare, y, 0), dimensions=3, engine=CpuEngine(), progress=False)
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


class _Handler(logging.Handler):
    """Shows each message about the bound with a prefix."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.DEBUG)
        self.prefix = ""
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        from interplay.search.engines.cpu import BOUND_CHOICE

        if record.msg == BOUND_CHOICE:
            self._show(self.prefix + record.getMessage())


#: Variables per dimension, as in the reference: a second or less each on one core; a device gets more.
_N_VARS = {2: 500, 3: 500, 4: 100, 5: 60}
_N_VARS_OF_DEVICE = _N_VARS | {4: 500}

#: Largest number of tuples of a quick benchmark, by engine.
_MAX_TUPLES = {"cpu": 1e9, "cuda": 1e10}

_HEADER = """\
| engine | k | variables | samples | levels | threads |      tuples | seconds | tuples/s | × reference |
|:-------|--:|----------:|--------:|-------:|--------:|------------:|--------:|---------:|------------:|"""


@click.command(short_help="Measure how fast this machine is.")
@click.option("-k", "--dimensions", type=click.IntRange(1, 5), multiple=True, default=[2, 3, 4, 5], show_default=True,
              help="Members of a tuple; may be repeated.")  # fmt: skip
@click.option(
    "--engine",
    "engines",
    multiple=True,
    metavar="NAME",
    help="Engine to measure; may be repeated.  [default: all engines of this machine]",
)
@click.option("--samples", type=click.IntRange(20, 1_000_000), default=2000, show_default=True,
              help="Number of samples.")  # fmt: skip
@click.option(
    "--vars", "n_vars", type=click.IntRange(20, 100_000), help="Number of variables.  [default: depends on dimensions]"
)
@click.option(
    "--divisions", type=click.IntRange(1, 15), default=1, show_default=True, help="Number of thresholds per variable."
)
@click.option("-j", "--jobs", type=int, help="Threads; -1 for all cores.  [default: one, then all]")
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def bench(
    dimensions: tuple[int, ...],
    engines: tuple[str, ...],
    samples: int,
    n_vars: int | None,
    divisions: int,
    jobs: int | None,
    format_: str,
) -> None:
    """Measure how many tuples a second this machine searches, by engine and dimensions.

    Madelon-like data; whole calls, from the table to the gains; the best of at least three. The table can be pasted
    into an issue. Its last column compares with interplay's own figures, for the same search: above 1, this machine
    is faster. Those of processors are of one core, so that a row with one thread compares cores, and a row with all
    threads says how many such cores this machine is worth.
    """
    from interplay.base.jobs import resolve_n_jobs
    from interplay.search.engines.choice import check_engine
    from interplay.show.results.provenance import versions

    threads = list(dict.fromkeys(resolve_n_jobs(n_jobs) for n_jobs in ([1, -1] if jobs is None else [jobs])))
    names = list(engines or engines_here())
    for name in names:
        check_engine(name, n_jobs=jobs)
    shapes = [
        (name, k, n_vars or (_N_VARS_OF_DEVICE if name == "cuda" else _N_VARS).get(k, 1000))
        for name in names
        for k in dict.fromkeys(dimensions)
    ]
    for name, k, n in shapes:
        if math.comb(n, k) > _MAX_TUPLES.get(name, max(_MAX_TUPLES.values())):
            raise click.UsageError(
                f"{n} variables in {k}D are {math.comb(n, k):.2g} tuples, too many for a quick benchmark: lower one of "
                "them"
            )
    here = machine(threads)
    if format_ == "table":
        told = versions()
        click.echo(f"interplay {told['interplay']}, Python {told['python']}, numpy {told['numpy']}")
        click.echo("; ".join(f"{name}: {value}" for name, value in here.items()))
        if busy := _other_work():
            click.echo(busy)
        click.echo(f"\n{_HEADER}")
    rows = []
    for name, k, n in shapes:
        # Threads of the processor only prepare the work of a device, so that one row is enough.
        for n_threads in threads if name == "cpu" else threads[-1:]:
            row = _measured(name, k, samples, n, divisions, n_threads)
            rows.append(row)
            if format_ == "table":
                click.echo(_line(row))
    compared = {row["engine"]["name"]: row["reference"] for row in rows if row["reference"] is not None}
    if format_ == "json":
        click.echo(json.dumps({"versions": versions(), "machine": here, "rows": rows}, indent=1))
    elif compared:
        click.echo("\nReference: " + "; ".join(f"{name}: {machine}" for name, machine in compared.items()))


def _other_work() -> str:
    """Return a warning if the cores are busy, which makes every figure too low; Windows has no load average."""
    try:
        load, cores = os.getloadavg()[0], os.cpu_count() or 1
    except (AttributeError, OSError):
        return ""
    if load < cores / 2:
        return ""
    return f"Busy: load average {load:.1f} on {cores} cores at the start. These figures are too low: repeat them."


def _line(row: dict[str, Any]) -> str:
    times = "–" if row["times_reference"] is None else f"{row['times_reference']:.2f}"
    return (
        f"| {row['engine']['name']:<6} | {row['dimensions']} | {row['n_vars']:>9} | {row['n_samples']:>7} | "
        f"{row['n_levels']:>6} | {row['n_threads']:>7} | {row['tuples']:>11} | {row['seconds']:>7.4f} | "
        f"{row['tuples_per_second']:>8.3g} | {times:>11} |"
    )


def _measured(engine: str, k: int, n_samples: int, n_vars: int, divisions: int, n_threads: int) -> dict[str, Any]:
    from interplay.ask.gains.call import max_information_gain
    from interplay.datasets import make_madelon
    from interplay.search.engines.choice import SearchWork, check_engine, choose_engine

    n_tuples = math.comb(n_vars, k)
    work = SearchWork(n_tuples=n_tuples, n_samples=n_samples, n_cells=(divisions + 1) ** k)
    worker = choose_engine(check_engine(engine, n_jobs=n_threads), work)
    X, y, _ = make_madelon(n_samples, n_vars, random_state=1)
    seconds: list[float] = []
    while len(seconds) < 3 or (sum(seconds) < 1.0 and len(seconds) < 20):
        started = time.perf_counter()
        max_information_gain(
            X, y, dimensions=k, divisions=divisions, discrete="none", engine=worker, n_jobs=n_threads, progress=False
        )
        seconds.append(time.perf_counter() - started)
        if seconds[-1] > 5:
            break
    shape = {"dimensions": k, "n_samples": n_samples, "n_vars": n_vars, "n_levels": divisions + 1}
    rate = n_tuples / min(seconds)
    reference = reference_rate(worker.name, **shape)
    return {
        "engine": worker.describe(),
        **shape,
        "n_threads": n_threads,
        "tuples": n_tuples,
        "seconds": min(seconds),
        "tuples_per_second": rate,
        "reference": None if reference is None else reference.machine,
        "times_reference": None if reference is None else rate / reference.tuples_per_second,
    }


@dataclass(frozen=True)
class ReferenceRate:
    """Tuples per second of a machine."""

    machine: str
    tuples_per_second: float


def reference_rate(engine: str, **shape: int) -> ReferenceRate | None:
    """Return the rate that was measured for the same search, or None.

    Examples
    --------
    >>> reference_rate("cuda", dimensions=4, n_samples=2000, n_vars=500, n_levels=2).machine
    'one NVIDIA H200'
    >>> reference_rate("cpu", dimensions=4, n_samples=2001, n_vars=500, n_levels=2)
    """
    measured = json.loads(files("interplay.ask.cli").joinpath("reference_rates.json").read_text(encoding="utf-8"))
    if engine not in measured:
        return None
    for row in measured[engine]["rates"]:
        if all(row[name] == value for name, value in shape.items()):
            return ReferenceRate(measured[engine]["machine"], row["tuples_per_second"])
    return None
