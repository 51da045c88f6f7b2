"""How many instructions do the lane kernels take on Arm, and on x86? Counted under qemu: no Arm machine is at hand.

    python benchmarks/instruction_counts.py

Needs g++, aarch64-linux-gnu-g++ and qemu-user. Counts are not times: NEON registers are half as wide as those of AVX2,
and what a processor does in a cycle is its own affair.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from machine import write_result

HERE = Path(__file__).parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "instruction-counts"

PROCESSORS = {"x86_64": ("g++", ["avx2"]), "aarch64": ("aarch64-linux-gnu-g++", ["serial", "neon"])}

#: What a call of `core/tests/kernel_calls.cpp` works on.
KERNELS = {
    "count_lanes": (512, "row of 256 lanes"),
    "list_samples": (512, "listed sample"),
    "transpose": (64, "row of 256 lanes"),
    "join_classes": (256, "lane"),
    "score_even": (256, "lane"),
    "score_rational": (256, "lane"),
    "information_even": (256, "lane"),
}


def build(processor: str, compiler: str) -> Path:
    folder = BUILD / processor
    settings = {"INTERPLAY_CORE_TESTS": "ON", "CMAKE_BUILD_TYPE": "Release", "CMAKE_SYSTEM_NAME": "Linux",
                "CMAKE_SYSTEM_PROCESSOR": processor, "CMAKE_CXX_COMPILER": compiler,
                "CMAKE_EXE_LINKER_FLAGS": "-static"}  # fmt: skip
    options = [f"-D{name}={value}" for name, value in settings.items()]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *options], check=True, stdout=sys.stderr)
    command = ["cmake", "--build", folder, "--target", "kernel_calls", "--parallel", str(os.cpu_count())]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return folder / "core" / "kernel_calls"


def instructions(processor: str, program: Path, plugin: Path, *arguments: object) -> int:
    command = [f"qemu-{processor}", "-cpu", "max", "-plugin", plugin, program, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stderr.split("instructions")[1])


def main() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    plugin = BUILD / "plugin.so"
    source = HERE / "instruction_count" / "plugin.c"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", plugin, source], check=True)
    programs = {name: build(name, compiler) for name, (compiler, _) in PROCESSORS.items()}
    rows = []
    for kernel, (amount, unit) in KERNELS.items():
        row: dict[str, object] = {"kernel": kernel, "per": unit}
        for processor, (_, levels) in PROCESSORS.items():
            for level in levels:
                few, many = (instructions(processor, programs[processor], plugin, level, kernel, n) for n in (10, 110))
                row[f"{processor} {level}"] = round((many - few) / 100 / amount, 2)
        rows.append(row)
        print(*(f"{value:>16}" for value in row.values()))
    print(write_result("instruction_counts", {"rows": rows}))


if __name__ == "__main__":
    main()
