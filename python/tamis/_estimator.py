"""What all estimators share: from arguments and arrays to the core, and back to scikit-learn's
attributes.
"""
from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import Any, Callable, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import (
    _num_samples,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from . import _core
from ._columns import column_names, encode_text, may_have_text
from ._data import core_rows, from_core_rows, numbered_rows
from ._files import is_path, known_file, training_file
from ._parameters import TrainingWarning, core_options, memory_bytes, thread_count
from ._sklearn import (
    check_class_weight,
    check_penalty,
    check_switches,
    check_without_effect,
    checked_weights,
    finite_or_nan,
    validate_data,
)
from ._tables import narrow_table

logger = logging.getLogger("tamis")

Self = TypeVar("Self", bound="Estimator")


def row_weights(sample_weight: Any, y: np.ndarray) -> np.ndarray | None:
    """Weights as the core takes them; None: all 1."""
    if sample_weight is None:
        return None
    return checked_weights(sample_weight, y)


class Estimator(BaseEstimator):
    """A subclass names its method and its arguments; Classifier or Regressor, between them, know
    the task.
    """

    _methods: tuple[str, ...]  # of the core; a class with several chooses by its arguments
    _task: str

    kernel: Any
    missing: str
    text_columns: str
    n_jobs: int | None
    max_memory: int | str | None
    progress: Callable[[dict[str, Any]], None] | None
    verbose: bool

    _model: _core.Model

    @property
    def _method(self) -> str:
        return self._methods[0]

    # Training.

    def _fit(self: Self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._forget()
        try:
            self._fit_afresh(X, y, sample_weight)
        except BaseException:  # Ctrl-C too: what is half learnt is no use
            self._forget()
            raise
        self._tell()
        return self

    def _fit_afresh(self, X: Any, y: Any, sample_weight: Any) -> None:
        options = self._core_options()
        weights = None
        if is_path(X):
            rows = training_file(self, X, y, sample_weight)
            targets = self._file_targets(rows, options)
            self._set_file_columns(rows)
        else:
            rows, y = self._training_rows(X, y)
            weights = row_weights(sample_weight, y)
            targets = self._encode_targets(y, weights, options)
        self._model, self.report_, support, chosen = _core.train(
            rows, targets, weights, options, self._folds(), thread_count(self.n_jobs), memory_bytes(self.max_memory),
            self._progress_listener(), self._core_columns(), self._task_runner())
        self.fit_status_ = 0 if self.report_["stop_reason"] == "converged" else 1
        self._set_trained(support, targets)
        if len(chosen):
            self.chosen_ = chosen

    def _core_options(self) -> _core.Options:
        return core_options(self._method, self._task, self._core_arguments())

    def _core_arguments(self) -> dict[str, Any]:
        """Arguments by the names and with the values that core_options knows."""
        arguments = self.get_params(deep=False)
        check_without_effect(arguments)
        check_penalty(arguments)
        check_switches(arguments)
        check_class_weight(arguments.get("class_weight"))
        shape = arguments.get("decision_function_shape", "ovr")
        if shape not in ("ovr", "ovo"):
            raise ValueError(f"decision_function_shape={shape!r}: one of 'ovr', 'ovo'")
        if callable(self._kernel):
            arguments["kernel"] = "precomputed"
        return arguments

    def _folds(self) -> int:
        """Of the probabilities, or 0."""
        return 0

    def _task_runner(self) -> Callable[[list[bytes], bytes, Callable[[], bool]], list[bytes | None]] | None:
        """Who runs parts of the training elsewhere."""
        return None

    def _forget(self) -> None:
        for name in list(vars(self)):
            if name.endswith("_") or name in ("_model", "_kernel_rows", "_positions", "_sparse", "_texts"):
                delattr(self, name)

    def _encode_targets(self, y: np.ndarray, weights: np.ndarray | None, options: _core.Options) -> Any:
        """Targets as the core takes them."""
        raise NotImplementedError

    def _file_targets(self, rows: _core.Rows, options: _core.Options) -> Any:
        """What _set_trained needs of the labels of a file; the core has them."""
        raise NotImplementedError

    def _set_file_columns(self, rows: _core.Rows) -> None:
        self._sparse = rows.is_sparse
        self.shape_fit_: tuple[Any, ...] = rows.shape
        self.n_features_in_ = rows.shape[1]
        if rows.column_names:
            self.feature_names_in_ = np.asarray(rows.column_names, dtype=object)

    def _set_trained(self, support: np.ndarray, targets: Any) -> None:
        """Attributes that follow from the model and the training rows of its support vectors."""
        raise NotImplementedError

    @property
    def _kernel(self) -> Any:
        return getattr(self, "kernel", None)  # linear models have none to choose

    def _training_rows(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        if sp.issparse(X) and self._kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")
        numeric = self._task == "regression"
        if callable(self._kernel):
            check_consistent_length(X, y)
            y = column_or_1d(y, warn=True)
            self._kernel_rows, self._sparse = X, False
            self.shape_fit_ = getattr(X, "shape", (_num_samples(X),))
            return numbered_rows(self._kernel_values(X, square=True)), y
        self._texts: dict[int, list[str]] = {}
        checks = {"dtype": np.float32, "order": "C", "accept_sparse": "csr", **finite_or_nan(self.missing == "impute")}
        names = column_names(X)
        X = narrow_table(X)
        if self.text_columns == "one-hot" and may_have_text(X):
            X, self._texts = encode_text(X)
        X, y = validate_data(self, X, y, y_numeric=numeric, **checks)
        if names and self._texts:  # encoding leaves them out
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self._sparse = sp.issparse(X)
        self.shape_fit_ = X.shape
        if self._kernel != "precomputed":
            return core_rows(X), y
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
        return numbered_rows(X), y

    def _kernel_values(self, X: Any, square: bool = False) -> np.ndarray:
        values = self._kernel(X, self._kernel_rows)
        if sp.issparse(values):
            values = values.toarray()
        values = check_array(values, dtype=np.float32, input_name="kernel(X, Y)")
        wanted = (_num_samples(X), _num_samples(self._kernel_rows))
        if values.shape != wanted:
            raise ValueError(f"X.shape[0] should be equal to X.shape[1]: the kernel gave {values.shape}, not {wanted}"
                             if square else f"the kernel gave values of shape {values.shape}, not {wanted}")
        return values

    def _progress_listener(self) -> Callable[[dict[str, Any]], None] | None:
        if not self.verbose:
            return self.progress
        _ensure_log_is_seen()

        def listener(state: dict[str, Any]) -> None:
            share = f" {100 * state['done_fraction']:.0f} %" if state["done_fraction"] >= 0 else ""
            logger.info("%s: %.1f s%s, %s", state["phase"], state["elapsed_seconds"], share, state["detail"])
            if self.progress is not None:
                self.progress(state)

        return listener

    def _tell(self) -> None:
        report = self.report_
        logger.log(logging.INFO if self.verbose else logging.DEBUG, "%s: %s; %s after %s, %.3f s",
                   type(self).__name__, self._model.describe(), report["stop_reason"], _core.counted(report["iterations"], "iteration"),
                   report["train_seconds"])
        for text in report["remarks"]:
            logger.log(logging.INFO if self.verbose else logging.DEBUG, "%s", text)
        for text in report["warnings"]:
            stopped = self.fit_status_ != 0 and report["stop_reason"] in text
            warnings.warn(text, ConvergenceWarning if stopped else TrainingWarning, stacklevel=4)

    # Predicting.

    def _prediction_rows(self, X: Any) -> Any:
        rows = self._few_plain_rows(X) if type(X) is np.ndarray else None
        if rows is not None:
            return rows
        check_is_fitted(self)
        return self._known_rows(X)

    def _few_plain_rows(self, X: np.ndarray) -> np.ndarray | None:
        """A few rows for the core, which checks what scikit-learn would, in much less time. None:
        scikit-learn must see them, for its message or its warning.
        """
        known = self.__dict__
        columns = known.get("n_features_in_")
        if columns is None or "_model" not in known or "feature_names_in_" in known:
            return None
        kernel = known.get("kernel")
        if kernel == "precomputed" or callable(kernel):
            return None
        return self._model.few_rows(X, columns)

    def _known_rows(self, X: Any) -> Any:
        """Rows for the core, of as many features as those of _training_rows."""
        if isinstance(X, _core.Rows):
            return X
        if is_path(X):
            return known_file(self, X)
        if callable(self._kernel):
            return numbered_rows(self._kernel_values(X))
        X = narrow_table(X)
        checks = {"dtype": np.float32, "order": "C", "accept_sparse": "csr", **finite_or_nan(self._allows_nan())}
        texts = self._known_texts()
        if not texts:
            X = validate_data(self, X, reset=False, **checks)
        else:
            names = column_names(X)
            known = list(getattr(self, "feature_names_in_", []))
            if names and known and names != known:
                raise ValueError(f"The feature names should match those that were passed during fit: {names} is not {known}")
            X = check_array(encode_text(X, texts)[0], **checks)
            if X.shape[1] != self.n_features_in_:
                raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                                 f"{self.n_features_in_} features as input")
        if self._kernel == "precomputed":
            if sp.issparse(X):
                raise TypeError("Sparse precomputed kernels are not supported.")
            return numbered_rows(X)
        return core_rows(X)

    def _allows_nan(self) -> bool:
        return self._model.imputes if hasattr(self, "_model") else self.missing == "impute"

    def _known_texts(self) -> dict[int, list[str]]:
        """The categories of text columns: the model's, or before it is trained those of its
        rows.
        """
        return self._model.text_categories if hasattr(self, "_model") else self._texts

    def _core_columns(self) -> tuple[list[str], dict[int, list[str]]]:
        """Names and categories of the training rows, for the core."""
        if callable(self._kernel) or self._kernel == "precomputed":
            return [], {}
        names = getattr(self, "feature_names_in_", ())
        return [str(name) for name in names], getattr(self, "_texts", {})

    def _decide(self, rows: Any) -> tuple[np.ndarray, np.ndarray, bool]:
        return self._model.decision_values(rows, thread_count(self.n_jobs), self._progress_listener())

    # What the model is made of.

    def _stated_problem(self) -> dict[str, float]:
        """C and epsilon of the problem that the model solves, where they are not its arguments."""
        return {}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _more_tags(self) -> dict[str, Any]:  # before scikit-learn 1.6
        return {"pairwise": self._kernel == "precomputed", "allow_nan": self.missing == "impute"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._kernel == "precomputed"
        tags.input_tags.sparse = self._kernel != "precomputed"
        tags.input_tags.allow_nan = self.missing == "impute"
        tags.input_tags.string = self.text_columns == "one-hot"
        return tags

    def _expansion(self) -> dict[str, Any]:
        check_is_fitted(self)
        parts = self._model.expansion()
        if parts is None:
            raise AttributeError(f"a model of the method {self._method} is not one sum over support vectors")
        return parts

    def _support_order(self, parts: dict[str, Any]) -> Any:
        """Support vectors of the model in the order of scikit-learn."""
        return slice(None)

    @property
    def feature_weights_(self) -> np.ndarray:
        """The factor of each scaled column that training learned (metric_rounds); 1 where it
        learned none.
        """
        check_is_fitted(self)
        if callable(self._kernel) or self._kernel == "precomputed":
            raise AttributeError("feature_weights_ is not available for a precomputed kernel")
        weights = self._model.feature_weights
        columns = len(self._model.trained_columns) or self._model.num_features
        return weights if len(weights) else np.ones(columns, dtype=np.float32)

    @property
    def metric_matrix_(self) -> np.ndarray:
        """The symmetric matrix that each scaled row is multiplied by (metric="full"), one row and
        column per entry of feature_weights_; the identity where training learned none.
        """
        check_is_fitted(self)
        if callable(self._kernel) or self._kernel == "precomputed":
            raise AttributeError("metric_matrix_ is not available for a precomputed kernel")
        matrix = self._model.metric_matrix
        columns = len(self._model.trained_columns) or self._model.num_features
        return matrix if len(matrix) else np.eye(columns, dtype=np.float32)

    @property
    def trained_columns_(self) -> np.ndarray:
        """Names of the columns that feature_weights_ is of: those of X, one per category of a text
        column, and one for each column that had missing values."""
        check_is_fitted(self)
        names = self._model.trained_columns
        return np.asarray(names or [f"x{j}" for j in range(self._model.num_features)], dtype=object)

    @property
    def support_vectors_(self) -> Any:
        """The support vectors, scaled if the model scales: an array, or CSR if it was trained on
        sparse rows.
        """
        parts = self._expansion()
        if parts["kernel"] == "precomputed":
            return np.empty((0, 0), dtype=np.float32)
        vectors = from_core_rows(parts["support_vectors"])[self._support_order(parts)]
        if self._sparse and not sp.issparse(vectors):  # the core may work on a dense copy
            return sp.csr_matrix(vectors)
        return vectors

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of the support vectors, arranged as scikit-learn's; CSR if it was trained on
        sparse rows.
        """
        parts = self._expansion()
        coefficients = parts["coefficients"][:, self._support_order(parts)]
        if self._sparse:
            return sp.csr_matrix(coefficients)
        coefficients.flags.writeable = False
        return coefficients

    @property
    def intercept_(self) -> np.ndarray:
        """The constant of each decision function."""
        return self._expansion()["offsets"]

    @property
    def coef_(self) -> Any:
        """Weights of the features, for the linear kernel."""
        parts = self._expansion()
        if parts["kernel"] != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        coefficients = self._linear_coefficients()
        if not sp.issparse(coefficients):
            coefficients.flags.writeable = False
        return coefficients

    def _linear_coefficients(self) -> Any:
        return self.dual_coef_ @ self.support_vectors_

    # Files.

    def save(self, path: str | os.PathLike[str], format: str = "native") -> None:
        """Writes a model file that `load` and the program `tamis` read.

        Parameters
        ----------
        path : str or path
        format : {"native", "libsvm"}, default="native"
            "libsvm": LIBSVM's text format, for models it can hold.
        """
        check_is_fitted(self)
        if format not in ("native", "libsvm"):
            raise ValueError(f"format={format!r}: one of 'native', 'libsvm'")
        if callable(self._kernel):
            raise ValueError("a model with a function as its kernel cannot be written as a model file: pickle it")
        self._model.save(os.fspath(path), format == "libsvm")

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """A fitted estimator from a model file of `save`, of the program `tamis` or of LIBSVM.

        It predicts, and shows its support vectors. The file does not hold the arguments it was
        trained with, apart from those of the kernel, nor its report.
        """
        model = _core.load_model(os.fspath(path))
        if model.task != cls._task:
            raise ValueError(f"{os.fspath(path)} holds a {model.task} model: {cls.__name__} cannot use it")
        estimator = cls()
        parts = model.expansion()
        if "probability" in estimator.get_params():
            estimator.set_params(probability=model.has_probabilities)
        if parts is not None and "kernel" in estimator.get_params():
            kernel = {"polynomial": "poly"}.get(parts["kernel"], parts["kernel"])
            estimator.set_params(kernel=kernel, gamma=parts["gamma"], coef0=parts["coef0"], degree=parts["degree"])
        estimator._model = model
        estimator.set_params(missing="impute" if model.imputes else "refuse",
                             text_columns="one-hot" if model.text_categories else "refuse")
        estimator._sparse = parts is not None and isinstance(parts["support_vectors"], tuple)
        if parts is None or not (parts["any_columns"] or parts["kernel"] == "precomputed"):
            estimator.n_features_in_ = model.num_features
        estimator._set_loaded()
        return estimator

    def _set_loaded(self) -> None:
        """Attributes that follow from the model alone."""


def _ensure_log_is_seen() -> None:
    """verbose asks for messages: without any configuration of logging, they go to stderr."""
    if not logger.hasHandlers():
        logger.addHandler(logging.StreamHandler(sys.stderr))
        logger.setLevel(logging.INFO)
