"""Estimators that learn a number."""
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._estimator import Estimator, Self
from ._files import file_labels, is_path, known_file
from ._parameters import thread_count


class Regressor(RegressorMixin, Estimator):
    _task = "regression"

    def fit(self: Self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Trains on rows X with targets y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or the path of a data file
            With kernel="precomputed" the shape is (n_samples, n_samples).
            float32 arrays in C order, mapped ones too, and CSR matrices of float32 are used in
            place; others are converted, tables column by column. A path is a str or os.PathLike.
        y : array-like of shape (n_samples,)
            None with a path: the targets are in the file.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C. A weight of 2 counts as two copies of the row, 0 as none.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _encode_targets(self, y: np.ndarray, weights: np.ndarray | None, options: _core.Options) -> Any:
        return np.ascontiguousarray(y, dtype=np.float64)

    def _file_targets(self, rows: _core.Rows, options: _core.Options) -> Any:
        return None

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R^2 of the predictions; without y for the path of a file that has targets."""
        if is_path(X):
            check_is_fitted(self)
            rows = known_file(self, X)
            return super().score(rows, file_labels(rows, X) if y is None else y, sample_weight)
        return super().score(X, y, sample_weight)

    def _set_trained(self, support: np.ndarray, targets: Any) -> None:
        self.n_iter_ = self.report_["iterations"]
        if self._model.expansion() is not None:
            self.support_ = support
            self.n_support_ = np.array([len(support)])

    def predict(self, X: Any) -> np.ndarray:
        """A number for each row."""
        rows = self._prediction_rows(X)
        return self._model.predict(rows, thread_count(self.n_jobs), self._progress_listener())
