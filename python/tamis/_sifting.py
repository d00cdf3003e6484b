"""The machines on a part of the rows: which ones, is what they differ in."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _core
from ._classifier import Classifier
from ._estimator import store_arguments
from ._parameters import documented


@documented
class SubsampleSVC(Classifier):
    """A machine on rows drawn at random, of each class the same share.

    docs/subsample.md describes the method; `report_["details"]` has the number of rows used.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 20000)
    >>> machine = tamis.SubsampleSVC(delta=0.1, C=10, gamma=100).fit(X, y)
    >>> machine.report_["details"]["rows_used"]
    1999.0
    """

    _methods = ("subsample",)

    def __init__(
        self,
        *,
        delta: float = 0,
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


@documented
class CGLQSVC(Classifier):
    """The method of Barcenas, Gonzalez-Lima and Quiroz: rounds on support vectors, their neighbours and fresh rows.

    docs/cglq.md describes the method; `report_["tables"]["rounds"]` has the rounds.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 10000)
    >>> machine = tamis.CGLQSVC(C=10, gamma=100).fit(X, y)
    >>> X_new, y_new = tamis.generate("checkerboard", 1000, random_state=2)
    >>> machine.score(X_new, y_new) > 0.9
    True
    """

    _methods = ("cglq",)

    def __init__(
        self,
        *,
        delta: float = 0,
        neighbors: int = 5,
        validation_fraction: float = 0.1,
        patience: int = 3,
        improvement: float = 0.01,
        max_rounds: int = 20,
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


@documented
class LocalSamplingSVC(Classifier):
    """Local sampling: rows drawn around the support vectors of machines on small samples.

    docs/local-sampling.md describes the method; `report_["tables"]["rounds"]` has the rounds.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 10000)
    >>> machine = tamis.LocalSamplingSVC(C=10, gamma=100).fit(X, y)
    >>> X_new, y_new = tamis.generate("checkerboard", 1000, random_state=2)
    >>> machine.score(X_new, y_new) > 0.9
    True
    """

    _methods = ("local-sampling",)

    def __init__(
        self,
        *,
        delta: float = 0,
        subsamples: int = 0,
        beta: float = 0,
        intensity: str = "budget",
        budget: float = 0.4,
        draw_weights: str = "none",
        validation_fraction: float = 0.1,
        patience: int = 3,
        improvement: float = 0.01,
        max_rounds: int = 20,
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


@documented
class LeaderSVC(Classifier):
    """A machine on leaders: rows that stand for those close to them.

    docs/leader.md describes the method; `report_["tables"]["leaders"]` has their number in each class.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 10000)
    >>> machine = tamis.LeaderSVC(leaders=2000, leader_weights="cluster", C=10, gamma=100).fit(X, y)
    >>> X_new, y_new = tamis.generate("checkerboard", 1000, random_state=2)
    >>> machine.score(X_new, y_new) > 0.9
    True
    """

    _methods = ("leader",)

    threshold: float | dict[Any, float]

    def _core_arguments(self) -> dict[str, Any]:
        arguments = super()._core_arguments()
        if isinstance(self.threshold, dict):
            del arguments["threshold"]
        return arguments

    def _set_class_options(self, options: _core.Options, classes: np.ndarray, names: Any) -> None:
        super()._set_class_options(options, classes, names)
        if not isinstance(self.threshold, dict):
            return
        if set(self.threshold) != set(classes):
            raise ValueError(f"threshold={self.threshold!r}: give a number for each of the classes {classes.tolist()}")
        options.set_class_thresholds([(str(name), float(self.threshold[label])) for label, name in zip(classes, names)])

    def __init__(
        self,
        *,
        threshold: float | dict[Any, float] = 0,
        leaders: int = 0,
        leader_gamma: float = 0,
        leader_weights: str = "none",
        refine: int = 0,
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
