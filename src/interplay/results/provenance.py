"""The provenance of a result: date, engine and versions, with which the run can be repeated."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import Any

from interplay.engines.searcher_counts import SearcherCounts, summed_counts


def search_record(engine: Mapping[str, Any], searched: SearcherCounts, *, started: float) -> dict[str, Any]:
    """Return the entries about a search that began at `started`, by the clock of `time.perf_counter`."""
    return {
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "engine": dict(engine),
        "searchers": searched,
        "seconds": round(time.perf_counter() - started, 3),
        "versions": versions(),
    }


def merged_record(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the entries about a search that was done in shards: those of the first shard, and sums over all."""
    names = sorted({record["engine"]["name"] for record in records})
    return {
        **records[0],
        "engine": {"name": ", ".join(names), "shards": len(records)},
        "searchers": summed_counts(record["searchers"] for record in records),
        "seconds": round(sum(record["seconds"] for record in records), 3),
    }


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    names = ("interplay", "numpy", "scipy", "statsmodels")
    return {"python": platform.python_version(), **{name: _installed(name) for name in names}}


@cache  # the version is read from a file, which takes as long as a small search
def _installed(name: str) -> str:
    return version(name)
