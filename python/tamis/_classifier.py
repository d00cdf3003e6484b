"""Estimators that learn classes: labels to and from the core, decision values in scikit-learn's
shapes.
"""
from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from sklearn.utils.multiclass import _ovr_decision_function, check_classification_targets

from . import _core
from ._estimator import Estimator, Self
from ._files import file_labels, is_path, known_file, whole_numbers
from ._parameters import thread_count
from ._sklearn import wants_probabilities


def _offers_probabilities(estimator: Classifier) -> bool:
    if not wants_probabilities(estimator.probability):
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class Classifier(ClassifierMixin, Estimator):
    _task = "classification"

    class_weight: Any
    decision_function_shape: str
    break_ties: bool
    probability: bool

    def fit(self: Self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Trains on rows X of classes y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or the path of a data file
            With kernel="precomputed" the shape is (n_samples, n_samples).
            float32 arrays in C order, mapped ones too, and CSR matrices of float32 are used in
            place; others are converted, tables column by column. A path is a str or os.PathLike.
        y : array-like of shape (n_samples,)
            Numbers or words. None with a path: the labels are in the file.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C. A weight of 2 counts as two copies of the row, 0 as none.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _encode_targets(self, y: np.ndarray, weights: np.ndarray | None, options: _core.Options) -> Any:
        check_classification_targets(y)
        # A row of weight 0 is no row: a class that has no other is no class.
        self.classes_ = np.unique(y if weights is None else y[weights > 0])
        if len(self.classes_) < 2:
            raise ValueError("The number of classes has to be greater than one; got 1 class" if weights is None else
                             "Invalid input - all samples with positive weights belong to the same class")
        codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1).astype(np.int32)
        rows = np.bincount(codes, weights=weights, minlength=len(self.classes_))
        self.class_weight_ = self._class_factors(rows)
        names = core_class_names(self.classes_)
        self._set_class_options(options, self.classes_, names)
        return codes, names

    def _file_targets(self, rows: _core.Rows, options: _core.Options) -> Any:
        classes = rows.classes()
        names = classes.names
        order = np.argsort(np.asarray(names), kind="stable")
        self.classes_ = whole_numbers(np.asarray(names)[order])
        self.class_weight_ = self._class_factors(rows.class_weights(classes)[order])
        self._set_class_options(options, self.classes_, np.asarray(names)[order])
        place = np.argsort(order)
        return _CodesOfRows(rows, classes, place), [names[k] for k in order]

    def _set_class_options(self, options: _core.Options, classes: np.ndarray, names: Any) -> None:
        """Options that have a number for each class, by what the core calls the classes."""
        if isinstance(self.class_weight, str):
            options.set("class-weight", self.class_weight)
        elif self.class_weight is not None:
            factors = compute_class_weight(self.class_weight, classes=classes, y=classes)
            options.set("class-weight", {str(name): float(factor) for name, factor in zip(names, factors)})

    def _class_factors(self, rows: np.ndarray) -> np.ndarray:
        """From the weight of the rows of each class."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return rows.sum() / (len(rows) * rows)
        return compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_)

    def _set_trained(self, support: np.ndarray, targets: Any) -> None:
        codes, names = targets
        self._positions = _positions(self._model.classes, names)
        parts = self._model.expansion()
        if parts is None:
            self.n_iter_ = max(1, self.report_["iterations"])
        else:
            self.n_iter_ = np.array(self.report_["machine_iterations"], dtype=np.int32)
            self.support_ = support[self._support_order(parts)]
            self.n_support_ = np.bincount(codes[support], minlength=len(self.classes_)).astype(np.int32)

    def _set_loaded(self) -> None:
        names = self._model.classes
        self.classes_ = np.unique(names)
        self._positions = _positions(names, list(self.classes_))
        self.classes_ = whole_numbers(self.classes_)

    def _support_order(self, parts: dict[str, Any]) -> Any:
        if list(self._positions) != _usual_positions(len(self._positions)):
            raise AttributeError("the model file has its classes in another order than scikit-learn's")
        # Pairs of classes: grouped by class already. Two classes: y is the sign of the coefficient. One against the
        # rest: by row.
        if len(self.classes_) > 2:
            return slice(None)
        return np.argsort(parts["coefficients"][0] > 0, kind="stable")

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row: what the model file predicts, unless break_ties=True."""
        if getattr(self, "break_ties", False) and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        rows = self._prediction_rows(X)
        if getattr(self, "break_ties", False) and len(self.classes_) > 2:
            return self.classes_[np.argmax(self._decision_columns(rows), axis=1)]
        positions = self._model.predict(rows, thread_count(self.n_jobs), self._progress_listener())
        return self.classes_[self._positions[positions]]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The fraction of rows that are classified correctly. A file with labels needs no y."""
        if is_path(X):
            check_is_fitted(self)
            rows = known_file(self, X)
            return super().score(rows, file_labels(rows, X) if y is None else y, sample_weight)
        return super().score(X, y, sample_weight)

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values, in scikit-learn's shapes.

        Two classes: shape (n_samples,), above 0 where classes_[1] is predicted. More: shape
        (n_samples, n_classes); the values of pairs of classes are put together as scikit-learn's
        SVC does it, votes first, and the largest is that of the class that `predict` returns. With
        decision_function_shape="ovo": shape (n_samples, n_classes * (n_classes - 1) / 2), the value
        of the pair (i, j), i < j, above 0 where classes_[i] is favored.
        """
        return self._decision_columns(self._prediction_rows(X))

    def _decision_columns(self, rows: Any) -> np.ndarray:
        values, positions, pairs = self._decide(rows)
        count = len(self.classes_)
        if count == 2:
            return values[:, 0] if self._positions[0] == 1 else -values[:, 0]
        if pairs:
            values = _sorted_pairs(values, self._positions)
            if getattr(self, "decision_function_shape", "ovr") == "ovo":
                return values
            values = _ovr_decision_function(values <= 0, -values, count)  # 0 is a vote for the second class
        else:
            values = values[:, np.argsort(self._positions)]
        return values if getattr(self, "break_ties", False) else _with_winner_largest(values, self._positions[positions])

    def _folds(self) -> int:
        return 5 if wants_probabilities(self.probability) else 0

    @available_if(_offers_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, a column for each of classes_; needs probability=True.

        `predict` does not depend on them: near a boundary, the most probable class may be another
        one.
        """
        rows = self._prediction_rows(X)
        if not self._model.has_probabilities:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        values = self._model.probabilities(rows, thread_count(self.n_jobs), self._progress_listener())
        return values[:, np.argsort(self._positions)]

    @available_if(_offers_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of predict_proba."""
        return np.log(self.predict_proba(X))

    def _linear_coefficients(self) -> Any:
        weights = self.dual_coef_
        vectors = self.support_vectors_
        if len(self.classes_) == 2 or weights.shape[0] == len(self.classes_):
            return weights @ vectors
        ends = np.cumsum(self.n_support_)
        groups = [slice(end - size, end) for end, size in zip(ends, self.n_support_)]
        pairs = [weights[j - 1, groups[i]] @ vectors[groups[i]] + weights[i, groups[j]] @ vectors[groups[j]]
                 for i in range(len(groups)) for j in range(i + 1, len(groups))]
        return sp.vstack(pairs).tocsr() if sp.issparse(vectors) else np.vstack(pairs)


class _CodesOfRows:
    """The classes of some rows of a file, as positions in classes_, without memory for all rows."""

    def __init__(self, rows: _core.Rows, classes: _core.Classes, place: np.ndarray) -> None:
        self._rows, self._classes, self._place = rows, classes, place

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        return self._place[self._rows.codes(rows, self._classes)]


def core_class_names(classes: np.ndarray) -> np.ndarray | list[str]:
    """Classes as a model file names them: their numbers or words where that is possible, else 0, 1,
    2 ..
    """
    if classes.dtype.kind in "biuf":
        numbers = classes.astype(np.float64)
        if np.all(numbers[1:] > numbers[:-1]):  # so large that float64 cannot tell them apart?
            return numbers
    elif all(isinstance(label, str) for label in classes):
        words = [str(label) for label in classes]
        for word in words:
            if any(0xD800 <= ord(letter) <= 0xDFFF for letter in word):
                raise ValueError(f"the label {word!r} holds a lone surrogate, which UTF-8 does not have")
        return words
    return np.arange(len(classes), dtype=np.float64)


def _positions(model_classes: np.ndarray | list[str], names: np.ndarray | list[str]) -> np.ndarray:
    """Where in `names` each class of the model is."""
    place = {name: position for position, name in enumerate(names)}
    return np.array([place[name] for name in model_classes])


def _usual_positions(count: int) -> list[int]:
    return [1, 0] if count == 2 else list(range(count))  # the core's order, see distinct_classes()


def _with_winner_largest(values: np.ndarray, winners: np.ndarray) -> np.ndarray:
    """Of classes with equally many votes the first wins, as in LIBSVM, though another may have the
    larger value: the winner's is raised just above it."""
    rows = np.flatnonzero(np.argmax(values, axis=1) != winners)
    values[rows, winners[rows]] = np.nextafter(values[rows].max(axis=1), np.inf)
    return values


def _sorted_pairs(values: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Columns of pairs of the model's classes as columns of pairs of classes_."""
    count = len(positions)
    if list(positions) == _usual_positions(count):
        return values
    column = {pair: k for k, pair in enumerate((i, j) for i in range(count) for j in range(i + 1, count))}
    result = np.empty_like(values)
    for (i, j), k in column.items():
        a, b = positions[i], positions[j]
        result[:, column[min(a, b), max(a, b)]] = values[:, k] if a < b else -values[:, k]
    return result
