"""Several studies: combine(), and sites that keep their tables."""

import functools
from pathlib import Path

import numpy as np

import interplay
from hostile.case import Area, refused, same
from hostile.data import selected
from interplay.sites import combine_sites, count_at_site, list_at_site, plan_sites

TABLE = np.random.default_rng(0).integers(0, 2, (80, 5))
OUTCOME = TABLE[:, 1] ^ TABLE[:, 3]
SITES = ["a", "b"]


@functools.cache
def found(first=0):
    rows = slice(first, first + 40)
    return interplay.interactions(TABLE[rows], OUTCOME[rows], max_p=1)


@functools.cache
def triples():
    return interplay.interactions(TABLE, OUTCOME, dimensions=3, max_p=1)


@functools.cache
def other_classes():
    return interplay.interactions(TABLE, np.where(OUTCOME, "ill", "well"), max_p=1)


def planned(**settings):
    return plan_sites(TABLE, OUTCOME, **{"sites": SITES, "max_p": 1} | settings)


def listed(site, X=TABLE, y=OUTCOME):
    return list_at_site(planned(), X, y, site=site)


def counted(site="a", **settings):
    lists = [listed(name) for name in SITES]
    return count_at_site(planned(), TABLE, OUTCOME, **{"site": site, "lists": lists} | settings)


def file_of(content):
    Path("file").write_text(content, encoding="utf-8")
    return "file"


AREA = Area(
    "Several studies and sites",
    [
        refused("`combine` of one result", lambda: interplay.combine(found()), "^results must be a list of results"),
        refused("`combine([])`", lambda: interplay.combine([]), "^results must hold at least two results"),
        refused("`combine` of a list of one", lambda: interplay.combine([found()]), "at least two results, not 1"),
        refused("`combine(None)`", lambda: interplay.combine(None), "^results must be a list"),
        refused("`combine([1, 2])`", lambda: interplay.combine([1, 2]), "^results must be Interactions or Selections"),
        refused("`combine` of the same samples", lambda: interplay.combine([found(), found()]), "of the same samples"),
        refused(
            "`combine` of pairs and triples",
            lambda: interplay.combine([found(), triples()]),
            "tuples of 2 and 3 members",
        ),
        refused(
            "`combine` of other classes", lambda: interplay.combine([found(), other_classes()]), "different classes"
        ),
        refused(
            "`combine` of interactions and a selection",
            lambda: interplay.combine([found(), selected()]),
            "^results must be of one kind",
        ),
        refused("`combine` of files that do not exist", lambda: interplay.combine(["a", "b"]), "No such file"),
        refused(
            "`combine(studies=['a'])`",
            lambda: interplay.combine([found(), found(40)], studies=["a"]),
            "^studies must name each of the 2 results",
        ),
        refused(
            "`combine(p_adjust='hommel')` of interactions",
            lambda: interplay.combine([found(), found(40)], p_adjust="hommel"),
            "^p_adjust must be one of",
        ),
        refused(
            "`combine(level=1)`",
            lambda: interplay.combine([found(), found(40)], level=1),
            "^level must be a number in",
        ),
        refused("`Combined.to_html`", lambda: both().to_html("report.html"), "has no report"),
        refused("`plan_sites` without columns", lambda: plan_sites(sites=SITES), "needs the columns"),
        refused("`plan_sites` without classes", lambda: plan_sites(sites=SITES, levels={"a": [0]}), "give classes"),
        refused("`plan_sites(sites='a')`", lambda: planned(sites="a"), "^sites must be a list of names"),
        refused("`plan_sites(sites=['a'])`", lambda: planned(sites=["a"]), "^sites must name 2 to 256 sites"),
        refused("`plan_sites(sites=['a', 'a'])`", lambda: planned(sites=["a", "a"]), "^sites has an entry twice"),
        refused("`plan_sites(missing='impute')`", lambda: planned(missing="impute"), "^missing must be one of"),
        refused("`plan_sites(dimensions=1)`", lambda: planned(dimensions=1), "^dimensions must be"),
        refused("`plan_sites(max_p=0)`", lambda: planned(max_p=0), "^max_p must be a number in"),
        refused("`plan_sites(merge_rare=0.7)`", lambda: planned(merge_rare=0.7), "^merge_rare must be"),
        refused(
            "`plan_sites(merge_rare=…)` without a table",
            lambda: plan_sites(sites=["a", "b"], levels={"x": [0, 1, 2]}, classes=[0, 1], merge_rare=0.1),
            "^merge_rare needs a table",
        ),
        refused("`plan_sites(list_up_to=1e-9)`", lambda: planned(list_up_to=1e-9), "^list_up_to must be at least"),
        refused("`plan_sites(classes=['x'])`", lambda: planned(classes=["x"]), "^classes must name two classes"),
        refused("`plan_sites(levels='0,1')`", lambda: planned(levels="0,1"), "^levels must be a dict"),
        refused("`plan_sites(levels={'x9': [0]})`", lambda: planned(levels={"x9": [0]}), "'x9', which is not a column"),
        refused("`plan_sites(thresholds={'x0': []})`", lambda: planned(thresholds={"x0": []}), "^thresholds of 'x0'"),
        refused("`plan_sites(thresholds=[1])`", lambda: planned(thresholds=[1]), "^thresholds must be a dict"),
        refused(
            "`plan_sites`: `y` a number",
            lambda: plan_sites(TABLE, np.linspace(0, 1, 80), sites=SITES),
            "^y is a number, and sites can only compare classes",
        ),
        refused("`list_at_site(site='c')`", lambda: listed("c"), "^site must be one of the plan's"),
        refused("`list_at_site`: other columns", lambda: listed("a", TABLE[:, :3]), "^X lacks the column 'x3'"),
        refused("`list_at_site`: another level", lambda: listed("a", TABLE + 1), "which is no level of the plan"),
        refused("`list_at_site`: another class", lambda: listed("a", y=OUTCOME + 1), "the plan does not have"),
        refused("`list_at_site`: a plan that is no plan", lambda: list_at_site(file_of("{}"), TABLE, site="a"), "plan"),
        refused("`list_at_site`: no JSON", lambda: list_at_site(file_of("x"), TABLE, site="a"), "is no valid JSON"),
        refused("`count_at_site(lists=[])`", lambda: counted(lists=[]), "^lists lacks the list of 'a', 'b'"),
        refused("`count_at_site(lists=None)`", lambda: counted(lists=None), "^lists must be a list"),
        refused("`count_at_site(lists=[1])`", lambda: counted(lists=[1]), "^lists must hold lists of sites"),
        refused("`count_at_site(min_cell=-1)`", lambda: counted(min_cell=-1), "^min_cell must be a whole number"),
        refused("`count_at_site` of a text file", lambda: counted(lists=[file_of("hello")]), "is not a list file"),
        refused("`combine_sites` without a site", lambda: combine_sites(planned(), [counted()]), "lacks those of 'b'"),
        refused("`combine_sites` of a site twice", lambda: combine_sites(planned(), [counted()] * 2), "two files"),
        refused("`combine_sites` of one text", lambda: combine_sites(planned(), "a.counts"), "^counts must be a list"),
        refused(
            "`combine_sites` of lists", lambda: combine_sites(planned(), [listed("a")]), "^counts must hold counts"
        ),
        same(
            "a plan in a file",
            lambda: saved_plan_result().table,
            "the plan itself",
            lambda: combine_sites(planned(), [counted("a"), counted("b")]).table,
        ),
        same(
            "counts in another order",
            lambda: combine_sites(planned(), [counted("b"), counted("a")]).table,
            "counts in the order of the sites",
            lambda: combine_sites(planned(), [counted("a"), counted("b")]).table,
        ),
    ],
)


def both():
    return interplay.combine([found(), found(40)])


def saved_plan_result():
    planned().save("plan.json")
    return combine_sites("plan.json", [counted("a"), counted("b")])
