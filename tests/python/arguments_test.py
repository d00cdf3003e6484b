"""Arguments reach the core with their types, and what is not allowed is named."""
import warnings

import numpy as np
import pytest
import sklearn.svm
import tamis
from sklearn.exceptions import ConvergenceWarning
from tamis import _core, _parameters


@pytest.fixture(scope="module")
def board():
    return tamis.generate("checkerboard", 600)


@pytest.mark.parametrize("argument, value, wanted", [
    ("C", np.float64(0.1), 0.1), ("C", np.float32(0.5), 0.5), ("C", 2, 2), ("k", np.int64(5), 5),
    ("carry_support", np.bool_(False), False), ("k_grid", np.array([100, 200]), [100.0, 200.0]),
    ("cost_range", (1, 2), [1.0, 2.0]),
    ("gamma", "auto", "auto"), ("k", None, None), ("multi_class", "ovr", "one-vs-rest"), ("max_iter", -1, None),
    ("C", np.array(2.5), 2.5), ("max_iter", np.int32(7), 7), ("random_state", np.uint8(3), 3),
])
def test_values_keep_their_types(argument, value, wanted):
    found = _parameters.option_value(argument, value)
    assert found == wanted and type(found) is type(wanted)


def test_a_number_of_0_1_is_0_1(board):
    """Not the nearest number of some digits."""
    X, y = board
    third = tamis.SVC(C=1 / 3, gamma=np.float64(0.1)).fit(X, y)
    assert third._expansion()["gamma"] == 0.1
    assert np.abs(third.dual_coef_).max() == 1 / 3


def test_numpy_numbers_are_numbers(board):
    X, y = board
    plain = tamis.FalkSVC(k=50, C=10.0, gamma=100.0).fit(X, y)
    typed = tamis.FalkSVC(k=np.int64(50), C=np.float64(10), gamma=np.float32(100)).fit(X, y)
    assert typed.report_["details"]["k"] == 50
    np.testing.assert_array_equal(typed.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("estimator, argument, value, message", [
    ("FalkSVC", "k", 2.5, "k is 2.5: give a whole number"),
    ("FalkSVC", "k", 0, "at least 1, or automatic"),
    ("FalkSVC", "k", 2**70, "64 bits"),
    ("FalkSVC", "k_prime", -1, "at least 1, or automatic"),
    ("FalkSVC", "index", "map", "one of auto, brute-force, kd-tree, cover-tree"),
    ("SubsampleSVC", "delta", 0, "greater than 0 and at most 1, or automatic"),
    ("SubsampleSVC", "polish", 1, "true or false"),
    ("CGLQSVC", "neighbors", "5", "whole number"),
    ("CGLQSVC", "patience", True, "whole number"),
    ("LeaderSVC", "threshold", 0, "greater than 0, or automatic"),
    ("LeaderSVC", "leaders", 1e3, "whole number"),
    ("OptMarginSVC", "carry_support", "often", "one of yes, no"),
    ("OptMarginSVC", "margin_k", 0.5, "at least 1"),
    ("OptMarginSVC", "margin_k", "largest", "a number, smallest"),
    ("OptMarginSVC", "nu", 0, "greater than 0 and at most 1"),
    ("RansacSVC", "trials", 0, "unlimited"),
    ("RandomSubsetSVC", "cost_range", 2, "a list of numbers"),
    ("RandomSubsetSVC", "cost_range", ["1", "2"], "not a list"),
    ("SVC", "C", float("nan"), "finite"),
    ("SVC", "C", float("inf"), "for a hard margin, give a large one"),
    ("LinearSVR", "C", np.float64("inf"), "for a hard margin, give a large one"),
    ("SVC", "C", True, "a number"),
    ("SVC", "C", "1", "a number"),
    ("SVC", "coef0", None, "expected float"),
    ("SVC", "loss", None, "expected {'l1', 'l2'}"),
    ("SVC", "multi_class", ["ovo"], "one of 'ovo', 'ovr'"),
    ("SVC", "multi_class", None, "one of 'ovo', 'ovr'"),
    ("OptMarginSVC", "carry_support", None, "expected bool"),
    ("SVC", "cache_size", "big", "megabytes"),
    ("SVC", "random_state", -1, "seed is -1"),
    ("SVC", "max_iter", 2.5, "whole number"),
    ("SVC", "decision_function_shape", "OVO", "one of 'ovr', 'ovo'"),
    ("LinearSVC", "intercept_scaling", -5, "greater than 0"),
    ("LinearSVR", "intercept_scaling", None, "greater than 0"),
    ("SVC", "n_jobs", 2**31, "at most 4096"),
    ("SVC", "progress", "x", "give a function, or None"),
    ("SVC", "class_weight", 5, "give a dict of labels and factors, 'balanced' or None"),
    ("SVC", "class_weight", "even", "'balanced' or None"),
    ("SVC", "probability", "no", "one of True, False"),
    ("SVC", "break_ties", 2, "one of True, False"),
    ("LinearSVC", "fit_intercept", "no", "one of True, False"),
    ("SVC", "verbose", "no", "one of True, False"),
])
def test_what_is_allowed_is_said(board, estimator, argument, value, message):
    with pytest.raises(ValueError) as raised:
        getattr(tamis, estimator)(**{argument: value}).fit(*board)
    assert str(raised.value).startswith(f"{argument}={value!r}: ") and message in str(raised.value)


def test_none_is_automatic(board):
    """An option is as if it had never been set."""
    X, y = board
    given = tamis.SVC(C=None, gamma=None, scale=None, cache_size=None, max_seconds=None).fit(X, y)
    np.testing.assert_array_equal(given.decision_function(X), tamis.SVC().fit(X, y).decision_function(X))
    assert tamis.certify(given, X, y)["certified"]


def test_no_limit_on_trials(board):
    with pytest.raises(ValueError, match="max-seconds"):
        tamis.RansacSVC(trials=None).fit(*board)


@pytest.mark.parametrize("labels", [[-1.0, 1.0], [3, 7], ["no", "yes: always"], [False, True]])
def test_numbers_by_label(board, labels):
    X, y = board
    named = np.array(labels)[(y > 0).astype(int)]
    thresholds = {labels[0]: np.float64(0.1), labels[1]: 0.2}
    model = tamis.LeaderSVC(threshold=thresholds, class_weight={labels[1]: np.int64(4)}).fit(X, named)
    rows = {row["rows"]: row["threshold"] for row in model.report_["tables"]["leaders"]}
    assert rows == {np.sum(y < 0): 0.1, np.sum(y > 0): 0.2} and model.class_weight_.tolist() == [1, 4]


def test_auto_keeps_what_is_given_even_if_it_is_the_default(board):
    X, y = board
    model = tamis.AutoSVC(C=1.0, gamma="scale", scale="none").fit(X, y)
    width = model._expansion()["gamma"]
    assert model.report_["details"]["chosen_cost"] == 1.0 and width == pytest.approx(1 / (2 * X.var()), rel=1e-5)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    free = tamis.AutoSVC().fit(X, y).report_["details"]
    assert free["chosen_cost"] != 1.0 and free["chosen_gamma"] != width


def test_auto_keeps_a_tube_that_is_given():
    X = np.linspace(0, 6, 300, dtype=np.float32).reshape(-1, 1)
    y = 100 * np.sin(X[:, 0]).astype(float)
    chosen = []
    for epsilon in (0.1, None):
        options = _parameters.core_options("auto", "regression", {"C": 1.0, "gamma": 1.0, "epsilon": epsilon})
        chosen.append(_core.train(X, y, None, options, 0, 0, 0, None)[1]["details"]["chosen_tube"])
    assert chosen[0] == 0.1 and chosen[1] != 0.1


@pytest.mark.parametrize("name", ["SVC", "SVR", "LinearSVC", "LinearSVR"])
def test_arguments_of_scikit_learn_are_taken(name, board):
    """All of them, as its own class has them by default."""
    X, y = board
    theirs = getattr(sklearn.svm, name)()
    ours = getattr(tamis, name)(**theirs.get_params())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(X, y)
    assert ours.fit(X, y).score(X, y) == pytest.approx(theirs.score(X, y), abs=0.02)


def test_arguments_without_effect_change_nothing(board):
    X, y = board
    plain = tamis.SVC(gamma=100.0).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(tamis.SVC(gamma=100.0, shrinking=False).fit(X, y).decision_function(X), plain)
    linear = tamis.LinearSVC().fit(X, y).coef_
    for dual in (True, False, "auto", "warn"):
        np.testing.assert_array_equal(tamis.LinearSVC(dual=dual).fit(X, y).coef_, linear)
    assert not hasattr(tamis.SVC(probability="deprecated").fit(X, y), "predict_proba")


@pytest.mark.parametrize("estimator, argument, value, message", [
    ("SVC", "shrinking", "no", "shrinking='no': one of True, False"),
    ("LinearSVC", "dual", "automatic", "dual='automatic': one of True, False, 'auto'"),
    ("LinearSVC", "penalty", "l1", "only 'l2' is offered here; sklearn.svm.LinearSVC"),
    ("LinearSVC", "penalty", None, "penalty=None: only 'l2' is offered"),
])
def test_values_that_scikit_learn_refuses(estimator, argument, value, message, board):
    with pytest.raises(ValueError, match=message):
        getattr(tamis, estimator)(**{argument: value}).fit(*board)


def test_a_label_that_no_file_can_hold_is_an_error(board):
    X, _ = board
    with pytest.raises(ValueError, match="lone surrogate"):
        tamis.SVC().fit(X, np.array(["plain", "\ud800"] * (len(X) // 2), dtype=object))


def test_generated_rows_are_counted_in_whole_numbers():
    for arguments in (("spirals", 3.5), ("spirals", "10"), ("spirals", 10, 1.5)):
        with pytest.raises(ValueError, match="give a whole number"):
            tamis.generate(*arguments)
