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
    """What takes the place of scikit-learn's mixin: an estimator that knows no callbacks."""


CallbackSupport: Any = NoCallbacks if _callback is None else _callback.CallbackSupportMixin


#: A search is told to callbacks as this many tasks, one after the other.
N_TASKS = 100


def with_callbacks(method: Method) -> Method:
    """Have a `fit` take down its callbacks when it is done, however it ends."""
    if _callback is None:
        return method
    decorated = _callback.with_callbacks(method)

    @wraps(decorated)
    def called(*args: Any, **kwargs: Any) -> Any:
        # A frame of this package outside scikit-learn's, for warnings: these name the line that called the package.
        return decorated(*args, **kwargs)

    return cast(Method, called)


class FitTasks:
    """Tells an estimator's callbacks how far its fit has come, as `N_TASKS` tasks of equal size.

    A callback's wish to stop is not heeded: half a search gives no p-values.
    """

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self._told = {"estimator": estimator, "X": X, "y": y}
        self._all = estimator._init_callback_context(max_subtasks=N_TASKS)
        self._all.call_on_fit_task_begin(**self._told)
        self._task: Any = None
        self._n_done = 0
        self._begin_task()

    def show(self, done: float) -> None:
        """Say which share of the search is done, 0 to 1."""
        while self._n_done < min(int(done * N_TASKS), N_TASKS):
            self._task.call_on_fit_task_end(**self._told)
            self._n_done += 1
            self._begin_task()

    def end(self) -> None:
        """Say that all is done."""
        self.show(1.0)
        self._all.call_on_fit_task_end(**self._told)

    def _begin_task(self) -> None:
        if self._n_done < N_TASKS:
            self._task = self._all.subcontext(task_name="search").call_on_fit_task_begin(**self._told)


def fit_tasks(estimator: Any, X: Any, y: Any) -> FitTasks | None:
    """Return what to tell the callbacks through, if there are any to tell."""
    return FitTasks(estimator, X, y) if getattr(estimator, "_skl_callbacks", None) else None
