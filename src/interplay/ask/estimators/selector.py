"""MDFSSelector: select() as a scikit-learn transformer, with scikit-learn's callbacks where it has them (from 1.9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from interplay.ask.estimators.fit_samples import (
    FIT_ARGUMENTS,
    SHARED_CONSTRAINTS,
    checked_fit,
    checked_table,
    collected,
    fit_samples,
    refuse_few_variables,
    tags_of_input,
    with_own_types,
)
from interplay.ask.selection.call import select, select_once
from interplay.ask.selection.settings import SELECTION_ARGUMENTS, Dimensions, resolve_dimensions
from interplay.base.arguments import ARGUMENTS, described_by
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_int, shown
from interplay.data.codes.coder import MISSING_CHOICES, Discrete
from interplay.data.study.comparisons import MULTICLASS_CHOICES
from interplay.data.study.table import Table
from interplay.infer.null_fit import FITS
from interplay.infer.p_values import ADJUST_METHODS
from interplay.infer.short_list import Associations
from interplay.show.results.selection import Selection
from interplay.show.results.selection_table import first_variables

if TYPE_CHECKING:
    from interplay.base.progress import Progress
    from interplay.search.engines.base import Engine


Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn import callback as _callback
except ImportError:  # scikit-learn < 1.9
    _callback = None


class NoCallbacks:
    """Replacement of scikit-learn's mixin in versions without callbacks."""


CallbackSupport: Any = NoCallbacks if _callback is None else _callback.CallbackSupportMixin


#: Callbacks see a search as this many consecutive tasks.
N_TASKS = 100


def with_callbacks(method: Method) -> Method:
    """Make `fit` end its callbacks, also after an error."""
    if _callback is None:
        return method
    decorated = _callback.with_callbacks(method)

    @wraps(decorated)
    def called(*args: Any, **kwargs: Any) -> Any:
        # Warnings name the line that called this package: its outermost frame must enclose scikit-learn's frame.
        return decorated(*args, **kwargs)

    return cast(Method, called)


class FitTasks:
    """Reports the progress of a fit to the callbacks of an estimator, as `N_TASKS` tasks of equal size.

    Requests to stop are ignored: an unfinished search has no p-values.
    """

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self._told = {"estimator": estimator, "X": X, "y": y}
        self._all = estimator._init_callback_context(max_subtasks=N_TASKS)
        self._all.call_on_fit_task_begin(**self._told)
        self._task: Any = None
        self._n_done = 0
        self._begin_task()

    def show(self, done: float) -> None:
        """Report the share of the search that is done, 0 to 1."""
        while self._n_done < min(int(done * N_TASKS), N_TASKS):
            self._task.call_on_fit_task_end(**self._told)
            self._n_done += 1
            self._begin_task()

    def end(self) -> None:
        """Report the end of the fit."""
        self.show(1.0)
        self._all.call_on_fit_task_end(**self._told)

    def _begin_task(self) -> None:
        if self._n_done < N_TASKS:
            self._task = self._all.subcontext(task_name="search").call_on_fit_task_begin(**self._told)


def fit_tasks(estimator: Any, X: Any, y: Any) -> FitTasks | None:
    """Return the tasks of a fit, or None if the estimator has no callbacks."""
    return FitTasks(estimator, X, y) if getattr(estimator, "_skl_callbacks", None) else None


#: An association of 1 may be computed as slightly less.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class KeptVariables:
    """The variables that a selector keeps."""

    support: BoolArray  #: (n_vars,)
    #: For each redundant relevant variable: the kept variable with which it is redundant, and their association.
    same_as: dict[int, tuple[int, float]]
    #: Whether the variables are those of the short list.
    of_short_list: bool = False
    #: How many of the order for models were asked for; None: all that are relevant.
    n_exactly: int | None = None

    def left_out(self, result: Selection) -> dict[str, str]:
        """Return the reason for which each variable is left out, by name."""
        reasons = {}
        for v in np.flatnonzero(~self.support).tolist():
            if self.n_exactly is not None:
                reason = f"after the first {self.n_exactly} of the order for models"
            elif not result.is_relevant[v]:
                reason = f"not relevant (adjusted p {result.p_adjusted[v]:.3g})"
            elif v in self.same_as:
                kept, association = self.same_as[v]
                reason = f"redundant with {shown(result.names[kept])} (association {association:.3f})"
            elif self.of_short_list and result.names[v] not in result.short_list:
                reason = "relevant, but not in the short list: not significant given the others"
            else:
                reason = "relevant, but max_features others are more significant"
            reasons[result.names[v]] = reason
        return reasons


def kept_variables(
    result: Selection,
    table: Table,
    *,
    min_features: int,
    max_features: int | None,
    redundancy: float | None,
    short_list: bool = False,
) -> KeptVariables:
    """Keep the relevant variables, the most significant first, within these bounds.

    Of variables whose association is at least `redundancy`, the most significant is kept. If fewer than `min_features`
    remain, the most significant of the other variables are added: irrelevant variables before redundant ones. With
    `short_list`, those of the short list are kept.
    """
    most = table.n_vars if max_features is None else max_features
    chosen: list[int] = []
    same_as: dict[int, tuple[int, float]] = {}
    if short_list:
        number_of = {name: v for v, name in enumerate(result.names)}
        chosen = [number_of[name] for name in result.short_list[:most]]
    elif redundancy is None:
        chosen = result.ranked[:most].tolist()
    else:
        kept = Associations(table)
        for v in result.ranked.tolist():
            if len(chosen) == most:
                break
            other, association = kept.strongest(v)
            if other >= 0 and association >= redundancy - _ROUNDING:
                same_as[v] = other, association
            else:
                kept.keep(v)
                chosen.append(v)
    if len(chosen) < min_features:
        others = [v for v in result.by_significance.tolist() if v not in set(chosen)]
        others.sort(key=lambda v: v in same_as)  # stable: by significance within each part
        for v in others[: min_features - len(chosen)]:
            same_as.pop(v, None)
            chosen.append(v)
    support = np.zeros(table.n_vars, dtype=np.bool_)
    support[chosen] = True
    return KeptVariables(support, same_as, short_list)


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
    n_features_to_select : int or "auto", optional
        Keep exactly so many variables, those that a model should get (``result_.best``), significant or not; at most
        all. "auto" takes their number by cross-validation within the samples, which takes about four more searches. In
        a grid search over it each part of the samples is searched once: the results of the last fits are
        kept in memory, by a fingerprint of data and settings.
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
    ranking_ : (n_features,) int64
        Rank of each variable in the order for models, 1 for the best (``result_.best``). With `n_features_to_select`,
        the kept variables have the first ranks.
    left_out_ : dict
        Why each of the other variables is left out, by name: not relevant, redundant with one that is kept, not in the
        short list, or beyond `max_features` or `n_features_to_select`.
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
        "discretizations": [Interval(Integral, 1, None, closed="left")],
        "range_": [Interval(Real, 0, 1, closed="both"), None],
        "pseudocount": [Interval(Real, 0, 1e6, closed="both")],
        "n_contrast": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "p_adjust": [StrOptions(set(ADJUST_METHODS))],
        "null_fit": [StrOptions(set(FITS))],
        "arms": ["array-like", None],
        "multiclass": [StrOptions(set(MULTICLASS_CHOICES))],
        "permutations": ["boolean", None],
        "missing": [StrOptions(set(MISSING_CHOICES))],
        "min_features": [Interval(Integral, 0, None, closed="left")],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "redundancy": [Interval(Real, 0, 1, closed="right"), None],
        "short_list": ["boolean"],
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        **SHARED_CONSTRAINTS,
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
        missing: str = "auto",
        min_features: int = 0,
        max_features: int | None = None,
        redundancy: float | None = None,
        short_list: bool = False,
        n_features_to_select: int | str | None = None,
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
    ranking_: IntArray
    gains_: FloatArray
    p_values_: FloatArray
    n_features_in_: int
    _kept: KeptVariables

    @with_callbacks
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
        """Find the relevant variables.

        Parameters
        ----------
        ...

        Returns
        -------
        MDFSSelector
            Itself.
        """
        self._validate_params()
        beside = {"strata": strata, "groups": groups, "order": order}
        beside |= {"covariates": covariates, "offset": offset, "entry": entry}
        X = checked_fit(X, y, beside, fit_params)
        table = self._checked_table(X, y)
        samples = fit_samples(X, table, y, beside, decision=self.decision, decision_divisions=self.decision_divisions)
        settings = self.get_params(deep=False)
        settings["fit"] = settings.pop("null_fit")
        bounds = {name: settings.pop(name) for name in ("min_features", "max_features", "redundancy", "short_list")}
        n_exactly = settings.pop("n_features_to_select")
        if self.redundancy is not None:
            settings["redundancy"] = self.redundancy
        tasks = fit_tasks(self, X, y)
        if tasks is not None:
            settings["progress"] = tasks.show
        if n_exactly is None:
            result = replace(select(samples.table, samples.y, **samples.beside, **settings), again=None)
        else:
            result = select_once(
                X=samples.table, y=samples.y, with_curve=n_exactly == "auto", **samples.beside, **settings
            )
        if tasks is not None:
            tasks.end()

        self.result_ = result
        if n_exactly == "auto":
            n_exactly = result.best_curve.n_best
        in_order = first_variables(result, samples.table.n_vars, n_exactly)
        self.ranking_ = np.empty(samples.table.n_vars, dtype=np.int64)
        self.ranking_[in_order] = np.arange(1, len(in_order) + 1)
        if n_exactly is None:
            self._kept = kept_variables(result, samples.table, **bounds)
        else:
            self._kept = KeptVariables(self.ranking_ <= n_exactly, {}, n_exactly=n_exactly)
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
        table = checked_table(self, X, y)
        self._check_bounds(table.n_vars)
        largest, _ = resolve_dimensions(self.dimensions, self.arms, table.n_vars)
        refuse_few_variables(self.dimensions, largest if isinstance(largest, int) else max(largest), table.n_vars)
        return table

    def _check_bounds(self, n_vars: int) -> None:
        if self.n_features_to_select is not None:
            others = {"min_features": 0, "max_features": None, "redundancy": None, "short_list": False}
            for name, default in others.items():
                if (given := getattr(self, name)) != default:
                    raise ValueError(
                        f"n_features_to_select={self.n_features_to_select} says exactly how many variables are kept, "
                        f"and does not go with {name}={given}: leave one out"
                    )
            if self.n_features_to_select == "auto":
                pass
            elif check_int("n_features_to_select", self.n_features_to_select, low=1) > n_vars:
                raise ValueError(
                    f"n_features_to_select={self.n_features_to_select} needs as many variables, and X has "
                    f"n_features={n_vars}: lower it"
                )
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
        tags = tags_of_input(super().__sklearn_tags__(), allows_missing=self.missing != "error")
        tags.transformer_tags.preserves_dtype = ["float64", "float32", "int64", "int32"]
        return tags


def _stays_polars(estimator: MDFSSelector, X: Any) -> bool:
    """Say whether X is a polars frame, and `set_output` or the global configuration asks for one."""
    import narwhals.stable.v2 as nw

    asked_for = _get_output_config("transform", estimator)["dense"]
    return asked_for == "polars" and bool(nw.dependencies.is_polars_dataframe(X))
