"""The optimum of the full problem from random draws of the rows, with a certificate."""
from __future__ import annotations

from ._arguments import OptMarginSVCArguments, TubeSVRArguments
from ._classifier import Classifier
from ._estimator import Estimator
from ._parameters import documented
from ._regressor import Regressor


class _Margin(Estimator):
    """Which of the core's methods the argument `margin` means."""

    margin: str

    @property
    def _method(self) -> str:
        methods = {"soft": "opt-soft-margin", "hard": "opt-margin"}
        if self.margin not in methods:
            raise ValueError(f"margin={self.margin!r}: one of 'soft', 'hard'")
        return methods[self.margin]

    def _stated_problem(self) -> dict[str, float]:
        names = {"C": "equivalent_cost", "epsilon": "fitted_tube"}
        details = getattr(self, "report_", {}).get("details", {})  # a loaded model has no report, several SVMs no C
        return {argument: details[name] for argument, name in names.items() if name in details}


@documented
class OptMarginSVC(OptMarginSVCArguments, _Margin, Classifier):
    """The optimum of the full problem from random draws of the rows, for many rows and few
    features.

    docs/opt-margin.md describes the method; `report_["details"]` has the number of rounds, the
    margin, and the C of the C-SVC with the same model.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("gaussians", 20000)
    >>> model = tamis.OptMarginSVC(kernel="linear").fit(X, y)
    >>> tamis.certify(model, X, y)["certified"]
    True
    """

    _methods = ("opt-soft-margin", "opt-margin")


@documented
class TubeSVR(TubeSVRArguments, _Margin, Regressor):
    """The narrowest tube around the rows, outside of which a fraction of them may lie, found by
    separating two copies of them.

    The model is that of an epsilon-SVR whose tube and C are found, not given: `fitted_tube` and
    `equivalent_cost` of `report_["details"]`. docs/opt-margin.md describes the method. Scale the
    targets to about 1.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import TubeSVR
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> model = TubeSVR(gamma=1, nu=0.2).fit(X, np.sin(X[:, 0]))
    >>> float(abs(model.predict([[1.5]])[0] - np.sin(1.5))) < 0.05
    True
    """

    _methods = ("opt-soft-margin", "opt-margin")
