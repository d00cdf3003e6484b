"""The local machines: many small ones, each for a neighbourhood of the data."""
from __future__ import annotations

from typing import Any, Callable, Sequence

from ._classifier import Classifier
from ._estimator import Estimator, store_arguments
from ._parameters import documented
from ._regressor import Regressor


class _Falk(Estimator):
    """Which of the core's methods the argument `prediction` means."""

    prediction: str

    @property
    def _method(self) -> str:
        methods = {"nearest-row": "falk", "nearest-centre": "falk-c"}
        if self.prediction not in methods:
            raise ValueError(f"prediction={self.prediction!r}: one of 'nearest-row', 'nearest-centre'")
        return methods[self.prediction]


@documented
class FalkSVC(_Falk, Classifier):
    """FaLK-SVM: a machine for each of many neighbourhoods that together cover the data.

    Time grows hardly faster than the number of rows. docs/falk.md describes the method.

    PARAMETERS

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, ascending.
    class_weight_ : ndarray of shape (n_classes,)
    n_iter_ : int
        Pair updates of all machines.
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went; `report_["details"]` has the number of centres, k and k'.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had names of str.

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 5000)
    >>> machine = tamis.FalkSVC(k=200, C=10, gamma=100).fit(X, y)
    >>> X_new, y_new = tamis.generate("checkerboard", 1000, random_state=2)
    >>> machine.score(X_new, y_new) > 0.9
    True
    """

    _methods = ("falk", "falk-c", "falk-l")

    local_selection: bool

    @property
    def _method(self) -> str:
        if not self.local_selection:
            return super()._method
        if self.prediction != "nearest-row":
            raise ValueError(f"prediction={self.prediction!r}: local_selection needs 'nearest-row'")
        return "falk-l"

    def __init__(
        self,
        *,
        k: int = 0,
        k_prime: int = 0,
        prediction: str = "nearest-row",
        local_selection: bool = False,
        C: float = 1.0,
        kernel: str = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        loss: str = "l1",
        class_weight: dict[Any, float] | str | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        probability: bool = False,
        scale: str = "none",
        index: str = "auto",
        k_grid: Sequence[int] = (500, 1000, 2000, 4000),
        cost_grid: Sequence[float] = (1, 4, 16, 64),
        percentiles: Sequence[float] = (1, 10, 50, 90),
        selection_centres: int = 20,
        selection_folds: int = 5,
        tol: float = 1e-3,
        max_iter: int = -1,
        max_seconds: float | None = None,
        max_memory: int | str | None = None,
        cache_size: float = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Callable[[dict[str, Any]], None] | None = None,
        verbose: bool = False,
    ) -> None:
        store_arguments(self, locals())


@documented
class FalkSVR(_Falk, Regressor):
    """FaLK-SVM for numbers: an epsilon-SVR for each of many neighbourhoods that together cover the data.

    PARAMETERS

    Attributes
    ----------
    n_iter_ : int
        Pair updates of all machines.
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went; `report_["details"]` has the number of centres, k and k'.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had names of str.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import FalkSVR
    >>> X = np.linspace(0, 60, 2000).reshape(-1, 1)
    >>> machine = FalkSVR(k=100, C=10, gamma=1, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> float(abs(machine.predict([[1.5]])[0] - np.sin(1.5))) < 0.02
    True
    """

    _methods = ("falk", "falk-c")

    def __init__(
        self,
        *,
        k: int = 0,
        k_prime: int = 0,
        prediction: str = "nearest-row",
        C: float = 1.0,
        epsilon: float = 0.1,
        kernel: str = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        loss: str = "l1",
        scale: str = "none",
        index: str = "auto",
        tol: float = 1e-3,
        max_iter: int = -1,
        max_seconds: float | None = None,
        max_memory: int | str | None = None,
        cache_size: float = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Callable[[dict[str, Any]], None] | None = None,
        verbose: bool = False,
    ) -> None:
        store_arguments(self, locals())


@documented
class KNNSVC(Classifier):
    """kNN-SVM: for each row to predict, a machine on its k nearest training rows.

    Nothing is trained before a prediction is asked for; the machine keeps all rows.

    PARAMETERS

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, ascending.
    class_weight_ : ndarray of shape (n_classes,)
    report_ : dict
        How the training went.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had names of str.

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("spirals", 1000)
    >>> tamis.KNNSVC(k=50, C=10, gamma=10).fit(X, y).score(X[:100], y[:100]) > 0.9
    True
    """

    _methods = ("knn-svm",)

    def __init__(
        self,
        *,
        k: int = 0,
        C: float = 1.0,
        kernel: str = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        loss: str = "l1",
        class_weight: dict[Any, float] | str | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        probability: bool = False,
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: int = -1,
        max_seconds: float | None = None,
        max_memory: int | str | None = None,
        cache_size: float = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Callable[[dict[str, Any]], None] | None = None,
        verbose: bool = False,
    ) -> None:
        store_arguments(self, locals())
