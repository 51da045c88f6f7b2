"""What `interplay bench` compares a machine with: written into the package, from the results of other benchmarks.

python benchmarks/reference_rates.py
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
FILE = Path(__file__).parents[1] / "src" / "interplay" / "ask" / "cli" / "reference_rates.json"

#: Of Madelon, as `make_madelon` makes it.
MADELON = {"n_samples": 2000, "n_vars": 500, "n_levels": 2}


def reference_rates() -> dict[str, Any]:
    """Return for each engine the machine and its rates."""
    cpu = json.loads((RESULTS / "compare_mdfs.json").read_text())
    cuda = json.loads((RESULTS / "cuda_h200_short.json").read_text())
    return {
        "cpu": {
            "machine": f"one core of an {cpu['machine']['processor']} (Zen 4) with AVX2",
            "commit": cpu["machine"]["commit"],
            "rates": [
                {
                    "dimensions": row["dimensions"],
                    "n_samples": cpu["n_samples"],
                    "n_vars": row["n_vars"],
                    "n_levels": row["levels"],
                    "tuples_per_second": float(f"{row['interplay_tuples_per_second']:.4g}"),
                }
                for row in cpu["rows"]
                if row["simd_level"] == "avx2"
            ],
        },
        "cuda": {
            "machine": f"one {cuda['device']['name']}",
            "commit": cuda["machine"]["commit"],
            "rates": [
                {"dimensions": row["dimensions"], **MADELON, "tuples_per_second": row["tuples_per_second"]}
                for row in cuda["results"]
                if row["what"] == f"{row['dimensions']}D like Madelon"
                and row["n_tuples"] == math.comb(MADELON["n_vars"], row["dimensions"])
            ],
        },
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(reference_rates(), indent=1) + "\n")
