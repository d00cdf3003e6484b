"""How the arguments of estimators become options of the core.

Each option is described once, in the core's option table: defaults are checked against it (tests/python), and the
parameter sections of the docstrings are made from it.
"""
from __future__ import annotations

import inspect
import os
from numbers import Integral, Real
from typing import Any, Iterable, TypeVar

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

#: Arguments that take several numbers.
LISTS = {"k_grid", "cost_grid", "percentiles", "cost_range", "gamma_range"}

#: What Python has beside the core's options, or says differently; the type as numpydoc writes it.
PYTHON_HELP = {
    "gamma": ("float or {'scale', 'auto'}", None),
    "kernel": ("{'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable",
               "The kernel. 'precomputed': X holds kernel values. A function of two sets of rows that returns the "
               "matrix of their kernel values: it is called with all rows at once"),
    "class_weight": ("dict or 'balanced'",
                     "Factors on the cost of classes, {label: factor}; 'balanced': by their frequency"),
    "multi_class": ("{'ovo', 'ovr'}", None),
    "cache_size": ("float", "Megabytes for kernel rows; 0: what max_memory leaves"),
    "max_iter": ("int", "Stop each machine after this many pair updates, with a usable model; -1: no limit"),
    "max_seconds": ("float", "Stop training after this many seconds, with a usable model; None: no limit"),
    "max_memory": ("int or str",
                   "Budget for data, caches and work space, in bytes or as '4G'; None: 80 % of the memory available"),
    "random_state": ("int, RandomState instance or None",
                     "Seed of everything random; None: always the same one, so that results can be repeated"),
    "n_jobs": ("int",
               "Threads; None: OMP_NUM_THREADS if that is set, else every CPU this process may use, as -1. "
               "Results do not depend on it"),
    "decision_function_shape": ("{'ovr', 'ovo'}",
                                "With more than two classes and multi_class='ovo': columns of decision_function for "
                                "classes, or for pairs of classes. As in scikit-learn"),
    "break_ties": ("bool",
                   "Of classes with equally many votes, predict the one with the largest decision value instead of the "
                   "first, which is what the model file predicts; needs decision_function_shape='ovr'. As in scikit-learn"),
    "prediction": ("{'nearest-row', 'nearest-centre'}",
                   "Which machine answers: that of the nearest training row, or that of the nearest centre, whose model "
                   "is smaller and faster"),
    "local_selection": ("bool", "Choose k, C and the kernel's width on some neighbourhoods (the grids below) instead of "
                                "taking k, C and gamma; needs prediction='nearest-row'"),
    "k_grid": ("list of int", None),
    "cost_grid": ("list of float", None),
    "percentiles": ("list of float", None),
    "cost_range": ("(float, float)", None),
    "gamma_range": ("(float, float)", None),
    "margin": ("{'soft', 'hard'}", "Some rows may be on the wrong side of the margin (soft), or none (hard); a hard margin that does "
                                   "not exist is an error. Without errors there is nothing that C, margin_k or nu could set"),
    "margin_k": ("float or 'smallest'",
                 "k = 1/D of the reduced hulls, >= 1; 'smallest': the smallest that separates; 0: what C (classes) or nu "
                 "(regression) asks for"),
    "nu": ("float", "k as a share of the rows, k = nu rows / 2, up to 1; 0: not used, but 0.5 for a regression without margin_k"),
    "carry_support": ("bool", "Take the support vectors found into the next draw; False: the paper's own algorithm"),
    "threshold": ("float or dict",
                  "Rows of a class within this distance in feature space have one leader; {label: distance} for classes of "
                  "their own; 0: by leaders"),
    "trials": ("int", "Machines tried; 0: as many as max_seconds allows"),
    "polish": ("bool", None),
    "probability": ("bool", "Learn probabilities too (predict_proba), on scores from 5 folds, which takes 5 more trainings"),
    "fit_intercept": ("bool", "Learn an offset"),
    "intercept_scaling": ("float", "The offset is the weight of a column of this value, which is penalised as any other"),
    "progress": ("callable",
                 "Called about ten times a second, in the calling thread, with a dict: phase, done_fraction, "
                 "elapsed_seconds, left_seconds, detail. An exception it raises ends the work"),
    "verbose": ("bool", "Log progress and results with the logger 'tamis'"),
}

_Estimator = TypeVar("_Estimator", bound=type)


class TrainingWarning(UserWarning):
    """What the user should know about the training: columns of very different ranges, for example."""


def option_name(argument: str) -> str:
    return OPTION_OF.get(argument, argument.replace("_", "-"))


def option_table() -> dict[str, dict[str, Any]]:
    return {option["name"]: option for option in _core.option_table()}


def option_text(argument: str, value: Any) -> str | None:
    """The value as the core reads it; None: leave the core's default."""
    if value is None:
        return None
    if argument == "random_state":
        if isinstance(value, Integral):
            return str(int(value))
        return str(check_random_state(value).randint(np.iinfo(np.int32).max))
    if argument == "max_iter":
        if not isinstance(value, Integral) or (int(value) < 1 and int(value) != -1):
            raise ValueError("give a whole number above 0, or -1 for no limit")
        return str(max(0, int(value)))
    if argument == "multi_class":
        names = {"ovo": "one-vs-one", "ovr": "one-vs-rest"}
        if value not in names:
            raise ValueError("one of 'ovo', 'ovr'")
        return names[value]
    if isinstance(value, (bool, np.bool_)):
        words = ("yes", "no") if argument == "carry_support" else ("true", "false")
        return words[0 if value else 1]
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, str):
        return value
    if argument in LISTS and np.ndim(value) == 1 and all(isinstance(number, Real) for number in value):
        return ",".join(repr(float(number)) for number in value)
    raise ValueError(f"give a number or a name, not a {type(value).__name__}")


def core_options(method: str, task: str, arguments: dict[str, Any]) -> _core.Options:
    """Throws ValueError that names the argument and what is allowed."""
    options = _core.Options()
    options.set("method", method)
    options.set("task", task)
    known = option_table()
    for argument, value in arguments.items():
        option = known.get(option_name(argument))
        if option is None or argument == "class_weight" or (option["methods"] and method not in option["methods"]):
            continue
        try:
            text = option_text(argument, value)
            if text is not None:
                options.set(option_name(argument), text)
        except ValueError as error:
            raise ValueError(f"{argument}={value!r}: {error}") from None
    return options


def thread_count(n_jobs: int | None) -> int:
    """Threads for the core, where 0 means all; scikit-learn's rule for negative numbers."""
    if n_jobs is None:
        first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        return int(first) if first.isdigit() else 0
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: give a number of threads, -1 for all, or None")
    return int(n_jobs) if n_jobs > 0 else max(1, _core.available_threads() + 1 + int(n_jobs))


def memory_bytes(max_memory: int | str | None) -> int:
    """The core's budget, where 0 means 80 % of what is available."""
    if max_memory is None:
        return 0
    return _core.parse_bytes(str(max_memory))


def help_text(argument: str) -> str:
    """What the argument does, in Python's words where it has its own."""
    _, text = PYTHON_HELP.get(argument, (None, None))
    return text or option_table()[option_name(argument)]["help"]


def _type_text(argument: inspect.Parameter) -> str:
    kind, _ = PYTHON_HELP.get(argument.name, (None, None))
    if kind is not None:
        return kind
    choices = option_table()[option_name(argument.name)]["choices"]
    return "{" + ", ".join(map(repr, choices)) + "}" if choices else type(argument.default).__name__


def _parameter_lines(arguments: Iterable[inspect.Parameter]) -> list[str]:
    lines = []
    for argument in arguments:
        lines += [f"{argument.name} : {_type_text(argument)}, default={argument.default!r}",
                  f"    {help_text(argument.name)}."]
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
    dual_coef_ : ndarray or CSR of shape (n_classes - 1, n_SV)
        Their coefficients; of shape (n_classes, n_SV) with multi_class="ovr" and more than two classes.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
    coef_ : ndarray or CSR of shape (n_classes * (n_classes - 1) / 2, n_features)
        Weights of the features; linear kernel only.
    class_weight_ : ndarray of shape (n_classes,)
    n_iter_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Pair updates of each machine, in its last round where there are rounds.
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went: objective, gap, violation, seconds per phase, kernel evaluations, warnings and more.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had names of str.
"""

_REGRESSOR_ATTRIBUTES = """\
    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Rows of the support vectors in the training data.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
    n_support_ : ndarray of shape (1,)
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
    intercept_ : ndarray of shape (1,)
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features; linear kernel only.
    n_iter_ : int
        Pair updates.
    fit_status_ : int
        0 if the tolerance was met, else 1; `report_["stop_reason"]` says why.
    report_ : dict
        How the training went: objective, gap, violation, seconds per phase, kernel evaluations, warnings and more.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had names of str.
"""


def documented(estimator: _Estimator) -> _Estimator:
    """Completes the docstring of an estimator: its parameters at the line PARAMETERS, and at the line ATTRIBUTES those
    of machines that are sums over support vectors."""
    arguments = inspect.signature(estimator).parameters.values()
    section = "\n    ".join(["Parameters", "----------", *_parameter_lines(arguments)])
    assert estimator.__doc__ is not None
    is_regressor = getattr(estimator, "_task") == "regression"
    attributes = _REGRESSOR_ATTRIBUTES if is_regressor else _CLASSIFIER_ATTRIBUTES
    text = estimator.__doc__.replace("PARAMETERS", section)
    estimator.__doc__ = text.replace("    ATTRIBUTES\n", attributes)
    return estimator
