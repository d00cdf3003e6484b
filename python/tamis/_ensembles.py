"""The machines on random parts of the rows: many of them together, or the best one."""
from __future__ import annotations

from typing import Any, Callable, Sequence

from ._classifier import Classifier
from ._estimator import store_arguments
from ._parameters import documented


@documented
class RandomSubsetSVC(Classifier):
    """An ensemble of machines, each on a random part of the rows with random C and gamma.

    docs/random-subset.md describes the method; `report_["tables"]["members"]` has the members.

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
        How the training went.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had names of str.

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("ten-gaussians", 5000)
    >>> machine = tamis.RandomSubsetSVC(members=20, subset_rows=200, C=3, gamma=0.5).fit(X, y)
    >>> X_new, y_new = tamis.generate("ten-gaussians", 1000, random_state=2)
    >>> machine.score(X_new, y_new) > 0.88
    True
    """

    _methods = ("random-subset",)

    def __init__(
        self,
        *,
        members: int = 100,
        candidates: int = 1,
        subset_rows: int = 0,
        cost_range: Sequence[float] = (0.5, 2),
        gamma_range: Sequence[float] = (0.25, 2),
        search_trials: int = 0,
        score_rows: int = 0,
        combine: str = "nonnegative",
        combine_cost: float = 100,
        C: float = 1.0,
        kernel: str = "rbf",
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
class RansacSVC(Classifier):
    """The best of many machines on random parts of the rows, each with random C and gamma.

    docs/ransac.md describes the method; `report_["details"]` has the best C and gamma.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("ten-gaussians", 5000)
    >>> machine = tamis.RansacSVC(trials=50, subset_rows=200, C=3, gamma=0.5).fit(X, y)
    >>> X_new, y_new = tamis.generate("ten-gaussians", 1000, random_state=2)
    >>> machine.score(X_new, y_new) > 0.88
    True
    """

    _methods = ("ransac",)

    def __init__(
        self,
        *,
        trials: int = 200,
        subset_rows: int = 0,
        cost_range: Sequence[float] = (0.5, 2),
        gamma_range: Sequence[float] = (0.25, 2),
        score_rows: int = 0,
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
        polish: bool = False,
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
