"""Rows of the study → shares of truth found, false discoveries and times, with their intervals."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd


def wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95 % interval of the mean of n shares.

    Each counts as one trial. Shares between 0 and 1 vary less than successes and failures of the same mean, so the
    interval is, if anything, too wide; and it has a width where all n are equal.
    """
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def summarised(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each problem and method: means over the tables it finished, and how many it did not."""
    return pd.DataFrame(
        [
            {"problem": problem, "method": method, **_summary_of(part)}
            for (problem, method), part in rows.groupby(["problem", "method"], sort=False)
        ]
    ).set_index(["problem", "method"])


def _summary_of(part: pd.DataFrame) -> dict:
    finished = part[part["status"] == "ok"]
    n = len(finished)
    about = {
        "n_tables": n,
        "n_failed": len(part) - n,
        "failures": ", ".join(part["status"][part["status"] != "ok"].unique()),
    }
    if n == 0:
        return about
    found, false = (finished[name].to_numpy(dtype=np.float64) for name in ("n_found", "n_false"))
    share = found / finished["n_relevant"].to_numpy()
    false_share = false / np.maximum(found + false, 1)  # nothing selected, nothing wrong
    # Exactly rounded, so that every machine prints the same.
    mean_share, mean_false_share = math.fsum(share) / n, math.fsum(false_share) / n
    seconds = np.quantile(finished["seconds"], [0.25, 0.5, 0.75])
    return {
        **about,
        "found": mean_share,
        **dict(zip(("found_low", "found_high"), wilson(mean_share, n), strict=True)),
        "n_false": false.mean(),
        "most_false": int(false.max()),
        "n_with_false": int((false > 0).sum()),
        "fdr": mean_false_share,
        **dict(zip(("fdr_low", "fdr_high"), wilson(mean_false_share, n), strict=True)),
        "seconds": seconds[1],
        "seconds_low": seconds[0],
        "seconds_high": seconds[2],
    }
