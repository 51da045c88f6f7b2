"""Makes images/churn.png, the picture of README's first screen: python docs/churn_picture.py [FOLDER].

The table is mlc_churn of R's package modeldata (licence MIT), from Debian's r-cran-modeldata, which is downloaded to
FOLDER: 5000 customers of a telephone company.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.first_attempts.sources import read

PICTURE = Path(__file__).parent / "images" / "churn.png"
MANY_CALLS = 4


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/debian")
    table = read("r-cran-modeldata", "mlc_churn", folder)
    leaves = table["churn"].eq("yes")
    minutes = table["total_day_minutes"]
    quarter = pd.qcut(minutes, 4, labels=False)
    often = table["number_customer_service_calls"] >= MANY_CALLS
    figure, ax = plt.subplots(figsize=(7.2, 3.9), layout="constrained")
    for has_called, color, words in ((True, "#b85600", "called the service 4 times or more"),
                                     (False, "#0067a3", "called it less often")):  # fmt: skip
        rows = often == has_called
        share, n = (leaves[rows].groupby(quarter[rows]).agg(each) for each in ("mean", "size"))
        error = 1.96 * np.sqrt(share * (1 - share) / n)
        ax.errorbar(share.index, 100 * share, yerr=100 * error, color=color, marker="o", capsize=3, lw=2)
        ax.text(0.12, 100 * share[0] + (1 if has_called else 4), words, color=color, fontsize=11, fontweight="bold")
    edges = np.quantile(minutes, [0, 0.25, 0.5, 0.75, 1])
    words = [f"{low:.0f} to {high:.0f}" for low, high in pairwise(edges)]
    ax.set_xticks(range(4), words)
    ax.set_xlim(-0.25, 3.35)
    ax.set_ylim(0, 105)
    ax.set_xlabel("minutes of calls by day, customers in quarters")
    ax.set_ylabel("customers who leave, %")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(PICTURE, dpi=120)


if __name__ == "__main__":
    main()
