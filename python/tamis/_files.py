"""Estimators on the path of a data file. The core reads or maps it; no array is made here."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._parameters import memory_bytes, thread_count

if TYPE_CHECKING:
    from ._estimator import Estimator


def is_path(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike))


def training_file(estimator: Estimator, path: Any, y: Any, sample_weight: Any) -> _core.Rows:
    """Raises ValueError where the arguments do not go with a file, or it has no labels."""
    name = os.fspath(path)
    if y is not None or sample_weight is not None:
        raise ValueError(f"{name}: y and sample_weight go with arrays; a file holds its own labels and weights")
    if callable(estimator._kernel) or estimator._kernel == "precomputed":
        raise ValueError(f"{name}: a file holds features, which kernel={estimator._kernel!r} has no use for")
    rows = _core.read_rows(name, None, estimator._task == "classification", estimator.missing == "impute",
                           estimator.text_columns == "one-hot", thread_count(estimator.n_jobs), memory_bytes(estimator.max_memory))
    if not rows.has_labels:
        raise ValueError(f"{name}: the file has no labels to learn")
    return rows


def known_file(estimator: Estimator, path: Any) -> _core.Rows:
    """Rows for the model of the estimator, by the names of their columns where both have names."""
    return _core.read_rows(os.fspath(path), estimator._model, estimator._task == "classification",
                           estimator._allows_nan(), bool(estimator._known_texts()), thread_count(estimator.n_jobs),
                           memory_bytes(estimator.max_memory))


def file_labels(rows: _core.Rows, path: Any) -> np.ndarray:
    """One per row: whole numbers, other numbers, or words. Raises ValueError if there are none."""
    labels = rows.labels
    if labels is None:
        raise ValueError(f"{os.fspath(path)}: the file has no labels")
    if isinstance(labels, tuple):
        codes, names = labels
        return np.asarray(names)[codes]
    return whole_numbers(labels)


def whole_numbers(numbers: np.ndarray) -> np.ndarray:
    """As integers, if they all are."""
    return numbers.astype(np.int64) if numbers.dtype.kind == "f" and np.all(numbers == np.floor(numbers)) else numbers
