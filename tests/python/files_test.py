"""Estimators on paths, mapped arrays and tables: the same models as from arrays, and no copies of the rows."""
import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tamis
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import NotFittedError

OPTIONS = {"C": 4, "gamma": 20}


@pytest.fixture(scope="module")
def rows():
    return tamis.generate("checkerboard", 600)


def same_model(a, b):
    assert a._model.__getstate__() == b._model.__getstate__()


def write_csv(path, X, y, names=None):
    with open(path, "w", encoding="utf-8") as file:
        if names:
            file.write(",".join([*names, "label"]) + "\n")
        for row, label in zip(X, y):
            file.write(",".join([*(repr(float(value)) for value in row), str(label)]) + "\n")
    return path


def test_every_format_gives_the_model_of_the_array(tmp_path, rows):
    X, y = rows
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    np.save(tmp_path / "b.npy", X)
    np.save(tmp_path / "b.labels.npy", y)
    write_csv(tmp_path / "c.csv", X, y)
    expected = tamis.SVC(**OPTIONS).fit(X, y)
    for name in ("a.svm", "b.npy", "c.csv"):
        path = tmp_path / name
        model = tamis.SVC(**OPTIONS).fit(path)
        same_model(model, expected)
        np.testing.assert_array_equal(model.support_, expected.support_)
        np.testing.assert_array_equal(model.n_support_, expected.n_support_)
        assert model.classes_.tolist() == [-1, 1] and model.n_features_in_ == 2
        np.testing.assert_array_equal(model.predict(str(path)), expected.predict(X))
        np.testing.assert_array_equal(model.decision_function(path), expected.decision_function(X))
        assert model.score(path) == expected.score(X, y)


def test_words_names_and_balanced_classes(tmp_path):
    X, y = tamis.generate("ten-gaussians", 400)
    y = np.where(np.arange(len(y)) % 5 == 0, "maybe", np.where(y > 0, "yes", "no"))
    path = write_csv(tmp_path / "rows.csv", X, y, ["east", "north"])
    model = tamis.SVC(class_weight="balanced", **OPTIONS).fit(path)
    expected = tamis.SVC(class_weight="balanced", **OPTIONS).fit(X, y)
    np.testing.assert_allclose(model.class_weight_, expected.class_weight_)
    np.testing.assert_array_equal(model.classes_, expected.classes_)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    np.testing.assert_array_equal(model.n_support_, expected.n_support_)
    assert list(model.feature_names_in_) == ["east", "north"]
    swapped = write_csv(tmp_path / "swapped.csv", X[:, ::-1], y, ["north", "east"])
    np.testing.assert_array_equal(model.predict(swapped), expected.predict(X))
    assert tamis.SVC(class_weight={"maybe": 3.0, "no": 1, "yes": 1}, **OPTIONS).fit(path).class_weight_.tolist() == [3, 1, 1]


def test_regression(tmp_path, rows):
    X, _ = rows
    y = (X[:, 0] * X[:, 1]).astype(np.float64)
    path = write_csv(tmp_path / "rows.csv", X, y)
    model = tamis.SVR(**OPTIONS).fit(path)
    expected = tamis.SVR(**OPTIONS).fit(X, y)
    np.testing.assert_array_equal(model.predict(path), expected.predict(X))
    assert model.score(path) == pytest.approx(expected.score(X, y))


def test_other_columns_and_missing_values(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("color,size,label\n" + "red,1,a\nblue,,b\nred,2,a\nblue,3,b\n" * 20, encoding="utf-8")
    model = tamis.SVC(missing="impute", text_columns="one-hot", C=10).fit(path)
    assert model.score(path) == 1
    assert list(model.trained_columns_) == ["color=blue", "color=red", "size", "size missing"]


def test_what_does_not_go_with_a_path(tmp_path, rows):
    X, y = rows
    path = write_csv(tmp_path / "rows.csv", X, y)
    with pytest.raises(ValueError, match="a file holds its own labels"):
        tamis.SVC().fit(path, y)
    with pytest.raises(ValueError, match="kernel='precomputed'"):
        tamis.SVC(kernel="precomputed").fit(path)
    with pytest.raises(OSError, match="nowhere.csv"):
        tamis.SVC().fit(tmp_path / "nowhere.csv")
    with pytest.raises(NotFittedError):
        tamis.SVC().score(path)
    np.save(tmp_path / "bare.npy", X)
    with pytest.raises(ValueError, match="no labels to learn"):
        tamis.SVC().fit(tmp_path / "bare.npy")
    bad = tmp_path / "bad.csv"
    bad.write_text("1,2,0\n3,x,1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad.csv:2:3: 'x' is not a number"):
        tamis.SVC().fit(bad)
    model = tamis.SVC(**OPTIONS).fit(X, y)
    with pytest.raises(ValueError, match="wide.csv: 4 columns, but the model has 2 features"):
        model.predict(write_csv(tmp_path / "wide.csv", np.hstack([X, X]), y))
    with pytest.raises(ValueError):
        tamis.SVC().fit(X)


# Peak memory, each in a process of its own: that of the whole life of a process cannot be set back.

def peak_growth(script, *arguments):
    """MiB that the peak of resident memory rises by, from the line START to the end of the script. Pages of mapped files
    are resident too, but are not counted: anonymous memory is what a copy takes."""
    program = textwrap.dedent("""
        import resource, sys
        import numpy as np
        import tamis
        def anonymous():
            with open("/proc/self/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024
        class Peak:
            # The largest seen by a thread that looks all the time.
            def __enter__(self):
                import threading
                self.done, self.start, self.most = threading.Event(), anonymous(), 0
                self.thread = threading.Thread(target=self.watch); self.thread.start()
                return self
            def watch(self):
                while not self.done.wait(0.002):
                    self.most = max(self.most, anonymous())
            def __exit__(self, *error):
                self.done.set(); self.thread.join()
                print("GROWTH", max(self.most, anonymous()) - self.start)
    """) + textwrap.dedent(script)
    done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout.split("GROWTH")[1])


ROWS, COLUMNS = 400_000, 60  # 92 MiB of float32, 183 of float64
MIB = ROWS * COLUMNS * 4 / 2**20
MODEL = "model = tamis.SubsampleSVC(delta=0.001, gamma=0.01, n_jobs=1)\n"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "rows.npy"
    X = np.random.default_rng(1).normal(size=(ROWS, COLUMNS)).astype(np.float32)
    np.save(path, X)
    np.save(str(path).replace(".npy", ".labels.npy"), np.where(X[:, 0] > 0, 1, -1))
    return path


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/status") or bool(os.environ.get("TAMIS_SANITIZE")),
                                reason="needs /proc, and memory that is not the sanitizer's")


@needs_proc
def test_a_mapped_array_is_not_copied(large):
    growth = peak_growth(MODEL + """
        X = np.load(sys.argv[1], mmap_mode="r")
        y = np.load(sys.argv[1].replace(".npy", ".labels.npy"))
        model.fit(X[:1000], y[:1000]).predict(X[:1000])
        with Peak():
            model.fit(X, y)
            model.predict(X)
    """.replace("\n        ", "\n"), large)
    assert growth < 0.5 * MIB  # a number or two per row


@needs_proc
def test_a_frame_takes_no_float64(large):
    pytest.importorskip("pandas")
    growth = peak_growth("""
        import pandas
        from tamis._tables import narrow_table
        X = np.load(sys.argv[1], mmap_mode="r")
        frame = pandas.DataFrame({f"c{j}": X[:, j].astype(np.float64 if j % 2 else np.float32) for j in range(X.shape[1])})
        with Peak():
            narrow = narrow_table(frame)
        assert np.array_equal(narrow.to_numpy(), X) and narrow.to_numpy().base is not None
    """, large)
    assert growth < 1.25 * MIB  # the rows themselves; with float64 in between, 3


@pytest.mark.parametrize("kind", ["mixed", "nullable", "float32"])
def test_frames_are_the_arrays_they_hold(rows, kind):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    X = np.hstack([X, (X[:, :1] > 0)])
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    if kind == "mixed":
        frame["a"] = frame["a"].astype(np.float64)
        frame["c"] = frame["c"].astype(bool)
    if kind == "nullable":
        frame["c"] = frame["c"].astype("Int64")
    model = tamis.SVC(**OPTIONS).fit(frame, y)
    expected = tamis.SVC(**OPTIONS).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(frame), expected.decision_function(X))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c"]])
    holes = frame.astype("Float64").mask(frame["a"] > frame["a"].median())
    with pytest.raises(ValueError, match="NaN"):
        model.predict(holes)
    holed = tamis.SVC(missing="impute", **OPTIONS).fit(holes, y)
    by_hand = holes.to_numpy(dtype=np.float32, na_value=np.nan)
    np.testing.assert_array_equal(holed.predict(holes), tamis.SVC(missing="impute", **OPTIONS).fit(by_hand, y).predict(by_hand))


class Column:
    """As pyarrow's ChunkedArray: Debian has no pyarrow to test with."""

    chunks: list = []

    def __init__(self, values):
        self._values = values

    def slice(self, offset, length):
        return Column(self._values[offset:offset + length])

    def to_numpy(self):
        return self._values


class Table:
    def __init__(self, columns):
        self._columns = columns
        self.column_names = list(columns)
        self.num_columns = len(columns)
        self.num_rows = len(next(iter(columns.values())))

    def column(self, j):
        return Column(self._columns[self.column_names[j]])


def test_an_arrow_table_by_column(rows):
    X, y = rows
    table = Table({"a": X[:, 0].astype(np.float64), "b": X[:, 1]})
    model = tamis.SVC(**OPTIONS).fit(table, y)
    same_model_values = tamis.SVC(**OPTIONS).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(table), same_model_values.decision_function(X))


def test_a_path_object_of_ones_own(tmp_path, rows):
    class Mine(os.PathLike):
        def __fspath__(self):
            return str(tmp_path / "rows.csv")

    write_csv(tmp_path / "rows.csv", *rows)
    assert tamis.LinearSVC().fit(Mine()).score(pathlib.Path(os.fspath(Mine()))) >= 0
