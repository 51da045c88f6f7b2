"""Values of one variable + an outcome → the direction and the size of its effect, with 95 % intervals.

::

    estimate.py           Estimate: a number with its interval; kinds of effects and their values without an effect
    class_effects.py      two classes           → AUC (DeLong), odds ratio (Woolf; Mantel–Haenszel within strata)
    number_effects.py     numbers               → Spearman's ρ (Bonett–Wright), difference in means (Welch)
    hazard_effects.py     times                 → hazard ratio (Cox)
    grouped_interval.py   groups of samples     → intervals of any of these by a jackknife over groups
    given_effect.py       strong other variables → the rank correlation that remains given these
    measured.py           one variable, outcome → its effects, the first of which is its main one
    direction.py          effects               → words: "higher with ill", "falls with price", "U-shaped: …"
    variable_effects.py   VariableEffects: the effects of all relevant variables, as results keep them
"""
