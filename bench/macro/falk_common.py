"""What the parts of bench/macro/falk share. Standard library only."""
import fcntl
import json
import os
import shutil

import measure
import problems

FOLDER = measure.ROOT / "docs" / "reproduction"
PAGE = FOLDER / "falk.md"


def prepare(problem, options):
    """The problem's files; None, and a line that says why, when its data are missing."""
    try:
        return problems.prepare(problem, options.data, options.work, options.tamis)
    except problems.Missing as missing:
        print(f"{problem.name}: skipped, {missing}", flush=True)
        return None


def threads(options):
    return ["--threads", options.threads, "--quiet"]


def train_and_test(train, test, arguments, options):
    """Trains one model and evaluates it: test error, the report, and the CPU seconds of both processes."""
    model = options.work / "models" / f"falk-{os.getpid()}.model"
    report = model.with_suffix(".json")
    trained = measure.run([options.tamis, "train", train, *arguments, "-o", model, "--json", report, *threads(options)])
    tested = measure.run([options.tamis, "evaluate", model, test, "--json", "-", "--threads", options.threads])
    told = json.loads(report.read_text())
    model.unlink()
    return {"error": json.loads(tested.out)["error_rate"], "rows": told["rows"], "test_rows": json.loads(tested.out)["rows"],
            "support_vectors": told["support_vectors"], "centres": told.get("centres"),
            "train_cpu_seconds": trained.cpu_seconds, "test_cpu_seconds": tested.cpu_seconds, "report": told}


def tune(train, arguments, options):
    """Searches: the best point, its error and the CPU seconds."""
    report = options.work / "models" / f"falk-{os.getpid()}.tune.json"
    ran = measure.run([options.tamis, "tune", train, *arguments, "--json", report, *threads(options)])
    told = json.loads(report.read_text())
    def point(one):
        return {name: one[name] for name in told["axes"]}

    tried = sorted(({"point": point(one), "error": one["error_rate"]} for one in told["points"] if one.get("error_rate") is not None),
                   key=lambda one: one["error"])
    return {"point": point(told["best"]), "error": told["best"]["error_rate"], "cpu_seconds": ran.cpu_seconds, "tried": tried}


def grid(name, values):
    return ["--grid", f"{name}={','.join(f'{v:g}' for v in values)}"]


def words(point):
    """A point of a search as arguments."""
    return [word for name, value in point.items() for word in (f"--{name}", f"{value:g}")]


def powers(low, high, step):
    """2^low .. 2^high; every step-th."""
    return [2.0 ** e for e in range(low, high + 1, step)]


def percent(share):
    return f"{100 * share:.2f}"


def load(name, options, key=None, text=()):
    """Results of the work folder; where it has none and `key` makes their names, those that were published."""
    found, published = measure.load_results(options.work / f"{name}.json"), FOLDER / f"{name}.csv"
    return found or (measure.kept_results(published, key, text) if key and published.exists() else {})


def save(name, results, order, options):
    measure.save_results(options.work / f"{name}.json", results, order)


def save_one(name, key, results, order, options):
    """Adds one result to those of the work folder, to which another run may have added some; `order` of all, from all."""
    path = options.work / f"{name}.json"
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        results |= measure.load_results(path) | {key: results[key]}
        measure.save_results(path, results, order(results))


def publish(name, text, options, page=PAGE):
    """Into the page, with the CSV next to it."""
    measure.fill_marker(page, name.replace("_", "-"), text)
    shutil.copyfile(options.work / f"{name}.csv", FOLDER / f"{name}.csv")
    print(f"wrote docs/reproduction/{name}.csv")


def machine(options):
    return measure.surroundings(options.tamis, options.threads, peer="")
