"""Tables 4 to 6 of the FaLK-SVM paper: five methods on its large data sets, C, gamma and k chosen for each method. Standard
library only."""
import math
import statistics

import falk_common as common
import measure
import ranks
from problems import Problem

METHODS = ["knn", "exact", "falk", "falk-c", "falk-l"]  # FkNN, LibSVM, FaLK-SVM, FaLK-SVMc, FaLK-SVMl
TITLES = ["data", "method", "rows", "CV %", "paper CV %", "test %", "paper test %", "chosen", "train CPU s", "paper train s", "test CPU s",
          "paper test s"]
PROBLEMS = [
    Problem("falk-ijcnn1", "ijcnn1", (), 0, "minmax"),
    Problem("falk-cov-type", "covtype-93k-binary", (), 0, "covtype", 80_000),
    Problem("falk-cod-rna", "cod-rna", (), 0, "pooled", 248_364, test_rows=82_788),
    Problem("falk-intr-det", "kddcup99-10pct", (), 0, "minmax"),
    # The noise of the first and the last: a Bayes accuracy a little above the best of the paper's methods.
    Problem("falk-2-spirals", "", (), 0, "generated_unit", 100_000, generator=("spirals", "--noise", "0.05")),
    Problem("falk-ndcc", "", (), 0, "generated_unit", 100_000, generator=("ndcc",)),
    Problem("falk-checker-b", "", (), 0, "generated_unit", 300_000, generator=("checkerboard", "--noise", "0.055"), test_rows=100_000),
]
# Cross-validation and test accuracy of each method, seconds to train and to test (Tables 4, 5 and 6).
PAPER = {
    "ijcnn1": ((97.37, 98.99, 99.04, 98.96, None), (96.64, 97.98, 98.04, 97.98, 98.03), (None, 102, 15, 15, 1850), (None, 43, 32, 5, 36)),
    "cov-type": ((91.73, 92.60, 92.68, 92.44, None), (91.99, 92.83, 92.89, 92.60, 92.84), (None, 8362, 88, 38, 1214),
                 (None, 2795, 202, 73, 191)),
    "cod-rna": ((95.88, 97.18, 97.19, 97.06, None), (96.25, 97.17, 97.23, 97.09, 97.29), (None, 9777, 395, 225, 579),
                (None, 396, 261, 58, 259)),
    "intr-det": ((99.74, 99.89, 99.74, 99.69, None), (92.04, 91.77, 91.97, 92.01, 91.91), (None, 5262, 286, 284, 450),
                 (None, 192, 146, 76, 149)),
    "2-spirals": ((88.43, 85.18, 88.42, 88.29, None), (88.43, 85.29, 88.47, 88.45, 88.30), (None, 4043, 188, 81, 3442),
                  (None, 957, 10, 5, 18)),
    "ndcc": ((85.47, 86.66, 86.63, 86.33, None), (84.99, 86.21, 86.29, 85.93, 86.24), (None, 1487, 302, 92, 4609), (None, 148, 61, 7, 61)),
    "checker-b": ((94.31, 94.46, 94.46, 94.45, None), (94.08, 94.21, 94.21, 94.19, 94.23), (None, 6047, 334, 366, 1374),
                  (None, 167, 10, 7, 7)),
}
SEEDED = ["falk", "falk-c", "falk-l"]  # the others do not depend on the seed
# Of a smaller search. exact: rows of a stage over those of the one before; falk: candidates that are judged on all rows.
GROWTH = 3
LOCAL_CANDIDATES, LOCAL_EACH_K = 5, 2
KNN_K = [1, 3, 5, 9, 15, 21, 31, 51, 71, 101, 151]
LOCAL_K = [250, 500, 1000, 2000, 4000, 8000]
# Of the paper: 10 neighborhoods.
LOCAL_SELECTION = ["--selection-centres", "10"]


def short(name):
    return name.removeprefix("falk-")


def kernel_grid(options):
    """C, and gamma = 1 / sigma of the RBF kernel."""
    return [*common.grid("cost", common.powers(-2, 10, options.search_step)),
            *common.grid("gamma", common.powers(-5, 15, options.search_step))]


def judged(train, method, points, rows, options):
    """These points alone, cross-validated on more rows: the best first."""
    found = [common.tune(train, ["--method", method, "--folds", options.search_folds, "--rows", rows,
                                 *[word for name, value in point.items() for word in common.grid(name, [value])]], options) for point in points]
    return sorted(found, key=lambda one: one["error"])


def local_candidates(train, options):
    """The best points of each k on neighborhoods of all rows; k upwards until the best error rises, as in the paper. falk and falk-c train the same
    local SVMs, so that this is done once."""
    key = f"{train.parent.name} {options.search_folds} {options.search_step} {options.search_centres} {options.largest_k}"
    found_before = common.load("falk_candidates", options)
    if key in found_before:
        return found_before[key]["points"]
    best, candidates = math.inf, []
    for k in [k for k in LOCAL_K if k <= options.largest_k]:
        found = common.tune(train, ["--method", "falk", "--k", k, "--folds", options.search_folds, "--centres", options.search_centres,
                                    *kernel_grid(options)], options)
        candidates += [one | {"point": one["point"] | {"k": k}} for one in found["tried"][:LOCAL_EACH_K]]
        if found["error"] > best:
            break
        best = found["error"]
    points = [one["point"] for one in sorted(candidates, key=lambda one: one["error"])[:LOCAL_CANDIDATES]]
    common.save_one("falk_candidates", key, {key: {"points": points}}, list, options)
    return points


def search_local(train, method, options):
    """As the paper: the whole grid for each k, k upwards until the best error rises. A smaller search (--search-centres) finds candidates on few
    neighborhoods and judges them by cross-validation of the method on all rows."""
    if options.search_centres:
        return judged(train, method, local_candidates(train, options), "all", options)[0]
    best = None
    for k in [k for k in LOCAL_K if k <= options.largest_k]:
        found = common.tune(train, ["--method", method, "--k", k, "--folds", options.search_folds, "--rows", options.search_rows,
                                    *kernel_grid(options)], options)
        if best and found["error"] > best["error"]:
            break
        if best is None or found["error"] < best["error"]:
            best = found | {"point": found["point"] | {"k": k}}
    return best


def search_exact(train, options):
    """As the paper: the whole grid on all rows. The best C and gamma for few rows are not those for many, so that a smaller search (--search-rows) goes
    on with the best points of each stage, on three times the rows, and with falk's candidates, which are of neighborhoods of all rows."""
    words = ["--method", "exact", "--folds", options.search_folds, "--rows", options.search_rows, *kernel_grid(options)]
    if options.search_rows == "all":
        return common.tune(train, words, options)
    stages = [int(count) for count in options.search_stages.split(",")]
    rows, found = int(options.search_rows), common.tune(train, [*words, "--racing", "no"], options)["tried"]
    points = [one["point"] for one in found[:stages[0]]]
    if options.search_centres:
        points += [{name: point[name] for name in ("cost", "gamma")} for point in local_candidates(train, options)]
    for stage, count in enumerate(stages):
        points = list({tuple(point.items()): point for point in points}.values()) if stage == 0 else points[:count]
        found = judged(train, "exact", points, rows * GROWTH**(stage + 1), options)
        points = [one["point"] for one in found]
    return found[0]


def search(train, method, options):
    """What the paper chooses by cross-validation: arguments, and the error; falk-l chooses its own."""
    if method == "falk-l":
        return {"point": {}, "error": None}
    if method in ("falk", "falk-c"):
        return search_local(train, method, options)
    if method == "exact":
        return search_exact(train, options)
    return common.tune(train, ["--method", method, "--folds", options.search_folds, "--rows", options.knn_rows, *common.grid("k", KNN_K)], options)


def arguments(method, point):
    return ["--method", method, *common.words(point), *(LOCAL_SELECTION if method == "falk-l" else [])]


def chosen_text(point, report):
    if not point:
        point = {name: report[f"selected_{name}"] for name in ("cost", "k", "percentile")}
    return ", ".join(f"{name} {value:g}" for name, value in point.items())


# What the search of each method depends on.
LOCAL_SEARCH = ("search_folds", "search_step", "search_rows", "search_centres", "largest_k")
SEARCH = {"knn": ("search_folds", "knn_rows"), "exact": (*LOCAL_SEARCH, "search_stages"), "falk": LOCAL_SEARCH, "falk-c": LOCAL_SEARCH, "falk-l": ()}


def load(options):
    return common.load("falk_tables", options, lambda r: f"{r['data']} {r['method']}", ("data", "method", "chosen", "search_rows", "search_stages", "knn_rows"))


def searched_before(result, options):
    """What an earlier run chose with the same search, or with any (--keep-choices); None where there is none."""
    if result is None or not (options.keep_choices or all(result.get(name) == getattr(options, name) for name in SEARCH[result["method"]])):
        return None
    return {"point": point_of(result), "error": result["cv_error"], **{name: result.get(name) for name in SEARCH[result["method"]]}}


def point_of(result):
    """What was chosen for a line of the table; falk-l chooses its own."""
    if result["method"] == "falk-l":
        return {}
    return {words.split()[0]: float(words.split()[1]) for words in result["chosen"].split(", ")}


def chosen_point(name, method, options):
    """None where the table has no such line."""
    found = load(options).get(f"{name} {method}")
    return found and point_of(found) if method != "falk-l" else {}


def seeds_of(method, options):
    return options.runs if method in SEEDED else 1


def measure_method(name, method, files, found, options):
    """Means over the seeds; what falk-l chose is that of the first."""
    words = arguments(method, found["point"])
    runs = [common.train_and_test(files.train, files.test, [*words, *(["--seed", seed] if method in SEEDED else [])], options)
            for seed in range(1, seeds_of(method, options) + 1)]
    text = chosen_text(found["point"], runs[0]["report"])
    means = {key: value if value is None or key in ("rows", "test_rows") else statistics.fmean(run[key] for run in runs)
             for key, value in runs[0].items() if key != "report"}
    spread = statistics.stdev(run["error"] for run in runs) if len(runs) > 1 else None
    return {"data": name, "method": method, "seeds": len(runs), **means, "error_sd": spread, "cv_error": found["error"], "chosen": text,
            **{name: found[name] for name in SEARCH[method]}}


def accuracy(error, spread=None):
    return "" if error is None else common.percent(1 - error) + ("" if spread is None else f" ± {common.percent(spread)}")


def optional(value):
    return "" if value is None else value


def cells(r):
    paper = [optional(column[METHODS.index(r["method"])]) for column in PAPER[r["data"]]]
    return [r["data"], r["method"], f"{r['rows']:,}", accuracy(r["cv_error"]), paper[0], accuracy(r["error"], r.get("error_sd")), paper[1], r["chosen"],
            measure.seconds_text(r["train_cpu_seconds"]), paper[2], measure.seconds_text(r["test_cpu_seconds"]), paper[3]]


def rank_lines(results):
    """Mean ranks of the test error, over the data sets that every method was measured on."""
    names = [n for n in PAPER if all(f"{n} {m}" in results for m in METHODS)]
    if not names:
        return []
    def means(rows):
        return [sum(column) / len(rows) for column in zip(*(ranks.ranks(row) for row in rows))]
    ours = means([[results[f"{n} {m}"]["error"] for m in METHODS] for n in names])
    theirs = means([[-a for a in PAPER[n][1]] for n in names])
    column = lambda m: [results[f"{n} {m}"]["error"] for n in names]  # noqa: E731
    return [f"Mean ranks over {', '.join(names)} (1 is best): "
            + "; ".join(f"{m} {a:.2f} (paper {b:.2f})" for m, a, b in zip(METHODS, ours, theirs)) + ". Wilcoxon's test against exact: "
            + "; ".join(f"{m} p = {ranks.wilcoxon(column(m), column('exact')):.3f}" for m in METHODS[2:]) + "."]


def exact_protocol(folds, step, rows, centres, largest, stages):
    counts = [int(count) for count in stages.split(",")]
    more = [f"the {count} best{' and falk candidates' if centres and n == 0 else ''} on {int(rows) * GROWTH**(n + 1):,}" for n, count in enumerate(counts)
            ] if rows != "all" else []
    return f"exact: {folds} folds, every {step}. value of the paper's grids on {rows} rows" + "".join(f", then {words}" for words in more)


def local_protocol(folds, step, rows, centres, largest):
    where = f"{centres} neighborhoods of all rows, then the {LOCAL_CANDIDATES} best on all rows" if centres else f"{rows} rows"
    return f"falk and falk-c: {folds} folds, every {step}. value of the paper's grids, k up to {max(k for k in LOCAL_K if k <= largest):,}, on {where}"


def protocol(results):
    """How C, gamma and k were searched, in words; falk-l chooses its own."""
    texts = {"knn": lambda folds, rows: f"knn: {folds} folds on {rows} rows", "exact": exact_protocol, "falk": local_protocol, "falk-c": local_protocol}
    found = {}  # method, text -> data sets
    for r in results:
        if r["method"] in texts:
            name, words = texts[r["method"]](*(r[field] for field in SEARCH[r["method"]])).split(": ", 1)
            found.setdefault((name, words), {})[r["data"]] = True
    names = [name for name, _ in found]
    return "; ".join(f"{name}{' on ' + ', '.join(data) if names.count(name) > 1 else ''}: {words}" for (name, words), data in sorted(found.items()))


def run(options):
    name = "falk_tables"
    results = load(options)
    order = [f"{n} {m}" for n in PAPER for m in METHODS]
    print(measure.markdown_head(TITLES), flush=True)
    only = options.only.split(",") if options.only else list(PAPER)
    for problem in [p for p in PROBLEMS if short(p.name) in only]:
        files = common.prepare(problem, options)
        for method in (options.methods.split(",") if options.methods else METHODS) if files else []:
            key = f"{short(problem.name)} {method}"
            found = searched_before(results.get(key), options)
            if found and results[key].get("seeds") == seeds_of(method, options):
                continue
            if found is None and options.keep_choices:
                print(f"{key}: skipped, nothing was chosen for it yet", flush=True)
                continue
            found = found or search(files.train, method, options) | {name: getattr(options, name) for name in SEARCH[method]}
            results[key] = result = measure_method(short(problem.name), method, files, found, options)
            common.save_one(name, key, results, lambda _: order, options)
            print(measure.markdown_row(cells(result)), flush=True)
    ordered = [results[key] for key in order if key in results]
    if options.write and ordered:
        text = "\n".join([measure.markdown_head(TITLES), *(measure.markdown_row(cells(r)) for r in ordered), "", *rank_lines(results), "",
                          f"{', '.join(SEEDED[:-1])} and {SEEDED[-1]}: means of {measure.range_text([r.get('seeds', 1) for r in ordered if r['method'] in SEEDED])} seeds, test "
                          f"accuracies ± standard deviation; what falk-l chose with the first. Search: {protocol(ordered)}. All rows where there are fewer. CPU seconds of whole "
                          f"processes, reading included, on a busy computer; the paper's are seconds of one core of an Athlon 64 X2 5000+. {common.machine(options)}"])
        common.publish(name, text, options)
    return 0
