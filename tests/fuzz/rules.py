"""Rules of tuples in SQL: SQLite gives each sample the value of its cell."""

import sqlite3

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import interplay
from fuzz.outcomes import refused_or
from interplay.data.study.table import as_table

KINDS = {
    "bool": lambda rng, n: rng.random(n) < 0.5,
    "genotype": lambda rng, n: rng.integers(0, 3, n),
    "large": lambda rng, n: 2**53 + rng.integers(0, 3, n),
    "number": lambda rng, n: rng.normal(size=n),
    "single": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "infinite": lambda rng, n: rng.choice([-np.inf, -1e300, 0.1, 1e-300, np.inf], n),
    "text": lambda rng, n: rng.choice(["it's", 'a "b"', "", "True"], n).astype(object),
    "flag": lambda rng, n: rng.choice(["True", "False"], n).astype(object),
}


def in_sqlite(frame, column):
    with sqlite3.connect(":memory:") as database:
        frame.to_sql("t", database, index=False)
        return np.array([row[0] for row in database.execute(f"SELECT {column} FROM t")], dtype=float)


@given(
    st.lists(st.sampled_from(sorted(KINDS)), min_size=2, max_size=3),
    st.sampled_from(["classes", "number"]),
    st.integers(1, 3),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def rules_in_sql(kinds, decision, divisions, has_gaps, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 200))
    frame = pd.DataFrame({f'v"{i} {kind}': KINDS[kind](rng, n) for i, kind in enumerate(kinds)})
    for name in frame:
        if has_gaps and frame[name].dtype.kind in "fO":
            frame.loc[rng.random(n) < 0.1, name] = np.nan
    y = np.arange(n) % 2 if decision == "classes" else rng.normal(size=n) * 10.0 ** rng.integers(-12, 12)
    found = refused_or(
        lambda: interplay.interactions(frame, y, top=3, missing="level", divisions=divisions, decision=decision)
    )
    if found is None:
        return
    table = as_table(frame)
    for row, column in enumerate(found.rules("sql", only_significant=False)):
        d = int(found.tested.discretization[row])
        members = found.tested.tuples[row].tolist()
        cells = [pd.Series(found.cuts_of(v).codes(table.column(v), d)) for v in members]
        expected = pd.Series(y).groupby(cells).transform("mean").to_numpy()
        np.testing.assert_allclose(in_sqlite(frame, column), expected, atol=1e-6 if decision == "classes" else 0)
