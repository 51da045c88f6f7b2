"""Calls of every question with every kind of outcome, on small tables: the golden set of `same_results.py`.

A call is a function without arguments. What it gives is recorded as users see it: columns of tables, arrays, refusals
and, on their own, texts. Only public names are used, so that the set runs on other versions of the package.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial, wraps
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import interplay

N_SAMPLES = 260

Call = Callable[[], Any]


class Study:
    """A table with known effects, its outcomes of all kinds, and what answers can be adjusted for."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        n = N_SAMPLES
        values = rng.normal(size=(n, 7))
        values[:, 6] = values[:, 2] + 0.3 * rng.normal(size=n)
        self.numbers = pd.DataFrame(values, columns=[f"x{v}" for v in range(7)])
        self.genotypes = pd.DataFrame(rng.integers(0, 3, (n, 8)), columns=[f"rs{v}" for v in range(8)])
        self.genotypes["rs7"] = np.minimum(self.genotypes["rs1"], self.genotypes["rs4"])
        self.mixed = self.numbers.assign(
            genotype=self.genotypes["rs1"], city=rng.choice(["Bern", "Graz", "Kiel"], n), smokes=rng.random(n) < 0.4
        )
        self.sex = rng.integers(0, 2, n)
        self.batch = rng.choice(["a", "b", "c"], n)
        self.covariates = pd.DataFrame({"age": rng.lognormal(size=n), "sex": self.sex})
        self.offset = rng.normal(size=n)
        self.entry = rng.uniform(0, 0.05, size=n)
        self.family = np.repeat(np.arange(n // 2), 2)
        self.donor = np.repeat(np.arange(n // 10), 10)
        pair = np.where((values[:, 0] > 0) ^ (values[:, 1] > 0), 1, -1) + values[:, 2]
        pair += 1.2 * ((self.genotypes["rs1"] > 0) & (self.genotypes["rs4"] > 0)).to_numpy()
        pair += 0.5 * np.log(self.covariates["age"].to_numpy()) + self.offset
        self.score = pair + rng.normal(size=n)
        self.two = np.where(self.score > 0.3, "ill", "well")
        self.three = np.digitize(self.score, np.quantile(self.score, [0.3, 0.6]))
        self.skewed = np.exp(0.5 * self.score)
        end = 0.2 + np.exp(-0.5 * self.score) * rng.exponential(size=n)
        leaving = 0.2 + 4 * rng.exponential(size=n)
        self.times = (np.minimum(end, leaving), end <= leaving)
        self.of_donors = (self.donor % 2, self.numbers + rng.normal(size=(n // 10, 7))[self.donor])

    def outcomes(self) -> dict[str, tuple[Any, dict[str, Any]]]:
        return {
            "two classes": (self.two, {}),
            "three classes": (self.three, {}),
            "ranks": (self.skewed, {}),
            "values": (self.score, {"scale": "values"}),
            "times": (self.times, {}),
        }

    def adjustments(self) -> dict[str, dict[str, Any]]:
        return {
            "covariates": {"covariates": self.covariates},
            "offset": {"offset": self.offset},
            "strata": {"strata": self.batch},
            "covariates in strata": {"covariates": self.covariates, "strata": self.sex},
            "groups": {"groups": self.family, "n_permutations": 39},
        }


def calls() -> dict[str, Call]:
    """Return all calls by their names."""
    study = Study()
    parts = [selections, other_selections, interaction_searches, other_interactions, gains_and_tuples]
    parts += [parts_of_searches, new_samples, several_studies]
    return dict(named for part in parts for named in part(study))


def selections(study: Study) -> Iterator[tuple[str, Call]]:
    for (kind, (y, scale)), dimensions in product(study.outcomes().items(), ["auto", 1, 2, 3]):
        given = {"dimensions": dimensions, "random_state": 1, **scale}
        yield f"select, {kind}, {dimensions}D", partial(interplay.select, study.mixed, y, **given)
    for (kind, (y, scale)), (adjusted, how) in product(study.outcomes().items(), study.adjustments().items()):
        given = {"dimensions": 2 if "groups" in how else (1, 2), "random_state": 1, **scale, **how}
        yield f"select, {kind}, {adjusted}", partial(interplay.select, study.mixed, y, **given)


def other_selections(study: Study) -> Iterator[tuple[str, Call]]:
    def select(name: str, y: Any = study.two, X: Any = study.numbers, **given: Any) -> tuple[str, Call]:
        return f"select, {name}", partial(interplay.select, X, y, **{"random_state": 2, **given})

    for kind, (y, scale) in study.outcomes().items():
        yield select(f"{kind}, discretisations", y, discretizations=4, divisions=2, dimensions=2, **scale)
        yield select(f"{kind}, permutations", y, permutations=True, n_permutations=39, dimensions=2, **scale)
        yield select(f"{kind}, halves", y, stability=4, dimensions=(1, 2), **scale)
        yield select(f"{kind}, genotypes", y, study.genotypes, **scale)
        yield select(f"{kind}, reference variables", y, n_contrast=0, dimensions=2, **scale)
    for multiclass in ("ovo", "ovr"):
        yield select(f"three classes, {multiclass}", study.three, multiclass=multiclass)
    for fit in ("lsq", "mle", "weibull", "tail", "predictive"):
        yield select(f"fit {fit}", fit=fit, dimensions=2)
    yield select("times, entry", study.times, entry=study.entry, dimensions=1)
    yield select("arms", arms=("alone", "pairs"))
    yield select("false discovery rate", p_adjust="BH", redundancy=0.5)
    yield select("donors", *study.of_donors, groups=study.donor, n_permutations=39, dimensions=1)
    yield select("donors, inflation", *study.of_donors, groups=study.donor, permutations=False, dimensions=2)
    missing = study.numbers.mask(np.random.default_rng(1).random(study.numbers.shape) < 0.05)
    yield select("missing as a level", X=missing, missing="level", dimensions=2)
    yield select("missing drawn", X=missing, missing="impute", dimensions=2)
    yield select("numbers cut", study.skewed, decision_divisions=2, dimensions=2)
    yield select("ordered classes", study.three, decision="ordered")
    yield select("ordered classes, covariates", study.three, decision="ordered", covariates=study.covariates)


@wraps(interplay.interactions)
def by_levels(X: Any, y: Any, **given: Any) -> Any:
    """By levels alone: other ways have lines of their own, so that a version with another default can be compared."""
    return interplay.interactions(X, y, **{"coding": "levels"} | given)


def interaction_searches(study: Study) -> Iterator[tuple[str, Call]]:
    everything = {"none": {}, **study.adjustments()}
    for (kind, (y, scale)), (adjusted, how) in product(study.outcomes().items(), everything.items()):
        yield (
            f"interactions, {kind}, {adjusted}",
            partial(by_levels, study.mixed, y, top=12, **scale, **how),
        )
        if adjusted != "groups":
            given = {"coding": "auto", "top": 6, **scale, **how}
            yield f"interactions, {kind}, {adjusted}, auto", partial(by_levels, study.mixed, y, **given)
        given = {"coding": "dosage", "top": 6, **scale, **how}
        if "classes" not in kind:
            yield (
                f"interactions, {kind}, {adjusted}, dosage",
                partial(by_levels, study.genotypes, y, **given),
            )


def other_interactions(study: Study) -> Iterator[tuple[str, Call]]:
    def interactions(name: str, y: Any = study.two, X: Any = study.numbers, **given: Any) -> tuple[str, Call]:
        return f"interactions, {name}", partial(by_levels, X, y, **given)

    holes = study.genotypes.mask(np.random.default_rng(2).random(study.genotypes.shape) < 0.05)
    for kind, (y, scale) in study.outcomes().items():
        yield interactions(f"{kind}, triples", y, dimensions=3, top=10, **scale)
        yield interactions(f"{kind}, discretisations", y, divisions=2, discretizations=3, top=10, **scale)
        yield interactions(f"{kind}, genotypes", y, study.genotypes, max_p=0.2, p_adjust="BH", **scale)
        yield interactions(f"{kind}, missing left out", y, holes, missing="omit", top=8, **scale)
        yield interactions(f"{kind}, missing as a level", y, holes, missing="level", top=8, **scale)
    places = {f"rs{v}": (str(1 + v // 4), 1000.0 * v) for v in range(8)}
    yield interactions("at a distance", X=study.genotypes, positions=places, min_distance=1500.0, max_p=1)
    yield interactions("some partners", variables=["x0", "x2"], partners=["x1", "x3", "x4"], max_p=1)
    yield interactions("numbers cut", study.skewed, decision_divisions=2, top=5)
    yield interactions("ordered classes", study.three, decision="ordered", top=5)
    yield interactions("ordered classes, covariates", study.three, decision="ordered", covariates=study.covariates)
    yield interactions("times, entry", study.times, study.genotypes, entry=study.entry, top=5)
    loco = pd.DataFrame({"chr1": 0.5 * study.offset, "chr2": 0.8 * study.offset})
    for kind, y in {"two classes": study.two, "values": study.score, "times": study.times}.items():
        given = {"offset": loco, "positions": places, "max_p": 0.3}
        yield interactions(f"{kind}, offsets by chromosome", y, study.genotypes, **given)


def gains_and_tuples(study: Study) -> Iterator[tuple[str, Call]]:
    contrast, sources = interplay.contrast_variables(study.mixed, 12, random_state=3)
    for kind, (y, scale) in study.outcomes().items():
        for dimensions in (1, 2, 3):
            given = {"dimensions": dimensions, **scale}
            yield (
                f"max_information_gain, {kind}, {dimensions}D",
                partial(interplay.max_information_gain, study.mixed, y, strata=study.batch, **given),
            )
        yield f"interesting_tuples, {kind}", partial(interplay.interesting_tuples, study.mixed, y, **scale)
        best = partial(interplay.interesting_tuples, study.mixed, y, dimensions=3, top=3, discretizations=2, **scale)
        yield f"interesting_tuples, {kind}, best triples", best
    given = {"contrast": contrast, "contrast_sources": sources, "discretizations": 3, "divisions": 2}
    yield "max_information_gain, contrast", partial(interplay.max_information_gain, study.mixed, study.two, **given)
    for stat in ("MI", "H", "VI", "TC", "II"):
        for outcome, y in {"two classes": study.two, "no outcome": None}.items():
            call = partial(interplay.interesting_tuples, study.mixed, y, stat=stat)
            yield f"interesting_tuples, {outcome}, {stat}", call


def parts_of_searches(study: Study) -> Iterator[tuple[str, Call]]:
    """In shards, and from a checkpoint: the same numbers as above by other ways."""
    for kind, (y, scale) in study.outcomes().items():
        for adjusted, how in {"none": {}, "covariates": {"covariates": study.covariates}}.items():
            given = {"dimensions": (1, 2), **scale, **how}
            yield f"shards, select, {kind}, {adjusted}", partial(_merged_selection, study.mixed, y, **given)
            given = {"top": 8, **scale, **how}
            yield f"shards, interactions, {kind}, {adjusted}", partial(_merged_interactions, study.mixed, y, **given)
        for question in (interplay.select, by_levels):
            name = f"checkpoint, {question.__name__}, {kind}"
            yield name, partial(_resumed, partial(question, study.mixed, y, random_state=1, **scale))
    given = {"groups": study.family, "n_permutations": 39, "dimensions": 2}
    yield "shards, select, groups", partial(_merged_selection, study.mixed, study.two, **given)


def new_samples(study: Study) -> Iterator[tuple[str, Call]]:
    """Tested again in other samples, held out or new, and beside the columns that they tag."""
    new = Study(1)
    none: dict[str, Any] = {}
    for kind, (y, scale) in study.outcomes().items():
        new_y = new.outcomes()[kind][0]
        for question, given in (
            (interplay.select, {"random_state": 1, "dimensions": (1, 2)}),
            (by_levels, {"top": 6}),
        ):
            asked = partial(question, study.mixed, y, **given, **scale)
            yield f"holdout, {question.__name__}, {kind}", partial(asked, holdout=0.4)
            for adjusted, how, again in (
                ("none", none, none),
                ("covariates", {"covariates": study.covariates}, {"covariates": new.covariates}),
                ("strata", {"strata": study.batch}, {"strata": new.batch}),
            ):
                call = partial(_replicated, partial(asked, **how), new.mixed, new_y, **again)
                yield f"replicate, {question.__name__}, {kind}, {adjusted}", call
        for table in ("mixed", "genotypes"):
            found = partial(by_levels, getattr(study, table).drop(columns="rs7", errors="ignore"), y, **scale)
            yield f"tagging, {kind}, {table}", partial(_tagged, found, getattr(study, table), y)


def several_studies(study: Study) -> Iterator[tuple[str, Call]]:
    others = [Study(seed) for seed in (1, 2)]
    for kind, (_, scale) in study.outcomes().items():
        tables = [(one.numbers, one.outcomes()[kind][0]) for one in (study, *others)]
        yield f"combine, select, {kind}", partial(_combined, interplay.select, tables, random_state=1, **scale)
        yield f"combine, interactions, {kind}", partial(_combined, by_levels, tables, max_p=1, **scale)
    for kind in ("two", "three"):
        tables = [(one.genotypes, getattr(one, kind)) for one in (study, *others)]
        yield f"sites, {kind} classes", partial(_over_sites, tables)


def _merged_selection(X: Any, y: Any, **given: Any) -> Any:
    return interplay.merge_parts([interplay.search_shard(X, y, shard=(i, 3), **given) for i in (1, 2, 3)], X=X)


def _merged_interactions(X: Any, y: Any, **given: Any) -> Any:
    return interplay.merge_interactions([by_levels(X, y, shard=(i, 3), **given) for i in (1, 2, 3)])


def _resumed(question: Call) -> Any:
    """Stop a search at half of its way, go on from its checkpoint, and read the result from a file."""

    def stop(share: float) -> None:
        if share >= 0.5:
            raise KeyboardInterrupt

    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "checkpoint"
        with contextlib.suppress(KeyboardInterrupt):
            question(checkpoint=checkpoint, progress=stop)
        result = question(checkpoint=checkpoint)
        result.save(Path(folder) / "result")
        return interplay.load(Path(folder) / "result")


def _replicated(question: Call, X: Any, y: Any, **given: Any) -> Any:
    return question().replicate(X, y, **given)


def _tagged(question: Call, X: Any, y: Any) -> Any:
    return question().with_tagging(X, y)


def _combined(question: Callable[..., Any], tables: list[tuple[Any, Any]], **given: Any) -> Any:
    return interplay.combine([question(X, y, **given) for X, y in tables])


def _over_sites(tables: list[tuple[Any, Any]]) -> Any:
    from interplay.sites import combine_sites, count_at_site, list_at_site, plan_sites

    names = [f"site {number}" for number in range(len(tables))]
    plan = plan_sites(*tables[0], sites=names, max_p=0.5)
    lists = [list_at_site(plan, X, y, site=name) for name, (X, y) in zip(names, tables, strict=True)]
    counts = [count_at_site(plan, X, y, site=name, lists=lists) for name, (X, y) in zip(names, tables, strict=True)]
    return combine_sites(plan, counts)


# --- What a result says ------------------------------------------------------------------------------------------


def recorded(call: Call, *, text: bool) -> dict[str, Any]:
    """Return the columns of all tables of a result by their names; a refusal by its message."""
    try:
        result = call()
        columns = {**dict(_columns(result)), **(dict(_texts(result)) if text else {})}
    except ValueError as error:
        return {"refusal": np.array([str(error)])}
    except Exception as error:
        return {"error": np.array([f"{type(error).__name__}: {error}"])}
    return {name: _as_array(values) for name, values in columns.items()}


def _columns(result: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(result, interplay.MaxGains):
        for name in ("gain", "tuples", "discretization", "df", "contrast_gain", "contrast_tuples", "contrast_df"):
            yield name, getattr(result, name)
        return
    if isinstance(result, interplay.TupleTable):
        yield from _of_table("table", result.to_frame())
        return
    yield from _of_table("table", result.table)
    if isinstance(result, interplay.Selection):
        yield from _of_selection(result)
    elif isinstance(result, interplay.Interactions):
        yield "n_tests", result.n_tests
        if result.linkage is not None:
            yield from _of_table("clumps", result.clumps())
        if result.tagged is not None:
            yield from _of_table("tagging", result.tagged.table(result))
        yield "rules", result.rules()
        for row in range(min(len(result), 3)):
            yield f"counts {row}", result.counts_of(row).counts
    elif isinstance(result, interplay.Replication):
        yield from _inner("interactions", lambda: result.interactions.table)


def _of_selection(result: Any) -> Iterator[tuple[str, Any]]:
    yield "log_p", result.log_p
    yield "short list", result.short_list
    yield "redundant groups", [str(group) for group in result.redundant_groups]
    yield "cautions", [f"{name}: {words}" for name, words in result.cautions.items()]
    yield from _of_table("effects", result.effect_table)
    yield from _of_table("contrast", result.contrast)
    yield from _of_table("weights of arms", result.arm_weights)
    yield "verdicts", [str(verdict) for verdict in result.verdicts]
    for arm in result.arms:
        yield f"p of {arm}", result.p_of_arm(arm)
    for run in result.runs:
        yield from ((f"run {run.gains.dimensions} {name}", values) for name, values in _columns(run.gains))
    yield from _inner("synergies", result.synergies)
    if result.stability is not None:
        yield from _of_table("stable tuples", result.stable_tuples)
    yield from _inner("interactions", lambda: result.interactions().table)
    if result.replication is not None:
        yield from _inner("replication", lambda: result.replication.table)


def _inner(name: str, table: Call) -> Iterator[tuple[str, Any]]:
    """Record a table that not every result has, or why there is none."""
    try:
        yield from _of_table(name, table())
    except ValueError as error:
        yield name, str(error)


def _texts(result: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(result, "summary"):
        yield "text of the summary", result.summary()
    if hasattr(result, "to_html"):
        yield "text of the report", _report(result)


def _report(result: Any) -> list[str]:
    """Return the report in short pieces, without when it was made and how long the search took.

    An array of texts has room for the longest in each: whole lines, of which one has all data, took 80 MB a report.
    """
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        try:
            result.to_html(page)
        except ValueError as error:
            return [str(error)]
        text = page.read_text(encoding="utf-8")
    text = re.sub(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?([+-]\d\d:\d\d|Z)?)?", "DATE", text)
    text = re.sub(r"(seconds\W+(th><td>)?)\d+(\.\d+)?|\d+(\.\d+)?(?= (s|seconds)\b)", r"\1TIME", text)
    return re.findall(".{1,200}", text)


def _of_table(name: str, table: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    yield f"{name}: rows", len(table)
    for column in table.columns:
        yield f"{name}: {column}", table[column]


def _as_array(values: Any) -> Any:
    """Return numbers as they are, anything else as texts."""
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return array
    if array.dtype == object and array.ndim == 1 and all(isinstance(value, bool | None) for value in values):
        return np.array([str(value) for value in values])
    return np.array([str(value) for value in np.atleast_1d(np.array(list(_items(values)), dtype=object))])


def _items(values: Any) -> Iterator[Any]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        yield values
    else:
        yield from (str(value) for value in values)
