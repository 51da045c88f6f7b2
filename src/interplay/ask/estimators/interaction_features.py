"""InteractionFeatures: interactions() as a scikit-learn transformer that appends features of the tuples it finds."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from interplay.ask.coding import CODING_CHOICES
from interplay.ask.estimators.fit_samples import (
    FIT_ARGUMENTS,
    SHARED_CONSTRAINTS,
    FitSamples,
    checked_array,
    checked_fit,
    checked_table,
    collected,
    fit_samples,
    is_frame,
    refuse_few_variables,
    tags_of_input,
)
from interplay.ask.estimators.tuple_features import (
    ENCODINGS,
    Target,
    TupleFeatures,
    cell_values,
    cells_of,
    make_target,
    out_of_fold,
    tuple_features,
)
from interplay.ask.interaction.call import interactions
from interplay.ask.selection.call import select
from interplay.base.arguments import ARGUMENTS, described_by
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_choice, check_list
from interplay.data.codes.coder import MISSING_CHOICES, Discrete
from interplay.data.study.design import Groups
from interplay.data.study.table import Table
from interplay.infer.p_values import LISTED_METHODS
from interplay.show.results.interactions import Interactions

if TYPE_CHECKING:
    from interplay.base.progress import Progress
    from interplay.search.engines.base import Engine

SEARCHES = ("interactions", "select")


@described_by(ARGUMENTS)
class InteractionFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no type hints
    """Find tuples that interact, and append their features to the table, for a model that has no interactions.

    The tuples are found in the samples of `fit` alone, by `interactions` or by `select`: in each training fold of a
    cross-validated pipeline.

    Parameters
    ----------
    encoding : str or sequence of str
        Features of a tuple, one or more of: "cells", an indicator of each cell of the members' levels
        (``x3:x42=hi,lo``); "means", the log odds of the classes, mean of the number or log hazard of the sample's cell
        (``x3:x42=log_odds``), cross-fitted: `fit_transform` computes the value of a sample from the other folds;
        "products", the product of the members, each centred and divided by its standard deviation (``x3:x42``). Tuples
        that were found by their product have it in place of cells.
    coding : {"auto", "levels", "product", "dosage"}
        With search="interactions", "auto" finds tuples by levels, products and shapes, "levels" by levels of numbers
        that are cut, "product" by products of numbers that are not; "dosage" is for outcomes of numbers, see
        `interactions`.
    search : {"interactions", "select"}
        "interactions" takes the tuples that are significant in a search of all tuples. "select" takes those of the
        tuples of relevant variables that are significant interactions.
    passthrough : bool
        Whether the columns of X are returned too, before the features.
    p_adjust : str
        How p-values are adjusted for all tuples of the search, as in `interactions`.
    level : float
        A tuple is used if its adjusted p-value is below this significance level.
    min_tuples : int
        Use at least this many tuples: where fewer are significant, those with the smallest p-values.
    max_tuples : int, optional
        Use at most this many, those with the smallest p-values.
    cv : int
        Folds of "means" in `fit_transform`. Samples of a group are in one fold.
    missing : {"auto", "error", "level", "impute", "omit"}
        ...

        With "omit", samples that lack a member are left out of the tests of a tuple. A sample whose missing value has
        no level ("impute", "omit") is in no cell.
    random_state
        ...

        It also deals out the folds of "means".
    engine : {"auto", "cpu", "cuda", "dask"} or Engine
        ...
    ...

    Attributes
    ----------
    result_ : Interactions
        The result of the search: ``.table``, ``.plot``, ``.terms()``, ``.rules()``.
    tuples_ : list of tuple of str
        Names of the members of the tuples that are used.
    note_ : str
        Whether the features can help a model, in a sentence: they cannot where no tuple that is used is significant,
        and hardly in a model that has interactions of its own.
    n_features_in_ : int
        Number of variables in `fit`.
    feature_names_in_ : (n_features,) object
        Names of these variables; defined only if all names of columns are text.

    See Also
    --------
    interactions : The search.
    Interactions.terms : The same tuples for models that take a list of interactions.

    Notes
    -----
    With covariates, only tuples are used that hold with the covariates in the model. A sample whose value did not occur
    in `fit` is in no cell: its indicators are 0, and its "means" are those of all samples.

    Examples
    --------
    A linear model of two variables that are informative only together:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from interplay import InteractionFeatures
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 20))
    >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
    >>> model = make_pipeline(InteractionFeatures(), LogisticRegression()).fit(X[:300], y[:300])
    >>> model.score(X[300:], y[300:]) > 0.9
    True
    >>> model[0].note_.split(":")[0].split(". ")[0]
    '1 of the 1 tuples that are used is significant (adjusted p < 0.05)'
    >>> model[0].get_feature_names_out()[20:]
    array(['x3:x11=lo,lo', 'x3:x11=lo,hi', 'x3:x11=hi,lo', 'x3:x11=hi,hi'],
          dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "dimensions": [Interval(Integral, 2, None, closed="left")],
        "encoding": [StrOptions(set(ENCODINGS)), "array-like"],
        "coding": [StrOptions(set(CODING_CHOICES))],
        "search": [StrOptions(set(SEARCHES))],
        "passthrough": ["boolean"],
        "p_adjust": [StrOptions(set(LISTED_METHODS))],
        "min_tuples": [Interval(Integral, 0, None, closed="left")],
        "max_tuples": [Interval(Integral, 1, None, closed="left"), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "missing": [StrOptions({*MISSING_CHOICES, "omit"})],
        **SHARED_CONSTRAINTS,
    }

    def __init__(
        self,
        dimensions: int = 2,
        *,
        encoding: str | Sequence[str] = "cells",
        coding: str = "auto",
        search: str = "interactions",
        passthrough: bool = True,
        divisions: int = 1,
        p_adjust: str = "holm",
        level: float = 0.05,
        min_tuples: int = 0,
        max_tuples: int | None = None,
        cv: int = 5,
        decision: str = "auto",
        decision_divisions: int | None = None,
        scale: str = "ranks",
        discrete: Discrete = "auto",
        missing: str = "auto",
        n_permutations: int = 199,
        random_state: Any = 0,
        engine: str | Engine = "auto",
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        arguments = dict(locals())
        del arguments["self"]
        for name, value in arguments.items():
            setattr(self, name, value)

    # Set by fit().
    result_: Interactions
    tuples_: list[tuple[str, ...]]
    note_: str
    n_features_in_: int
    _features: list[TupleFeatures]

    @described_by(FIT_ARGUMENTS)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        strata: Any = None,
        groups: Any = None,
        order: Any = None,
        covariates: Any = None,
        offset: Any = None,
        entry: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Find the tuples that interact.

        Parameters
        ----------
        ...

        Returns
        -------
        InteractionFeatures
            Itself.
        """
        beside = {"strata": strata, "groups": groups, "order": order}
        beside |= {"covariates": covariates, "offset": offset, "entry": entry}
        self._fit(checked_fit(X, y, beside, fit_params), y, beside)
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        strata: Any = None,
        groups: Any = None,
        order: Any = None,
        covariates: Any = None,
        offset: Any = None,
        entry: Any = None,
        **fit_params: Any,
    ) -> Any:
        """Find the tuples and return X with their features; "means" of a sample come from the other folds.

        Arguments are those of `fit`.
        """
        beside = {"strata": strata, "groups": groups, "order": order}
        beside |= {"covariates": covariates, "offset": offset, "entry": entry}
        X = checked_fit(X, y, beside, fit_params)
        table, samples, target = self._fit(X, y, beside)
        if target is None:
            return self.transform(X)
        fold = self._folds(target, samples.groups)
        found = []
        for one in self._features:
            cells = cells_of(one.members, one.cuts, table, one.discretization, omit_missing=one.omit_missing)
            assert one.values is not None
            values = one.values.of_cells(cells)
            rows = samples.rows
            values[rows] = out_of_fold(target, cells[rows], int(np.prod(one.levels)), fold)
            found.append(values)
        return self._transformed(X, found)

    def transform(self, X: Any) -> Any:
        """Return X with the features of the tuples, or the features alone.

        Parameters
        ----------
        X : table-like, (n_samples, n_features)
            With the variables that `fit` saw.

        Returns
        -------
        (n_samples, n_features_out) array, sparse matrix, or the frame that `set_output` asks for
        """
        check_is_fitted(self)
        return self._transformed(collected(X), None)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that `transform` returns."""
        from sklearn.utils.validation import _check_feature_names_in

        check_is_fitted(self)
        names = list(_check_feature_names_in(self, input_features)) if self.passthrough else []
        return np.array([*names, *self._own_names()], dtype=object)

    def _fit(self, X: Any, y: Any, beside: dict[str, Any]) -> tuple[Table, FitSamples, Target | None]:
        """Fit; return the table, the samples that were searched, and what "means" add up in cells."""
        self._validate_params()
        encodings = self._encodings()
        table = checked_table(self, X, y)
        refuse_few_variables(self.dimensions, self.dimensions, table.n_vars)
        samples = fit_samples(X, table, y, beside, decision=self.decision, decision_divisions=self.decision_divisions)
        searched = samples.table
        self.result_ = self._found(samples)
        target = make_target(self.result_, samples) if "means" in encodings else None
        self._features = []
        for row in range(len(self.result_)):
            members = tuple(int(v) for v in self.result_.tested.tuples[row])
            cuts = tuple(self.result_.cuts_of(v) for v in members)
            omit = self.result_.omits_missing
            d = int(self.result_.tested.discretization[row])
            cells = cells_of(members, cuts, searched, d, omit_missing=omit)
            n_cells = int(np.prod([c.n_levels(omit_missing=omit) for c in cuts]))
            values = None if target is None else cell_values(target, cells, n_cells)
            of_row = encodings
            if self.result_.tested.are_products[row]:
                of_row = tuple(dict.fromkeys("products" if one == "cells" else one for one in encodings))
            self._features.append(tuple_features(self.result_, row, searched, of_row, cells, values))
        self.tuples_ = [one.names for one in self._features]
        self.note_ = self._note()
        return table, samples, target

    def _found(self, samples: FitSamples) -> Interactions:
        """Return the tuples that are used, as a result that lists nothing else."""
        names = ("divisions", "decision", "decision_divisions", "scale", "discrete", "missing", "n_permutations")
        settings = {name: getattr(self, name) for name in (*names, "random_state", "engine", "n_jobs", "progress")}
        settings |= {**samples.beside, "dimensions": self.dimensions}
        table, y = samples.table, samples.y
        if self.search == "select":
            found = select(table, y, p_adjust=self.p_adjust, level=self.level, **settings).interactions()
        else:
            settings |= {"p_adjust": self.p_adjust, "level": self.level, "coding": self.coding}
            found = interactions(table, y, **settings)
        used = found.only_significant()
        if len(used) < self.min_tuples:
            listed = found if self.search == "select" else interactions(table, y, **settings, top=self.min_tuples)
            used = listed.chosen(np.arange(min(self.min_tuples, len(listed))))
        return used if self.max_tuples is None else used.chosen(np.arange(min(self.max_tuples, len(used))))

    def _note(self) -> str:
        """Say whether the features can help a model."""
        n, n_significant = len(self.tuples_), int(self.result_.is_significant.sum())
        judged = f"adjusted p < {self.level:g}"
        if not n:
            return f"No tuple interacts ({judged}): there are no features, and the table stays as it is."
        if not n_significant:
            return f"None of the {n} tuples that are used is significant ({judged}): their features may be noise."
        return (
            f"{n_significant} of the {n} tuples that are used {'is' if n_significant == 1 else 'are'} significant "
            f"({judged}). Models without interactions gain by them; trees and networks may find them by themselves."
        )

    def _folds(self, target: Target, groups: Groups | None) -> IntArray:
        """Deal samples, or groups, out to folds; samples in the order of the outcome, so that folds are alike."""
        from interplay.base.seeds import resolve_seed

        rng = np.random.RandomState(resolve_seed(self.random_state))
        n = len(target.sums)
        if groups is not None:
            codes = np.unique(groups.codes, return_inverse=True)[1]
            return np.asarray((rng.permutation(int(codes.max()) + 1) % self.cv)[codes], dtype=np.int64)
        order = np.lexsort((rng.permutation(n), *target.sums.T))
        fold = np.empty(n, dtype=np.int64)
        fold[order] = np.arange(n) % self.cv
        return fold

    def _encodings(self) -> tuple[str, ...]:
        if isinstance(self.encoding, str):
            return (self.encoding,)
        chosen = check_list("encoding", self.encoding, of="features")
        if not chosen:
            raise ValueError(f"encoding must name one or more of {', '.join(map(repr, ENCODINGS))}: it is empty")
        return tuple(dict.fromkeys(check_choice("encoding", one, ENCODINGS) for one in chosen))

    def _own_names(self) -> list[str]:
        return [name for one in self._features for name in one.feature_names()]

    def _transformed(self, X: Any, values: list[FloatArray] | None) -> Any:
        table = checked_table(self, X, is_fit=False)
        parts = [
            one.features(table, out_of_fold=None if values is None else values[i])
            for i, one in enumerate(self._features)
        ]
        own = np.hstack(parts) if parts else np.empty((table.n_samples, 0))
        return self._beside(X, own) if self.passthrough else own

    def _beside(self, X: Any, own: FloatArray) -> Any:
        """Put the features beside the columns of X: in a frame if `set_output` asks for one, else in an array."""
        import narwhals.stable.v2 as nw
        import scipy.sparse as sp

        names = self._own_names()
        asked_for = _get_output_config("transform", self)["dense"]
        if asked_for == "pandas" and nw.dependencies.is_pandas_dataframe(X):
            import pandas as pd

            return pd.concat([X, pd.DataFrame(own, index=X.index, columns=names)], axis=1)
        if asked_for == "polars" and nw.dependencies.is_polars_dataframe(X):
            return X.with_columns(
                [nw.new_series(n, c, backend="polars").to_native() for n, c in zip(names, own.T, strict=True)]
            )
        if sp.issparse(X):
            both: Any = [X, sp.csr_array(own)]
            return sp.hstack(both, format="csr") if own.shape[1] else X
        given = np.asarray(nw.from_native(X).to_numpy()) if is_frame(X) else checked_array(X)
        return np.hstack([given, own])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    def __sklearn_tags__(self) -> Any:
        tags = tags_of_input(super().__sklearn_tags__(), allows_missing=self.missing != "error")
        tags.transformer_tags.preserves_dtype = []  # features are float64
        return tags
