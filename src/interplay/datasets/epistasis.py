"""make_epistasis: genotypes of which some tuples act together on classes, a number or times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_choice, check_int, check_real, shown
from interplay.base.seeds import resolve_seed
from interplay.datasets.penetrance import HeritabilityError, cell_shares, effect_table, genotype_shares

OUTCOMES = ("classes", "number", "times")

#: Variance of the logarithm of an exponential time.
_LOG_TIME_VARIANCE = pi**2 / 6

#: Members of a tuple: of more, a table has more cells than any study has samples.
MAX_DIMENSIONS = 8


@dataclass(frozen=True)
class EpistasisTruth:
    """The tuples of `make_epistasis` that act together, and their effects.

    Attributes
    ----------
    tuples : (n_models, dimensions) int64
        Columns of each tuple, ascending.
    effects : tuple of arrays
        The effect of each cell of each tuple, with an axis for each member and mean 0 under the genotypes' shares: of
        classes, what the cell adds to the probability of class 1; of a number, to its mean; of times, to the log
        hazard.
    penetrance : tuple of arrays
        For classes: the probability of class 1 in each cell of each tuple, averaged over the other tuples. Empty for
        other outcomes.
    shares : tuple of arrays
        Shares of the genotypes of each member of each tuple, (dimensions, ploidy + 1).
    minor_allele_frequency : (n_vars,) float64
        Of each column.
    block : (n_vars,) int64
        The block of linked columns that each column is in.
    """

    tuples: IntArray
    effects: tuple[FloatArray, ...]
    penetrance: tuple[FloatArray, ...]
    shares: tuple[FloatArray, ...]
    minor_allele_frequency: FloatArray
    block: IntArray

    @property
    def relevant(self) -> IntArray:
        """Columns of all tuples, ascending."""
        return np.sort(self.tuples.ravel())


def make_epistasis(
    n_samples: int = 1000,
    n_vars: int = 100,
    *,
    dimensions: int = 2,
    n_models: int = 1,
    outcome: str = "classes",
    model: Any = "random",
    main_share: float | None = 0.0,
    heritability: float = 0.1,
    prevalence: float = 0.5,
    cases: float | None = None,
    censored: float = 0.3,
    minor_allele_frequency: float | tuple[float, float] = (0.1, 0.5),
    minor_allele_frequencies: Sequence[float] | None = None,
    ploidy: int = 2,
    block_size: int = 1,
    linkage: float = 0.0,
    random_state: Any = 0,
) -> tuple[Genotypes, npt.NDArray[Any], EpistasisTruth]:
    """Make genotypes of which some tuples act together, pure or with effects of their parts, among noise.

    Effects of the cells of a tuple are a random table, a named model or a table of your own. By default they are pure
    and strict: given any proper subset of the members, the outcome has the mean that it has overall. These margins are
    flat by construction, to machine precision. Members of different tuples, and different blocks, are independent.

    Parameters
    ----------
    n_samples, n_vars : int
        Shape of the table.
    dimensions : int
        Members of each tuple, 2 to 8.
    n_models : int
        Number of tuples. They have no member in common, and their effects add up.
    outcome : {"classes", "number", "times"}
        Classes 0 and 1; a number of variance 1 with normal noise; or exponential times, of which some are censored.
    model : str or array
        "random": a new table for each tuple. "xor": an odd number of members has a minor allele. "dominant": each
        member has one. "recessive": each member has no other. "multiplicative": the product of the numbers of minor
        alleles. An array with an axis of ploidy + 1 cells for each member is scaled to the heritability.
    main_share : float or None
        Share of the heritability that belongs to effects of proper subsets of the members. 0 makes any model pure:
        exactly flat margins. None leaves the model as it is.
    heritability : float
        Share of the variance that each tuple explains: of classes p(1 − p), of the number 1, of times that of their
        logarithms, before censoring.
    prevalence : float
        For classes: the probability of class 1.
    cases : float, optional
        For classes: share of samples of class 1, exactly, as in a case-control study. By default `prevalence`, with
        classes drawn sample by sample.
    censored : float
        For times: share that is censored, about, at times independent of all else.
    minor_allele_frequency : float or (float, float)
        Of all columns, or bounds between which that of each block is drawn. At most 0.5.
    minor_allele_frequencies : sequence of float, optional
        Those of the `dimensions` members of a tuple, the same in each tuple.
    ploidy : int
        Alleles of a genotype: 2 gives levels 0, 1, 2; 1 gives levels 0, 1.
    block_size : int
        Number of neighbouring columns in a block of linked ones. Each member of a tuple is in a block of its own.
    linkage : float
        Correlation of the alleles of neighbours in a block, 0 to 1.
    random_state : int, None, RandomState or Generator
        The same number gives the same table everywhere; None gives another one each time.

    Returns
    -------
    X : (n_samples, n_vars) int8
        Number of minor alleles.
    y : (n_samples,) array
        uint8 classes, float64 numbers, or a structured array with the fields event and time.
    truth : EpistasisTruth

    Raises
    ------
    ValueError
        For classes, where no table can have the heritability: probabilities would leave 0 … 1.

    Examples
    --------
    A pure pair: the probability of class 1 given either member is that of all samples, 0.4.

    >>> X, y, truth = make_epistasis(500, 50, prevalence=0.4, minor_allele_frequency=0.3, random_state=1)
    >>> truth.tuples.tolist(), X.shape
    ([[5, 29]], (500, 50))
    >>> (truth.penetrance[0] @ truth.shares[0][1]).round(12).tolist()
    [0.4, 0.4, 0.4]
    """
    n_samples = check_int("n_samples", n_samples, low=2)
    dimensions = check_int("dimensions", dimensions, low=2, high=MAX_DIMENSIONS)
    n_models = check_int("n_models", n_models, low=1)
    ploidy = check_int("ploidy", ploidy, low=1, high=8)
    block_size = check_int("block_size", block_size, low=1)
    n_vars = check_int("n_vars", n_vars, low=1)
    n_blocks = -(-n_vars // block_size)
    if n_blocks < dimensions * n_models:
        raise ValueError(
            f"n_vars={n_vars} makes {n_blocks} blocks of block_size={block_size}, and each of dimensions × n_models = "
            f"{dimensions * n_models} members needs one of its own: raise n_vars"
        )
    check_choice("outcome", outcome, OUTCOMES)
    main_share = None if main_share is None else check_real("main_share", main_share, low=0, high=1)
    heritability = check_real("heritability", heritability, low=0, high=1, high_open=True)
    if n_models * heritability >= 1 and outcome != "classes":
        raise ValueError(
            f"heritability={heritability:g} of each of n_models={n_models} adds up to 1 or more: lower one of them"
        )
    prevalence = check_real("prevalence", prevalence, low=0, high=1, low_open=True, high_open=True)
    cases = None if cases is None else check_real("cases", cases, low=0, high=1, low_open=True, high_open=True)
    censored = check_real("censored", censored, low=0, high=1, high_open=True)
    low_q, high_q = _frequency_bounds(minor_allele_frequency)
    of_members = _member_frequencies(minor_allele_frequencies, dimensions)
    linkage = check_real("linkage", linkage, low=0, high=1)

    # RandomState and not Generator: its streams are frozen, so a seed means the same table in every numpy.
    rng = np.random.RandomState(resolve_seed(random_state))
    block = np.arange(n_vars) // block_size
    of_block = rng.uniform(low_q, high_q, size=n_blocks)
    own_blocks = np.sort(rng.permutation(n_blocks)[: dimensions * n_models])
    # Which of these blocks belong together is drawn as well; members of a tuple are in ascending order.
    own_blocks = np.sort(rng.permutation(own_blocks).reshape(n_models, dimensions), axis=1)
    if of_members is not None:
        of_block[own_blocks] = of_members
    tuples = np.stack([[rng.choice(np.flatnonzero(block == b)) for b in row] for row in own_blocks])
    shares = tuple(np.stack([genotype_shares(q, ploidy) for q in of_block[row]]) for row in own_blocks)

    wanted, low, high = _scale(outcome, heritability, prevalence, n_models)
    try:
        effects = tuple(
            effect_table(model, list(one), wanted=wanted, main_share=main_share, low=low, high=high, rng=rng)
            if heritability
            else np.zeros((ploidy + 1,) * dimensions)
            for one in shares
        )
    except HeritabilityError as error:
        raise ValueError(
            f"heritability={heritability:g} cannot be had with this model, prevalence={prevalence:g} and n_models="
            f"{n_models}, as probabilities would leave 0 … 1: at most about {error.share * heritability:.3g} can, or "
            "raise the minor allele frequencies"
        ) from None

    if outcome == "classes":
        cells, y = _classes(n_samples, effects, shares, prevalence, cases, rng)
    else:
        cells = [_drawn_cells(cell_shares(list(share)).ravel(), n_samples, rng) for share in shares]
        signal = np.sum([table.ravel()[of] for table, of in zip(effects, cells, strict=True)], axis=0)
        noise = np.sqrt(1 - n_models * heritability)
        y = _times(signal, censored, rng) if outcome == "times" else signal + noise * rng.standard_normal(n_samples)
    members = [np.unravel_index(of_tuple, (ploidy + 1,) * dimensions) for of_tuple in cells]
    given = {
        int(v): codes.astype(np.int8)
        for row, of_tuple in zip(tuples, members, strict=True)
        for v, codes in zip(row, of_tuple, strict=True)
    }
    X = linked_genotypes(
        given,
        n_samples=n_samples,
        block=block,
        minor_allele_frequency=of_block[block],
        ploidy=ploidy,
        linkage=linkage,
        rng=rng,
    )
    penetrance = tuple(prevalence + table for table in effects) if outcome == "classes" else ()
    return np.ascontiguousarray(X), y, EpistasisTruth(tuples, effects, penetrance, shares, of_block[block], block)


def _scale(outcome: str, heritability: float, prevalence: float, n_models: int) -> tuple[float, float, float]:
    """Return the variance of each table and its bounds: those of several tables share the room of probabilities."""
    if outcome == "classes":
        wanted = heritability * prevalence * (1 - prevalence)
        return wanted, -prevalence / n_models, (1 - prevalence) / n_models
    rest = 1 - n_models * heritability
    wanted = heritability if outcome == "number" else _LOG_TIME_VARIANCE * heritability / rest
    return wanted, -np.inf, np.inf


def _classes(
    n_samples: int,
    effects: tuple[FloatArray, ...],
    shares: tuple[FloatArray, ...],
    prevalence: float,
    cases: float | None,
    rng: np.random.RandomState,
) -> tuple[list[IntArray], npt.NDArray[Any]]:
    """Draw classes, then cells given the class.

    P(cells | class 1) is Π shares · (1 + Σ effects/prevalence): the mean, over tuples, of what the cells would be if
    one tuple had all of the effect, n_models times as large. So one tuple is drawn for each sample.
    """
    n_models = len(effects)
    if cases is None:
        y = (rng.random_sample(n_samples) < prevalence).astype(np.uint8)
    else:
        y = rng.permutation((np.arange(n_samples) < round(cases * n_samples)).astype(np.uint8))
    acting = rng.randint(n_models, size=n_samples, dtype=np.int64)
    cells = []
    for m, (table, share) in enumerate(zip(effects, shares, strict=True)):
        base = cell_shares(list(share)).ravel()
        drawn = _drawn_cells(base, n_samples, rng)
        for q, sign in ((1, 1 / prevalence), (0, -1 / (1 - prevalence))):
            rows = np.flatnonzero((acting == m) & (y == q))
            chances = base * np.maximum(1 + n_models * sign * table.ravel(), 0.0)
            drawn[rows] = _drawn_cells(chances / chances.sum(), len(rows), rng)
        cells.append(drawn)
    return cells, y


def _times(log_hazard: FloatArray, censored: float, rng: np.random.RandomState) -> npt.NDArray[Any]:
    """Draw exponential times, of which about a share is censored."""
    n_samples = len(log_hazard)
    death = rng.standard_exponential(n_samples) / np.exp(log_hazard)
    y = np.empty(n_samples, dtype=[("event", np.bool_), ("time", np.float64)])
    y["event"], y["time"] = True, death
    if censored > 0:
        # Exponential times of censoring with this rate end before a time of hazard 1 in the share that is asked for.
        end = rng.standard_exponential(n_samples) / (censored / (1 - censored))
        y["event"], y["time"] = death <= end, np.minimum(death, end)
    return y


def _drawn_cells(chances: FloatArray, number: int, rng: np.random.RandomState) -> IntArray:
    limits = np.cumsum(chances)
    return np.searchsorted(limits / limits[-1], rng.random_sample(number), side="right").astype(np.int64)


def _frequency_bounds(given: Any) -> tuple[float, float]:
    name = "minor_allele_frequency"
    if isinstance(given, tuple | list):
        if len(given) != 2:
            raise ValueError(f"{name} must be a number or two bounds, not {shown(given)}")
        low, high = (check_real(name, q, low=0, high=0.5, low_open=True) for q in given)
        if low > high:
            raise ValueError(f"{name} must have its lower bound first, not {shown(given)}")
        return low, high
    low = check_real(name, given, low=0, high=0.5, low_open=True)
    return low, low


def _member_frequencies(given: Any, dimensions: int) -> FloatArray | None:
    if given is None:
        return None
    name = "minor_allele_frequencies"
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or len(given) != dimensions:
        raise ValueError(f"{name} must be {dimensions} numbers, one for each member of a tuple, not {shown(given)}")
    return np.array([check_real(name, q, low=0, high=0.5, low_open=True) for q in list(given)])


Genotypes = npt.NDArray[np.int8]


def linked_genotypes(
    given: dict[int, Genotypes],
    *,
    n_samples: int,
    block: IntArray,
    minor_allele_frequency: FloatArray,
    ploidy: int,
    linkage: float,
    rng: np.random.RandomState,
) -> Genotypes:
    """Return the genotypes of all columns, (n_samples, n_vars).

    Alleles of neighbours in a block are a Markov chain on each of `ploidy` chromosomes, in both directions from a given
    column, or from the first one of a block without any: an allele is that of the neighbour with probability `linkage`,
    and otherwise a new draw. So neighbours have this correlation, columns at distance d its d-th power, and each column
    its minor allele frequency.

    - `given`: genotypes of some columns by number, at most one in each block.
    - `block` (n_vars,): the block of each column, ascending. All columns of a block have one minor allele frequency.
    - `minor_allele_frequency` (n_vars,).
    """
    n_vars = len(block)
    genotypes = np.empty((n_samples, n_vars), dtype=np.int8, order="F")
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    for first, end in zip(starts.tolist(), [*starts[1:].tolist(), n_vars], strict=True):
        q = float(minor_allele_frequency[first])
        anchor = next((v for v in range(first, end) if v in given), first)
        if anchor in given:
            genotypes[:, anchor] = given[anchor]
        else:
            genotypes[:, anchor] = rng.binomial(ploidy, q, size=n_samples)
        if end - first == 1:
            continue
        alleles = _phased(genotypes[:, anchor], ploidy, rng)
        for side in (range(anchor + 1, end), range(anchor - 1, first - 1, -1)):
            chain = alleles
            for v in side:
                chain = np.where(rng.random_sample(chain.shape) < linkage, chain, rng.random_sample(chain.shape) < q)
                genotypes[:, v] = chain.sum(axis=0)
    return genotypes


def _phased(genotypes: Genotypes, ploidy: int, rng: np.random.RandomState) -> npt.NDArray[np.bool_]:
    """Return which chromosomes have the minor allele, (ploidy, n_samples); each arrangement is as likely."""
    order = rng.random_sample((ploidy, len(genotypes))).argsort(axis=0)
    return np.asarray(order < genotypes)
