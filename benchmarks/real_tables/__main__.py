"""python -m benchmarks.real_tables [--only TEXT] [--jobs N] [--page]: search the tables, and write the page.

Tables come with scikit-learn and statsmodels; with lifelines and scikit-survival, if installed; and with R's packages
mlbench, MASS, survival, lme4, qtl and qusage (Debian: r-cran-mlbench, …, r-bioc-qusage). Those that are not there are
left out, and the results of an earlier run stay.
Exit code 1 if a known variable or a message is missing, or if shuffled columns are found in too many tables.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from scipy.stats import binom

from benchmarks.machine import RESULTS, write_result
from benchmarks.real_tables.page import write_page
from benchmarks.real_tables.sources import NotInstalledError, read
from benchmarks.real_tables.study import study
from benchmarks.real_tables.tables import TABLES


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part of the name of package or table")
    parser.add_argument("--jobs", type=int, default=-1, help="threads")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", action="store_true", help="write the page from the results that there are")
    asked = parser.parse_args()
    file = RESULTS / "real_tables.json"
    kept = json.loads(file.read_text())["tables"] if file.exists() else []
    done = {(entry["package"], entry["name"]): entry for entry in kept}
    if not asked.page:
        for table in TABLES:
            if asked.only not in f"{table.package} {table.name}":
                continue
            try:
                frame = read(table.package, table.name)
            except NotInstalledError as missing:
                print(f"{table.package} {table.name}: left out, {missing}")
                continue
            result = done[table.package, table.name] = study(table, frame, seed=asked.seed, jobs=asked.jobs)
            said = "; ".join(result["wrong"]) or "as known"
            found = f"{len(result['relevant'])} of {result['n_vars']} relevant"
            false = f"{len(result['false'])} of {result['n_shuffled']} shuffled"
            print(f"{table.package} {table.name}: {found}, {false}, {result['seconds']} s: {said}", flush=True)
            # After each table, so that a run that is stopped leaves its results.
            how = {"made_by": "python -m benchmarks.real_tables", "seed": asked.seed}
            write_result("real_tables", {**how, "tables": _in_order(done)})
    tables = _in_order(done)
    write_page(tables)
    n_false = sum(bool(entry["false"]) for entry in tables)
    too_many = n_false > binom.ppf(0.99, len(tables), 0.05)
    if too_many:
        print(f"shuffled columns are found in {n_false} of {len(tables)} tables: more than 5 % by more than chance")
    return int(too_many or any(entry["wrong"] for entry in tables))


def _in_order(done: dict[tuple[str, str], dict[str, Any]]) -> list[dict[str, Any]]:
    return [done[table.package, table.name] for table in TABLES if (table.package, table.name) in done]


if __name__ == "__main__":
    sys.exit(main())
