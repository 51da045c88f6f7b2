"""Is this working tree, or a commit, slower than another commit? Both are built and timed in turns, setting by setting.

    python benchmarks/compare_commits.py BASE [NOW] [--only levels classes …] [--simd-levels avx2 avx512] [--limit 1.03]

BASE is a commit, or a folder with another copy of the sources; NOW likewise, by default the working tree. The settings
are those of rates.py, whole calls of one thread. Each version is a process of its own that stays; they take turns, and
the least time of each counts, so that another load on the machine slows both down alike. Exit status 1: a setting takes
more than --limit times as long.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


class Version:
    """One version of the package, in a process that times what it is asked for."""

    def __init__(self, tree: Path) -> None:
        environment = os.environ | {"PYTHONPATH": f"{tree / 'src'}{os.pathsep}{ROOT / 'benchmarks'}"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", "import compare_commits; compare_commits.serve()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def seconds(self, setting: dict[str, Any]) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(setting), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the process that is timed ended early: see its error above")
        return float(json.loads(answer))

    def stop(self) -> None:
        self._process.communicate("")


def serve() -> None:
    """Answer each setting on stdin with the seconds it takes."""
    # An editable installation has a finder of its own, which goes before PYTHONPATH.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
    import interplay
    import rates

    tree = os.environ["PYTHONPATH"].split(os.pathsep)[0]
    if not Path(interplay.__file__).is_relative_to(tree):
        sys.exit(f"{interplay.__file__} would be timed instead of {tree}")
    for line in sys.stdin:
        print(json.dumps(rates.measure(json.loads(line))["seconds"]), flush=True)


def copy_of(version: str, folder: Path) -> Path:
    """Unpack a commit, or copy a folder, with its compiled module beside the Python files."""
    if Path(version).is_dir():
        # What an editable installation put elsewhere is built again: both versions get the same compiler and flags.
        ignored = shutil.ignore_patterns(".git", ".venv", "build", "*.so", "__pycache__", "_build", "auto_examples")
        shutil.copytree(version, folder, ignore=ignored)
    else:
        folder.mkdir()
        archive = subprocess.run(["git", "archive", version], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    build = folder / "build" / "compare"
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], check=True, capture_output=True, text=True
    ).stdout.strip()
    configure = ["cmake", "-S", folder, "-B", build, "-DCMAKE_BUILD_TYPE=Release"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind}"]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "--parallel"], check=True, capture_output=True)
    for module in build.rglob("_core*.so"):
        shutil.copy(module, folder / "src" / "interplay")
    return folder


def settings(only: list[str] | None, simd_levels: list[str]) -> list[dict[str, Any]]:
    import rates

    rows = []
    for group, members in rates.GROUPS.items():
        if (only is None or group in only) and group not in ("threads", "simd_level"):
            for simd_level in simd_levels:
                rows += [rates.PLAIN | member | {"simd_level": simd_level} for member in members]
    return rows


def in_words(setting: dict[str, Any]) -> str:
    import rates

    special = [f"{key} {setting[key]}" for key in ("n_samples", "levels", "classes", "share")
               if setting[key] != rates.PLAIN[key]]  # fmt: skip
    return f"{setting['dimensions']}D p={setting['n_vars']} {setting['simd_level']} {' '.join(special)}".strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("base", metavar="BASE", help="commit or folder to compare with")
    parser.add_argument("now", metavar="NOW", nargs="?", default=str(ROOT), help="what to compare; this working tree")
    parser.add_argument("--only", nargs="*", help="groups of rates.py")
    parser.add_argument("--simd-levels", nargs="*", default=["avx2"])
    parser.add_argument("--rounds", type=int, default=5, help="turns of each version (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=1.03, help="how much slower is too slow (default: %(default)s)")
    parser.add_argument("--save", action="store_true", help="keep the rows in results/compare_commits.json")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        trees = [copy_of(arguments.base, Path(temporary) / "base"), copy_of(arguments.now, Path(temporary) / "now")]
        sys.path.insert(0, str(trees[1] / "src"))  # for rates.py, whose settings are taken
        versions = [Version(tree) for tree in trees]
        print(f"{'setting':44} {'base, ns':>10} {'now, ns':>10} {'ratio':>7}   per tuple, whole calls")
        for setting in settings(arguments.only, arguments.simd_levels):
            seconds = [[version.seconds(setting) for version in versions] for _ in range(arguments.rounds)]
            base, now = (min(turn[which] for turn in seconds) for which in (0, 1))
            n_tuples = math.comb(setting["n_vars"], setting["dimensions"])
            rows.append(setting | {"base_seconds": base, "seconds": now, "ratio": now / base})
            per_tuple = f"{base / n_tuples * 1e9:10.2f} {now / n_tuples * 1e9:10.2f}"
            print(f"{in_words(setting):44} {per_tuple} {now / base:7.3f}", flush=True)
        for version in versions:
            version.stop()
    slower = [row for row in rows if row["ratio"] > arguments.limit]
    print(f"{len(slower)} of {len(rows)} settings take more than {arguments.limit} times as long as the base")
    if arguments.save:
        from machine import write_result

        write_result("compare_commits", {"base": arguments.base, "limit": arguments.limit, "rows": rows})
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
