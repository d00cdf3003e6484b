"""What scikit-learn 1.2 to 1.9 do differently, in one place; and its arguments that change no
result here.
"""
from __future__ import annotations

import inspect
from numbers import Integral
from typing import Any, Mapping

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_array, check_non_negative

try:
    from sklearn.utils.validation import validate_data  # 1.6 and later
except ImportError:
    def validate_data(estimator: Any, *rows: Any, **checks: Any) -> Any:
        return estimator._validate_data(*rows, **checks)


def finite_or_nan(allow_nan: bool) -> dict[str, Any]:
    """The argument of check_array that lets NaN pass; it was renamed in scikit-learn 1.6."""
    name = "ensure_all_finite" if "ensure_all_finite" in inspect.signature(check_array).parameters else "force_all_finite"
    return {name: "allow-nan" if allow_nan else True}


def checked_weights(sample_weight: Any, y: np.ndarray) -> np.ndarray:
    """As float64. Raises ValueError, with scikit-learn's words, if one is negative or all are
    zero.
    """
    # Its own checks of both have other names, or are missing, in other versions.
    try:
        weights = _check_sample_weight(sample_weight, y, dtype=np.float64, allow_all_zero_weights=True)  # 1.9
    except TypeError as error:
        if "allow_all_zero_weights" not in str(error):
            raise
        weights = _check_sample_weight(sample_weight, y, dtype=np.float64)
    check_non_negative(weights, "`sample_weight`")
    if not np.any(weights > 0):
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return weights


#: Arguments of scikit-learn that decide how it searches, not what it finds: argument -> what it may be. "warn" is the default of
#: dual in scikit-learn 1.3 and 1.4.
WITHOUT_EFFECT: dict[str, tuple[Any, ...]] = {"shrinking": (True, False), "dual": (True, False, "auto", "warn")}


def check_without_effect(arguments: dict[str, Any]) -> None:
    """Takes them out of the arguments. Raises ValueError for values that scikit-learn refuses, and
    for penalty="l1".
    """
    for name, allowed in WITHOUT_EFFECT.items():
        value = arguments.pop(name, allowed[0])
        known = isinstance(value, (bool, np.bool_)) or (isinstance(value, str) and value in allowed)
        if not known:
            raise ValueError(f"{name}={value!r}: one of {', '.join(map(repr, allowed))}")
    penalty = arguments.pop("penalty", "l2")
    if penalty == "l1":
        raise ValueError("penalty='l1': only 'l2' is offered here; sklearn.svm.LinearSVC(penalty='l1', dual=False) finds "
                         "sparse weights, SelectFromModel chooses features")
    if penalty != "l2":
        raise ValueError(f"penalty={penalty!r}: only 'l2' is offered")


#: Arguments that switch something on or off: argument -> words of scikit-learn's that it may be, too.
SWITCHES: dict[str, tuple[str, ...]] = {"break_ties": (), "probability": ("deprecated",), "fit_intercept": ()}


def check_switches(arguments: dict[str, Any]) -> None:
    """Raises ValueError for what is not True, False, 0 or 1: a word such as "no" would count as
    True.
    """
    for name, words in SWITCHES.items():
        value = arguments.get(name, False)
        is_switch = isinstance(value, (bool, np.bool_)) or (isinstance(value, Integral) and value in (0, 1))
        if not is_switch and not (isinstance(value, str) and value in words):
            raise ValueError(f"{name}={value!r}: one of True, False")
    verbose = arguments.get("verbose", False)
    if not isinstance(verbose, (bool, np.bool_, Integral)):
        raise ValueError(f"verbose={verbose!r}: one of True, False")
    progress = arguments.get("progress")
    if progress is not None and not callable(progress):
        raise ValueError(f"progress={progress!r}: give a function, or None")


def check_class_weight(class_weight: Any) -> None:
    """Raises ValueError, in place of what other checks make of values that are no mapping."""
    is_word = isinstance(class_weight, str) and class_weight == "balanced"
    if not (class_weight is None or is_word or isinstance(class_weight, Mapping)):
        raise ValueError(f"class_weight={class_weight!r}: give a dict of labels and factors, 'balanced' or None")


def check_penalty(arguments: dict[str, Any]) -> None:
    """Raises ValueError for C=inf, which scikit-learn takes since 1.9; says what to give."""
    C = arguments.get("C")
    if isinstance(C, (float, np.floating)) and np.isposinf(C):
        raise ValueError(f"C={C!r}: C must be finite; for a hard margin, give a large one, for example C=1e6")


def wants_probabilities(probability: Any) -> bool:
    """The default of scikit-learn's SVC since 1.9 is the word "deprecated", which means no."""
    return bool(probability) and probability != "deprecated"
