"""Training and prediction on a Dask cluster, for Dask arrays and data frames.

The members of an ensemble and the cells of FaLK-SVM are tasks of Dask's scheduler: it spreads them
over the workers, and runs them again when a worker is lost. The model is the one that the class of
the same name in `tamis` trains on the same rows with the same seed, byte for byte.
docs/distributed.md says when to take Dask and when MPI.
"""
from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score

try:
    import dask
    import dask.array
    import dask.dataframe
    import distributed
except ImportError as error:
    raise ImportError("tamis.dask needs Dask and its scheduler: install python3-dask and python3-distributed (Debian), or "
                      "pip install 'tamis[dask]'") from error

from . import _core, _ensembles, _local
from ._classifier import Classifier
from ._parameters import documented
from ._tables import narrow_table

__all__ = ["FalkSVC", "RandomSubsetSVC"]

_RETRIES = 3  # of a task that failed; lost workers do not count
_BLOCKS_AHEAD = 4  # that are computed while one is written


def _is_dask(X: Any) -> bool:
    return isinstance(X, (dask.array.Array, dask.dataframe.DataFrame, dask.dataframe.Series))


def _rows_of(block: Any) -> np.ndarray:
    """On a worker: rows as the core takes them."""
    return np.ascontiguousarray(narrow_table(block), dtype=np.float32)


def _blocks(X: Any) -> list[Any]:
    """Blocks of whole rows, in their order, each as a delayed value."""
    if isinstance(X, dask.array.Array):
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead")
        return [block for (block,) in X.rechunk({1: -1}).to_delayed()]
    return list(X.to_delayed())


def _computed_blocks(client: distributed.Client, X: Any) -> Iterator[np.ndarray]:
    """The rows of a collection, block after block, a few ahead."""
    rows = dask.delayed(_rows_of, pure=True)
    waiting = [rows(block) for block in _blocks(X)]
    running: list[Any] = []
    while waiting or running:
        while waiting and len(running) < _BLOCKS_AHEAD:
            running.append(client.compute(waiting.pop(0), retries=_RETRIES))
        yield running.pop(0).result()


def _gathered(client: distributed.Client, X: Any) -> np.ndarray:
    """All rows in a file without a name, mapped: they need room on the disk, not in memory."""
    width, count = -1, 0
    with tempfile.TemporaryFile(prefix="tamis-rows-") as file:
        for block in _computed_blocks(client, X):
            if len(block) == 0:
                continue
            if width not in (-1, block.shape[1]):
                raise ValueError(f"blocks of {width} and of {block.shape[1]} columns")
            width = block.shape[1]
            count += len(block)
            file.write(block.data.cast("B"))
        file.flush()
        if count == 0 or width == 0:
            return np.empty((count, max(width, 0)), dtype=np.float32)  # refused with scikit-learn's words
        # "c", not "r", although nobody writes: scikit-learn 1.4 wants to be able to mark the array of a data frame as writable.
        return np.memmap(file, dtype=np.float32, mode="c", shape=(count, width))


def _keep(shared: bytes) -> bytes:
    return shared


def _run_task(task: bytes, shared: bytes) -> bytes:
    return _core.run_task(task, shared)  # which itself cannot be pickled


class _Tasks:
    """Runs tasks of the core on the workers of a cluster."""

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        self._shared: dict[int, tuple[bytes, distributed.Future]] = {}

    def __call__(self, tasks: list[bytes], shared: bytes, cancelled: Callable[[], bool]) -> list[bytes | None]:
        futures = self._client.map(_run_task, tasks, [self._kept(shared)] * len(tasks), pure=False, retries=_RETRIES)
        while not cancelled():
            try:
                with self._client.as_current():  # wait() asks the client that was made last
                    distributed.wait(futures, timeout=0.1)
            except distributed.TimeoutError:
                continue
            return self._client.gather(futures)
        self._client.cancel(futures)
        return [None] * len(tasks)

    def each(self, count: int, make: Callable[[int], bytes | None], take: Callable[[int, bytes], bool], shared: bytes,
             cancelled: Callable[[], bool]) -> None:
        """The same for tasks that are made one by one, a few ahead of those that run."""
        running: dict[distributed.Future, int] = {}
        made = 0
        try:
            while (made < count or running) and not cancelled():
                while made < count and len(running) < self.places() + len(self._workers()):
                    task = make(made)
                    if task is None:
                        return
                    running[self._client.submit(_run_task, task, self._kept(shared), pure=False, retries=_RETRIES)] = made
                    made += 1
                try:
                    with self._client.as_current():
                        distributed.wait(list(running), timeout=0.1, return_when="FIRST_COMPLETED")
                except distributed.TimeoutError:
                    continue
                for future in [one for one in running if one.done()]:
                    if not take(running.pop(future), future.result()):
                        return
        finally:
            self._client.cancel(list(running))

    def places(self) -> int:
        """Tasks that run at a time."""
        return max(1, sum(self._workers().values()))

    def _workers(self) -> dict[str, int]:
        """Threads by worker."""
        return self._client.nthreads()

    def _kept(self, shared: bytes) -> distributed.Future:
        """Made by a task: when the worker that keeps them is lost, they can be had again."""
        kept = self._shared.get(id(shared))
        if kept is None:
            kept = (shared, self._client.submit(_keep, shared, pure=False, retries=_RETRIES))
            self._shared[id(shared)] = kept
        return kept[1]

    def forget(self, shared: bytes) -> None:
        """No task is going to need these bytes again."""
        self._shared.pop(id(shared), None)


class DaskClassifier(Classifier):
    """Between an estimator and its class for Dask."""

    client: distributed.Client | None = None  #: of the cluster; None: the one that was made last

    def _client(self) -> distributed.Client:
        return self.client if self.client is not None else distributed.default_client()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "client"}

    def _task_runner(self) -> Any:
        return _Tasks(self._client())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Trains on rows X of classes y.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Its blocks are computed on the cluster and written to a temporary file of this
            process, 4 bytes per value. Arrays and paths are taken as the class of the same name in
            `tamis` takes them.
        y : Dask array, Dask series or array-like of shape (n_samples,)
        sample_weight : the same, default=None

        Returns
        -------
        self
        """
        names = getattr(X, "columns", None)
        if _is_dask(X):
            rows = _gathered(self._client(), X)
            if names is not None:
                import pandas

                rows = pandas.DataFrame(rows, columns=names, copy=False)
            X = rows
        y, sample_weight = self._computed(y), self._computed(sample_weight)
        return super().fit(X, y, sample_weight)

    def predict(self, X: Any) -> Any:
        """The class of each row; of Dask collections, a lazy Dask array or series."""
        return self._mapped("predict", X, self.classes_.dtype, None)

    def decision_function(self, X: Any) -> Any:
        """As that of the class in `tamis`; of Dask collections, a Dask array."""
        count = len(self.classes_)
        pairs = getattr(self, "decision_function_shape", "ovr") == "ovo" and getattr(self, "multi_class", "ovo") == "ovo"
        columns = None if count == 2 else count * (count - 1) // 2 if pairs else count
        return self._mapped("decision_function", X, np.dtype(np.float64), columns)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The fraction of rows that are classified correctly."""
        if not _is_dask(X):
            return super().score(X, y, sample_weight)
        predicted = self._computed(self.predict(X))
        return accuracy_score(self._computed(y), predicted, sample_weight=self._computed(sample_weight))

    def _computed(self, part: Any) -> Any:
        """A collection as an array, computed by the estimator's own cluster; all else as it is."""
        return np.asarray(self._client().compute(part).result()) if _is_dask(part) else part

    def _mapped(self, method: str, X: Any, dtype: np.dtype, columns: int | None) -> Any:
        if not _is_dask(X):
            return getattr(super(), method)(X)
        model = dask.delayed(self._local())
        if isinstance(X, dask.dataframe.DataFrame):
            if columns is None:
                return X.map_partitions(_frame_values, model, method, dtype, meta=(method, dtype))
            parts = [dask.delayed(_values)(block, model, method, dtype, columns) for block in X.to_delayed()]
            shape = (np.nan, columns)
            return dask.array.concatenate([dask.array.from_delayed(part, shape, dtype=dtype) for part in parts])
        X = X.rechunk({1: -1})
        # By name: map_blocks() would take `dtype` for its own.
        more = {"model": model, "method": method, "values_dtype": dtype, "columns": columns}
        if columns is None:
            return X.map_blocks(_values, drop_axis=1, meta=np.empty(0, dtype=dtype), **more)
        return X.map_blocks(_values, chunks=(X.chunks[0], (columns,)), meta=np.empty((0, 0), dtype=dtype), **more)

    def _local(self) -> Any:
        """The estimator without what only this process has."""
        local = self._local_class(**{**self.get_params(deep=False), "progress": None})
        local.__dict__.update({name: value for name, value in vars(self).items() if name not in self.get_params(deep=False)})
        local.__dict__.pop("client", None)
        return local

    _local_class: type


def _values(block: Any, model: Any, method: str, values_dtype: np.dtype, columns: int | None) -> np.ndarray:
    """On a worker: of a block, which may have no rows."""
    if block.shape[0] > 0:
        return getattr(model, method)(block)
    return np.empty(0 if columns is None else (0, columns), dtype=values_dtype)


def _frame_values(frame: Any, model: Any, method: str, values_dtype: np.dtype) -> Any:
    import pandas

    return pandas.Series(_values(frame, model, method, values_dtype, None), index=frame.index, name=method)


@documented
class FalkSVC(DaskClassifier, _local.FalkSVC):
    """tamis.FalkSVC whose cells are trained by the workers of a Dask cluster.

    More rows than `cell_rows` are trained in cells: each is a task. Fewer, and `local_selection`,
    are trained by the process that calls `fit`. Set `client` to use another cluster than that of
    the client made last.

    PARAMETERS

    Examples
    --------
    >>> import dask.array, distributed, tamis, tamis.dask  # doctest: +SKIP
    >>> client = distributed.Client()  # doctest: +SKIP
    >>> X, y = tamis.generate("checkerboard", 1000000)  # doctest: +SKIP
    >>> model = tamis.dask.FalkSVC(cell_rows=100000, C=10, gamma=100)  # doctest: +SKIP
    >>> model.fit(dask.array.from_array(X, chunks=(100000, 2)), y)  # doctest: +SKIP
    """

    _local_class = _local.FalkSVC


@documented
class RandomSubsetSVC(DaskClassifier, _ensembles.RandomSubsetSVC):
    """tamis.RandomSubsetSVC whose members are trained and scored by the workers of a Dask cluster.

    Set `client` to use another cluster than that of the client made last.

    PARAMETERS

    Examples
    --------
    >>> import dask.array, distributed, tamis, tamis.dask  # doctest: +SKIP
    >>> client = distributed.Client()  # doctest: +SKIP
    >>> X, y = tamis.generate("ten-gaussians", 100000)  # doctest: +SKIP
    >>> model = tamis.dask.RandomSubsetSVC(members=40, C=3, gamma=0.5)  # doctest: +SKIP
    >>> model.fit(dask.array.from_array(X, chunks=(10000, 2)), y)  # doctest: +SKIP
    """

    _local_class = _ensembles.RandomSubsetSVC
