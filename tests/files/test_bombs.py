"""Files of a few kilobytes that stand for gigabytes: refused, within a bound of memory that the system enforces."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from fuzz.archives import packed, places_of, whole, with_checksums
from interplay.readers import text_file
from interplay.readers.csv_table import read_csv

MIB = 2**20

#: What may be unpacked at a time, and room to look at it.
LIMIT_BYTES = 3 * 2**29

#: Reads one file after the other, with no more memory than that on top of what the imports took.
READER = """
import resource, sys
import numpy as np
import interplay
from interplay.files import zip_content

zip_content._MAX_ARRAY_BYTES >>= 3  # to be quick about it
kind, limit, *files = sys.argv[1:]
X = np.random.default_rng(0).normal(size=(60, 8))
y = np.arange(60) % 2
interplay.max_information_gain(X, y)  # so that everything is imported
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(limit),) * 2)
for file in files:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
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
    print(said, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def written(path: Path, entries: dict[str, bytes], *, header: dict | None = None, **blank: tuple[int, bytes]) -> Path:
    """A zip of these entries and one that is so many MiB of the same byte, after the `header` of an array if given."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
        for name, (size, byte) in blank.items():
            start = io.BytesIO()
            if header is not None:
                np.lib.format.write_array_header_1_0(start, header)
            with archive.open(name, "w") as entry:
                entry.write((start.getvalue() + byte * MIB)[:MIB])
                for _ in range(size - 1):
                    entry.write(byte * MIB)
    return path


def with_stated_size(content: bytes, name: str, size: int) -> bytes:
    """The same file, whose directory says that an entry unpacks to so many bytes."""
    changed = bytearray(content)
    for signature, size_at, name_at in ((b"PK\x01\x02", 24, 46), (b"PK\x03\x04", 22, 30)):
        for at in places_of(signature, changed):
            if changed[at + name_at : at + name_at + len(name)] == name.encode():
                changed[at + size_at : at + size_at + 4] = size.to_bytes(4, "little")
    return bytes(changed)


ARRAYS = {
    "selection": "selection.p_value.npy",
    "part": "run0.gains.gain_by_group.npy",
    "checkpoint": "search.0.gain_by_group.npy",
}


def bombs(kind: str, folder: Path) -> dict[str, Path]:
    """Files to be refused. Those that may take some memory come last: only what exceeds the peak so far is seen."""
    entries, array = whole(kind), ARRAYS[kind]
    text = "selection.json" if kind == "selection" else "content.json"
    without_text = {name: content for name, content in entries.items() if name != text}
    without_array = {name: content for name, content in entries.items() if name != array}
    files = {
        "200 MiB of JSON": written(folder / "json", without_text, **{text: (200, b" ")}),
        "4 GiB, it says": folder / "claims",
        "200 MiB, and it says less": written(folder / "conceals", without_array, **{array: (200, b"\0")}),
    }
    concealing = files["200 MiB, and it says less"]
    concealing.write_bytes(with_stated_size(concealing.read_bytes(), array, 1000))
    files["4 GiB, it says"].write_bytes(with_stated_size(packed(entries), array, 2**32 - 16))
    if kind == "selection":
        document = json.loads(entries[text])
        document["content"]["settings"]["dict"] |= {f"more{i}": {"array": "zeros"} for i in range(100)}
        changed = entries | {text: json.dumps(document).encode()}
        header = {"descr": "<f8", "fortran_order": False, "shape": (25 * MIB // 8 - 16,)}
        files["one array of 25 MiB a hundred times"] = written(
            folder / "many", changed, header=header, **{"zeros.npy": (25, b"\0")}
        )
        lists = b"[" + b"[]," * (12 * MIB // 3) + b"[]]"
        files["12 MiB of empty lists"] = written(folder / "lists", without_text | {text: lists})
    return files


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited and measured in Linux's way")
@pytest.mark.parametrize("kind", ["selection", "part", "checkpoint"])
def test_memory_is_bounded(kind: str, tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_bytes(packed(whole(kind)))
    files = bombs(kind, tmp_path)
    command = [sys.executable, "-c", READER, kind, str(LIMIT_BYTES), *map(str, files.values())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for what, line in zip(files, done.stdout.splitlines(), strict=True):
        said, grown = line.split()
        assert said == "refused", what
        # Arrays may take what is allowed them. Empty lists are the most memory that text can be made into.
        most = {"one array of 25 MiB a hundred times": 250, "12 MiB of empty lists": 700}.get(what, 100)
        assert int(grown) < most, (what, grown)


def test_good_files_are_taken(tmp_path: Path) -> None:
    """The bombs are refused for what they are: without it, they are good files."""
    import interplay

    for kind in ("selection", "part"):
        path = tmp_path / kind
        path.write_bytes(packed(with_checksums(whole(kind))))
        assert (interplay.load(path) if kind == "selection" else interplay.merge_parts([path])).summary()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured in Linux's way")
@pytest.mark.parametrize("content", [b"0,0\n", b"a,", b"a"])
def test_a_gzipped_text_is_measured_before_it_takes_memory(content: bytes, tmp_path: Path) -> None:
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


def test_a_large_gzipped_table_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it unpacks to, if that is not out of all proportion."""
    monkeypatch.setattr(text_file, "_MAX_BYTES", 1000)
    table = tmp_path / "table.csv.gz"
    table.write_bytes(gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (n, n % 7) for n in range(5000))))
    assert len(read_csv(table)) == 5000
    table.write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 50_000))
    with pytest.raises(ValueError, match="unpacks to more than 0 MiB, more than 100 times its size"):
        read_csv(table)
