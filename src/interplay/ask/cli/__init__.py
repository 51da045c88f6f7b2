"""The command `interplay`: one file per command, and one place where errors become a line and an exit code.

::

    commands.py           the group of all commands, and how one is run
    run.py, interactions.py, power.py, demo.py   one command each
    info.py               commands on this machine: info, bench
    saved.py              commands on saved results: merge, combine, report
    site.py               commands for sites that keep their tables
    options.py            options of `select`, of files, times, populations; those with --help, PLINK's words for them
    outputs.py            options of results, TOML files of settings → files that are written
    expected_work.py      the time and memory that --dry-run prints
    errors.py             exceptions, in its words → one line; one problem of a file → all of them

Nothing large is imported here: until `main` runs, Ctrl-C ends in Python's own traceback.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn


def main() -> None:
    """Run the command that the arguments ask for, and exit."""
    with _ending_at_once():
        from interplay.ask.cli.commands import run_command
        from interplay.ask.cli.errors import exit_code_of
    sys.exit(exit_code_of(run_command))


def run_as_program() -> None:
    """Run `main` as the whole process: as the script and as ``python -m interplay``."""
    try:
        main()
    except SystemExit as stop:
        from interplay.ask.cli.errors import INTERRUPTED, TERMINATED  # imported already: a command ran

        if stop.code in (INTERRUPTED, TERMINATED):
            # After an interrupt during the import of a library, Python ends the process by SIGINT, whatever the exit
            # code. All files are closed by now.
            for stream in (sys.stdout, sys.stderr):
                with suppress(AttributeError, OSError, ValueError):  # no stream, a closed one, or a closed pipe
                    stream.flush()
            os._exit(stop.code)
        raise


@contextmanager
def _ending_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process while libraries are imported: some libraries swallow or print KeyboardInterrupt."""
    try:
        is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if is_ours:
            signal.signal(signal.SIGINT, _end)
    except ValueError:  # only the main thread may set signal handlers
        is_ours = False
    yield
    if is_ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: Any) -> NoReturn:
    os.write(2, b"Interrupted; nothing was written.\n")
    os._exit(130)
