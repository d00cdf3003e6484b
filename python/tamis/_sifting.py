"""Models trained on a part of the rows; the methods differ in which rows they choose."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arguments import CGLQSVCArguments, LeaderSVCArguments, LocalSamplingSVCArguments, SubsampleSVCArguments
from ._classifier import Classifier
from ._parameters import documented


@documented
class SubsampleSVC(SubsampleSVCArguments, Classifier):
    """An SVM on a random sample of the rows, with the same fraction of each class.

    docs/subsample.md describes the method; `report_["details"]` has the number of rows used.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 20000)
    >>> model = tamis.SubsampleSVC(delta=0.1, C=10, gamma=100).fit(X, y)
    >>> model.report_["details"]["rows_used"]
    1999.0
    """

    _methods = ("subsample",)


@documented
class CGLQSVC(CGLQSVCArguments, Classifier):
    """The method of Barcenas, Gonzalez-Lima and Quiroz: rounds on support vectors, their neighbors
    and new rows.

    docs/cglq.md describes the method; `report_["tables"]["rounds"]` has the rounds.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 10000)
    >>> model = tamis.CGLQSVC(C=10, gamma=100).fit(X, y)
    >>> X_new, y_new = tamis.generate("checkerboard", 1000, random_state=2)
    >>> model.score(X_new, y_new) > 0.9
    True
    """

    _methods = ("cglq",)


@documented
class LocalSamplingSVC(LocalSamplingSVCArguments, Classifier):
    """Local sampling: rows drawn around the support vectors of SVMs on small samples.

    docs/local-sampling.md describes the method; `report_["tables"]["rounds"]` has the rounds.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 10000)
    >>> model = tamis.LocalSamplingSVC(C=10, gamma=100).fit(X, y)
    >>> X_new, y_new = tamis.generate("checkerboard", 1000, random_state=2)
    >>> model.score(X_new, y_new) > 0.9
    True
    """

    _methods = ("local-sampling",)


@documented
class LeaderSVC(LeaderSVCArguments, Classifier):
    """An SVM on leaders: rows that represent those close to them.

    docs/leader.md describes the method; `report_["tables"]["leaders"]` has their number in each
    class.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 10000)
    >>> model = tamis.LeaderSVC(leaders=2000, leader_weights="cluster", C=10, gamma=100).fit(X, y)
    >>> X_new, y_new = tamis.generate("checkerboard", 1000, random_state=2)
    >>> model.score(X_new, y_new) > 0.9
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
        options.set("threshold", {str(name): float(self.threshold[label]) for label, name in zip(classes, names)})
