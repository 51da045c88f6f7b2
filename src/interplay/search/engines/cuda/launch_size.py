"""By how much launches grow and shrink: the only place with this rule. Each strategy chooses its first launch."""

from __future__ import annotations

#: A launch should not take longer than this, in seconds: Ctrl-C and progress wait for it.
LAUNCH_SECONDS = 0.2


class LaunchSize:
    """The size of the next launch, in runs, batches or strips, by the time and the survivors of the launches before.

    Attributes
    ----------
    value : int
        At least 1.

    Examples
    --------
    >>> size = LaunchSize(100)
    >>> size.finished(0.01, n_found=5, capacity=1000)
    >>> size.value
    400
    >>> size.overflowed(400)
    >>> size.value
    100
    """

    def __init__(self, first: int) -> None:
        self.value = max(1, first)

    def overflowed(self, launched: int) -> None:
        """Take a fourth of a launch whose survivors did not fit; maxima have risen meanwhile, so fewer survive."""
        self.value = max(1, launched // 4)

    def finished(self, seconds: float, *, n_found: int, capacity: int) -> None:
        """Grow while launches are short and leave room for more survivors; shrink where they are not, or do not."""
        if seconds < LAUNCH_SECONDS / 8 and n_found < capacity / 8:
            self.value *= 4
        elif seconds < LAUNCH_SECONDS / 2 and n_found < capacity / 4:
            self.value *= 2
        elif seconds > LAUNCH_SECONDS * 1.5 or n_found > capacity / 2:
            self.value = max(1, int(self.value * min(LAUNCH_SECONDS / max(seconds, LAUNCH_SECONDS), 0.5)))
