"""The methods compared: what they are called, where they run, and what each is given.

The functions themselves are in `installed_methods.py` (they run where interplay runs) and `rival_methods.py` (in an
environment of their own).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from power.problems import Table


@dataclass(frozen=True)
class Method:
    name: str
    title: str
    module: str
    #: Ranks only: is told how many variables are relevant and takes that many from the top.
    oracle: bool = False
    #: Fewer for the slow: that many tables, the same for all.
    repetitions: int = 20
    max_vars: int | None = None
    genotypes_only: bool = False
    two_classes_only: bool = False

    def applies_to(self, table: Table) -> bool:
        return (
            (self.max_vars is None or table.X.shape[1] <= self.max_vars)
            and (table.genotypes or not self.genotypes_only)
            and (len(np.unique(table.y)) == 2 or not self.two_classes_only)
        )


#: Four dimensions are searched in the tables that are narrow enough to do it at leisure.
MAX_VARS_4D = 40

METHODS = {
    method.name: method
    for method in [
        Method("interplay_auto_holm", "interplay, Holm", "installed_methods"),
        Method("interplay_auto_bh", "interplay, BH", "installed_methods"),
        *[
            Method(
                f"interplay_{k}d_{adjust.lower()}",
                f"interplay {k}D, {adjust}",
                "installed_methods",
                max_vars=MAX_VARS_4D if k == 4 else None,
            )
            for k in (1, 2, 3, 4)
            for adjust in ("Holm", "BH")
        ],
        Method("mdfs_2d", "mdfs 2D, Holm", "rival_methods", two_classes_only=True),
        Method("mdfs_3d", "mdfs 3D, Holm", "rival_methods", two_classes_only=True),
        Method("welch_holm", "Welch's t-test, Holm", "installed_methods"),
        Method("welch", "Welch's t-test, BH", "installed_methods"),
        Method("rank_holm", "rank test, Holm", "installed_methods"),
        Method("rank", "rank test, BH", "installed_methods"),
        Method("select_fdr", "SelectFdr (F-test), BH", "installed_methods"),
        Method("boruta", "Boruta", "rival_methods", repetitions=4),
        Method("mutual_info", "mutual_info_classif*", "installed_methods", oracle=True),
        Method("skrebate_relieff", "ReliefF (skrebate)*", "rival_methods", oracle=True, repetitions=10),
        Method("skrebate_multisurf", "MultiSURF (skrebate)*", "rival_methods", oracle=True, repetitions=10),
        Method("fast_select_relieff", "ReliefF (fast-select)*", "rival_methods", oracle=True),
        Method("fast_select_multisurf", "MultiSURF (fast-select)*", "rival_methods", oracle=True),
        Method("fast_select_mdr", "MDR (fast-select)*", "rival_methods", oracle=True, genotypes_only=True),
    ]
}
