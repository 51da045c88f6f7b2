"""`python -m interplay` is the command `interplay`."""

from interplay.cli import main

main()
