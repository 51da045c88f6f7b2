"""Effects → their direction in words that a person reads: "higher with ill", "falls with price", "U-shaped: …"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interplay.base.text import printable
from interplay.infer.effects.estimate import Estimate

#: Of a name in a phrase, the beginning.
_LONGEST = 30

#: Where neither the variable nor its partners show a direction.
NO_TREND = "no clear trend"


def class_in_words(label: str, target: str) -> str:
    """Return a class; one that is a number or a truth value goes with the name of the outcome.

    Examples
    --------
    >>> class_in_words("ill", "status"), class_in_words("1", "status"), class_in_words("True", "")
    ('ill', 'status = 1', 'y = True')
    """
    is_bare = label.lstrip("-").replace(".", "", 1).isdecimal() or label in ("True", "False")
    return f"{_short(target) if target else 'y'} = {_short(label)}" if is_bare else _short(label)


def number_with_class(size: Estimate, label: str, none: float = 0.5) -> str:
    """Say whether values are higher or lower with a class.

    Examples
    --------
    >>> number_with_class(Estimate(0.7), "ill")
    'higher with ill'
    """
    return f"{'lower' if size.value < none else 'higher'} with {label}"


def class_in_level(size: Estimate, label: str, levels: Sequence[str]) -> str:
    """Say in which of two levels a class is more often."""
    return f"{label} more often in {_short(levels[0] if size.value < 1 else levels[1])}"


def most_often_in(label: str, level: str) -> str:
    """Say in which level the share of a class is the highest."""
    return f"{label} most often in {_short(level)}"


def number_with_number(size: Estimate, target: str) -> str:
    """Say whether values rise or fall with the outcome."""
    return f"{'falls' if size.value < 0 else 'rises'} with {_outcome(target)}"


def number_in_level(size: Estimate, target: str, levels: Sequence[str]) -> str:
    """Say in which of two levels the outcome is higher."""
    return f"{_outcome(target)} higher in {_short(levels[0] if size.value < 0 else levels[1])}"


def highest_in(target: str, level: str) -> str:
    """Say in which level the outcome is the highest."""
    return f"{_outcome(target)} highest in {_short(level)}"


def number_with_risk(size: Estimate) -> str:
    """Say whether higher values go with a higher or lower risk."""
    return f"{'lower' if size.value < 1 else 'higher'} risk where higher"


def risk_in_level(size: Estimate, levels: Sequence[str]) -> str:
    """Say in which of two levels the risk is higher."""
    return f"higher risk in {_short(levels[0] if size.value < 1 else levels[1])}"


def risk_highest_in(level: str) -> str:
    """Say in which level the risk is the highest."""
    return f"highest risk in {_short(level)}"


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
    return f"depends on {', '.join(_short(name) for name in partners)}"


def given_others(size: Estimate, target: str, label: str = "") -> str:
    """Say which way a variable goes given others that are strong by themselves."""
    if label:
        return f"{'lower' if size.value < 0 else 'higher'} with {label}, given others"
    return f"{'falls' if size.value < 0 else 'rises'} with {_outcome(target)}, given others"


def per_allele(direction: str, allele: str) -> str:
    """Say a direction of genotypes by the allele that is counted.

    Examples
    --------
    >>> per_allele("higher with case", "T"), per_allele("falls with ldl, given others", "T")
    ('case more likely with each A1 = T', 'ldl falls with each A1 = T, given others')
    >>> per_allele("lower risk where higher", "G"), per_allele("no clear trend", "G")
    ('risk falls with each A1 = G', 'no clear trend')
    """
    found = re.fullmatch(r"(higher|lower|rises|falls) (?:with (.*?)|(risk) where higher)(, given others)?", direction)
    if found is None:
        return direction
    way, target, risk, given = found.groups(default="")
    likely = {"higher": "more likely", "lower": "less likely"}
    verb = {"higher": "rises", "lower": "falls"}.get(way, way) if risk else likely.get(way, way)
    return f"{target or risk} {verb} with each A1 = {_short(allele)}{given}"


def _outcome(target: str) -> str:
    return _short(target) if target else "the outcome"


def _short(name: str) -> str:
    return printable(name, _LONGEST)
