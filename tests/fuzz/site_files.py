"""Files of sites that somebody has been at: a plan, lists, counts."""

import functools
import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fuzz.archives import changed_bytes, replace_somewhere
from fuzz.outcomes import file_with, refused_or
from interplay.sites import combine_sites, count_at_site, list_at_site, plan_sites
from interplay.sites.plan import read_plan

SITES = ("a", "b")


@functools.cache
def table(site):
    rng = np.random.default_rng(SITES.index(site))
    X = rng.integers(0, 2, (60, 4))
    return X, X[:, 1] ^ X[:, 3] ^ (rng.random(60) < 0.2)


@functools.cache
def plan():
    return plan_sites(*table("a"), sites=SITES)


@functools.cache
def lists():
    return tuple(list_at_site(plan(), *table(site), site=site) for site in SITES)


@functools.cache
def counts(site):
    return count_at_site(plan(), *table(site), site=site, lists=lists())


@functools.cache
def content(kind):
    """A good file of a kind."""
    made: Any = {"plan": plan, "list": lambda: lists()[1], "counts": lambda: counts("b")}[kind]()
    with tempfile.TemporaryDirectory() as folder:
        made.save(Path(folder) / "file")
        return (Path(folder) / "file").read_bytes()


@st.composite
def texts(draw, kind):
    """A file with some bytes changed; often with a checksum that fits again."""
    changed = changed_bytes(draw, content(kind))
    if draw(st.integers(0, 3)):
        body = b"".join(line + b"\n" for line in changed.split(b"\n") if line and not line.startswith(b"# checksum: "))
        return body + b"# checksum: " + hashlib.sha256(body).hexdigest().encode() + b"\n"
    return changed


@st.composite
def plans(draw):
    if draw(st.booleans()):
        return changed_bytes(draw, content("plan"))
    document = json.loads(content("plan"))
    for _ in range(draw(st.integers(1, 3))):
        replace_somewhere(draw, document)
    return json.dumps(document).encode()


@given(plans())
def plan_of_sites(changed):
    with file_with(changed, ".json") as path:
        refused_or(lambda: list_at_site(path, *table("a"), site="a"), (ValueError, TypeError))


@given(texts("list"))
def list_of_site(changed):
    with file_with(changed, ".list") as path:
        refused_or(
            lambda: count_at_site(plan(), *table("a"), site="a", lists=[lists()[0], path]), (ValueError, TypeError)
        )


@given(texts("counts"))
def counts_of_site(changed):
    """Counts that pass all checks can be used."""
    with file_with(changed, ".counts") as path:
        found = refused_or(lambda: combine_sites(plan(), [counts("a"), path]), (ValueError, TypeError))
        if found is not None:
            assert found.summary()


@given(st.sampled_from(["plan", "list", "counts"]), st.integers(0), st.integers(0, 7))
def flips_of_site(kind, place, bit):
    """One flipped bit is refused, or changes nothing that anybody reads."""
    flipped = bytearray(content(kind))
    flipped[place % len(flipped)] ^= 1 << bit
    with file_with(bytes(flipped), f".{kind}") as path:

        def table_of():
            one = read_plan(path) if kind == "plan" else plan()
            listed = [lists()[0], path] if kind == "list" else lists()
            made = [count_at_site(one, *table(site), site=site, lists=listed) for site in SITES]
            return combine_sites(one, [made[0], path if kind == "counts" else made[1]]).table

        found = refused_or(table_of, (ValueError, TypeError))
    assert found is None or kind == "plan" or found.equals(combined())


@functools.cache
def combined():
    return combine_sites(plan(), [counts(site) for site in SITES]).table
