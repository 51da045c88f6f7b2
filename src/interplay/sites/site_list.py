"""Round one: list_at_site(), the tuples whose G² at one site reaches its share → SiteList, a text file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.ask.interaction.screen import screen_tuples
from interplay.base.arrays import IntArray
from interplay.base.checks import check_list, shown
from interplay.base.progress import Progress, check_progress
from interplay.base.text import tuples_in_words
from interplay.search.engines.choice import AsEngine, check_engine
from interplay.sites.plan import SitePlan, read_plan
from interplay.sites.site_data import make_site_data
from interplay.sites.text_file import names_in_lines, read_lines, write_lines, written_name

KIND = "list file of a site"
_HEADER: dict[str, type] = {"plan": str, "site": str, "tuples": int}


@dataclass(frozen=True, eq=False)
class SiteList:
    """The tuples that a site asks all sites to count.

    Attributes
    ----------
    plan : SitePlan
    site : str
    tuples : (n, k) int64
        Numbers of columns of the plan, ascending; sorted.
    """

    plan: SitePlan
    site: str
    tuples: IntArray

    def __len__(self) -> int:
        return len(self.tuples)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the list to a text file, which says what it contains."""
        prose = [
            f"This file leaves the site. It names {tuples_in_words(self.plan.dimensions)} of columns whose interaction "
            "at this site is large enough that",
            "their interaction over all sites may be significant. It contains no counts and no rows.",
            "One tuple per line, names of columns separated by tabs.",
        ]
        header = {"plan": self.plan.digest, "site": self.site, "tuples": len(self)}
        names = [written_name(name) for name in self.plan.names]
        write_lines(path, KIND, prose, header, ("\t".join(names[v] for v in t) for t in self.tuples.tolist()))

    def __repr__(self) -> str:
        share = len(self) / self.plan.n_tuples
        return f"List of site {self.site!r}: {len(self):,} of {self.plan.n_tuples:,} tuples ({share:.2%})"


def list_at_site(
    plan: SitePlan | str | os.PathLike[str],
    X: Any,
    y: Any = None,
    *,
    site: str,
    engine: AsEngine = "auto",
    n_jobs: int | None = None,
    progress: Progress = None,
) -> SiteList:
    """Round one at one site: list the tuples whose own G² reaches the share of this site.

    Parameters
    ----------
    plan : SitePlan or path-like
        The plan, or its file.
    X : table-like
        The table of the site; it may have more columns than the plan.
    y : array-like or str, optional
        The outcome, or the name of its column; by default the target of the plan.
    site : str
        The name of this site in the plan.
    engine, n_jobs, progress
        As in `interplay.interactions`. The list does not depend on them.

    Returns
    -------
    SiteList
        ``.save(path)`` writes the file that leaves the site: names of columns, no counts.

    Examples
    --------
    >>> import numpy as np
    >>> from interplay.sites import list_at_site, plan_sites
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (400, 20))
    >>> y = X[:, 3] ^ X[:, 11] ^ (rng.random(400) < 0.2)
    >>> plan = plan_sites(X, y, sites=["Basel", "Turku"])
    >>> list_at_site(plan, X, y, site="Basel")
    List of site 'Basel': 5 of 190 tuples (2.63%)
    """
    agreed = read_plan(plan)
    check_progress(progress)
    choice = check_engine(engine, n_jobs=n_jobs, kind="screen")
    data = make_site_data(agreed, X, y, site, n_threads=choice.n_threads)
    screened = screen_tuples(
        data.coded,
        data.settings(),
        choice,
        max_p=agreed.list_up_to,
        thresholds=agreed.shares(),
        tables=[data.tables()],
        omit_missing=agreed.omits_missing,
        progress=progress,
    )
    return SiteList(agreed, site, screened.tuples)


def read_list(plan: SitePlan, given: SiteList | str | os.PathLike[str]) -> SiteList:
    """Return the list of a site, which may be in a file, of this plan."""
    if isinstance(given, SiteList):
        if given.plan.digest != plan.digest:
            raise ValueError(f"lists: the list of {given.site!r} is of another plan")
        return given
    name, header, lines = lines_for_plan(plan, "lists", given, KIND, _HEADER)
    number_of = names_in_lines(plan.names)
    try:
        rows = [[number_of[field] for field in line.split("\t")] for line in lines]
        tuples = np.array(rows, dtype=np.int64).reshape(len(rows), plan.dimensions)
    except (KeyError, ValueError):
        raise ValueError(f"{name!r} names tuples that the plan does not have") from None
    check_tuples(tuples, header["tuples"], name)
    return SiteList(plan, header["site"], tuples)


def union_of(plan: SitePlan, lists: Iterable[Any]) -> tuple[IntArray, dict[str, set[tuple[int, ...]]]]:
    """Return the tuples of all lists, sorted, and those of each site; every site of the plan must be there once."""
    given: Sequence[Any] = check_list("lists", lists, of="lists of sites or their files")
    listed: dict[str, set[tuple[int, ...]]] = {}
    for one in given:
        read = read_list(plan, one)
        if read.site in listed:
            raise ValueError(f"lists has two lists of site {read.site!r}: leave one out")
        listed[read.site] = set(map(tuple, read.tuples.tolist()))
    if missing := [site for site in plan.sites if site not in listed]:
        raise ValueError(f"lists lacks the list of {', '.join(map(repr, missing[:6]))}: all sites must list first")
    together = sorted(set().union(*listed.values()))
    return np.array(together, dtype=np.int64).reshape(len(together), plan.dimensions), listed


def lines_for_plan(
    plan: SitePlan, argument: str, given: Any, kind: str, wanted: Mapping[str, type]
) -> tuple[str, dict[str, Any], list[str]]:
    """Read a file that a site sent: its name, its header and its lines; refuse other plans and unknown sites."""
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"{argument} must hold {argument} of sites or their files, not {shown(given)}")
    header, lines = read_lines(given, kind, wanted)
    name = os.fspath(given)
    if header["plan"] != plan.digest:
        raise ValueError(
            f"{name!r} is of another plan ({header['plan'][:16]}) than this one ({plan.digest[:16]}): all sites must "
            "use one plan file, unchanged"
        )
    if header["site"] not in plan.sites:
        raise ValueError(f"{name!r} is of site {shown(header['site'])}, which the plan does not have")
    return name, header, lines


def check_tuples(tuples: IntArray, n_tuples: int, name: str) -> None:
    """Refuse tuples that are not as many as the header says, or not in order."""
    ascending = bool((tuples[:, 1:] > tuples[:, :-1]).all())
    order = np.lexsort(tuples.T[::-1])
    is_sorted = np.array_equal(order, np.arange(len(tuples)))
    repeats = bool((tuples[1:] == tuples[:-1]).all(axis=1).any()) if len(tuples) > 1 else False
    if len(tuples) != n_tuples or not (ascending and is_sorted) or repeats:
        raise ValueError(f"{name!r} does not hold the tuples that its header announces")
