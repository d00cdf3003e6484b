"""The optimum of the full problem from random draws of the rows, with a certificate."""
from __future__ import annotations

from typing import Any, Callable

from ._classifier import Classifier
from ._estimator import Estimator, store_arguments
from ._parameters import documented
from ._regressor import Regressor


class _Margin(Estimator):
    """Which of the core's methods the argument `margin` means."""

    _methods = ("opt-soft-margin", "opt-margin")

    margin: str

    @property
    def _method(self) -> str:
        methods = {"soft": "opt-soft-margin", "hard": "opt-margin"}
        if self.margin not in methods:
            raise ValueError(f"margin={self.margin!r}: one of 'soft', 'hard'")
        return methods[self.margin]

    def _stated_problem(self) -> dict[str, float]:
        names = {"C": "equivalent_cost", "epsilon": "fitted_tube"}
        details = getattr(self, "report_", {}).get("details", {})  # a loaded machine has no report, several machines no C
        return {argument: details[name] for argument, name in names.items() if name in details}


@documented
class OptMarginSVC(_Margin, Classifier):
    """The optimum of the full problem from random draws of the rows: for many rows and few features.

    docs/opt-margin.md describes the method; `report_["details"]` has the number of rounds, the margin, and the C of the
    C-SVC with the same answer.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("gaussians", 20000)
    >>> machine = tamis.OptMarginSVC(kernel="linear").fit(X, y)
    >>> tamis.certify(machine, X, y)["certified"]
    True
    """

    def __init__(
        self,
        *,
        margin: str = "soft",
        margin_k: float | str = 0,
        nu: float = 0,
        draw: int = 0,
        carry_support: bool = True,
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
class TubeSVR(_Margin, Regressor):
    """The narrowest tube around the rows, of which a share may lie outside, by separating two copies of them.

    The answer is that of an epsilon-SVR whose tube and C are found, not given: `fitted_tube` and `equivalent_cost` of
    `report_["details"]`. docs/opt-margin.md describes the method. Scale the targets to about 1.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import TubeSVR
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> machine = TubeSVR(gamma=1, nu=0.2).fit(X, np.sin(X[:, 0]))
    >>> float(abs(machine.predict([[1.5]])[0] - np.sin(1.5))) < 0.05
    True
    """

    def __init__(
        self,
        *,
        margin: str = "soft",
        margin_k: float | str = 0,
        nu: float = 0,
        draw: int = 0,
        carry_support: bool = True,
        epsilon: float = 0.1,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
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
