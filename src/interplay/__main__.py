"""`python -m interplay` is the command `interplay`."""

from interplay.ask.cli import run_as_program

run_as_program()
