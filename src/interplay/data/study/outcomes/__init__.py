"""The kinds of outcomes, one file each.

::

    targets.py           ClassTarget, ScoreTarget: what engines know of an outcome; integer scores, and places in planes
    outcome.py           what an outcome of any kind can do: its models
    classes.py           y                    → DecisionClasses  (n_samples,): labels as they are, numbers cut by rank
    numbers.py           y                    → NumberOutcome    (n_samples,): numbers, not cut, and their scores
    times.py             (time, event)        → Survival; DecisionClasses where its residuals shall be cut
    ordered.py           y                    → OrderedClasses   (n_samples,): classes with an order, as scores
    words.py             what tables, summaries, reports and plots say of each kind
"""
