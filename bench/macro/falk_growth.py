"""Figures 3 to 8 of the FaLK-SVM paper: error, time to train and time to test as the rows grow; parameters chosen on the smallest
size, as in the paper (falk-l: at each size). Standard library only."""
import falk_common as common
import falk_tables
import measure
import problems

METHODS = ["exact", "falk", "falk-c", "falk-l"]
TITLES = ["data", "method", "rows", "error %", "chosen", "centers", "SVs", "train CPU s", "test CPU s"]
GENERATORS = {"2-spirals": ("spirals", "--noise", "0.05"), "ndcc": ("ndcc",), "checker-b": ("checkerboard",)}
NAMES = ["cov-type", *GENERATORS]
TEST_ROWS = 100_000


def generated(name, rows, seed, options):
    path = options.work / "growth" / name / f"{rows}.{seed}.svm"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        generator, *words = GENERATORS[name]
        problems.generate(options.tamis, generator, rows, seed, path, *words)
    return path


def covtype_part(files, rows):
    """The first rows: they are shuffled."""
    path = files.train.with_name(f"train.{rows}.svm")
    if not path.exists():
        with open(files.train) as source, open(path, "w") as target:
            target.writelines(line for line, _ in zip(source, range(rows)))
    return path


def data(name, sizes, options):
    """Training files by size, and the test file. None: the data are missing."""
    if name in GENERATORS:
        return {n: generated(name, n, 1, options) for n in sizes}, generated(name, TEST_ROWS, 2, options)
    problem = next(p for p in falk_tables.PROBLEMS if p.name == "falk-cov-type")
    files = common.prepare(problem, options)
    return files and ({n: covtype_part(files, n) for n in [*[n for n in sizes if n < problem.rows], problem.rows]}, files.test)


def cells(r):
    return [r["data"], r["method"], f"{r['rows']:,}", common.percent(r["error"]), r["chosen"],
            f"{r['centres']:,.0f}" if r["centres"] else "", f"{r['support_vectors']:,}", measure.seconds_text(r["train_cpu_seconds"]),
            measure.seconds_text(r["test_cpu_seconds"])]


def key_of(name, method, rows):
    return f"{name} {method} {rows:09}"


def measure_growth(name, method, files, test, options, results, show):
    missing = {rows: train for rows, train in files.items() if not (method == "exact" and rows > options.exact_rows)
               and not falk_tables.is_done(results.get(key_of(name, method, rows)), options)}
    point = falk_tables.search(files[min(files)], method, options)["point"] if missing else None
    for rows, train in missing.items():
        run = common.train_and_test(train, test, falk_tables.arguments(method, point), options)
        text = falk_tables.chosen_text(point, run.pop("report"))
        show({"data": name, "method": method, **run, "chosen": text, **{name: getattr(options, name) for name in falk_tables.SEARCH}})


def run(options):
    name = "falk_figures"
    results = common.load(name, options)
    sizes = [int(n) for n in options.growth_rows.split(",")]
    print(measure.markdown_head(TITLES), flush=True)

    def show(result):
        results[key_of(result["data"], result["method"], result["rows"])] = result
        common.save(name, results, order(results), options)
        print(measure.markdown_row(cells(result)), flush=True)

    for data_name in [n for n in NAMES if not options.only or n in options.only.split(",")]:
        found = data(data_name, sizes, options)
        for method in (options.methods.split(",") if options.methods else METHODS) if found else []:
            measure_growth(data_name, method, *found, options, results, show)
    ordered = [results[key] for key in order(results)]
    if options.write and ordered:
        text = "\n".join([measure.markdown_head(TITLES), *(measure.markdown_row(cells(r)) for r in ordered), "",
                          f"{TEST_ROWS:,} test rows, cov-type 12,962. Search on the smallest size: {falk_tables.protocol(ordered)}. CPU seconds of "
                          f"whole processes, reading included, on a busy computer. {common.machine(options)}"])
        common.publish(name, text, options)
    return 0


def order(results):
    return sorted(results, key=lambda key: (NAMES.index(results[key]["data"]), METHODS.index(results[key]["method"]), results[key]["rows"]))
