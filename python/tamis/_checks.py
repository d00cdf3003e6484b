"""Models compared with each other, with the optimum, and with labeled rows: compare, certify and
report.
"""
from __future__ import annotations

import os
from typing import Any, Callable, Mapping, Sequence

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _core
from ._classifier import Classifier, core_class_names
from ._estimator import Estimator, row_weights
from ._files import is_path
from ._parameters import memory_bytes, thread_count

Progress = Callable[[dict[str, Any]], None]


def compare(
    models: Sequence[Estimator] | Mapping[str, Estimator],
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    test_size: float = 0.3,
    sample_weight: Any = None,
    runs: int = 1,
    max_memory: int | str | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    as_frame: bool = False,
) -> Any:
    """Trains and tests models on the same rows; docs/compare.md describes the figures.

    Parameters
    ----------
    models : list of estimators, or dict of names and estimators
        Of this package, all classifiers or all regressors. They need not be fitted, and are not
        changed. In a list, each has the name of its method.
    X, y : array-like
        The rows to train on.
    X_test, y_test : array-like, default=None
        The rows to test on; None: a part of X.
    test_size : float, default=0.3
        Fraction of X to test on, drawn anew in each run, where there is no X_test.
    sample_weight : array-like of shape (n_samples,), default=None
    runs : int, default=1
        How often each is trained, with different random seeds; the figures are means, with standard
        deviations.
    max_memory, n_jobs, progress
        As those of the estimators.
    as_frame : bool, default=False
        Return a pandas DataFrame with one row per model.

    Returns
    -------
    result : dict, or DataFrame
        `result["rows"]` has one dict per model: error_rate (or mse), train_seconds,
        predict_seconds, support_vectors, full_support_vectors (the fraction of the exact model's
        that it has too), model_bytes, rows_used, and `failure`, which says why there are no
        figures. Unknown figures are NaN.

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 3000)
    >>> models = [tamis.SVC(C=10, gamma=100), tamis.FalkSVC(C=10, gamma=100, k=200)]
    >>> result = tamis.compare(models, X, y)
    >>> [row["name"] for row in result["rows"]], result["test_rows"]
    (['exact', 'falk'], 900)
    """
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test: give both or none")
    _refuse_paths(X, X_test)
    named = _named(models)
    reader = clone(named[0][1])
    rows, y = reader._training_rows(X, y)
    weights = row_weights(sample_weight, y)
    y_test = None if y_test is None else column_or_1d(y_test)
    encode, classes, names = _encoding(reader, y if y_test is None else np.concatenate([y, y_test]))
    methods = []
    for name, model in named:
        options = model._core_options()
        if isinstance(model, Classifier):
            model._set_class_options(options, classes, names)
        methods.append((name, options))
    columns = reader._core_columns()
    test = None if y_test is None else (reader._known_rows(X_test), encode(y_test), None, columns)
    result = _core.compare(methods, (rows, encode(y), weights, columns), test, float(test_size), int(runs), thread_count(n_jobs),
                           memory_bytes(max_memory), progress)
    return _frame(result["rows"]) if as_frame else result


def certify(
    model: Estimator,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    C: float | None = None,
    epsilon: float | None = None,
    tol: float | None = None,
    as_frame: bool = False,
) -> Any:
    """Checks whether a model is the optimum of the full problem, independently of what its training
    reported.

    Parameters
    ----------
    model : fitted estimator
        A kernel expansion over support vectors; models of falk, random-subset and linear are none.
    X, y, sample_weight
        The rows of the problem: those of `fit`.
    C, epsilon, tol : float, default=None
        Of the problem. None: the model's. C=inf: a hard margin. OptMarginSVC and TubeSVR know the C
        and epsilon that their answer stands for.
    as_frame : bool, default=False
        Return a pandas DataFrame with one row per binary SVM.

    Returns
    -------
    certificate : dict, or DataFrame
        `certified`, and the distance from the optimum: primal, dual, gap, relative_gap, violation,
        violating_rows. `binary_svms` has the same per binary SVM.

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 1000)
    >>> tamis.certify(tamis.SVC(C=10, gamma=100).fit(X, y), X, y)["certified"]
    True
    >>> tamis.certify(tamis.SubsampleSVC(C=10, gamma=100, delta=0.5).fit(X, y), X, y)["certified"]
    False
    """
    check_is_fitted(model)
    _refuse_paths(X)
    rows = model._known_rows(X)
    y = column_or_1d(y)
    weights = row_weights(sample_weight, y)
    copy = clone(model)
    options = copy._core_options()
    targets = copy._encode_targets(y, weights, options)
    if isinstance(model, Classifier) and not np.array_equal(copy.classes_, model.classes_):
        raise ValueError(f"y has the classes {copy.classes_.tolist()}, the model {model.classes_.tolist()}")
    problem = {"C": C, "epsilon": epsilon, "tol": tol}
    given = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    own = {"C": 1.0, "epsilon": 0.1, **given, **model._stated_problem()}
    cost, tube, eps = (float(own[name] if value is None else value) for name, value in problem.items())
    result = _core.certify(model._model, rows, targets, weights, options, cost, tube, eps, thread_count(model.n_jobs),
                           memory_bytes(model.max_memory), model.progress)
    return _frame(result["binary_svms"]) if as_frame else result


def report(model: Estimator, X: Any, y: Any, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Writes an HTML page that shows what the errors of a model on these rows are like; it needs no
    network.

    Confusion matrix, ROC, precision-recall and calibration curves, or residuals of a regression,
    and feature weights.

    Parameters
    ----------
    model : fitted estimator
    X, y
        Labeled rows that the model was not trained on: on others, the figures are too good.
    path : str or path
        The file to write.
    title : str, default=None
        Of the page. None: the name of the class.

    Examples
    --------
    >>> import tamis, tempfile, pathlib
    >>> X, y = tamis.generate("checkerboard", 1000)
    >>> X_new, y_new = tamis.generate("checkerboard", 500, random_state=2)
    >>> page = pathlib.Path(tempfile.mkdtemp()) / "model.html"
    >>> tamis.report(tamis.SVC(C=10, gamma=100).fit(X, y), X_new, y_new, page)
    >>> '"matrix":[[' in page.read_text()
    True
    """
    check_is_fitted(model)
    _refuse_paths(X)
    rows = model._known_rows(X)
    y = column_or_1d(y)
    targets: Any = np.ascontiguousarray(y, dtype=np.float64) if not isinstance(model, Classifier) else None
    if isinstance(model, Classifier):
        unknown = np.setdiff1d(y, model.classes_)
        if len(unknown):
            raise ValueError(f"y has the class {unknown.tolist()[0]!r}, which the model does not know: {model.classes_.tolist()}")
        codes = np.searchsorted(model.classes_, y).astype(np.int32)
        targets = codes, core_class_names(model.classes_)
    told = f"Measured on {_core.counted(len(y), 'row')}. If the model was trained on any of them, these figures are too good."
    page = _core.model_page(model._model, rows, targets, title or type(model).__name__, told, thread_count(model.n_jobs),
                            model.progress)
    _core.write_text(os.fspath(path), page)


def _refuse_paths(*rows: Any) -> None:
    if any(is_path(X) for X in rows):
        raise ValueError("give arrays: a file has its own labels, which are not used here")


def _named(models: Sequence[Estimator] | Mapping[str, Estimator]) -> list[tuple[str, Estimator]]:
    if isinstance(models, Mapping):
        named = list(models.items())
    else:
        named = [(model._method, model) for model in models]
    if not named:
        raise ValueError("models: give at least one")
    for _, model in named:
        if model._kernel == "precomputed" or callable(model._kernel):
            raise ValueError(f"kernel={model._kernel!r}: compare needs features")
    return named


def _encoding(reader: Estimator, y: np.ndarray) -> tuple[Callable[[np.ndarray], Any], Any, Any]:
    """How targets get into the core; the classes, and what it calls them."""
    if not isinstance(reader, Classifier):
        return lambda part: np.ascontiguousarray(part, dtype=np.float64), None, None
    classes = np.unique(y)
    names = core_class_names(classes)
    return lambda part: (np.searchsorted(classes, part).astype(np.int32), names), classes, names


def _frame(rows: list[dict[str, Any]]) -> Any:
    import pandas as pd

    return pd.DataFrame(rows).set_index("name")
