"""Files of a few kilobytes that stand for gigabytes: refused, within a bound of memory that the system enforces."""

import gzip
import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from fuzz.archives import packed, places_of, whole, with_checksums
from hostile.saved_files import ARRAYS, npy
from interplay.readers import csv_table
from interplay.readers.csv_table import read_csv

MIB = 2**20

#: What may be unpacked at a time, and room to look at it.
LIMIT_BYTES = 300 * 2**20

#: Reads one file after the other, with no more memory than that on top of what the imports took.
READER = """
import resource, sys, time
import numpy as np
import interplay

kind, limit, *files = sys.argv[1:]
X = np.random.default_rng(0).normal(size=(60, 8))
y = np.arange(60) % 2
interplay.max_information_gain(X, y)  # so that everything is imported
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(limit),) * 2)
for file in files:
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        if kind == "selection":
            interplay.load(file)
        elif kind == "part":
            interplay.merge_parts([file])
        else:
            interplay.max_information_gain(X, y, checkpoint=file)
        said = "taken"
    except ValueError as error:
        said = "refused" if "damaged" in str(error) else str(error)
    seconds = time.process_time() - started
    print(said, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, seconds)
"""


def written(path, entries, *, header=None, level=1, **blank):
    """A zip of these entries and some of so many MiB of the same byte, after the `header` of an array if given."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
        for name, (size, byte) in blank.items():
            start = io.BytesIO()
            if header is not None:
                np.lib.format.write_array_header_1_0(start, {"shape": (size * MIB // 8 - 16,)} | header)
            with archive.open(name, "w") as entry:
                entry.write((start.getvalue() + byte * MIB)[:MIB])
                for _ in range(size - 1):
                    entry.write(byte * MIB)
    return path


def with_stated_size(content, name, size):
    """The same file, whose directory says that an entry unpacks to so many bytes."""
    changed = bytearray(content)
    for signature, size_at, name_at in ((b"PK\x01\x02", 24, 46), (b"PK\x03\x04", 22, 30)):
        for at in places_of(signature, changed):
            if changed[at + name_at : at + name_at + len(name)] == name.encode():
                changed[at + size_at : at + size_at + 4] = size.to_bytes(4, "little")
    return bytes(changed)


def bombs(kind, folder):
    """Files to be refused. Those that may take some memory come last: only what exceeds the peak so far is seen."""
    entries, array = whole(kind), ARRAYS[kind]
    without_text = {name: content for name, content in entries.items() if name != "content.json"}
    without_array = {name: content for name, content in entries.items() if name != array}
    lists = b"[" + b"[]," * (12 * MIB // 3) + b"[]]"
    doubles = {"descr": "<f8", "fortran_order": False}
    files = {
        "200 MiB of JSON": written(folder / "json", without_text, **{"content.json": (200, b" ")}),
        "12 MiB of empty lists": written(folder / "lists", without_text | {"content.json": lists}),
        "4 GiB, it says": folder / "claims",
        "200 MiB, and it says less": written(folder / "conceals", without_array, **{array: (200, b"\0")}),
        # As large as the zip and the header say, of 1.2 MB: this took 4 GB and 105 s.
        "a gigabyte of zeros": written(
            folder / "zeros",
            without_array,
            level=9,
            header=doubles | {"shape": (2**27 - 16,)},
            **{array: (1024, b"\0")},
        ),
        "more entries than the zip may unpack to": written(
            folder / "entries", entries, header=doubles, **{f"more{i}.npy": (16, b"\0") for i in range(20)}
        ),
        "many bits": with_bits(folder / "bits", kind, 50),
    }
    concealing = files["200 MiB, and it says less"]
    concealing.write_bytes(with_stated_size(concealing.read_bytes(), array, 1000))
    files["4 GiB, it says"].write_bytes(with_stated_size(packed(entries), array, 2**32 - 16))
    if kind == "selection":
        files["empty lists within the bounds"] = empty_lists(folder / "few_lists", 2 * MIB - 2**16)
    return files


def with_document(path, kind, change, arrays):
    """A good file after a change of its JSON, with further arrays and all checksums."""
    document = json.loads(whole(kind)["content.json"])
    document["sha256"] |= dict.fromkeys(arrays)
    change(document["content"])
    entries = whole(kind) | {f"{name}.npy": npy(array) for name, array in arrays.items()}
    path.write_bytes(packed(with_checksums(entries | {"content.json": json.dumps(document).encode()})))
    return path


def with_bits(path, kind, mib):
    """Bits that are eight times as large once they are bools."""
    field = {"selection": "settings", "part": "settings", "checkpoint": "about"}[kind]
    more = {"more": {"bits": "more", "shape": [8 * mib * MIB]}}
    bits = {"more": np.zeros(mib * MIB, dtype=np.uint8)}
    return with_document(path, kind, lambda content: content[field]["dict"].update(more), bits)


def empty_lists(path, n_bytes):
    """As many objects as a text of that size can be made into; the names of variables are no lists."""
    return with_document(path, "selection", lambda content: content.update(names=[[]] * (n_bytes // 4)), {})


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited and measured in Linux's way")
@pytest.mark.parametrize("kind", ["selection", "part", "checkpoint"])
def test_memory_is_bounded(kind, tmp_path):
    good = tmp_path / "good"
    good.write_bytes(packed(whole(kind)))
    files = bombs(kind, tmp_path)
    command = [sys.executable, "-c", READER, kind, str(LIMIT_BYTES), *map(str, files.values())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for what, line in zip(files, done.stdout.splitlines(), strict=True):
        said, grown, seconds = line.split()
        assert said == "refused", what
        # Empty lists are the most memory that text can be made into.
        assert int(grown) < (300 if what == "empty lists within the bounds" else 100), (what, grown)
        assert float(seconds) < 2, (what, seconds)


def test_good_files_are_taken(tmp_path):
    """The bombs are refused for what they are: without it, they are good files."""
    import interplay

    for kind in ("selection", "part"):
        path = tmp_path / kind
        path.write_bytes(packed(with_checksums(whole(kind))))
        assert (interplay.load(path) if kind == "selection" else interplay.merge_parts([path])).summary()


def test_one_array_in_many_places_is_unpacked_once(tmp_path):
    import interplay

    many = {f"more{i}": {"array": "zeros"} for i in range(100)}
    zeros = {"zeros": np.zeros(25 * MIB // 8)}
    path = with_document(tmp_path / "many", "selection", lambda c: c["settings"]["dict"].update(many), zeros)
    settings = interplay.load(path).settings
    assert settings["more7"] is settings["more42"]


def test_files_of_constants_are_padded_to_be_read(tmp_path):
    """A search that has hardly begun packs better than any file may; its checkpoint is read all the same."""
    from interplay.base.tuples import MaxGains
    from interplay.search.checkpoint import Checkpoint, SearchState
    from interplay.search.engines.base import TileShape

    n_rows, n_tiles = 2_000_000, 30_000_000
    none = np.full((n_rows, 1), -1)
    found = MaxGains(np.full((n_rows, 1), -np.inf), none, np.full((n_rows, 1, 2), -1), np.abs(none), n_rows)
    done = np.zeros(n_tiles, dtype=bool)
    done[7] = True
    kept = Checkpoint(tmp_path / "run")
    kept.begin({"n_vars": n_rows})
    kept.resume("search", SearchState([TileShape()], "", (0, 0), done, [found]), {})
    kept.write()
    size = (tmp_path / "run").stat().st_size
    assert size < (40 * n_rows + n_tiles) / 15
    state = Checkpoint(tmp_path / "run")._states["search"]
    assert np.array_equal(state.done, done)
    assert np.array_equal(state.found[0].tuples, found.tuples)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured in Linux's way")
@pytest.mark.parametrize("content", [b"0,0\n", b"a,", b"a"])
def test_a_gzipped_text_is_measured_before_it_takes_memory(content, tmp_path):
    bomb = tmp_path / "bomb.csv.gz"
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        file.write(b"a,b\n" if b"\n" in content else b"")
        for _ in range(300):
            file.write(content * (MIB // len(content)))
    script = (
        "import resource, sys, pandas; from interplay.readers.csv_table import read_csv\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: read_csv(sys.argv[1])\n"
        "except ValueError as error: print(error)\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    done = subprocess.run([sys.executable, "-c", script, bomb], capture_output=True, text=True, check=True, timeout=120)
    said, grown = done.stdout.splitlines()
    assert said.endswith(
        "unpacks to more than 256 MiB, more than 100 times its size: unpack it yourself if you trust it"
    )
    assert int(grown) < 100


def test_a_large_gzipped_table_is_read(tmp_path, monkeypatch):
    """Whatever it unpacks to, if that is not out of all proportion."""
    monkeypatch.setattr(csv_table, "_MAX_BYTES", 1000)
    table = tmp_path / "table.csv.gz"
    table.write_bytes(gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (n, n % 7) for n in range(5000))))
    assert len(read_csv(table)) == 5000
    table.write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 50_000))
    with pytest.raises(ValueError, match="unpacks to more than 0 MiB, more than 100 times its size"):
        read_csv(table)
