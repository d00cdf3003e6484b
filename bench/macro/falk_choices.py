"""What FaLK-SVM chooses for its user: --parts rules, the two rules of falk-l on ten data sets; --parts k, the neighborhoods of
falk and whether a quick local trial finds the better k. Standard library only."""
import math

import falk_common as common
import measure
import ranks
from problems import Problem

ROWS = 8_000
TEST_ROWS = 10_000
# The first five are for choosing the default, the others for saying how good it is.
CHOOSING = [
    Problem("part-covtype", "covtype-93k-binary", ("-c", "10", "-g", "32"), 0, "part", ROWS, test_rows=TEST_ROWS),
    Problem("part-ijcnn1", "ijcnn1", ("-c", "10", "-g", "2"), 0, "part", ROWS, test_rows=TEST_ROWS),
    Problem("part-checkerboard", "", ("-c", "10", "-g", "100"), 0, "generated", ROWS, generator=("checkerboard",), test_rows=TEST_ROWS),
    Problem("part-phoneme", "phoneme", ("-c", "10"), 0, "part", 4_000, test_rows=TEST_ROWS),
    Problem("part-ring", "ring", ("-c", "10"), 0, "part", 5_000, test_rows=TEST_ROWS),
]
REPORTING = [
    Problem("part-cod-rna", "cod-rna", ("-c", "32", "-g", "8"), 0, "part", ROWS, test_rows=TEST_ROWS),
    Problem("part-2-spirals", "", ("-c", "10", "-g", "30"), 0, "generated", ROWS, generator=("spirals", "--noise", "0.05"),
            test_rows=TEST_ROWS),
    Problem("part-ndcc", "", ("-c", "1", "-g", "1"), 0, "generated", ROWS, generator=("ndcc",), test_rows=TEST_ROWS),
    Problem("part-mammography", "mammography", ("-c", "10"), 0, "part", 6_000, test_rows=TEST_ROWS),
    Problem("part-banana", "banana", ("-c", "10"), 0, "part", 3_000, test_rows=TEST_ROWS),
]
RULES = ["lowest-error", "smoothest"]
RULE_TITLES = ["data", "half", "rows", *(f"{rule}: {what}" for rule in RULES for what in ("error %", "k", "C", "percentile"))]
NEIGHBORS = [500, 1000, 2000, 4000]
NEIGHBOR_TITLES = ["data", "half", "rows", *(f"k = {k}: error %" for k in NEIGHBORS), "k of the trial", "its error %",
                   "trial / training at k = 500"]
TRIAL_CENTRES = 10


def chosen(options):
    only = options.only.split(",") if options.only else None
    for half, problems in (("choosing", CHOOSING), ("reporting", REPORTING)):
        for problem in problems:
            if only is None or short(problem.name) in only:
                yield half, problem


def short(name):
    return name.removeprefix("part-")


def order():
    return [short(p.name) for p in CHOOSING + REPORTING]


def measure_rules(half, problem, files, options):
    result = {"data": short(problem.name), "half": half, "runs": options.runs}
    for rule in RULES:
        runs = [common.train_and_test(files.train, files.test, ["--method", "falk-l", "--selection-rule", rule, "--seed", seed], options)
                for seed in range(1, options.runs + 1)]
        result |= {"rows": runs[0]["rows"], f"{rule}_error": sum(r["error"] for r in runs) / len(runs),
                   f"{rule}_cpu_seconds": sum(r["train_cpu_seconds"] for r in runs) / len(runs)}
        for what in ("k", "cost", "percentile"):
            result[f"{rule}_{what}"] = "/".join(f"{r['report'][f'selected_{what}']:g}" for r in runs)
    return result


def rule_cells(r):
    return [r["data"], r["half"], f"{r['rows']:,}",
            *(cell for rule in RULES for cell in (common.percent(r[f"{rule}_error"]), r[f"{rule}_k"], r[f"{rule}_cost"],
                                                  r[f"{rule}_percentile"]))]


def probability_text(p):
    return "all equal" if p is None else f"p = {p:.3f}"


def rule_summary(results, options):
    """Wins and the mean ratio of the errors, over both halves."""
    lines = []
    for half in ("choosing", "reporting"):
        rows = [r for r in results if r["half"] == half]
        if not rows:
            continue
        a, b = ([r[f"{rule}_error"] for r in rows] for rule in RULES)
        ratio = math.exp(sum(math.log(x / y) for x, y in zip(a, b) if x > 0 and y > 0) / len(rows))
        lines.append(f"- {half} half: {RULES[0]} has the lower error on {sum(x < y for x, y in zip(a, b))} of {len(rows)} sets, the "
                     f"higher on {sum(x > y for x, y in zip(a, b))}; geometric mean of the ratios of the errors {ratio:.3f}")
    a, b = ([r[f"{rule}_error"] for r in results] for rule in RULES)
    lines.append(f"- all: Wilcoxon signed-rank test {probability_text(ranks.wilcoxon(a, b))}; {RULES[0]} takes "
                 f"{sum(r[RULES[0] + '_cpu_seconds'] for r in results) / sum(r[RULES[1] + '_cpu_seconds'] for r in results):.2f} times the "
                 "CPU time")
    return "\n".join(lines)


def rules(options):
    name = "falk_rules"
    results = common.load(name, options)
    print(measure.markdown_head(RULE_TITLES), flush=True)
    for half, problem in chosen(options):
        files = common.prepare(problem, options)
        if files is None:
            continue
        results[short(problem.name)] = result = measure_rules(half, problem, files, options)
        common.save(name, results, order(), options)
        print(measure.markdown_row(rule_cells(result)), flush=True)
    ordered = [results[key] for key in order() if key in results]
    if ordered:
        text = "\n".join([measure.markdown_head(RULE_TITLES), *(measure.markdown_row(rule_cells(r)) for r in ordered), "",
                          rule_summary(ordered, options), "",
                          f"At most {TEST_ROWS:,} test rows; seeds 1 to {options.runs}, whose choices are separated by /; everything else "
                          f"at its default. {common.machine(options)}"])
        print(rule_summary(ordered, options))
        if options.write:
            common.publish(name, text, options)
    return 0


def measure_neighbors(half, problem, files, options):
    result = {"data": short(problem.name), "half": half, "parameters": " ".join(problem.parameters)}
    base = ["--method", "falk", *problem.parameters]
    for k in NEIGHBORS:
        run = common.train_and_test(files.train, files.test, [*base, "--k", k], options)
        result |= {"rows": run["rows"], f"error_{k}": run["error"], f"cpu_seconds_{k}": run["train_cpu_seconds"]}
    trial = common.tune(files.train, [*base, "--centres", TRIAL_CENTRES, *common.grid("k", NEIGHBORS)], options)
    k = int(trial["point"]["k"])
    return result | {"trial_k": k, "trial_error": result[f"error_{k}"],
                     "trial_share": trial["cpu_seconds"] / result[f"cpu_seconds_{NEIGHBORS[0]}"]}


def neighbor_cells(r):
    return [r["data"], r["half"], f"{r['rows']:,}", *(common.percent(r[f"error_{k}"]) for k in NEIGHBORS), r["trial_k"],
            common.percent(r["trial_error"]), f"{r['trial_share']:.1f}x"]


def neighbors(options):
    name = "falk_k"
    results = common.load(name, options)
    print(measure.markdown_head(NEIGHBOR_TITLES), flush=True)
    for half, problem in chosen(options):
        files = common.prepare(problem, options)
        if files is None:
            continue
        results[short(problem.name)] = result = measure_neighbors(half, problem, files, options)
        common.save(name, results, order(), options)
        print(measure.markdown_row(neighbor_cells(result)), flush=True)
    ordered = [results[key] for key in order() if key in results]
    if options.write and ordered:
        text = "\n".join([measure.markdown_head(NEIGHBOR_TITLES), *(measure.markdown_row(neighbor_cells(r)) for r in ordered), "",
                          f"`falk`; trial: `tamis tune --method falk --centres {TRIAL_CENTRES} --grid k={','.join(map(str, NEIGHBORS))}` on the "
                          "training rows; last column: its CPU time over that of training with k = 500. "
                          + "; ".join(f"{r['data']} `{r['parameters']}`" for r in ordered) + f". {common.machine(options)}"])
        common.publish(name, text, options)
    return 0
