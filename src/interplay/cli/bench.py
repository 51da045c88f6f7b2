"""`interplay bench`: how fast this machine is."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import click

#: Variables per dimension: about a second or less each on one core.
_N_VARS = {2: 1000, 3: 300, 4: 80, 5: 40}
_MAX_TUPLES = 50_000_000


@click.command(short_help="Measure how fast this machine is.")
@click.option("-k", "--dimensions", type=click.IntRange(1, 5), multiple=True, default=[2, 3, 4, 5], show_default=True,
              help="May be repeated.")  # fmt: skip
@click.option("--engine", "engines", multiple=True, metavar="NAME", help="May be repeated.  [default: all there are]")
@click.option("--samples", type=click.IntRange(20, 1_000_000), default=2000, show_default=True)
@click.option("--vars", "n_vars", type=click.IntRange(20, 100_000), help="Variables.  [default: by dimensions]")
@click.option("--divisions", type=click.IntRange(1, 15), default=1, show_default=True, help="Levels less one.")
@click.option("-j", "--jobs", type=int, default=-1, show_default=True, help="Threads; -1 for all cores.")
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def bench(
    dimensions: tuple[int, ...],
    engines: tuple[str, ...],
    samples: int,
    n_vars: int | None,
    divisions: int,
    jobs: int,
    format_: str,
) -> None:
    """Measure how many tuples a second this machine searches, by engine and dimensions.

    Madelon-like data; whole calls, from the table to the gains; the best of at least three.
    """
    from interplay.cli.info import engines_here
    from interplay.search.provenance import versions

    rows = []
    if format_ == "table":
        click.echo("engine    k  samples variables       tuples   seconds  tuples/s")
    for engine in engines or engines_here():
        for k in dict.fromkeys(dimensions):
            row = _measured(engine, k, samples, n_vars or _N_VARS.get(k, 1000), divisions, jobs)
            rows.append(row)
            if format_ == "table":
                click.echo(
                    f"{engine:<8} {k:>2} {samples:>8} {row['n_vars']:>9} {row['tuples']:>12} {row['seconds']:>9.4f} "
                    f"{row['tuples_per_second']:>9.3g}"
                )
    if format_ == "json":
        click.echo(json.dumps({"versions": versions(), "rows": rows}, indent=1))


def _measured(engine: str, k: int, n_samples: int, n_vars: int, divisions: int, n_jobs: int) -> dict[str, Any]:
    from interplay.datasets import make_madelon
    from interplay.engines.choice import SearchWork, check_engine, choose_engine
    from interplay.search.gains import max_information_gain

    n_tuples = math.comb(n_vars, k)
    if n_tuples > _MAX_TUPLES * 20:
        raise click.UsageError(f"{n_vars} variables in {k}D are {n_tuples:.2g} tuples, too many for a quick look")
    work = SearchWork(n_tuples=n_tuples, n_samples=n_samples, n_cells=(divisions + 1) ** k)
    worker = choose_engine(check_engine(engine, n_jobs=n_jobs), work)
    X, y, _ = make_madelon(n_samples, n_vars, random_state=1)
    seconds: list[float] = []
    while len(seconds) < 3 or (sum(seconds) < 1.0 and len(seconds) < 20):
        started = time.perf_counter()
        max_information_gain(
            X, y, dimensions=k, divisions=divisions, discrete="none", engine=worker, n_jobs=n_jobs, progress=False
        )
        seconds.append(time.perf_counter() - started)
        if seconds[-1] > 5:
            break
    return {
        "engine": worker.describe(),
        "dimensions": k,
        "n_samples": n_samples,
        "n_vars": n_vars,
        "n_levels": divisions + 1,
        "tuples": n_tuples,
        "seconds": min(seconds),
        "tuples_per_second": n_tuples / min(seconds),
    }
