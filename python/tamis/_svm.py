"""The exact machines: the optimum of the full problem on all rows."""
from __future__ import annotations

from typing import Any, Callable

from ._classifier import Classifier
from ._estimator import store_arguments
from ._parameters import documented
from ._regressor import Regressor


@documented
class SVC(Classifier):
    """C-support vector classification: scikit-learn's SVC, on all cores.

    The same optimum as `sklearn.svm.SVC` for the same arguments, up to `tol`.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import SVC
    >>> X = [[-1, -1], [-2, -1], [1, 1], [2, 1]]
    >>> y = ["no", "no", "yes", "yes"]
    >>> machine = make_pipeline(StandardScaler(), SVC(gamma="auto")).fit(X, y)
    >>> machine.predict([[-0.8, -1]])
    array(['no'], dtype='<U3')
    """

    _methods = ("exact",)

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        loss: str = "l1",
        class_weight: dict[Any, float] | str | None = None,
        multi_class: str = "ovo",
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


@documented
class SVR(Regressor):
    """Epsilon-support vector regression: scikit-learn's SVR, on all cores.

    The same optimum as `sklearn.svm.SVR` for the same arguments, up to `tol`.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import SVR
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> machine = SVR(C=10, gamma=1, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> float(abs(machine.predict([[1.5]])[0] - np.sin(1.5))) < 0.02
    True
    """

    _methods = ("exact",)

    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        loss: str = "l1",
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
