"""Run all targets in turn for some seconds: ``python -m fuzz SECONDS``, in the folder tests.

Each execution is one random buffer, which hypothesis turns into input. What fails is kept in hypothesis' database, in
``.hypothesis``: `pytest tests/test_fuzz.py` then repeats it, in its simplest form.
"""

from __future__ import annotations

import random
import sys
import time
import traceback
from collections import Counter

from fuzz.targets import TARGETS

#: Long enough for the largest inputs, short enough that most are small.
LONGEST_BUFFER = 4096
SECONDS_BETWEEN_LINES = 60


def main(seconds: float, only: list[str]) -> int:
    rng = random.Random()
    executions: Counter[str] = Counter()
    valid: Counter[str] = Counter()
    findings: dict[str, int] = {}
    started = next_line = time.monotonic()
    targets = {name: target for name, target in TARGETS.items() if not only or name in only}
    while time.monotonic() < started + seconds:
        for name, target in targets.items():
            buffer = rng.randbytes(int(LONGEST_BUFFER ** rng.random()))
            executions[name] += 1
            try:
                valid[name] += target.hypothesis.fuzz_one_input(buffer) is not None
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                key = f"{name}: {type(error).__name__} at {where.filename}:{where.lineno}"
                findings[key] = findings.get(key, 0) + 1
                if findings[key] == 1:
                    print(f"\nFOUND {key}", flush=True)
                    traceback.print_exc()
        if time.monotonic() >= next_line:
            next_line += SECONDS_BETWEEN_LINES
            print(f"{time.monotonic() - started:.0f} s, {sum(executions.values())} executions", flush=True)
    for name in targets:
        print(f"{name:<20} {executions[name]:>8} executions, {valid[name]:>8} of them whole inputs")
    print(f"{sum(executions.values())} executions, {len(findings)} findings")
    for key, count in findings.items():
        print(f"  {count} × {key}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
