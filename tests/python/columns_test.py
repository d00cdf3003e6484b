"""Missing values and text columns: next to scikit-learn's imputer and encoder."""
import os
import pickle
import subprocess

import numpy as np
import pytest
import tamis
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import OneHotEncoder

OPTIONS = {"C": 4, "gamma": 0.3, "tol": 1e-5}


def table(rows, seed):
    """Color, size and weight; the size is missing in places, and the label depends on color and size."""
    draw = np.random.default_rng(seed)
    colors = draw.choice(["red", "blue", "green"], rows)
    size = draw.normal(size=rows)
    X = np.empty((rows, 3), dtype=object)
    X[:, 0] = colors
    X[:, 1] = np.where(draw.random(rows) < 0.2, np.nan, size)
    X[:, 2] = draw.normal(size=rows)
    return X, np.where((colors == "red") == (size > 0), "yes", "no")


def by_hand(X, fit):
    """What the columns become: one-hot colors, numbers with medians, and where the size is missing."""
    encoder = OneHotEncoder(handle_unknown="ignore").fit(fit[:, :1].astype(str))
    imputer = SimpleImputer(strategy="median").fit(fit[:, 1:].astype(float))
    missing = np.isnan(X[:, 1:2].astype(float))
    return np.hstack([encoder.transform(X[:, :1].astype(str)).toarray(), imputer.transform(X[:, 1:].astype(float)), missing])


def fitted(**more):
    X, y = table(300, 1)
    return tamis.SVC(missing="impute", text_columns="one-hot", **OPTIONS, **more).fit(X, y), X, y


def test_as_scikit_learns_imputer_and_encoder():
    model, X, y = fitted()
    test = table(100, 2)[0]
    plain = tamis.SVC(**OPTIONS).fit(by_hand(X, X), y)
    np.testing.assert_allclose(model.decision_function(test), plain.decision_function(by_hand(test, X)), atol=1e-5)
    assert model.n_features_in_ == 3
    assert list(model.trained_columns_) == ["column 1=blue", "column 1=green", "column 1=red", "column 2", "column 3",
                                            "column 2 missing"]
    assert len(model.feature_weights_) == 6
    assert model.score(test, table(100, 2)[1]) > 0.8


def test_unknown_and_missing_texts():
    model, X, _ = fitted()
    row = X[:1].copy()
    for color in ("violet", None, np.nan, "red"):
        row[0, 0] = color
        expected = tamis.SVC(**OPTIONS).fit(by_hand(X, X), fitted()[2]).decision_function(by_hand(row, X))
        np.testing.assert_allclose(model.decision_function(row), expected, atol=1e-5)


def test_copies_and_files(tmp_path):
    model, X, _ = fitted()
    wanted = model.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), wanted)
    model.save(tmp_path / "m.model")
    loaded = tamis.SVC.load(tmp_path / "m.model")
    np.testing.assert_array_equal(loaded.predict(X), wanted)
    assert loaded.missing == "impute" and loaded.text_columns == "one-hot"
    with pytest.raises(ValueError, match="LIBSVM"):
        model.save(tmp_path / "m.txt", format="libsvm")


@pytest.mark.skipif("TAMIS" not in os.environ, reason="the program was not built")
def test_the_program_predicts_the_same(tmp_path):
    model, X, _ = fitted()
    model.save(tmp_path / "m.model")
    lines = [",".join("" if value != value else str(value) for value in row) for row in X]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    command = [os.environ["TAMIS"], "predict", "-q", tmp_path / "m.model", tmp_path / "rows.csv"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    np.testing.assert_array_equal(printed, model.predict(X))


def test_numbers_with_missing_values_alone():
    X, y = table(300, 3)
    numbers = X[:, 1:].astype(float)
    for cls in (tamis.SVC, tamis.LinearSVC, tamis.FalkSVC):
        model = cls(missing="impute").fit(numbers, y)
        assert set(model.predict(numbers)) <= {"yes", "no"}
    regression = tamis.SVR(missing="impute").fit(numbers, np.nan_to_num(numbers[:, 0]))
    assert regression.score(numbers, np.nan_to_num(numbers[:, 0])) > 0.5
    assert cross_val_score(tamis.SVC(missing="impute", text_columns="one-hot", **OPTIONS), X, y, cv=3).mean() > 0.7


def test_refused_unless_asked_for():
    X, y = table(60, 4)
    with pytest.raises(ValueError, match="NaN"):
        tamis.SVC().fit(X[:, 1:].astype(float), y)
    with pytest.raises(ValueError, match="could not convert string to float"):
        tamis.SVC(missing="impute").fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        tamis.SVC(text_columns="one-hot").fit(X, y)
    with pytest.raises(ValueError, match="missing"):
        tamis.SVC(missing="mean").fit(X[:, 1:].astype(float), y)
    model = tamis.SVC(missing="impute", text_columns="one-hot").fit(X, y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(X[:, :2])
    swapped = X[:, [1, 0, 2]]
    with pytest.raises(ValueError, match="was trained with numbers"):
        model.predict(swapped)


def test_certify_and_compare():
    model, X, y = fitted()
    assert tamis.certify(model, X, y)["certified"]
    test, wanted = table(100, 5)
    result = tamis.compare([tamis.SVC(missing="impute", text_columns="one-hot", **OPTIONS)], X, y, X_test=test, y_test=wanted)
    assert result["rows"][0]["failure"] == ""
    np.testing.assert_allclose(result["rows"][0]["error_rate"], 1 - model.score(test, wanted), atol=0.021)


class Frame:
    """As much of a data frame as is asked for."""

    def __init__(self, cells, columns):
        self.cells, self.columns, self.shape = cells, columns, cells.shape

    def __len__(self):
        return len(self.cells)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.cells, dtype=dtype)


def test_names_of_columns_are_kept(tmp_path):
    X, y = table(200, 6)
    model = tamis.SVC(missing="impute", text_columns="one-hot").fit(Frame(X, ["color", "size", "weight"]), y)
    assert list(model.feature_names_in_) == ["color", "size", "weight"]
    assert model.trained_columns_[0] == "color=blue"
    np.testing.assert_array_equal(model.predict(Frame(X, ["color", "size", "weight"])), model.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(Frame(X, ["size", "color", "weight"]))
