"""compare, certify, report and the pictures."""
import json
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
import tamis
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import average_precision_score, roc_auc_score

matplotlib.use("Agg")

BOARD = dict(C=10, gamma=100)


@pytest.fixture(scope="module")
def board():
    return tamis.generate("checkerboard", 2000)


@pytest.fixture(scope="module")
def comparison(board):
    machines = {"whole": tamis.SVC(**BOARD), "parts": tamis.FalkSVC(k=200, **BOARD),
                "hard": tamis.OptMarginSVC(margin="hard", kernel="linear")}
    return tamis.compare(machines, *board, runs=2, test_size=0.25)


def test_a_comparison_is_plain(comparison):
    whole, parts, hard = comparison["rows"]
    assert (comparison["train_rows"], comparison["test_rows"], comparison["task"]) == (1500, 500, "classification")
    assert (whole["name"], whole["method"], parts["method"]) == ("whole", "exact", "falk")
    assert 0.03 < whole["error_rate"] < 0.2 and len(whole["errors_by_run"]) == 2
    assert whole["error_rate"] == pytest.approx(np.mean(whole["errors_by_run"])) and whole["error_rate_deviation"] > 0
    assert whole["full_support_vectors"] == 1 and whole["rows_used"] == 1500 and whole["failure"] == ""
    assert "separated" in hard["failure"] and np.isnan(hard["error_rate"]) and hard["runs"] == 0
    assert "cost 10" in whole["parameters"]


def test_a_comparison_measures_what_fit_and_score_do(board):
    X, y = board
    words = np.where(y > 0, "ja", "nein")
    machines = [tamis.SVC(class_weight={"ja": 3.0}, **BOARD), tamis.SVC(class_weight="balanced", **BOARD), tamis.LinearSVC(C=2)]
    weights = 1.0 + np.arange(1200) % 2
    result = tamis.compare(machines, X[:1200], words[:1200], X_test=X[1200:], y_test=words[1200:], sample_weight=weights)
    for machine, row in zip(machines, result["rows"]):
        machine.fit(X[:1200], words[:1200], sample_weight=weights)
        assert row["error_rate"] == pytest.approx(1 - machine.score(X[1200:], words[1200:]))
    assert result["classes"] == ["ja", "nein"] or result["classes"] == ["nein", "ja"]


def test_regressions_are_compared_by_squared_error():
    X, y = load_diabetes(return_X_y=True)
    machines = [tamis.SVR(C=100, scale="standard"), tamis.LinearSVR(C=10, scale="standard")]
    frame = tamis.compare(machines, X[:300], y[:300], X_test=X[300:], y_test=y[300:], as_frame=True)
    assert frame.index.tolist() == ["exact", "linear"]
    for machine, mse in zip(machines, frame["mse"]):
        assert mse == pytest.approx(np.mean((machine.fit(X[:300], y[:300]).predict(X[300:]) - y[300:]) ** 2))


def test_what_cannot_be_compared(board):
    X, y = board
    with pytest.raises(ValueError, match="at least one"):
        tamis.compare([], X, y)
    with pytest.raises(ValueError, match="task"):
        tamis.compare([tamis.SVC(), tamis.SVR()], X, y)
    with pytest.raises(ValueError, match="needs features"):
        tamis.compare([tamis.SVC(kernel="precomputed")], X, y)
    with pytest.raises(ValueError, match="both or none"):
        tamis.compare([tamis.SVC()], X, y, X_test=X)
    with pytest.raises(ValueError, match="C=-1"):
        tamis.compare([tamis.SVC(C=-1)], X, y)
    with pytest.raises(ValueError, match="3 features"):
        tamis.compare([tamis.SVC()], X, y, X_test=np.ones((4, 3)), y_test=y[:4])


def test_certificates():
    X, y = load_iris(return_X_y=True)
    weights = 1.0 + np.arange(150) % 3
    machine = tamis.SVC(C=3, class_weight={1: 2.0}).fit(X, y, sample_weight=weights)
    certificate = tamis.certify(machine, X, y, sample_weight=weights)
    assert certificate["certified"] and certificate["gap"] >= 0 and certificate["tol"] == 1e-3
    assert [part["name"] for part in certificate["binary_svms"]] == ["0/1", "0/2", "1/2"]
    assert certificate["dual"] == pytest.approx(-machine.report_["objective"], rel=1e-3)
    assert not tamis.certify(machine, X, y)["certified"]  # other weights, another problem
    assert not tamis.certify(machine, X, y, sample_weight=weights, C=4)["certified"]
    frame = tamis.certify(machine, X, y, sample_weight=weights, as_frame=True)
    assert frame["certified"].all() and frame.index.tolist() == ["0/1", "0/2", "1/2"]


def test_certificates_of_regressions_and_of_loaded_machines(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    machine = tamis.SVR(C=10, epsilon=5).fit(X, y)
    assert tamis.certify(machine, X, y)["certified"] and not tamis.certify(machine, X, y, epsilon=4)["certified"]
    machine.save(tmp_path / "m.model")
    loaded = tamis.SVR.load(tmp_path / "m.model")
    assert tamis.certify(loaded, X, y, C=10, epsilon=5)["certified"]


def test_what_cannot_be_certified(board):
    X, y = board
    with pytest.raises(ValueError, match="nothing to certify"):
        tamis.certify(tamis.LinearSVC().fit(X, y), X, y)
    with pytest.raises(ValueError, match="y has the classes"):
        tamis.certify(tamis.SVC().fit(X, y), X, np.where(y > 0, 2, -1))


def test_a_picture_of_regions(board):
    X, y = board
    machine = tamis.SVC(**BOARD).fit(X, y)
    ax = tamis.plot.decision_regions(machine, X, y, resolution=40)
    mesh = ax.collections[0]
    assert mesh.get_array().size == 1600 and set(np.unique(mesh.get_array())) == {0, 1}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["-1.0", "1.0"]
    shown = [len(dots.get_offsets()) for dots in ax.collections[1:]]
    assert shown == [np.sum(y < 0), np.sum(y > 0)]
    assert tamis.plot.decision_regions(machine, ax=ax) is ax
    with pytest.raises(ValueError, match="two features"):
        tamis.plot.decision_regions(machine, np.ones((4, 3)))


def test_a_picture_of_errors(comparison, board):
    ax = tamis.plot.error_against_time(comparison)
    assert [text.get_text() for text in ax.texts] == ["whole", "parts"]  # what failed has no figures
    frame = tamis.compare([tamis.SVC(**BOARD)], *board, as_frame=True)
    assert [text.get_text() for text in tamis.plot.error_against_time(frame).texts] == ["exact"]


def test_neither_matplotlib_nor_pandas_is_needed_to_begin_with():
    # scikit-learn 1.9 imports pandas where it is installed.
    script = ("import sys, scipy.sparse, sklearn.base, sklearn.utils.metaestimators; before = set(sys.modules); import tamis; "
              "assert not {'matplotlib', 'pandas'} & (set(sys.modules) - before), 'imported'")
    subprocess.run([sys.executable, "-c", script], check=True)


def shown_data(path):
    """What the page was given to draw."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.DOTALL).group(1))


def test_files_are_refused(board, tmp_path):
    X, y = board
    model = tamis.SVC(**BOARD).fit(X[:200], y[:200])
    path = tmp_path / "rows.csv"
    path.write_text("".join(f"{label:g},{a},{b}\n" for (a, b), label in zip(X[:50], y[:50])))
    for call in (lambda: tamis.report(model, path, y[:50], tmp_path / "no.html"), lambda: tamis.certify(model, str(path), y[:50]),
                 lambda: tamis.compare([model], X, y, X_test=path, y_test=y[:50]), lambda: tamis.compare([model], path, y)):
        with pytest.raises(ValueError, match="give arrays"):
            call()


def test_the_report_of_a_classifier(tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "<b>", "virginica"])[y]
    model = tamis.SVC(probability=True).fit(X[::2], names[::2])
    tamis.report(model, X[1::2], names[1::2], tmp_path / "iris.html", title="Iris")
    page = shown_data(tmp_path / "iris.html")
    labels = [one["label"] for one in page["classes"]]
    assert sorted(labels) == sorted(set(names))
    found = model.predict(X[1::2])
    counts = [[int(np.sum((names[1::2] == a) & (found == b))) for b in labels] for a in labels]
    assert page["matrix"] == counts
    assert page["has_probabilities"] and len(page["curves"]) == 3
    assert "<title>Iris</title>" in (tmp_path / "iris.html").read_text()
    with pytest.raises(ValueError, match="class 'rose'"):
        tamis.report(model, X, np.full(len(X), "rose"), tmp_path / "no.html")
    assert not (tmp_path / "no.html").exists()


def test_areas_are_those_of_scikit_learn(board, tmp_path):
    X, y = board
    model = tamis.SVC(**BOARD).fit(X[:1000], y[:1000])
    tamis.report(model, X[1000:], y[1000:], tmp_path / "board.html")
    curves, = shown_data(tmp_path / "board.html")["curves"]
    values = model.decision_function(X[1000:])
    assert curves["roc_area"] == pytest.approx(roc_auc_score(y[1000:], values), abs=1e-12)
    assert curves["average_precision"] == pytest.approx(average_precision_score(y[1000:], values), abs=1e-12)


def test_the_report_of_a_regression(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    tamis.report(tamis.SVR(C=100).fit(X[:300], y[:300]), X[300:], y[300:], tmp_path / "diabetes.html")
    page = shown_data(tmp_path / "diabetes.html")
    assert page["regression"] and sum(page["residuals"]["histogram"]) == len(y) - 300
