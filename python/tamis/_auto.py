"""The classifier that chooses its method and parameters by trials."""
from __future__ import annotations

from typing import Any

from ._arguments import AutoSVCArguments
from ._classifier import Classifier
from ._parameters import documented


@documented
class AutoSVC(AutoSVCArguments, Classifier):
    """Chooses kernel, scaling, C, gamma, method and rows by trials, within a time limit.

    docs/auto.md describes the rule. What was chosen, and why, is in `report_["remarks"]`, the
    method in `report_["method"]`. Arguments that are given are kept. With a time limit or on a busy
    computer the choice depends on measured times, so two fits may choose differently.

    PARAMETERS

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, ascending.
    class_weight_ : ndarray of shape (n_classes,)
    support_, support_vectors_, n_support_, dual_coef_, intercept_
        As those of SVC, where the method chosen is exact.
    chosen_ : ndarray of shape (n_rows,)
        Rows of the training data that the model was trained on, ascending. Only where a method,
        the search or a time limit chose rows, and the parts of the model have none of their own.
    n_iter_ : int or ndarray
        Pair updates (linear: epochs).
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went; `report_["details"]` has the parameters chosen and the forecasts.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If the columns of X have names (str).

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 3000)
    >>> model = tamis.AutoSVC(max_seconds=20).fit(X, y)
    >>> X_new, y_new = tamis.generate("checkerboard", 1000, random_state=2)
    >>> model.score(X_new, y_new) > 0.85
    True
    """

    _methods = ("auto",)

    C: float | None
    kernel: Any
    gamma: float | str | None
    scale: str | None

    def _stated_problem(self) -> dict[str, float]:
        details = getattr(self, "report_", {}).get("details", {})  # a loaded model has no report
        return {"C": details.get("chosen_cost", 1.0)}
