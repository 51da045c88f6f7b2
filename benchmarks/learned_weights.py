"""Do weights that lean to the arms of other variables keep the error rate of irrelevant variables?

Tables with strong variables of one arm and many irrelevant ones; in how many tables is an irrelevant variable selected
(Holm, 0.05), with the fixed weights of the arms and with the weights that the default call learns?

python benchmarks/learned_weights.py --tables 400 --jobs 16
"""

from __future__ import annotations

import argparse
import json
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "results" / "learned_weights.json"
N_SAMPLES, N_VARS = 300, 60


def outcome(kind: str, X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Return two classes, and how many of the first variables matter."""
    noise = rng.normal(size=len(X))
    side = np.sign(X)
    if kind == "nothing":
        return rng.integers(0, 2, len(X)), 0
    if kind == "five alone":
        return (X[:, :5].sum(axis=1) + noise > 0).astype(int), 5
    if kind == "two pairs":
        return (1.5 * side[:, 0] * side[:, 1] + 1.5 * side[:, 2] * side[:, 3] + noise > 0).astype(int), 4
    if kind == "a triple":
        return (2 * side[:, 0] * side[:, 1] * side[:, 2] + noise > 0).astype(int), 3
    if kind == "weak pairs":
        return (0.8 * side[:, 0] * side[:, 1] + 0.8 * side[:, 2] * side[:, 3] + noise > 0).astype(int), 4
    raise ValueError(kind)


KINDS = ("nothing", "five alone", "two pairs", "weak pairs", "a triple")


def one_table(job: tuple[str, int]) -> tuple[str, bool, bool, int]:
    """Return whether an irrelevant variable is selected by fixed and by learned weights, and how many true ones are."""
    kind, seed = job
    warnings.simplefilter("ignore")
    import interplay
    from interplay.infer.arms import arm_names, combined_log_p, log_p_of_arm
    from interplay.infer.p_values import adjust

    rng = np.random.default_rng([2026_11_17, KINDS.index(kind), seed])
    X = rng.normal(size=(N_SAMPLES, N_VARS))
    y, n_true = outcome(kind, X, rng)
    found = interplay.select(X, y, random_state=seed, progress=False)
    arms = arm_names(found.tests)
    weights = [sum(test.weight for test in found.tests if test.arm == arm) for arm in arms]
    log_p = combined_log_p([log_p_of_arm(found.tests, arm) for arm in arms], weights)
    fixed = adjust(np.exp(log_p), "holm", level=0.05) < 0.05
    return (
        kind,
        bool(fixed[n_true:].any()),
        bool(found.is_relevant[n_true:].any()),
        int(found.is_relevant[:n_true].sum()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=FILE)
    args = parser.parse_args()
    jobs = [(kind, seed) for kind in KINDS for seed in range(args.tables)]
    with ProcessPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(one_table, jobs, chunksize=4))
    result = {}
    for kind in KINDS:
        of_kind = [row for row in rows if row[0] == kind]
        fixed, learned = (float(np.mean([row[i] for row in of_kind])) for i in (1, 2))
        error = float(np.sqrt(learned * (1 - learned) / len(of_kind)))
        result[kind] = {
            "tables": len(of_kind),
            "false with fixed weights": fixed,
            "false with learned weights": learned,
            "standard error": error,
            "true variables found": float(np.mean([row[3] for row in of_kind])),
        }
        print(f"{kind:12} fixed {fixed:.3f}  learned {learned:.3f} ± {error:.3f}  of {len(of_kind)} tables")
    args.out.write_text(json.dumps({"n_samples": N_SAMPLES, "n_vars": N_VARS, "kinds": result}, indent=1) + "\n")


if __name__ == "__main__":
    main()
