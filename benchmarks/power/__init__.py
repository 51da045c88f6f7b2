"""The parts of `power_study.py`: problems with known truth, methods, and how the calls are made and counted."""
