"""The Dask engine among all faults, in random order: `dask_chaos` runs to its end.

`INTERPLAY_CHAOS_SECONDS` sets for how long (an hour before a release), `INTERPLAY_CHAOS_SEED` draws other faults.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("distributed")

SECONDS = os.environ.get("INTERPLAY_CHAOS_SECONDS", "15")
SEED = os.environ.get("INTERPLAY_CHAOS_SEED", "3")

#: Beyond the time it was told, until each kind of fault has happened and the cluster is closed: on a busy machine new
#: workers take long. A search that hangs ends it sooner.
SECONDS_TO_END = 300.0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills by signals")
def test_faults_in_random_order(tmp_path):
    told = tmp_path / "told.txt"
    with told.open("w") as file:
        chaos = subprocess.Popen(
            [sys.executable, "-m", "dask_chaos", SECONDS, SEED],
            cwd=Path(__file__).parents[1],
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # its workers are ended with it
        )
        try:
            code = chaos.wait(float(SECONDS) + SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(chaos.pid, signal.SIGKILL)
            chaos.wait()
    text = told.read_text(errors="replace")
    assert code == 0, f"seed {SEED}, code {code}:\n{text}"
    assert text.rstrip().endswith("searches"), text
