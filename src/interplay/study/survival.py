"""Times that may be censored → martingale residuals of the null model, which are cut by rank."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from interplay.base.arrays import BoolArray, DecisionClasses, FloatArray, IntArray, Outcome
from interplay.base.checks import shown
from interplay.base.user_warnings import warn
from interplay.study.columns import ColumnKind, check_length
from interplay.study.outcome import decision_classes, decision_column
from interplay.study.table import Table

#: Fewer events carry no information about the variables.
MIN_EVENTS = 5

#: Names of the two classes where residuals are cut once.
RISKS = ["lower risk", "higher risk"]

_TIME = re.compile(
    r"(?:^|[_\W])(?:time|t|duration|survival|days?|weeks?|months?|years?|os|pfs|dfs|rfs|tte|futime)(?:$|[_\W])",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"(?:^|[_\W])(?:event|status|censor\w*|cens|death|dead|died|deceased|fustat|vital\w*|relapse\w*|progress\w*)"
    r"(?:$|[_\W])",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Survival:
    """Times, and whether the event was seen at them.

    Attributes
    ----------
    time : (n_samples,) float64
        To the event, or to where the sample was last seen without it.
    event : (n_samples,) bool
        False for censored times.
    """

    time: FloatArray
    event: BoolArray
    entry: FloatArray | None = None

    def of_samples(self, rows: IntArray) -> Survival:
        """Return the times of some samples."""
        return Survival(self.time[rows], self.event[rows], None if self.entry is None else self.entry[rows])

    def residuals(self) -> FloatArray:
        """Return martingale residuals of the null model: events seen, 1 or 0, minus events expected by then.

        Expected is the Nelson–Aalen estimate of the cumulative hazard at the time of each sample.

        Examples
        --------
        >>> Survival(np.array([1.0, 2.0, 3.0]), np.array([True, False, True])).residuals().round(3).tolist()
        [0.667, -0.333, -0.333]
        """
        times, first = np.unique(self.time, return_inverse=True)
        n_events = np.bincount(first.reshape(-1), weights=self.event, minlength=len(times))
        n_at_risk = len(self.time) - np.searchsorted(np.sort(self.time), times)
        return np.asarray(self.event - np.cumsum(n_events / n_at_risk)[first.reshape(-1)])


def split_survival(y: Any) -> tuple[Any, Any] | None:
    """Return time and event where `y` is a pair of them, or a structured array as scikit-survival's; else None."""
    if isinstance(y, tuple) and len(y) == 2:
        return y[0], y[1]
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is None or len(names) != 2:
        return None
    is_event = [y.dtype[name].kind == "b" for name in names]
    if sum(is_event) != 1:
        return None
    event = names[is_event.index(True)]
    return y[names[is_event.index(False)]], y[event]


def make_survival(time: Any, event: Any, *, n_samples: int, entry: Any = None) -> Survival:
    """Check times and events."""
    columns = {"time": decision_column(time, "y's time"), "event": decision_column(event, "y's event")}
    values = {name: column.read() for name, column in columns.items()}
    for name, read in values.items():
        check_length(f"y's {name}", read, n_samples)
        if read.dtype.kind == "f" and np.isnan(read).any():
            missing = int(np.isnan(read).sum())
            raise ValueError(f"y's {name} has {missing} missing value{'s' * (missing > 1)}: leave those samples out")
    if columns["time"].kind != ColumnKind.NUMBER:
        raise TypeError("y's time must be numbers: y=(time, event), in this order")
    times = values["time"].astype(np.float64)
    if not np.isfinite(times).all() or (times < 0).any():
        raise ValueError("y's time must be finite and not negative")
    flags = values["event"]
    if columns["event"].kind == ColumnKind.LABEL or not np.isin(flags, (0, 1)).all():
        raise ValueError(
            "y's event must be True (or 1) where the event was observed at that time, and False (or 0) where the time "
            "is censored"
        )
    seen = np.asarray(flags, dtype=bool)
    if seen.sum() < MIN_EVENTS:
        raise ValueError(
            f"y has {int(seen.sum())} events, and at least {MIN_EVENTS} are needed; the other times are censored"
        )
    return Survival(times, seen)


def survival_classes(survival: Survival, *, decision: str, decision_divisions: int) -> DecisionClasses:
    """Cut the martingale residuals by rank."""
    if decision == "classes":
        raise ValueError("decision='classes' does not go with times: leave it out, y=(time, event) is cut by rank")
    found = decision_classes(
        survival.residuals(),
        n_samples=len(survival.time),
        decision="continuous",
        decision_divisions=decision_divisions,
    )
    return replace(found, labels=RISKS) if found.n_classes == 2 else found


def warn_of_censoring(table: Table, y: Any, outcome: Outcome, *, name: str | None) -> None:
    """Warn where `y` has the name of a time, and a column of X that of a censoring flag."""
    name = getattr(y, "name", None) if name is None else name
    if outcome.kind == "classes" or not isinstance(name, str) or not _TIME.search(name):
        return
    for v, other in enumerate(table.names[:20_000]):
        if _EVENT.search(other) and set(np.unique(table.columns(slice(v, v + 1))[0]).tolist()) == {0, 1}:
            warn(
                f"y is {shown(name)}, and column {shown(other)} of X looks like a censoring flag: if times are "
                f"censored, use y=({shown(name)}, {shown(other)}) (--time and --event on the command line), which "
                "accounts for censoring"
            )
            return
