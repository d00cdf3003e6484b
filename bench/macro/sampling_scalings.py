"""The exact models of Barcenas, Gonzalez-Lima and Quiroz (Tables 2 and 4) on columns scaled in several ways: which of them the paper may
have had. Standard library only."""
import json
import math
import statistics

import measure
import problems
import sifting

FIRST_ROWS = 20_000  # test rows of the paper's cod-rna; it does not say which
LIMIT = 60  # seconds of a training: raw columns make problems that do not end
TITLES = ["problem", "scaling", "kernel", "SVs", "paper", "test %", "first rows %", "paper"]


def scaled(column_factor):
    """A scaling of columns: `column_factor` has all values of one, and says what to subtract and to divide by."""
    def learn(rows, columns):
        pairs = [column_factor([row.get(c, 0.0) for row in rows]) for c in range(1, columns + 1)]
        return lambda row: {c: (row.get(c, 0.0) - less) / (by or 1) for c, (less, by) in enumerate(pairs, 1)}
    return learn


def as_it_is(_rows, _columns):
    return lambda row: row


def unit_rows(_rows, _columns):
    def apply(row):
        length = math.sqrt(sum(v * v for v in row.values()))
        return {c: v / (length or 1) for c, v in row.items()}
    return apply


SCALINGS = {
    "as the file is": as_it_is,
    "mean 0, deviation 1": scaled(lambda v: (statistics.fmean(v), statistics.pstdev(v))),
    "[0, 1]": scaled(lambda v: (min(v), max(v) - min(v))),
    "[-1, 1]": scaled(lambda v: ((min(v) + max(v)) / 2, (max(v) - min(v)) / 2)),
    "over the largest magnitude": scaled(lambda v: (0, max(map(abs, v)))),
    "over the root mean square": scaled(lambda v: (0, math.sqrt(statistics.fmean(x * x for x in v)))),
    "rows of length 1": unit_rows,
}
TRIED = {"cod-rna": list(SCALINGS), "ijcnn1": ["as the file is", "mean 0, deviation 1"]}


def read(path):
    with open(path) as file:
        return [(label, dict(values)) for label, values in map(problems.parse, file)]


def write(path, rows):
    problems.write_lines(path, [f"{label:g} " + " ".join(f"{c}:{v:.9g}" for c, v in sorted(row.items())) + "\n" for label, row in rows])


def error(model, test, options):
    return json.loads(measure.run([options.tamis, "evaluate", model, test, "--threads", options.threads, "--json", "-"]).out)["error_rate"]


def measure_model(files, first, parameters, options):
    model = options.work / "models" / "scalings.model"
    told = json.loads(measure.run([options.tamis, "train", files.train, *parameters, "-o", model, "--max-seconds", LIMIT, "--threads",
                                   options.threads, "--quiet", "--json", "-"], accepted=(0, 3)).out)
    return {"support_vectors": told["support_vectors"], "converged": told["stop_reason"] == "converged",
            "error": error(model, files.test, options), "first_error": error(model, first, options)}


def cells(r, paper):
    vectors, wrong = paper[(r["problem"], r["kernel"])]
    return [r["problem"], r["scaling"], r["kernel"], f"{r['support_vectors']:,}" + ("" if r["converged"] else " *"), f"{vectors:,}",
            f"{100 * r['error']:.2f}", f"{100 * r['first_error']:.2f}", f"{100 * wrong:.3g}"]


def compare(options, chosen, parameters, paper):
    """`parameters` and `paper`: arguments, and support vectors and error, of each problem and kernel."""
    path = options.work / "sampling_scalings.json"
    results = measure.load_results(path)
    order = [f"{name} {scaling} {kernel}" for name, scalings in TRIED.items() for scaling in scalings for p, kernel in parameters if p == name]
    print(measure.markdown_head(TITLES), flush=True)
    for name in [p.name for p in chosen if p.name in TRIED]:
        raw = sifting.prepare(problems.Problem(f"{name}-raw", name, (), 0, "as_is"), options)
        if raw is None:
            continue
        train, test = read(raw.train), read(raw.test)
        columns = max(max(row, default=0) for _, row in train)
        for scaling in TRIED[name]:
            keys = [(f"{name} {scaling} {kernel}", kernel) for p, kernel in parameters if p == name]
            if all(key in results for key, _ in keys):
                continue
            apply = SCALINGS[scaling]([row for _, row in train], columns)
            files = problems.Files(options.work / "models" / "scaled.train.svm", options.work / "models" / "scaled.test.svm")
            first = options.work / "models" / "scaled.first.svm"
            write(files.train, [(label, apply(row)) for label, row in train])
            rows = [(label, apply(row)) for label, row in test]
            write(files.test, rows)
            write(first, rows[:FIRST_ROWS])
            for key, kernel in keys:
                results[key] = {"problem": name, "scaling": scaling, "kernel": kernel,
                                **measure_model(files, first, parameters[(name, kernel)], options)}
                measure.save_results(path, results, order)
                print(measure.markdown_row(cells(results[key], paper)), flush=True)
    if options.write:
        lines = [measure.markdown_head(TITLES), *(measure.markdown_row(cells(results[key], paper)) for key in order if key in results), "",
                 f"Exact models. First rows: the first {FIRST_ROWS:,} of the test file. *: ended by its limit of {LIMIT} s."]
        measure.fill_marker(measure.ROOT / "docs" / "reproduction" / "sampling.md", "sampling-scalings", "\n".join(lines))
        sifting.keep_csv(path.with_suffix(".csv"))
    return 0
