"""Times that may be censored, events in any values → martingale residuals of the null model, cut by rank."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import shown, warn
from interplay.base.tails import log_f_tail
from interplay.base.text import name_among
from interplay.data.models.cox import (
    fit_cells,
    fit_in_risk_sets,
    martingale_residuals,
    sandwich_covariance,
)
from interplay.data.models.linear import with_dependent
from interplay.data.models.risk_sets import RiskSets
from interplay.data.study.columns import Column, ColumnKind, check_length, decision_column
from interplay.data.study.design import Design, Strata
from interplay.data.study.outcomes.classes import DecisionClasses, decision_classes
from interplay.data.study.outcomes.outcome import (
    NO_ESTIMATE,
    CellTests,
    Coefficients,
    Fits,
    Fitted,
    Outcome,
    SecondTest,
    check_left,
    standardised,
)
from interplay.data.study.outcomes.targets import ScoreTarget, Target
from interplay.data.study.outcomes.words import TIMES, Words
from interplay.data.study.table import Table, as_table

#: Values that are shown in messages; a column with more values is no event.
_VALUES_SHOWN = 6

#: Labels that say that an event was observed.
_OBSERVED = re.compile(
    r"^(?:dead|died|death|deceased|event|observed|yes|y|true|t|1|relapsed?|recurrence|recurred|progressed|progression"
    r"|failed|failure|case)$",
    re.IGNORECASE,
)


def named_event(event: Any, X: Any) -> tuple[Any, str | None]:
    """Split ``"status=2"`` into the column's name and the value that is the event; a column of that name comes first.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"status": [1, 2], "a=b": [0, 1]})
    >>> named_event("status=2", X), named_event("a=b", X), named_event("status", X)
    (('status', '2'), ('a=b', None), ('status', None))
    """
    if not isinstance(event, str) or "=" not in event:
        return event, None
    table = as_table(X)
    known = [*table.sample_columns, *table.names]
    if name_among(known, event) in known:
        return event, None
    name, _, value = event.partition("=")
    while name_among(known, name.strip()) not in known and "=" in value:  # names may contain the sign too
        more, _, value = value.partition("=")
        name = f"{name}={more}"
    return name.strip(), value.lstrip("=").strip()


def observed_events(column: Column, values: Any, *, name: str | None, wanted: str | None = None) -> BoolArray:
    """Return where the event was observed, (n_samples,).

    - `column`, `values`: the column and its values, none of them missing.
    - `name`: its name, for messages.
    - `wanted`: the value that is the event. Without it, the values must be True and False, or 1 and 0.
    """
    numbers, counts = np.unique(values, return_counts=True)
    texts = [_text(column, number) for number in numbers[: _VALUES_SHOWN + 1].tolist()]
    if wanted is not None:
        return np.asarray(values == _number_of(column, wanted, texts, counts.tolist(), name))
    if column.kind != ColumnKind.LABEL and np.isin(numbers, (0, 1)).all():
        return np.asarray(values, dtype=bool)
    rule = (
        "y's event must be True (or 1) where the event was observed at that time, and False (or 0) where the time is "
        "censored"
    )
    called = "" if name is None else f" of column {shown(name)}"
    if len(numbers) > _VALUES_SHOWN:
        raise ValueError(f"{rule}; the values{called} are too many ({len(numbers)}): y=(time, event), in this order")
    likely = next((i for i, text in enumerate(texts) if _OBSERVED.match(text)), len(texts) - 1)
    is_known = True
    if column.kind != ColumnKind.LABEL:  # 1 and 2, 0, 1 and 2: the event has the highest number; of 1, 2 and 3 any may
        is_known = len(texts) < 3 or numbers[0] == 0
        likely = len(texts) - 1 if is_known else 0
    compared = repr(texts[likely]) if column.kind == ColumnKind.LABEL else texts[likely]
    chosen = "" if name is None else f"{name}={texts[likely]}"
    by_name = f", or {chosen!r} in place of the column's name (--event {chosen})" if chosen else ""
    if_it = f"if {compared} is the event, give" if is_known else f"say which of them is the event. For {compared}, give"
    raise ValueError(
        f"{rule}; the values{called} are {_listed(texts, counts.tolist())}: {if_it} "
        f"y=(time, event == {compared}){by_name}{'; likewise for another value' if len(texts) > 2 else ''}"
    )


def _text(column: Column, number: float) -> str:
    """Return a value as a user would write it."""
    if column.levels is not None:
        return str(column.levels[int(number)])
    return str(int(number)) if float(number).is_integer() else f"{number:.12g}"


def _number_of(column: Column, wanted: str, texts: list[str], counts: list[int], name: str | None) -> float:
    """Return the number that stands for a value, which may be a text or a number."""
    if column.levels is not None:
        levels = [str(level) for level in column.levels]
        if wanted in levels:
            return levels.index(wanted)
        folded = [level.casefold() for level in levels]
        if folded.count(wanted.casefold()) == 1:
            return folded.index(wanted.casefold())
    else:
        try:
            number = float(wanted)
        except ValueError:
            number = np.nan
        if number in column.read():
            return number
    called = "the event's column" if name is None else f"column {shown(name)}"
    raise ValueError(
        f"y's event is {shown(wanted)}, which {called} does not have; its values are {_listed(texts, counts)}"
    )


def _listed(texts: list[str], counts: list[int]) -> str:
    entries = [f"{text} ({count}×)" for text, count in zip(texts, counts, strict=False)][:_VALUES_SHOWN]
    if len(texts) > _VALUES_SHOWN:
        return ", ".join([*entries, "…"])
    return entries[0] if len(entries) == 1 else f"{', '.join(entries[:-1])} and {entries[-1]}"


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
class Survival(Outcome):
    """Times, and whether the event was seen at them."""

    #: (n_samples,): to the event, or to where the sample was last seen without it.
    time: FloatArray
    #: (n_samples,): false for censored times.
    event: BoolArray
    #: (n_samples,): from where on each sample was seen, below its time (left truncation). Samples with the event before
    #: their entry are not in the data.
    entry: FloatArray | None = None

    model_kind: ClassVar[str] = "cox"
    model_name: ClassVar[str] = "Cox"
    counted: ClassVar[str] = "events"
    is_target: ClassVar[bool] = False
    needs_model: ClassVar[bool] = True
    words: ClassVar[Words] = TIMES

    @property
    def n_informative(self) -> int:
        return int(self.event.sum())

    def is_of(self, n_samples: int) -> bool:
        """Say whether all arrays have one value per sample: a file may say anything."""
        arrays = (self.time, self.event) if self.entry is None else (self.time, self.event, self.entry)
        return all(array.shape == (n_samples,) for array in arrays)

    def of_samples(self, rows: IntArray) -> Survival:
        """Return the times of some samples."""
        return Survival(self.time[rows], self.event[rows], None if self.entry is None else self.entry[rows])

    def martingale_residuals(
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

        - `columns` (n_samples, n_columns): covariates.
        - `strata`, `offset`, `ties`: as in `fit_cox`.

        Examples
        --------
        >>> Survival(np.array([1.0, 2.0, 3.0]), np.array([True, False, True])).martingale_residuals().round(3).tolist()
        [0.667, -0.333, -0.333]
        """
        return martingale_residuals(
            self.time, self.event, columns=columns, entry=self.entry, strata=strata, offset=offset, ties=ties
        )

    def made_again(
        self, rows: IntArray, y: Any, strata: Strata | None, compared: Target
    ) -> tuple[FloatArray, Survival, Target]:
        times = self.of_samples(rows)
        divisions = len(compared.labels) - 1 if compared.labels else None
        return times.martingale_residuals(), times, times.compared(strata, divisions)

    def compared(self, strata: Strata | None, divisions: int | None = None, *, decision: str = "auto") -> Target:
        """Return the residuals of a model without covariates, as they are or cut by rank."""
        if divisions is not None:
            return survival_classes(self, decision=decision, decision_divisions=divisions)
        design = Design(len(self.time), strata)
        return self.residuals(design.columns(), design)

    def searches_residuals(self, compared: Target) -> bool:
        """Say whether residuals stay as they are; the user may have cut them."""
        return not compared.labels

    def check_part(self, holdout: Any, rows: IntArray, what: str) -> None:
        if (n_events := self.n_counted(rows)) < MIN_EVENTS:
            raise ValueError(
                f"holdout={shown(holdout)} leaves {n_events} events to {what}, and at least {MIN_EVENTS} are needed: "
                "use another share"
            )

    def alone(self) -> FloatArray:
        return self.martingale_residuals()[np.newaxis]

    def measured(self) -> dict[str, Any]:
        return {"time": self.time, "event": self.event}

    def about(self) -> dict[str, Any]:
        return {"survival": {"n_events": int(self.event.sum()), "last": float(self.time.max())}}

    def arrays(self) -> list[FloatArray]:
        return [self.time, self.event.astype(np.float64), np.empty(0) if self.entry is None else self.entry]

    def residuals(self, columns: FloatArray, design: Design, *, has_more: bool = False) -> ScoreTarget:
        # Hazards have no constant.
        left = self.martingale_residuals(
            columns=columns[:, design.n_constants :], strata=design.stratum, offset=design.offset
        )
        # Events of a sample are Poisson, given the hazard: expected events are their variance and third moment.
        expected = self.event - left
        check_left(left, self.event.astype(np.float64))
        return standardised("cox", left, columns, expected, expected)

    def fits(self, design: Design, rows: IntArray | None = None) -> Fits:
        rows = None if rows is None or np.array_equal(rows, np.arange(len(self.time))) else rows
        every = slice(None) if rows is None else rows
        times = self if rows is None else self.of_samples(rows)
        strata = None if design.strata is None else design.strata.codes[every]
        return _CoxFits(times._risk_sets(strata), None if design.offset is None else design.offset[every])

    def _risk_sets(self, strata: IntArray | None) -> RiskSets:
        return (
            self._unstratified if strata is None else RiskSets(self.time, self.event, entry=self.entry, strata=strata)
        )

    @cached_property
    def _unstratified(self) -> RiskSets:
        """The risk sets that all models without strata share: sorting times takes as long as fitting a small model."""
        return RiskSets(self.time, self.event, entry=self.entry)

    def coefficients(self, columns: FloatArray, design: Design, clusters: IntArray | None = None) -> Coefficients:
        n, sets = design.n_constants, self._risk_sets(design.stratum)
        fit = fit_in_risk_sets(sets, columns[:, n:], design.offset)
        robust = None if clusters is None else sandwich_covariance(sets, columns[:, n:], fit, clusters)
        m, places = columns.shape[1], np.arange(n, columns.shape[1])
        estimate, covariance = with_dependent(fit.coefficients, fit.covariance, places, m)
        if robust is not None:
            robust = with_dependent(fit.coefficients, robust, places, m)[1]
        return Coefficients(estimate, covariance, robust=robust)

    def second_test(
        self, design: Design, smaller: FloatArray, larger: FloatArray, rows: IntArray, groups: IntArray | None
    ) -> SecondTest:
        """Return ln p of Wald's test with Lin and Wei's variances; NaN without finite estimates."""
        is_part = len(rows) < design.n_samples
        here, of_here = (self.of_samples(rows), design.of_samples(rows)) if is_part else (self, design)
        clusters = np.arange(len(rows)) if groups is None else groups[rows]
        known, n_inner = of_here.columns(), smaller.shape[1] + larger.shape[1]
        fit = here.coefficients(np.hstack([known, smaller, larger]), of_here, clusters)
        fit = fit.of_columns(slice(known.shape[1], None))
        assert fit.robust is not None
        added = np.arange(smaller.shape[1], n_inner)
        added = added[np.isfinite(np.diag(fit.covariance)[added])]
        # A cell without events has a coefficient that grows without end, of which no variance is known.
        if not len(added) or float(np.diag(fit.covariance)[added].max()) > NO_ESTIMATE**2:
            return SecondTest()
        covariance = np.linalg.pinv(fit.robust[np.ix_(added, added)], hermitian=True)
        wald = float(fit.estimate[added] @ covariance @ fit.estimate[added])
        n_free = max(self.n_counted(rows) - design.columns().shape[1] - n_inner, 1)
        n_free = n_free if groups is None else min(n_free, len(np.unique(clusters)) - 1)
        return SecondTest(robust_log_p=float(log_f_tail(wald / len(added), len(added), max(n_free, 1))))

    def tests_of_cells(self, design: Design) -> Callable[[IntArray, FloatArray], CellTests] | None:
        return None if design.adjusts or design.strata is not None or not self.event.any() else self._cell_tests

    def _cell_tests(self, cells: IntArray, smaller: FloatArray) -> CellTests:
        fits = fit_cells(self._unstratified, cells, smaller)
        # Contrasts of cells that the smaller model, with a constant, sets to 0; Wald's test does not depend on a basis.
        n_cells = len(smaller)
        constant_too = np.hstack([np.ones((n_cells, 1)), smaller])
        contrasts = np.linalg.qr(constant_too, mode="complete")[0][:, constant_too.shape[1] :]
        effects = fits.log_hazard @ contrasts
        df = contrasts.shape[1]
        inverse = np.linalg.pinv(contrasts.T @ fits.robust @ contrasts, hermitian=True)
        wald = np.einsum("tc,tcd,td->t", effects, inverse, effects)
        n_left = max(self.n_informative - 1 - n_cells, 1)  # as with the constant of a design
        has_estimates = np.einsum("tcc->tc", fits.covariance).max(axis=1) <= NO_ESTIMATE**2
        is_known = fits.is_known & has_estimates
        return CellTests(
            chi2=np.where(is_known, fits.chi2, np.nan),
            log_p=np.where(is_known, log_f_tail(np.nan_to_num(fits.chi2) / df, df, n_left), np.nan),
            robust_log_p=log_f_tail(wald / df, df, n_left),
            estimate=fits.log_hazard,
            covariance=fits.covariance,
        )

    def n_counted(self, rows: IntArray) -> int:
        return int(self.event[rows].sum())


class _CoxFits(Fits):
    """Cox's models, by partial likelihood."""

    def __init__(self, sets: RiskSets, offset: FloatArray | None) -> None:
        self._sets, self._offset = sets, offset

    def fit(self, columns: FloatArray, smaller: Fitted | None = None) -> Fitted:
        cox = fit_in_risk_sets(self._sets, columns, self._offset)
        return Fitted(cox.log_likelihood, cox.rank, np.empty((0, columns.shape[1])))

    def ratio_log_p(self, chi2: float, df: int, n_columns: int) -> float:
        """Return ln p by F with as many degrees of freedom as there are events beyond columns.

        With χ², 10 % of 320 tables of 300 times had a false pair at a level of 5 %.
        """
        return float(log_f_tail(chi2 / df, df, max(self._sets.n_events - n_columns, 1)))


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
        survival.martingale_residuals(),
        n_samples=len(survival.time),
        decision="continuous",
        decision_divisions=decision_divisions,
    )
    return replace(found, labels=RISKS) if found.n_classes == 2 else found


def look_like_times(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the names of a time and of its event, where two columns have such names; else None.

    Examples
    --------
    >>> look_like_times(["status", "time"]), look_like_times(["bmi", "ldl"])
    (('time', 'status'), None)
    """
    if len(names) != 2:
        return None
    for time, event in (names, names[::-1]):
        if _TIME.search(time) and _EVENT.search(event):
            return time, event
    return None


def warn_of_censoring(table: Table, y: Any, outcome: Target, *, name: str | None) -> None:
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
