"""Local models: many small SVMs, each for a neighborhood of the data."""
from __future__ import annotations

from ._arguments import FalkSVCArguments, FalkSVRArguments, KNNSVCArguments
from ._classifier import Classifier
from ._estimator import Estimator
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
class FalkSVC(FalkSVCArguments, _Falk, Classifier):
    """FaLK-SVM: one SVM per neighborhood; together, the neighborhoods cover the data.

    Training time grows hardly faster than the number of rows. docs/falk.md describes the method.

    PARAMETERS

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, ascending.
    class_weight_ : ndarray of shape (n_classes,)
    n_iter_ : int
        Pair updates of all SVMs.
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went; `report_["details"]` has the number of centers, k and k'.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If the columns of X have names (str).

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 5000)
    >>> model = tamis.FalkSVC(k=200, C=10, gamma=100).fit(X, y)
    >>> X_new, y_new = tamis.generate("checkerboard", 1000, random_state=2)
    >>> model.score(X_new, y_new) > 0.9
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


@documented
class FalkSVR(FalkSVRArguments, _Falk, Regressor):
    """FaLK-SVM for regression: one epsilon-SVR per neighborhood; together, the neighborhoods cover
    the data.

    PARAMETERS

    Attributes
    ----------
    n_iter_ : int
        Pair updates of all SVMs.
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went; `report_["details"]` has the number of centers, k and k'.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If the columns of X have names (str).

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import FalkSVR
    >>> X = np.linspace(0, 60, 2000).reshape(-1, 1)
    >>> model = FalkSVR(k=100, C=10, gamma=1, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> float(abs(model.predict([[1.5]])[0] - np.sin(1.5))) < 0.02
    True
    """

    _methods = ("falk", "falk-c")


@documented
class KNNSVC(KNNSVCArguments, Classifier):
    """kNN-SVM: for each row to predict, an SVM on its k nearest training rows.

    SVMs are trained when predicting; the model keeps all rows.

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
        If the columns of X have names (str).

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("spirals", 1000)
    >>> tamis.KNNSVC(k=50, C=10, gamma=10).fit(X, y).score(X[:100], y[:100]) > 0.9
    True
    """

    _methods = ("knn-svm",)
