"""Times that may be censored → martingale residuals of the null model, which are cut by rank."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import shown
from interplay.base.user_warnings import warn
from interplay.models.cox import martingale_residuals
from interplay.study.columns import ColumnKind, check_length, decision_column
from interplay.study.outcomes.classes import DecisionClasses, decision_classes
from interplay.study.outcomes.event_values import observed_events
from interplay.study.outcomes.outcome import Outcome
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
    entry : (n_samples,) float64, optional
        From where on each sample was seen, below its time (left truncation). Samples with the event before their entry
        are not in the data.
    """

    time: FloatArray
    event: BoolArray
    entry: FloatArray | None = None

    @property
    def n_informative(self) -> int:
        """What the number of columns of a model is measured by: events."""
        return int(self.event.sum())

    def is_of(self, n_samples: int) -> bool:
        """Say whether all arrays have one value per sample: a file may say anything."""
        arrays = (self.time, self.event) if self.entry is None else (self.time, self.event, self.entry)
        return all(array.shape == (n_samples,) for array in arrays)

    def of_samples(self, rows: IntArray) -> Survival:
        """Return the times of some samples."""
        return Survival(self.time[rows], self.event[rows], None if self.entry is None else self.entry[rows])

    def residuals(
        self,
        *,
        columns: FloatArray | None = None,
        strata: IntArray | None = None,
        offset: FloatArray | None = None,
        ties: str = "breslow",
    ) -> FloatArray:
        """Return martingale residuals: events seen, 1 or 0, minus events expected while the sample was seen.

        Expected is the cumulative hazard of Cox's model of the columns; without columns, the Nelson–Aalen estimate,
        and the residuals are the scores of the log-rank test.

        Parameters
        ----------
        columns : (n_samples, n_columns) float64, optional
            Covariates.
        strata, offset, ties
            As in `fit_cox`.

        Examples
        --------
        >>> Survival(np.array([1.0, 2.0, 3.0]), np.array([True, False, True])).residuals().round(3).tolist()
        [0.667, -0.333, -0.333]
        """
        return martingale_residuals(
            self.time, self.event, columns=columns, entry=self.entry, strata=strata, offset=offset, ties=ties
        )


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


def make_survival(
    time: Any,
    event: Any,
    *,
    n_samples: int,
    entry: Any = None,
    event_name: str | None = None,
    event_value: str | None = None,
) -> Survival:
    """Check times, events and entries.

    `event_name` is the event's column in messages, and `event_value` the value that is the event, if it is not True or
    1 (`named_event` splits them).
    """
    times = _numbers(time, "y's time", n_samples, advice=": y=(time, event), in this order")
    if not np.isfinite(times).all() or (times < 0).any():
        raise ValueError("y's time must be finite and not negative")
    column = decision_column(event, "y's event")
    flags = column.read()
    check_length("y's event", flags, n_samples)
    _refuse_missing("y's event", flags)
    seen = observed_events(column, flags, name=event_name, wanted=event_value)
    if seen.sum() < MIN_EVENTS:
        raise ValueError(
            f"y has {int(seen.sum())} events, and at least {MIN_EVENTS} are needed; the other times are censored"
        )
    return Survival(times, seen, None if entry is None else _entries(entry, times))


def _entries(entry: Any, times: FloatArray) -> FloatArray:
    entries = _numbers(entry, "entry", len(times))
    if not np.isfinite(entries).all():
        raise ValueError("entry must be finite: give the start of the study (0) for samples seen from there on")
    late = np.flatnonzero(entries >= times)
    if len(late):
        first = int(late[0])
        samples = "1 sample" if len(late) == 1 else f"{len(late)} samples"
        raise ValueError(
            f"entry must be before y's time; it is not in {samples}, the first of them sample {first}: entry "
            f"{entries[first]:g}, time {times[first]:g}. Both count from the same start: leave those samples out, or "
            "give the time of the event from that start on"
        )
    return entries


def _numbers(values: Any, name: str, n_samples: int, *, advice: str = "") -> FloatArray:
    """Return one number per sample, none missing."""
    column = decision_column(values, name)
    read = column.read()
    check_length(name, read, n_samples)
    _refuse_missing(name, read)
    if column.kind != ColumnKind.NUMBER:
        raise TypeError(f"{name} must be numbers{advice}")
    return np.asarray(read.astype(np.float64))


def _refuse_missing(name: str, values: Any) -> None:
    if values.dtype.kind == "f" and (missing := int(np.isnan(values).sum())):
        raise ValueError(f"{name} has {missing} missing value{'s' * (missing > 1)}: leave those samples out")


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
