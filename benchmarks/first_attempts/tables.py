"""The tables: package, name, outcome, what is known, and what the answer has to name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FirstTable:
    """One table that is in no other page.

    Attributes
    ----------
    package, name : str
        A package of Debian (or statsmodels), and its table.
    target : str
        The outcome, or the time.
    known : str
        What is known, in a sentence.
    event : str, optional
    must : tuple of str
        Variables that must be relevant; with `never`, those that must not.
    message : str
        A part of the message that must be the answer to the first attempt, where no answer can be given.
    """

    package: str
    name: str
    target: str
    known: str
    event: str | None = None
    must: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    message: str = ""


T = FirstTable
TABLES = (
    T("r-cran-cardata", "BEPS", "vote", "Europe matters to those who know politics", must=("Blair", "Hague", "Europe")),
    T("r-cran-cardata", "TitanicSurvival", "survived", "women and the first class", must=("sex", "passengerClass")),
    T("r-cran-cardata", "Salaries", "salary", "rank first; discipline", must=("rank", "discipline")),
    T("r-cran-cardata", "Chile", "vote", "the scale of support for the status quo", message="--missing-target drop"),
    T("r-cran-cardata", "Womenlf", "partic", "children keep women at home, husbands' income too", must=("children",)),
    T("r-cran-cardata", "Cowles", "volunteer", "extraversion; neuroticism alone does nothing", must=("extraversion",)),
    T("r-cran-cardata", "WVS", "poverty", "country, and age", must=("country",)),
    T(
        "r-cran-cardata",
        "Arrests",
        "released",
        "earlier checks, employment, colour",
        must=("checks", "employed", "colour"),
    ),
    T(
        "r-cran-modeldata",
        "mlc_churn",
        "churn",
        "international plan, minutes of the day, calls to the service",
        must=("international_plan", "total_day_minutes", "number_customer_service_calls"),
    ),
    T("r-cran-modeldata", "attrition", "Attrition", "overtime, income, age", must=("OverTime", "MonthlyIncome")),
    T(
        "r-cran-modeldata",
        "credit_data",
        "Status",
        "seniority, records of earlier debts",
        must=("Seniority", "Records"),
    ),
    T(
        "r-cran-modeldata",
        "ad_data",
        "Class",
        "tau and p_tau rise, amyloid (Ab_42) falls",
        must=("tau", "p_tau", "Ab_42"),
    ),
    T(
        "r-cran-aer",
        "CreditCard",
        "card",
        "derogatory reports; expenditure and share follow from the card",
        must=("reports",),
    ),
    T("r-cran-aer", "HMDA", "deny", "denied insurance, bad credit history, race", must=("insurance", "chist", "afam")),
    T("r-cran-aer", "PSID1976", "participation", "hours and wage follow from it; small children", must=("youngkids",)),
    T(
        "r-cran-aer",
        "SwissLabor",
        "participation",
        "foreigners more, small children less",
        must=("foreign", "youngkids"),
    ),
    T("r-cran-aer", "SmokeBan", "smoker", "education and age; a ban at work", must=("education", "ban")),
    T(
        "r-cran-aer",
        "TeachingRatings",
        "eval",
        "beauty; single-credit courses; the same teacher in several rows",
        must=("beauty", "credits"),
    ),
    T("r-cran-aer", "Affairs", "affairs", "the rating of the marriage, years married", must=("rating", "yearsmarried")),
    T("r-cran-aer", "DoctorVisits", "visits", "days of reduced activity, illness", must=("reduced", "illness")),
    T(
        "r-cran-aer",
        "HealthInsurance",
        "health",
        "limited activity, schooling, age",
        must=("limit", "education", "age"),
    ),
    T(
        "r-cran-survival",
        "colon",
        "time",
        "nodes; Lev+5FU helps, Lev alone does not",
        event="status",
        must=("nodes", "rx"),
    ),
    T(
        "r-cran-survival",
        "rotterdam",
        "dtime",
        "nodes, size, age; rtime is known only later",
        event="death",
        must=("nodes", "size", "age"),
    ),
    T("r-cran-survival", "mgus2", "futime", "age, sex, haemoglobin, creatinine", event="death", must=("age", "hgb")),
    T("r-cran-survival", "ovarian", "futime", "26 women: age alone", event="fustat", must=("age",)),
    T("r-cran-mass", "Cars93", "Price", "horsepower; Min.Price and Max.Price are the price", must=("Horsepower",)),
    T("r-cran-mass", "survey", "Smoke", "nothing", message="--missing-target drop"),
    T("r-cran-mass", "Aids2", "status", "follows from dates of diagnosis and death", must=("diag",)),
    T("r-cran-psychtools", "bfi", "gender", "women score higher in anxiety and agreeableness", must=("N3",)),
    T("r-cran-hsaur3", "CHFLS", "R_happy", "her health", must=("R_health",)),
    T(
        "r-cran-hsaur3",
        "respiratory",
        "status",
        "treatment; centre; four visits of each patient",
        must=("treatment", "centre"),
    ),
    T("r-cran-th.data", "GlaucomaM", "Class", "the volume above the reference", must=("varg", "vari")),
    T("r-cran-th.data", "bodyfat", "DEXfat", "waist and hip", must=("waistcirc", "hipcirc")),
    T("r-cran-th.data", "mammoexp", "ME", "no symptoms unless; perceived benefit", must=("SYMPT",)),
    T("r-cran-kmsurv", "larynx", "time", "stage", event="delta", must=("stage",)),
    T("r-cran-kmsurv", "kidtran", "time", "age", event="delta", must=("age",)),
    T(
        "r-cran-survey",
        "nhanes",
        "HI_CHOL",
        "age; weights, strata and clusters of the survey",
        message="--missing-target",
    ),
    T("r-cran-vcd", "Arthritis", "Improved", "treatment, more in women", must=("Treatment",)),
    T("r-cran-rpart", "stagec", "pgtime", "grade and ploidy", event="pgstat", must=("grade",)),
    T("r-cran-rpart", "kyphosis", "Kyphosis", "the first vertebra operated on", must=("Start",)),
    T("r-cran-earth", "ozone1", "O3", "temperature", must=("temp",)),
    T("statsmodels", "heart", "survival", "age", event="censors"),
)
