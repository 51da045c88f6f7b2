"""benchmarks/results/*.json → tables and pictures of the page on performance, made when the documentation is built."""

import json
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
GENERATED = Path(__file__).parent / "_generated"


def make_performance_page(*_) -> None:
    GENERATED.mkdir(exist_ok=True)
    comparison = json.loads((RESULTS / "compare_mdfs.json").read_text())
    (GENERATED / "compare_mdfs.md").write_text(_comparison_table(comparison))
    _draw_comparison(comparison["rows"], GENERATED / "compare_mdfs.png")
    (GENERATED / "wide_2d.md").write_text(_wide_table(json.loads((RESULTS / "wide_2d.json").read_text())))


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


def _draw_comparison(rows: list[dict], path: Path) -> None:
    import matplotlib.pyplot as plt

    rows = sorted((row for row in rows if row["levels"] == 2), key=lambda row: row["dimensions"])
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for level in sorted({row["simd_level"] for row in rows}):
        chosen = [row for row in rows if row["simd_level"] == level]
        k = [row["dimensions"] for row in chosen]
        axes[0].plot(k, [row["interplay_tuples_per_second"] for row in chosen], "o-", label=f"interplay, {level}")
        axes[1].plot(k, [row["ratio"] for row in chosen], "o-", label=level)
    rival = [row["interplay_tuples_per_second"] * row["interplay_seconds"] / row["mdfs_seconds"] for row in chosen]
    axes[0].plot(k, rival, "s--", color="0.5", label="mdfs 1.5.2")
    axes[0].set(yscale="log", xlabel="dimensions", ylabel="tuples per second, one core", xticks=k)
    axes[1].set(xlabel="dimensions", ylabel="times faster than mdfs", xticks=k, ylim=(0, None))
    for ax in axes:
        ax.legend(frameon=False)
        ax.grid(alpha=0.3)
    figure.savefig(path, dpi=130)
    plt.close(figure)
