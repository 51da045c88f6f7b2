"""One table, mangled as files of real life are: what interplay reads, finds and says of each copy.

Nothing may be silent: a file is refused, or something is said of it, or it holds the very numbers of the good one.
"""

import gzip
import io
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyreadstat

import interplay
from hostile.case import ERRORS, escaped, in_empty_folder
from interplay.data.study.table import as_table
from interplay.io import read_data
from interplay.show.results.summary_words import missing_in_words

N_SAMPLES = 120

_rng = np.random.default_rng(11)
_dose, _weight = _rng.normal(50, 20, size=(2, N_SAMPLES)).round(1)
_is_ill = ((_dose > np.median(_dose)) ^ (_weight > np.median(_weight))) ^ (_rng.random(N_SAMPLES) < 0.05)

#: The dose and the weight decide together; the others tell nothing.
GOOD = pd.DataFrame(
    {
        "age": _rng.integers(20, 80, N_SAMPLES),
        "dose": _dose,
        "weight": _weight,
        "site": _rng.choice(["Lyon", "Graz", "Turku"], N_SAMPLES),
        "outcome": np.where(_is_ill, "ill", "well"),
    }
)
CSV = GOOD.to_csv(index=False)


@dataclass(frozen=True)
class Messy:
    """A mangled copy.

    Attributes
    ----------
    what : str
        What is wrong with it, in Markdown.
    name : str
        Of the file.
    content : bytes, str or callable
        Of the file, or what writes it.
    options : dict
        Arguments of `read_data`; those of `select` are under "select".
    """

    what: str
    name: str
    content: bytes | str | Callable[[str], Any]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CameOfIt:
    """What interplay made of a file: what it found, what it said, and whether the numbers are the same."""

    found: list[str] | None
    said: list[str]
    is_same: bool

    @property
    def is_silent(self):
        return not self.said and not self.is_same

    def row(self, what):
        found = "refused" if self.found is None else ", ".join(self.found) or "nothing"
        return f"| {what} | {found} | {' — '.join(escaped(words) for words in self.said) or 'nothing to say'} |"


def came_of(messy):
    """Write the file, read it, and search it as `interplay run` does."""
    options = {"target": "outcome"} | messy.options
    settings = {"n_contrast": 100, "random_state": 0} | options.pop("select", {})
    with in_empty_folder(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if callable(messy.content):
            messy.content(messy.name)
        else:
            text = messy.content
            Path(messy.name).write_bytes(text.encode() if isinstance(text, str) else text)
        found, is_same, error, filled = None, False, [], []
        try:
            X, y = read_data(messy.name, **options)
            table = as_table(X)
            result = interplay.select(X, y, **settings)
            found, filled = sorted(result.relevant), missing_in_words(result.record.missing)
            is_same = _is_good(table, y)
        except ERRORS as raised:
            error = [f"{raised}"]
            assert "\n" not in error[0], error
        ours = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
        assert len(ours) == len(caught), [str(warning.message) for warning in caught]
    return CameOfIt(found, [*ours, *error, *filled], is_same)


def _is_good(table, y):
    """Say whether a table is the good one, but for the scale of its numbers, which are ranked."""
    good = as_table(GOOD.drop(columns="outcome"))
    if table.names != good.names or table.kinds.tolist() != good.kinds.tolist():
        return False
    if table.level_names(3) != good.level_names(3) or list(map(str, y)) != GOOD["outcome"].tolist():
        return False
    return all(np.array_equal(_ranks(table, v), _ranks(good, v)) for v in range(4))


def _ranks(table, v):
    return np.unique(table.block(v, v + 1)[0], return_inverse=True)[1]


# --- Ways to mangle ------------------------------------------------------------------------------------------------


def column(name, change, *, every=1, quote=False, first=0):
    """Return the csv with the texts of one column changed, all or every so many."""
    frame = GOOD.astype(str)
    texts = [change(text) if (i - first) % every == 0 else text for i, text in enumerate(frame[name])]
    return frame.assign(**{name: texts}).to_csv(index=False, quoting=1 if quote else 0)


def cells(name, text, every=12):
    """Return the csv with this text in every so many cells of a column."""
    return column(name, lambda _: text, every=every, first=5)


def lines(change):
    return "\n".join(change(CSV.splitlines())) + "\n"


def added(**columns):
    return GOOD.assign(**columns).to_csv(index=False)


def sheet(*frames, startrow=0, title=None):
    def write(name):
        with pd.ExcelWriter(name, engine="openpyxl") as book:
            for number, frame in enumerate(frames):
                frame.to_excel(book, sheet_name=f"Sheet{number + 1}", index=False, startrow=startrow)
        if title is not None:
            opened = openpyxl.load_workbook(name)
            opened.active["A1"] = title
            opened.save(name)

    return write


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_csv", ".csv"), text)
    return buffer.getvalue()


def excel_bytes():
    buffer = io.BytesIO()
    GOOD.to_excel(buffer, index=False, engine="openpyxl")
    return buffer.getvalue()


def spss(frame, **options):
    return lambda name: pyreadstat.write_sav(frame, name, **options)


def transposed():
    return GOOD.astype(str).set_axis([f"p{i}" for i in range(N_SAMPLES)]).T.to_csv(index_label="variable")


_codes = GOOD.assign(site=GOOD["site"].map({"Graz": 1, "Lyon": 2, "Turku": 3}))
_labels = {"site": {1: "Graz", 2: "Lyon", 3: "Turku"}}
_days = pd.Series(pd.date_range("2019-01-01", periods=N_SAMPLES, freq="3D"))
_gaps = np.where(_is_ill, _rng.normal(size=N_SAMPLES).round(3), np.nan)
_late = np.where(_rng.random(N_SAMPLES) < np.where(_is_ill, 0.8, 0.1), np.nan, _rng.normal(size=N_SAMPLES).round(3))


#: By what is wrong.
MESSY = {
    "Text files": [
        Messy("nothing", "data.csv", CSV),
        Messy("semicolons and decimal commas", "data.csv", GOOD.to_csv(index=False, sep=";", decimal=",")),
        Messy("tabs, in a .txt", "data.txt", GOOD.to_csv(index=False, sep="\t")),
        Messy("bars", "data.csv", GOOD.to_csv(index=False, sep="|")),
        Messy("a byte order mark, and the line ends of Windows", "data.csv", "\ufeff" + CSV.replace("\n", "\r\n")),
        Messy("the line ends of old Macs", "data.csv", CSV.replace("\n", "\r")),
        Messy("blank lines between the rows", "data.csv", CSV.replace("\n", "\n\n")),
        Messy("quotes around every cell", "data.csv", GOOD.astype(str).to_csv(index=False, quoting=1)),
        Messy("spaces after the commas", "data.csv", CSV.replace(",", ", ")),
        Messy("row names, as R's `write.csv` writes them", "data.csv", GOOD.to_csv()),
        Messy("row names without a header, as R's `write.table` does", "data.csv", GOOD.to_csv().removeprefix(",")),
        Messy("gzipped", "data.csv.gz", gzip.compress(CSV.encode())),
        Messy("in a .zip", "data.zip", zipped(table_csv=CSV)),
        Messy("two tables in a .zip", "data.zip", zipped(one_csv=CSV, two_csv=CSV)),
        Messy("Latin-1", "data.csv", CSV.replace("Turku", "Malmö").encode("latin-1")),
        Messy("UTF-16, as Excel's “Unicode text”", "data.txt", CSV.replace(",", "\t").encode("utf-16")),
        Messy("a title above the header", "data.csv", "Trial 7 exported on Monday\n" + CSV),
        Messy("units in the second row", "data.csv", lines(lambda rows: [rows[0], "years,mg,kg,,", *rows[1:]])),
        Messy("a row of totals at the end", "data.csv", CSV + "Total,6012.5,5876.1,,\n"),
        Messy("two files pasted together, header and all", "data.csv", lines(lambda rows: [*rows, *rows])),
        Messy("labels in small letters and in capitals", "data.csv", column("site", str.lower, every=9)),
        Messy("labels with a space after them", "data.csv", column("site", lambda text: text + " ", every=9)),
        Messy("no header", "data.csv", lines(lambda rows: rows[1:])),
        Messy(
            "a row that ends early",
            "data.csv",
            lines(lambda rows: [*rows[:50], rows[50].rpartition(",")[0], *rows[51:]]),
        ),
        Messy(
            "a comma too many at the end of each row",
            "data.csv",
            lines(lambda rows: [rows[0], *(row + "," for row in rows[1:])]),
        ),
        Messy("two columns of one name", "data.csv", CSV.replace("weight", "dose")),
        Messy("a column without a name", "data.csv", CSV.replace("weight", "")),
        Messy("the outcome named `Outcome`", "data.csv", CSV.replace("outcome", "Outcome")),
    ],
    "Missing values": [
        *(
            Messy(f"{shown} in 8 % of the doses", "data.csv", cells("dose", text))
            for shown, text in (
                *(
                    (f"`{marker}`", marker)
                    for marker in ["?", ".", "-", "NA", "n/a", "NULL", "#N/A", "#DIV/0!", "None", "unknown"]
                ),
                ("empty cells", ""),
                ("lone spaces", " "),
            )
        ),
        Messy(
            "`?` in 8 % of the doses, with `--missing impute`",
            "data.csv",
            cells("dose", "?"),
            {"select": {"missing": "impute"}},
        ),
        Messy("`-999` in 8 % of the doses", "data.csv", cells("dose", "-999")),
        Messy(
            "`-999` in 8 % of the doses, with `--na-values -999`",
            "data.csv",
            cells("dose", "-999"),
            {"na_values": ["-999"]},
        ),
        Messy("`?` in 8 % of the sites", "data.csv", cells("site", "?")),
        Messy("`-` in 8 % of the sites", "data.csv", cells("site", "-")),
        Messy("an empty column", "data.csv", added(notes="")),
        Messy("`?` in 8 % of the outcomes", "data.csv", cells("outcome", "?")),
        Messy(
            "`?` in 8 % of the outcomes, with `--missing-target drop`",
            "data.csv",
            cells("outcome", "?"),
            {"missing_target": "drop"},
        ),
    ],
    "Numbers": [
        Messy(
            '`"1,234.5"`: commas between thousands',
            "data.csv",
            column("dose", lambda text: f"{float(text) * 1000:,.1f}"),
        ),
        Messy(
            '`"50,000"`: commas between thousands, no fractions',
            "data.csv",
            column("age", lambda text: f"{int(text) * 1000:,}"),
        ),
        Messy(
            "`1,234` and `447` in one column",
            "data.tsv",
            GOOD.assign(dose=[f"{x * 25:,.0f}" for x in _dose.clip(0)])
            .drop(columns="weight")
            .to_csv(index=False, sep="\t"),
        ),
        Messy(
            "`50 000`: spaces between thousands",
            "data.csv",
            column("dose", lambda text: f"{float(text) * 1000:,.0f}".replace(",", " ")),
        ),
        Messy(
            "`50'000`: apostrophes between thousands",
            "data.csv",
            column("dose", lambda text: f"{float(text) * 1000:,.0f}".replace(",", "'")),
        ),
        Messy(
            '`"12,5"` in a csv: decimal commas in quotes',
            "data.csv",
            column("dose", lambda text: text.replace(".", ",")),
        ),
        Messy(
            "`12,5` and `12.5` in one column", "data.csv", column("dose", lambda text: text.replace(".", ","), every=2)
        ),
        Messy("`12.5%`", "data.csv", column("dose", lambda text: f"{text}%")),
        Messy("`12.5%` and `12.5` in one column", "data.csv", column("dose", lambda text: f"{text}%", every=3)),
        Messy("`$12.50`", "data.csv", column("dose", lambda text: f"${text}0".replace("$-", "-$"))),
        Messy("`12.5 mg`", "data.csv", column("dose", lambda text: f"{text} mg")),
        Messy("`−12.5` with a typographic minus", "data.csv", column("dose", lambda text: text.replace("-", "\u2212"))),
        Messy("`1.25E+01`", "data.csv", column("dose", lambda text: f"{float(text):.6E}")),
        Messy(
            "`<20` for what could not be measured",
            "data.csv",
            column("dose", lambda text: "<20" if float(text) < 20 else text),
        ),
        Messy("a letter for a digit: `l2.5`", "data.csv", column("dose", lambda _: "l2.5", every=N_SAMPLES, first=7)),
        Messy("`(12.5)` for negative numbers", "data.csv", column("dose", lambda text: f"({text})", every=5)),
    ],
    "Dates": [
        Messy("`2019-01-31`", "data.csv", added(visit=_days.dt.strftime("%Y-%m-%d"))),
        Messy("`31.01.2019`", "data.csv", added(visit=_days.dt.strftime("%d.%m.%Y"))),
        Messy("`01/31/2019`", "data.csv", added(visit=_days.dt.strftime("%m/%d/%Y"))),
        Messy(
            "`03/04/2019`, in March or in April",
            "data.csv",
            added(visit=[f"{i % 12 + 1:02}/{i % 11 + 1:02}/2019" for i in range(N_SAMPLES)]),
        ),
        Messy("`31-Jan-2019`", "data.csv", added(visit=_days.dt.strftime("%d-%b-%Y"))),
        Messy("`2019-01-31 08:30`", "data.csv", added(visit=_days.dt.strftime("%Y-%m-%d 08:30"))),
        Messy("`31/01/19`, two digits for the year", "data.csv", added(visit=_days.dt.strftime("%d/%m/%y"))),
        Messy("`08:30`", "data.csv", added(time=[f"{i % 24:02}:{i % 60:02}" for i in range(N_SAMPLES)])),
    ],
    "Columns that are no variables": [
        Messy("patient numbers, `P001` and so on", "data.csv", added(patient=[f"P{i:03}" for i in range(N_SAMPLES)])),
        Messy("free text", "data.csv", added(note=[f"seen by nurse {i}" for i in range(N_SAMPLES)])),
        Messy("a running number", "data.csv", added(number=range(N_SAMPLES))),
        Messy(
            "a running number, the ill first",
            "data.csv",
            GOOD.sort_values("outcome").assign(number=range(N_SAMPLES)).to_csv(index=False),
        ),
        Messy("the outcome in other words", "data.csv", added(diagnosis=np.where(_is_ill, "C34", "none"))),
        Messy(
            "a score that decides the outcome",
            "data.csv",
            added(score=np.where(_is_ill, 8, 2) + _rng.uniform(-1, 1, N_SAMPLES).round(2)),
        ),
        Messy(
            "a column that only the ill have, with `--missing level`",
            "data.csv",
            added(day_of_death=_gaps),
            {"select": {"missing": "level"}},
        ),
        Messy(
            "a column that the ill mostly lack, with `--missing level`",
            "data.csv",
            added(late=_late),
            {"select": {"missing": "level"}},
        ),
    ],
    "Spreadsheets and other programs": [
        Messy("Excel", "data.xlsx", sheet(GOOD)),
        Messy("Excel, empty rows above the header", "data.xlsx", sheet(GOOD, startrow=3)),
        Messy("Excel, a title above the header", "data.xlsx", sheet(GOOD, startrow=1, title="Trial 7")),
        Messy("Excel, two sheets", "data.xlsx", sheet(GOOD, GOOD)),
        Messy(
            "Excel, `?` in 8 % of the doses",
            "data.xlsx",
            sheet(GOOD.assign(dose=GOOD["dose"].astype(object).where(GOOD.index % 12 != 5, "?"))),
        ),
        Messy("Excel, dates", "data.xlsx", sheet(GOOD.assign(visit=_days.dt.date))),
        Messy("a csv called .xlsx", "data.xlsx", CSV),
        Messy("an Excel file called .csv", "data.csv", excel_bytes()),
        Messy("a web page called .xls", "data.xls", "<html><table><tr><td>age</td></tr></table></html>"),
        Messy("SPSS, value labels", "data.sav", spss(_codes, variable_value_labels=_labels)),
        Messy(
            "SPSS, 99 = refused among ages",
            "data.sav",
            spss(
                GOOD.assign(age=GOOD["age"].where(GOOD.index % 12 != 5, 99)),
                variable_value_labels={"age": {99: "refused"}},
            ),
        ),
        Messy("Stata", "data.dta", lambda name: pyreadstat.write_dta(GOOD, name)),
        Messy("variables in rows", "data.csv", transposed()),
        Messy("variables in rows, with `--transpose`", "data.csv", transposed(), {"transpose": True}),
    ],
}
