"""The local methods against LIBSVM and against the times of the FaLK-SVM paper's authors' program: whole processes, one after
the other in one run. Fills docs/falk.md."""
import json
import random

import falk_common as common
import libsvm
import measure
import problems

NEIGHBOURS = ("--k", "500", "--k-prime", "250")
METHODS = ["falk", "falk-c", "falk-l", "knn-svm", "knn"]
# knn-svm trains a model for each row it is asked for, so it is asked for these only, drawn at random: test files may be sorted
# by class.
LAZY_ROWS = 2_000

# Seconds of the authors' own program (cover tree, LIBSVM 2.88, one thread) with k = 500, k' = 250 and the nearest
# centre's machine, on a machine of the same kind: quoted, not measured here.
AUTHORS = {"checkerboard": (3.65, 1.22), "ijcnn1": (5.9, 3.1), "cod-rna": (6.3, 5.7), "covtype-73k": (8.9, None)}
AUTHORS_TRAIN_TARGET = 12
AUTHORS_PREDICT_TARGET = 10  # of falk-c
LIBSVM_PREDICT_TARGET = {"checkerboard": 50}
# Percentage points above LIBSVM's error. falk-l chose its parameters itself.
ERROR_TARGET = {("falk", "checkerboard"): 0.1, ("falk", "covtype-80k"): 0.1, ("falk-l", "ijcnn1"): 0.3,
                ("falk-l", "cod-rna"): 0.3}

TITLES = ["problem", "method", "train s", "LIBSVM / it", "FaLK-SVM / it", "predict s", "LIBSVM / it", "FaLK-SVM / it",
          "error", "centers", "SVs", "model MB"]
CHECKS = ["targets missed"]


def parameters_of(method, problem):
    """falk-l chooses C, gamma and k itself; knn has its own default of k."""
    return {"falk": (*problem.parameters, *NEIGHBOURS), "falk-c": (*problem.parameters, *NEIGHBOURS), "falk-l": (),
            "knn-svm": (*problem.parameters, *NEIGHBOURS[:2]), "knn": ()}[method]


def measure_method(method, parameters, train, test, options):
    """Trains, predicts and evaluates: what the table says of one method on one problem."""
    model = options.work / "models" / f"{train.parent.name}.{train.stem}.{method}.tamis"
    report_path, predicted = model.with_suffix(".json"), model.with_suffix(".out")
    shared = common.threads(options)
    trained = measure.best_of(options.repeat, [options.tamis, "train", train, "--method", method, *parameters, "-o", model,
                                               "--json", report_path, *shared])
    asked = measure.best_of(options.repeat, [options.tamis, "predict", model, test, "-o", predicted, *shared])
    error = json.loads(measure.run([options.tamis, "evaluate", model, test, "--json", "-"]).out)["error_rate"]
    report = json.loads(report_path.read_text())
    result = {"method": method, "rows": report["rows"], "train_seconds": trained.seconds,
              "train_cpu_seconds": trained.cpu_seconds, "train_peak_mib": trained.peak_mib,
              "predict_seconds": asked.seconds, "predict_cpu_seconds": asked.cpu_seconds,
              "predict_peak_mib": asked.peak_mib, "error": error, "centres": report.get("centres"),
              "support_vectors": report["support_vectors"], "model_mb": model.stat().st_size / 1e6,
              "repeat": options.repeat}
    # Of the last run, which need not be the fastest.
    phases = {"read": report["seconds"]["read"], **report["phase_seconds"], "write": report["seconds"]["write"]}
    result |= {f"{phase}_seconds": seconds for phase, seconds in phases.items()}
    model.unlink()
    predicted.unlink()
    return result


def ratio_text(theirs, ours):
    return f"{theirs / ours:.3g}x" if theirs else ""


def cells(r):
    return [r["problem"], r["method"], measure.seconds_text(r["train_seconds"]),
            ratio_text(r["libsvm_train_seconds"], r["train_seconds"]),
            ratio_text(r["authors_train_seconds"], r["train_seconds"]), measure.seconds_text(r["predict_seconds"]),
            ratio_text(r["libsvm_predict_seconds"], r["predict_seconds"]),
            ratio_text(r["authors_predict_seconds"], r["predict_seconds"]), f"{100 * r['error']:.2f} %",
            f"{r['centres']:,.0f}" if r["centres"] else "", f"{r['support_vectors']:,}", f"{r['model_mb']:.3g}"]


def libsvm_cells(r):
    mark = " (earlier run)" if r["libsvm_reused"] else ""
    return [r["problem"], "LIBSVM" + mark, measure.seconds_text(r["libsvm_train_seconds"]), "", "",
            measure.seconds_text(r["libsvm_predict_seconds"]), "", "", f"{100 * r['libsvm_error']:.2f} %", "",
            f"{r['libsvm_support_vectors']:,}", ""]


def missed(r):
    """The targets that this result does not reach."""
    method, problem = r["method"], r["problem"]
    found = []

    def check(what, theirs, ours, target):
        if theirs and target and theirs / ours < target:
            found.append(f"{what} {theirs / ours:.3g}x of {target:g}x")

    if method in ("falk", "falk-c"):
        check("training", r["libsvm_train_seconds"], r["train_seconds"], r["target"])
        check("predicting", r["libsvm_predict_seconds"], r["predict_seconds"], LIBSVM_PREDICT_TARGET.get(problem))
        check("training, FaLK-SVM", r["authors_train_seconds"], r["train_seconds"], AUTHORS_TRAIN_TARGET)
    if method == "falk-c":
        check("predicting, FaLK-SVM", r["authors_predict_seconds"], r["predict_seconds"], AUTHORS_PREDICT_TARGET)
    allowed = ERROR_TARGET.get((method, problem))
    if allowed is not None and r["libsvm_error"] is not None and 100 * (r["error"] - r["libsvm_error"]) > allowed:
        found.append(f"error {100 * (r['error'] - r['libsvm_error']):+.2f} of {allowed:+g} points")
    return "; ".join(found)


def some_rows(path, count):
    part = path.with_name(f"{path.stem}.random{count}.svm")
    if not part.exists():
        lines = path.read_text().splitlines(keepends=True)
        part.write_text("".join(random.Random(problems.SHUFFLE_SEED).sample(lines, min(count, len(lines)))))
    return part


def measure_problem(problem, files, options, results, show):
    theirs, reused = libsvm.result(problem, files, options)
    theirs = theirs or {"seconds": None, "predict_seconds": None, "test_error": None, "support_vectors": None}
    authors_train, authors_predict = AUTHORS.get(problem.name, (None, None))
    with open(files.test) as file:
        test_rows = sum(1 for _ in file)
    for method in options.methods.split(",") if options.methods else METHODS:
        lazy = method == "knn-svm"
        test = some_rows(files.test, LAZY_ROWS) if lazy else files.test
        share = min(1, LAZY_ROWS / test_rows) if lazy else 1
        result = {"problem": problem.name, "parameters": " ".join(problem.parameters), "target": problem.target,
                  **measure_method(method, parameters_of(method, problem), files.train, test, options),
                  "test_rows": round(test_rows * share), "libsvm_reused": reused,
                  "libsvm_train_seconds": theirs["seconds"], "libsvm_error": theirs["test_error"],
                  "libsvm_predict_seconds": theirs["predict_seconds"] and theirs["predict_seconds"] * share,
                  "libsvm_support_vectors": theirs["support_vectors"], "authors_train_seconds": authors_train,
                  "authors_predict_seconds": authors_predict and authors_predict * share}
        results[f"{problem.name} {method}"] = result
        show(result)


def table(results, chosen):
    """Each problem's methods, below LIBSVM's row."""
    lines = [measure.markdown_head(TITLES)]
    for problem in chosen:
        rows = [results[f"{problem.name} {m}"] for m in METHODS if f"{problem.name} {m}" in results]
        compared = [r for r in rows if r["libsvm_train_seconds"]]
        lines += [measure.markdown_row(libsvm_cells(compared[0]))] if compared else []
        lines += [measure.markdown_row(cells(r)) for r in rows]
    return "\n".join(lines)


def note(options, results):
    repeat = measure.range_text([r["repeat"] for r in results])
    parameters = "; ".join(dict.fromkeys(f"{r['problem']} `{r['parameters']}`" for r in results))
    return (f"Whole processes, wall time, best of {repeat} for tamis and of 1 for LIBSVM: "
            f"{measure.surroundings(options.tamis, options.threads)} k = 500 and k' = 250; `falk-l` chooses C, gamma and k "
            "itself; `knn` has k = 15. \"LIBSVM / it\" is how many times as long LIBSVM takes, \"FaLK-SVM / it\" the same "
            "for the authors' program, whose seconds were taken elsewhere on a computer of this kind, with one thread "
            "(training, predicting: "
            + "; ".join(f"{name} {train}" + (f", {predict}" if predict else "") for name, (train, predict) in AUTHORS.items())
            + f"). `knn-svm` predicts {LAZY_ROWS:,} random test rows only, and is compared with their share of the others' "
            f"time. Parameters: {parameters}.")


def compare(options):
    chosen = [p for p in problems.LOCAL if not options.only or p.name in options.only.split(",")]
    path = options.work / "falk.json"
    results = measure.load_results(path)
    order = [f"{p.name} {m}" for p in problems.LOCAL for m in METHODS]
    failures = []
    print(measure.markdown_head(TITLES + CHECKS), flush=True)

    def show(result):
        measure.save_results(path, results, order)
        print(measure.markdown_row([*cells(result), missed(result)]), flush=True)

    for problem in chosen:
        try:
            files = problems.prepare(problem, options.data, options.work, options.tamis)
            measure_problem(problem, files, options, results, show)
        except problems.Missing as missing:
            failures.append(f"{problem.name}: skipped, {missing}")
        except RuntimeError as failure:
            failures.append(f"{problem.name}: FAILED, {failure}")
    print(*failures, sep="\n", end="\n" if failures else "")
    if options.write and results:
        text = table(results, problems.LOCAL) + "\n\n" + note(options, list(results.values()))
        common.publish("falk", text, options, measure.ROOT / "docs" / "falk.md")
    return 1 if any(": FAILED" in line for line in failures) else 0
