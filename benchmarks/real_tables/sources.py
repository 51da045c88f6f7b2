"""A package and a name → a data frame. Tables of a package that is not installed are left out."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pandas as pd

#: Crosses of R/qtl have phenotypes and genotypes apart, with gaps, which R/qtl fills with the most probable genotypes.
_CROSS = (
    "library(qtl); data({name}); cross <- fill.geno({name}, method='argmax', error.prob=0.01); "
    "table <- cbind(as.data.frame(lapply(pull.pheno(cross), as.vector)), as.data.frame(pull.geno(cross)))"
)
_PLAIN = "e <- new.env(); data(list='{name}', package='{package}', envir=e); table <- as.data.frame(e[['{name}']])"
#: Samples of the symptomatic phase, and the genes with the largest variance, as in the tutorial.
_INFLUENZA = (
    "data(fluExample, package='qusage'); genes <- order(-apply(eset.full, 1, var))[1:400]; "
    "late <- flu.meta$Hours.Numeric >= 45 & flu.meta$Hours.Numeric <= 77; "
    "table <- cbind(flu.meta[late, c('Subject', 'Hours.Numeric', 'Condition')], t(eset.full[genes, late]))"
)
_SCRIPTS = {"qtl": _CROSS, "qusage": _INFLUENZA}
#: Files of data that hold a table of another name.
_R_FILES = {("survival", "lung"): "cancer"}


class NotInstalledError(Exception):
    """A package that a table comes from is not there."""


def read(package: str, name: str) -> pd.DataFrame:
    """Return a table of a package, with the outcome among its columns."""
    if package in ("sklearn", "statsmodels", "lifelines", "sksurv"):
        try:
            importlib.import_module(package)
        except ImportError:
            raise NotInstalledError(package) from None
        return {"sklearn": _sklearn, "statsmodels": _statsmodels, "lifelines": _lifelines, "sksurv": _sksurv}[package](
            name
        )
    return _from_r(package, name)


def _sklearn(name: str) -> pd.DataFrame:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(as_frame=True).frame


def _statsmodels(name: str) -> pd.DataFrame:
    return pd.DataFrame(importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data)


def _lifelines(name: str) -> pd.DataFrame:
    from lifelines import datasets

    return getattr(datasets, f"load_{name}")()


def _sksurv(name: str) -> pd.DataFrame:
    from sksurv import datasets

    X, y = getattr(datasets, f"load_{name}")()
    table = X.reset_index(drop=True)
    for column in y.dtype.names:
        table[column] = y[column]
    return table


def _from_r(package: str, name: str) -> pd.DataFrame:
    if shutil.which("Rscript") is None:
        raise NotInstalledError("R")
    file = _r_folder() / f"{package}_{name}.csv"
    if not file.exists():
        script = _SCRIPTS.get(package, _PLAIN)
        if (package, name) in _R_FILES:
            script = script.replace("list='{name}'", f"list='{_R_FILES[package, name]}'")
        script = script.format(package=package, name=name)
        done = subprocess.run(
            ["Rscript", "-e", f"{script}; write.csv(table, '{file}', row.names=FALSE)"], capture_output=True, text=True
        )
        if done.returncode or not file.exists():
            raise NotInstalledError(f"R's {package}: {done.stderr.strip().splitlines()[-1:]}")
    return pd.read_csv(file, low_memory=False)


@cache
def _r_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="real_tables_"))
