"""Tables with text columns and missing values, on their way to numbers."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp


def may_have_text(X: Any) -> bool:
    """Whether there can be words among the values: a table of mixed types, or an array of objects
    or strings.
    """
    if sp.issparse(X):
        return False
    dtype = getattr(X, "dtype", None)
    return dtype is None or dtype.kind in "OUS"


def column_names(X: Any) -> list[str]:
    """The names of a table's columns, or none if they are not all words."""
    names = list(getattr(X, "columns", []))
    return names if all(isinstance(name, str) for name in names) else []


def encode_text(X: Any, known: Mapping[int, Sequence[str]] | None = None) -> tuple[np.ndarray, dict[int, list[str]]]:
    """The table as numbers, and the categories of its text columns: words become their positions
    among them, from 1.

    `known` are the text columns of a model; a word that it does not know is 0. None: columns with a
    word are text. Missing values (None, NaN, pandas.NA) are NaN.
    """
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2:
        raise ValueError(f"Expected 2D array, got {cells.ndim}D array instead")
    values = np.empty(cells.shape, dtype=np.float64)
    texts: dict[int, list[str]] = {}
    for j in range(cells.shape[1]):
        column = [_cell(value) for value in cells[:, j]]
        is_text = j in known if known is not None else any(isinstance(value, str) and not _is_number(value) for value in column)
        if not is_text:
            values[:, j] = [np.nan if value is None else _number(value, j) for value in column]
            continue
        words = [None if value is None else str(value) for value in column]
        texts[j] = list(known[j]) if known is not None else sorted({word for word in words if word is not None}, key=str.encode)
        number_of = {word: k for k, word in enumerate(texts[j], 1)}
        values[:, j] = [np.nan if word is None else number_of.get(word, 0) for word in words]
    return values, texts


def _cell(value: Any) -> Any:
    """None for a missing value."""
    if value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value.decode() if isinstance(value, bytes) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(value: Any, column: int) -> float:
    is_number = isinstance(value, Number) or (isinstance(value, str) and _is_number(value))
    if is_number:
        return float(value)
    raise ValueError(f"column {column} has the text {str(value)!r}, but the model was trained with numbers in it")
