"""Random command lines: exit code 0 or 2, and one line of an error."""

import os
import tempfile

from hypothesis import given
from hypothesis import strategies as st

from hostile.commands import run_command

WORDS = st.sampled_from(
    """
    run merge report info completion data.csv - --target y a -k 1 2 9 -1 --divisions --discretizations 3 --range 0.5 nan
    --n-contrast 30 0 auto --p-adjust BH --level 0.05 --fit lsq --decision classes --multiclass ovr --strata --discrete
    all none --missing level --seed 7 --jobs --checkpoint c --out o.csv --format json --report r.html --save s --shard
    1/2 --config t.toml --write-config --dry-run --quiet bash --help -- é / /dev/null no/such --engine cpu --drop
    """.split()
) | st.sampled_from(["", "\n", "\x1b["])
ROWS = "a,b,c,y\n" + "".join(f"{i % 7},{i % 5},{i * 37 % 11},{i % 2}\n" for i in range(60))


@given(st.lists(WORDS, max_size=10), st.text(max_size=40))
def command_line(words, toml):
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with open("data.csv", "w") as file:
                file.write(ROWS)
            with open("t.toml", "wb") as file:
                file.write(toml.encode("utf-8", "surrogatepass"))
            done = run_command("run", "data.csv", "--target", "y", *words) if len(words) % 2 else run_command(*words)
            assert done.code in (0, 2, 3), done
            assert "Traceback" not in done.err
        finally:
            os.chdir(before)
