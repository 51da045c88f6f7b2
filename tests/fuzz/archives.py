"""Saved selections, parts and checkpoints that somebody has been at."""

import copy
import functools
import hashlib
import io
import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import interplay
from fuzz.outcomes import file_with, refused_or

Entries = dict[str, bytes]

ODD_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ODD_ARRAYS = st.builds(
    lambda dtype, shape, fill: np.full(shape, fill).astype(dtype),
    st.sampled_from(["f8", "f4", "i8", "u1", "?", "U3", "c16", "M8[s]"]),
    st.lists(st.integers(0, 4), max_size=3),
    st.sampled_from([0, 1, 3]),
)


@functools.cache
def data():
    X = np.random.default_rng(0).normal(size=(60, 8))
    return X, np.where((X[:, 1] > 0) ^ (X[:, 3] > 0), "ill", "well")


@functools.cache
def whole(kind):
    """A good file of a kind, entry by entry."""
    X, y = data()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        if kind == "selection":
            interplay.select(X, y, dimensions=2, n_contrast=30, random_state=0).save(path)
        elif kind == "part":
            interplay.search_shard(X, y, dimensions=2, shard=(1, 1), n_contrast=30).save(path)
        else:
            interplay.max_information_gain(X, y, checkpoint=path)
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def packed(entries):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def places_of(signature, content):
    """Where the headers of a zip file that start like this begin."""
    at = content.find(signature)
    while at >= 0:
        yield at
        at = content.find(signature, at + len(signature))


def with_checksums(entries):
    """Vouch for what was changed, as whoever changed it would."""
    if "content.json" not in entries:
        return entries
    document = json.loads(entries["content.json"])
    if isinstance(document, dict) and isinstance(document.get("sha256"), dict):
        for name in document["sha256"]:
            document["sha256"][name] = hashlib.sha256(entries.get(f"{name}.npy", b"")).hexdigest()
    text = json.dumps(document).encode()
    return entries | {"content.json": text, "content.sha256": hashlib.sha256(text).hexdigest().encode()}


@st.composite
def changed_entries(draw, kind):
    """A good file with a few of its values, arrays or entries replaced."""
    entries = dict(whole(kind))
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(sorted(entries)))
        if name.endswith(".json"):
            document = json.loads(entries[name])
            replace_somewhere(draw, document)
            entries[name] = json.dumps(document).encode()
        elif name.endswith(".npy") and draw(st.booleans()):
            buffer = io.BytesIO()
            np.save(buffer, draw(ODD_ARRAYS))
            entries[name] = buffer.getvalue()
        else:
            entries[name] = changed_bytes(draw, entries[name])
    return with_checksums(entries)


def replace_somewhere(draw, document):
    """Walk down the tree and put something else at the end of the way; or take it away, or twice."""
    node = document
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = draw(st.sampled_from(keys))
        child = node[key]
        if isinstance(child, dict | list) and child and draw(st.integers(0, 4)):
            node = child
            continue
        what = draw(st.sampled_from(["other", "gone", "neighbour"]))
        if what == "gone":
            del node[key]
        elif what == "neighbour":
            node[key] = copy.deepcopy(node[draw(st.sampled_from(keys))])
        else:
            node[key] = draw(ODD_JSON)
        return


def changed_bytes(draw, content):
    """Some bytes changed, cut out or put in."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(changed)))
        end = min(len(changed), place + draw(st.sampled_from([0, 1, 2, 8, 10**9])))
        changed[place:end] = draw(st.binary(max_size=8))
    return bytes(changed)


@st.composite
def files(draw, kind):
    if draw(st.booleans()):
        return packed(draw(changed_entries(kind)))
    return changed_bytes(draw, packed(whole(kind)))


@given(files("selection"))
def load(content):
    """What is loaded can be used."""
    with file_with(content, ".interplay") as path:
        found = refused_or(lambda: interplay.load(path), (ValueError,))
        if found is not None:
            assert found.summary()
            assert len(found.table) == len(found.names)
            assert len(found.contrast) >= 0
            found.to_html(path)


@given(files("part"))
def merge(content):
    with file_with(content, ".part") as path:
        found = refused_or(lambda: interplay.merge_parts([path]), (ValueError,))
        if found is not None:
            assert found.summary()


@given(files("checkpoint"))
def resume(content):
    with file_with(content, ".ckpt") as path:
        refused_or(lambda: interplay.max_information_gain(*data(), checkpoint=path), (ValueError,))
