"""Linear models: no kernel, and time proportional to the size of the data."""
from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._arguments import LinearSVCArguments, LinearSVRArguments
from ._classifier import Classifier
from ._estimator import Estimator
from ._parameters import documented
from ._regressor import Regressor


class _Linear(Estimator):
    """Arguments in the words of scikit-learn's LinearSVC and LinearSVR; weights instead of support
    vectors.
    """

    _losses: dict[str, str]  # scikit-learn's word -> the core's
    loss: str
    fit_intercept: bool
    intercept_scaling: float

    def _core_arguments(self) -> dict[str, Any]:
        arguments = super()._core_arguments()
        if self.loss not in self._losses:
            raise ValueError(f"loss={self.loss!r}: one of {', '.join(map(repr, self._losses))}")
        if self.fit_intercept and not (isinstance(self.intercept_scaling, numbers.Real) and self.intercept_scaling > 0):
            raise ValueError(f"intercept_scaling={self.intercept_scaling!r}: it must be a number greater than 0")
        arguments["loss"] = self._losses[self.loss]
        del arguments["fit_intercept"]
        arguments["bias"] = float(self.intercept_scaling) if self.fit_intercept else "none"
        return arguments

    def _set_loaded(self) -> None:
        if self._model.linear() is None:
            raise ValueError(f"the file holds a model of the method {self._model.method}: {type(self).__name__} cannot use it")
        super()._set_loaded()

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, one row per binary SVM."""
        check_is_fitted(self)
        linear = self._model.linear()
        assert linear is not None
        return linear["weights"]

    @property
    def intercept_(self) -> np.ndarray:
        """The constant of each binary SVM."""
        check_is_fitted(self)
        linear = self._model.linear()
        assert linear is not None
        return linear["offsets"]


@documented
class LinearSVC(LinearSVCArguments, _Linear, Classifier):
    """Linear support vector classification: scikit-learn's LinearSVC, on all cores.

    The same optimum as `sklearn.svm.LinearSVC` with dual=True for the same arguments, up to `tol`.
    docs/linear.md describes the method.

    PARAMETERS

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, ascending.
    coef_ : ndarray of shape (1, n_features) for two classes, else (n_classes, n_features)
        Weights of the features; with multi_class="ovo", one row per pair of classes.
    intercept_ : ndarray of shape (1,) for two classes, else (n_classes,)
    class_weight_ : ndarray of shape (n_classes,)
    n_iter_ : int
        Epochs of all binary SVMs.
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If the columns of X have names (str).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from tamis import LinearSVC
    >>> X, y = make_classification(1000, 20, random_state=0)
    >>> LinearSVC().fit(X, y).score(X, y) > 0.8
    True
    """

    _methods = ("linear",)
    _losses = {"hinge": "l1", "squared_hinge": "l2"}


@documented
class LinearSVR(LinearSVRArguments, _Linear, Regressor):
    """Linear support vector regression: scikit-learn's LinearSVR, on all cores.

    The same optimum as `sklearn.svm.LinearSVR` with dual=True for the same arguments, up to `tol`.

    PARAMETERS

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
    n_iter_ : int
        Epochs.
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If the columns of X have names (str).

    Examples
    --------
    >>> from tamis import LinearSVR
    >>> model = LinearSVR(C=100).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> round(float(model.predict([[3.0]])[0]), 1)
    7.0
    """

    _methods = ("linear",)
    _losses = {"epsilon_insensitive": "l1", "squared_epsilon_insensitive": "l2"}
