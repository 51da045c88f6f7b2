"""The same targets under atheris, which looks for input that reaches new lines: ``python -m fuzz.guided NAME SECONDS``.

Needs ``pip install atheris``. It stops at the first finding, and prints it.
"""

import inspect
import sys

from fuzz.targets import TARGETS


def functions_of_interplay():
    """All functions and methods that are loaded. Imports cannot be watched: editable packages have their own loader."""
    for name, module in list(sys.modules.items()):
        if not name.startswith("interplay"):
            continue
        for value in list(vars(module).values()):
            if inspect.isfunction(value) and value.__module__ == name:
                yield value
            elif inspect.isclass(value) and value.__module__ == name:
                yield from (method for method in vars(value).values() if inspect.isfunction(method))


def main(name, seconds):
    import atheris

    for function in functions_of_interplay():
        atheris.instrument_func(function)
    # Buffers are long from the start: hypothesis needs some hundred bytes for a whole input.
    options = [f"-max_total_time={seconds}", "-max_len=4096", "-len_control=0", "-rss_limit_mb=8000", "-timeout=60"]
    atheris.Setup([sys.argv[0], *options], TARGETS[name].hypothesis.fuzz_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
