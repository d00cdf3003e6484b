"""SVC and SVR against scikit-learn's, and what they do with arrays, labels, weights and files."""
import logging
import pickle
from functools import partial

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
import tamis
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import check_is_fitted
from tamis import _data


@pytest.fixture(scope="module")
def two_classes():
    X, y = make_classification(400, 8, flip_y=0.1, random_state=1)
    return X.astype(np.float32), y


@pytest.fixture(scope="module")
def three_classes():
    X, y = load_iris(return_X_y=True)
    return X.astype(np.float32), np.array(["setosa", "versicolor", "virginica"])[y]


def pair(data, estimator="SVC", **arguments):
    X, y = data
    arguments = {"tol": 1e-5, "gamma": 0.1, **arguments}
    return (getattr(tamis, estimator)(**arguments).fit(X, y), getattr(sklearn.svm, estimator)(**arguments).fit(X, y))


def assert_same_machine(ours, theirs, X):
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.support_vectors_, theirs.support_vectors_, rtol=1e-6)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-3, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    assert ours.shape_fit_ == theirs.shape_fit_


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_two_classes_as_scikit_learn(two_classes, kernel):
    ours, theirs = pair(two_classes, kernel=kernel, gamma=0.02, coef0=0.5, class_weight={0: 2})
    X = two_classes[0]
    assert_same_machine(ours, theirs, X)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)


def test_the_laplacian_kernel_is_scikit_learns(two_classes):
    X, y = two_classes
    options = {"C": 4, "tol": 1e-5}
    theirs = sklearn.svm.SVC(kernel=partial(laplacian_kernel, gamma=0.05), **options).fit(X, y)
    for rows in (X, sp.csr_matrix(X)):
        ours = tamis.SVC(kernel="laplacian", gamma=0.05, **options).fit(rows, y)
        np.testing.assert_allclose(ours.decision_function(rows), theirs.decision_function(X), atol=2e-3)


def test_the_sigmoid_kernel_is_scikit_learns(two_classes):
    """It is not positive definite: there are several optima, but the machines are much alike."""
    ours, theirs = pair(two_classes, kernel="sigmoid", gamma=0.02, coef0=0.5)
    X = two_classes[0]
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.97


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_three_classes_as_scikit_learn(three_classes, shape):
    ours, theirs = pair(three_classes, decision_function_shape=shape, kernel="linear")
    X, y = three_classes
    assert_same_machine(ours, theirs, X)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    assert ours.classes_.tolist() == sorted(set(y))


def test_regression_as_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = pair((X, y), "SVR", C=100, gamma=5, epsilon=2)
    assert_same_machine(ours, theirs, X)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=0.05)


def test_one_against_the_rest(three_classes):
    X, y = three_classes
    machine = tamis.SVC(multi_class="ovr").fit(X, y)
    values = machine.decision_function(X)
    assert values.shape == (150, 3) and machine.dual_coef_.shape[0] == 3 and machine.n_iter_.shape == (3,)
    np.testing.assert_array_equal(machine.classes_[values.argmax(axis=1)], machine.predict(X))


def test_precomputed_and_callable_kernels_are_the_linear_one(two_classes):
    X, y = two_classes
    linear = tamis.SVC(kernel="linear", tol=1e-5).fit(X, y)
    precomputed = tamis.SVC(kernel="precomputed", tol=1e-5).fit(X @ X.T, y)
    own = tamis.SVC(kernel=lambda a, b: a @ b.T, tol=1e-5).fit(X, y)
    wanted = linear.decision_function(X)
    np.testing.assert_allclose(precomputed.decision_function(X @ X.T), wanted, atol=1e-3)
    np.testing.assert_allclose(own.decision_function(X), wanted, atol=1e-3)
    np.testing.assert_array_equal(precomputed.support_, linear.support_)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", [True, False])
def test_linear_machines_as_scikit_learn(three_classes, two_classes, loss, intercept):
    for X, y in (three_classes, two_classes):
        arguments = dict(loss=loss, fit_intercept=intercept, intercept_scaling=2.0, C=0.5, tol=1e-6)
        ours = tamis.LinearSVC(**arguments).fit(X, y)
        theirs = sklearn.svm.LinearSVC(max_iter=100000, **arguments).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
        assert intercept or not ours.intercept_.any()


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_regression_as_scikit_learn(loss):
    X, y = load_diabetes(return_X_y=True)
    X, y = (X / X.std(axis=0)).astype(np.float32), y / 100
    arguments = dict(loss=loss, epsilon=0.1, C=0.1, tol=1e-6)
    ours = tamis.LinearSVR(**arguments).fit(X, y)
    theirs = sklearn.svm.LinearSVR(max_iter=1000000, **arguments).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=5e-3)


# Probabilities.

@pytest.mark.parametrize("estimator", [tamis.SVC, tamis.LinearSVC, tamis.FalkSVC])
def test_probabilities_mean_what_they_say(estimator, three_classes, tmp_path):
    X, y = tamis.generate("checkerboard", 4000)
    arguments = {} if estimator is tamis.LinearSVC else dict(C=10, gamma=100)
    machine = estimator(probability=True, **arguments).fit(X[:3000], y[:3000])
    shares = machine.predict_proba(X[3000:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(shares), machine.predict_log_proba(X[3000:]))
    assert abs(shares[:, 1].mean() - (y[3000:] == machine.classes_[1]).mean()) < 0.05
    if estimator is not tamis.LinearSVC:
        assert (machine.classes_[shares.argmax(axis=1)] == y[3000:]).mean() > 0.85
    machine.save(tmp_path / "m.model")
    np.testing.assert_array_equal(estimator.load(tmp_path / "m.model").predict_proba(X), machine.predict_proba(X))
    X, y = three_classes
    assert (machine.fit(X, y).predict_proba(X).argmax(axis=1) == np.searchsorted(machine.classes_, y)).mean() > 0.6


def test_probabilities_only_when_asked_for(two_classes):
    machine = tamis.SVC().fit(*two_classes)
    assert not hasattr(machine, "predict_proba") and hasattr(tamis.SVC(probability=True), "predict_proba")
    with pytest.raises(NotFittedError):
        machine.set_params(probability=True).predict_proba(two_classes[0])


# Arrays.

def test_float32_rows_are_not_copied(two_classes):
    X, _ = two_classes
    assert _data.core_rows(X) is X
    rows = sp.random(30, 9, 0.3, format="csr", dtype=np.float32, random_state=1)
    _, columns, values, width = _data.core_rows(rows)
    assert width == 9 and np.shares_memory(columns, rows.indices) and np.shares_memory(values, rows.data)


def test_any_layout_gives_the_same_machine(two_classes, tmp_path):
    X, y = two_classes
    wanted = tamis.SVC(C=5).fit(X, y).decision_function(X)
    path = tmp_path / "rows.bin"
    X.tofile(path)
    mapped = np.memmap(path, dtype=np.float32, mode="r", shape=X.shape)
    shifted = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float32).reshape(X.shape)
    assert not shifted.flags.aligned
    for rows in (X.astype(np.float64), np.asfortranarray(X), mapped, X.astype(">f4"), shifted, X.tolist(),
                 sp.csr_matrix(X), sp.coo_matrix(X), sp.csc_matrix(X)):
        machine = tamis.SVC(C=5).fit(rows, y)
        np.testing.assert_allclose(machine.decision_function(X), wanted, atol=2e-3)
        np.testing.assert_allclose(machine.decision_function(rows), wanted, atol=2e-3)


def test_unsorted_sparse_rows_are_used_but_not_changed():
    rows = sp.csr_matrix((np.ones(4, np.float32), [2, 0, 1, 0], [0, 2, 4]), shape=(2, 3))
    rows.has_sorted_indices = False
    machine = tamis.SVC(kernel="linear").fit(rows, [0, 1])
    assert rows.indices.tolist() == [2, 0, 1, 0]
    assert sp.issparse(machine.support_vectors_) and sp.issparse(machine.dual_coef_)
    np.testing.assert_array_equal(machine.support_vectors_.toarray(), rows.toarray())


ESTIMATORS = [getattr(tamis, name) for name in tamis.__all__ if hasattr(getattr(tamis, name), "fit")]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_changing_the_rows_later_does_not_change_the_machine(two_classes, estimator, layout):
    X, y = two_classes
    rows = layout(X.copy())
    machine = estimator().fit(rows, y)
    before = machine.predict(X)
    (rows.data if sp.issparse(rows) else rows)[:] = 0
    np.testing.assert_array_equal(machine.predict(X), before)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_estimator_survives_pickle_and_file(two_classes, estimator, tmp_path):
    X, y = two_classes
    machine = estimator(scale="standard").fit(X, y)
    machine.save(tmp_path / "m.model")
    for copy in (pickle.loads(pickle.dumps(machine)), estimator.load(tmp_path / "m.model")):
        np.testing.assert_array_equal(copy.predict(X), machine.predict(X))


@pytest.mark.parametrize("prediction, selection", [("nearest-row", False), ("nearest-centre", False), ("nearest-row", True)])
def test_local_machines_are_nearly_as_good_as_the_whole(prediction, selection):
    X, y = tamis.generate("checkerboard", 6000)
    X_new, y_new = tamis.generate("checkerboard", 2000, random_state=2)
    whole = tamis.SVC(C=10, gamma=100).fit(X, y).score(X_new, y_new)
    local = tamis.FalkSVC(C=10, gamma=100, k=200, prediction=prediction, local_selection=selection, k_grid=[100, 200])
    assert local.fit(X, y).score(X_new, y_new) > whole - 0.02
    assert local.report_["details"]["centres"] > 1
    with pytest.raises(AttributeError, match="support vectors"):
        local.dual_coef_


def test_local_machines_know_their_arguments(two_classes):
    with pytest.raises(ValueError, match="prediction='far'"):
        tamis.FalkSVC(prediction="far").fit(*two_classes)
    with pytest.raises(ValueError, match="local_selection"):
        tamis.FalkSVC(prediction="nearest-centre", local_selection=True).fit(*two_classes)
    with pytest.raises(ValueError, match="precomputed"):
        tamis.FalkSVC(kernel="precomputed").fit(np.eye(400, dtype=np.float32), two_classes[1])


def test_views_of_the_model_are_read_only_and_outlive_it(two_classes):
    machine = tamis.SVR().fit(*two_classes)
    vectors, coefficients = machine.support_vectors_, machine.dual_coef_
    copy = vectors.copy()
    with pytest.raises(ValueError):
        vectors[0, 0] = 1
    with pytest.raises(ValueError):
        coefficients[0, 0] = 1
    del machine
    np.testing.assert_array_equal(vectors, copy)


# Labels and weights.

@pytest.mark.parametrize("labels", [
    [3, 7], [-1.0, 2.0], [False, True], ["nein", "ja"], ["a,b:1", "ü"], [2**60, 2**60 + 1],
])
def test_labels_of_every_kind(two_classes, labels, tmp_path):
    X, y = two_classes
    named = np.array(labels)[y]
    machine = tamis.SVC(class_weight={labels[0]: 2.0}).fit(X, named)
    reference = tamis.SVC(class_weight={0: 2.0}).fit(X, y)
    predicted = machine.predict(X)
    assert predicted.dtype == named.dtype and machine.classes_.tolist() == sorted(labels)
    sign = 1 if sorted(labels) == labels else -1
    np.testing.assert_allclose(sign * machine.decision_function(X), reference.decision_function(X), atol=1e-2)
    assert machine.score(X, named) == reference.score(X, y)


def test_a_weight_is_so_many_copies(two_classes):
    X, y = two_classes
    weights = np.arange(len(y)) % 3
    weighted = tamis.SVC(tol=1e-5).fit(X, y, sample_weight=weights)
    copied = tamis.SVC(tol=1e-5, gamma=weighted._expansion()["gamma"]).fit(X.repeat(weights, axis=0), y.repeat(weights))
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-3)
    assert np.all(weights[weighted.support_] > 0)


def test_balanced_counts_weights(two_classes):
    X, y = two_classes
    weights = np.where(y == 0, 3.0, 1.0)
    machine = tamis.SVC(class_weight="balanced").fit(X, y, sample_weight=weights)
    sums = np.array([weights[y == 0].sum(), weights[y == 1].sum()])
    np.testing.assert_allclose(machine.class_weight_, sums.sum() / (2 * sums))


def test_a_class_without_weight_is_no_class(three_classes):
    X, y = three_classes
    machine = tamis.SVC().fit(X, y, sample_weight=(y != "versicolor").astype(float))
    assert machine.classes_.tolist() == ["setosa", "virginica"]
    assert machine.decision_function(X).shape == (150,)


@pytest.mark.parametrize("arguments, message", [
    ({"C": -1}, "C=-1: cost"), ({"tol": 0}, "tol=0: eps"), ({"kernel": "rbx"}, "kernel='rbx'"),
    ({"gamma": "wide"}, "gamma='wide'"), ({"max_iter": 0}, "max_iter=0"), ({"multi_class": "x"}, "multi_class='x'"),
    ({"n_jobs": 0}, "n_jobs=0"), ({"degree": "3.5"}, "degree='3.5'"), ({"C": [1]}, "C=\\[1\\]"),
    ({"max_memory": "much"}, "much"), ({"class_weight": {0: -1.0}}, "weight of class"),
])
def test_a_wrong_argument_is_named(two_classes, arguments, message):
    with pytest.raises(ValueError, match=message):
        tamis.SVC(**arguments).fit(*two_classes)


def test_too_little_memory_is_a_memory_error(two_classes):
    with pytest.raises(MemoryError):
        tamis.SVC(max_memory="1M").fit(*two_classes)


# Files.

def test_pickle_and_joblib(two_classes, tmp_path):
    X, y = two_classes
    machine = tamis.SVC(C=3).fit(X, y)
    joblib.dump(machine, tmp_path / "machine.joblib")
    for copy in (pickle.loads(pickle.dumps(machine)), joblib.load(tmp_path / "machine.joblib")):
        np.testing.assert_array_equal(copy.decision_function(X), machine.decision_function(X))
        np.testing.assert_array_equal(copy.support_, machine.support_)
        assert copy.get_params() == machine.get_params() and copy.report_ == machine.report_


@pytest.mark.parametrize("format", ["native", "libsvm"])
def test_save_and_load(three_classes, tmp_path, format):
    X, y = three_classes
    y = np.searchsorted(np.unique(y), y)
    machine = tamis.SVC(kernel="poly", gamma=0.1, coef0=1).fit(X, y)
    machine.save(tmp_path / "m.model", format=format)
    loaded = tamis.SVC.load(tmp_path / "m.model")
    np.testing.assert_allclose(loaded.decision_function(X), machine.decision_function(X), rtol=1e-12)
    np.testing.assert_array_equal(loaded.predict(X), machine.predict(X))
    np.testing.assert_array_equal(loaded.dual_coef_, machine.dual_coef_)
    assert (loaded.kernel, loaded.gamma, loaded.coef0) == ("poly", 0.1, 1) and loaded.classes_.dtype == np.int64
    with pytest.raises(ValueError, match="SVR cannot use it"):
        tamis.SVR.load(tmp_path / "m.model")
    with pytest.raises(ValueError, match="LinearSVC cannot use it"):
        tamis.LinearSVC.load(tmp_path / "m.model")


def test_words_survive_the_file(three_classes, tmp_path):
    X, y = three_classes
    tamis.SVC(scale="minmax").fit(X, y).save(tmp_path / "m.model")
    assert tamis.SVC.load(tmp_path / "m.model").score(X, y) > 0.9


@pytest.mark.parametrize("order", ["1 -1", "-1 1"])
def test_a_libsvm_model_with_any_order_of_classes(tmp_path, order):
    """f = x - 0.5, above 0 for the class the file names first."""
    (tmp_path / "m.model").write_text(
        f"svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0.5\nlabel {order}\nnr_sv 1 0\nSV\n1 1:1\n")
    machine = tamis.SVC.load(tmp_path / "m.model")
    first = int(order.split()[0])
    X = [[2.0], [-2.0]]
    assert machine.predict(X).tolist() == [first, -first]
    np.testing.assert_allclose(machine.decision_function(X), [1.5 * first, -2.5 * first])


def test_a_libsvm_model_with_three_classes_in_any_order(three_classes, tmp_path):
    X, y = three_classes
    codes = np.searchsorted(np.unique(y), y)
    reference = tamis.SVC(kernel="linear", decision_function_shape="ovo").fit(X, codes)
    # The same machine under other names, so that the file lists its classes as 2, 0, 1.
    reference.save(tmp_path / "m.model", format="libsvm")
    text = (tmp_path / "m.model").read_text().replace("label 0 1 2", "label 2 0 1")
    (tmp_path / "m.model").write_text(text)
    loaded = tamis.SVC.load(tmp_path / "m.model").set_params(decision_function_shape="ovo")
    np.testing.assert_array_equal(loaded.predict(X), np.array([2, 0, 1])[reference.predict(X)])
    a, b, c = reference.decision_function(X).T  # pairs (2, 0), (2, 1), (0, 1) of the new names
    np.testing.assert_allclose(loaded.decision_function(X), np.column_stack([c, -a, -b]))
    with pytest.raises(AttributeError):
        loaded.dual_coef_


# Running.

def test_stopped_early_is_said_and_usable(two_classes):
    X, y = two_classes
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        machine = tamis.SVC(max_iter=5).fit(X, y)
    assert machine.fit_status_ == 1 and machine.report_["stop_reason"] == "iteration limit"
    assert machine.predict(X).shape == y.shape


def test_unscaled_columns_are_told(two_classes):
    X, y = two_classes
    with pytest.warns(tamis.TrainingWarning):
        tamis.SVC(max_seconds=5).fit(X * np.logspace(0, 6, X.shape[1], dtype=np.float32), y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_progress_is_told_in_the_calling_thread():
    import threading
    X, y = tamis.generate("checkerboard", 60000)
    seen = []
    tamis.SVC(C=100, gamma=100, max_seconds=0.6,
              progress=lambda state: seen.append((threading.current_thread(), state))).fit(X, y)
    assert seen and all(thread is threading.main_thread() for thread, _ in seen)
    assert set(seen[0][1]) == {"phase", "done_fraction", "elapsed_seconds", "left_seconds", "detail"}


def test_an_exception_in_progress_ends_the_work_and_is_raised():
    X, y = tamis.generate("checkerboard", 60000)

    def stop(state):
        raise RuntimeError("enough")

    machine = tamis.SVC(C=100, gamma=100, progress=stop)
    with pytest.raises(RuntimeError, match="enough"):
        machine.fit(X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(machine)


def test_verbose_goes_to_logging(two_classes, caplog):
    with caplog.at_level(logging.INFO, logger="tamis"):
        tamis.SVC(verbose=True).fit(*two_classes)
        assert "converged" in caplog.text
        caplog.clear()
        tamis.SVC().fit(*two_classes)
        assert caplog.text == ""


def test_the_number_of_threads_changes_nothing(two_classes, monkeypatch):
    X, y = two_classes
    wanted = tamis.SVC(n_jobs=1).fit(X, y).decision_function(X)
    for n_jobs in (2, -1, -100, None):
        np.testing.assert_array_equal(tamis.SVC(n_jobs=n_jobs).fit(X, y).decision_function(X), wanted)


def test_threads_from_the_environment(monkeypatch):
    from tamis._parameters import thread_count
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert thread_count(None) == 3 and thread_count(5) == 5
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert thread_count(None) == 0 and thread_count(-1) == tamis._core.available_threads()


def test_shuffled_rows_give_the_same_machine(two_classes):
    X, y = two_classes
    order = np.random.RandomState(3).permutation(len(y))
    np.testing.assert_allclose(tamis.SVC(gamma=0.1).fit(X[order], y[order]).decision_function(X),
                               tamis.SVC(gamma=0.1).fit(X, y).decision_function(X), rtol=1e-9)


def test_clone_and_grid_search(two_classes):
    X, y = two_classes
    search = GridSearchCV(tamis.SVC(), {"C": [0.1, 10], "gamma": [0.01, 0.1]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.7
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()


def test_a_full_metric_is_learned_and_kept(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 6)).astype(np.float32)
    y = ((X[:, 0] + X[:, 1]) * (X[:, 2] - X[:, 3]) > 0).astype(int)
    model = tamis.SVC(C=4, scale="standard", metric_rounds=3, metric="full").fit(X, y)
    W = model.metric_matrix_
    assert W.shape == (6, 6)
    np.testing.assert_array_equal(W, W.T)
    np.testing.assert_allclose(model.feature_weights_, np.sqrt(np.diag(W @ W)), rtol=1e-5)
    assert W[0, 1] > 0 > W[2, 3]
    model.save(tmp_path / "m.model")
    for copy in (pickle.loads(pickle.dumps(model)), tamis.SVC.load(tmp_path / "m.model")):
        np.testing.assert_array_equal(copy.metric_matrix_, W)
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(tamis.SVC().fit(X, y).metric_matrix_, np.eye(6))
    with pytest.raises(ValueError, match="metric"):
        tamis.SVC(metric="full").fit(X, y)
    with pytest.raises(ValueError, match="300"):
        tamis.SVC(metric_rounds=1, metric="full").fit(rng.normal(size=(90, 301)), y[:90])


def test_feature_weights_are_learned_and_kept(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 6)).astype(np.float32)
    y = (X[:, 1] * X[:, 4] > 0).astype(int)
    model = tamis.SVC(C=4, scale="quantile", metric_rounds=2).fit(X, y)
    assert model.feature_weights_.shape == (6,)
    assert set(np.argsort(model.feature_weights_)[-2:]) == {1, 4}
    assert model.report_["details"]["metric_best_round"] >= 1
    model.save(tmp_path / "m.model")
    for copy in (pickle.loads(pickle.dumps(model)), tamis.SVC.load(tmp_path / "m.model")):
        np.testing.assert_array_equal(copy.feature_weights_, model.feature_weights_)
    np.testing.assert_array_equal(tamis.SVC().fit(X, y).feature_weights_, np.ones(6))
    with pytest.raises(AttributeError, match="precomputed"):
        tamis.SVC(kernel="precomputed").fit(X @ X.T, y).feature_weights_
