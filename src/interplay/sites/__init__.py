"""Several studies: results combined; and one search over sites that may not share their data.

::

    combine.py                results of studies    → Combined: `combine`, its arguments

    plan.py                   a table, or definitions of columns → SitePlan ↔ a text file         `plan_sites`
    site_list.py              the table of a site; round one: tuples above its share    `list_at_site`
    site_counts.py            round two: counts of all listed tuples ↔ a text file         `count_at_site`
    combine_sites.py          these tables → Interactions, as of one table                  `combine_sites`

With the site as a stratum, G² of a tuple is the sum of the sites' G². Where the sum reaches a threshold, one site
reaches its share (``interplay.infer.interaction.prospects``), so the lists of round one miss no tuple. What
follows is a function of counts, and the same code as that of one table.
"""

from interplay.sites.combine_sites import combine_sites
from interplay.sites.plan import SitePlan, plan_sites
from interplay.sites.site_counts import SiteCounts, count_at_site
from interplay.sites.site_list import SiteList, list_at_site

__all__ = ["SiteCounts", "SiteList", "SitePlan", "combine_sites", "count_at_site", "list_at_site", "plan_sites"]
