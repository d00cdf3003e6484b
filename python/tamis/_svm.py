"""Exact models: the optimum of the full problem on all rows."""
from __future__ import annotations

from ._arguments import SVCArguments, SVRArguments
from ._classifier import Classifier
from ._parameters import documented
from ._regressor import Regressor


@documented
class SVC(SVCArguments, Classifier):
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
    >>> model = make_pipeline(StandardScaler(), SVC(gamma="auto")).fit(X, y)
    >>> model.predict([[-0.8, -1]])
    array(['no'], dtype='<U3')
    """

    _methods = ("exact",)


@documented
class SVR(SVRArguments, Regressor):
    """Epsilon-support vector regression: scikit-learn's SVR, on all cores.

    The same optimum as `sklearn.svm.SVR` for the same arguments, up to `tol`.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import SVR
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> model = SVR(C=10, gamma=1, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> float(abs(model.predict([[1.5]])[0] - np.sin(1.5))) < 0.02
    True
    """

    _methods = ("exact",)
