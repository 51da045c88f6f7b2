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
    """Mean scores of orders of variables, in hundredths, at 5 / 10 / 20 / 50 variables: two runs, and all peers."""
    numbers, ours = ("5", "10", "20", "50"), "interplay"
    scores = {
        (row["method"], row["set"], (row["repeat"], row["fold"])): row["scores"] | {"seconds": row["seconds"]}
        for row in result["rows"]
    }
    methods, sets = (list(dict.fromkeys(row[name] for row in result["rows"])) for name in ("method", "set"))

    def shared(one: str, method: str, of_run: range) -> list:
        """Return the folds that a method and ours have."""
        known = [fold for (m, name, fold) in scores if (m, name) == (method, one) and fold[0] in of_run]
        return [fold for fold in known if (ours, one, fold) in scores]

    def mean(one: str, method: str, of_run: range, n: str, folds_of: str = "") -> float | None:
        values = [scores[method, one, fold].get(n) for fold in shared(one, folds_of or method, of_run)]
        return sum(values) / len(values) if values and None not in values else None

    def cell(values: list[float | None]) -> str:
        return " / ".join("–" if value is None else f"{100 * value:.0f}" for value in values)

    def over(chosen: list[str], method: str, of_run: range, folds_of: str = "") -> str:
        of_sets = [[mean(one, method, of_run, n, folds_of) for one in chosen] for n in numbers]
        known = [[value for value in values if value is not None] for values in of_sets]
        return " / ".join(f"{100 * sum(values) / len(values):.1f}" if values else "–" for values in known)

    lines, behind = [], []
    runs = {"First run": range(40), "Second run": range(40, 1000)}
    runs = {name: of_run for name, of_run in runs.items() if any(row["repeat"] in of_run for row in result["rows"])}
    for name, of_run in runs.items():
        n_folds = {one: len(shared(one, ours, of_run)) for one in sets}
        whole = [m for m in methods if all(len(shared(one, m, of_run)) == n_folds[one] for one in sets)]
        lines += [f"{name}:", "", f"| set | folds | {' | '.join(whole)} |", "|---|---:|" + "---|" * len(whole)]
        for one in sets:
            mark = " *" if one in result["development"] else ""
            cells = [cell([mean(one, method, of_run, n) for n in numbers]) for method in whole]
            lines.append(f"| {one}{mark} | {n_folds[one]} | {' | '.join(cells)} |")
        others = [one for one in sets if one not in result["development"]]
        for words, chosen in (("all", sets), ("without *", others)):
            lines.append(f"| mean, {words} | | {' | '.join(over(chosen, method, of_run) for method in whole)} |")
        lines.append("")

    everything = range(1000)
    for one in sets:
        for n in numbers:
            found = [_behind(scores, shared(one, m, everything), m, one, n) for m in methods if m != ours]
            worst = min((each for each in found if each), default=None, key=lambda each: each[0])
            if worst and worst[0] < -2:
                behind.append(f"- {one}, {n}: {-worst[0]:.1f} ± {worst[1]:.1f} behind {worst[2]} ({worst[3]} folds)")
    words = "More than two points behind the best peer of four folds or more, with the standard error over folds:"
    lines += [words, "", *behind, ""]
    lines += [
        "Each peer and interplay on the same folds of both runs, mean over the sets that the peer was run on:",
        "",
    ]
    lines += [
        "| peer | sets | folds | peer | interplay | seconds of an order | interplay |",
        "|---|---:|---:|---|---|---:|---:|",
    ]
    for method in methods:
        chosen = [one for one in sets if shared(one, method, everything)]
        folds = sum(len(shared(one, method, everything)) for one in chosen)
        cells = [over(chosen, m, everything, method) for m in (method, ours)]
        taken = [
            sum(mean(one, m, everything, "seconds", method) or 0.0 for one in chosen) / len(chosen)
            for m in (method, ours)
        ]
        if method != ours:
            seconds = " | ".join(f"{value:.2g}" for value in taken)
            lines.append(f"| {method} | {len(chosen)} | {folds} | {' | '.join(cells)} | {seconds} |")
    return "\n".join(lines) + "\n"


def _behind(scores: dict, folds: list, method: str, one: str, n: str) -> tuple[float, float, str, int] | None:
    """Return how far interplay is ahead of a method, in hundredths, with the standard error over folds."""
    both = [(scores["interplay", one, fold].get(n), scores[method, one, fold].get(n)) for fold in folds]
    ahead = [100 * (ours - other) for ours, other in both if ours is not None and other is not None]
    if len(ahead) < 4:
        return None
    mean = sum(ahead) / len(ahead)
    spread = (sum((value - mean) ** 2 for value in ahead) / (len(ahead) - 1)) ** 0.5
    return mean, spread / len(ahead) ** 0.5, method, len(ahead)


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
