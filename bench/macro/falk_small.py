"""Table 2 of the FaLK-SVM paper (Experiment 1): three methods with three kernels on 25 small data sets, by cross-validation, the
parameters chosen by another cross-validation inside each training part. Standard library only."""
import dataclasses
import json
import math
import os
import random
import shutil

import falk_common as common
import measure
import problems
import ranks

METHODS = ["exact", "knn-svm", "falk"]  # LibSVM, FkNNSVM, FaLK-SVM
KERNELS = ["linear", "rbf", "polynomial"]
COLUMNS = [(method, kernel) for method in METHODS for kernel in KERNELS]
TITLES = ["data", "rows", *(f"{method} {kernel}" for method, kernel in COLUMNS)]
SEED = 1
NEMENYI_9 = 3.102  # studentized range over sqrt(2) for nine methods at 0.05 (Demsar, Table 5)


@dataclasses.dataclass(frozen=True)
class Set:
    name: str  # as the paper's Table 1 has it
    source: str
    rows: int  # drawn at random where the source has more
    positive: str = ""  # label that is class +1; empty: the labels are +1 and -1
    share: float = 0  # of class +1 in the draw; 0: as it comes


SETS = [
    Set("sonar", "sonar", 208), Set("heart", "heart", 270), Set("mushrooms", "mushrooms", 300), Set("haberman", "haberman", 306),
    Set("liver", "liver-disorders", 345), Set("ionosphere", "ionosphere", 351), Set("vote", "vote", 435), Set("musk1", "musk1", 476),
    Set("hill-valley", "hill-valley", 606), Set("breast", "breast-w", 683), Set("australian", "australian", 690),
    Set("transfusion", "transfusion", 748), Set("diabetes", "diabetes", 768), Set("fourclass", "fourclass", 862),
    Set("tic-tac-toe", "tic-tac-toe", 958), Set("mam", "mammographic", 961), Set("numer", "german.numer", 1000),
    Set("splice", "splice", 1000), Set("spambase", "spambase", 1000), Set("vehicle", "svmguide3", 1243),
    Set("cmc", "cmc", 1473, "1"), Set("ijcnn1", "ijcnn1", 1500, share=0.32), Set("a1a", "a1a", 1605), Set("chess", "kr-vs-kp", 2130),
    Set("astro", "svmguide1", 3089),
]
# Accuracies in the order of COLUMNS.
PAPER = {
    "sonar": (74.52, 87.83, 83.16, 89.36, 86.90, 87.40, 84.55, 87.88, 84.05),
    "heart": (84.81, 82.22, 84.81, 84.81, 81.11, 84.81, 83.70, 81.85, 83.70),
    "mushrooms": (97.99, 98.33, 98.32, 98.67, 98.33, 98.6, 99.00, 99.00, 99.00),
    "haberman": (73.20, 73.20, 72.89, 75.82, 75.16, 74.18, 73.25, 73.20, 73.87),
    "liver": (68.71, 74.24, 71.90, 73.64, 73.96, 73.94, 70.73, 71.92, 71.92),
    "ionosphere": (88.04, 93.72, 88.88, 93.75, 94.59, 93.75, 86.91, 94.01, 89.18),
    "vote": (94.95, 96.32, 94.95, 96.32, 96.33, 96.32, 94.94, 96.32, 94.94),
    "musk1": (86.55, 94.54, 93.07, 89.44, 94.96, 91.17, 87.18, 93.90, 92.43),
    "hill-valley": (63.70, 66.00, 63.70, 64.86, 65.18, 64.86, 65.17, 64.03, 65.00),
    "breast": (96.78, 96.78, 96.78, 96.49, 96.49, 96.35, 96.19, 96.49, 96.19),
    "australian": (85.50, 84.78, 84.20, 84.78, 85.50, 84.92, 85.07, 85.07, 84.78),
    "transfusion": (76.21, 77.40, 76.47, 79.81, 78.74, 79.81, 79.67, 78.87, 79.94),
    "diabetes": (76.54, 76.54, 76.68, 76.81, 78.24, 77.07, 75.90, 76.68, 75.12),
    "fourclass": (77.39, 100.00, 78.66, 100.00, 100.00, 100.00, 100.00, 100.00, 100.00),
    "tic-tac-toe": (98.33, 99.68, 100.00, 100.00, 100.00, 100.00, 100.00, 100.00, 100.00),
    "mam": (82.10, 82.63, 81.27, 82.95, 82.73, 82.85, 81.80, 82.63, 80.97),
    "numer": (77.00, 75.90, 76.50, 76.30, 75.70, 76.00, 76.70, 74.70, 75.90),
    "splice": (80.41, 86.70, 86.60, 80.41, 86.30, 86.60, 78.30, 86.20, 86.60),
    "spambase": (89.80, 90.60, 89.80, 90.60, 90.50, 90.60, 90.70, 90.60, 90.70),
    "vehicle": (82.71, 84.16, 84.80, 82.78, 84.64, 84.71, 83.27, 84.72, 85.04),
    "cmc": (59.26, 65.45, 64.16, 62.46, 67.72, 63.61, 63.61, 65.31, 64.36),
    "ijcnn1": (85.53, 93.94, 92.73, 93.93, 93.47, 93.60, 92.80, 94.47, 93.20),
    "a1a": (83.43, 81.94, 83.43, 82.87, 82.06, 82.87, 82.87, 82.06, 82.87),
    "chess": (96.57, 98.45, 98.03, 97.84, 98.50, 98.08, 97.32, 98.45, 98.08),
    "astro": (95.34, 96.73, 96.89, 96.96, 96.92, 97.05, 96.96, 96.67, 96.86),
}


# --- data ----------------------------------------------------------------------------------------------------------------


def is_positive(one, line):
    label = line.split()[0]
    return label == one.positive if one.positive else float(label) > 0


def draw(one, lines):
    """The rows of the paper's number, labels +1 and -1."""
    lines = problems.shuffled([("+1 " if is_positive(one, line) else "-1 ") + line.strip().partition(" ")[2] + "\n" for line in lines])
    if not one.share:
        return lines[:one.rows]
    positive = round(one.share * one.rows)
    return problems.shuffled([line for line in lines if line[0] == "+"][:positive]
                             + [line for line in lines if line[0] == "-"][:one.rows - positive])


def fold_lines(lines, folds):
    """Fold by fold, the rows of each class dealt in turn."""
    rows = sorted(lines, key=lambda line: line[0])
    return [rows[f::folds] for f in range(folds)]


def prepare(one, options):
    """Training and test file of each fold; None when the data are missing."""
    folder = options.work / "data" / f"falk-small-{one.name}-{options.folds}"
    if not folder.exists():
        try:
            sources = problems.find_sources(problems.Problem(one.name, one.source, (), 0, ""), options.data)
        except problems.Missing as missing:
            print(f"{one.name}: skipped, {missing}", flush=True)
            return None
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        problems.write_lines(partial / "all.raw", draw(one, problems.lines_of(sources[0])))
        measure.run([options.tamis, "scale", partial / "all.raw", "--method", "minmax", "-o", partial / "all.svm", "--quiet"])
        parts = fold_lines((partial / "all.svm").read_text().splitlines(keepends=True), options.folds)
        for f, part in enumerate(parts):
            problems.write_lines(partial / f"{f}.test.svm", part)
            rest = [line for g, other in enumerate(parts) if g != f for line in other]
            random.Random(SEED).shuffle(rest)
            problems.write_lines(partial / f"{f}.train.svm", rest)
        partial.rename(folder)
    return [(folder / f"{f}.train.svm", folder / f"{f}.test.svm") for f in range(options.folds)]


# --- measuring -----------------------------------------------------------------------------------------------------------


def grids(method, kernel, rows, options):
    """The paper's: C, sigma = 1 / gamma, the degree, and k."""
    step = options.search_step
    words = ["--kernel", kernel, *common.grid("cost", common.powers(-2, 10, step))]
    if kernel == "rbf":
        words += common.grid("gamma", common.powers(-3, 5, step))
    if kernel == "polynomial":
        words += ["--gamma", "1", "--coef0", "0", *common.grid("degree", [1, 2, 3])]
    if method != "exact":
        values = [k for k in common.powers(1, 10, step) if k < rows]
        words += common.grid("k", [k for k in values if k <= options.largest_k] if method == "knn-svm" else [*values, rows])
    return words


def count_lines(path):
    with open(path) as file:
        return sum(1 for _ in file)


def search(method, kernel, train, options):
    """The model with the best parameters, its error in the search, and the CPU seconds."""
    model = options.work / "models" / f"falk-small-{method}-{os.getpid()}.model"
    report = model.with_suffix(".json")
    ran = measure.run([options.tamis, "tune", train, "--method", method, "--folds", options.search_folds, "--rows", "all",
                       *grids(method, kernel, count_lines(train), options), "-o", model, "--json", report, *common.threads(options)])
    error = json.loads(report.read_text())["best"]["error_rate"]
    report.unlink()
    return model, error, ran.cpu_seconds


def measure_fold(method, kernel, train, test, options):
    """Wrong test rows of the model with the parameters found on the training part, and the CPU seconds of the search. kNN-SVM with
    all rows as neighbors is the exact SVM, so that this k is searched by exact, on the same folds, and not once per row."""
    found = [search(method, kernel, train, options)]
    if method == "knn-svm":
        found.append(search("exact", kernel, train, options))
    model = min(found, key=lambda one: one[1])[0]
    told = json.loads(measure.run([options.tamis, "evaluate", model, test, "--json", "-"]).out)
    for one in found:
        one[0].unlink()
    return round(told["error_rate"] * told["rows"]), told["rows"], sum(one[2] for one in found)


def measure_set(name, method, kernel, files, options):
    folds = [measure_fold(method, kernel, train, test, options) for train, test in files]
    errors, rows = sum(f[0] for f in folds), sum(f[1] for f in folds)
    return {"data": name, "method": method, "kernel": kernel, "rows": rows, "error": errors / rows, "folds": options.folds,
            "search_folds": options.search_folds, "search_step": options.search_step,
            "largest_k": options.largest_k if method == "knn-svm" else None, "cpu_seconds": sum(f[2] for f in folds)}


def key_of(name, method, kernel):
    return f"{name} {kernel} {method}"


def is_done(result, options):
    what = ("folds", "search_folds", "search_step") + (("largest_k",) if result and result["method"] == "knn-svm" else ())
    return result is not None and all(result.get(name) == getattr(options, name) for name in what)


# --- the page ------------------------------------------------------------------------------------------------------------


def cells(name, results):
    """Ours, and the paper's in parentheses."""
    found = [results.get(key_of(name, *column)) for column in COLUMNS]
    rows = next(r["rows"] for r in found if r)
    return [name, f"{rows:,}", *(f"{100 - 100 * r['error']:.2f} ({paper:.2f})" if r else f"({paper:.2f})"
                                 for r, paper in zip(found, PAPER[name]))]


def probability_text(p):
    return "all equal" if p is None else f"p = {p:.3f}"


def tests(errors, title):
    """Mean ranks, Friedman's test, Nemenyi's critical difference, and Wilcoxon's test of the local methods against exact, for each
    kernel; `errors` has a row of nine for each data set."""
    means = [sum(column) / len(errors) for column in zip(*(ranks.ranks(row) for row in errors))]
    chi, p = ranks.friedman(errors)
    difference = NEMENYI_9 * math.sqrt(9 * 10 / 6 / len(errors))
    lines = [f"- {title}, mean ranks (1 is best): " + "; ".join(f"{m} {k} {r:.2f}" for (m, k), r in zip(COLUMNS, means))
             + f". Friedman chi-square {chi:.1f}, p = {p:.4f}; Nemenyi's critical difference at 0.05: {difference:.2f}."]
    for method in METHODS[1:]:
        pairs = []
        for kernel in KERNELS:
            ours, exact = ([row[COLUMNS.index((m, kernel))] for row in errors] for m in (method, "exact"))
            better, worse = sum(a < b for a, b in zip(ours, exact)), sum(a > b for a, b in zip(ours, exact))
            pairs.append(f"{kernel} {better} better, {worse} worse, {probability_text(ranks.wilcoxon(ours, exact))}")
        lines.append(f"- {title}, {method} against exact (Wilcoxon): " + "; ".join(pairs) + ".")
    return lines


def differences(results):
    """Ours minus the paper's accuracies, over all cells, and for each method and kernel."""
    def text(chosen):
        values = [100 - 100 * r["error"] - PAPER[r["data"]][COLUMNS.index((r["method"], r["kernel"]))] for r in chosen]
        return f"{sum(values) / len(values):+.2f} (size {sum(map(abs, values)) / len(values):.2f}, {len(values)} sets)"
    columns = {column: [r for r in results.values() if (r["method"], r["kernel"]) == column] for column in COLUMNS}
    return ["- Ours minus the paper's accuracy, mean points (mean size): "
            + "; ".join(f"{m} {k} {text(chosen)}" for (m, k), chosen in columns.items() if chosen) + "."]


def summary(results):
    whole = [one.name for one in SETS if all(key_of(one.name, *column) in results for column in COLUMNS)]
    if not whole:
        return []
    errors = [[results[key_of(name, *column)]["error"] for column in COLUMNS] for name in whole]
    theirs = [[100 - a for a in PAPER[name]] for name in whole]
    return [*tests(errors, f"Ours on {len(whole)} data sets"), *tests(theirs, "The paper on the same")]


def protocol(results):
    kinds = sorted({(r["folds"], r["search_folds"], r["search_step"]) for r in results.values()})
    text = "; ".join(f"{folds} folds, parameters by {search} folds inside each training part, every {step}. value of the paper's grids"
                     for folds, search, step in kinds)
    largest = sorted({r["largest_k"] for r in results.values() if r.get("largest_k")})
    return text + (f"; knn-svm with k up to {' or '.join(map(str, largest))} and all rows" if largest else "")


def run(options):
    name = "falk_small"
    results = common.load(name, options, lambda r: key_of(r["data"], r["method"], r["kernel"]), ("data", "method", "kernel"))
    order = [key_of(one.name, *column) for one in SETS for column in COLUMNS]
    only = options.only.split(",") if options.only else [one.name for one in SETS]
    for one in [s for s in SETS if s.name in only]:
        files = prepare(one, options)
        for method, kernel in COLUMNS if files else []:
            key = key_of(one.name, method, kernel)
            wanted = kernel in options.kernels.split(",") and (not options.methods or method in options.methods.split(","))
            if not wanted or is_done(results.get(key), options):
                continue
            results[key] = result = measure_set(one.name, method, kernel, files, options)
            common.save_one(name, key, results, lambda _: order, options)
            print(f"{one.name} {kernel} {method}: {100 - 100 * result['error']:.2f} %, {result['cpu_seconds']:.1f} CPU s", flush=True)
    if options.write and results:
        names = [one.name for one in SETS if any(key_of(one.name, *column) in results for column in COLUMNS)]
        text = "\n".join([measure.markdown_head(TITLES), *(measure.markdown_row(cells(n, results)) for n in names), "", *differences(results), *summary(results), "",
                          f"Accuracy in percent, the paper's in parentheses. {protocol(results)}."])
        common.publish(name, text, options)
    return 0
