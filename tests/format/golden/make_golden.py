#!/usr/bin/env python3
"""Writes the model files of a release, with the rows to predict and what the program predicts for them.

    make_golden.py PROGRAM FOLDER [NAME..]

With names: only these, for what is new in a release. Run once, with the program of a release, into a new folder named after its version. Never run it again to replace a
folder: the files show that models written by that release still load. The script refuses a folder that exists.
"""
import hashlib
import math
import os
import pathlib
import random
import subprocess
import sys

CLASSES = {"two": ["1", "-1"], "three": ["3", "1", "2"], "words": ["blå", "red wine", "green"]}
CENTERS = [(0.0, 0.0, 0.0), (1.6, 0.4, -0.5), (0.3, 1.7, 0.8)]


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def points(seed, rows, kind):
    """(label, [x1, x2, x3]) of overlapping classes, or of a smooth function."""
    draw = random.Random(seed)
    found = []
    for i in range(rows):
        if kind == "curve":
            x = [draw.uniform(-2, 2) for _ in range(3)]
            label = number(math.sin(1.5 * x[0]) + 0.5 * x[1] + draw.gauss(0, 0.1))
        else:
            c = i % len(CLASSES[kind])
            x = [draw.gauss(center, 0.6) * scale for center, scale in zip(CENTERS[c], (1, 10, 0.1))]
            label = CLASSES[kind][c]
        found.append((label, x))
    return found


def sparse_points(seed, rows):
    """Two classes, 40 columns, most of them zero."""
    draw = random.Random(seed)
    found = []
    for i in range(rows):
        x = [0.0] * 40
        for _ in range(5):
            x[draw.randrange(0, 40, 2) + i % 2 * draw.randrange(2)] = draw.uniform(0.2, 2)
        found.append((["1", "-1"][i % 2], x))
    return found


def as_svmlight(rows):
    lines = (" ".join([label] + [f"{j}:{number(v)}" for j, v in enumerate(x, 1) if number(v) not in ("0", "-0")])
             for label, x in rows)
    return "".join(line + "\n" for line in lines)


def as_csv(rows, weights=None):
    text = "label" + "".join(f",x{j}" for j in range(len(rows[0][1]))) + (",w" if weights else "") + "\n"
    for i, (label, x) in enumerate(rows):
        text += ",".join([label, *map(number, x)] + ([str(weights[i])] if weights else [])) + "\n"
    return text


def as_kernel_matrix(rows, known):
    """Rows of LIBSVM's precomputed kernel: the number of the row, then its inner products with the known rows."""
    def line(serial, label, x):
        products = [sum(float(number(a)) * float(number(b)) for a, b in zip(x, z)) for _, z in known]
        return " ".join([label, f"0:{serial}"] + [f"{j}:{p:.4f}" for j, p in enumerate(products, 1)]) + "\n"
    return "".join(line(serial, label, x) for serial, (label, x) in enumerate(rows, 1))


# name: (data, options of `tamis train`), or in place of the options "svm-train" (LIBSVM's own model) or "libsvm"
# (the same, converted to the native format).
CASES = {
    "kernel-expansion": ("two", "-g 0.5 -c 2"),
    "kernel-expansion-one-class": ("one", "libsvm"),
    "kernel-expansion-one-vs-one": ("words", "-g 0.5 -c 2 --scale minmax"),
    "kernel-expansion-one-vs-rest": ("three", "-t polynomial -d 2 -r 1 -g 0.3 --multiclass one-vs-rest "
                                              "--scale standard"),
    "kernel-expansion-linear-sparse": ("sparse", "-t linear -c 5 --scale maxabs"),
    "kernel-expansion-rbf-sparse": ("sparse", "-g 0.2 -c 5"),
    "kernel-expansion-sigmoid": ("two", "-t sigmoid -g 0.2 -r -0.5 --scale standard"),
    "kernel-expansion-laplacian": ("three", "-t laplacian -g 0.5 -c 2 --scale standard"),
    "kernel-expansion-laplacian-sparse": ("sparse", "-t laplacian -g 0.2 -c 5"),
    "local-models-laplacian": ("two", "--method falk --k 12 --k-prime 6 -t laplacian -g 0.5 --scale standard"),
    "kernel-expansion-table": ("table", "-g 0.3 -c 2 --missing impute --text-columns one-hot --max-categories 3 "
                                        "--scale standard"),
    "kernel-expansion-table-text": ("full-table", "-t laplacian -g 0.3 --text-columns one-hot"),
    "linear-table-numbers": ("number-table", "--method linear --bias 1 --missing impute --probability-folds 3"),
    "kernel-expansion-robust": ("two", "-g 0.5 --scale robust"),
    "kernel-expansion-quantile": ("three", "-g 0.5 --scale quantile"),
    "kernel-expansion-quantile-sparse": ("sparse", "-g 0.2 -c 5 --scale quantile"),
    "kernel-expansion-weighted": ("product", "-g 0.5 -c 4 --metric-rounds 2"),
    "kernel-expansion-quantile-weighted": ("product", "-g 0.5 -c 4 --scale quantile --metric-rounds 2"),
    "kernel-expansion-mixed": ("product", "-g 0.5 -c 4 --metric-rounds 2 --metric full"),
    "kernel-expansion-quantile-mixed": ("product", "-g 0.5 -c 4 --scale quantile --metric-rounds 2 --metric full"),
    "kernel-expansion-precomputed": ("precomputed", "-t precomputed"),
    "kernel-expansion-regression": ("curve", "--task regression -g 0.5 -c 3 -p 0.2"),
    "kernel-expansion-from-libsvm": ("wider", "libsvm"),
    "linear": ("two", "--method linear --bias 1 --scale standard --probability-folds 3"),
    "linear-one-vs-one": ("words", "--method linear --bias free --scale minmax --probability-folds 3 "
                                   "--calibration isotonic"),
    "linear-one-vs-one-sigmoid": ("three", "--method linear --bias 1 --scale maxabs --probability-folds 3"),
    "linear-one-vs-rest": ("three", "--method linear --bias 1 --scale standard --multiclass one-vs-rest "
                                    "--probability-folds 3 --calibration isotonic"),
    "linear-regression": ("curve", "--method linear --bias 1 --task regression"),
    "linear-sparse": ("sparse", "--method linear"),
    "weighted-ensemble": ("two", "--method random-subset --members 4 --subset-rows 12 -g 0.5 --scale standard"),
    "weighted-ensemble-one-vs-one": ("words", "--method random-subset --members 2 --subset-rows 9 -g 0.5 "
                                              "--scale maxabs --combine average"),
    "weighted-ensemble-kernels-sigmoids": ("words", "--method random-subset --members 4 --subset-rows 12 -g 0.5 "
                                           "--scale standard --mixed-kernels --member-value probability"),
    "weighted-ensemble-one-vs-rest-sparse": ("sparse-three", "--method random-subset --members 2 --subset-rows 8 "
                                                             "-g 0.2 --multiclass one-vs-rest"),
    "local-models": ("two", "--method falk --k 7 --k-prime 3 -g 0.5 -c 2 --scale standard"),
    "local-models-three-classes": ("words", "--method falk --k 9 --k-prime 3 -g 0.5 --scale standard "
                                            "--probability-folds 3"),
    "local-models-centers": ("three", "--method falk-c --k 12 --k-prime 3 -g 0.5 -c 2 --scale minmax"),
    "local-models-centers-sparse": ("sparse", "--method falk-c --k 12 --k-prime 6 -g 0.2 -c 5"),
    "local-models-gammas": ("two", "--method falk-l --k-grid 10 --cost-grid 1,4 --percentiles 10,50 "
                                   "--selection-folds 2 --selection-centres 2 --scale standard"),
    "local-models-polynomial": ("two", "--method falk --k 12 --k-prime 6 -t polynomial -d 2 -r 1 -g 0.5 "
                                       "--scale standard"),
    "local-models-regression": ("curve", "--method falk --task regression --k 12 --k-prime 6 -g 0.5 -c 3"),
    "knn": ("two", "--method knn --k 5 --scale standard"),
    "knn-three-classes": ("weighted", "--method knn --k 6 --scale minmax --weight w --probability-folds 3"),
    "knn-regression": ("curve", "--method knn --k 4 --task regression"),
    "knn-sigmoid": ("two", "--method knn --k 5 --scale standard -t sigmoid -g 0.3 -r 0.1"),
    "knn-svm": ("two", "--method knn-svm --k 11 -g 0.5 -c 2 -e 1e-6 --scale standard"),
    "knn-svm-three-classes": ("words", "--method knn-svm --k 9 -g 0.5 -e 1e-6 --loss l2 --scale standard"),
    "knn-svm-regression": ("curve", "--method knn-svm --k 10 --task regression -g 0.5 -c 3 -e 1e-6"),
    "libsvm": ("wider", "-g 0.5 -c 2 --model-format libsvm"),
    "libsvm-svm-train": ("wider", "svm-train"),
}


def table(seed, rows, has_text, has_missing):
    """Rows of a color, a size, a weight and a kind; the rows to predict have a color that no training row has."""
    draw = random.Random(seed)
    text = "label,color,size,weight,kind\n" if has_text else "label,size,weight\n"
    colors = ["blå", "red wine", "green"] if seed % 2 else ["blå", "red wine", "white"]
    for i in range(rows):
        size, weight, color = draw.gauss(0, 1), draw.gauss(5, 2), draw.choice(colors)
        label = "yes" if (color == "blå") == (size > 0) else "no"
        numbers = ["" if has_missing and i % 5 == 1 else number(size), "NA" if has_missing and i % 7 == 2 else number(weight)]
        words = ["" if has_missing and i % 6 == 0 else color, draw.choice("aabbcde")]
        text += ",".join([label, words[0], *numbers, words[1]] if has_text else [label, *numbers]) + "\n"
    return text


def data_of(kind):
    """The training rows and the rows to predict as texts, and the ending of their names."""
    if kind == "precomputed":
        known = points(1, 24, "two")
        return as_kernel_matrix(known, known), as_kernel_matrix(points(2, 8, "two"), known), ".svm"
    if kind == "sparse":
        return as_svmlight(sparse_points(3, 30)), as_svmlight(sparse_points(20, 10)), ".svm"
    if kind == "sparse-three":
        def third(rows):
            return [("0", x) if sum(v > 0 for v in x[:20]) > 3 else (label, x) for label, x in rows]
        return as_svmlight(third(sparse_points(5, 45))), as_svmlight(third(sparse_points(6, 10))), ".svm"
    if kind == "one":
        def same(rows):
            return [("7", x) for _, x in rows]
        return as_svmlight(same(points(7, 5, "two"))), as_svmlight(same(points(8, 3, "two"))), ".svm"
    if kind == "wider":  # the rows to predict have a column that no training row has
        def widened(rows):
            return [(label, [*x, 0.0, 0.5 if i % 2 == 0 else 0.0]) for i, (label, x) in enumerate(rows)]
        return as_svmlight(points(13, 40, "three")), as_svmlight(widened(points(14, 10, "three"))), ".svm"
    if kind.endswith("table"):
        kinds = {"has_text": kind != "number-table", "has_missing": kind != "full-table"}
        return table(17, 50, **kinds), table(18, 12, **kinds), ".csv"
    if kind == "words":
        return as_csv(points(9, 45, "words")), as_csv(points(10, 10, "words")), ".csv"
    if kind == "product":  # the second column is of no use: feature weights find out
        def product(rows):
            return [("1" if x[0] * x[2] > 0 else "-1", x) for _, x in rows]
        return as_svmlight(product(points(15, 160, "curve"))), as_svmlight(product(points(16, 10, "curve"))), ".svm"
    if kind == "weighted":
        rows = points(11, 45, "three")
        weights = [(1, 2, 0.5)[i % 3] for i in range(45)]
        return as_csv(rows, weights), as_svmlight(points(12, 10, "three")), ".svm"
    return as_svmlight(points(13, 40, kind)), as_svmlight(points(14, 10, kind)), ".svm"


def make(tamis, folder, name, kind, options):
    def run(*command):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, LC_ALL="C"))
    train_text, rows_text, ending = data_of(kind)
    rows = folder / f"{name}.rows{ending}"
    rows.write_text(rows_text)
    model = folder / f"{name}.model"
    train = folder / ("train.csv" if train_text.startswith("label,") else "train.svm")
    train.write_text(train_text)
    base = ["--index-base", "0"] if kind == "precomputed" else []
    if options in ("svm-train", "libsvm"):
        text = model if options == "svm-train" else folder / "train.text"
        run("svm-train", "-q", "-g", "0.5", "-c", "2", "-b", "1", train, text)
        if options == "libsvm":
            run(tamis, "convert", text, "--to", "native", "-o", model, "-q")
            text.unlink()
    else:
        run(tamis, "train", train, "-o", model, "-q", *base, *options.split())
    train.unlink()
    predict = [tamis, "predict", model, rows, "-q", *base]
    run(*predict, "--decision-values", "-o", folder / f"{name}.expected.tsv")
    if b"calibration" in model.read_bytes() or b"probA" in model.read_bytes():
        run(*predict, "--probabilities", "-o", folder / f"{name}.probabilities.tsv")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tamis, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    folder.mkdir()  # fails if it is there: stored files are never replaced
    for name in sys.argv[3:] or CASES:
        kind, options = CASES[name]
        make(tamis, folder, name, kind, options)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()
