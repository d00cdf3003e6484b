"""The NumPy reader that docs/model_format.md shows, run on the stored models: what it predicts is what the program predicts.

The Python blocks of the document are run as they stand. Only `knn-svm`, which trains when it predicts, needs more: a
small solver of the problem that the document states.
"""
import hashlib
import itertools
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parent.parent / "docs" / "model_format.md"
KINDS = {"kernel-expansion", "linear", "weighted-ensemble", "local-models", "knn", "knn-svm"}
PROGRAM = os.environ["TAMIS"]


def documented_reader():
    reader = {}
    blocks = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    exec(compile("\n".join(blocks), DOCUMENT, "exec"), reader)
    return reader


READER = documented_reader()


def is_native(path):
    return not path.read_bytes().startswith(b"svm_type")


def models():
    return [path for path in sorted((HERE / "golden").glob("*/*.model")) if is_native(path)]


def index_base(model):
    return 0 if "precomputed" in model.name else 1


def rows_of(model):
    return next(model.parent.glob(model.stem + ".rows.*"))


def read_rows(model):
    path = rows_of(model)
    lines = path.read_text().splitlines()
    if "table" in model.name:
        def cell(text, is_text):
            return None if text in ("", "NA") else text if is_text else np.float32(text)
        return [[cell(text, "numbers" not in model.name and j in (0, 3)) for j, text in enumerate(line.split(",")[1:])] for line in lines[1:]]
    if path.suffix == ".csv":
        return np.array([line.split(",")[1:] for line in lines[1:]], np.float32)
    rows = [[pair.split(":") for pair in line.split()[1:]] for line in lines]
    base = index_base(model)
    columns = max(int(index) for row in rows for index, _ in row) - base + 1
    values = np.zeros((len(rows), columns), np.float32)
    for i, row in enumerate(rows):
        for index, value in row:
            values[i, int(index) - base] = value
    return values


def read_table(text):
    """The labels and the numbers of a table as `tamis predict` prints it."""
    lines = [line.split("\t") for line in text.splitlines()[1:]]
    return [line[0] for line in lines], np.array([line[1:] for line in lines], float)


def program_predicts(model, what, rows):
    done = subprocess.run([PROGRAM, "predict", model, rows, "-q", what, "--index-base", str(index_base(model))],
                          check=True, capture_output=True, text=True, encoding="utf-8")
    return read_table(done.stdout)


def solve(kernel, targets, cost, squared_slacks, tube):
    """Coefficients and intercept of the problem of knn-svm: pair updates, the most violating pair first.

    A coefficient is split into b = (its part above 0) - (its part below 0), so that |b| becomes linear.
    """
    n = len(targets)
    is_class = tube is None
    sign = np.repeat([1.0, -1.0], n)
    row = np.tile(np.arange(n), 2)
    upper = np.full(2 * n, np.inf) if squared_slacks else np.tile(cost, 2)
    if is_class:
        upper[sign != targets[row]] = 0
    slope = (0.0 if is_class else tube) - sign * targets[row]
    q = kernel + np.diag(1 / (2 * cost)) if squared_slacks else kernel
    a = np.zeros(2 * n)
    for _ in range(100000):
        beta = a[:n] - a[n:]
        score = -sign * (slope + sign * (q @ beta)[row])
        can_rise = np.where(sign > 0, a < upper, a > 0)
        can_fall = np.where(sign > 0, a > 0, a < upper)
        i = np.argmax(np.where(can_rise, score, -np.inf))
        j = np.argmin(np.where(can_fall, score, np.inf))
        if score[i] - score[j] < 1e-10:
            break
        curvature = max(q[row[i], row[i]] + q[row[j], row[j]] - 2 * q[row[i], row[j]], 1e-12)
        step = min((score[i] - score[j]) / curvature, upper[i] - a[i] if sign[i] > 0 else a[i],
                   a[j] if sign[j] > 0 else upper[j] - a[j])
        a[i] += sign[i] * step
        a[j] -= sign[j] * step
    is_free = (a > 1e-12) & (a < upper - 1e-12)
    return beta, score[is_free].mean() if is_free.any() else (score[i] + score[j]) / 2


def knn_svm(meta, arrays, x):
    kernel, training = json.loads(meta["kernel"]), json.loads(meta["training"])
    num_classes = int(meta["num_classes"])
    rows = READER["matrix"](meta, arrays, "rows")
    near = READER["nearest_first"](kernel, rows, x)[:, :int(meta["k"])]
    return np.array([train_and_decide(kernel, training, num_classes, rows, arrays, own, row)
                     for own, row in zip(near, x)])


def train_and_decide(kernel, training, num_classes, rows, arrays, own, row):
    def decide(used, targets, tube):
        gram = READER["kernel_values"](kernel, rows[used], rows[used])
        beta, intercept = solve(gram, targets, arrays["cost"][used], training["squared_slacks"], tube)
        return beta @ READER["kernel_values"](kernel, rows[used], row[None])[:, 0] + intercept

    if num_classes == 0:
        return [decide(own, arrays["targets"][own], training["tube"])]
    codes = arrays["codes"][own]
    pairs = list(itertools.combinations(sorted(set(codes)), 2))
    values = READER["without_svms"](codes[0] if not pairs else -1, pairs, num_classes)
    for i, j in pairs:
        used = own[(codes == i) | (codes == j)]
        column = READER["pair_column"](i, j, num_classes)
        values[column] = decide(used, np.where(arrays["codes"][used] == i, 1.0, -1.0), None)
    return values


def text_of(label):
    return label if isinstance(label, str) else f"{label:g}"


def tolerance(kind, values):
    """A few units in the last place of float32; knn-svm solves to 1e-6 only."""
    return 1e-4 if kind == "knn-svm" else 32 * 2**-23 * max(1, np.abs(values).max(initial=0))


class NumpyReaderTest(unittest.TestCase):
    def read_values(self, model):
        meta, arrays = READER["read_model"](model)
        decide = dict(READER["KINDS"], **{"knn-svm": knn_svm})[meta["kind"]]
        return meta, arrays, decide(meta, arrays, READER["prepare"](meta, arrays, read_rows(model)))

    def compare(self, meta, arrays, values, predicted):
        names, expected = predicted
        self.assertEqual(values.shape, expected.shape)
        np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance(meta["kind"], expected))
        if meta["task"] == "classification":
            self.assertEqual([text_of(label) for label in READER["labels"](meta, arrays, values)], names)

    def test_every_kind_is_stored(self):
        self.assertEqual({READER["read_model"](model)[0]["kind"] for model in models()}, KINDS)

    def test_reads_every_stored_model(self):
        for model in models():
            with self.subTest(model=model.name):
                meta, arrays, values = self.read_values(model)
                self.compare(meta, arrays, values, read_table((model.with_suffix(".expected.tsv")).read_text()))
                self.compare(meta, arrays, values, program_predicts(model, "--decision-values", rows_of(model)))

    def test_probabilities(self):
        stored = [path.with_suffix("").with_suffix(".model") for path in HERE.glob("golden/*/*.probabilities.tsv")]
        seen = set()
        for model in filter(is_native, stored):
            with self.subTest(model=model.name):
                meta, arrays, values = self.read_values(model)
                seen.add((meta["calibration"], READER["decision_of"](meta)))
                found = READER["probabilities"](meta, arrays, values)
                for table in (read_table(model.with_suffix(".probabilities.tsv").read_text()),
                              program_predicts(model, "--probabilities", rows_of(model))):
                    np.testing.assert_allclose(found, table[1], rtol=0, atol=1e-5)
        self.assertEqual(seen, {("sigmoid", "single"), ("sigmoid", "one-vs-one"), ("sigmoid", "one-vs-rest"),
                                ("isotonic", "one-vs-one"), ("isotonic", "one-vs-rest")})

    def test_lower_end_of_a_minmax_range(self):
        """No option of the program sets it, so the header of a stored model is edited."""
        model = HERE / "golden" / "0.1.0" / "kernel-expansion-one-vs-one.model"
        content = model.read_bytes().replace(b'"scaling_lower":"0"', b'"scaling_lower":"7"')
        with tempfile.TemporaryDirectory() as folder:
            edited = pathlib.Path(folder) / model.name
            edited.write_bytes(content)
            meta, arrays = READER["read_model"](edited)
            names, values = READER["predict"](edited, read_rows(model))
            self.assertNotEqual(names, READER["predict"](model, read_rows(model))[0])
            self.compare(meta, arrays, values, program_predicts(edited, "--decision-values", rows_of(model)))

    def test_refuses_what_it_does_not_know(self):
        model = HERE / "golden" / "0.1.0" / "linear.model"
        content = model.read_bytes()
        for known, other, message in ((b'"format_version":"1"', b'"format_version":"3"', "format version 3"),
                                      (b'"kind":"linear"', b'"kind":"kitten"', "unknown kind kitten"),
                                      (b'"format":"tamis"', b'"format":"other"', "not a model")):
            with tempfile.TemporaryDirectory() as folder:
                edited = pathlib.Path(folder) / "edited.model"
                edited.write_bytes(content.replace(known, other))
                with self.assertRaisesRegex(ValueError, message):
                    READER["predict"](edited, read_rows(model))

    def test_stored_files_never_change(self):
        for sums in (HERE / "golden").glob("*/SHA256SUMS"):
            wanted = dict(reversed(line.split("  ")) for line in sums.read_text().splitlines())
            found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                     for path in sums.parent.iterdir() if path.name != "SHA256SUMS"}
            self.assertEqual(found, wanted, f"{sums.parent.name}: stored files never change")


if __name__ == "__main__":
    unittest.main()
