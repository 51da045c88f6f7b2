"""Can the p-values be trusted? Tables without signal, searched with default settings, over a wide range of data.

cells → null data → select() → rows, one per repetition → Parquet → summary → docs/calibration.md and its pictures
"""
