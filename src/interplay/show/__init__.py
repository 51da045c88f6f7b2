"""What users hold in their hands.

::

    results/   Selection, Interactions, Combined: tables, summaries, files
    plots/     their pictures, with matplotlib
    report/    their reports, one HTML file each
"""
