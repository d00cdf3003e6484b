"""Every command does its job."""
import json
import os
import random
import re

from harness import LINEAR_MODEL, REGRESSION_MODEL, CliTest, main


class Generate(CliTest):
    def test_standard_output_is_svmlight(self):
        lines = self.ok("generate", "checkerboard", "--rows", 20).out.splitlines()
        self.assertEqual(len(lines), 20)
        self.assertRegex(lines[0], r"^-?1 1:0\.\d+ 2:0\.\d+$")

    def test_formats_by_the_ending(self):
        self.ok("generate", "spirals", "--rows", 30, "-o", "a.csv")
        self.ok("generate", "spirals", "--rows", 30, "-o", "a.npy")
        self.ok("generate", "spirals", "--rows", 30, "--format", "csv", "-o", "b.txt")
        self.assertIn("a.npy", self.files())
        self.assertEqual(self.read("a.csv"), self.read("b.txt"))
        self.assertGreaterEqual(len(self.read("a.csv").splitlines()), 30)

    def test_seed_and_threads(self):
        one = self.ok("generate", "ndcc", "--rows", 5000, "--seed", 3, "--threads", 1).out
        self.assertEqual(one, self.ok("generate", "ndcc", "--rows", 5000, "--seed", 3, "--threads", 5).out)
        self.assertNotEqual(one, self.ok("generate", "ndcc", "--rows", 5000, "--seed", 4).out)
        self.assertTrue(one.startswith(self.ok("generate", "ndcc", "--rows", 10, "--seed", 3).out))

    def test_every_generator(self):
        for name, features in (("checkerboard", 2), ("spirals", 2), ("ten-gaussians", 2), ("ndcc", 5), ("gaussians", 10),
                               ("halfspaces", 10), ("words", 47236)):
            self.ok("generate", name, "-o", "x.svm", "--json", "r.json")
            report = self.report("r.json")
            self.assertEqual((report["rows"], report["features"]), (1000, features))
            self.assertEqual(report["bayes_error"] is None, name in ("ndcc", "words"))
        self.ok("generate", "gaussians", "--regression", "--features", 3, "--rows", "1e3", "-o", "y.svm")
        self.assertIn("targets", self.ok("check", "y.svm").out)


class Quiet(CliTest):
    """With -q: results on standard output, and nothing on standard error."""

    def setUp(self):
        super().setUp()
        self.ok("generate", "checkerboard", "--rows", 200, "-o", "a.svm")
        self.ok("train", "a.svm", "-o", "m")

    def quiet(self, *arguments, code=0):
        result = self.run_tamis(*arguments, "-q")
        self.assertEqual((result.code, result.err), (code, ""), arguments)
        return result.out

    def test_files_are_written_in_silence(self):
        for command in (("generate", "spirals", "--rows", 20, "-o", "out"), ("scale", "a.svm", "-o", "out"),
                        ("convert", "a.svm", "-o", "out"), ("train", "a.svm", "-o", "out"),
                        ("calibrate", "m", "a.svm", "-o", "out"), ("predict", "m", "a.svm", "-o", "out")):
            self.assertEqual(self.quiet(*command), "")
            (self.folder / "out").unlink()
        self.assertEqual(self.quiet("train", "a.svm", "-c", 1000, "--max-iterations", 5, "-o", "out", code=3), "")

    def test_results_are_printed(self):
        for command in (("evaluate", "m", "a.svm"), ("certify", "m", "a.svm"), ("check", "a.svm"), ("info", "m"),
                        ("predict", "m", "a.svm"), ("generate", "spirals", "--rows", 20), ("scale", "a.svm")):
            self.assertEqual(self.quiet(*command), self.ok(*command).out)
        self.assertIn("exact", self.quiet("compare", "a.svm", "--methods", "exact"))
        self.assertIn('"stop_reason": "converged"', self.quiet("train", "a.svm", "-o", "out", "--json", "-"))
        self.assertGreater(len(self.quiet("convert", "m", "--to", "libsvm", "-o", "-")), 100)

    def test_tune_prints_the_search_but_not_the_training(self):
        search = ("tune", "a.svm", "--grid", "cost=1,10", "--folds", 2)
        lines = self.quiet(*search, "-o", "out").splitlines()
        self.assertTrue(lines[-1].startswith("best: "), lines)
        self.assertEqual(self.ok(*search, "-o", "out").out.splitlines()[-1], "model written to out")
        self.assertTrue(self.quiet(*search, "--csv", "-").startswith("cost,error,"))
        model = self.start(*search, "-o", "-")  # bytes, not text
        self.assertEqual(model.communicate()[0][8:9], b"{")
        self.fails(2, "standard output", *search, "--csv", "-", "-o", "-")


class OneOfEach(CliTest):
    """No command speaks of 1 rows."""

    def test_singular(self):
        self.write("one.svm", "1 1:2\n")
        self.write("wrong.svm", "-1 1:2\n")
        self.write("wide.csv", "2,1\n")
        self.write("two.svm", "1 1:2\n-1 1:-2\n")
        self.write("alike.svm", "1 1:2 2:1\n-1 1:2 2:1\n" + "1 1:3 2:1\n" * 30)
        text = ""
        for command in (("convert", "one.svm", "-o", "one.csv"), ("scale", "one.svm", "-o", "s.svm"),
                        ("generate", "gaussians", "--rows", 1, "--features", 1, "-o", "g.svm"),
                        ("train", "two.svm", "-o", "m"), ("info", "m"), ("evaluate", "m", "one.svm"),
                        ("certify", "m", "two.svm", "--against", "m"), ("check", "one.svm"), ("check", "alike.svm"),
                        ("train", "two.svm", "--method", "falk", "-o", "f"), ("train", "two.svm", "--method", "linear", "-o", "l"),
                        ("train", "two.svm", "--method", "random-subset", "--members", 1, "-o", "e"),
                        ("compare", "two.svm", "--test", "one.svm", "--methods", "exact"),
                        ("tune", "two.svm", "--grid", "cost=1", "--folds", 2),
                        ("tune", "one.svm"), ("certify", "m", "one.svm"), ("evaluate", "m", "wrong.svm"),
                        ("predict", "m", "wide.csv", "--label", "none")):
            result = self.run_tamis(*command)
            text += result.out + result.err
        nouns = "rows|features|vectors|SVMs|errors|iterations|points|members|columns|classes"
        self.assertNotRegex(text, r"\b1 (?:local |support |training |test |of 1 )?(?:" + nouns + r")\b")
        for part in ("1 row, 1 feature", "after 1 iteration in", "1 error", "1 test row", "1 of 1 point", "1 member",
                     "1 local SVM", "1 column is constant", "1 row repeats", "1 row (100 %)", "1 row is too few",
                     "1 support vector is", "only 1 column is known"):
            self.assertIn(part, text)


class Predict(CliTest):
    def setUp(self):
        super().setUp()
        self.write("linear.model", LINEAR_MODEL)
        self.write("svr.model", REGRESSION_MODEL)
        self.write("test.svm", "1 1:3\n-1 1:-2 2:1\n-1 1:0.5\n")

    def test_labels_and_accuracy(self):
        result = self.ok("predict", "linear.model", "test.svm")
        self.assertEqual(result.out, "1\n-1\n1\n")
        self.assertEqual(result.err, "Accuracy = 66.6667% (2/3) (classification)\n")
        self.assertEqual(self.ok("predict", "linear.model", "test.svm", "-q").err, "")

    def test_to_a_file_with_a_report(self):
        self.ok("predict", "linear.model", "test.svm", "-o", "out.txt", "--json", "-", "-q")
        report = json.loads(self.ok("predict", "linear.model", "test.svm", "-o", "out.txt", "--json", "-", "-q").out)
        self.assertEqual(self.read("out.txt"), "1\n-1\n1\n")
        self.assertEqual((report["rows"], report["right"]), (3, 2))
        self.assertIn("predict", report["seconds"])

    def test_decision_values(self):
        lines = self.ok("predict", "linear.model", "test.svm", "--decision-values").out.splitlines()
        self.assertEqual(lines, ["label\t1/-1", "1\t6", "-1\t-4", "1\t1"])

    def test_labels_the_model_does_not_know(self):
        self.write("other.svm", "7 1:3\n8 1:-2\n")
        result = self.ok("predict", "linear.model", "other.svm")
        self.assertEqual((result.out, result.err), ("1\n-1\n", ""))

    def test_regression(self):
        result = self.ok("predict", "svr.model", "-", stdin="7 1:3\n-3 1:-2\n4 1:1\n")
        self.assertEqual(result.out, "7\n-3\n3\n")
        self.assertIn("Mean squared error = 0.333333 (regression)", result.err)
        self.assertIn("Squared correlation coefficient", result.err)

    def test_csv(self):
        self.write("t.csv", "a,b,kind\n3,0,1\n-2,1,-1\n")
        self.assertEqual(self.ok("predict", "linear.model", "t.csv", "--label", "kind").out, "1\n-1\n")
        self.write("u.csv", "3,0\n-2,1\n")
        result = self.ok("predict", "linear.model", "u.csv", "--label", "none")
        self.assertEqual((result.out, result.err), ("1\n-1\n", ""))


class Calibrate(CliTest):
    def setUp(self):
        super().setUp()
        for name, seed in (("train", 1), ("held", 2), ("test", 3)):
            self.ok("generate", "gaussians", "--rows", 400, "--seed", seed, "-o", name + ".svm")
        self.ok("train", "train.svm", "--method", "linear", "--bias", 1, "-o", "m")

    def table(self, text):
        head, *rows = [line.split("\t") for line in text.splitlines()]
        return head, rows

    def test_labels_stay_and_probabilities_come(self):
        labels = self.ok("predict", "m", "test.svm").out.split()
        for how in ("sigmoid", "isotonic"):
            said = self.ok("calibrate", "m", "held.svm", "-o", "c", "--how", how).out
            self.assertRegex(said, rf"\A{how} on 400 rows: log loss [\d.]+, Brier score [\d.]+\nmodel written to c\n\Z")
            self.assertEqual(self.ok("predict", "c", "test.svm").out.split(), labels)
            head, rows = self.table(self.ok("predict", "c", "test.svm", "--probabilities").out)
            self.assertEqual(head, ["label", "1", "-1"])
            self.assertEqual([row[0] for row in rows], labels)
            for _, first, second in rows:
                self.assertAlmostEqual(float(first) + float(second), 1, 9)
            self.ok("evaluate", "c", "test.svm", "--json", "r.json")
            report = self.report("r.json")
            self.assertLess(report["log_loss"], 0.69)
            self.assertLess(report["brier"], 0.25)
            self.assertIn("probabilities    yes", self.ok("info", "c").out)

    def test_folds(self):
        self.ok("train", "train.svm", "-g", "0.1", "--probability-folds", 3, "--calibration", "isotonic", "-o", "c",
                "--json", "r.json")
        self.assertEqual(self.report("r.json")["probability_folds"], 3)
        self.assertIn("log loss", self.ok("evaluate", "c", "test.svm").out)
        self.fails(2, "folds", "train", "train.svm", "--probability-folds", 1, "-o", "x")

    def test_refused(self):
        self.fails(2, "no probabilities", "predict", "m", "test.svm", "--probabilities")
        self.fails(2, "do not go together", "predict", "m", "test.svm", "--probabilities", "--decision-values")
        self.fails(2, "give --output", "calibrate", "m", "held.svm")
        self.write("one.svm", "1 1:1\n1 1:2\n")
        self.fails(1, "no row has the label -1", "calibrate", "m", "one.svm", "-o", "x")
        self.write("svr.model", REGRESSION_MODEL)
        self.fails(2, "regression", "calibrate", "svr.model", "held.svm", "-o", "x")
        self.ok("calibrate", "m", "held.svm", "-o", "c")
        self.fails(1, "of the kind linear", "convert", "c", "--to", "libsvm", "-o", "x")

    def test_models_of_libsvm(self):
        self.write("libsvm.model", LINEAR_MODEL.replace("label 1 -1\n", "label 1 -1\nprobA -1\nprobB 0\n"))
        self.write("one.svm", "1 1:0\n")
        head, rows = self.table(self.ok("predict", "libsvm.model", "one.svm", "--probabilities", "-q").out)
        self.assertEqual((head, rows), (["label", "1", "-1"], [["-1", "0.5", "0.5"]]))


class Linear(CliTest):
    def test_bias(self):
        self.write("a.svm", "1 1:4\n-1 1:2\n")
        for bias, expected in (("none", 0), ("-1", 0), ("free", -3)):
            self.ok("train", "a.svm", "--method", "linear", "--bias", bias, "-c", 100, "-e", "1e-6", "-o", "m")
            self.write("zero.svm", "1 1:0\n")
            value = self.ok("predict", "m", "zero.svm", "--decision-values", "-q").out.split()[-1]
            self.assertAlmostEqual(float(value), expected, 3)

    def test_options_of_kernels_are_refused(self):
        self.write("a.svm", "1 1:4\n-1 1:2\n")
        for option in ("--kernel", "--gamma", "--cache"):
            self.fails(2, "not for linear", "train", "a.svm", "--method", "linear", option, "1")
        self.fails(2, "for the method linear, not for exact", "train", "a.svm", "--bias", "1")

    def test_limits(self):
        self.ok("generate", "gaussians", "--rows", 500, "-o", "a.svm")
        result = self.run_tamis("train", "a.svm", "--method", "linear", "--max-iterations", 2, "-e", "1e-9", "-o", "m")
        self.assertEqual(result.code, 3, result.err)
        self.ok("predict", "m", "a.svm")


class Convert(CliTest):
    def test_data_there_and_back(self):
        self.write("a.svm", "1 1:0.5 3:2\n-1 2:-1.25 3:1e-3\n")
        self.ok("convert", "a.svm", "-o", "a.csv")
        self.ok("convert", "a.csv", "-o", "a.npy")
        self.ok("convert", "a.npy", "-o", "b.svm")
        self.assertEqual(self.read("b.svm"), "1 1:0.5 3:2\n-1 2:-1.25 3:0.001\n")

    def test_index_base(self):
        self.write("zero.svm", "1 0:1 2:2\n")
        self.ok("convert", "zero.svm", "--index-base", 0, "-o", "one.svm")
        self.assertEqual(self.read("one.svm"), "1 1:1 3:2\n")
        back = self.ok("convert", "one.svm", "--output-index-base", 0, "-o", "-")
        self.assertEqual((back.out, back.err), ("1 0:1 2:2\n", ""))

    def test_model_there_and_back(self):
        self.write("a.model", LINEAR_MODEL)
        self.ok("convert", "a.model", "--to", "native", "-o", "b.model")
        self.ok("convert", "b.model", "--to", "libsvm", "-o", "c.model")
        self.write("t.svm", "1 1:3 2:1\n-1 1:-2\n")
        for model in ("a.model", "b.model", "c.model"):
            self.assertEqual(self.ok("predict", model, "t.svm").out, "1\n-1\n")
        self.fails(2, "is a model", "convert", "a.model", "-o", "x")
        self.fails(2, "is a model", "convert", "b.model", "--to", "csv", "-o", "x")
        self.fails(2, "is not a model", "convert", "t.svm", "--to", "libsvm", "-o", "x")

    def test_a_file_called_like_a_command(self):
        self.write("check", "1 1:2\n")
        self.assertEqual(self.ok("convert", "check", "-o", "-").out, "1 1:2\n")


class Scale(CliTest):
    def test_train_and_test_the_same_way(self):
        self.write("train.svm", "1 1:10 2:5\n-1 1:20 2:5\n1 1:30 2:5\n")
        self.write("test.svm", "1 1:40\n")
        for save, load in (("-s", "-r"), ("--save-ranges", "--load-ranges")):
            self.ok("scale", "train.svm", save, "r.json", "-o", "a.csv")
            self.ok("scale", "test.svm", load, "r.json", "-o", "b.csv")
        self.assertIn("1.5", self.read("b.csv"))
        self.assertEqual(self.report("r.json")["format"], "tamis-ranges")

    def test_columns_that_the_training_rows_lack(self):
        self.write("train.svm", "1 1:10\n-1 1:20\n")
        self.write("test.svm", "1 1:15 3:7\n-1 1:20 2:1 3:1\n")
        self.ok("scale", "train.svm", "-s", "r.json", "-o", "a.svm")
        scaled = self.ok("scale", "test.svm", "-r", "r.json", "-o", "b.svm")
        self.assertIn("test.svm: columns above 1 ignored: no training row had them (values in them: 3)", scaled.err)
        self.assertEqual(self.read("b.svm"), "1 1:0.5\n-1 1:1\n")
        self.ok("train", "train.svm", "-o", "m")
        self.assertIn("columns above 1 ignored", self.ok("predict", "m", "test.svm", "-o", "p").err)
        self.write("test.csv", "x,y,label\n1,2,1\n3,4,-1\n")
        self.fails(1, "row 1 has a value in column 2, but only 1", "predict", "m", "test.csv")

    def test_methods_and_bounds(self):
        self.write("a.svm", "1 1:16\n2 1:24\n3 1:32\n")
        self.assertEqual(self.ok("scale", "a.svm", "-l", "-1", "-u", "1").out, "1 1:-1\n2\n3 1:1\n")
        self.assertEqual(self.ok("scale", "-", "--method", "maxabs", stdin="1 1:-4\n2 1:2\n").out, "1 1:-1\n2 1:0.5\n")
        self.assertEqual(self.ok("scale", "a.svm", "--method", "standard").code, 0)
        self.assertEqual(self.ok("scale", "a.svm", "--method", "robust").out, "1 1:-1.3489795\n2\n3 1:1.3489795\n")
        self.write("a.csv", "x,label\n16,1\n24,2\n1e9,3\n")
        self.assertEqual(self.ok("scale", "a.csv", "--method", "quantile", "-s", "q.json", "--to", "svmlight").out,
                         "1 1:-0.9674216\n2\n3 1:0.9674216\n")
        self.write("b.csv", "x,label\n20,1\n0,2\n")
        self.assertEqual(self.ok("scale", "b.csv", "-r", "q.json", "--to", "svmlight").out,
                         "1 1:-0.4837108\n2 1:-0.9674216\n")
        self.fails(2, "lower must be less", "scale", "a.svm", "-l", "2")
        self.fails(2, "do not go together", "scale", "a.svm", "-s", "x", "-r", "y")

    def test_a_broken_range_file(self):
        self.write("a.svm", "1 1:10\n")
        for content in ("", "{", "[]", '{"format": "tamis-ranges"}',
                        '{"format":"tamis-ranges","format_version":1,"method":"minmax","lower":0,"offset":[1],"factor":[]}',
                        '{"format":"tamis-ranges","format_version":1,"method":"minmax","lower":0,"offset":["a"],"factor":[1]}',
                        '{"format":"tamis-ranges","format_version":1,"method":"quantile","lower":0,"offset":[0],"factor":[1]}',
                        '{"format":"tamis-ranges","format_version":1,"method":"quantile","lower":0,"offset":[0],"factor":[1],'
                        '"knot_begin":[0,2],"knots":[1,1],"scores":[0,1]}',
                        '{"format":"tamis-ranges","format_version":1,"method":"quantile","lower":0,"offset":[0],"factor":[1],'
                        '"knot_begin":[0,2e96],"knots":[1,2],"scores":[0,1]}'):
            self.write("r.json", content)
            self.fails(1, "not a range file", "scale", "a.svm", "-r", "r.json")
        self.fails(1, "No such file", "scale", "a.svm", "-r", "missing.json")


class Check(CliTest):
    def test_says_what_is_in_the_data(self):
        self.write("a.svm", "1 1:1 2:1000\n-1 1:2 2:9000\n1 1:1 2:1000\n-1 1:1 2:1000\n")
        text = self.ok("check", "a.svm", "--json", "r.json").out
        self.assertRegex(text, r"rows +4\n")
        self.assertRegex(text, r"class +-1: 2 rows \(50 %\)")
        self.assertRegex(text, r"repeated rows +2 \(1 with another label\)")
        self.assertRegex(text, r"advice: .*scale")
        report = self.report("r.json")
        self.assertEqual(report["range_ratio"], 8000)
        self.assertEqual(report["values"], [1, 9000])
        self.assertEqual(report["classes"], [{"label": "1", "rows": 2}, {"label": "-1", "rows": 2}])

    def test_words_targets_and_one_class(self):
        self.write("w.csv", "1,2,cat\n2,2,dog\n")
        text = self.ok("check", "w.csv").out
        self.assertRegex(text, r"class +cat: 1 row ")
        self.assertRegex(text, r"constant columns +1\n")
        self.write("t.svm", "0.5 1:1\n0.25 1:2\n")
        self.assertRegex(self.ok("check", "t.svm").out, r"targets +0.25 to 0.5")
        self.assertIn("only one class", self.ok("check", "-", stdin="1 1:1\n1 1:2\n").out)

    def test_tables_with_text_and_missing_values(self):
        rows = "".join(f"P{i},{'' if i % 5 == 0 else i},{'red' if i % 2 else 'blue'},{i % 3},{'ok' if i % 4 else 'bad'}\n" for i in range(40))
        self.write("t.csv", "id,size,color,grade,state\n" + rows)
        text = self.ok("check", "t.csv", "--json", "r.json").out
        self.assertRegex(text, r"features +4\n")
        self.assertRegex(text, r"text +column 'color': 2 categories\n")
        self.assertRegex(text, r"missing values +column 'size': 8 rows\n")
        self.assertIn("advice: column 'id' has a different text in most rows: remove it", text)
        self.assertIn("--text-columns one-hot", text)
        self.assertIn("--missing impute", text)
        self.assertEqual(self.report("r.json")["table_columns"][1], {"column": "column 'size'", "categories": 0, "missing": 8})
        self.write("bad.csv", "1,2,cat\n2,x,dog\n1,2,cat\n")  # a word among numbers is a mistake, not text
        self.fails(1, "bad.csv:2:3: 'x' is not a number", "check", "bad.csv")
        self.fails(1, "is not a number", "check", "-", "--format", "csv", stdin="a,b,c\nx,1,1\n")

    def test_a_column_far_out(self):
        text = self.ok("check", "-", "--memory", "100M", stdin="1 2000000000:1\n-1 7:-3\n").out
        self.assertRegex(text, r"features +2000000000\n")
        self.assertRegex(text, r"values +-3 to 1\n")
        self.assertRegex(text, r"constant columns +1999999998\n")

    def test_json_replaces_the_text(self):
        report = json.loads(self.ok("check", "-", "--json", "-", stdin="1 1:1\n-1 1:2\n").out)
        self.assertEqual(report["command"], "check")
        self.assertGreaterEqual(report["seconds"]["total"], 0)


class Info(CliTest):
    def test_installation(self):
        text = self.ok("info").out
        self.assertRegex(text, r"version +\d+\.\d+\.\d+\n")
        self.assertRegex(text, r"memory available +[\d.]+ [KMGT]iB")
        self.assertRegex(self.ok("--version").out, r"^tamis \d+\.\d+\.\d+\n$")

    def test_model(self):
        self.write("a.model", LINEAR_MODEL)
        text = self.ok("info", "a.model", "--json", "r.json").out
        self.assertRegex(text, r"task +classification")
        self.assertRegex(text, r"classes +2 \(1, -1\)")
        self.assertRegex(text, r"support vectors +2\n")
        report = self.report("r.json")
        self.assertEqual(report["file_bytes"], os.path.getsize(self.folder / "a.model"))
        self.assertEqual(report["features"], 2)

    def test_feature_weights(self):
        draw = random.Random(1)
        rows = [[draw.gauss(0, 1) for _ in range(8)] for _ in range(600)]
        self.write("a.svm", "".join(f"{1 if x[0] * x[2] > 0 else -1} " + " ".join(f"{j}:{v:.4f}" for j, v in enumerate(x, 1)) + "\n"
                                    for x in rows))
        told = self.ok("train", "a.svm", "-o", "a.model", "--metric-rounds", "2").err
        self.assertRegex(told, r"feature weights: round \d of 2, [\d.]+ % errors on \d+ held-out rows \([\d.]+ % errors without\)")
        text = self.ok("info", "a.model", "--json", "r.json").out
        self.assertRegex(text, r"scaling +weighted\n")
        self.assertRegex(text, r"feature weights +[13] \([\d.]+\), [13] \([\d.]+\), [245678] \([\d.]+\), ")
        self.assertEqual(len(self.report("r.json")["feature_weights"]), 8)
        self.fails(1, "cannot hold the scaling", "convert", "a.model", "--to", "libsvm", "-o", "b.model")
        self.fails(2, "precomputed", "train", "a.svm", "-o", "c.model", "-t", "precomputed", "--metric-rounds", "1")
        self.ok("train", "a.svm", "-o", "d.model")
        self.assertNotIn("feature weights", self.ok("info", "d.model").out)
        told = self.ok("train", "a.svm", "-o", "e.model", "--metric-rounds", "2", "--metric", "full").err
        self.assertRegex(told, r"full metric: round \d of 2, ")
        text = self.ok("info", "e.model", "--json", "r.json").out
        self.assertRegex(text, r"feature weights +[13] \([\d.]+\), [13] \([\d.]+\), ")
        self.assertRegex(text, r"metric +full: the columns are mixed by a matrix of 8 x 8\n")
        self.assertEqual(self.report("r.json")["metric"], "full")
        self.ok("certify", "e.model", "a.svm")
        self.fails(1, "cannot hold the scaling", "convert", "e.model", "--to", "libsvm", "-o", "b.model")
        self.fails(2, "metric is full, and metric-rounds is 0", "train", "a.svm", "-o", "f.model", "--metric", "full")


class Compressed(CliTest):
    def test_gz_is_read(self):
        import bz2
        import gzip
        import lzma
        for ending, pack in (("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)):
            self.write("a.svm." + ending, pack(b"1 1:2\n-1 1:3\n"))
            self.assertRegex(self.ok("check", "a.svm." + ending).out, r"rows +2\n")


if __name__ == "__main__":
    main()
