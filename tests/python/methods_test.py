"""The estimators beyond the exact, linear and local ones: their arguments do what the core's options do."""
import numpy as np
import pytest
import tamis
from sklearn.datasets import load_diabetes, load_iris

BOARD = dict(C=10, gamma=100)
ON_A_PART = [
    tamis.SubsampleSVC(delta=0.3, **BOARD),
    tamis.CGLQSVC(**BOARD),
    tamis.LocalSamplingSVC(**BOARD),
    tamis.LeaderSVC(leaders=600, **BOARD),
    tamis.RansacSVC(trials=20, subset_rows=600, **BOARD),
]
BY_CLASS = [type(machine).__name__ for machine in ON_A_PART]


@pytest.fixture(scope="module")
def board():
    return tamis.generate("checkerboard", 3000)


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return X.astype(np.float32), np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.mark.parametrize("machine", ON_A_PART, ids=BY_CLASS)
def test_support_vectors_are_rows(machine, board):
    X, y = board
    weights = (np.arange(len(y)) % 4 > 0).astype(float)
    machine.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(machine.support_vectors_, X[machine.support_])
    assert np.all(weights[machine.support_] > 0) and machine.n_support_.sum() == len(machine.support_)
    assert set(machine.support_) <= set(machine.chosen_) and np.all(weights[machine.chosen_] > 0)
    assert np.all(np.diff(machine.chosen_) > 0) and len(machine.chosen_) < len(y)
    assert machine.n_iter_.shape == machine.intercept_.shape == (1,)
    values = machine._model.expansion()
    np.testing.assert_array_equal(np.sign(machine.dual_coef_[0]), np.where(y[machine.support_] > 0, 1, -1))
    assert values["gamma"] == 100 or isinstance(machine, tamis.RansacSVC)


@pytest.mark.parametrize("machine", ON_A_PART, ids=BY_CLASS)
def test_a_polished_machine_is_the_optimum(machine, board):
    X, y = board
    assert not tamis.certify(machine.fit(X, y), X, y)["certified"]
    machine.set_params(polish=True).fit(X, y)
    assert tamis.certify(machine, X, y)["certified"] and not hasattr(machine, "chosen_")
    assert machine.report_["details"]["polish_iterations"] == machine.n_iter_.sum()
    machine.set_params(polish=False)


def test_the_ensemble_is_no_sum_over_support_vectors(flowers):
    X, y = flowers
    machine = tamis.RandomSubsetSVC(members=5, subset_rows=60, cost_range=(1, 1), gamma_range=[1, 1], combine="average",
                                    search_trials=0).fit(X, y)
    members = machine.report_["tables"]["members"]
    assert len(members) == 15 and {member["cost"] for member in members} == {1.0}
    assert machine.score(X, y) > 0.9 and machine.decision_function(X).shape == (150, 3)
    with pytest.raises(AttributeError, match="random-subset"):
        machine.dual_coef_
    with pytest.raises(ValueError, match="cost_range=\\(2, 1\\)"):
        tamis.RandomSubsetSVC(cost_range=(2, 1)).fit(X, y)


def test_ransac_may_take_all_the_time(flowers):
    machine = tamis.RansacSVC(trials=None, max_seconds=0.3, subset_rows=50).fit(*flowers)
    assert machine.fit_status_ == 0 and machine.report_["details"]["trials_scored"] > 1


def test_thresholds_of_classes(flowers):
    X, y = flowers
    thresholds = {"virginica": 0.1, "setosa": 0.3, "versicolor": 0.2}
    machine = tamis.LeaderSVC(threshold=thresholds).fit(X, y)
    assert [row["threshold"] for row in machine.report_["tables"]["leaders"]] == [0.3, 0.2, 0.1]
    assert [row["threshold"] for row in tamis.LeaderSVC(threshold=0.2).fit(X, y).report_["tables"]["leaders"]] == [0.2] * 3
    with pytest.raises(ValueError, match="each of the classes \\['setosa'"):
        tamis.LeaderSVC(threshold={"setosa": 0.3}).fit(X, y)


@pytest.mark.parametrize("carry", [True, False])
def test_random_sampling_finds_the_optimum(board, carry):
    X, y = board
    sampled = tamis.OptMarginSVC(draw=500, carry_support=carry, C=1, gamma=10).fit(X, y)
    exact = tamis.SVC(C=1, gamma=10).fit(X, y)
    np.testing.assert_allclose(sampled.report_["objective"], exact.report_["objective"], rtol=1e-4)


def test_hard_and_soft_margins(flowers):
    X, y = flowers
    rows = y != "virginica"
    hard = tamis.OptMarginSVC(margin="hard", kernel="linear").fit(X[rows], y[rows])
    assert np.abs(hard.decision_function(X[rows])).min() == pytest.approx(1, abs=2e-3)
    assert tamis.certify(hard, X[rows], y[rows])["certified"]
    with pytest.raises(ValueError, match="cannot be separated"):
        tamis.OptMarginSVC(margin="hard", kernel="linear").fit(X, y)
    soft = tamis.OptMarginSVC(nu=0.5, kernel="linear").fit(X[~rows | (y == "versicolor")], y[~rows | (y == "versicolor")])
    assert soft.report_["details"]["nu"] == pytest.approx(0.5)
    with pytest.raises(ValueError, match="margin='wide'"):
        tamis.OptMarginSVC(margin="wide").fit(X, y)


def test_a_tube_is_an_epsilon_svr():
    X, y = load_diabetes(return_X_y=True)
    y = (y - y.mean()) / y.std()
    tube = tamis.TubeSVR(nu=0.4, gamma=5, epsilon=1.0).fit(X, y)
    details = tube.report_["details"]
    assert tamis.certify(tube, X, y)["certified"]
    outside = np.mean(np.abs(tube.predict(X) - y) > details["fitted_tube"] * (1 + 1e-3))
    assert outside == pytest.approx(0.4, abs=0.05)
    same = tamis.SVR(C=details["equivalent_cost"], epsilon=details["fitted_tube"], gamma=5).fit(X, y)
    np.testing.assert_allclose(tube.predict(X), same.predict(X), atol=0.02)


def test_auto_leaves_alone_what_is_given(board):
    X, y = board
    machine = tamis.AutoSVC(C=1.0, scale="none").fit(X[:600], y[:600])
    details = machine.report_["details"]
    assert details["chosen_cost"] == 1.0 and "chosen_gamma" in details
    assert machine.report_["remarks"][0].startswith(f"auto: {machine.report_['method']}")
    np.testing.assert_array_equal(machine.support_vectors_, X[machine.support_])
    assert tamis.certify(machine, X[:600], y[:600])["certified"]
    assert tamis.AutoSVC().fit(X[:600], y[:600]).report_["details"]["chosen_cost"] != 1.0
