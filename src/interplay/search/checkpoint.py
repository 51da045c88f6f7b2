"""A search in progress → a file from which the same call goes on."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_path, check_real, warn
from interplay.base.progress import Unfinished
from interplay.base.tuples import MaxGains
from interplay.data.codes.planes import MappedWords
from interplay.files.archive import DamagedFile, FileFormat, read_undamaged, write_archive
from interplay.files.types import Check
from interplay.files.whole_file import FileInUseError, alone_with, is_special, one_line, real_path
from interplay.search.engines.base import SearchInterrupted, TileShape
from interplay.search.engines.routing import SearcherCounts, are_counts

#: Work that a crash can cost at most.
SECONDS_BETWEEN_WRITES = 60.0


@dataclass
class SearchState:
    """How far one search has come."""

    #: How tiles were cut, for each list of tiles.
    shapes: list[TileShape]
    #: Hash of the way in which tuples are cut into tiles: numbers of tiles mean nothing without it.
    layout: str
    #: (int, int): the discretisation and the list of tiles in work; all before them are done.
    at: tuple[int, int]
    #: (n_tiles,): tiles of that list that are done.
    done: Annotated[BoolArray, Check("n_tiles")]
    #: Maxima so far, one for each list of tiles.
    found: list[MaxGains]
    #: Searchers of the tiles that are done.
    searched: SearcherCounts = field(default_factory=dict)
    #: (n_listed, 1 + k): of a search that lists tuples: the discretisation and the members of each so far.
    listed: Annotated[IntArray | None, Check("n_listed n_numbers")] = None

    def is_consistent(self) -> bool:
        """Say whether `make_tuple_tiles` would take these shapes, and these are counts: a file may say anything."""
        sizes = [size for shape in self.shapes for size in (shape.block_size, shape.middle_size, shape.n_lanes)]
        return all(size is None or size > 0 for size in sizes) and are_counts(self.searched)


@dataclass
class _Content:
    """Content of the file: the call, its searches by name, and lists of rows that are stacked."""

    about: dict[str, Any] | None
    searches: dict[str, SearchState]
    rows: dict[str, FloatArray]

    def is_consistent(self) -> bool:
        """Say whether rows are stacked arrays: a file may say anything."""
        return all(rows.ndim > 1 for rows in self.rows.values())


_FORMAT = FileFormat(
    name="checkpoint",
    version=2,
    root=_Content,
    types=(SearchState, TileShape, MaxGains),
    in_words="checkpoint of interplay",
    advice="",
)


@dataclass
class Checkpoint:
    """The file in which the searches of one call are kept, for the argument `checkpoint`.

    A plain file name is enough if a write every minute is right. The file is replaced as a whole. The previous one is
    kept beside it (``.prev``) and is used if the newest is damaged. Only one search at a time may use the file, which a
    file ``.lock`` beside it shows. Engines, threads and display may change between calls, but not the settings that
    decide the gains. Bit planes of more than a gigabyte lie in a file beside it too (``.planes``), mapped into memory,
    and are found there by the next call; it may be removed when no call needs it.

    Parameters
    ----------
    path : str or path-like
    seconds : float
        Longest time between two writes: a crash loses no more than this.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 8)), rng.integers(0, 2, 100)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "run.ckpt"
    >>> first = interplay.max_information_gain(X, y, checkpoint=interplay.Checkpoint(file, seconds=10))
    >>> again = interplay.max_information_gain(X, y, checkpoint=file)
    >>> bool((first.gain == again.gain).all())
    True
    >>> interplay.max_information_gain(X, y, dimensions=3, checkpoint=file)
    Traceback (most recent call last):
        ...
    ValueError: checkpoint '...run.ckpt' belongs to another search (dimensions: 2 there, 3 here): repeat the call ...
    """

    path: str | os.PathLike[str]
    seconds: float = SECONDS_BETWEEN_WRITES
    _about: dict[str, Any] | None = field(default=None, init=False, repr=False)
    _states: dict[str, SearchState] = field(default_factory=dict, init=False, repr=False)
    _rows: dict[str, list[FloatArray]] = field(default_factory=dict, init=False, repr=False)
    _written: float = field(default=0.0, init=False, repr=False)
    _known: tuple[int, ...] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if not Path(check_path("checkpoint", self.path)).name or self._file.is_dir():
            raise ValueError(f"checkpoint must be the name of a file, and {os.fspath(self.path)!r} is a folder")
        if is_special(self._file):
            raise ValueError(
                f"checkpoint must be a file that can be read again, and {os.fspath(self.path)!r} is a pipe or device: "
                "name another"
            )
        self.seconds = check_real("seconds", self.seconds, low=0.0)
        self._read()
        self._written = time.monotonic()

    @property
    def _file(self) -> Path:
        """The file that the path leads to: beside a link there may be no room, or another disk."""
        return real_path(self.path)

    @property
    def _previous(self) -> Path:
        return self._file.with_name(self._file.name + ".prev")

    @property
    def seed(self) -> int | None:
        """The seed of the search that the file holds, so that a call with ``random_state=None`` goes on with it."""
        return None if self._about is None else self._about.get("random_state")

    @contextmanager
    def keeping(self, about: Mapping[str, Any]) -> Iterator[None]:
        """Keep the searches that are done meanwhile, and let nobody else use the file; `about` as in `begin`."""
        try:
            with alone_with(self._file):
                if self._state_of_file() != self._known:  # another search was there since
                    self._read()
                self.begin(about)
                yield
                self.finish()
        except FileInUseError as holder:
            raise ValueError(
                f"checkpoint {os.fspath(self.path)!r} is in use by {holder}: wait until that is done, or name another "
                "file"
            ) from None

    def begin(self, about: Mapping[str, Any]) -> None:
        """Record the entries that decide the searches; a file that exists must have the same entries."""
        wanted = {"interplay": version("interplay"), **about}
        if self._about is None:
            self._about = wanted
            self.write()  # a file that cannot be written is found out now, not after a minute's work
        elif difference := describe_difference(self._about, wanted):
            raise ValueError(
                f"checkpoint {os.fspath(self.path)!r} belongs to another search ({difference}): repeat the call it was "
                "made with, name another file, or remove it to start afresh"
            )

    def planes_file(self, what: bytes) -> MappedWords:
        """Return the file beside this one for the bit planes that `what` identifies, beside the entries of `begin`."""
        assert self._about is not None
        # Planes serve searches of any tuples.
        about = {name: entry for name, entry in self._about.items() if name not in ("dimensions", "pseudocount")}
        key = hashlib.blake2b(repr(sorted(about.items())).encode() + what, digest_size=16).hexdigest()
        return MappedWords(self._file.with_name(self._file.name + ".planes"), key)

    def tile_shapes(self, name: str) -> list[TileShape] | None:
        """Return how the tiles of the search of that name were cut, if it has begun: engines differ in it."""
        return self._states[name].shapes if name in self._states else None

    def resume(self, name: str, fresh: SearchState, n_tiles: Mapping[tuple[int, int], int]) -> SearchState:
        """Return the state of the search of that name, or `fresh`; either is written from now on as it changes.

        `n_tiles` says how many tiles there are for each discretisation and list of tiles.
        """
        state = self._states.setdefault(name, fresh)
        same_tiles = state.layout == fresh.layout and len(state.done) == n_tiles.get(state.at, len(state.done))
        if not (same_tiles and _shapes_found(state) == _shapes_found(fresh)):
            raise ValueError(
                f"checkpoint {os.fspath(self.path)!r} cuts the search into other tiles than this version of interplay: "
                "use the version that wrote it, or remove it to start afresh"
            )
        return state

    def rows(self, name: str, *, shape: tuple[int, ...], at_most: int) -> list[FloatArray]:
        """Return the list of arrays of that name, empty at first; arrays appended to it are written from now on.

        All its arrays have this `shape`: the maxima of one permutation, say.
        """
        rows = self._rows.setdefault(name, [])
        if len(rows) > at_most or any(row.shape != shape or not (row < np.inf).all() for row in rows):
            raise ValueError(
                f"checkpoint {os.fspath(self.path)!r} holds permutations of another search: name another file, or "
                "remove it to start afresh"
            )
        return rows

    def write_if_due(self, next_in: float) -> None:
        """Write unless there will be another chance, in `next_in` seconds, before it is due."""
        if time.monotonic() - self._written + next_in >= self.seconds:
            self.write()

    def write(self) -> None:
        """Replace the file by the present state."""
        rows = {name: np.stack(rows) for name, rows in self._rows.items() if rows}
        write_archive(self.path, _FORMAT, _Content(self._about, self._states, rows), previous=self._previous)
        self._written, self._known = time.monotonic(), self._state_of_file()

    def finish(self) -> None:
        """Write for the last time. The file stays: the same call then returns at once."""
        self.write()
        self._previous.unlink(missing_ok=True)

    def _read(self) -> None:
        """Read the newest file that is whole."""
        damaged = None
        self._known = self._state_of_file()
        for path in (Path(self.path), self._previous):
            try:
                content: _Content = read_undamaged(path, _FORMAT)
            except FileNotFoundError:
                continue
            except DamagedFile as error:
                damaged = damaged or error
                continue
            except ValueError as error:
                raise ValueError(f"checkpoint: {error}; remove the file to start afresh") from None
            if damaged is not None:
                warn(f"{damaged}: resuming from {os.fspath(path)!r}, which was written before it")
                # Otherwise it would replace the good file at the next write.
                self._file.unlink()
            self._about, self._states = content.about, content.searches
            self._rows = {name: list(rows) for name, rows in content.rows.items()}
            return
        if damaged is not None:
            raise ValueError(f"checkpoint: {damaged}, and there is no earlier one: name another file, or remove it")

    def _state_of_file(self) -> tuple[int, ...] | None:
        """Return inode, size and time of the file, which change when another search writes it."""
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns


#: The argument `checkpoint`.
AsCheckpoint = str | os.PathLike[str] | Checkpoint | None


def as_checkpoint(checkpoint: AsCheckpoint) -> Checkpoint | None:
    """Return the argument `checkpoint` as a Checkpoint, or None."""
    return checkpoint if checkpoint is None or isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)


@contextmanager
def keeping(checkpoint: Checkpoint | None, about: Callable[[], Mapping[str, Any]]) -> Iterator[None]:
    """Keep the searches that are done meanwhile, where there is a checkpoint to keep them in; `about` as in `begin`."""
    if checkpoint is None:
        yield
    else:
        with checkpoint.keeping(about()):
            yield


def kept_at_interrupt(checkpoint: Checkpoint | None) -> tuple[str | None, str | None]:
    """Write the finds before an interrupt; return the file that has them, or the reason why it has not.

    An error of the file, a full disk say, must not take the place of the finds.
    """
    if checkpoint is None:
        return None, None
    try:
        checkpoint.write()
    except OSError as error:
        return None, one_line(error)
    except KeyboardInterrupt:
        return None, "interrupted again while it was written"
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
    return os.fspath(checkpoint.path), None


@contextmanager
def handing_over(
    finished: Callable[[], Any], *, done: float = 1.0, checkpoint: Checkpoint | None = None
) -> Iterator[None]:
    """Within, Ctrl-C hands over the finished part of a call whose search is done, or `done` to this share.

    That is what `Unfinished` has, or else what `finished` returns. The checkpoint has the search already.
    """
    try:
        yield
    except SearchInterrupted:
        raise
    except KeyboardInterrupt as stopped:
        kept_in = None if checkpoint is None else os.fspath(checkpoint.path)
        partial = stopped.done if isinstance(stopped, Unfinished) else finished()
        raise SearchInterrupted(partial, done, kept_in) from None


def describe_difference(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Return the differences between two descriptions of a search, as "dimensions: 3 there, 2 here"; "" if none."""
    differences = []
    for name in dict.fromkeys([*stored, *wanted]):
        there, here = stored.get(name, "none"), wanted.get(name, "none")
        if there != here:
            hashed = {"data fingerprint": "other data", "contrast fingerprint": "other data", "tiles": "other tiles"}
            differences.append(hashed.get(name, f"{name}: {there!r} there, {here!r} here"))
    return ", ".join(dict.fromkeys(differences))


def _shapes_found(state: SearchState) -> tuple[Any, ...]:
    """Return the shapes of maxima and of the list of tuples, in which states of one search agree."""
    maxima = [(gains.n_vars, gains.tuples_by_group.shape) for gains in state.found]
    return maxima, None if state.listed is None else state.listed.shape[1:]
