"""The study of a genetics lab, by script."""
