"""Figures 3 to 8 of the FaLK-SVM paper: error, time to train and time to test as the rows grow; the parameters are those
of Table 4, found on about the paper's smallest size (falk-l: at each size). Standard library only."""
import functools
import math

import falk_common as common
import falk_tables
import measure
import problems

METHODS = ["exact", "falk", "falk-c", "falk-l"]
TITLES = ["data", "method", "rows", "error %", "chosen", "centers", "SVs", "train CPU s", "test CPU s"]
GENERATORS = {falk_tables.short(p.name): p for p in falk_tables.PROBLEMS if p.generator}
NAMES = ["cov-type", *GENERATORS]
TEST_ROWS = 100_000
LARGEST = {"exact": lambda options: options.exact_rows, "falk": lambda _: math.inf, "falk-c": lambda _: math.inf,
           "falk-l": lambda options: options.falk_l_rows}  # sizes of each method


def generated(name, rows, seed, options):
    """Rows of the table's problem in any number, with its ranges: they are the same distribution and need the same gamma."""
    path = options.work / "growth" / name / f"{rows}.{seed}.svm"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        raw, ranges = path.with_suffix(".raw"), common.prepare(GENERATORS[name], options).train.with_name("ranges.json")
        generator, *words = GENERATORS[name].generator
        problems.generate(options.tamis, generator, rows, seed, raw, *words, "--format", "svmlight")
        measure.run([options.tamis, "scale", raw, "--load-ranges", ranges, "-o", path, "--quiet"])
        raw.unlink()
    return path


def covtype_part(files, rows):
    """The first rows: they are shuffled."""
    path = files.train.with_name(f"train.{rows}.svm")
    if not path.exists():
        with open(files.train) as source, open(path, "w") as target:
            target.writelines(line for line, _ in zip(source, range(rows)))
    return path


def data(name, sizes, options):
    """What makes the training file of each size, and the test file. None: the data are missing."""
    if name in GENERATORS:
        return {n: functools.partial(generated, name, n, 1, options) for n in sizes}, functools.partial(generated, name, TEST_ROWS, 2, options)
    problem = next(p for p in falk_tables.PROBLEMS if p.name == "falk-cov-type")
    files = common.prepare(problem, options)
    return files and ({n: functools.partial(covtype_part, files, n) for n in [*[n for n in sizes if n < problem.rows], problem.rows]},
                      lambda: files.test)


def cells(r):
    return [r["data"], r["method"], f"{r['rows']:,}", common.percent(r["error"]), r["chosen"],
            f"{r['centres']:,.0f}" if r["centres"] else "", f"{r['support_vectors']:,}", measure.seconds_text(r["train_cpu_seconds"]),
            measure.seconds_text(r["test_cpu_seconds"])]


def key_of(name, method, rows):
    return f"{name} {method} {rows:09}"


def measure_growth(name, method, files, test, options, results, show):
    point = falk_tables.chosen_point(name, method, options)
    if point is None:
        print(f"{name} {method}: skipped, its parameters are those of --parts tables, which has no such line yet", flush=True)
        return
    chosen = falk_tables.chosen_text(point, None) if point else None
    for rows, train in files.items():
        done = results.get(key_of(name, method, rows))
        if rows > LARGEST[method](options) or done and (chosen is None or done["chosen"] == chosen):
            continue
        run = common.train_and_test(train(), test(), falk_tables.arguments(method, point), options)
        text = falk_tables.chosen_text(point, run.pop("report"))
        show({"data": name, "method": method, **run, "chosen": text})


def run(options):
    name = "falk_figures"
    results = common.load(name, options, lambda r: key_of(r["data"], r["method"], r["rows"]), ("data", "method", "chosen", "search_rows"))
    sizes = [int(n) for n in options.growth_rows.split(",")]
    print(measure.markdown_head(TITLES), flush=True)

    def show(result):
        key = key_of(result["data"], result["method"], result["rows"])
        results[key] = result
        common.save_one(name, key, results, order, options)
        print(measure.markdown_row(cells(result)), flush=True)

    for data_name in [n for n in NAMES if not options.only or n in options.only.split(",")]:
        found = data(data_name, sizes, options)
        for method in (options.methods.split(",") if options.methods else METHODS) if found else []:
            measure_growth(data_name, method, *found, options, results, show)
    ordered = [results[key] for key in order(results)]
    if options.write and ordered:
        text = "\n".join([measure.markdown_head(TITLES), *(measure.markdown_row(cells(r)) for r in ordered), "",
                          f"{TEST_ROWS:,} test rows, cov-type 12,962. CPU seconds of whole processes, reading included. "
                          f"{common.machine(options)}"])
        common.publish(name, text, options)
    return 0


def order(results):
    return sorted(results, key=lambda key: (NAMES.index(results[key]["data"]), METHODS.index(results[key]["method"]), results[key]["rows"]))
