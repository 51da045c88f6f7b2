"""Visits of patients: samples of a group have an order, and columns drift or follow their last value."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table, selected, smallest


def _series(rng: Rng, n: int, columns: int, kind: str) -> np.ndarray:
    """Return series of one patient, (n, columns): a drift, a value that follows the last one, or noise."""
    noise = rng.normal(size=(n, columns))
    if kind == "drift":
        return np.cumsum(0.5 * noise, axis=0) + 0.3 * rng.normal(size=(n, columns))
    if kind == "noise":
        return noise
    for i in range(1, n):
        noise[i] = 0.95 * noise[i - 1] + np.sqrt(1 - 0.95**2) * noise[i]
    return noise


def _make(rng: Rng, planted: bool, *, outcome: str, kind: str, patients: int, columns: int) -> Table:
    patient, y, parts = [], [], []
    true = [3, 4] if planted else []
    for number in range(patients):
        n = int(rng.integers(8, 16))
        X = _series(rng, n, columns, kind) + rng.normal(size=columns)
        if outcome == "before and after":
            of_patient = (np.arange(n) >= rng.integers(n // 3, n - n // 3 + 1)).astype(float)
        elif outcome == "relapses":
            of_patient = (_series(rng, n, 1, "AR")[:, 0] > 0.3).astype(float)
        else:
            of_patient = _series(rng, n, 1, kind)[:, 0]
        X[:, true] += (1.5 if outcome != "number" else 1.0) * of_patient[:, np.newaxis]
        parts.append(X)
        y.append(of_patient + (rng.normal() if outcome == "number" else 0.0))
        patient += [number] * n
    values = np.concatenate(y)
    return Table(
        np.concatenate(parts),
        values if outcome == "number" else values.astype(np.int64),
        frozenset(true),
        {"groups": np.array(patient), "random_state": 0},
    )


def _within_patients(table: Table) -> set[int]:
    """A covariance of outcome and column in each patient, and Wilcoxon's test of these over patients."""
    rows = [np.flatnonzero(table.given["groups"] == one) for one in np.unique(table.given["groups"])]
    y = table.y.astype(float)
    slopes = np.array([(y[some] - y[some].mean()) @ table.X[some] for some in rows])
    return smallest(np.array([stats.wilcoxon(of).pvalue for of in slopes.T]))


_SETTINGS: list[tuple[str, str, int, int, dict[str, Any]]] = [
    ("before and after", "drift", 16, 20, {"dimensions": 1}),
    ("before and after", "AR", 16, 20, {"dimensions": 1}),
    ("relapses", "AR", 24, 20, {"dimensions": 1}),
    ("number", "AR", 16, 20, {"dimensions": 1}),
    ("number", "drift", 30, 20, {"dimensions": 1}),
    ("before and after", "noise", 16, 20, {"dimensions": 1}),
    ("before and after", "drift", 16, 20, {}),
    ("number", "AR", 16, 20, {}),
]

LINE = Line(
    "Visits of patients",
    "Eight to fifteen visits of each patient, in order. Columns drift over the visits, or follow their last value, as "
    "weights and laboratory values do; the outcome is before or after a treatment, relapses, or a number. Groups are "
    "given (`groups=`), and labels keep their order within a patient. The plain test compares patients and not visits; "
    "relapses come and go, and it finds fewer of these.",
    [
        Design(
            f"{outcome}, {patients} patients, columns: {kind}" + ("" if settings else ", the default call (pairs)"),
            partial(_make, outcome=outcome, kind=kind, patients=patients, columns=columns),
            partial(selected, **settings),
            _within_patients,
            "Wilcoxon over patients",
            tables=200,
            planted=50,
        )
        for outcome, kind, patients, columns, settings in _SETTINGS
    ],
)
