"""The tests that README.md names for what changed since a commit: `make affected`.

    python tests/affected.py [COMMIT]

Prints what to give to pytest, one word a line: nothing where no test is named. Changes that are not committed count.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def named_tests():
    """Read the table: folder of `src/interplay`, or folder of the repository → tests."""
    found: dict[str, list[str]] = {}
    for row in re.findall(r"^\| (`.*?) \| (.*?) \|$", (ROOT / "tests" / "README.md").read_text(encoding="utf-8"), re.M):
        folders = re.findall(r"`(\w+)`", row[0])
        tests = [test for call in re.findall(r"`pytest ([^`]*)`", row[1]) for test in call.split()]
        for folder in folders if tests else []:
            found[folder] = [test.replace("FOLDER", folder) for test in tests]
    return found


def affected(changed):
    """Return the tests of these files, each once; a file of tests is its own."""
    named = named_tests()
    wanted: dict[str, None] = {}
    for file in map(Path, changed):
        # The innermost folder that the table names, and `infer`, whose folders have the names of others.
        inside = file.parts[2:-1] if file.parts[:2] == ("src", "interplay") else ()
        folders = {next((part for part in reversed(inside) if part in named), file.parts[0])}
        folders |= {"infer"} & {*inside}
        if file.parts[0] == "tests":
            if file.name.startswith("test_") and (ROOT / file).exists():
                wanted[str(file)] = None
        else:
            wanted |= dict.fromkeys(
                test for folder in sorted(folders & {*named}) for test in named[folder] if (ROOT / test).exists()
            )
    return [test for test in wanted if not any(str(parent) in wanted for parent in Path(test).parents)]


def changed_since(commit):
    """Return the files that differ from where this branch left `commit`, and those that git does not know yet."""
    base = _git("merge-base", commit, "HEAD")[0]
    return _git("diff", "--name-only", base) + _git("ls-files", "--others", "--exclude-standard")


def _git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")[
        :-1
    ]


if __name__ == "__main__":
    print("\n".join(affected(changed_since(sys.argv[1] if len(sys.argv) > 1 else "main"))))
