"""A comparison → the tests of its tuples: of tables of counts for classes, of sums in cells for scores.

What asks here need not know the kind of the outcome: screens, lists, relabelings, doubts about many tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from interplay.ask.tuple_tests.class_tests import ClassTests
from interplay.ask.tuple_tests.number_tests import NumberTests
from interplay.ask.tuple_tests.prospects import Asked, Bar
from interplay.ask.tuple_tests.screen import Survivors
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.planes import BitPlanes
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.tuple_counts import TupleCounts
from interplay.data.study.outcomes.targets import ScoreTarget, Target
from interplay.infer.interaction.effect import Effect, LargestResidual
from interplay.infer.interaction.tuple_tests import TupleTests


class Ranker(Protocol):
    """The p-values of the tuples of one screen, as logarithms: those of χ² at effective degrees of freedom, or of F."""

    @property
    def min_gain(self) -> FloatArray:
        """What engines ask of every member, see `Screen`."""

    def log_p(self, rows: IntArray | None, tuples: IntArray, bar: Bar) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield those of the tuples that may come up to the bar, and their ln p.

        `rows` are those of the planes, None of tuples that `further` has yielded.
        """

    def further(self, *, asked_for: BoolArray | None, require: str) -> Iterator[IntArray]:
        """Yield tuples that engines do not list, and that may come up to the bar."""


class TargetTests(Protocol):
    """The tests of the tuples of a comparison, in all its discretisations."""

    def of_labels(self, target: Target) -> TargetTests:
        """Return the tests of the same samples with other labels; what does not depend on these is shared."""

    def gains(self, dimensions: int, max_p: float) -> FloatArray:
        """Return the gain in bits that engines ask of every member for p ≤ `max_p`, by degrees of freedom."""

    def survivors(
        self, dimensions: int, max_p: float, *, max_listed: int, n_threads: int, with_products: bool = False
    ) -> Survivors:
        """Return who keeps the tuples of a screen for p ≤ `max_p`, of their levels or, if asked for, of products.

        Products are those of variables of few values, beside an effect of each level.
        """

    def ranker(self, d: int, planes: BitPlanes, dimensions: int, max_p: float) -> Ranker:
        """Return the p-values of the tuples of a screen of these planes, as far as they are ≤ `max_p`."""

    def log_p(self, d: int, tuples: IntArray) -> FloatArray:
        """Return ln p of χ², or of F, of tuples in one discretisation, (n,)."""

    def tested(self, tuples: Sequence[IntArray], asked: Asked) -> TupleTests:
        """Test the tuples of each discretisation, and return those with p ≤ `asked.max_p`, by p-value.

        A tuple is tested in one of its discretisations, where χ² or F gives it the smallest p-value, which is
        multiplied by their number.
        """

    def counts_of(self, members: IntArray, d: int, *, run: int = 0) -> TupleCounts | None:
        """Return the outcome in the cells of one tuple; None where these are too many to be looked at."""

    def in_cell(self, members: IntArray, d: int, place: LargestResidual) -> tuple[FloatArray, Effect]:
        """Return the residual of a cell of one tuple, (1,), and its effect; the value of `place` is not used."""

    def is_sparse(self, levels: list[int], *, least: bool) -> bool:
        """Say whether tuples of so many levels have too few samples; with `least`, for any test of fewest levels."""

    def sparse_in_words(self, levels: list[int]) -> str:
        """Say what tuples of so many levels lack."""


def target_tests(
    coded: CodedComparison, *, omit_missing: bool = False, outcome: Target | None = None, coding: str = "levels"
) -> TargetTests:
    """Return the tests of the tuples of a comparison; of another `outcome`, if given.

    With `omit_missing`, samples that lack a value of a member are left out of the test of the tuple. `coding` is that
    of an outcome of numbers: "levels", or "dosage" for products of one degree of freedom.
    """
    target = coded.comparison.outcome if outcome is None else outcome
    if isinstance(target, ScoreTarget):
        return NumberTests(coded, target, omit_missing=omit_missing, coding=coding)
    return ClassTests(coded, target, omit_missing=omit_missing)


def kept_counts(
    tests: TargetTests, tuples: Iterable[IntArray], discretizations: Iterable[int], *, run: int = 0
) -> Iterator[TupleCounts]:
    """Yield the cells of tuples, each in its discretisation, that are few enough to be looked at."""
    for members, d in zip(tuples, discretizations, strict=True):
        if (counts := tests.counts_of(members, d, run=run)) is not None:
            yield counts
