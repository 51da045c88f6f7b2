"""power(): plans of studies."""

import numpy as np

import interplay
from hostile.case import Area, each_refused, refused, same

AREA = Area(
    "`power`",
    [
        *each_refused(
            interplay.power,
            dimensions=[1],
            n_vars=[1],
            n_samples=[3, "many", [100, 0]],
            effect=[float("nan")],
            levels=[1],
            level=[0],
            n_tests=[0],
            h2=[1],
        ),
        refused("`n_samples` and `power`", lambda: interplay.power(power=0.8), "^power and n_samples cannot"),
        refused("`power=1`", lambda: interplay.power(n_samples=None, power=1), "^power must be"),
        refused("no effect", lambda: interplay.power(n_samples=None, effect=0), "^effect=0.0 of a cell does not reach"),
        refused(
            "`effect` of another shape", lambda: interplay.power(effect=[1, 2, 3]), "^effect must be a number, or an"
        ),
        refused('`outcome="time"`', lambda: interplay.power(outcome="time"), "^outcome must be one of"),
        refused("`levels` of one member", lambda: interplay.power(levels=[2]), "^levels must be a number, or one"),
        refused("too many cells", lambda: interplay.power(levels=200), "^levels=200 in 2 dimensions make 40000 cells"),
        refused(
            "`shares` that do not add up", lambda: interplay.power(shares=(0.5, 0.6)), "^shares must be two or more"
        ),
        refused(
            "`shares` of three levels", lambda: interplay.power(shares=(0.5, 0.3, 0.2)), "^shares must have a share"
        ),
        refused("`shares=0.5`", lambda: interplay.power(shares=0.5), "^shares must be a list"),
        refused(
            "`class_shares=[1]`",
            lambda: interplay.power(outcome="classes", class_shares=[1]),
            "^class_shares must be two or more",
        ),
        refused("`event_share=0`", lambda: interplay.power(outcome="times", event_share=0), "^event_share must be"),
        refused('`scale="log"`', lambda: interplay.power(scale="log"), "^scale must be one of"),
        refused("`effect` and `h2`", lambda: interplay.power(effect=0.3, h2=0.1), "^effect and h2 cannot be given"),
        refused("`maf=0.6`", lambda: interplay.power(h2=0.1, maf=0.6), "^maf must be"),
        refused(
            "`maf` of three members", lambda: interplay.power(maf=(0.1, 0.2, 0.3)), "^maf must be a number, or one"
        ),
        refused("`maf` and `shares`", lambda: interplay.power(maf=0.2, shares=(0.5, 0.5)), "^maf says how many levels"),
        refused("`r2_tag` without `h2`", lambda: interplay.power(r2_tag=0.8), "^r2_tag is used with h2"),
        refused("`r2_tag=0`", lambda: interplay.power(h2=0.1, r2_tag=0), "^r2_tag must be"),
        refused(
            '`coding="dosage"` of cut numbers',
            lambda: interplay.power(coding="dosage"),
            "^coding='dosage' is for pairs",
        ),
        refused(
            "`h2` of classes beyond what chances allow",
            lambda: interplay.power(h2=0.5, maf=0.05, outcome="classes"),
            "^h2=0.5 cannot be had",
        ),
        same(
            "`effect` as cells",
            lambda: interplay.power(n_samples=100, effect=np.array([[0.3, -0.3], [-0.3, 0.3]])),
            "the number",
            lambda: interplay.power(n_samples=100, effect=0.3),
        ),
    ],
)
