"""scikit-learn's callbacks (progress bars and the like), where the installed version has them: from 1.9 on."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

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
