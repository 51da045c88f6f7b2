"""benchmarks/results/*.json → tables and pictures of the page on performance, made when the documentation is built."""

import json
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
GENERATED = Path(__file__).parent / "_generated"


def make_performance_page(*_) -> None:
    GENERATED.mkdir(exist_ok=True)
    comparison = json.loads((RESULTS / "compare_mdfs.json").read_text())
    (GENERATED / "compare_mdfs.md").write_text(_comparison_table(comparison))
    (GENERATED / "whole_calls.md").write_text(_whole_calls(json.loads((RESULTS / "whole_calls.json").read_text())))
    peers = json.loads((RESULTS / "selection_peers.json").read_text())
    (GENERATED / "selection_peers.md").write_text(_selection_peers(peers))
    (GENERATED / "best_n.md").write_text(_best_n_table(json.loads((RESULTS / "best_n.json").read_text())))
    (GENERATED / "wide_2d.md").write_text(_wide_table(json.loads((RESULTS / "wide_2d.json").read_text())))


def _best_n_table(result: dict) -> str:
    """Mean scores of orders of variables, in hundredths, at 5 / 10 / 20 / 50 variables."""
    numbers, rows = ("5", "10", "20", "50"), result["rows"]
    methods, sets = (list(dict.fromkeys(row[name] for row in rows)) for name in ("method", "set"))
    folds_of = {one: {(row["repeat"], row["fold"]) for row in rows if row["set"] == one} for one in sets}

    def folds(one: str, method: str) -> list[dict]:
        return [row for row in rows if row["set"] == one and row["method"] == method]

    def mean(one: str, method: str, n: str) -> float | None:
        scores = [row["scores"][n] for row in folds(one, method) if n in row["scores"]]
        return sum(scores) / len(scores) if len(scores) == len(folds_of[one]) else None

    whole = [m for m in methods if all(len(folds(one, m)) == len(folds_of[one]) for one in sets)]

    def cell(values: list[float | None]) -> str:
        return " / ".join("–" if value is None else f"{100 * value:.0f}" for value in values)

    lines = [f"| set | folds | {' | '.join(whole)} |", "|---|---:|" + "---|" * len(whole)]
    for one in sets:
        mark = " *" if one in result["development"] else ""
        cells = [cell([mean(one, method, n) for n in numbers]) for method in whole]
        lines.append(f"| {one}{mark} | {len(folds_of[one])} | {' | '.join(cells)} |")
    for name, chosen in (("all", sets), ("without *", [one for one in sets if one not in result["development"]])):
        cells = []
        for method in whole:
            of_sets = [[mean(one, method, n) for one in chosen] for n in numbers]
            known = [[value for value in values if value is not None] for values in of_sets]
            cells.append(cell([sum(values) / len(values) if values else None for values in known]))
        lines.append(f"| mean, {name} | | {' | '.join(cells)} |")
    seconds = [
        f"{method} {sum(row['seconds'] for row in some) / len(some):.2g} s"
        for method in whole
        if (some := [row for row in rows if row["method"] == method])
    ]
    lines += ["", f"Processor seconds of an order, on average: {', '.join(seconds)}."]
    others = [m for m in methods if m not in whole]
    if others:
        lines += ["", "Methods that take long, on the first fold of some sets, beside interplay on the same fold:", ""]
        lines += ["| set | method | score | interplay | seconds |", "|---|---|---|---|---:|"]
        for row in rows:
            same = [
                r for r in folds(row["set"], "interplay") if (r["repeat"], r["fold"]) == (row["repeat"], row["fold"])
            ]
            if row["method"] in others and same:
                scores = [cell([each["scores"].get(n) for n in numbers]) for each in (row, same[0])]
                lines.append(f"| {row['set']} | {row['method']} | {scores[0]} | {scores[1]} | {row['seconds']:.1f} |")
    return "\n".join(lines) + "\n"


def _comparison_table(result: dict) -> str:
    machine = result["machine"]
    lines = [
        f"{machine['processor']}, commit {machine['commit']}, {result['n_samples']} samples, one thread:",
        "",
        "| search | instructions | `mdfs` 1.5.2 | interplay | ratio |",
        "|---|---|---:|---:|---:|",
    ]
    lines += [
        f"| {row['dimensions']}D, {row['n_vars']} variables{_levels(row)} | {row['simd_level']} "
        f"| {row['mdfs_seconds']:.2f} s | {row['interplay_seconds']:.3f} s | {row['ratio']:.0f}× |"
        for row in result["rows"]
    ]
    return "\n".join(lines) + "\n"


def _levels(row: dict) -> str:
    return "" if row["levels"] == 2 else f", {row['levels']} levels"


def _wide_table(result: dict) -> str:
    return (
        f"All pairs of {result['n_vars']:,} variables and {result['n_samples']} samples: {result['seconds']:.1f} s, "
        f"{result['tuples_per_second']:.2g} pairs a second, {result['peak_gib_beyond_input']:.2f} GiB of memory beyond "
        f"the {result['input_gib']:.2f} GiB of the input ({result['machine']['processor']}, "
        f"{result['machine']['cores']} cores, commit {result['machine']['commit']}).\n"
    )


def _whole_calls(result: dict) -> str:
    machine = result["machine"]
    lines = [
        f"{machine['processor']}, commit {machine['commit']}:",
        "",
        "| call | seconds | search | after | before |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        base = row["base"]
        # What the older version refused, or did not end, has no number.
        before = f"{base['total']:.2f}" if "total" in base else base["error"] if "more" in base["error"] else "refused"
        lines.append(f"| {row['call']} | {row['total']:.2f} | {row['engine']:.2f} | {row['after']:.2f} | {before} |")
    return "\n".join(lines) + "\n"


def _selection_peers(result: dict) -> str:
    tables = list(dict.fromkeys(row["table"] for row in result["rows"]))
    methods = list(dict.fromkeys(row["method"] for row in result["rows"]))
    cells = {
        (row["table"], row["method"]): row.get("error") or f"{row['true']} / {row['false']}, {row['seconds']:.1f} s"
        for row in result["rows"]
    }
    lines = [f"| table | {' | '.join(methods)} |", f"|---|{'---|' * len(methods)}"]
    lines += [f"| {table} | {' | '.join(cells[table, method] for method in methods)} |" for table in tables]
    return "\n".join(lines) + "\n"
