"""Run all targets in turn for some seconds: ``python -m fuzz SECONDS [--seed N] [--table FILE] [TARGET …]``, in tests.

`--table` adds the trials of each kind to those that a file of the same commit has.

Each execution is one random buffer, which hypothesis turns into input. What fails is printed with the seed of the run,
then in its simplest form, and kept in hypothesis' database, in ``.hypothesis``;
`pytest tests/project/test_fuzz.py` repeats it.
"""

import argparse
import faulthandler
import json
import random
import secrets
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings

from fuzz.targets import KINDS, TARGETS

#: Long enough for the largest inputs, short enough that most are small.
LONGEST_BUFFER = 4096
SECONDS_BETWEEN_LINES = 60

#: What computes for longer is stopped and counted: many levels in many dimensions are slow, and no fault.
LONGEST_SECONDS = 20

#: What does not stop then hangs in compiled code: the run ends, and shows where.
HANG_SECONDS = 300

#: Hypothesis looks for the simplest form of what fails for five minutes at most.
SHRINK_SECONDS = 900


class TooSlowError(BaseException):
    """Not an Exception, so that nothing on the way takes it for a refusal."""


def stop_slow(*_):
    raise TooSlowError


def main(seconds, seed, only, table):
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    executions: Counter[str] = Counter()
    valid: Counter[str] = Counter()
    slow: Counter[str] = Counter()
    findings: Counter[str] = Counter()
    started = next_line = time.monotonic()
    signal.signal(signal.SIGPROF, stop_slow)
    targets = {name: target for name, target in TARGETS.items() if not only or name in only}
    while time.monotonic() < started + seconds:
        for name, target in targets.items():
            buffer = rng.randbytes(int(LONGEST_BUFFER ** rng.random()))
            executions[name] += 1
            signal.setitimer(signal.ITIMER_PROF, LONGEST_SECONDS)
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
            try:
                valid[name] += target.hypothesis.fuzz_one_input(buffer) is not None
            except TooSlowError as error:
                slow[f"{name} in {_place(error)}"] += 1
            except Exception as error:
                key = f"{name}: {type(error).__name__} in {_place(error)}"
                findings[key] += 1
                if findings[key] == 1:
                    print(f"\nFOUND {key}, execution {executions[name]} of seed {seed}", flush=True)
                    traceback.print_exc()
                    signal.setitimer(signal.ITIMER_PROF, 0)
                    faulthandler.dump_traceback_later(SHRINK_SECONDS, exit=True)
                    print_simplest(target)
            signal.setitimer(signal.ITIMER_PROF, 0)
        if time.monotonic() >= next_line:
            next_line = time.monotonic() + SECONDS_BETWEEN_LINES
            print(f"{time.monotonic() - started:.0f} s, {sum(executions.values())} executions", flush=True)
    for name in targets:
        print(f"{name:<20} {executions[name]:>8} executions, {valid[name]:>8} of them whole inputs")
    print(f"{sum(executions.values())} executions, {len(findings)} findings, {sum(slow.values())} stopped as too slow")
    for key, count in [*findings.items(), *slow.items()]:
        print(f"  {count} × {key}")
    if table is not None:
        add_to_table(table, seed, executions, findings, slow)
    return 1 if findings else 0


def print_simplest(target):
    """Print the simplest form of what was just kept in the database."""
    phases = [Phase.explicit, Phase.reuse, Phase.shrink]
    simplest = settings(phases=phases, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
    try:
        simplest(target)()
    except Exception as error:
        print("in its simplest form:", *traceback.format_exception(error), sep="\n", flush=True)
    else:
        print("it does not fail again: it depends on more than its input (threads, time)", flush=True)


def add_to_table(path, seed, executions, findings, slow):
    """Add the trials of a run, kind by kind, to those of the same commit."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    before: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if before.get("commit") != commit.stdout.strip():
        before = {"kinds": {}}
    kinds = {}
    for kind, some in KINDS.items():
        names = [target.__name__ for target in some]
        old = before["kinds"].get(kind, {"trials": 0, "findings": {}, "too_slow": 0})
        of_kind = {key: n for key, n in findings.items() if key.partition(":")[0] in names}
        kinds[kind] = {
            "trials": old["trials"] + sum(executions[name] for name in names),
            "findings": dict(Counter(old["findings"]) + Counter(of_kind)),
            "too_slow": old["too_slow"] + sum(n for key, n in slow.items() if key.partition(" ")[0] in names),
        }
    found = {
        "command": "python -m fuzz SECONDS --table FILE",
        "commit": commit.stdout.strip(),
        "seeds": [*before.get("seeds", []), seed],
        "trials": sum(one["trials"] for one in kinds.values()),
        "kinds": kinds,
    }
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def _place(error):
    """The last line of ours on the way to an error."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "interplay" in frame.filename]
    return f"{ours[-1].filename}:{ours[-1].lineno}" if ours else "the target itself"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="fuzz", description="Random input to whatever reads what others wrote.")
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--table", type=Path, help="a JSON file for the number of trials of each kind")
    parser.add_argument("only", nargs="*", metavar="TARGET")
    given = parser.parse_args()
    sys.exit(main(given.seconds, given.seed, given.only, given.table))
