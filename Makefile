# Everything a developer runs. Each target first makes the virtual environment it needs, in .venv.
# For a POSIX shell; on Windows use pip and pytest as .github/workflows/tests.yml does.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A tool of the system comes first; what it lacks may be in the environment.
export PATH := $(PATH):$(CURDIR)/$(BIN)

# Where there is a ccache, compilers use it.
ifneq ($(shell command -v ccache),)
export CMAKE_CXX_COMPILER_LAUNCHER ?= ccache
endif

# Some commands start many Pythons: compiled files are kept for these, also where the environment says not to.
export PYTHONDONTWRITEBYTECODE :=

# What a command imports is compiled then, and kept; pip would compile all of pandas and SciPy, one file at a time.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --no-compile

# Stamp files: a step runs again when something it depends on is newer than its stamp. They live in the environment,
# so removing .venv starts afresh.
VENV_READY := $(VENV)/.venv-ready
PIP_READY := $(VENV)/.pip-ready
TOOLS_READY := $(VENV)/.tools-ready
PACKAGE_READY := $(VENV)/.package-ready
TESTS_READY := $(VENV)/.tests-ready
DOCS_READY := $(VENV)/.docs-ready
# The C++ tests need no Python; the tools have CMake for systems without it.
CMAKE_READY := $(if $(shell command -v cmake),,$(TOOLS_READY))
# Releases are made in an environment of their own, in which every file is pinned by its hash.
RELEASE := $(VENV)/release
RELEASE_READY := $(RELEASE)/.ready
OLDEST := $(VENV)/oldest

# What is audited: nobody is advised to install the oldest packages.
LOCKS := $(filter-out release/oldest.lock,$(wildcard release/*.lock))
CORE_FILES := $(shell find core -type f -not -name "*.md")
CLANG_FORMAT_FILES := $(filter %.cpp %.hpp %.cu %.cuh,$(CORE_FILES))

# For example: make test PYTEST_ARGS="-k datasets"
PYTEST_ARGS ?= -n auto --dist worksteal
FUZZ_SECONDS ?= 60
SINCE ?= main
GPU_SUITE := tests/compat tests/interaction tests/search tests/selection tests/selector tests/tuples \
	tests/base/test_max_gains.py tests/codes/test_contrast.py tests/project/test_properties.py tests/study/test_strata.py
BENCHMARKS ?= benchmarks/compare_mdfs.py benchmarks/rates.py

.DEFAULT_GOAL := help
.PHONY: help ready demo test pytest slow affected coverage oldest gpu lint bench calibration power docs sanitize tsan fuzz neon lock reproducible wheel trywheel second sbom audit clean
# A recipe that fails must not leave a target that looks made.
.DELETE_ON_ERROR:
# Two pips at once in one environment get in each other's way.
.NOTPARALLEL:

help:  ## Show this list.
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(PACKAGE_READY)  ## Find the informative variables of a simulated table, in seconds.
	$(BIN)/interplay demo

# Afterwards targets may run at the same time: none of those that check something installs anything.
ready: $(TESTS_READY) $(DOCS_READY)  ## Build the package and install all that is needed to check it.

test: sanitize pytest  ## Run the C++ tests with sanitizers, then all Python tests.

# One thread of BLAS for each worker: on cores that others use too, threads that share a small product wait for each other,
# and tests of interactions took minutes instead of seconds.
pytest affected slow coverage oldest second: export OPENBLAS_NUM_THREADS := 1

pytest: $(TESTS_READY)  ## Run all Python tests.
	$(BIN)/python -m pytest $(PYTEST_ARGS)

slow: $(TESTS_READY)  ## Run the Python tests that take more than a few seconds.
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m slow

affected: $(TESTS_READY)  ## Run the Python tests that tests/README.md names for what differs from SINCE.
	tests=$$($(BIN)/python tests/affected.py $(SINCE)) && test -z "$$tests" || $(BIN)/python -m pytest $(PYTEST_ARGS) $$tests

# Old packages warn of each other, so that warnings are no errors here.
oldest: $(RELEASE_READY)  ## Run all Python tests with the oldest packages that pyproject.toml allows, on Python 3.11.
	$(RELEASE)/bin/uv venv --quiet --clear --no-python-downloads --python 3.11 $(OLDEST)
	$(RELEASE)/bin/uv pip install --quiet --compile-bytecode --python $(OLDEST)/bin/python --require-hashes --requirement release/oldest.lock
	$(RELEASE)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --no-deps .
	$(OLDEST)/bin/python -m pytest -W default --disable-warnings $(PYTEST_ARGS) tests

# The compiled part is measured with its own tests: the counters make it too slow for those in Python. Its templates are
# counted once, and billions of calls of a line are no mistake.
coverage: $(TESTS_READY)  ## Run all tests and say which lines they reach; pages in build/coverage, figures in docs.
	$(BIN)/python -m pip install --quiet --group coverage
	cmake -S . -B build/coverage-core -DINTERPLAY_CORE_TESTS=ON -DINTERPLAY_COVERAGE=ON
	cmake --build build/coverage-core --parallel 4
	find build/coverage-core -name "*.gcda" -delete
	build/coverage-core/core/test_core
	$(BIN)/gcovr --root . --filter "core/(cpu|include)/" --merge-lines --gcov-suspicious-hits-threshold 0 \
	  --json-summary build/coverage-core.json build/coverage-core
	$(BIN)/python -m pytest --cov --cov-report=term --cov-report=html --cov-report=json:build/coverage.json $(PYTEST_ARGS)
	$(BIN)/python release/coverage_figures.py build/coverage.json build/coverage-core.json

# On a machine with a GPU and CuPy in the environment. What is about the processor's own instructions, or takes long on
# it, is left out of the second run.
gpu: $(PACKAGE_READY) $(TOOLS_READY)  ## Run the tests that need a GPU, then those of every search with it.
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m gpu
	INTERPLAY_ENGINE=cuda $(BIN)/python -m pytest $(PYTEST_ARGS) -k "not interrupt and not simd_level" $(GPU_SUITE)

# The package is needed for the types of what it imports.
lint: $(PACKAGE_READY) $(TOOLS_READY)  ## Check style, types and the direction of imports; changes nothing.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(if $(CLANG_FORMAT_FILES),$(BIN)/clang-format --dry-run -Werror $(CLANG_FORMAT_FILES))

bench: $(PACKAGE_READY)  ## Run the benchmarks; results go to benchmarks/results.
	set -e; for script in $(BENCHMARKS); do echo "== $$script"; $(BIN)/python "$$script"; done

# Other packages go into an environment of their own; the tools are needed for Parquet. Stopped, it goes on where it was.
power: $(PACKAGE_READY) $(TOOLS_READY)  ## Compare what interplay and other methods find; half an hour.
	$(BIN)/python benchmarks/power_study.py

# The tools have what reads and writes Parquet.
calibration: $(PACKAGE_READY) $(TOOLS_READY)  ## Run what is left of the calibration study; writes docs/calibration.md.
	$(BIN)/python -m benchmarks.calibration --jobs 2

# What passed is remembered outside the clone, by a hash of its sources and the compiler: the same core is not built and
# run again. `make sanitize PASSED=build/passed` remembers nothing of other clones.
PASSED ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/interplay/passed
CORE_HASH = $(shell { cat $(sort $(CORE_FILES)) CMakeLists.txt; $(or $(CXX),c++) --version; uname -m; } | \
  $(PYTHON) -c "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest()[:16])")

# $(call passes,name,option,how to run): build the C++ tests with this option of CMake, and run them.
define passes
	@passed="$(PASSED)/$(1)-$(CORE_HASH)"; \
	if test -e "$$passed"; then echo "$(1): this core/ has passed, says $$passed"; else set -ex; \
	  cmake -S . -B build/$(1) -DINTERPLAY_CORE_TESTS=ON -D$(2)=ON; \
	  cmake --build build/$(1) --parallel 4; \
	  $(3); \
	  mkdir -p "$(PASSED)" && touch "$$passed" || true; \
	fi
endef

# The compiled library with its own test program, under AddressSanitizer and UBSan. No Python is involved.
sanitize: $(CMAKE_READY)  ## Build the C++ tests with sanitizers and run them, unless this core/ has passed.
	$(call passes,sanitize,INTERPLAY_SANITIZE,build/sanitize/core/test_core)

# Races between the threads of a search, and between callers. Where addresses are laid out too randomly for
# ThreadSanitizer, setarch has them laid out plainly.
PLAINLY := $(if $(shell command -v setarch),setarch $(shell uname -m) -R)
tsan: $(CMAKE_READY)  ## Build the C++ tests with ThreadSanitizer and run what has threads, unless this core/ has passed.
	$(call passes,tsan,INTERPLAY_THREAD_SANITIZE,TSAN_OPTIONS=halt_on_error=1 $(PLAINLY) build/tsan/core/test_core threads)

# Random input to whatever reads what others wrote. What fails is kept; `make test PYTEST_ARGS=tests/project/test_fuzz.py` then
# repeats it in its simplest form. Guided by coverage, one target at a time: pip install atheris, then
# PYTHONPATH=tests python -m fuzz.guided TARGET SECONDS.
fuzz: $(PACKAGE_READY) $(TOOLS_READY)  ## Run the fuzz targets for FUZZ_SECONDS.
	PYTHONPATH=tests $(BIN)/python -m fuzz $(FUZZ_SECONDS)

# The NEON kernels on any machine, under emulation. Debian: apt install g++-aarch64-linux-gnu qemu-user
neon: $(CMAKE_READY)  ## Build the C++ tests for 64-bit Arm and run them under qemu.
	cmake -S . -B build/arm -DINTERPLAY_CORE_TESTS=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
	  -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_EXE_LINKER_FLAGS=-static
	cmake --build build/arm --parallel 4
	qemu-aarch64 build/arm/core/test_core

docs: $(PACKAGE_READY) $(DOCS_READY)  ## Build the documentation into docs/_build/html.
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# One lock for all systems and versions of Python. What is younger than a week may yet be found to be bad.
COMPILE := $(RELEASE)/bin/uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
  --exclude-newer "7 days" --custom-compile-command "make lock" --quiet
lock: $(RELEASE_READY)  ## Bring the locks of the release up to date: release/*.lock.
	$(COMPILE) --group build --output-file release/build.lock
	$(COMPILE) --group release --constraint release/build.lock --output-file release/tools.lock
	$(COMPILE) pyproject.toml --extra plot --group test --output-file release/test.lock
	$(RELEASE)/bin/uv pip compile --resolution lowest-direct --python-version 3.11 --generate-hashes --no-annotate \
	  --custom-compile-command "make lock" --quiet pyproject.toml --extra all --group test --output-file release/oldest.lock
	$(COMPILE) --group core-test --constraint release/test.lock --output-file release/core-test.lock
	$(COMPILE) pyproject.toml --constraint release/test.lock --output-file release/runtime.lock

reproducible: $(RELEASE_READY)  ## Build wheel and source distribution twice, in two places; the bytes must be equal.
	$(RELEASE)/bin/python release/reproducible.py dist

# The stable ABI needs a Python of 3.12 or newer on the machine; each wheel is for the Pythons that are there.
wheel: $(RELEASE_READY)  ## Build source distribution and wheels into dist, repair and check them.
	$(RELEASE)/bin/check-sdist --no-isolation
	$(RELEASE)/bin/python release/wheels.py dist

# With what is in dist: after make wheel, or wheels from elsewhere.
trywheel: $(RELEASE_READY)  ## Install the wheels of dist into fresh environments of every Python here, and use them.
	$(RELEASE)/bin/python release/try_wheels.py dist

# A part of both, for one more version of Python than that of the other tests, in a folder of its own.
second: $(RELEASE_READY)  ## Build the wheel for the newest other Python here, install it without a compiler, and use it.
	$(RELEASE)/bin/python release/wheels.py build/second --second
	$(RELEASE)/bin/python release/try_wheels.py build/second --second

sbom: reproducible  ## Write what the wheel is made of and needs, as CycloneDX JSON, into dist.
	$(RELEASE)/bin/python release/sbom.py dist

# Strict: a package that could not be looked up is a failure, not a pass.
audit: $(RELEASE_READY)  ## Look for known vulnerabilities in all that is locked, and for weak spots in the workflows.
	$(RELEASE)/bin/zizmor --offline --quiet .github
	$(RELEASE)/bin/pip-audit --strict --disable-pip --require-hashes $(LOCKS:%=--requirement %)

clean:  ## Remove everything built or cached; .venv stays.
	rm -rf build dist docs/_build docs/api docs/auto_examples docs/_generated docs/sg_execution_times.rst .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

# --- The environment, step by step -----------------------------------------------------------------------------

$(VENV_READY):
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	touch $@

# Dependency groups need pip 25.1.
$(PIP_READY): | $(VENV_READY)
	$(PIP_INSTALL) --upgrade "pip>=25.1"
	touch $@

$(TOOLS_READY): pyproject.toml | $(PIP_READY)
	$(PIP_INSTALL) --group dev
	command -v cmake > /dev/null || $(PIP_INSTALL) "cmake>=3.24"
	touch $@

# Editable: Python files are used as they stand, so only the compiled part needs installing again.
$(PACKAGE_READY): pyproject.toml CMakeLists.txt $(CORE_FILES) | $(VENV_READY)
	$(PIP_INSTALL) --editable ".[plot]"
	touch $@

# Before the tests, where a warning of a file that is compiled would be an error.
$(TESTS_READY): $(PACKAGE_READY) $(TOOLS_READY)
	$(BIN)/python -m compileall -qq -j 0 -x "/tests?/" $(VENV)/lib || true
	touch $@

$(DOCS_READY): pyproject.toml | $(PIP_READY)
	$(PIP_INSTALL) --group docs
	touch $@

$(RELEASE_READY): release/tools.lock
	$(PYTHON) -m venv --clear $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --require-hashes --requirement release/tools.lock
	touch $@
