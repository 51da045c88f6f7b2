"""How much a search for interactions will take, from a short measured sample of it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from interplay.base.arrays import TupleTiles
from interplay.cli.expected_work import ExpectedWork, memory_of, sampled_rate
from interplay.codes.coded import code_comparison
from interplay.engines.choice import check_engine
from interplay.engines.sinks import Screen
from interplay.interaction.call import task_of
from interplay.interaction.screen import PSEUDOCOUNT, cap_beside_gaps, screen_bars
from interplay.search.permutations import allowed_relabelings
from interplay.search.plan import prepare_search


def expected_interactions(X: Any, y: Any, **arguments: Any) -> ExpectedWork:
    """Return how many tuples, how much memory and how much time ``interactions(X, y, **arguments)`` will take.

    All checks of `interactions` are made. About a second's worth of tuples is screened to measure the rate. The time
    does not include the tests of the tuples that the screen leaves.

    Examples
    --------
    >>> import interplay
    >>> X, y, truth = interplay.datasets.make_madelon(n_samples=200, n_vars=100, random_state=1)
    >>> expected_interactions(X, y, dimensions=2).n_tuples == 100 * 99 / 2
    True
    """
    task = task_of(X, y, **arguments)
    choice = check_engine(arguments.get("engine", "auto"), n_jobs=arguments.get("n_jobs"), kind=Screen.kind)
    started = time.perf_counter()
    task, _ = task.parts()
    comparison, k = task.comparison, task.settings.dimensions
    settings = replace(task.search_settings, pseudocount=PSEUDOCOUNT)
    coded = code_comparison(comparison, settings, n_threads=choice.n_threads)
    search = prepare_search(
        coded,
        settings,
        choice,
        asked_for=task.family.asked_for,
        require=task.family.require,
        shard=task.shard,
        kind=Screen.kind,
    )
    coder, engine, planes, tiles = coded.coder, search.engine, coded.planes(0), search.searches[0]
    cap = task.caps.first()
    max_p = cap_beside_gaps(cap, comparison, coder, k) if task.omits_missing else cap
    sink = Screen(screen_bars(comparison, coder, k, max_p)[1])
    preparing = time.perf_counter() - started

    def screen(batch: TupleTiles) -> None:
        for _ in engine.stream(planes, batch, sink, pseudocount=PSEUDOCOUNT, seconds=1.0):
            pass

    rate = sampled_rate(engine, tiles, screen)
    n_tuples = float(tiles.n_tuples.sum())
    n_searches = settings.discretizations
    if comparison.groups is not None:  # the data, each permutation, and the data again for what is listed
        n_searches *= 2 + allowed_relabelings(comparison).n_used(task.n_permutations)
    return ExpectedWork(
        n_samples=task.study.n_samples,
        n_vars=task.study.table.n_vars,
        n_contrast=0,
        dimensions=k,
        n_searches=n_searches,
        n_tuples=n_searches * n_tuples,
        n_bytes=memory_of(planes, tiles),
        tuples_per_second=rate,
        seconds=n_searches * (preparing + n_tuples / rate),
        engine=engine.describe(),
    )
