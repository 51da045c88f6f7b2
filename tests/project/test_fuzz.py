"""A second of every target of `make fuzz`."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

from fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_random_input_is_refused_or_taken(name):
    target: Callable[[], None] = TARGETS[name]
    few = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    few(target)()
