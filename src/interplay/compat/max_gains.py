"""Maximum gains under the older package's names, with its rules for the discretisation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arguments import described_by, taken_by
from interplay.base.arrays import MAX_LEVELS, FloatArray
from interplay.base.checks import check_int, check_list, check_real
from interplay.base.planes import DiscreteCodes
from interplay.base.tuples import MaxGains
from interplay.compat.codes import COMPAT_ARGUMENTS, CUT_DATA, DISCRETE_DATA, OF_MAXIMA, check_seed, range_for_test
from interplay.data.codes.coded import code_comparison
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.classes import decision_classes
from interplay.data.study.table import Table, as_table
from interplay.search.engines.choice import SearchWork, check_engine, choose_engine
from interplay.search.plan import prepare_search
from interplay.search.settings import SearchSettings, check_search_settings
from interplay.search.tiles import make_tuple_tiles

#: Largest number of cells of a tuple's table; every thread holds one table. The older package allows a quarter of this,
#: 16 levels in 5D.
_MAX_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class ComputeMaxIGResult:
    """Maximum gains, and the tuples they were found in.

    Attributes
    ----------
    max_igs : (n_vars,) float64
        In bits times samples; −inf for a variable in no tuple.
    max_igs_contrast : (n_contrast,) float64 or None
    tuples : (n_vars, dimensions) int32 or None
        Variables numbered from 0, ascending; −1 for a variable in no tuple. None unless asked for.
    discretization_nrs : (n_vars,) int32 or None
        From 0; −1 for a variable in no tuple. None unless asked for.
    """

    max_igs: FloatArray
    max_igs_contrast: FloatArray | None
    tuples: npt.NDArray[np.int32] | None
    discretization_nrs: npt.NDArray[np.int32] | None


@described_by(COMPAT_ARGUMENTS | CUT_DATA | OF_MAXIMA)
def compute_max_ig(
    data: Any,
    decision: Any,
    contrast_data: Any = None,
    dimensions: int = 1,
    divisions: int = 1,
    discretizations: int = 1,
    seed: int | None = None,
    range_: float | None = None,
    pc_xi: float = 0.25,
    return_tuples: bool = False,
    interesting_vars: Iterable[int] | None = None,
    require_all_vars: bool = False,
    use_CUDA: bool = False,
) -> ComputeMaxIGResult:
    """Find the maximum information gain of every variable.

    In new scripts, use `interplay.max_information_gain` with ``discrete="none"``.

    Parameters
    ----------
    ...

    Returns
    -------
    ComputeMaxIGResult
        ``.max_igs``, ``.max_igs_contrast``, ``.tuples``, ``.discretization_nrs``

    Examples
    --------
    >>> import numpy as np
    >>> from interplay import compat as mdfs
    >>> data = np.random.default_rng(0).normal(size=(400, 6))
    >>> decision = (data[:, 1] > 0) ^ (data[:, 4] > 0)
    >>> found = mdfs.compute_max_ig(data, decision, dimensions=2, range_=0, return_tuples=True)
    >>> np.flatnonzero(found.max_igs > 100)
    array([1, 4])
    >>> found.tuples[4]
    array([1, 4], dtype=int32)
    """
    arguments = dict(locals())
    table = as_table(data)
    classes = decision_classes(decision, n_samples=table.n_samples, decision="classes")
    settings = search_settings(table, **taken_by(search_settings, arguments))
    gains = searched_gains(
        Comparison("all classes", table, classes),
        settings,
        contrast=_contrast_table(contrast_data, table.n_samples),
        **asked_for_tuples(table, interesting_vars, require_all_vars, settings.dimensions),
    )
    return _result(gains, has_contrast=contrast_data is not None, return_tuples=return_tuples)


def searched_gains(
    comparison: Comparison, settings: SearchSettings, *, contrast: Table | None, **options: Any
) -> MaxGains:
    """Search all tuples on the engine that "auto" chooses; `options` as in `prepare_search`."""
    choice = check_engine()
    coded = code_comparison(comparison, settings, n_threads=choice.n_threads)
    if contrast is not None:
        coded.add_contrast(contrast, settings, sources=None)
    (gains,) = prepare_search(coded, settings, choice, **options).run()
    return gains


def search_settings(
    table: Table,
    *,
    dimensions: int,
    divisions: int,
    discretizations: int,
    seed: int | None,
    range_: float | None,
    pc_xi: float,
) -> SearchSettings:
    """Check the settings of a search, and fill in the older package's defaults."""
    if range_ is None and discretizations == 1:
        range_ = range_for_test(table.n_samples, dimensions, divisions)
    return check_search_settings(
        table,
        dimensions=dimensions,
        divisions=divisions,
        discretizations=discretizations,
        range_=range_,
        pseudocount=check_real("pc_xi", pc_xi, low=0.0),
        discrete="none",
        missing="error",
        random_state=check_seed(seed),
    )


@described_by(COMPAT_ARGUMENTS | DISCRETE_DATA | OF_MAXIMA)
def compute_max_ig_discrete(
    data: Any,
    decision: Any,
    contrast_data: Any = None,
    dimensions: int = 1,
    pc_xi: float = 0.25,
    return_tuples: bool = False,
    interesting_vars: Iterable[int] | None = None,
    require_all_vars: bool = False,
) -> ComputeMaxIGResult:
    """Find the maximum information gain of every variable, for discrete variables.

    In new scripts, use `interplay.max_information_gain` with ``discrete="all"``, where every column has its own number
    of levels. Here all columns have the levels that any of them has, so that all gains have the same degrees of
    freedom.

    Parameters
    ----------
    ...

    Returns
    -------
    ComputeMaxIGResult
        ``.max_igs``, ``.max_igs_contrast``, ``.tuples``, ``.discretization_nrs``

    Examples
    --------
    >>> import numpy as np
    >>> from interplay import compat as mdfs
    >>> data = np.random.default_rng(0).integers(0, 2, size=(400, 6))
    >>> found = mdfs.compute_max_ig_discrete(data, data[:, 1] ^ data[:, 4], dimensions=2)
    >>> np.flatnonzero(found.max_igs > 100)
    array([1, 4])
    """
    table = as_table(data)
    classes = decision_classes(decision, n_samples=table.n_samples, decision="classes")
    dimensions = check_int("dimensions", dimensions, low=1, high=table.n_vars)
    pc_xi = check_real("pc_xi", pc_xi, low=0.0)
    contrast = _contrast_table(contrast_data, table.n_samples)
    parts = codes_of_same_levels([table] if contrast is None else [table, contrast], dimensions)
    n_levels = np.concatenate([part.n_levels for part in parts])
    family = {
        "n_vars": table.n_vars,
        "dimensions": dimensions,
        **asked_for_tuples(table, interesting_vars, require_all_vars, dimensions),
    }
    choice = check_engine()
    engine = choose_engine(choice, SearchWork.of(n_levels, n_samples=table.n_samples, **family))
    gains = engine.max_gains(
        make_bit_planes(parts, classes, n_jobs=choice.n_threads),
        make_tuple_tiles(n_levels, **family, **vars(engine.tile_shape(dimensions))),
        pseudocount=pc_xi,
    )
    return _result(gains, has_contrast=contrast_data is not None, return_tuples=return_tuples)


def codes_of_same_levels(tables: list[Table], dimensions: int) -> list[DiscreteCodes]:
    """Code all tables by the distinct values of all of them; refuse tuples whose tables would not fit in memory."""
    values = [table.block(0, table.n_vars) for table in tables]
    levels = np.unique(np.concatenate([np.unique(part) for part in values]))
    if levels.dtype.kind == "f" and np.isnan(levels[-1]):
        raise ValueError("data or contrast_data has missing values: fill them in, or make them a level")
    if len(levels) > MAX_LEVELS:
        raise ValueError(f"data has {len(levels)} distinct values, more than {MAX_LEVELS}: use compute_max_ig")
    # Tables with a single value count as two levels, one of them empty.
    n_levels = max(len(levels), 2)
    n_cells = n_levels**dimensions
    if n_cells > _MAX_CELLS:
        raise ValueError(
            f"dimensions={dimensions} with {n_levels} levels gives tables of {n_cells:.4g} cells, more than "
            f"{_MAX_CELLS:.4g}: lower dimensions or merge levels"
        )
    return [
        DiscreteCodes(np.searchsorted(levels, part).astype(np.uint8), np.full(len(part), n_levels, dtype=np.int64))
        for part in values
    ]


def _contrast_table(contrast_data: Any, n_samples: int) -> Table | None:
    if contrast_data is None:
        return None
    contrast = as_table(contrast_data)
    if contrast.n_samples != n_samples:
        raise ValueError(
            f"contrast_data has {contrast.n_samples} samples and data has {n_samples}: they must be the same"
        )
    return contrast


def asked_for_tuples(
    table: Table, interesting_vars: Iterable[int] | None, require_all_vars: bool, dimensions: int
) -> dict[str, Any]:
    """Return `asked_for`, a mask of the interesting variables or None for all, and `require`, as searches take them."""
    mask = np.zeros(table.n_vars, dtype=bool)
    if interesting_vars is not None:
        mask[table.numbers_of(check_list("interesting_vars", interesting_vars), "interesting_vars")] = True
    n_asked_for = int(mask.sum())
    if require_all_vars and 0 < n_asked_for < dimensions:
        raise ValueError(
            f"interesting_vars must hold at least {dimensions} different variables for dimensions={dimensions} and "
            f"require_all_vars=True, not {n_asked_for}"
        )
    return {"asked_for": mask if n_asked_for else None, "require": "all" if require_all_vars else "any"}


def _result(gains: MaxGains, *, has_contrast: bool, return_tuples: bool) -> ComputeMaxIGResult:
    return ComputeMaxIGResult(
        max_igs=gains.gain,
        max_igs_contrast=gains.contrast_gain if has_contrast else None,
        tuples=gains.tuples.astype(np.int32) if return_tuples else None,
        discretization_nrs=gains.discretization.astype(np.int32) if return_tuples else None,
    )
