"""Runs of the methods that train on a part of the rows, many seeds each. Standard library only."""
import json
import math
import os
import shutil
import statistics

import measure
import problems


def prepare(problem, options):
    """The problem's files; None, and a line that says why, when its data are missing."""
    try:
        return problems.prepare(problem, options.data, options.work, options.tamis)
    except problems.Missing as missing:
        print(f"{problem.name}: skipped, {missing}", flush=True)
        return None


def standardised(files, options):
    """Columns to mean 0 and deviation 1, as they are in the training part: made once. LIBSVM's models cannot hold a scaling."""
    scaled = problems.Files(*(path.with_name(f"{path.stem}.standard.svm") for path in (files.train, files.test)))
    if scaled.test.exists():
        return scaled
    ranges = scaled.train.with_suffix(".json")
    for source, target, words in ((files.train, scaled.train, ("--method", "standard", "--save-ranges")),
                                  (files.test, scaled.test, ("--load-ranges",))):
        measure.run([options.tamis, "scale", source, *words, ranges, "-o", target, "--quiet"])
    return scaled


def train(files, arguments, options, libsvm_model=False):
    """Trains and evaluates once: what the report says, the test error and the seconds of the process. The model's support
    vectors, as text, with `libsvm_model`."""
    model = options.work / "models" / f"sifting-{os.getpid()}.model"
    report = model.with_suffix(".json")
    ran = measure.run([options.tamis, "train", files.train, *arguments, "-o", model, "--json", report, "--threads", options.threads,
                       "--quiet", *(["--model-format", "libsvm"] if libsvm_model else [])])
    told = json.loads(report.read_text())
    test = json.loads(measure.run([options.tamis, "evaluate", model, files.test, "--threads", options.threads, "--json", "-"]).out)
    result = {"rows": told["rows"], "rows_used": told.get("rows_used", told["rows"]), "error": test["error_rate"],
              "sv_initial": told.get("sv_initial"), "sv_final": told["support_vectors"], "beta": told.get("beta"),
              "seconds": ran.seconds, "train_seconds": told["seconds"]["train"], "peak_mib": ran.peak_mib,
              "phase_seconds": told["phase_seconds"], "leaders": told.get("leaders")}
    if libsvm_model:
        result["vectors"] = support_vectors(model)
    model.unlink()
    report.unlink()
    return result


def support_vectors(libsvm_model):
    """The features of each, without its coefficients."""
    with open(libsvm_model) as file:
        for line in file:
            if line.strip() == "SV":
                break
        return {" ".join(word for word in line.split() if ":" in word) for line in file}


def seeds(files, arguments, count, options, libsvm_model=False):
    return [train(files, [*arguments, "--seed", str(seed)], options, libsvm_model) for seed in range(1, count + 1)]


def subsample_like(files, runs, parameters, options):
    """The random baseline with as many rows as each of the runs."""
    return [train(files, ["--method", "subsample", "--delta", f"{min(1, one['rows_used'] / one['rows']):.6f}", *parameters,
                          "--seed", str(seed)], options) for seed, one in enumerate(runs, 1)]


def mean(runs, key):
    return statistics.fmean(one[key] for one in runs)


def deviation(runs, key):
    return statistics.stdev(one[key] for one in runs) if len(runs) > 1 else math.nan


def keep_csv(csv):
    folder = measure.ROOT / "docs" / "reproduction"
    folder.mkdir(exist_ok=True)
    shutil.copyfile(csv, folder / csv.name)
    print(f"wrote docs/reproduction/{csv.name}")
