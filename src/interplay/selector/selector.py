"""MDFSSelector: select() as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from interplay.base.arguments import ARGUMENTS, described_by
from interplay.base.arrays import BoolArray, FloatArray
from interplay.codes.coder import MISSING_CHOICES, Discrete
from interplay.results.selection import Selection
from interplay.search.dimensions import Dimensions, resolve_dimensions
from interplay.selection.arguments import SELECTION_ARGUMENTS
from interplay.selection.call import select
from interplay.selector.callbacks import CallbackSupport, fit_tasks, with_callbacks
from interplay.selector.input import (
    checked_array,
    collected,
    is_frame,
    refuse_fit_params,
    refuse_infinite,
    refuse_name,
    refuse_tables_of_files,
    with_own_types,
    without_rare_classes,
)
from interplay.selector.kept import KeptVariables, kept_variables
from interplay.statistics.null_fit import FITS
from interplay.statistics.p_values import ADJUST_METHODS
from interplay.study.covariates import make_covariates
from interplay.study.groups import make_groups
from interplay.study.named_columns import refuse_decision_in_table, warn_of_another_order
from interplay.study.number_outcome import SCALE_CHOICES
from interplay.study.offset import make_offset
from interplay.study.outcome import DECISION_CHOICES
from interplay.study.strata import make_strata
from interplay.study.survival import split_survival
from interplay.study.table import Table, as_table

if TYPE_CHECKING:
    from interplay.base.progress import Progress
    from interplay.engines.base import Engine


@described_by(SELECTION_ARGUMENTS | {"null_fit": SELECTION_ARGUMENTS["fit"], "engine": ARGUMENTS["engine"]})
class MDFSSelector(CallbackSupport, SelectorMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no type hints
    """Keep the variables that are informative about the outcome, alone or together with others.

    This is `select` as a scikit-learn transformer.

    Parameters
    ----------
    dimensions
        ...

        X must have at least this many variables.
    null_fit
        ...

        `select` calls this argument `fit`, which is the name of a method in an estimator.
    decision
        ...

        The selector serves classifiers and regressors alike.
    missing
        ...

        With "error", infinite values are refused too, as in scikit-learn.
    min_features : int
        Keep at least this many variables. If fewer are relevant, the most significant of the others are kept too, so
        that `transform` never returns an empty table, which would break a pipeline in cross-validation. 0 keeps
        relevant variables only.
    max_features : int, optional
        Keep at most this many of the relevant variables: those with the smallest p-values, and among equal p-values
        those with the larger gain. Variables that are not relevant are never kept, unless `min_features` asks for them.
    redundancy : float, optional
        Keep one of each group of redundant relevant variables: from the most to the least significant, a variable is
        left out if its association with a variable that is kept is at least this, for example 0.9. The association of
        two numbers is their absolute rank correlation, that of a number and labels the correlation ratio of the ranks,
        and that of labels Cramér's V. None keeps all.
    short_list : bool
        Keep the short list only: relevant variables that are each relevant given the others
        (``result_.short_list``), chosen from one of each group of redundant variables. With `max_features`, the first
        of these.
    engine : {"auto", "cpu", "cuda", "dask"} or Engine
        ...

        "dask" uses the current Dask client. A client itself is refused, because scikit-learn could not copy it.
    ...

    Attributes
    ----------
    result_ : Selection
        The result of `select`: ``.table``, ``.summary()``, ``.plot``, ``.save()`` and more.
    support_ : (n_features,) bool
        Which variables are kept.
    left_out_ : dict
        Why each of the other variables is left out, by name: not relevant, redundant with one that is kept, not in the
        short list, or beyond `max_features`.
    gains_ : (n_features,) float64
        Maximum information gain of each variable; with several searches (`dimensions`, `multiclass`), that of the most
        significant one.
    p_values_ : (n_features,) float64
        Before adjustment for the number of variables; ``result_.p_adjusted`` holds the adjusted ones.
    n_features_in_ : int
        Number of variables in `fit`.
    feature_names_in_ : (n_features,) object
        Names of these variables; defined only if all names of columns are text.

    See Also
    --------
    select : The same as a function.

    Notes
    -----
    Dataframes (pandas, polars, pyarrow) are read column by column, and each column keeps its type: numbers, bools, text
    or categories. `transform` returns an array, or, after ``set_output(transform="pandas")`` or ``"polars"``, a frame
    whose columns keep their types.

    If no variable is relevant, `transform` warns and returns a table without columns, unless `min_features` is at least
    1. A class with a single sample is left out with a warning, because cross-validation may leave such a class in a
    fold; `select` refuses it.

    Examples
    --------
    Two variables that are informative only together:

    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from interplay import MDFSSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 20))
    >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
    >>> selector = MDFSSelector(random_state=0).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['x3', 'x11'], dtype=object)
    >>> selector.transform(X).shape
    (400, 2)
    >>> model = make_pipeline(selector, DecisionTreeClassifier(random_state=0)).fit(X, y)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "dimensions": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), "array-like"],
        "divisions": [Interval(Integral, 1, 255, closed="both")],
        "discretizations": [Interval(Integral, 1, None, closed="left")],
        "range_": [Interval(Real, 0, 1, closed="both"), None],
        "pseudocount": [Interval(Real, 0, 1e6, closed="both")],
        "n_contrast": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "p_adjust": [StrOptions(set(ADJUST_METHODS))],
        "level": [Interval(Real, 0, 1, closed="neither")],
        "null_fit": [StrOptions(set(FITS))],
        "arms": ["array-like", None],
        "decision": [StrOptions(set(DECISION_CHOICES))],
        "decision_divisions": [Interval(Integral, 1, 255, closed="both"), None],
        "scale": [StrOptions(set(SCALE_CHOICES))],
        "multiclass": [StrOptions({"joint", "ovo", "ovr"})],
        "permutations": ["boolean", None],
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "discrete": [StrOptions({"auto", "none", "all"}), "array-like"],
        "missing": [StrOptions(set(MISSING_CHOICES))],
        "min_features": [Interval(Integral, 0, None, closed="left")],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "redundancy": [Interval(Real, 0, 1, closed="right"), None],
        "short_list": ["boolean"],
        "random_state": ["random_state", np.random.Generator, np.random.BitGenerator, np.random.SeedSequence],
        "engine": [str, HasMethods(["max_gains", "describe"])],  # which names there are, the engines know
        "n_jobs": [Integral, None],
        "progress": ["boolean", callable, None],
    }

    def __init__(
        self,
        *,
        dimensions: Dimensions = "auto",
        divisions: int = 1,
        discretizations: int = 1,
        range_: float | None = None,
        pseudocount: float = 0.25,
        n_contrast: int | str = "auto",
        p_adjust: str = "holm",
        level: float = 0.05,
        null_fit: str = "auto",
        arms: Sequence[str] | None = None,
        decision: str = "auto",
        decision_divisions: int | None = None,
        scale: str = "ranks",
        multiclass: str = "joint",
        permutations: bool | None = None,
        n_permutations: int = 199,
        discrete: Discrete = "auto",
        missing: str = "error",
        min_features: int = 0,
        max_features: int | None = None,
        redundancy: float | None = None,
        short_list: bool = False,
        random_state: Any = None,
        engine: str | Engine = "auto",
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        arguments = dict(locals())
        del arguments["self"]
        for name, value in arguments.items():
            setattr(self, name, value)

    # Set by fit().
    result_: Selection
    support_: BoolArray
    gains_: FloatArray
    p_values_: FloatArray
    n_features_in_: int
    _kept: KeptVariables

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        strata: Any = None,
        groups: Any = None,
        covariates: Any = None,
        offset: Any = None,
        entry: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Find the relevant variables.

        Parameters
        ----------
        X : table-like, (n_samples, n_features)
            numpy, lists, pandas, polars (also lazy), pyarrow or scipy sparse.
        y : (n_samples,) array-like
            The outcome: labels of any kind, or numbers (see `decision`). Times that may be censored are a structured
            array, as scikit-survival's.
        strata : (n_samples,) array-like or table-like, optional
            Groups of samples, such as batch, sex or population, within which the outcome is analysed. With several
            columns, each combination of values is a stratum. Pipelines and searches pass it on after
            ``set_fit_request(strata=True)``, with metadata routing enabled.
        groups : (n_samples,) array-like or table-like, optional
            Samples that belong together and are not independent of each other: the donor of each cell, the family or
            patient of each sample. p-values then come from permutations of whole groups. Passed on by pipelines after
            ``set_fit_request(groups=True)``; those that split data by groups (``GroupKFold``) take the same ones.
        covariates : (n_samples,) array-like or table-like, optional
            Covariates of each sample (age, sex, principal components): the selection is given these. Passed on by
            pipelines after ``set_fit_request(covariates=True)``.
        offset : (n_samples,) array-like, optional
            The known part of the outcome of each sample: means, log odds or log hazards.
        entry : (n_samples,) array-like, optional
            With times: from when on each sample was observed.
        **fit_params
            No other argument is accepted. ``sample_weight`` is refused, with the reason.

        Returns
        -------
        MDFSSelector
            Itself.
        """
        self._validate_params()
        refuse_fit_params(fit_params)
        refuse_tables_of_files(X)
        beside = {"covariates": covariates, "offset": offset, "entry": entry}
        for name, given in (("y", y), ("strata", strata), ("groups", groups), *beside.items()):
            refuse_name(name, given)
        X = collected(X)
        table = self._checked_table(X, y)
        refuse_decision_in_table(table, y)
        warn_of_another_order(X, y=y, strata=strata, groups=groups)
        settings = self.get_params(deep=False)
        settings["fit"] = settings.pop("null_fit")
        bounds = {name: settings.pop(name) for name in ("min_features", "max_features", "redundancy", "short_list")}
        if self.redundancy is not None:
            settings["redundancy"] = self.redundancy
        tasks = fit_tasks(self, X, y)
        if tasks is not None:
            settings["progress"] = tasks.show
        within = make_strata(strata, n_samples=table.n_samples)
        together = make_groups(groups, n_samples=table.n_samples)
        n_samples = table.n_samples
        of_samples = make_covariates(covariates, n_samples=n_samples)
        known = make_offset(offset, n_samples=n_samples)
        if split_survival(y) is None:
            table, y, within, together, rows = without_rare_classes(
                table, y, within, together, self.decision, self.decision_divisions
            )
            if rows is not None:
                of_samples = None if of_samples is None else of_samples.of_samples(rows)
                known = None if known is None else known[rows]
        result = select(
            table, y, strata=within, groups=together, covariates=of_samples, offset=known, entry=entry, **settings
        )
        if tasks is not None:
            tasks.end()

        self.result_ = result
        self._kept = kept_variables(result, table, **bounds)
        self.support_ = self._kept.support
        # The table has the gain in the best of several runs, but takes long to make for a million variables.
        self.gains_ = result.gains.gain if len(result.runs) == 1 else result.table["gain"].to_numpy()
        self.p_values_ = result.p_value
        return self

    def transform(self, X: Any) -> Any:
        """Return X with the selected variables only.

        Parameters
        ----------
        X : table-like, (n_samples, n_features)
            With the variables that `fit` saw.

        Returns
        -------
        (n_samples, n_selected) array, sparse matrix, or the frame that `set_output` asks for
        """
        check_is_fitted(self)
        X = collected(X)
        # SelectorMixin keeps the kinds of columns from pandas to pandas, but would make an array of a polars frame.
        if _stays_polars(self, X) and self.support_.any():
            validate_data(self, X, skip_check_array=True, reset=False)
            return X.select([X.columns[v] for v in np.flatnonzero(self.support_)])
        return super().transform(with_own_types(X))

    @property
    def left_out_(self) -> dict[str, str]:
        """Why each variable that is not kept is left out, by name."""
        check_is_fitted(self)
        return self._kept.left_out(self.result_)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def _checked_table(self, X: Any, y: Any) -> Table:
        """Check X as scikit-learn does, but leave frames as they are: their columns differ in kind."""
        frame = as_table(X) if is_frame(X) else None  # its messages on frames are more precise
        # Sets n_features_in_ and feature_names_in_; refuses y=None.
        validate_data(self, X, y, skip_check_array=True)
        must_be_finite = self.missing == "error"
        if frame is not None:
            table = frame
            if must_be_finite:
                refuse_infinite(table)
        else:
            table = as_table(checked_array(X, must_be_finite=must_be_finite))
        self._check_bounds(table.n_vars)
        largest, _ = resolve_dimensions(self.dimensions, self.arms, table.n_vars)
        needed = largest if isinstance(largest, int) else max(largest)
        if table.n_vars < needed:
            raise ValueError(
                f"dimensions={self.dimensions} needs at least {needed} variables, and X has "
                f"n_features={table.n_vars}: lower dimensions"
            )
        return table

    def _check_bounds(self, n_vars: int) -> None:
        if self.max_features is not None and self.min_features > self.max_features:
            raise ValueError(
                f"min_features={self.min_features} must not be larger than max_features={self.max_features}: change one"
            )
        if self.min_features > n_vars:
            raise ValueError(
                f"min_features={self.min_features} needs as many variables, and X has n_features={n_vars}: lower it"
            )

    def _repr_html_inner(self) -> str:
        """Return the diagram of parameters and, once fitted, the summary of the result."""
        diagram: str = super()._repr_html_inner()
        return diagram + self.result_._repr_html_() if self.__sklearn_is_fitted__() else diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def __sklearn_is_fitted__(self) -> bool:
        # By default any attribute that ends in an underscore marks a fitted estimator, and range_ ends in one.
        return hasattr(self, "result_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.sparse = True
        # Categories in a frame are fine, but the tag "categorical" says that X holds little else, as for CategoricalNB,
        # and scikit-learn would then test with whole numbers alone.
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32", "int64", "int32"]
        return tags


def _stays_polars(estimator: MDFSSelector, X: Any) -> bool:
    """Say whether X is a polars frame, and `set_output` or the global configuration asks for one."""
    import narwhals.stable.v2 as nw

    asked_for = _get_output_config("transform", estimator)["dense"]
    return asked_for == "polars" and bool(nw.dependencies.is_polars_dataframe(X))
