"""Tables of columns as float32 rows, without an array of float64 in between.

pandas and Arrow keep columns apart. Asked for one array, they make one of the type that suits all
columns, which is float64 nearly always: twice the memory of the rows that are wanted.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

_BLOCK_ROWS = 1 << 14  # of all columns at a time, so that rows are written while they are in the cache


def narrow_table(X: Any) -> Any:
    """A table of numbers as float32 in C order with the same names; anything else as it is."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return _narrow_frame(pandas, X)
    if _is_arrow_table(X):
        return _narrow_arrow(pandas, X)
    return X


def _narrow_frame(pandas: Any, frame: Any) -> Any:
    types = list(frame.dtypes)
    is_number = all(pandas.api.types.is_numeric_dtype(kind) and not pandas.api.types.is_complex_dtype(kind)
                    and not isinstance(kind, pandas.SparseDtype) for kind in types)
    if not is_number or all(kind == types[0] == np.float32 for kind in types) or 0 in frame.shape:
        return frame  # scikit-learn says what is wrong with it
    columns = [_frame_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
    rows = _filled(frame.shape[0], columns)
    return pandas.DataFrame(rows, index=frame.index, columns=frame.columns, copy=False)


def _frame_column(series: Any) -> Callable[[slice], Any]:
    if isinstance(series.dtype, np.dtype):
        values = series.to_numpy()  # a view
        return lambda rows: values[rows]
    return lambda rows: series.iloc[rows].to_numpy(dtype=np.float32, na_value=np.nan)  # of pandas' own types


def _is_arrow_table(X: Any) -> bool:
    """By what it offers: pyarrow's Table and RecordBatch."""
    return all(hasattr(X, name) for name in ("column_names", "num_rows", "num_columns", "column"))


def _narrow_arrow(pandas: Any, table: Any) -> Any:
    columns = [_arrow_column(table.column(j)) for j in range(table.num_columns)]
    rows = _filled(table.num_rows, columns)
    # Only a frame of pandas has names that scikit-learn sees.
    return rows if pandas is None else pandas.DataFrame(rows, columns=list(table.column_names), copy=False)


def _arrow_column(column: Any) -> Callable[[slice], Any]:
    def part(rows: slice) -> Any:
        piece = column.slice(rows.start, rows.stop - rows.start)
        return np.asarray(piece.to_numpy() if hasattr(piece, "chunks") else piece.to_numpy(zero_copy_only=False))

    return part


def _filled(count: int, columns: Iterable[Callable[[slice], Any]]) -> np.ndarray:
    columns = list(columns)
    result = np.empty((count, len(columns)), dtype=np.float32)
    for begin in range(0, count, _BLOCK_ROWS):
        rows = slice(begin, min(begin + _BLOCK_ROWS, count))
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused then
            for j, column in enumerate(columns):
                result[rows, j] = column(rows)
    return result
