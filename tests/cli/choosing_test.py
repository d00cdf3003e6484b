"""compare and tune as a user runs them."""
import csv
import io
import os
import pathlib
import shlex
import shutil
import signal
import time
import unittest

from harness import SANITIZED, CliTest, main


def processor_seconds(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Compare(CliTest):
    def setUp(self):
        super().setUp()
        self.ok("generate", "checkerboard", "--rows", 500, "-o", "train.svm")
        self.ok("generate", "checkerboard", "--rows", 300, "--seed", 2, "-o", "test.svm")

    def compare(self, *arguments):
        return self.ok("compare", "train.svm", "--test", "test.svm", "-c", 10, "-g", 100, *arguments)

    def test_table(self):
        lines = self.compare("--methods", "exact,falk,linear", "--set", "falk.k=50").out.splitlines()
        self.assertEqual(lines[0], "500 training rows, 300 test rows, 2 features, 2 classes")
        self.assertRegex(lines[1], r"^method +error +to +SVs")
        self.assertRegex(lines[2], r"^ +% +full +full's ")
        self.assertRegex(lines[3], r"^exact +[\d.]+ +1\.00 +\d+ +100 % .* 500$")
        self.assertEqual([line.split()[0] for line in lines[3:]], ["exact", "falk", "linear"])

    def test_tables_fit_80_columns(self):
        methods = "exact,opt-soft-margin,local-sampling,exact/limited"
        for runs in (1, 3):
            out = self.compare("--methods", methods, "--set", "exact/limited.max-iterations=5", "--runs", runs).out
            self.assertLessEqual(max(map(len, out.splitlines())), 80, out)
        self.assertRegex(out, r"\nexact/limited: stopped by iteration limit\n")

    def test_files(self):
        self.compare("--methods", "exact,knn", "--csv", "t.csv", "--markdown", "t.md", "--json", "t.json", "--runs", 2)
        rows = list(csv.DictReader(io.StringIO(self.read("t.csv"))))
        self.assertEqual([row["name"] for row in rows], ["exact", "knn"])
        report = self.report("t.json")
        self.assertEqual(float(rows[0]["error_rate"]), report["rows"][0]["error_rate"]["mean"])
        self.assertEqual(len(report["rows"][1]["by_run"]), 2)
        self.assertIn("cost 10", rows[0]["parameters"])
        markdown = self.read("t.md").splitlines()
        self.assertEqual(len({line.count("|") for line in markdown}), 1)
        self.assertTrue(markdown[2].startswith("| exact |"))

    def test_one_method_several_times(self):
        report = self.compare("--methods", "falk,falk/small", "--set", "falk/small.k=30", "--json", "-")
        self.assertIn('"falk/small"', report.out)
        self.assertIn('"k 30"', report.out)

    def test_three_failures(self):
        result = self.compare("--methods", "exact,falk,falk-c,exact/limited", "--set", "falk.k=10", "--set",
                              "falk.k-prime=20", "--set", "exact/limited.max-iterations=2", "--set", "falk-c.eps=-1")
        lines = {line.split()[0]: line for line in result.out.splitlines()[3:]}
        self.assertRegex(lines["falk"], "no result: k-prime is 20")
        self.assertRegex(lines["falk-c"], "no result: eps is -1")
        self.assertRegex(lines["exact/limited:"], "stopped by iteration limit$")
        self.assertNotIn("no result", lines["exact"])

    def test_split(self):
        lines = self.ok("compare", "train.svm", "--split", 0.2, "--methods", "knn").out.splitlines()
        self.assertEqual(lines[0], "400 training rows, 100 test rows, 2 features, 2 classes")

    @unittest.skipUnless(shutil.which("svm-train"), "LIBSVM is not installed")
    def test_libsvm(self):
        report = self.compare("--methods", "exact", "--with-libsvm", "--scale", "minmax", "--json", "r.json")
        exact, libsvm = self.report("r.json")["rows"]
        self.assertEqual(libsvm["name"], "libsvm")
        self.assertAlmostEqual(libsvm["error_rate"]["mean"], exact["error_rate"]["mean"], delta=2 / 300)
        self.assertAlmostEqual(libsvm["support_vectors"]["mean"], exact["support_vectors"]["mean"], delta=5)

    def test_wrong_usage(self):
        self.fails(2, "no method 'falc'; did you mean falk", "compare", "train.svm", "--methods", "falc")
        self.fails(2, "names exact twice", "compare", "train.svm", "--methods", "exact,exact")
        self.fails(2, "METHOD.OPTION=VALUE", "compare", "train.svm", "--set", "k=3")
        self.fails(2, "does not name 'knn'", "compare", "train.svm", "--methods", "exact", "--set", "knn.k=3")
        self.fails(2, "no training option 'kk'", "compare", "train.svm", "--methods", "knn", "--set", "knn.kk=3")
        self.fails(2, "exact has no option k", "compare", "train.svm", "--methods", "exact", "--set", "exact.k=3")
        self.fails(2, "k is for the methods", "compare", "train.svm", "--methods", "exact", "--k", 3)

    def test_interrupt_keeps_rows(self):
        process = self.start("compare", "train.svm", "--test", "test.svm", "--methods", "exact,knn", "--runs", 10000, "-c", 10,
                             "-g", 100, "--csv", "t.csv")
        # Short runs show no progress: what it has worked is the sign that some are done.
        while process.poll() is None and processor_seconds(process.pid) < (10 if SANITIZED else 1):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        lines = out.decode().splitlines()
        self.assertRegex(lines[3], r"^exact +[\d.]+ \+- ")
        self.assertRegex(lines[-1], r"^exact: interrupted after \d+ of 10000 runs$")
        self.assertRegex(lines[4], r"^knn +no result: interrupted$")
        self.assertEqual([row["name"] for row in csv.DictReader(io.StringIO(self.read("t.csv")))], ["exact", "knn"])


class Tune(CliTest):
    def setUp(self):
        super().setUp()
        self.ok("generate", "checkerboard", "--rows", 600, "-o", "train.svm")

    def test_heat_map(self):
        out = self.ok("tune", "train.svm", "--grid", "cost=1,10,100", "--grid", "gamma=2^4:2^8:4").out.splitlines()
        self.assertRegex(out[0], r"^9 of 9 points, 5 folds, 600 of 600 rows")
        self.assertRegex(out[2], r"^cost \\ gamma +2\^4 +2\^6 +2\^8$")
        self.assertEqual([line.split()[0] for line in out[3:6]], ["100", "10", "1"])
        self.assertEqual(sum(line.count("[") for line in out[3:6]), 1)
        self.assertRegex(out[-2], r"^best: [\d.]+ % \+- [\d.]+ %, with --cost \d+ --gamma \d+$")
        self.assertRegex(out[-1], r"^to train: tamis train train.svm --method exact --cost \d+ --gamma \d+$")

    def test_the_command_to_train_has_every_option(self):
        self.ok("convert", "train.svm", "-o", "my rows.csv")
        grid = ("--grid", "cost=1,10", "--grid", "gamma=8,16")
        out = self.ok("tune", "my rows.csv", *grid, "--scale", "standard", "--seed", 7, "--label", "label", "-w", "-1:2").out
        self.assertRegex(out.splitlines()[-1], r"^to train: tamis train 'my rows.csv' --method exact --cost \d+ --gamma \d+ "
                                               r"--class-weight -1:2 --scale standard --seed 7 --label label$")
        command = shlex.split(out.splitlines()[-1].removeprefix("to train: tamis "))
        self.ok(*command, "-o", "m.model")

    def test_the_seed_draws_folds_for_a_method_without_one(self):
        out = self.ok("tune", "train.svm", "--method", "knn", "--seed", 7).out
        self.assertRegex(out.splitlines()[-1], r"^to train: tamis train train.svm --method knn --k \d+$")
        self.assertNotEqual(out.splitlines()[2:], self.ok("tune", "train.svm", "--method", "knn", "--seed", 8).out.splitlines()[2:])
        self.ok("compare", "train.svm", "--methods", "knn", "--seed", 7)

    def test_options_that_depend_on_what_is_tried(self):
        base = ("tune", "train.svm", "--method", "leader", "-c", "10", "-g", "100", "--boundary", "leaders")
        self.assertIn("--boundary leaders", self.ok(*base, "--leaders", 60, "--grid", "refine=0,1,2").out.splitlines()[-1])
        self.fails(2, "--boundary has no effect", *base, "--grid", "leaders=50,60")
        self.fails(2, "--cost has no effect", "tune", "train.svm", "--method", "opt-soft-margin", "-c", "10", "--grid", "nu=0.2,0.5")

    def test_a_wide_map_has_blocks_of_columns(self):
        out = self.ok("tune", "train.svm", "--rows", 200).out.splitlines()
        self.assertLessEqual(max(map(len, out)), 80)
        self.assertEqual(sum(line.startswith("cost \\ gamma ") for line in out), 2)
        self.assertEqual(sum(line.count("[") for line in out), 1)

    def test_colors_only_on_a_terminal_without_no_color(self):
        search = ("tune", "train.svm", "--grid", "cost=1,10", "--grid", "gamma=8,16")
        self.assertNotIn("\x1b", self.ok(*search).out)
        plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        for settings, colored in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            self.assertEqual("\x1b[97;48;5;" in self.on_terminal(*search, env={"TERM": "xterm", **plain, **settings}), colored, settings)

    def test_default_grid(self):
        report = self.ok("tune", "train.svm", "--json", "t.json", "--csv", "t.csv")
        found = self.report("t.json")
        self.assertEqual(len(found["points"]), 100)
        self.assertEqual(len(self.read("t.csv").splitlines()), 101)
        self.assertEqual(found["best"]["error_rate"], min(p["error_rate"] for p in found["points"] if "dropped" not in p))
        self.assertLess(found["best"]["error_rate"], 0.15)
        self.assertIn("best: ", report.out)

    def test_dropped_points_are_marked(self):
        search = ("tune", "train.svm", "--grid", "cost=1,10,100", "--grid", "gamma=1,16,100", "--json", "t.json", "--csv", "t.csv")
        out = self.ok(*search).out
        points = self.report("t.json")["points"]
        dropped = [p for p in points if p.get("dropped")]
        self.assertGreater(len(dropped), 0)
        self.assertTrue(all(p["folds"] == 1 and "deviation" not in p for p in dropped if p["gamma"] == 1))
        self.assertTrue(all(p["folds"] == 5 for p in points if p not in dropped))
        self.assertEqual(out.count("*"), len(dropped) + 1)
        self.assertRegex(out, rf"\n\*: {len(dropped)} points dropped after the first folds")
        lines = self.read("t.csv").splitlines()
        self.assertEqual(lines[0], "cost,gamma,error,deviation,folds,rows,seconds,note")
        self.assertEqual(sum(line.endswith(",dropped") for line in lines), len(dropped))

    def test_racing_can_be_switched_off(self):
        grid = ("tune", "train.svm", "--grid", "cost=1,10,100", "--grid", "gamma=1,16,100", "--json", "t.json")
        best = [self.ok(*grid, "--racing", how).out.splitlines()[-2] for how in ("yes", "no")]
        self.assertEqual(best[0], best[1])
        self.assertTrue(all(p["folds"] == 5 and "dropped" not in p for p in self.report("t.json")["points"]))
        self.fails(2, "--racing", *grid, "--racing", "maybe")

    def test_lists_put_dropped_points_last(self):
        out = self.ok("tune", "train.svm", "--method", "knn", "--grid", "k=3,9,300").out.splitlines()
        self.assertRegex(out[3], r"^ +[\d.]+ %\* --k 300$")
        self.assertRegex(out[4], r"^\*: 1 point dropped")

    def test_trains_the_best(self):
        self.ok("tune", "train.svm", "--grid", "cost=10,100", "--grid", "gamma=100,200", "-o", "best.model")
        out = self.ok("evaluate", "best.model", "train.svm").out
        self.assertRegex(out, r"error rate [0-8]\.")

    def test_other_methods(self):
        out = self.ok("tune", "train.svm", "--method", "knn").out
        self.assertRegex(out, r"best: .* with --k \d+\n")

    def test_no_time(self):
        result = self.run_tamis("tune", "train.svm", "--search-seconds", 1e-6)
        self.assertEqual(result.code, 1)
        self.assertIn("raise it", result.err)

    def test_halving_that_the_limit_ends_says_so(self):
        self.ok("generate", "ndcc", "--rows", 20000, "-o", "many.svm")
        halving = ("tune", "many.svm", "--search", "halving", "--rows", "all", "--json", "r.json")
        result = self.run_tamis(*halving, "--search-seconds", 1)
        self.assertEqual(result.code, 3)
        self.assertIn("the time limit ended the search", result.err)
        self.assertFalse(self.report("r.json")["finished"])
        self.assertNotIn("limit", self.ok("tune", "train.svm", *halving[2:], "--grid", "cost=1,10", "-g", 100).err)
        self.assertTrue(self.report("r.json")["finished"])

    def test_says_which_limit_is_that_of_the_search(self):
        note = "--search-seconds limits the search"
        grid = ["tune", "train.svm", "--grid", "cost=1,10", "-g", 100, "--max-seconds", 50]
        self.assertIn(note, self.ok(*grid).err)
        self.assertNotIn(note, self.ok(*grid, "--search-seconds", 50).err)

    def test_wrong_usage(self):
        self.fails(2, "OPTION=VALUE", "tune", "train.svm", "--grid", "cost")
        self.fails(2, "factor above 1", "tune", "train.svm", "--grid", "cost=1:10:1")
        self.fails(2, "no training option 'costs'", "tune", "train.svm", "--grid", "costs=1")
        self.fails(2, "do not go together", "tune", "train.svm", "--grid", "cost=1,2", "-c", 3)
        self.fails(2, "was given twice", "tune", "train.svm", "--grid", "cost=1,2", "--grid", "cost=3")
        self.fails(2, "chooses method and parameters itself", "tune", "train.svm", "--method", "auto")
        self.fails(2, "become numbers only once", "tune", "train.svm", "--grid", "max-categories=2,3")
        self.fails(2, "do not go together", "compare", "train.svm", "--tune", "-c", 3)


class Auto(CliTest):
    def test_says_what_and_why(self):
        self.ok("generate", "checkerboard", "--rows", 800, "-o", "train.svm")
        result = self.ok("train", "train.svm", "--method", "auto", "-c", 10, "--max-seconds", 20, "--json", "r.json", "-o", "m")
        lines = result.err.splitlines()
        self.assertRegex(lines[0], r"^auto: exact(, laplacian kernel)?, cost 10, gamma [\d.]+.*, on all 800 rows$")
        self.assertRegex(lines[1], r"^forecast: [\d.e-]+ s of training, error [\d.]+ %; choosing took [\d.]+ s$")
        self.assertRegex(lines[2], r"^why: lowest forecast error within [\d.]+ s of exact(, laplacian kernel)? [\d.]+ % in ")
        last = next(i for i, line in enumerate(lines) if line.startswith("training took "))
        self.assertRegex(lines[last], r"^training took [\d.e-]+ s, forecast ")
        self.assertRegex(lines[last - 1], r"^(nothing better was found in [\d.e-]+ s more|[\d.e-]+ s more of search: better by .+)$")
        report = self.report("r.json")
        self.assertEqual(report["method"], "exact")
        self.assertEqual(report["remarks"], lines[:last + 1])
        self.assertEqual(report["chosen_cost"], 10)
        self.assertIn("forecast_error", report)
        self.assertIn("actual_seconds", report)

    def test_quiet(self):
        self.ok("generate", "checkerboard", "--rows", 300, "-o", "train.svm")
        self.assertEqual(self.ok("train", "train.svm", "--method", "auto", "-c", 10, "-g", 50, "-q", "-o", "m").err, "")

    def test_default_above_100000_rows(self):
        self.ok("generate", "checkerboard", "--rows", 100001, "-o", "large.svm")
        arguments = ("train", "large.svm", "-c", 10, "-g", 100, "-o", "m", "--max-seconds", 4, "--json", "r.json")
        result = self.run_tamis(*arguments)
        self.assertIn(result.code, (0, 3))
        self.assertIn("100001 rows and no --method: auto chooses\n", result.err)
        self.assertIn("remarks", self.report("r.json"))
        result = self.run_tamis(*arguments, "--method", "exact", "--max-iterations", 100)
        self.assertEqual(result.code, 3)
        self.assertNotIn("remarks", self.report("r.json"))

    def test_as_a_row(self):
        self.ok("generate", "checkerboard", "--rows", 500, "-o", "train.svm")
        self.ok("compare", "train.svm", "--methods", "auto,exact", "-g", 100, "-c", 10, "--scale", "minmax", "--json", "r.json")
        auto, exact = self.report("r.json")["rows"]
        self.assertIn("forecast_error", auto["details"])
        self.assertEqual(auto["error_rate"], exact["error_rate"])


if __name__ == "__main__":
    main()
