"""Training and evaluating, by users who mean well and by those who do not."""
import time

from harness import LINEAR_MODEL, CliTest, main

XOR = "1 1:1 2:1\n-1 1:-1 2:1\n1 1:-1 2:-1\n-1 1:1 2:-1\n"


class Options(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.svm", XOR)

    def refused(self, pattern, *options):
        self.fails(2, pattern, "train", "a.svm", "-o", "m", *options)
        self.assertEqual(self.files(), ["a.svm"])

    def test_numbers_out_of_range(self):
        for value in ("0", "-1", "nan", "inf", "x", ""):
            self.refused("cost|--cost|-c", "-c", value)
            self.refused("gamma|-g", "-g", value)
            self.refused("eps|-e", "-e", value)
        for value in ("0", "-2", "101", "1.5"):
            self.refused("degree", "-t", "1", "-d", value)
        self.refused("tube", "--task", "regression", "-p", "-1")
        self.refused("--threads", "--threads", "-1")
        self.refused("max-seconds", "--max-seconds", "-1")
        self.refused("max-iterations", "--max-iterations", "-1")
        self.refused("-s", "-s", "1")
        self.refused("kernel", "-t", "9")
        self.refused("method", "--method", "magic")

    def test_what_the_models_of_libsvm_cannot_hold_is_refused_before_the_training(self):
        libsvm = ("--model-format", "libsvm")
        self.refused("auto may choose", *libsvm, "--method", "auto")
        self.refused("Laplacian", *libsvm, "--kernel", "laplacian")
        self.refused("scaling", *libsvm, "--scale", "minmax")
        self.refused("scaling", *libsvm, "--metric-rounds", "1")
        self.ok("train", "a.svm", "-o", "m", *libsvm)

    def test_a_memory_budget_too_small(self):
        self.ok("generate", "checkerboard", "--rows", 1000, "-o", "large.svm")  # 8 MiB of kernel values
        self.fails(1, "memory budget", "train", "large.svm", "-o", "m", "--memory", "1M")

    def test_class_weights(self):
        self.write("b.svm", "".join(f"{1 if i % 4 == 0 else -1} 1:{i % 7} 2:{i % 5}\n" for i in range(60)))
        def objective(*options):
            self.ok("train", "b.svm", "-o", "m", "-g", "0.1", "--json", "r.json", *options)
            report = self.report("r.json")
            return report["objective"], report["options"]["class-weight"]
        wanted = objective("--class-weight", "1:5,-1:2")
        self.assertEqual(wanted[1], "1:5,-1:2")
        self.assertEqual(objective("-w1", "5", "-w-1", "2"), wanted)
        self.assertEqual(objective("-w", "1:5", "-w-1", 2), wanted)
        self.assertEqual(objective("-w1:5", "-w-1", 2), wanted)
        self.assertEqual(objective("--class-weight=1:5", "-w-1", "2"), wanted)
        self.assertEqual(objective("-w+1", "5", "-w-1", "2")[0], wanted[0])
        self.assertEqual(objective("-w1", "2.5", "-w-1", "2", "-w1", "2")[0], wanted[0])  # factors multiply, as in LIBSVM
        self.assertNotEqual(objective("-w1", "5")[0], wanted[0])
        self.assertEqual(objective("-w", "balanced")[1], "balanced")
        self.assertEqual(objective("-wbalanced")[1], "balanced")
        self.fails(2, "-w1 needs a value", "train", "b.svm", "-w1")
        self.fails(2, "class-weight", "train", "b.svm", "-w1", "x")
        self.fails(2, "weight of class 1 is -5", "train", "b.svm", "-w1", "-5")
        self.fails(2, "do not go together", "train", "b.svm", "-w1", "5", "-w", "balanced")
        self.fails(2, "class 7", "train", "b.svm", "-o", "m", "-w7", "5")
        self.fails(2, "unknown option -w1", "check", "b.svm", "-w1", "5")

    def test_the_shrinking_switch_of_libsvm_is_no_call_for_help(self):
        self.write("b.svm", "1 1:1\n-1 1:-1\n")
        for switch in (("-h", "0"), ("-h", "1"), ("-h0",), ("-h1",)):
            self.fails(2, "omit it; shrinking.*never changes the result", "train", "-c", "10", *switch, "b.svm")
            self.fails(2, "shrinking", "train", "b.svm", *switch)
        self.assertNotIn("b.svm.model", self.files())
        wanted = self.ok("train", "--help").out
        self.assertEqual(self.ok("train", "-h").out, wanted)
        self.assertEqual(self.ok("train", "b.svm", "-h").out, wanted)
        self.assertEqual(self.ok("train", "-h", "b.svm").out, wanted)

    def test_words_have_weights_too(self):
        self.write("w.csv", "1,cat\n2,dog\n3,cat\n")
        self.ok("train", "w.csv", "-o", "m", "-wcat", "3", "--json", "r.json")
        self.assertEqual(self.report("r.json")["options"]["class-weight"], "cat:3")


class Data(CliTest):
    def refused(self, pattern, content, *options, name="bad.svm"):
        self.write(name, content)
        self.fails(1, pattern, "train", name, "-o", "m", *options)
        self.assertEqual(self.files(), [name])
        (self.folder / name).unlink()

    def test_nothing_to_learn(self):
        self.refused("label 1: two classes", "1 1:1\n1 1:2\n")
        self.refused("no labels", "1:1\n1:2\n")
        self.refused("no labels", "1,2\n3,4\n", "--label", "none", name="bad.csv")
        self.refused("bad.svm", "")

    def test_bad_values(self):
        self.refused(r"bad.svm:2:", "1 1:1\ncat 1:2\n", "--task", "regression")
        self.refused(r"bad.csv:1:", "1,2,cat\n3,4,dog\n", "--task", "regression", name="bad.csv")
        for value in ("nan", "inf", "1e39"):
            self.refused(r"bad.svm:1:", f"1 1:{value}\n-1 1:1\n")
            self.refused(r"bad.svm:1:", f"{value.replace('1e39', '1e999')} 1:1\n-1 1:1\n", "--task", "regression")

    def test_values_too_large_for_the_kernel(self):
        self.refused("scale the data", "1 1:1e30\n-1 1:-1e30\n", "-t", "linear")

    def test_standard_input(self):
        self.fails(2, "--output", "train", "-", stdin=XOR)
        self.ok("train", "-", "-o", "m", "-g", "1", stdin=XOR)
        self.assertIn("0 errors", self.ok("evaluate", "m", "-", stdin=XOR).out)

    def test_weights_of_zero(self):
        self.refused("weight 0", "x,w,label\n1,0,a\n2,0,b\n", "--weight", "w", name="bad.csv")


class Output(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.svm", XOR)

    def test_a_stream(self):
        stream = ("train", "a.svm", "-o", "m", "--method", "leader", "--threshold", "0.1", "-g", "1", "--stream")
        self.ok(*stream, "--json", "r.json")
        report = self.report("r.json")
        self.assertEqual((report["rows"], report["rows_used"], len(report["leaders"])), (4, 4, 2))
        self.assertIn("0 errors", self.ok("evaluate", "m", "a.svm").out)
        self.fails(2, "refine must be 0", *stream, "--refine", "1")
        self.fails(2, "do not go together", *stream, "--probability-folds", "2")
        self.fails(2, "leader", "train", "a.svm", "-o", "n", "--stream")
        self.fails(2, "block by block", "train", "-", "-o", "n", "--method", "leader", "--stream", stdin=XOR)
        self.assertEqual(self.files(), ["a.svm", "m", "r.json"])

    def test_leaders_of_a_stream_count_as_their_clusters_do(self):
        # Rows of both classes everywhere: leaders alone cannot tell which class has more of them.
        rows = []
        for k in range(2000):
            x, y = (k * 7919 % 1000) / 1000, (k * 104729 % 997) / 997
            rows.append(f"{1 if (x < 0.5) != (k % 10 == 0) else 2} 1:{x} 2:{y}\n")
        self.write("noisy.svm", "".join(rows))
        def accuracy(*words):
            self.ok("train", "noisy.svm", "-o", "n", "--method", "leader", "-c", "0.1", "-g", "4", "--threshold", "0.2",
                    "--leader-gamma", "4", *words)
            self.ok("evaluate", "n", "noisy.svm", "--json", "e.json")
            return self.report("e.json")["accuracy"]
        plain = accuracy("--stream")
        weighted = accuracy("--stream", "--leader-weights", "cluster")
        self.assertGreater(weighted, 0.85)  # one row in ten is noise
        self.assertGreater(weighted, plain + 0.05)
        self.assertAlmostEqual(weighted, accuracy("--leader-weights", "cluster"), delta=0.03)

    def test_where_nothing_can_be_written(self):
        self.fails(1, "No such file", "train", "a.svm", "-o", "no/such/folder.model")
        self.fails(1, "No space left", "train", "a.svm", "-o", "/dev/full")
        self.fails(1, "folder|directory", "train", "a.svm", "-o", ".")
        self.assertEqual(self.files(), ["a.svm"])

    def test_evaluate(self):
        self.ok("train", "a.svm", "-o", "m", "-g", "1")
        self.write("wide.svm", "1 1:1 5:1\n")
        self.assertIn("columns above 2 ignored", self.ok("evaluate", "m", "wide.svm").err)
        self.write("narrow.svm", "1 1:1\n")
        self.ok("evaluate", "m", "narrow.svm")
        self.write("unlabelled.svm", "1:1\n1:2\n")
        self.fails(1, "no labels", "evaluate", "m", "unlabelled.svm")
        self.ok("predict", "m", "unlabelled.svm")
        self.write("words.csv", "1,1,cat\n")
        self.assertIn("cat", self.ok("evaluate", "m", "words.csv").out)
        self.fails(1, "a.svm", "evaluate", "a.svm", "a.svm")
        self.fails(1, "No such file", "evaluate", "m", "missing.svm")
        self.ok("train", "a.svm", "-o", "r", "--task", "regression")
        self.fails(1, "words.csv:1", "evaluate", "r", "words.csv")

    def test_indecision(self):
        self.ok("train", "a.svm", "-o", "m", "-g", "1")
        self.write("b.svm", XOR + "1 1:0 2:0\n")  # the point between all four has the decision value 0
        self.ok("evaluate", "m", "b.svm", "--indecision", "0.1,1e9", "--json", "r.json")
        self.assertEqual(self.report("r.json")["indecision"], [{"eps": 0.1, "share": 0.2, "distance_share": 0.2},
                                                               {"eps": 1e9, "share": 1.0, "distance_share": 1.0}])
        self.assertIn("within 0.001 of 0: 20.0000 %", self.ok("evaluate", "m", "b.svm", "--indecision", "0.001").out)
        # All coefficients are C = 1, so the corners have |f| = 1 + exp(-8) - 2 exp(-4) = 0.9637, ||w||^2 is four times that, and they
        # are 0.4908 away from the boundary.
        self.ok("evaluate", "m", "b.svm", "--indecision", "0.5", "--json", "r.json")
        self.assertEqual(self.report("r.json")["indecision"], [{"eps": 0.5, "share": 0.2, "distance_share": 1.0}])
        self.assertAlmostEqual(self.report("r.json")["decision_norm"], 2 * 0.9637045**0.5, 5)
        self.assertIn("boundary (decision value / 1.96337) within 0.5: 100.0000 %",
                      self.ok("evaluate", "m", "b.svm", "--indecision", "0.5").out)
        self.ok("train", "a.svm", "-o", "mk", "--method", "knn", "--k", "1")
        told = self.ok("evaluate", "mk", "b.svm", "--indecision", "0.5", "--json", "r.json").out
        self.assertIn("boundary: not known, a model of kind", told)
        self.assertIsNone(self.report("r.json")["decision_norm"])
        self.assertNotIn("distance_share", self.report("r.json")["indecision"][0])
        for value in ("0", "-1", "x", "", "nan"):
            self.fails(2, "indecision", "evaluate", "m", "b.svm", "--indecision", value)
        self.write("three.svm", XOR + "2 1:0 2:0\n")
        self.ok("train", "three.svm", "-o", "m3", "-g", "1")
        self.fails(2, "two classes", "evaluate", "m3", "b.svm", "--indecision", "0.1")


class Stopped(CliTest):
    """A run that is stopped leaves a model one can use."""

    def setUp(self):
        super().setUp()
        # Overlapping classes and a cost that no solver is through with soon.
        self.ok("generate", "gaussians", "--rows", 30000, "--features", 20, "-o", "big.svm")
        self.hard = ("train", "big.svm", "-o", "m", "-c", 1000000, "-g", 0.1, "-e", 1e-6)
        self.write("few.svm", "".join(self.read("big.svm").splitlines(keepends=True)[:50]))

    def usable(self):
        self.assertIn("50 rows", self.ok("evaluate", "m", "few.svm").out)

    def test_time_limit(self):
        start = time.monotonic()
        result = self.run_tamis(*self.hard, "--max-seconds", "0.5", "--json", "r.json")
        self.assertEqual(result.code, 3, result.err)
        self.assertRegex(result.err, "stopped by time limit .*usable")
        self.assertEqual(self.report("r.json")["stop_reason"], "time limit")
        self.assertLess(time.monotonic() - start, 30)
        self.usable()

    def test_a_stopped_run_does_not_replace_a_model_by_a_constant(self):
        self.write("zeros.csv", "0,0,a\n0,0,b\n" * 50)
        self.write("m", "precious")
        self.fails(1, "stopped by time limit before anything was learned: no model is written; m is left as it was", "train",
                   "zeros.csv", "--method", "linear", "--max-seconds", 1e-9, "-o", "m", "-q")
        self.assertEqual(self.read("m"), "precious")
        self.ok("train", "zeros.csv", "--method", "linear", "-o", "m")  # there is nothing to learn, and it was not stopped
        self.ok("info", "m")

    def test_iteration_limit(self):
        result = self.run_tamis(*self.hard, "--max-iterations", 50)
        self.assertEqual(result.code, 3, result.err)
        self.usable()

    def test_interrupt(self):
        code, _, err, _ = self.interrupt(*self.hard, ready=b"train ")
        self.assertEqual(code, 130, err)
        self.assertIn("interrupted", err)
        self.usable()


class HugeColumns(CliTest):
    """Two rows that name column two billion: whatever is asked, the answer comes soon and in little memory."""

    def setUp(self):
        super().setUp()
        self.write("huge.svm", "1 2000000000:1\n-1 7:-3\n1 1:2\n")
        self.write("libsvm.model", LINEAR_MODEL.replace("linear", "rbf\ngamma 1"))
        self.write("huge.model", LINEAR_MODEL.replace(" 2:0.5", " 2000000000:0.5"))

    def test_refused(self):
        advice = r"2000000000 columns needs .* number the features without gaps"
        for memory in ((), ("--memory", "256M")):
            self.fails(1, advice, "train", "huge.svm", "-o", "m", *memory)
            self.fails(1, advice, "train", "huge.svm", "-o", "m", "-t", "linear", *memory)
            self.fails(1, advice, "train", "huge.svm", "-o", "m", "--scale", "maxabs", *memory)
            self.fails(1, advice, "predict", "libsvm.model", "huge.svm", *memory)
            self.fails(1, advice, "evaluate", "libsvm.model", "huge.svm", *memory)
            for method in ("minmax", "standard", "maxabs", "robust", "quantile"):
                self.fails(1, advice, "scale", "huge.svm", "--method", method, *memory)
            for ending in ("csv", "npy"):
                self.fails(1, advice, "convert", "huge.svm", "-o", "x." + ending, *memory)
            self.fails(1, advice, "predict", "huge.model", "huge.svm", *memory)
        self.assertEqual(self.files(), ["huge.model", "huge.svm", "libsvm.model"])

    def test_done_by_the_values_stored(self):
        for memory in ((), ("--memory", "256M")):
            self.ok("check", "huge.svm", *memory)
            self.ok("convert", "huge.svm", "-o", "copy.svm", *memory)
            self.ok("convert", "huge.model", "--to", "native", "-o", "native.model", *memory)
            self.ok("info", "native.model")
        self.assertEqual(self.read("copy.svm"), self.read("huge.svm"))

    def test_a_model_of_few_columns(self):
        self.write("a.svm", XOR)
        self.ok("train", "a.svm", "-o", "m")
        self.assertIn("columns above 2 ignored", self.ok("predict", "m", "huge.svm").err)

    def test_many_columns_that_fit(self):
        self.write("wide.svm", "1 100000:1\n-1 7:-3\n1 1:2\n")
        self.ok("train", "wide.svm", "-o", "m", "--memory", "1G")
        self.ok("evaluate", "m", "wide.svm", "--memory", "1G")
        self.ok("scale", "wide.svm", "--method", "maxabs", "-o", "x.svm", "--memory", "256M")


if __name__ == "__main__":
    main()
