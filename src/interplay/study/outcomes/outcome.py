"""An outcome as it is compared: classes, or numbers."""

from __future__ import annotations

from interplay.study.outcomes.classes import DecisionClasses
from interplay.study.outcomes.numbers import NumberOutcome

Outcome = DecisionClasses | NumberOutcome
