"""REGENIE's predictions that leave out one chromosome at a time (.loco) → a table of samples and chromosomes."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.checks import check_list, check_path, shown
from interplay.readers.sample_names import places_after_family

if TYPE_CHECKING:
    import pandas as pd

#: First word of the line with the names of the samples.
_FIRST = "FID_IID"

_SEX = {"23": "X"}


def read_loco(path: str | os.PathLike[str], *, samples: Sequence[str] | None = None) -> pd.DataFrame:
    r"""Read predictions that leave out one chromosome, as REGENIE's first step writes them (``_1.loco``, also ``.gz``).

    Parameters
    ----------
    path : path-like
    samples : sequence of str, optional
        Names of samples, each ``FID_IID`` or IID, in the order in which they are wanted; all samples of the file if not
        given.

    Returns
    -------
    DataFrame
        One row per sample, named as in `samples`, one column per chromosome ("1" … "22", "X"). A column is the
        prediction without that chromosome: an `offset` for variants on it. `interactions` takes the whole table as
        `offset`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "step1_1.loco"
    >>> _ = file.write_text("FID_IID f1_a f2_b\n1 0.25 -0.5\n2 0.5 -0.25\n")
    >>> read_loco(file, samples=["b", "a"]).loc["a"].to_dict()
    {'1': 0.25, '2': 0.5}
    """
    import pandas as pd

    name = os.fspath(check_path("path", path))
    lines = _words(name)
    first = next(lines, [])
    if not first or first[0] != _FIRST or len(first) < 2:
        raise ValueError(f"{shown(name)} is no file of LOCO predictions: its first line does not begin with {_FIRST}")
    people = first[1:]
    rows: dict[str, list[float]] = {}
    for number, words in enumerate(lines, start=2):
        chromosome = _SEX.get(words[0], words[0])
        if chromosome in rows:
            raise ValueError(f"{shown(name)}, line {number}: chromosome {shown(chromosome)} is there twice")
        if len(words) != len(people) + 1:
            raise ValueError(
                f"{shown(name)}, line {number} has {len(words) - 1} predictions for {len(people)} samples: the file is "
                "damaged, or not complete"
            )
        try:
            rows[chromosome] = [float(word) for word in words[1:]]
        except ValueError:
            raise ValueError(f"{shown(name)}, line {number}: a prediction is no number") from None
    if not rows:
        raise ValueError(f"{shown(name)} has no predictions: it ends after the names of the samples")
    values = np.array(list(rows.values())).T
    places, names = list(range(len(people))), people
    if samples is not None:
        names = [str(each) for each in check_list("samples", samples)]
        places = places_of_samples(people, names, name)
    found = values[places]
    if not np.isfinite(found).all():
        first_bad = names[int(np.argmin(np.isfinite(found).all(axis=1)))]
        raise ValueError(f"{shown(name)} has no prediction for sample {shown(first_bad)}: leave the sample out")
    return pd.DataFrame(found, index=names, columns=list(rows))


def _words(name: str) -> Iterator[list[str]]:
    """Yield the words of each line that has any."""
    opened = gzip.open(name, "rt") if name.endswith(".gz") else open(name, encoding="utf-8")  # noqa: SIM115
    with opened as file:
        try:
            for line in file:
                if words := line.split():
                    yield words
        except (UnicodeDecodeError, OSError, EOFError) as error:
            raise ValueError(f"{shown(name)} cannot be read as text: {error}") from None


def places_of_samples(people: list[str], samples: list[str], name: str) -> list[int]:
    """Return the places of samples among people, who are named FID_IID; samples also IID.

    `name` is that of the predictions, for messages.
    """
    place_of = {person: place for place, person in enumerate(people)}
    own = places_after_family(people)
    places = []
    for each in samples:
        found = [place_of[each]] if each in place_of else own.get(each, [])
        if len(found) != 1:
            missing = "has no predictions" if not found else f"is the name of {len(found)} people: give FID_IID"
            raise ValueError(f"samples: {shown(each)} {missing} in {shown(name)}")
        places.append(found[0])
    return places
