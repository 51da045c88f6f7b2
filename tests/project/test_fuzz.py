"""Some seconds of every target of `make fuzz`; searches against plain loops, in every way to run them, take more."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

from fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_random_input_is_refused_or_taken(name):
    target: Callable[[], None] = TARGETS[name]
    n_examples = 60 if name in ("every_option", "every_way") else 12
    few = settings(max_examples=n_examples, deadline=None, suppress_health_check=list(HealthCheck))
    few(target)()
