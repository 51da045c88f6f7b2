"""`interplay info`: versions, engines and machine, for bug reports."""

from __future__ import annotations

import logging
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

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
