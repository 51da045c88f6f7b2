"""The tables: where they come from, what is known of them, what has to be found and what has to be said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RealTable:
    """One table and one question about it.

    Attributes
    ----------
    package, name : str
        Where it comes from; R packages by their names.
    target : str
        The outcome, or the time to an event.
    known : str
        What is known of it, in a sentence.
    event, occurred : str and value, optional
        The column of events, and its value where the event was observed.
    drop : list of str
        Columns to leave out once the first attempt has said so, or because they follow from the outcome.
    settings : dict
        Further arguments, as messages advise.
    must, never : list of str
        Patterns of variables of which at least one must be found; of variables that must not be found.
    says : list of str
        Patterns that the messages of a first attempt, with all columns and no settings, must have.
    pair : tuple of str, optional
        Patterns of two variables: whether `interactions` lists such a pair among the smallest p-values.
    """

    package: str
    name: str
    target: str
    known: str
    event: str | None = None
    occurred: Any = 1
    drop: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    must: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    says: list[str] = field(default_factory=list)
    pair: tuple[str, str] | None = None


LEVEL = {"missing": "level"}
IMPUTE = {"missing": "impute"}

TABLES = [
    # Classes
    RealTable(
        "sklearn",
        "breast_cancer",
        "target",
        "nearly all 30 measures of nuclei differ between tumours",
        must=["worst concave points", "worst perimeter", "worst radius"],
    ),
    RealTable(
        "sklearn",
        "wine",
        "target",
        "all 13 measures differ between three cultivars; flavanoids and proline most",
        must=["flavanoids", "proline"],
    ),
    RealTable(
        "sklearn",
        "iris",
        "target",
        "petals tell the three species apart, sepals less",
        must=["petal length", "petal width"],
    ),
    RealTable(
        "statsmodels",
        "anes96",
        "vote",
        "the vote of 1996 follows party identification and self-placement",
        must=["PID", "selfLR"],
        never=["TVnews"],
    ),
    RealTable(
        "statsmodels",
        "spector",
        "GRADE",
        "32 students: GPA and the new method (PSI) at p = 0.02 each, which is too little in a search",
    ),
    RealTable(
        "mlbench",
        "PimaIndiansDiabetes",
        "diabetes",
        "glucose first, then body mass, age and pregnancies",
        must=["glucose", "mass", "age"],
    ),
    RealTable(
        "mlbench",
        "BreastCancer",
        "Class",
        "all nine grades differ; Id repeats: some women were seen twice",
        drop=["Id"],
        settings=LEVEL,
        must=[r"Cell\.size", "Bare.nuclei"],
        says=["missing"],
    ),
    RealTable(
        "mlbench",
        "HouseVotes84",
        "Class",
        "the vote on physician fees (V4) separates the parties",
        settings=LEVEL,
        must=["V4"],
        says=["missing"],
    ),
    RealTable(
        "mlbench", "Sonar", "Class", "echoes of mines and rocks differ most in bands 9 to 12", must=["V11", "V12"]
    ),
    RealTable(
        "mlbench",
        "Ionosphere",
        "Class",
        "V1 and the first returns matter; V2 is constant",
        must=["^V1$", "^V5$"],
        never=["^V2$"],
        says=["nearly equal"],
    ),
    RealTable(
        "mlbench",
        "Vehicle",
        "Class",
        "silhouettes of four vehicles; nearly all of 18 measures differ",
        must=["Elong", "Sc.Var"],
    ),
    RealTable(
        "mlbench", "Zoo", "type", "milk, feathers, backbone define the classes of animals", must=["milk", "feathers"]
    ),
    RealTable(
        "mlbench", "Glass", "Type", "kinds of glass differ in magnesium, aluminium and barium", must=["Mg", "Al", "Ba"]
    ),
    RealTable(
        "MASS",
        "birthwt",
        "low",
        "weight of the mother, earlier preterm births, hypertension; bwt is the outcome itself",
        drop=["bwt"],
        must=["ptl"],
        says=["bwt.*determine"],
    ),
    RealTable(
        "MASS",
        "biopsy",
        "class",
        "the same tumours as BreastCancer, with names V1 to V9",
        drop=["ID"],
        settings=LEVEL,
        must=["V2", "V6"],
        says=["missing"],
    ),
    RealTable(
        "MASS",
        "crabs",
        "sp",
        "two species differ in body depth given the other sizes; index is the order of sizes in a group",
        must=["FL", "BD"],
    ),
    RealTable(
        "lme4",
        "VerbAgg",
        "r2",
        "answers of 316 people to 24 items: the item and the behaviour, people differ",
        drop=["resp"],
        settings={"groups": "id", "n_permutations": 99},
        must=["btype", "item"],
        says=["'id'", "resp"],
    ),
    # Numbers
    RealTable(
        "sklearn",
        "diabetes",
        "target",
        "progression: body mass, triglycerides (s5) and blood pressure",
        must=["bmi", "s5", "bp"],
    ),
    RealTable(
        "statsmodels",
        "fair",
        "affairs",
        "marriages rated low, long ones and less religious people",
        must=["rate_marriage", "religious", "yrs_married"],
    ),
    RealTable(
        "statsmodels",
        "randhie",
        "mdvis",
        "visits to doctors: illness, physical limits, coinsurance",
        must=["disea", "physlm", "lncoins"],
    ),
    RealTable("statsmodels", "statecrime", "murder", "single-parent homes and poverty", must=["single", "poverty"]),
    RealTable(
        "mlbench", "BostonHousing", "medv", "status of the population (lstat) and rooms (rm)", must=["lstat", "rm"]
    ),
    RealTable(
        "qtl",
        "hyper",
        "bp",
        "blood pressure of 250 mice: loci on chromosomes 1 and 4, and the pair 6 × 15",
        drop=["sex"],
        must=["^D4Mit"],
        pair=("^D6Mit", "^D15Mit"),
    ),
    RealTable(
        "qtl",
        "listeria",
        "T264",
        "time to death after infection: loci on chromosomes 1, 5 and 13",
        drop=["sex"],
        must=["^D5M", "^D13M"],
    ),
    RealTable(
        "qusage",
        "fluExample",
        "Condition",
        "symptoms of 17 people with influenza: genes that interferon turns on (RSAD2, IFI44L, IFIT1, ISG15)",
        drop=["Hours.Numeric"],
        settings={"groups": "Subject"},
        must=["^RSAD2$", "^IFI44L$", "^IFIT1$", "^ISG15$"],
        says=["'Subject'"],
    ),
    RealTable(
        "lme4",
        "sleepstudy",
        "Reaction",
        "18 people slow down over 10 days without sleep",
        settings={"groups": "Subject"},
        must=["Days"],
        says=["'Subject'"],
    ),
    RealTable(
        "lme4",
        "grouseticks",
        "TICKS",
        "ticks on grouse chicks: altitude and year; chicks of a brood are alike",
        drop=["INDEX", "cHEIGHT"],
        settings={"groups": "BROOD"},
        must=["HEIGHT"],
        says=["INDEX"],
    ),
    RealTable(
        "MASS",
        "epil",
        "y",
        "seizures of 59 patients, four periods: the number before treatment",
        drop=["lbase", "lage"],
        settings={"groups": "subject"},
        must=["base"],
        says=["'subject'"],
    ),
    # Times
    RealTable(
        "survival",
        "lung",
        "time",
        "advanced lung cancer: performance (ph.ecog) and sex",
        event="status",
        occurred=2,
        settings=LEVEL,
        must=[r"ph\.ecog", "sex"],
        says=["status|event|missing"],
    ),
    RealTable(
        "survival",
        "pbc",
        "time",
        "liver disease: bilirubin, albumin, oedema, prothrombin time, stage, age",
        event="status",
        occurred=2,
        drop=["id"],
        settings=LEVEL,
        must=["bili", "albumin", "protime"],
        says=["status|event"],
    ),
    RealTable(
        "MASS",
        "Melanoma",
        "time",
        "thickness of the tumour and ulceration",
        event="status",
        occurred=1,
        must=["thickness", "ulcer"],
        says=["status|event"],
    ),
    RealTable(
        "lifelines",
        "rossi",
        "week",
        "arrests after prison: age and earlier convictions (prio)",
        event="arrest",
        must=["prio", "age"],
    ),
    RealTable(
        "lifelines",
        "gbsg2",
        "time",
        "breast cancer: positive nodes, progesterone receptors, grade",
        event="cens",
        must=["pnodes", "progrec"],
    ),
    RealTable(
        "sksurv",
        "whas500",
        "lenfol",
        "after a heart attack: age, heart failure, shock",
        event="fstat",
        occurred=True,
        must=["age", "chf"],
    ),
    RealTable(
        "sksurv",
        "veterans_lung_cancer",
        "Survival_in_days",
        "Karnofsky score and cell type",
        event="Status",
        occurred=True,
        must=["Karnofsky_score", "Celltype"],
    ),
    RealTable(
        "sksurv",
        "flchain",
        "futime",
        "age first, then free light chains and creatinine, which is normally lower in women; chapter is the cause of "
        "death",
        event="death",
        occurred=True,
        drop=["chapter"],
        settings=LEVEL,
        must=["age", "kappa", "lambda"],
    ),
]
