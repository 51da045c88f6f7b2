"""Tuples that a screen has left → their tests, adjusted for all tuples of the search; those that are listed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from interplay.ask.tuple_tests.prospects import Asked, PValueCaps
from interplay.base.arrays import IntArray
from interplay.base.progress import Progress, part, show_progress, unfinished
from interplay.infer.interaction.tuple_tests import METHODS, TupleTests, adjust_listed

#: p-values of χ² up to this one are corrected by a bootstrap where there is no exact test, whether or not they could be
#: significant: those of sparse tables can be too small by a factor of ten.
_BOOTSTRAP_BELOW = 1e-3

#: The share of the tests that those of residuals have, where full models follow.
_SHARE_OF_RESIDUALS = 0.1

#: Fewer tests than this are done before a progress bar could be read.
_MANY_TESTS = 1000


class TestsOfScreen:
    """The tests of the tuples that one screen has left.

    Parameters
    ----------
    tested : callable
        Tests tuples, as `TargetTests.tested`.
    tuples : list of (n, k) int64
        Of each discretisation.
    caps : PValueCaps
    seed : int
        Of bootstraps.
    n_samples : int
        Of the whole table.
    is_part : bool
        Whether other shards have tuples too.
    several_ways : bool
        Whether tuples are tested in another way, too.
    """

    __test__ = False  # pytest: no test

    def __init__(
        self,
        tested: Callable[[list[IntArray], Asked], TupleTests],
        tuples: list[IntArray],
        caps: PValueCaps,
        *,
        seed: int,
        n_samples: int,
        is_part: bool = False,
        n_threads: int = 1,
        by_model: Callable[[TupleTests, float, Progress], TupleTests] | None = None,
        several_ways: bool = False,
    ) -> None:
        self._tested, self._tuples, self._caps, self._n_threads = tested, tuples, caps, n_threads
        self._seed, self._n_samples = seed, n_samples
        # Of several discretisations, some may be in other shards.
        self._of_part = is_part and len(tuples) > 1
        self._by_model = by_model
        # A model orders tuples anew, and so does another way to test them.
        is_all = self._of_part or self._caps.is_step_up or by_model is not None or several_ways
        self._n_wanted = None if is_all else self._caps.top

    def adjusted(self, cap: float, progress: Progress) -> TupleTests:
        """Return all tuples with p up to `cap`, adjusted for all that were searched."""
        caps = self._caps
        if self._by_model is not None:
            listed = self._test(self._tuples, 1.0, 0.0, part(progress, 0.0, _SHARE_OF_RESIDUALS))
            told = part(progress, _SHARE_OF_RESIDUALS, 1 - _SHARE_OF_RESIDUALS)
            with unfinished(self._adjust):
                return self._adjust(self._by_model(listed, cap, told))
        bootstrap_below = max(_BOOTSTRAP_BELOW, caps.significant_up_to(), cap if caps.is_default else 0.0)
        found = self._adjust(self._test(self._tuples, cap, bootstrap_below, progress))
        # Where very many are significant, so are p-values that were not thought of.
        rough = found.is_significant(caps.level) & (found.method == METHODS.index("chi2"))
        if rough.any() and bootstrap_below < caps.level and self._n_wanted is not None:
            return self._adjust(self._test(self._tuples, cap, caps.level, progress))
        if rough.any() and bootstrap_below < caps.level:
            again = found.chosen(np.flatnonzero(found.p_value <= caps.level))
            tuples = [again.tuples[again.discretization == d] for d in range(len(self._tuples))]
            rest = found.chosen(np.flatnonzero(found.p_value > caps.level))
            corrected = self._test(tuples, cap, caps.level, progress)
            found = self._adjust(TupleTests.joined([corrected, rest]).by_p_value())
        return found

    def _test(self, tuples: list[IntArray], cap: float, bootstrap_below: float, progress: Progress) -> TupleTests:
        n_tuples = max(sum(map(len, tuples)), 1)
        n_done = 0
        what = f"testing {n_tuples} tuples"
        with show_progress(progress, n_tuples=n_tuples, what=what, min_tuples=_MANY_TESTS) as show:

            def tell(more: int) -> None:
                nonlocal n_done
                n_done += more
                if show is not None:
                    show(n_done)

            asked = Asked(
                max_p=cap,
                bootstrap_below=bootstrap_below,
                seed=self._seed,
                n_samples=self._n_samples,
                n_wanted=self._n_wanted,
                of_part=self._of_part,
                of_each=self._by_model is not None,
                n_threads=self._n_threads,
                tell=tell,
            )
            found = self._tested(tuples, asked)
            tell(n_tuples - n_done)  # a tuple is tested in one of the discretisations
            return found

    def _adjust(self, found: TupleTests) -> TupleTests:
        return found.adjusted(partial(adjust_listed, method=self._caps.method, n_tests=self._caps.n_tests))


def wanted_tuples(found: TupleTests, caps: PValueCaps, *, is_part: bool = False, keeps_all: bool = False) -> TupleTests:
    """Leave out tuples that were found and not asked for.

    Of a part nobody knows yet which are significant in the whole; nor, of several discretisations (`keeps_all`) or
    where larger p-values matter, which of the smallest are needed.
    """
    if caps.top is not None and not (is_part and (caps.is_step_up or keeps_all)):
        return found.chosen(np.arange(min(caps.top, len(found))))
    if caps.max_p is not None or is_part:
        return found
    # Tuples that another test refuses stay, so that the result can say so.
    return found.chosen(np.flatnonzero(found.p_adjusted < caps.level))
