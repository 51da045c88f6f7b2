"""Files that interplay wrote, after somebody has been at them: saved selections, parts and checkpoints.

That none of them takes more memory than it may is the business of test_bombs.py.
"""

import functools
import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np

import interplay
from fuzz.archives import packed, places_of, whole, with_checksums
from hostile.case import Area, refused, same
from hostile.data import X, Y, gains, selected
from interplay.files.whole_file import alone_with


class Runs:
    """A pickle that would run something."""

    def __reduce__(self):
        return (Path.touch, (Path("it-ran"),))


def npy(array, *, allow_pickle=False):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def npy_saying(header, data=b"\0" * 64):
    """An .npy file with a header of one's own."""
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def with_json(kind, change):
    entries = dict(whole(kind))
    document = json.loads(entries["content.json"])
    changed = change(document)
    entries["content.json"] = json.dumps(document if changed is None else changed).encode()
    return with_checksums(entries)


def with_entry(kind, name, content):
    return with_checksums(whole(kind) | {name: content})


#: One of floats in each kind of file.
ARRAYS = {
    "selection": "p_value.npy",
    "part": "runs.0.gains.gain_by_group.npy",
    "checkpoint": "searches.search.found.0.gain_by_group.npy",
}


def an_array(kind):
    return ARRAYS[kind]


def opened(kind, content):
    """Hand a file of a kind to what reads it."""
    Path("file").write_bytes(content)
    try:
        if kind == "selection":
            return interplay.load("file")
        if kind == "part":
            return interplay.merge_parts(["file"])
        return interplay.max_information_gain(X, Y, checkpoint="file")
    finally:
        assert not Path("it-ran").exists()


def damaged(kind):
    """What can be wrong with a file of any kind, by what it is."""
    array = an_array(kind)
    return {
        "an empty file": lambda: b"",
        "some other bytes": lambda: b"gains\n" * 100,
        "a zip without entries": lambda: packed({}),
        "half of it": lambda: packed(whole(kind))[: len(packed(whole(kind))) // 2],
        "without its last byte": lambda: packed(whole(kind))[:-1],
        "a pickle": lambda: pickle.dumps(Runs()),
        "an array of pickled objects": lambda: packed(
            with_entry(kind, array, npy(np.array([Runs()], dtype=object), allow_pickle=True))
        ),
        "an array that is missing": lambda: packed({n: c for n, c in whole(kind).items() if n != array}),
        "an array of texts": lambda: packed(with_entry(kind, array, npy(np.array(["a", "b"])))),
        "an array of another shape": lambda: packed(with_entry(kind, array, npy(np.zeros((2, 3))))),
        "an array of another dtype": lambda: packed(with_entry(kind, array, npy(np.zeros(8, dtype=np.complex128)))),
        "an array larger than its bytes": lambda: packed(
            with_entry(kind, array, npy_saying("{'descr': '<f8', 'fortran_order': False, 'shape': (10**15,), }"))
        ),
        "an array of a negative size": lambda: packed(
            with_entry(kind, array, npy_saying("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -8), }"))
        ),
        "a header that is code": lambda: packed(
            with_entry(kind, array, npy_saying("__import__('os').mkdir('it-ran')"))
        ),
        "a header that never ends": lambda: packed(with_entry(kind, array, npy_saying("{" * 9000))),
        "JSON that is not valid": lambda: packed(whole(kind) | {"content.json": b"{"}),
        "JSON that is a list": lambda: packed(whole(kind) | {"content.json": b"[]"}),
        "JSON with NaN": lambda: packed(with_json(kind, lambda d: d | {"version": float("nan")})),
        "JSON nested a million deep": lambda: packed(whole(kind) | {"content.json": b"[" * 10**6}),
        "JSON with a number of a million digits": lambda: packed(whole(kind) | {"content.json": b"9" * 10**6}),
        "a format of another kind": lambda: packed(with_json(kind, lambda d: d | {"format": "interplay other"})),
        "content that is a number": lambda: packed(with_json(kind, lambda d: d | {"content": 7})),
        "content that is empty": lambda: packed(with_json(kind, lambda d: d | {"content": {}})),
        "an entry that is there twice": lambda: twice(kind, array),
        "an entry of another compression": lambda: recompressed(kind),
        "an encrypted entry": lambda: encrypted(kind),
    }


def twice(kind, name):
    """An entry, and after it another of the same name; without the warning that zipfile has for it."""
    buffer = io.BytesIO(packed(whole(kind)))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.NameToInfo.pop(name)
        archive.writestr(name, npy(np.zeros(3)))
    return buffer.getvalue()


def recompressed(kind):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        for name, content in whole(kind).items():
            archive.writestr(name, content)
    return buffer.getvalue()


def encrypted(kind):
    """Every entry marked as encrypted, in the local headers and in the directory."""
    content = bytearray(packed(whole(kind)))
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for at in places_of(signature, content):
            content[at + place] |= 1
    return bytes(content)


MESSAGES = {
    "selection": "^'file' is not a saved selection, or is damaged: save it again",
    "part": "^'file' is not a part of interplay, or is damaged: search this shard again",
    "checkpoint": "'file' is not a checkpoint of interplay, or is damaged, and there is no earlier one",
}
READERS = {"selection": "`load`", "part": "`merge_parts`", "checkpoint": "`checkpoint=`"}


def damaged_cases(kind):
    return [
        refused(f"{READERS[kind]}: {what}", functools.partial(_open_made, kind, make), MESSAGES[kind])
        for what, make in damaged(kind).items()
    ]


def _open_made(kind, make):
    return opened(kind, make())


def changed(kind, *path, to):
    """The file with one value of its JSON content changed."""

    def change(document):
        node = document["content"]
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = to

    return lambda: opened(kind, packed(with_json(kind, change)))


def with_odd_entries():
    return packed(whole("selection") | {"../../outside.npy": npy(np.zeros(3)), "/etc/passwd": b"root"})


AREA = Area(
    "Saved files",
    [
        *damaged_cases("selection"),
        refused(
            "`load`: a newer format",
            lambda: opened("selection", packed(with_json("selection", lambda d: d | {"version": 99}))),
            "^'file' was saved by a newer interplay .format 99.",
        ),
        refused(
            "`load`: a version that is text",
            lambda: opened("selection", packed(with_json("selection", lambda d: d | {"version": "1"}))),
            MESSAGES["selection"],
        ),
        refused("`load`: names that are numbers", changed("selection", "names", to=[1, 2]), MESSAGES["selection"]),
        refused(
            "`load`: settings that are missing",
            changed("selection", "settings", to={"dict": {}}),
            MESSAGES["selection"],
        ),
        refused(
            "`load`: a setting that there is not",
            changed("selection", "settings", "dict", "multiclass", to="both"),
            MESSAGES["selection"],
        ),
        refused(
            "`load`: a file of interplay 0.2",
            lambda: opened("selection", packed({"selection.json": b"{}"})),
            "^'file' was saved by interplay 0.2 or earlier: run it again",
        ),
        refused("`load`: a class that does not exist", changed("selection", "type", to="Path"), MESSAGES["selection"]),
        refused(
            "`load`: a function instead of a class",
            changed("selection", "type", to="__import__"),
            MESSAGES["selection"],
        ),
        refused(
            "`load`: an array from outside",
            changed("selection", "p_value", to={"array": "../../etc/passwd"}),
            MESSAGES["selection"],
        ),
        refused(
            "`load`: negative degrees of freedom",
            lambda: opened(
                "selection",
                packed(with_entry("selection", "runs.0.gains.df_by_group.npy", npy(np.full((38, 1), -2)))),
            ),
            MESSAGES["selection"],
        ),
        refused("`load`: a file that does not exist", lambda: interplay.load("nowhere"), "nowhere"),
        refused("`load`: a folder", lambda: interplay.load("."), "directory"),
        refused("`load`: a pipe", lambda: (os.mkfifo("pipe"), interplay.load("pipe")), "it is a pipe or device"),
        refused("`load(None)`", lambda: interplay.load(None), "^path must be"),
        refused("`load(7)`", lambda: interplay.load(7), "^path must be"),
        same(
            "`load`: entries named `../../outside.npy`",
            lambda: opened("selection", with_odd_entries()).names,
            "the file without them",
            lambda: opened("selection", packed(whole("selection"))).names,
        ),
        *damaged_cases("part"),
        refused(
            "`merge_parts`: a file of interplay 0.2",
            lambda: opened("part", packed(with_json("part", _without_version))),
            "^'file' was saved by interplay 0.2 or earlier: run it again",
        ),
        refused("`merge_parts`: shard 1 of 10¹²", changed("part", "shard", "of", to=10**12), MESSAGES["part"]),
        refused("`merge_parts`: shard 0 of 1", changed("part", "shard", "number", to=0), MESSAGES["part"]),
        refused(
            "`merge_parts`: settings that are missing", changed("part", "settings", to={"dict": {}}), MESSAGES["part"]
        ),
        refused("`merge_parts`: no runs", changed("part", "runs", to={"tuple": []}), MESSAGES["part"]),
        refused(
            "`merge_parts`: another number of samples",
            changed("part", "about", "dict", "n_samples", to=7),
            MESSAGES["part"],
        ),
        refused("`merge_parts`: a file that does not exist", lambda: interplay.merge_parts(["nowhere"]), "nowhere"),
        *damaged_cases("checkpoint"),
        refused(
            "`checkpoint=`: a file of interplay 0.2",
            lambda: opened("checkpoint", packed(with_json("checkpoint", _without_version))),
            "^checkpoint: 'file' was saved by interplay 0.2 or earlier: run it again",
        ),
        refused(
            "`checkpoint=`: a folder",
            lambda: (os.mkdir("folder"), gains(checkpoint="folder")),
            "^checkpoint must be the name of a file, and 'folder' is a folder",
        ),
        refused(
            "`checkpoint=`: 10¹² tiles done",
            changed("checkpoint", "searches", "dict", "search", "done", "shape", to=[10**12]),
            MESSAGES["checkpoint"],
        ),
        refused(
            "`checkpoint=`: tiles of a negative size",
            changed("checkpoint", "searches", "dict", "search", "shapes", 0, "block_size", to=-1),
            MESSAGES["checkpoint"],
        ),
        refused(
            "`checkpoint=`: a saved selection",
            lambda: _checkpoint_of_selection(),
            "'file' is not a checkpoint of interplay",
        ),
        refused(
            "`checkpoint=`: a pipe",
            lambda: (os.mkfifo("pipe"), gains(checkpoint="pipe")),
            "^checkpoint must be a file that can be read again, and 'pipe' is a pipe or device",
        ),
        refused(
            "`checkpoint=`: the same numbers but for what a float64 cannot tell",
            lambda: _checkpoint_of_large_numbers(),
            "belongs to another search",
        ),
        refused(
            "`checkpoint=`: a file that another search is using",
            lambda: _checkpoint_in_use(),
            "^checkpoint 'file' is in use by another search in this process",
        ),
        refused("`checkpoint=`: another table", lambda: _checkpoint_of_another_table(), "belongs to another search"),
    ],
)


def _without_version(document):
    return {name: value for name, value in document.items() if name != "version"}


def _checkpoint_of_selection():
    selected().save("file")
    return gains(checkpoint="file")


def _checkpoint_of_large_numbers():
    large = 2**60 + np.argsort(np.argsort(X, axis=0), axis=0)
    gains(large, checkpoint="file")
    return gains(large[:, ::-1] + 1, checkpoint="file")


def _checkpoint_in_use():
    with alone_with(Path("file").resolve()):
        return gains(checkpoint="file")


def _checkpoint_of_another_table():
    gains(checkpoint="file")
    return gains(X + 1e-9, checkpoint="file")
