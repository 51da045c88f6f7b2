"""An outcome + rank scores of its table → tests of single variables, and the strongest products."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np

from interplay.ask.selection.variable_tests import VariableTests
from interplay.base.arrays import FloatArray
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.data.codes.rank_scores import RankScores
from interplay.files.types import Check
from interplay.infer.given_test import choose_strong
from interplay.infer.product_maxima import ProductMaxima, is_small_enough


@dataclass(frozen=True, eq=False)
class ScoreTests:
    """What rank scores say about each variable."""

    #: (n_vars,): natural logarithms of p-values, NaN where a test does not apply. A shift between classes, or the
    #: correlation of a number outcome with ranks.
    rank: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: A difference in spread, or the correlation with squares (a U shape).
    spread: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: Differences between the eighths of a variable: any shape.
    shape: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: Of a number outcome: the correlation of its distance from the middle with ranks.
    noise: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: As `rank`, given other variables.
    given: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: None where pairs were not asked for, are too many, or have no column that was cut.
    product: ProductMaxima | None


def run_score_tests(
    scores: RankScores, tests: VariableTests, *, names: Collection[str], contrast: RankScores | None = None
) -> ScoreTests:
    """Test every variable by its scores, as far as the tests in `names` need it.

    `contrast` are the scores of the contrast variables, for products.
    """
    coder = scores.coder
    n_vars, n_samples = coder.table.n_vars, coder.table.n_samples
    blocks = list(scores.blocks())
    sources = [scores, *([contrast] if contrast is not None and tests.needs_contrast else [])]
    n_contrast = sum(source.coder.table.n_vars for source in sources[1:])
    wants_product = (
        "product 2" in names and not coder.is_discrete.all() and is_small_enough(n_vars, n_contrast, n_samples)
    )
    nothing = np.full(n_vars, np.nan)
    if not ({"rank", "given"} & set(names) or wants_product):
        return ScoreTests(nothing, nothing, nothing, nothing, nothing, None)
    alone = np.hstack(map_in_threads(partial(tests.alone, scores), blocks, coder.n_jobs))
    rank = alone[0]
    strong = choose_strong(rank, n_samples)
    strong_scores = np.array([scores.read_normal(slice(v, v + 1))[0] for v in strong.tolist()])
    strong_scores = strong_scores.reshape(len(strong), n_samples)
    with one_blas_thread():
        given_others = tests.given(strong_scores, scores.strata)
        given = nothing
        if "given" in names:
            parts_given = map_in_threads(
                lambda rows: given_others.log_p(scores.read_normal(rows)), blocks, coder.n_jobs
            )
            given = np.where(np.isnan(rank), np.nan, np.concatenate(parts_given))
            given[strong[given_others.is_kept]] = given_others.log_p_of_kept()
    spread, shape, noise = alone[1:]
    product = tests.products(sources, given_others) if wants_product else None
    return ScoreTests(rank, spread, shape, noise, given, product)
