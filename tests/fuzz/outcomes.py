"""What random input may come to: a result, or one line that says what is wrong."""

import os
import tempfile
import warnings
from contextlib import contextmanager

#: What bad input may raise; anything else is a finding.
REFUSALS = (ValueError, TypeError, OSError)

LONGEST_MESSAGE = 1000


def refused_or(call, refusals=REFUSALS):
    """Return what `call` returns, or None if it refuses its input in one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Advice, of ours and of readers of files.
        warnings.simplefilter("ignore", UserWarning)
        try:
            return call()
        except UnicodeError:
            raise
        except refusals as error:
            message = str(error)
            if not message or "\n" in message or len(message) > LONGEST_MESSAGE:
                raise AssertionError(f"not one line: {message[:2000]!r}") from error
            return None


@contextmanager
def file_with(content, ending):
    """A file of these bytes, for a moment."""
    handle, path = tempfile.mkstemp(suffix=ending)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        yield path
    finally:
        os.unlink(path)
