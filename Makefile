# Everything a developer runs. Each target first makes the virtual environment it needs, in .venv.
# For a POSIX shell; on Windows use pip and pytest as .github/workflows/tests.yml does.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A tool of the system comes first; what it lacks may be in the environment.
export PATH := $(PATH):$(CURDIR)/$(BIN)

# Stamp files: a step runs again when something it depends on is newer than its stamp. They live in the environment,
# so removing .venv starts afresh.
PIP_READY := $(VENV)/.pip-ready
TOOLS_READY := $(VENV)/.tools-ready
PACKAGE_READY := $(VENV)/.package-ready
DOCS_READY := $(VENV)/.docs-ready

CORE_FILES := $(shell find core -type f)
CLANG_FORMAT_FILES := $(filter %.cpp %.hpp %.cu %.cuh,$(CORE_FILES))

# For example: make test PYTEST_ARGS="-k datasets"
PYTEST_ARGS ?= -n auto
BENCHMARKS ?= benchmarks/compare_mdfs.py benchmarks/rates.py

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench calibration docs sanitize neon clean
# A recipe that fails must not leave a target that looks made.
.DELETE_ON_ERROR:
# Two pips at once in one environment get in each other's way.
.NOTPARALLEL:

help:  ## Show this list.
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(PACKAGE_READY)  ## Find the hidden variables of a made-up table, in seconds.
	$(BIN)/interplay demo

test: sanitize $(PACKAGE_READY) $(TOOLS_READY)  ## Run the C++ tests with sanitizers, then all Python tests.
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# The package is needed for the types of what it imports.
lint: $(PACKAGE_READY) $(TOOLS_READY)  ## Check style, types and the direction of imports; changes nothing.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(if $(CLANG_FORMAT_FILES),$(BIN)/clang-format --dry-run -Werror $(CLANG_FORMAT_FILES))

bench: $(PACKAGE_READY)  ## Run the benchmarks; results go to benchmarks/results.
	set -e; for script in $(BENCHMARKS); do echo "== $$script"; $(BIN)/python "$$script"; done

# The tools have what reads and writes Parquet.
calibration: $(PACKAGE_READY) $(TOOLS_READY)  ## Run what is left of the calibration study; writes docs/calibration.md.
	$(BIN)/python -m benchmarks.calibration --jobs 2

# The compiled library with its own test program, under AddressSanitizer and UBSan. No Python is involved.
sanitize: $(TOOLS_READY)  ## Build the C++ tests with sanitizers and run them.
	cmake -S . -B build/sanitize -DINTERPLAY_CORE_TESTS=ON -DINTERPLAY_SANITIZE=ON
	cmake --build build/sanitize --parallel 4
	build/sanitize/core/test_core

# The NEON kernels on any machine, under emulation. Debian: apt install g++-aarch64-linux-gnu qemu-user
neon: $(TOOLS_READY)  ## Build the C++ tests for 64-bit Arm and run them under qemu.
	cmake -S . -B build/arm -DINTERPLAY_CORE_TESTS=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
	  -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_EXE_LINKER_FLAGS=-static
	cmake --build build/arm --parallel 4
	qemu-aarch64 build/arm/core/test_core

docs: $(PACKAGE_READY) $(DOCS_READY)  ## Build the documentation into docs/_build/html.
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean:  ## Remove everything built or cached; .venv stays.
	rm -rf build dist docs/_build docs/auto_examples docs/_generated docs/sg_execution_times.rst .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

# --- The environment, step by step -----------------------------------------------------------------------------

# Dependency groups need pip 25.1.
$(PIP_READY):
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

# CMake is part of most systems. Where it is not, a wheel serves.
$(TOOLS_READY): pyproject.toml | $(PIP_READY)
	$(BIN)/python -m pip install --quiet --group dev
	command -v cmake > /dev/null || $(BIN)/python -m pip install --quiet "cmake>=3.24"
	touch $@

# Editable: Python files are used as they stand, so only the compiled part needs installing again.
$(PACKAGE_READY): pyproject.toml CMakeLists.txt $(CORE_FILES) | $(PIP_READY)
	$(BIN)/python -m pip install --quiet --editable ".[plot]"
	touch $@

$(DOCS_READY): pyproject.toml | $(PIP_READY)
	$(BIN)/python -m pip install --quiet --group docs
	touch $@
