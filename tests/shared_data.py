"""Where Madelon and the outputs of the R original lie, and the one mark for tests that need them."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
REFERENCE = SHARED / "reference"

#: conftest.py knows this reason: without the folder, even INTERPLAY_REQUIRE_ALL=1 excuses the skip.
NO_DATA = "no reference data beside this checkout"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=NO_DATA)
