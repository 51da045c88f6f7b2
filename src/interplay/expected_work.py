"""How much a selection will take; see `interplay.cli.expected_work`."""

from interplay.cli.expected_work import ExpectedWork, expected_work

__all__ = ["ExpectedWork", "expected_work"]
