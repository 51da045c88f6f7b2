"""Effects → their direction in words that a person reads: "higher with ill", "falls with price", "U-shaped: …"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interplay.base.text import printable
from interplay.infer.effects.estimate import Estimate

#: Of a name in a phrase, the beginning.
_LONGEST = 30

#: Where neither the variable nor its partners show a direction, nor levels that differ.
NO_TREND = "no clear direction"

#: Begins a direction whose interval includes no effect.
PERHAPS = "perhaps"

#: Begins a direction that is another one at other levels of partners.
DEPENDS_ON = "depends on"

#: Where levels that are numbers differ, and do not rise or fall.
NO_ORDER = ", no trend"


def class_in_words(label: str, target: str) -> str:
    """Return a class; one that is a number or a truth value goes with the name of the outcome, "yes" is the outcome.

    Examples
    --------
    >>> class_in_words("ill", "status"), class_in_words("1", "status"), class_in_words("True", "")
    ('ill', 'status = 1', 'y = True')
    >>> class_in_words("Yes", "churn")
    'churn'
    """
    if target and label.casefold() in ("yes", "true"):
        return _short(target)
    is_bare = label.lstrip("-").replace(".", "", 1).isdecimal() or label in ("True", "False")
    return f"{_short(target) if target else 'y'} = {_short(label)}" if is_bare else _short(label)


def number_with_class(size: Estimate, label: str) -> str:
    """Say whether values are higher or lower with a class.

    Examples
    --------
    >>> number_with_class(Estimate(0.7), "ill")
    'higher with ill'
    """
    return f"{'lower' if size.value < 0.5 else 'higher'} with {label}"


def class_if(label: str, variable: str, level: str, *, is_lower: bool) -> str:
    """Say at which level a class is more or less often.

    Examples
    --------
    >>> class_if("churn", "contract", "monthly", is_lower=False), class_if("ill", "", "b", is_lower=True)
    ('churn more often if contract = monthly', 'ill less often in b')
    """
    return f"{label} {'less' if is_lower else 'more'} often {_at(variable, level)}"


def number_if(target: str, variable: str, level: str, *, is_lower: bool) -> str:
    """Say at which level the outcome is higher or lower."""
    return f"{_outcome(target)} {'lower' if is_lower else 'higher'} {_at(variable, level)}"


def risk_if(variable: str, level: str, *, is_lower: bool) -> str:
    """Say at which level the risk is higher or lower."""
    return f"{'lower' if is_lower else 'higher'} risk {_at(variable, level)}"


def _at(variable: str, level: str) -> str:
    return f"if {_short(variable)} = {_short(level)}" if variable else f"in {_short(level)}"


def without_trend(said: str) -> str:
    """Say that ordered levels differ without a trend."""
    return f"{said}{NO_ORDER}"


def number_with_number(size: Estimate, target: str) -> str:
    """Say whether values rise or fall with the outcome."""
    return f"{'falls' if size.value < 0 else 'rises'} with {_outcome(target)}"


def number_with_risk(size: Estimate) -> str:
    """Say whether higher values go with a higher or lower risk."""
    return f"{'lower' if size.value < 1 else 'higher'} risk where higher"


def extremes_with_class(size: Estimate, label: str) -> str:
    """Say whether low and high values go with a class, or those between."""
    return f"U-shaped: {'middle values' if size.value < 0.5 else 'extremes'} with {label}"


def extremes_with_number(size: Estimate, target: str) -> str:
    """Say whether the outcome is high at low and high values, or between."""
    return f"U-shaped: {_outcome(target)} {'lower' if size.value < 0 else 'higher'} at extremes"


def extremes_with_risk(size: Estimate) -> str:
    """Say whether the risk is high at low and high values, or between."""
    return f"U-shaped: {'lower' if size.value < 1 else 'higher'} risk at extremes"


def depends_on(partners: Sequence[str]) -> str:
    """Say on which variables the direction depends.

    Examples
    --------
    >>> depends_on(["x3", "x11"])
    'depends on x3, x11'
    """
    return f"{DEPENDS_ON} {', '.join(_short(name) for name in partners)}"


def given_others(size: Estimate, target: str, label: str = "") -> str:
    """Say which way a variable goes given others that are strong by themselves."""
    if label:
        return f"{'lower' if size.value < 0 else 'higher'} with {label}, given others"
    return f"{'falls' if size.value < 0 else 'rises'} with {_outcome(target)}, given others"


def adds_to(partners: Sequence[str]) -> str:
    """Say what was found of a variable in a tuple without a direction: the tuple tells more with it than without.

    Examples
    --------
    >>> adds_to(["age", "sex"])
    'adds to what age, sex tell'
    """
    return f"adds to what {', '.join(map(_short, partners))} {'tells' if len(partners) == 1 else 'tell'}"


def varies_more(outcome: str, with_higher: bool) -> str:
    """Say that a variable changes the spread of a number.

    Examples
    --------
    >>> varies_more("yield", True)
    'yield varies more where it is high'
    """
    return f"{_short(outcome) or 'y'} varies more where it is {'high' if with_higher else 'low'}"


def perhaps(direction: str) -> str:
    """Say that the interval of a direction includes no effect.

    Examples
    --------
    >>> perhaps("ill more often in b"), perhaps(NO_TREND)
    ('perhaps ill more often in b', 'no clear direction')
    """
    return direction if direction == NO_TREND else f"{PERHAPS} {direction}"


def differs_between_levels(outcome: str, n_levels: int, most: str = "", least: str = "") -> str:
    """Say that the outcome differs between levels, none of which departs clearly by itself.

    Examples
    --------
    >>> differs_between_levels("churn", 51, "NJ", "HI"), differs_between_levels("", 4)
    ('churn differs between 51 levels (most in NJ, least in HI)', 'the outcome differs between 4 levels')
    """
    where = f" (most in {_short(most)}, least in {_short(least)})" if most else ""
    return f"{_outcome(outcome)} differs between {n_levels} levels{where}"


def per_allele(direction: str, allele: str) -> str:
    """Say a direction of genotypes by the allele that is counted.

    Examples
    --------
    >>> per_allele("higher with case", "T"), per_allele("falls with ldl, given others", "T")
    ('case more likely with each A1 = T', 'ldl falls with each A1 = T, given others')
    >>> per_allele("lower risk where higher", "G"), per_allele("no clear direction", "G")
    ('risk falls with each A1 = G', 'no clear direction')
    """
    found = re.fullmatch(r"(higher|lower|rises|falls) (?:with (.*?)|(risk) where higher)(, given others)?", direction)
    if found is None:
        return direction
    way, target, risk, given = found.groups(default="")
    likely = {"higher": "more likely", "lower": "less likely"}
    verb = {"higher": "rises", "lower": "falls"}.get(way, way) if risk else likely.get(way, way)
    return f"{target or risk} {verb} with each A1 = {_short(allele)}{given}"


def given(said: str, partners: Sequence[str]) -> str:
    """Say that a direction is that among samples alike in these partners.

    Examples
    --------
    >>> given("higher with ill", ["age"])
    'higher with ill, given age'
    """
    return f"{said}, given {', '.join(map(_short, partners))}"


def _outcome(target: str) -> str:
    return _short(target) if target else "the outcome"


def _short(name: str) -> str:
    return printable(name, _LONGEST)
