"""The locks of a release against what pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted((ROOT / "release").glob("*.lock"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = PYPROJECT["dependency-groups"]
EXTRAS = Requirement(PYPROJECT["project"]["optional-dependencies"]["all"][0]).extras
OLD = "run `make lock` and commit what it changes"


def pinned(lock):
    """Requirements of a lock by name, each with its hashes; several where systems or versions of Python differ."""
    entries = {}
    for entry in re.sub(r"\\\n", " ", lock.read_text(encoding="utf-8")).splitlines():
        if entry and not entry.startswith("#"):
            requirement, *hashes = re.split(r"\s+--hash=", entry)
            parsed = Requirement(requirement)
            entries.setdefault(canonicalize_name(parsed.name), []).append((parsed, hashes))
    return entries


def asked_for(group):
    for entry in GROUPS[group]:
        if isinstance(entry, dict):
            yield from asked_for(entry["include-group"])
        else:
            yield entry


ASKED = {
    "oldest": [
        *PYPROJECT["project"]["dependencies"],
        *(entry for extra in EXTRAS for entry in PYPROJECT["project"]["optional-dependencies"][extra]),
        *asked_for("test"),
    ],
    "core-test": list(asked_for("core-test")),
    "build": [*PYPROJECT["build-system"]["requires"], *asked_for("build")],
    "runtime": PYPROJECT["project"]["dependencies"],
    "test": [*PYPROJECT["project"]["dependencies"], *asked_for("test")],
    "tools": [*PYPROJECT["build-system"]["requires"], *asked_for("release")],
}


def test_every_lock_is_known():
    assert {lock.stem for lock in LOCKS} == set(ASKED)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_pins_one_version_by_hash_and_names_no_server(lock):
    assert "://" not in lock.read_text(encoding="utf-8")
    for name, entries in pinned(lock).items():
        for requirement, hashes in entries:
            assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), name
            assert hashes, name
            assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", entry) for entry in hashes), name


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_holds_what_is_asked_for(lock):
    entries = pinned(lock)
    for text in ASKED[lock.stem]:
        wanted = Requirement(text)
        found = entries.get(canonicalize_name(wanted.name), [])
        assert found, f"{lock.name} lacks {wanted.name}: {OLD}"
        for requirement, _ in found:
            (version,) = (specifier.version for specifier in requirement.specifier)
            assert wanted.specifier.contains(version, prereleases=True), f"{lock.name}, {wanted}: {OLD}"


def test_what_is_built_with_and_needed_is_what_is_tested():
    locks = {lock.stem: pinned(lock) for lock in LOCKS}
    for part, whole in (("build", "tools"), ("runtime", "test"), ("core-test", "test")):
        for name, entries in locks[part].items():
            versions = {str(requirement.specifier) for requirement, _ in entries}
            assert versions <= {str(requirement.specifier) for requirement, _ in locks[whole][name]}, f"{name}: {OLD}"


def test_the_oldest_packages_are_those_that_pyproject_names():
    """A lower bound that no version meets, or that others raise, is not true."""
    entries = pinned(ROOT / "release" / "oldest.lock")
    for text in ASKED["oldest"]:
        wanted = Requirement(text)
        ((locked, _),) = entries[canonicalize_name(wanted.name)]
        (bound,), (version,) = wanted.specifier, locked.specifier
        assert Version(version.version).release[: len(Version(bound.version).release)] == Version(bound.version).release
