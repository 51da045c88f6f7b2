from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

def simd_levels() -> list[str]: ...
def fill_information_tables(
    class_sizes: npt.NDArray[np.int64],
    pseudocount: float,
    multiplicities: npt.NDArray[np.int64],
    max_cells: int,
    coefficient_of_size: npt.NDArray[np.int64],
    values: npt.NDArray[np.int64],
) -> float: ...
def int_products(
    rows: npt.NDArray[np.int8], columns: npt.NDArray[np.uint8], simd_level: str, products: npt.NDArray[np.float32]
) -> bool: ...
def sum_model(planes: Planes, pseudocount: float) -> tuple[float, float, float, float, int]: ...
def pack_bit_planes(
    codes: npt.NDArray[np.uint8],
    sample_order: npt.NDArray[np.int64],
    class_sizes: npt.NDArray[np.int64],
    class_word_start: npt.NDArray[np.int64],
    plane_start: npt.NDArray[np.int64],
    first_row: int,
    last_row: int,
    words: npt.NDArray[np.uint64],
) -> None: ...
def transpose(table: npt.NDArray[Any], by_column: npt.NDArray[Any]) -> None: ...
def pack_value_planes(
    values: npt.NDArray[Any],
    thresholds: npt.NDArray[Any],
    sample_order: npt.NDArray[np.int64],
    class_sizes: npt.NDArray[np.int64],
    class_word_start: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
) -> None: ...
def few_values(values: npt.NDArray[Any], found: npt.NDArray[Any], n_found: npt.NDArray[np.int64]) -> None: ...
def rank_values(values: npt.NDArray[Any], ranks: npt.NDArray[np.int64], found: npt.NDArray[Any]) -> bool: ...

class Planes:
    def __init__(
        self,
        words: npt.NDArray[np.uint64],
        plane_start: npt.NDArray[np.int64],
        n_levels: npt.NDArray[np.int64],
        class_word_start: npt.NDArray[np.int64],
        class_sizes: npt.NDArray[np.int64],
        n_vars: int,
        scores: npt.NDArray[np.int32],
        samples: npt.NDArray[np.uint64],
    ) -> None: ...

class Tiles:
    def __init__(
        self,
        n_levels: npt.NDArray[np.int64],
        n_vars: int,
        order: npt.NDArray[np.int64],
        block_start: npt.NDArray[np.int64],
        middle_start: npt.NDArray[np.int64],
        lane_start: npt.NDArray[np.int64],
        tiles: npt.NDArray[np.int32],
        partner_cells: npt.NDArray[np.int64],
    ) -> None: ...

class Job:
    def __init__(self, n_threads: int, simd_level: str, direct_only: bool) -> None: ...

def search_max_gains(
    planes: Planes,
    tiles: Tiles,
    job: Job,
    *,
    pseudocount: float,
    discretization: int,
    gain: npt.NDArray[np.float64],
    gain_discretization: npt.NDArray[np.int64],
    gain_tuples: npt.NDArray[np.int64],
    searched_by: npt.NDArray[np.uint8],
    on_tick: Callable[[int], None] | None,
) -> tuple[int, int]: ...
def list_tuples(
    planes: Planes,
    tiles: Tiles,
    job: Job,
    *,
    pseudocount: float,
    min_value: npt.NDArray[np.float64],
    coefficient_of_size: npt.NDArray[np.int64],
    with_decision: bool,
    max_rows: int,
    on_tick: Callable[[int], None] | None,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...
def screen_tuples(
    planes: Planes,
    tiles: Tiles,
    job: Job,
    *,
    pseudocount: float,
    min_gain: npt.NDArray[np.float64],
    has_stratum: bool,
    max_rows: int,
    searched_by: npt.NDArray[np.uint8],
    on_tick: Callable[[int], None] | None,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...
def count_tables(planes: Planes, tuples: npt.NDArray[np.int64], simd_level: str) -> npt.NDArray[np.int64]: ...

LANES: int
TRIPLE_BLOCK: int
SEARCHERS: tuple[str, ...]

def max_block_size(dimensions: int) -> int: ...
def tile_searchers(
    tiles: Tiles, class_sizes: npt.NDArray[np.int64], pseudocount: float, of_numbers: bool
) -> npt.NDArray[np.uint8]: ...
def tiles_too_large(
    tiles: Tiles, class_sizes: npt.NDArray[np.int64], pseudocount: float, of_numbers: bool
) -> tuple[bool, float]: ...
def tile_costs(
    tiles: Tiles, class_sizes: npt.NDArray[np.int64], pseudocount: float, of_numbers: bool
) -> npt.NDArray[np.float64]: ...
def fit_tables(
    counts: npt.NDArray[np.int64],
    shape: npt.NDArray[np.int64],
    tolerance: float,
    max_sweeps: int,
    simd_level: str,
    g2: npt.NDArray[np.float64],
    is_complete: npt.NDArray[np.bool_],
) -> None: ...
def draw_tables(
    seeds: npt.NDArray[np.uint32],
    cell_sizes: npt.NDArray[np.int64],
    chances: npt.NDArray[np.float64],
    tables: npt.NDArray[np.int64],
) -> None: ...
