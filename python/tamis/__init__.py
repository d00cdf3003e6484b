"""Kernel support vector machines for large data, as scikit-learn estimators.

>>> import tamis
>>> X, y = tamis.generate("checkerboard", 2000)
>>> model = tamis.SVC(C=10, gamma=100).fit(X, y)
>>> X_new, y_new = tamis.generate("checkerboard", 500, random_state=2)
>>> model.score(X_new, y_new) > 0.9
True
"""
import os as _os

from . import _core, plot
from ._auto import AutoSVC
from ._checks import certify, compare, report
from ._data import generate
from ._ensembles import RandomSubsetSVC, RansacSVC
from ._linear import LinearSVC, LinearSVR
from ._local import FalkSVC, FalkSVR, KNNSVC
from ._margin import OptMarginSVC, TubeSVR
from ._parameters import TrainingWarning
from ._sifting import CGLQSVC, LeaderSVC, LocalSamplingSVC, SubsampleSVC
from ._svm import SVC, SVR

__version__: str = _core.version
__all__ = ["SVC", "SVR", "LinearSVC", "LinearSVR", "FalkSVC", "FalkSVR", "KNNSVC", "SubsampleSVC", "CGLQSVC",
           "LocalSamplingSVC", "LeaderSVC", "RandomSubsetSVC", "RansacSVC", "OptMarginSVC", "TubeSVR", "AutoSVC",
           "TrainingWarning", "certify", "compare", "generate", "plot", "report", "__version__"]

# A forked child has none of its parent's threads; with them ended before, it starts its own.
_os.register_at_fork(before=_core.release_worker_threads)
