"""The kinds of outcomes, one file each.

::

    outcome.py           what every outcome can do; ClassTarget, ScoreTarget: what engines know of it
    classes.py           y                    → DecisionClasses  (n_samples,): labels as they are, numbers cut by rank
    numbers.py           y                    → NumberOutcome    (n_samples,): numbers, not cut, and their scores
    times.py             (time, event)        → Survival; DecisionClasses where its residuals shall be cut
    event_values.py      event                → where it was observed; which value to name where it is 1 and 2, or text
    words.py             what tables, summaries, reports and plots say of each kind
"""
