"""Values of one variable + an outcome → the direction and the size of its effect, with 95 % intervals.

::

    estimate.py           values or levels + an outcome → effects with intervals, one function for each kind of effect
    measured.py           one variable, outcome → its effects, the first of which is its main one
    direction.py          effects               → words: "higher with ill", "falls with price", "U-shaped: …"
    variable_effects.py   VariableEffects: the effects of all relevant variables, as results keep them
"""
