"""Training and predicting with LIBSVM, which takes minutes: its results are kept in the work folder. Standard library only."""
import json
import re

import measure


def add_arguments(parser):
    parser.add_argument("--libsvm-repeat", type=int, default=1, help="runs of svm-train (default: 1)")
    parser.add_argument("--skip-libsvm", action="store_true",
                        help="take LIBSVM's results from an earlier run in the work folder; the table says so")


def model_path(problem, options):
    return options.work / "models" / f"{problem.name}.train.libsvm"


def predict(problem, files, options):
    """What svm-predict says of the model in the work folder."""
    model = model_path(problem, options)
    ran = measure.run(["svm-predict", files.test, model, model.with_suffix(".libsvm.out")])
    if problem.regression:
        error = float(re.search(r"Mean squared error = (\S+)", ran.out).group(1))
    else:
        right, rows = map(int, re.search(r"\((\d+)/(\d+)\)", ran.out).groups())
        error = (rows - right) / rows
    return {"test_error": error, "predict_seconds": ran.seconds}


def train(problem, files, options):
    best = measure.best_of(options.libsvm_repeat, ["svm-train", "-m", "4000", *problem.parameters, files.train,
                                                   model_path(problem, options)])
    return {"command": list(problem.parameters), "repeat": options.libsvm_repeat, "seconds": best.seconds,
            "cpu_seconds": best.cpu_seconds, "peak_mib": best.peak_mib,
            "support_vectors": sum(int(n) for n in re.findall(r"^nSV = (\d+)", best.out, re.MULTILINE)),
            "objective": sum(float(v) for v in re.findall(r"^obj = (\S+),", best.out, re.MULTILINE))}


def result(problem, files, options):
    """The result, and whether it is that of an earlier run. None when it should be and there is none."""
    path = options.work / "libsvm" / f"{problem.name}.json"
    kept = json.loads(path.read_text()) if options.skip_libsvm and path.exists() else None
    if options.skip_libsvm and (kept is None or kept["command"] != list(problem.parameters)):
        return None, False
    found = kept or train(problem, files, options)
    if "predict_seconds" not in found:
        found |= predict(problem, files, options)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=2) + "\n")
    return found, kept is not None
