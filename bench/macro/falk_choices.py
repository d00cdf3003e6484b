"""What FaLK-SVM chooses for its user: --parts rules, the two rules of falk-l on ten data sets; --parts k, the neighborhoods of
falk and whether a quick local trial finds the better k. Standard library only."""
import dataclasses
import math

import falk_common as common
import measure
import ranks
from problems import Problem

TEST_ROWS = 10_000
# The first five are for choosing the default, the others for saying how good it is.
CHOOSING = [
    Problem("covtype", "covtype-93k-binary", ("-c", "10", "-g", "32"), 0, "part"),
    Problem("ijcnn1", "ijcnn1", ("-c", "10", "-g", "2"), 0, "part"),
    Problem("checkerboard", "", ("-c", "10", "-g", "100"), 0, "generated", generator=("checkerboard",)),
    Problem("phoneme", "phoneme", ("-c", "10"), 0, "part", 4_000),
    Problem("ring", "ring", ("-c", "10"), 0, "part", 5_000),
]
REPORTING = [
    Problem("cod-rna", "cod-rna", ("-c", "32", "-g", "8"), 0, "part"),
    Problem("2-spirals", "", ("-c", "10", "-g", "30"), 0, "generated", generator=("spirals", "--noise", "0.05")),
    Problem("ndcc", "", ("-c", "1", "-g", "1"), 0, "generated", generator=("ndcc",)),
    Problem("mammography", "mammography", ("-c", "10"), 0, "part", 6_000),
    Problem("banana", "banana", ("-c", "10"), 0, "part", 3_000),
]
RULES = ["lowest-error", "smoothest"]
RULE_TITLES = ["data", "half", "rows", *(f"{rule}: {what}" for rule in RULES for what in ("error %", "k", "C", "percentile"))]
TRIAL_CENTRES = 10


def chosen(options):
    """Half, name and files of each data set, with the rows asked for, if it has as many."""
    only = options.only.split(",") if options.only else order()
    for half, problems in (("choosing", CHOOSING), ("reporting", REPORTING)):
        for one in [p for p in problems if p.name in only]:
            rows = min(one.rows or options.part_rows, options.part_rows)
            part = dataclasses.replace(one, name=f"falk-part-{one.name}-{rows}", rows=rows, test_rows=TEST_ROWS)
            files = common.prepare(part, options)
            if files:
                yield half, one, files


def order():
    return [p.name for p in CHOOSING + REPORTING]


def measure_rules(half, problem, files, options):
    result = {"data": problem.name, "half": half, "runs": options.runs, "k_values": options.k_values}
    for rule in RULES:
        runs = [common.train_and_test(files.train, files.test, ["--method", "falk-l", "--selection-rule", rule, "--k-grid", options.k_values,
                                                                  "--seed", seed], options)
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
    for half, problem, files in chosen(options):
        results[problem.name] = result = measure_rules(half, problem, files, options)
        common.save(name, results, order(), options)
        print(measure.markdown_row(rule_cells(result)), flush=True)
    ordered = [results[key] for key in order() if key in results]
    if ordered:
        text = "\n".join([measure.markdown_head(RULE_TITLES), *(measure.markdown_row(rule_cells(r)) for r in ordered), "",
                          rule_summary(ordered, options), "",
                          f"At most {TEST_ROWS:,} test rows; seeds of each: {measure.range_text([r['runs'] for r in ordered])}, their choices "
                          f"separated by /; k of {' or '.join(dict.fromkeys(r['k_values'] for r in ordered))}; everything else at its "
                          f"default. {common.machine(options)}"])
        print(rule_summary(ordered, options))
        if options.write:
            common.publish(name, text, options)
    return 0


def neighbor_titles(values):
    return ["data", "half", "rows", *(f"k = {k}: error %" for k in values), "k of the trial", "its error %",
            f"trial / training at k = {values[0]}"]


def measure_neighbors(half, problem, files, values, options):
    result = {"data": problem.name, "half": half, "parameters": " ".join(problem.parameters), "k_values": options.k_values}
    base = ["--method", "falk", *problem.parameters]
    for k in values:
        run = common.train_and_test(files.train, files.test, [*base, "--k", k], options)
        result |= {"rows": run["rows"], f"error_{k}": run["error"], f"cpu_seconds_{k}": run["train_cpu_seconds"]}
    trial = common.tune(files.train, [*base, "--centres", TRIAL_CENTRES, *common.grid("k", values)], options)
    k = int(trial["point"]["k"])
    return result | {"trial_k": k, "trial_error": result[f"error_{k}"],
                     "trial_share": trial["cpu_seconds"] / result[f"cpu_seconds_{values[0]}"]}


def neighbor_cells(r, values):
    return [r["data"], r["half"], f"{r['rows']:,}", *(common.percent(r[f"error_{k}"]) for k in values), r["trial_k"],
            common.percent(r["trial_error"]), f"{r['trial_share']:.1f}x"]


def neighbors(options):
    name = "falk_k"
    results = {key: r for key, r in common.load(name, options).items() if r["k_values"] == options.k_values}
    values = [int(k) for k in options.k_values.split(",")]
    print(measure.markdown_head(neighbor_titles(values)), flush=True)
    for half, problem, files in chosen(options):
        results[problem.name] = result = measure_neighbors(half, problem, files, values, options)
        common.save(name, results, order(), options)
        print(measure.markdown_row(neighbor_cells(result, values)), flush=True)
    ordered = [results[key] for key in order() if key in results]
    if options.write and ordered:
        text = "\n".join([measure.markdown_head(neighbor_titles(values)), *(measure.markdown_row(neighbor_cells(r, values)) for r in ordered),
                          "", f"`falk`; trial: `tamis tune --method falk --centres {TRIAL_CENTRES} --grid k={options.k_values}` on the training rows; "
                          f"last column: its CPU time over that of training with k = {values[0]}. "
                          + "; ".join(f"{r['data']} `{r['parameters']}`" for r in ordered) + f". {common.machine(options)}"])
        common.publish(name, text, options)
    return 0
