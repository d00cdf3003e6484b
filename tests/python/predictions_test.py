"""One answer from one model: what an estimator predicts is what its model file predicts, whoever asks."""
import os
import subprocess

import numpy as np
import pytest
import sklearn.svm
import tamis
from sklearn.base import ClassifierMixin

CLASSIFIERS = [cls for cls in (getattr(tamis, name) for name in tamis.__all__) if isinstance(cls, type) and issubclass(cls, ClassifierMixin)]
WORDS = np.array(["ash", "birch", "cedar", "elm", "fir", "hazel", "larch"])
KERNEL = {"gamma": 3.0}


@pytest.fixture(scope="module")
def forest():
    """Seven classes that overlap so much that votes are tied for some rows."""
    random = np.random.default_rng(3)
    codes = np.arange(250) % 7
    X = random.normal(size=(250, 2)) + 0.4 * np.column_stack([np.cos(codes), np.sin(codes)])
    return X.astype(np.float32), WORDS[codes], random.normal(size=(2000, 2)).astype(np.float32)


def fitted(cls, forest, **arguments):
    X, y, _ = forest
    kernel = KERNEL if "gamma" in cls().get_params() and cls is not tamis.AutoSVC else {}
    small = {"k": 40} if "k" in cls().get_params() else {}
    return cls(**kernel, **small, **arguments).fit(X, y)


def test_the_rows_have_ties(forest):
    machine = fitted(tamis.SVC, forest)
    votes = machine.predict(forest[2])
    values = machine.set_params(break_ties=True).predict(forest[2])
    assert 10 < np.sum(votes != values) < 500


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_the_model_file_predicts_the_same(cls, forest, tmp_path):
    machine = fitted(cls, forest)
    machine.save(tmp_path / "m.model")
    wanted = machine.predict(forest[2])
    np.testing.assert_array_equal(cls.load(tmp_path / "m.model").predict(forest[2]), wanted)
    np.testing.assert_array_equal(machine.classes_[np.argmax(machine.decision_function(forest[2]), axis=1)], wanted)


@pytest.mark.skipif("TAMIS" not in os.environ, reason="the program was not built")
@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_the_program_predicts_the_same(cls, forest, tmp_path):
    machine = fitted(cls, forest)
    machine.save(tmp_path / "m.model")
    np.save(tmp_path / "rows.npy", forest[2])
    for more in ([], ["--decision-values"]):
        command = [os.environ["TAMIS"], "predict", "-q", tmp_path / "m.model", tmp_path / "rows.npy", *more]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        labels = [line.split("\t")[0] for line in (lines[1:] if more else lines)]
        np.testing.assert_array_equal(labels, machine.predict(forest[2]))


@pytest.mark.parametrize("strategy", ["ovo", "ovr"])
@pytest.mark.parametrize("break_ties", [False, True])
def test_the_predicted_class_has_the_largest_value(strategy, break_ties, forest):
    machine = fitted(tamis.SVC, forest, multi_class=strategy, break_ties=break_ties)
    values = machine.decision_function(forest[2])
    np.testing.assert_array_equal(machine.classes_[np.argmax(values, axis=1)], machine.predict(forest[2]))


def test_values_are_those_of_scikit_learn_but_for_the_winner_of_a_tie(forest):
    X, y, rows = forest
    theirs = sklearn.svm.SVC(**KERNEL, tol=1e-5).fit(X, y)
    machine = fitted(tamis.SVC, forest, tol=1e-5, break_ties=True)
    np.testing.assert_allclose(machine.decision_function(rows), theirs.decision_function(rows), atol=2e-3)
    raised = machine.set_params(break_ties=False).decision_function(rows)
    others = raised != machine.set_params(break_ties=True).decision_function(rows)
    tied = machine.predict(rows) != machine.set_params(break_ties=False).predict(rows)
    np.testing.assert_array_equal(others.sum(axis=1), tied)
    np.testing.assert_array_equal(np.argmax(raised, axis=1)[tied], np.argmax(others, axis=1)[tied])


def test_models_with_their_classes_in_another_order(forest, tmp_path):
    machine = fitted(tamis.SVC, forest)
    X, y, rows = forest
    codes = np.searchsorted(WORDS, y)
    numbers = tamis.SVC(**KERNEL).fit(X, codes)
    numbers.save(tmp_path / "m.model", format="libsvm")
    text = (tmp_path / "m.model").read_text()
    (tmp_path / "m.model").write_text(text.replace("label 0 1 2 3 4 5 6", "label 3 4 2 0 1 6 5"))
    loaded = tamis.SVC.load(tmp_path / "m.model")
    renamed = np.array([3, 4, 2, 0, 1, 6, 5])[numbers.predict(rows)]
    np.testing.assert_array_equal(loaded.predict(rows), renamed)
    np.testing.assert_array_equal(np.argmax(loaded.decision_function(rows), axis=1), renamed)
    np.testing.assert_array_equal(machine.predict(rows), WORDS[numbers.predict(rows)])


@pytest.mark.parametrize("break_ties", [False, True])
def test_rows_are_converted_once(break_ties, forest, monkeypatch):
    machine = fitted(tamis.SVC, forest, break_ties=break_ties)
    convert, calls = machine._known_rows, []

    def counted(X):
        calls.append(len(X))
        return convert(X)

    monkeypatch.setattr(machine, "_known_rows", counted)
    machine.predict(forest[2])
    assert calls == [2000]


# A few rows of a plain array take a shorter way past scikit-learn's checks.

def unaligned(X):
    copy = np.frombuffer(bytearray(X.nbytes + 1), dtype=X.dtype, offset=1, count=X.size).reshape(X.shape)
    copy[:] = X
    return copy


@pytest.mark.parametrize("convert", [lambda X: X, lambda X: X.astype(np.float64), np.asfortranarray, lambda X: X[::-1][::-1],
                                     lambda X: np.repeat(X, 2, axis=1)[:, ::2], lambda X: X.astype(">f8"), unaligned,
                                     lambda X: X.tolist(), lambda X: X.astype(np.float16).astype(np.longdouble)])
def test_few_rows_are_predicted_as_many(forest, convert):
    machine = fitted(tamis.SVC, forest)
    rows = forest[2].astype(np.float16).astype(np.float32)  # representable in all of them
    many = machine.predict(rows)
    values = machine.decision_function(rows)
    for first in (0, 7, 500):
        some = convert(rows[first:first + 3])
        assert list(machine.predict(some)) == list(many[first:first + 3])
        assert np.array_equal(machine.decision_function(some), values[first:first + 3])


@pytest.mark.parametrize("row, message", [([[np.nan, 0]], "NaN"), ([[np.inf, 0]], "infinity"), ([[1e300, 0]], "too large"),
                                          ([[1.0, 2.0, 3.0]], "3 features"), ([1.0, 2.0], "1D array"), (1.0, "scalar"), (np.empty((0, 2)), "0 sample")])
def test_few_bad_rows_are_refused_as_many(forest, row, message):
    with pytest.raises(ValueError, match=message):
        fitted(tamis.SVC, forest).predict(np.array(row))


def test_few_rows_without_names_are_warned_about(forest):
    pandas = pytest.importorskip("pandas")
    X, y, test = forest
    machine = tamis.SVC(**KERNEL).fit(pandas.DataFrame(X, columns=["a", "b"]), y)
    with pytest.warns(UserWarning, match="feature names"):
        machine.predict(test[:2])


def test_few_rows_need_a_model(forest):
    with pytest.raises(ValueError, match="not fitted"):
        tamis.SVC().predict(forest[2][:1])
