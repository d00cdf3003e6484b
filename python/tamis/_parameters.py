"""How the arguments of estimators become options of the core.

Each option is described once, in the core's option table: the constructors (_arguments.py) and the
parameter sections of the docstrings are made from it.
"""
from __future__ import annotations

import functools
import inspect
import os
import re
from numbers import Integral, Real
from typing import Any, Callable, Iterable, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from . import _core

#: Arguments that the core calls otherwise. All others have the core's name, with _ for -.
OPTION_OF = {
    "C": "cost",
    "epsilon": "tube",
    "tol": "eps",
    "max_iter": "max-iterations",
    "cache_size": "cache",
    "random_state": "seed",
    "multi_class": "multiclass",
    "fit_intercept": "bias",
}

#: Arguments that only Python has, or that it describes differently: the type as numpydoc writes it, and the whole
#: description; None: the core's. CLASS.ARGUMENT: in this class; ARGUMENT: ANNOTATION: where it has this type.
PYTHON_HELP: dict[str, tuple[str | None, str | None]] = {
    "kernel: str": ("{'linear', 'poly', 'rbf', 'laplacian', 'sigmoid'}", "Kernel"),
    "kernel": ("{'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable",
               "Kernel. 'precomputed': X holds kernel values. A function gets two sets of rows, all rows at once, and "
               "returns the matrix of their kernel values"),
    "AutoSVC.kernel": ("{'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable",
                       "Kernel. 'precomputed': X holds kernel values. A function gets two sets of rows, all rows at once, "
                       "and returns the matrix of their kernel values. None: rbf or laplacian, chosen by trials"),
    "class_weight": ("dict or 'balanced'",
                     "Factors on C per class, {label: factor}; 'balanced': inversely proportional to the number of rows of "
                     "the class. None: 1 for each class"),
    "multi_class": ("{'ovo', 'ovr'}", None),
    "cache_size": ("float or str", None),
    "max_iter": ("int", "Limit on pair updates (linear: epochs) per binary SVM; the model is usable when training ends "
                        "early. -1: no limit"),
    "max_memory": ("int or str",
                   "Memory budget for data, caches and work space, in bytes or as '4G'. None: 80 % of the available memory"),
    "random_state": ("int or RandomState instance",
                     "Random seed. None: a fixed seed, so that results can be reproduced"),
    "n_jobs": ("int",
               "Number of threads; -1: all CPUs; results do not depend on it. None: OMP_NUM_THREADS if it is set, else all "
               "CPUs that this process may use"),
    "decision_function_shape": ("{'ovr', 'ovo'}",
                                "Columns of decision_function with more than two classes and one SVM per pair of them: one "
                                "per class, or one per pair. As in scikit-learn"),
    "break_ties": ("bool",
                   "Of classes with the same number of votes, predict the one with the largest decision value instead of "
                   "the first, which the model file predicts; needs decision_function_shape='ovr'. As in scikit-learn"),
    "prediction": ("{'nearest-row', 'nearest-centre'}",
                   "Which local SVM predicts a row: that of the nearest training row, or that of the nearest center, which "
                   "makes a smaller and faster model"),
    "local_selection": ("bool", "Select k, C and the kernel width on some neighborhoods, from the grids, instead of using k, C "
                                "and gamma; needs prediction='nearest-row'"),
    "margin": ("{'soft', 'hard'}", "Soft: some rows may be on the wrong side of the margin. Hard: none may, C, margin_k and nu "
                                   "are not used, and data that cannot be separated is an error"),
    "carry_support": (None, "Keep the support vectors of one draw in the next (True is faster; False follows the paper)"),
    "threshold": ("float or dict",
                  "Rows of a class within this distance in feature space share one leader, greater than 0; "
                  "{label: distance} sets it per class. None: automatic, found from the target number of leaders"),
    "trials": ("int", "SVMs tried, at least 1. None: until max_seconds"),
    "probability": ("bool", "Fit probabilities too (predict_proba), on scores from cross-validation with 5 folds: 5 more "
                            "trainings. 'deprecated', scikit-learn's default since 1.9: no. Its advice works, too: "
                            "CalibratedClassifierCV(SVC(), ensemble=False)"),
    "shrinking": ("bool", "For scikit-learn's sake: rows are always set aside and looked at again, and the optimum is the same"),
    "penalty": ("{'l2'}", "For scikit-learn's sake: 'l1' is an error"),
    "dual": ("bool or 'auto'", "For scikit-learn's sake: the dual problem is solved, and the optimum is the same"),
    "fit_intercept": ("bool", "Fit an intercept"),
    "intercept_scaling": ("float", "The intercept is the weight of an extra column of this value, penalized like any other "
                                   "weight; greater than 0"),
    "progress": ("callable",
                 "Called about ten times per second, in the calling thread, with a dict: phase, done_fraction, "
                 "elapsed_seconds, left_seconds, detail. An exception that it raises stops the work"),
    "verbose": ("bool", "Log progress and results with the logger 'tamis'"),
    "LinearSVC.loss": ("{'hinge', 'squared_hinge'}", "Training error: the slack (hinge) or its square (squared_hinge)"),
    "LinearSVR.loss": ("{'epsilon_insensitive', 'squared_epsilon_insensitive'}",
                       "Training error: the slack (epsilon_insensitive) or its square (squared_epsilon_insensitive)"),
    "TubeSVR.epsilon": ("float", "Each row becomes two points to separate, its target plus and minus epsilon; at least 0. "
                                 "The tube that is found is `fitted_tube` of the report"),
}

_Estimator = TypeVar("_Estimator", bound=type)


class TrainingWarning(UserWarning):
    """Something to know about the training: columns of very different ranges, for example."""


def option_name(argument: str) -> str:
    return OPTION_OF.get(argument, argument.replace("_", "-"))


@functools.lru_cache(maxsize=None)
def option_table() -> dict[str, dict[str, Any]]:
    return {option["name"]: option for option in _core.option_table()}


def store_arguments(estimator: object, arguments: dict[str, Any]) -> None:
    """For __init__: every argument becomes the attribute of its name, unchanged, as scikit-learn
    requires.
    """
    for name, value in arguments.items():
        if name != "self":
            setattr(estimator, name, value)


def option_value(argument: str, value: Any) -> Any:
    """The value as the core takes it: a number, a name, a list of numbers, or None for
    automatic.
    """
    if argument in _CONVERSIONS:
        return _CONVERSIONS[argument](value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, Integral):
        return _core_integer(int(value))
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return option_value(argument, value.item())
    if isinstance(value, (list, tuple, np.ndarray)) and all(isinstance(number, Real) for number in value):
        return [float(number) for number in value]
    raise ValueError(f"give a number, a name or a list of numbers, not a {type(value).__name__}")


def _core_integer(value: int) -> int:
    if not -2**63 <= value < 2**63:
        raise ValueError("give a number that fits into 64 bits")
    return value


def _seed(value: Any) -> int:
    if isinstance(value, Integral):
        return _core_integer(int(value))
    return int(check_random_state(value).randint(np.iinfo(np.int32).max))


def _iteration_limit(value: Any) -> int | None:
    if not isinstance(value, Integral) or (int(value) < 1 and int(value) != -1):
        raise ValueError("give a whole number above 0, or -1 for no limit")
    return None if int(value) == -1 else _core_integer(int(value))


def _multiclass_name(value: Any) -> str:
    names = {"ovo": "one-vs-one", "ovr": "one-vs-rest"}
    if not isinstance(value, str) or value not in names:
        raise ValueError("it must be one of 'ovo', 'ovr'")
    return names[value]


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "random_state": _seed, "max_iter": _iteration_limit, "multi_class": _multiclass_name}


def core_options(method: str, task: str, arguments: dict[str, Any]) -> _core.Options:
    """Raises ValueError that names the argument and what is allowed."""
    options = _core.Options()
    options.set("method", method)
    options.set("task", task)
    known = option_table()
    for argument, value in arguments.items():
        option = known.get(option_name(argument))
        if option is None or argument == "class_weight" or (option["methods"] and method not in option["methods"]):
            continue
        if argument == "random_state" and value is None:
            continue  # the core's fixed seed
        if value is None and not option["unset"] and argument not in _CONVERSIONS:
            raise ValueError(f"{argument}=None: expected {_type_words(option)}")
        try:
            options.set(option["name"], option_value(argument, value))
        except ValueError as error:
            raise ValueError(f"{argument}={value!r}: {error}") from None
    return options


_MOST_THREADS = 4096  # as for the program


def thread_count(n_jobs: int | None) -> int:
    """Threads for the core, where 0 means all; scikit-learn's rule for negative numbers."""
    if n_jobs is None:
        first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        return int(first) if first.isdigit() else 0
    if not isinstance(n_jobs, Integral) or n_jobs == 0 or n_jobs > _MOST_THREADS:
        raise ValueError(f"n_jobs={n_jobs!r}: give a number of threads, at most {_MOST_THREADS}, -1 for all, or None")
    return int(n_jobs) if n_jobs > 0 else max(1, _core.available_threads() + 1 + int(n_jobs))


def memory_bytes(max_memory: int | str | None) -> int:
    """The core's budget, where 0 means 80 % of what is available."""
    if max_memory is None:
        return 0
    return _core.parse_bytes(str(max_memory))


def description(argument: str, owner: str = "", annotation: str = "", may_be_none: bool = False) -> str:
    """What the argument of the estimator `owner` does, what is allowed, and what None means."""
    _, own = _python_help(argument, owner, annotation)
    if own is not None:
        return own
    option = option_table()[option_name(argument)]
    text = _in_python(option["help"]) + (f"; {option['range']}" if option["range"] else "")
    return text + (f". None: {_unset_words(option)}" if may_be_none else "")


def _python_help(argument: str, owner: str, annotation: str) -> tuple[str | None, str | None]:
    keys = (f"{owner}.{argument}", f"{argument}: {annotation}", argument)
    return next((PYTHON_HELP[key] for key in keys if key in PYTHON_HELP), (None, None))


def _unset_words(option: dict[str, Any]) -> str:
    if option["unset"] == "none":
        return "no limit"
    meaning = option["default_help"].replace("method auto: ", "")
    return option["unset"] + (f", {_in_python(meaning)}" if meaning else "")


def _in_python(text: str) -> str:
    """Options of several words as arguments: margin_k for margin-k."""
    names = "|".join(name for name in option_table() if "-" in name)
    return re.sub(rf"\b({names})\b", lambda match: match.group().replace("-", "_"), text)


def _type_words(option: dict[str, Any]) -> str:
    choices = "{" + ", ".join(map(repr, option["choices"])) + "}"
    if option["choices"] == ["yes", "no"]:
        return "bool"
    if option["type"] == "choice":
        return choices
    words = {"flag": "bool", "integer": "int", "number": "float", "numbers": "sequence of float", "labels": "dict"}
    return words[option["type"]] + (f" or {choices}" if option["choices"] else "")


def _parameter_lines(arguments: Iterable[inspect.Parameter], owner: str) -> list[str]:
    lines = []
    for argument in arguments:
        kind, _ = _python_help(argument.name, owner, argument.annotation)
        kind = kind or _type_words(option_table()[option_name(argument.name)])
        text = description(argument.name, owner, argument.annotation, argument.default is None)
        lines += [f"{argument.name} : {kind}, default={argument.default!r}", f"    {text}."]
    return lines


_CLASSIFIER_ATTRIBUTES = """\
    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, ascending.
    support_ : ndarray of shape (n_SV,)
        Rows of the support vectors in the training data, grouped by class.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
    n_support_ : ndarray of shape (n_classes,)
        Support vectors of each class.
    chosen_ : ndarray of shape (n_rows,)
        Rows of the training data that the model was trained on, ascending. Only where the method
        or a time limit chose rows, and the parts of the model have none of their own.
    dual_coef_ : ndarray or CSR of shape (n_classes - 1, n_SV)
        Their coefficients; of shape (n_classes, n_SV) with multi_class="ovr" and more than two
        classes.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
    coef_ : ndarray or CSR of shape (n_classes * (n_classes - 1) / 2, n_features)
        Weights of the features; linear kernel only.
    feature_weights_ : ndarray of shape (n_features,)
        Factor of each scaled column that training learned (metric_rounds); 1 where it learned none.
    metric_matrix_ : ndarray of shape (n_features, n_features)
        Matrix that scaled rows are multiplied by (metric="full"); the identity where there is none.
    class_weight_ : ndarray of shape (n_classes,)
    n_iter_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Pair updates of each binary SVM, in its last round where there are rounds.
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went: objective, gap, violation, seconds per phase, kernel evaluations,
        warnings and more.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If the columns of X have names (str).
"""

_REGRESSOR_ATTRIBUTES = """\
    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Rows of the support vectors in the training data.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
    n_support_ : ndarray of shape (1,)
    chosen_ : ndarray of shape (n_rows,)
        Rows of the training data that the model was trained on, ascending. Only where the method
        or a time limit chose rows, and the parts of the model have none of their own.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
    intercept_ : ndarray of shape (1,)
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features; linear kernel only.
    feature_weights_ : ndarray of shape (n_features,)
        Factor of each scaled column that training learned (metric_rounds); 1 where it learned none.
    metric_matrix_ : ndarray of shape (n_features, n_features)
        Matrix that scaled rows are multiplied by (metric="full"); the identity where there is none.
    n_iter_ : int
        Pair updates.
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went: objective, gap, violation, seconds per phase, kernel evaluations,
        warnings and more.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If the columns of X have names (str).
"""


def documented(estimator: _Estimator) -> _Estimator:
    """Completes the docstring of an estimator: its parameters at the line PARAMETERS, and at the
    line ATTRIBUTES those of models that are sums over support vectors."""
    arguments = inspect.signature(estimator).parameters.values()
    section = "\n".join(["Parameters", "----------", *_parameter_lines(arguments, estimator.__name__)])
    assert estimator.__doc__ is not None
    is_regressor = getattr(estimator, "_task") == "regression"
    attributes = _REGRESSOR_ATTRIBUTES if is_regressor else _CLASSIFIER_ATTRIBUTES
    # Without indentation, as Python 3.13 and later keep it.
    text = inspect.cleandoc(estimator.__doc__).replace("PARAMETERS", section)
    estimator.__doc__ = text.replace("ATTRIBUTES", inspect.cleandoc(attributes))
    return estimator
