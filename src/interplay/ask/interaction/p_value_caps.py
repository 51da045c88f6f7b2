"""Up to which p-value tuples have to be found, so that those which are significant, or smallest, are all found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from interplay.base.checks import shown
from interplay.infer.interaction.tuple_tests import LISTED_METHODS, TupleTests
from interplay.infer.p_values import R_NAMES

#: Rejections of step-up methods that the first search leaves room for.
_FIRST_REJECTIONS = 200

#: Tuples that a search for the smallest p-values lists at first, if nothing is true, per tuple wanted.
_ROOM_FOR_TOP = 8
_FEWEST_LISTED = 50

#: More tuples than this are not listed by a search that was not asked to, in so many words.
MAX_LISTED = 20_000_000


@dataclass(frozen=True)
class PValueCaps:
    """What is wanted of the tuples of a search.

    Attributes
    ----------
    method : str
        Of adjustment, for `n_tests` tests.
    level : float
        Significance level.
    max_p : float or None
        List what has p up to this.
    top : int or None
        List so many of the smallest.
    """

    method: str
    level: float
    n_tests: int
    max_p: float | None
    top: int | None

    @property
    def is_default(self) -> bool:
        """Whether what is significant is to be listed, and nothing else."""
        return self.max_p is None and self.top is None

    @property
    def is_step_up(self) -> bool:
        """Whether adjusted p-values depend on larger ones."""
        return R_NAMES.get(self.method, self.method) in ("simes-hochberg", "fdr_bh", "fdr_by")

    def check(self) -> None:
        """Refuse a list that nobody could hold."""
        expected = 0.0 if self.max_p is None else self.max_p * self.n_tests
        if expected > MAX_LISTED and self.top is None:
            raise ValueError(
                f"max_p={self.max_p:g} would list about {expected:.3g} of {self.n_tests:.4g} tuples: lower max_p, or "
                "give top"
            )
        if self.top is not None and self.top > MAX_LISTED:
            raise ValueError(f"top must be at most {MAX_LISTED}, not {shown(self.top)}")

    def first(self) -> float:
        """Return the p-value up to which the first search has to list."""
        if self.max_p is not None:
            return self.max_p
        if self.top is not None:
            return min(1.0, max(_ROOM_FOR_TOP * self.top, _FEWEST_LISTED) / self.n_tests)
        return self.significant_up_to()

    def significant_up_to(self, n_rejected: int = 0) -> float:
        """Return the p-value that the method could call significant where so many others are, and a few more.

        Holm's method compares the r-th smallest p-value with level/(m − r + 1): here r leaves room for a tenth of all.
        BH compares it with level·r/m: here r leaves room for some hundred, or four times as many as were found.
        """
        method, m = R_NAMES.get(self.method, self.method), self.n_tests
        if method == "none":
            return self.level
        if method == "bonferroni":
            return self.level / m
        if method in ("fdr_bh", "fdr_by"):
            room = min(m, max(_FIRST_REJECTIONS, 4 * n_rejected))
            harmonic = 1.0
            if method == "fdr_by":
                from interplay.infer.interaction.tuple_tests import harmonic_number

                harmonic = harmonic_number(m)
            return min(self.level, self.level * room / (m * harmonic))
        return self.level / max(m - max(m // 10, 4 * n_rejected), 1)

    def following(self, cap: float, found: TupleTests, *, is_part: bool = False) -> float | None:
        """Return the cap of another search, where one up to `cap` may have left out what is wanted; else None.

        `found` are all tuples with p ≤ `cap`, adjusted. A part of a search goes up to the cap that all parts have.
        """
        if self.max_p is not None or (is_part and self.top is None):
            return None
        if self.top is not None:
            n_found = int((found.p_value <= cap).sum())
            return min(1.0, 16 * cap) if n_found < min(self.top, self.n_tests) and cap < 1 else None
        method = R_NAMES.get(self.method, self.method)
        if method in ("none", "bonferroni"):
            return None
        n_significant = int(found.is_significant(self.level).sum())
        if method in ("fdr_bh", "fdr_by"):
            wider = self.significant_up_to(len(found))
            # What is listed by chance is a share `level` of the room that was left.
            return wider if wider > cap and 4 * len(found) >= self.n_tests * cap / self.level else None
        wider = self.significant_up_to(n_significant)
        return wider if wider > cap and n_significant == len(found) else None


def check_listed_method(p_adjust: Any) -> str:
    """Return a method of adjustment that needs only the smallest p-values, or say which do."""
    if isinstance(p_adjust, str) and p_adjust in ("hommel", "sidak", "holm-sidak", "fdr_tsbh", "fdr_tsbky", "fdr_gbs"):
        raise ValueError(
            f"p_adjust={p_adjust!r} needs the p-values of all tuples, also of those that are not listed: use one of "
            f"{', '.join(repr(name) for name in LISTED_METHODS[:7])}"
        )
    from interplay.base.checks import check_choice

    return check_choice("p_adjust", p_adjust, LISTED_METHODS)


#: What takes the place of methods that need the p-values of all tuples, where only some of the tuples are tested.
_IN_PLACE = {"hommel": "holm", "holm-sidak": "holm", "sidak": "bonferroni"}


def listed_method(p_adjust: str) -> str:
    """Return the method for some tuples of a search: the same, or one that is no less strict."""
    if p_adjust in LISTED_METHODS:
        return p_adjust
    return _IN_PLACE.get(p_adjust, "BH")
