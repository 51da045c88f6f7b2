"""The command `interplay`, run in this process."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

from interplay.ask import cli


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def run_command(*arguments, stdin=b""):
    """Run a command with these arguments; what it prints is kept."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    standard_input = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    with (
        mock.patch.object(sys, "argv", ["interplay", *map(str, arguments)]),
        mock.patch.object(sys, "stdin", standard_input),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    printed, said = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return Done(code, printed, said)
