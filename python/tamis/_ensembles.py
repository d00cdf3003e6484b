"""SVMs on random subsets of the rows: an ensemble of them, or the best one."""
from __future__ import annotations

from ._arguments import RandomSubsetSVCArguments, RansacSVCArguments
from ._classifier import Classifier
from ._parameters import documented


@documented
class RandomSubsetSVC(RandomSubsetSVCArguments, Classifier):
    """An ensemble of SVMs, each on a random subset of the rows with random C and gamma.

    docs/random-subset.md describes the method; `report_["tables"]["members"]` describes the
    members.

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
        How the training went.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If the columns of X have names (str).

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("ten-gaussians", 5000)
    >>> model = tamis.RandomSubsetSVC(members=20, subset_rows=200, C=3, gamma=0.5).fit(X, y)
    >>> X_new, y_new = tamis.generate("ten-gaussians", 1000, random_state=2)
    >>> model.score(X_new, y_new) > 0.88
    True
    """

    _methods = ("random-subset",)


@documented
class RansacSVC(RansacSVCArguments, Classifier):
    """The best of many SVMs on random subsets of the rows, each with random C and gamma.

    docs/ransac.md describes the method; `report_["details"]` has the best C and gamma.

    PARAMETERS

    ATTRIBUTES

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("ten-gaussians", 5000)
    >>> model = tamis.RansacSVC(trials=50, subset_rows=200, C=3, gamma=0.5).fit(X, y)
    >>> X_new, y_new = tamis.generate("ten-gaussians", 1000, random_state=2)
    >>> model.score(X_new, y_new) > 0.88
    True
    """

    _methods = ("ransac",)
