"""Numbers, words and lists that say what to do."""

import fractions
from functools import partial

import numpy as np
import pandas as pd

import interplay
from hostile.case import Area, each_refused, refused, same
from hostile.data import FRAME, X, Y, gains, selected

HUGE = 10**5000  # too long for Python to print


def tuples(**settings):
    return interplay.interesting_tuples(X, Y, **settings)


def all_arrays(columns):
    return list(columns)


class Seven:
    """A whole number, as far as Python is concerned."""

    def __index__(self):
        return 7


AREA = Area(
    "Settings",
    [
        *each_refused(selected, stability=[1, "yes", 10**9]),
        refused("`stability=3`", lambda: selected(stability=3), "^stability must be an even number"),
        refused(
            "`stability` of a shard",
            lambda: interplay.search_shard(X, Y, shard="1/2", stability=4),
            "^stability does not go with shards",
        ),
        refused(
            "`stable_tuples` without `stability`", lambda: selected().stable_tuples, "call select with stability=100"
        ),
        *each_refused(
            gains,
            dimensions=[0, -1, 2.0, "2", True, np.True_, None, [2], np.array([2]), float("nan"), -HUGE],
            divisions=[0, 256, 1.5],
            discretizations=[0],
            range_=[-0.1, 1.1, float("nan"), "0.5"],
            pseudocount=[-1, float("nan"), float("inf"), 10**400, 1j, True],
            decision_divisions=[0],
            discrete=["some", 5, None],
        ),
        refused("`dimensions` of more than there are", lambda: gains(dimensions=6), "^dimensions=6 needs"),
        refused("`dimensions=10**5000`", lambda: gains(dimensions=HUGE), "^dimensions"),
        refused(
            "`dimensions` of which a tuple is too large",
            lambda: gains(np.tile(X, 8), dimensions=40),
            "^dimensions=40 gives tuples of up to",
        ),
        refused(
            "tuples too many to be cut into tiles", lambda: gains(np.tile(X, 2000), dimensions=12), "^dimensions=12"
        ),
        refused(
            "`divisions=255` with a level for missing values",
            lambda: gains(np.where(X > 2, np.nan, X), divisions=255, missing="level", discrete="none"),
            "^divisions must be at most",
        ),
        refused("`discretizations=10**12`", lambda: gains(discretizations=10**12, range_=0.5), "^discretizations"),
        refused("`range_=0` with several discretisations", lambda: gains(range_=0, discretizations=3), "^range_=0"),
        refused(
            "several discretisations of few samples",
            lambda: gains(X[:6], Y[:6], discretizations=3),
            "^range_: too few samples",
        ),
        refused(
            "`pseudocount=Fraction(10**400)`",
            lambda: gains(pseudocount=fractions.Fraction(10**400)),
            "^pseudocount must be",
        ),
        *each_refused(
            gains, "must be one of", missing=["drop", None], decision=["regression", ["auto"]], scale=["log", None]
        ),
        refused("`discrete=[99]`", lambda: gains(discrete=[99]), "column number in discrete must be"),
        refused("`discrete=[-1]`", lambda: gains(discrete=[-1]), "column number in discrete must be"),
        refused("`discrete=['gene']`", lambda: gains(discrete=["gene"]), "^discrete names 'gene'"),
        refused("`discrete` as a mask of another length", lambda: gains(discrete=[True]), "^discrete, as a mask"),
        refused(
            "`discrete` leaving texts out",
            lambda: gains(FRAME.assign(t="a"), discrete="none"),
            "^discrete must include column 't'",
        ),
        # --- Seeds
        *each_refused(gains, random_state=[-1, 2**32, 1.0, "7", True, HUGE]),
        refused("`random_state` as a table", lambda: gains(random_state=FRAME), "^random_state must be"),
        same(
            "a seed as a numpy integer",
            lambda: selected(random_state=np.uint8(7)),
            "the number",
            lambda: selected(random_state=7),
        ),
        same(
            "a seed as an object with `__index__`",
            lambda: selected(random_state=Seven()),
            "the number",
            lambda: selected(random_state=7),
        ),
        same(
            "the largest seed",
            lambda: gains(discretizations=2, range_=0.5, random_state=2**32 - 1).gain.shape,
            "any other",
            lambda: (5,),
        ),
        # --- Engines and threads
        *each_refused(gains, engine=["tpu", None, 7], n_jobs=[1.5, 10**9], progress=["yes"], checkpoint=[7]),
        refused("`n_jobs=0`", lambda: gains(n_jobs=0), "^n_jobs must not be 0"),
        refused("`Checkpoint(seconds=-1)`", lambda: interplay.Checkpoint("a", seconds=-1), "^seconds must be"),
        refused("`Checkpoint(seconds=nan)`", lambda: interplay.Checkpoint("a", seconds=float("nan")), "^seconds must"),
        refused("a checkpoint in a missing folder", lambda: gains(checkpoint="no/such/folder/a"), "no/such/folder/a"),
        refused("a checkpoint that is a folder", lambda: gains(checkpoint="."), "checkpoint|cannot write"),
        same("`n_jobs` of many more threads than work", lambda: gains(n_jobs=3000), "one thread", gains),
        same("`n_jobs=-1000`", lambda: gains(n_jobs=-1000), "one thread", gains),
        # --- Which variables
        refused("`variables=[]`", lambda: gains(variables=[]), "^variables must name at least 1"),
        refused('`variables="v0"`', lambda: gains(variables="v0"), "^variables must be a list"),
        refused("`variables=3`", lambda: gains(variables=3), "^variables must be a list"),
        refused("`variables=[5]` of 0 … 4", lambda: gains(variables=[5]), "number in variables must be"),
        refused("`variables=[-1]`", lambda: gains(variables=[-1]), "number in variables must be"),
        refused("`variables=[1.0]`", lambda: gains(variables=[1.0]), "number in variables must be"),
        refused("`variables=[True]`", lambda: gains(variables=[True]), "number in variables must be"),
        refused("`variables=[nan]`", lambda: gains(variables=[float("nan")]), "number in variables must be"),
        refused("`variables=[None]`", lambda: gains(variables=[None]), "number in variables must be"),
        refused("`variables=['w']`", lambda: gains(FRAME, variables=["w"]), "^variables names 'w'"),
        refused(
            "`variables` in two dimensions", lambda: gains(variables=np.array([[0, 1]])), "number in variables must"
        ),
        refused(
            "too few `variables` for `require='all'`",
            lambda: gains(variables=[1, 1, 1], require="all"),
            "^variables must name at least 2 different",
        ),
        refused("`require='some'`", lambda: gains(require="some"), "^require must be one of"),
        same(
            "`variables` unsorted and repeated",
            lambda: gains(variables=[3, 1, 3, 0]),
            "sorted, each once",
            lambda: gains(variables=[0, 1, 3]),
        ),
        same(
            "`variables` as a generator",
            lambda: gains(variables=(v for v in (3, 1))),
            "a list",
            lambda: gains(variables=[1, 3]),
        ),
        same(
            "`variables` as unsigned numpy numbers",
            lambda: gains(variables=np.array([3, 1], np.uint8)),
            "a list",
            lambda: gains(variables=[1, 3]),
        ),
        same(
            "`variables` as names and numbers",
            lambda: gains(FRAME, variables=["v3", 1]),
            "numbers",
            lambda: gains(variables=[1, 3]),
        ),
        # --- Contrast variables
        refused("`contrast` of another length", lambda: gains(contrast=X[:-1]), "^contrast has 59 samples"),
        refused("`contrast` of one dimension", lambda: gains(contrast=X[:, 0]), "^contrast: X must be two-dimensional"),
        refused(
            "`contrast` with NaN", lambda: gains(contrast=np.where(X > 2, np.nan, X)), r"^contrast: X has \d+ missing"
        ),
        refused(
            "`contrast_sources` of another length",
            lambda: gains(contrast=X, contrast_sources=[0]),
            "^contrast_sources must have one entry",
        ),
        refused(
            "`contrast_sources` out of range",
            lambda: gains(contrast=X, contrast_sources=[0, 1, 2, 3, 5]),
            "number in contrast_sources must be",
        ),
        refused("`contrast_sources=7`", lambda: gains(contrast=X, contrast_sources=7), "^contrast_sources must"),
        *each_refused(selected, n_contrast=[-1, 30.0, "many", np.array([30, 40]), 10**12]),
        refused("`n_contrast=3`", lambda: selected(n_contrast=3), "^n_contrast must be 0 or at least 6"),
        refused("`contrast_variables(X, 0)`", lambda: interplay.contrast_variables(X, 0), "^n must be"),
        refused("`contrast_variables(X, 2.0)`", lambda: interplay.contrast_variables(X, 2.0), "^n must be"),
        refused("`contrast_variables(X, 10**12)`", lambda: interplay.contrast_variables(X, 10**12), "^n must be"),
        same(
            "`contrast_variables` of a read-only Fortran array",
            lambda: all_arrays(interplay.contrast_variables(np.asfortranarray(X), 7)),
            "the plain array",
            lambda: all_arrays(interplay.contrast_variables(X, 7)),
        ),
        # --- select
        *each_refused(selected, level=[0, 1, float("nan")], redundancy=[0, 1.5, "high"]),
        refused('`reference="a"`', lambda: selected(reference="a"), "^reference must map variables to levels"),
        refused(
            '`reference={"x99": 1}`', lambda: selected(reference={"x99": 1}), "^reference names 'x99', which is not"
        ),
        refused(
            '`reference={"x0": "low"}`', lambda: selected(reference={"x0": "low"}), "^reference names the level 'low'"
        ),
        *each_refused(selected, "must be one of", p_adjust=["tukey"], fit=["normal"], multiclass=["all"]),
        refused("an argument that does not exist", lambda: selected(dimension=2), "dimension", theirs="'dimension'"),
        same(
            "numpy numbers for every setting",
            lambda: selected(
                dimensions=np.int8(2),
                divisions=np.uint64(2),
                pseudocount=np.float32(0.25),
                level=np.float64(0.05),
                n_contrast=np.int16(30),
            ),
            "Python's",
            lambda: selected(divisions=2),
        ),
        # --- Several dimensions
        refused('`select`: `dimensions="2"`', lambda: selected(dimensions="2"), "^dimensions must be 'auto', a whole"),
        refused("`select`: `dimensions=2.0`", lambda: selected(dimensions=2.0), "^dimensions must be"),
        refused("`select`: `dimensions=None`", lambda: selected(dimensions=None), "^dimensions must be"),
        refused("`select`: `dimensions=()`", lambda: selected(dimensions=()), "^dimensions must hold at least one"),
        refused(
            "`select`: `dimensions=(1, 2.0)`", lambda: selected(dimensions=(1, 2.0)), "^each of several dimensions"
        ),
        refused("`select`: `dimensions=(1, 9)`", lambda: selected(dimensions=(1, 9)), "^dimensions=9 needs"),
        refused("`select`: `arms` in one dimension", lambda: selected(dimensions=2, arms=["pairs"]), "^arms are for"),
        refused("`select`: `arms=[]`", lambda: selected(dimensions="auto", arms=[]), "^arms must name at least one"),
        refused("`select`: `arms=7`", lambda: selected(dimensions="auto", arms=7), "^arms must be a list"),
        refused(
            "`select`: an arm that does not exist",
            lambda: selected(dimensions=(1, 2), arms=["triples"]),
            "^arms names 'triples': with dimensions",
        ),
        same(
            "`dimensions` in any order, some twice",
            lambda: selected(dimensions=[2, 1, 2]).p_value,
            "each once",
            lambda: selected(dimensions=(1, 2)).p_value,
        ),
        same("`pseudocount` as a Fraction", lambda: gains(pseudocount=fractions.Fraction(1, 4)), "a float", gains),
        # --- Shards
        refused(
            '`shard="0/3"`', lambda: interplay.search_shard(X, Y, dimensions=2, shard="0/3"), "number of the shard"
        ),
        refused(
            '`shard="4/3"`', lambda: interplay.search_shard(X, Y, dimensions=2, shard="4/3"), "number of the shard"
        ),
        refused(
            '`shard="a/b"`', lambda: interplay.search_shard(X, Y, dimensions=2, shard="a/b"), "^shard must be like"
        ),
        refused('`shard=""`', lambda: interplay.search_shard(X, Y, dimensions=2, shard=""), "^shard must be like"),
        refused("`shard=3`", lambda: interplay.search_shard(X, Y, dimensions=2, shard=3), "^shard must be like"),
        refused(
            "`shard=(1, 2, 3)`",
            lambda: interplay.search_shard(X, Y, dimensions=2, shard=(1, 2, 3)),
            "^shard must be like",
        ),
        refused(
            "`shard=(1.0, 2.0)`",
            lambda: interplay.search_shard(X, Y, dimensions=2, shard=(1.0, 2.0)),
            "number of .*shard",
        ),
        refused(
            "`shard=(1, 10**5000)`",
            lambda: interplay.search_shard(X, Y, dimensions=2, shard=(HUGE, HUGE)),
            "number of .*shard",
        ),
        refused(
            "a shard without a seed",
            lambda: interplay.search_shard(X, Y, dimensions=2, shard="1/2", random_state=None),
            "^random_state must be",
        ),
        refused(
            "a shard with an argument that does not exist",
            lambda: interplay.search_shard(X, Y, dimensions=2, shard="1/2", dimension=2),
            "dimension",
            theirs="'dimension'",
        ),
        refused("`merge_parts([])`", lambda: interplay.merge_parts([]), "^parts is empty: give at least one"),
        refused("`merge_parts(None)`", lambda: interplay.merge_parts(None), "^parts must be"),
        refused("`merge_parts([None])`", lambda: interplay.merge_parts([None]), "^parts must be"),
        refused('`merge_parts("a.part")`', lambda: interplay.merge_parts("a.part"), "^parts must be a list"),
        # --- Tuples
        *each_refused(
            tuples,
            "",
            of="interesting_tuples",
            dimensions=[1],
            min_gain=[float("nan")],
            stat=["GINI"],
            top=[0],
            top_by=["pair"],
            max_memory=[10],
            random_state=[-1],
            pseudocount=[-1],
            engine=["tpu"],
            variables=[[]],
            n_jobs=[0],
        ),
        refused("`interesting_tuples`: `out=7`", lambda: tuples(out=7), "^out must be"),
        refused(
            "`interesting_tuples`: `out` in a missing folder", lambda: tuples(out="no/folder/a.parquet"), "no/folder"
        ),
        refused(
            "`interesting_tuples`: a matrix in 3D", lambda: tuples(as_matrix=True, dimensions=3), "^as_matrix needs"
        ),
        refused(
            "`interesting_tuples`: `as_matrix` of a column",
            lambda: tuples(as_matrix=pd.Series(Y)),
            "^as_matrix must be True or False",
        ),
        refused("`interesting_tuples`: a matrix with `top`", lambda: tuples(as_matrix=True, top=3), "leave top out"),
        refused(
            "`interesting_tuples`: more rows than `max_memory` holds",
            lambda: interplay.interesting_tuples(np.tile(X, 60), Y, dimensions=3, max_memory=1e6),
            "max_memory|memory",
        ),
        refused("`interesting_tuples`: a statistic without an outcome", lambda: tuples(stat="TC"), "^stat"),
        same(
            "`interesting_tuples`: `top` of more than there are",
            lambda: tuples(top=10**18, top_by="all").value.shape,
            "all rows",
            lambda: tuples().value.shape,
        ),
        same("`interesting_tuples`: `min_gain=1e300`", lambda: len(tuples(min_gain=1e300)), "no rows", lambda: 0),
        # --- Discretisation
        *each_refused(
            partial(interplay.discretize, X),
            "",
            of="discretize",
            divisions=[0],
            discretizations=[-1],
            range_=[2],
            dimensions=[0],
            random_state=[-1],
            missing=["?"],
            n_jobs=[0],
        ),
        refused(
            "`discretize`: `discretizations=10**12`",
            lambda: interplay.discretize(X, discretizations=10**12, range_=0.5),
            "^discretizations",
        ),
        same(
            "`discretize` of int64 at both ends of its range",
            lambda: interplay.discretize(np.array([[-(2**63)], [0], [1], [2], [2**63 - 1]]), discrete="none"),
            "their ranks",
            lambda: interplay.discretize(np.array([[0], [1], [2], [3], [4]]), discrete="none"),
        ),
        refused("`suggest_range(0)`", lambda: interplay.suggest_range(0, dimensions=2), "^n_samples must be"),
        refused("`suggest_range(1.5)`", lambda: interplay.suggest_range(1.5, dimensions=2), "^n_samples must be"),
        refused(
            "`suggest_range(100, dimensions=0)`", lambda: interplay.suggest_range(100, dimensions=0), "^dimensions"
        ),
        refused("`suggest_range(100, k=0)`", lambda: interplay.suggest_range(100, dimensions=2, k=0), "^k must be"),
        refused(
            "`suggest_range(100, k=nan)`", lambda: interplay.suggest_range(100, dimensions=2, k=float("nan")), "^k must"
        ),
        refused("`suggest_range(10**400)`", lambda: interplay.suggest_range(10**400, dimensions=2), "^n_samples must"),
        same(
            "`suggest_range(100, dimensions=10**400)`",
            lambda: interplay.suggest_range(100, dimensions=10**400),
            "no range at all",
            lambda: 0.0,
        ),
    ],
)
