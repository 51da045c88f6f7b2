"""The one mark for tests that need a GPU, and engines to run a test with."""

import pytest

from interplay.search.engines.cuda import why_no_cuda

#: conftest.py knows this reason: even INTERPLAY_REQUIRE_ALL=1 excuses the skip.
needs_gpu = [
    pytest.mark.gpu,
    pytest.mark.skipif(why_no_cuda() is not None, reason=f"no CUDA device: {why_no_cuda()}"),
]

#: For pytest.mark.parametrize("engine", …).
ENGINES = ["cpu", pytest.param("cuda", marks=needs_gpu)]
