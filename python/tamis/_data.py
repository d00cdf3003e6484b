"""Rows on their way into the core, and rows to try things with."""
from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core

#: float32 rows as the core takes them: a C-contiguous array, or the parts of a CSR matrix.
CoreRows = Any


def core_rows(X: Any) -> CoreRows:
    """float32 rows for the core, without copying what can be used as it is, and without changing
    it.
    """
    if not sp.issparse(X):
        return np.require(X, np.float32, ["C_CONTIGUOUS", "ALIGNED"])
    X = X.tocsr()
    if not X.has_canonical_format:  # unsorted or double entries
        X = X.copy()
        X.sum_duplicates()
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"X has {X.shape[1]} columns: at most 2147483647 are possible")
    as_type = lambda array, dtype: np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])
    return (as_type(X.indptr, np.int64), as_type(X.indices, np.int32), as_type(X.data, np.float32), X.shape[1])


def from_core_rows(rows: CoreRows) -> Any:
    """An array, or a CSR matrix."""
    if not isinstance(rows, tuple):
        return rows
    offsets, columns, values, width = rows
    return sp.csr_matrix((values, columns, offsets), shape=(len(offsets) - 1, width))


def numbered_rows(kernel_values: Any) -> CoreRows:
    """Kernel values as the core takes them: each row begins with its own number, from 1."""
    rows = np.empty((kernel_values.shape[0], kernel_values.shape[1] + 1), dtype=np.float32)
    rows[:, 0] = np.arange(1, kernel_values.shape[0] + 1)
    rows[:, 1:] = kernel_values
    return rows


def generate(name: str, rows: int = 1000, random_state: int = 1) -> tuple[Any, np.ndarray]:
    """Rows to try things with: the same for the same arguments, on every computer.

    Parameters
    ----------
    name : {"checkerboard", "spirals", "ten-gaussians", "ndcc", "gaussians", "halfspaces", "words"}
    rows : int, default=1000
    random_state : int, default=1

    Returns
    -------
    X : ndarray of shape (rows, n_features), float32; "words": a CSR matrix
    y : ndarray of shape (rows,)

    Examples
    --------
    >>> from tamis import generate
    >>> X, y = generate("spirals", rows=300)
    >>> X.shape, X.dtype.name, sorted(set(y.tolist()))
    ((300, 2), 'float32', [-1.0, 1.0])
    """
    for argument, value in (("rows", rows), ("random_state", random_state)):
        if not isinstance(value, Integral):
            raise ValueError(f"{argument}={value!r}: give a whole number")
    features, labels = _core.generate(name, rows, random_state)
    # What the core made is read-only.
    return from_core_rows(features).copy(), labels
