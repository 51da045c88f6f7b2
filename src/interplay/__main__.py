"""`python -m interplay` is the command `interplay`."""

from interplay.cli import run_as_program

run_as_program()
