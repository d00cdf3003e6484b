"""The machine that chooses its method and parameters by trials."""
from __future__ import annotations

from typing import Any, Callable

from . import _core
from ._classifier import Classifier
from ._estimator import store_arguments
from ._parameters import documented


@documented
class AutoSVC(Classifier):
    """Chooses scaling, C, gamma, the method and the number of rows by trials, within a time limit.

    docs/auto.md has the rule. What was chosen, and why, is in `report_["remarks"]`, the method in `report_["method"]`. What is
    given as an argument stays. With a limit or on a busy computer the choice depends on times that were measured, so two
    fits may choose differently.

    PARAMETERS

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, ascending.
    class_weight_ : ndarray of shape (n_classes,)
    support_, support_vectors_, n_support_, dual_coef_, intercept_
        As those of SVC, where the method chosen is exact.
    n_iter_ : int or ndarray
        Pair updates (linear: epochs).
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went; `report_["details"]` has the parameters chosen and the forecasts.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had names of str.

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 3000)
    >>> machine = tamis.AutoSVC(max_seconds=20).fit(X, y)
    >>> X_new, y_new = tamis.generate("checkerboard", 1000, random_state=2)
    >>> machine.score(X_new, y_new) > 0.85
    True
    """

    _methods = ("auto",)

    C: float | None
    gamma: float | str | None
    scale: str | None

    def _core_options(self) -> _core.Options:
        options = super()._core_options()
        options.keep(cost=self.C is not None, gamma=self.gamma is not None, scaling=self.scale is not None)
        return options

    def _stated_problem(self) -> dict[str, float]:
        details = getattr(self, "report_", {}).get("details", {})  # a loaded machine has no report
        return {"C": details.get("chosen_cost", 1.0)}

    def __init__(
        self,
        *,
        max_seconds: float | None = None,
        C: float | None = None,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | str | None = None,
        coef0: float = 0.0,
        loss: str = "l1",
        class_weight: dict[Any, float] | str | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        probability: bool = False,
        scale: str | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        max_memory: int | str | None = None,
        cache_size: float = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Callable[[dict[str, Any]], None] | None = None,
        verbose: bool = False,
    ) -> None:
        store_arguments(self, locals())
