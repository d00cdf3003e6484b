"""Whatever is wrong, there is one line that says where and what, and the right exit code."""
import gzip
import lzma
import os
import re

from harness import LINEAR_MODEL, CliTest, main


class Usage(CliTest):
    def test_unknown_names_are_guessed(self):
        self.fails(2, "unknown option --thread; did you mean --threads\\?", "generate", "spirals", "--thread", "3")
        self.fails(2, "unknown option --ouptut; did you mean --output\\?", "scale", "x", "--ouptut=y")
        self.fails(2, "unknown command generat; did you mean generate\\?", "generat")
        self.fails(2, "unknown command xyzzy; see tamis --help$", "xyzzy")
        self.fails(2, r"there is no method 'flak' \(did you mean falk\?\); choose one of exact, ", "train", "a.svm", "--method", "flak")
        self.fails(2, "unknown option --zzzzzzzzz; see tamis train --help$", "train", "x", "--zzzzzzzzz")
        self.fails(2, "unknown option --versoin; did you mean --version", "--versoin")
        self.fails(2, "did you mean checkerboard", "generate", "chekerboard")
        self.fails(2, "did you mean minmax", "scale", "x", "--method", "min-max")

    def test_help_and_version_are_words_too(self):
        self.assertEqual(self.ok("help").out, self.ok("--help").out)
        self.assertEqual(self.ok("help", "train").out, self.ok("train", "--help").out)
        self.assertEqual(self.ok("help", "train", "falk").out, self.ok("train", "--help", "falk").out)
        self.assertEqual(self.ok("version").out, self.ok("--version").out)
        self.fails(2, "unknown command trian; did you mean train", "help", "trian")

    def test_missing_and_superfluous(self):
        self.fails(2, "give a command", "")
        self.fails(2, "predict needs MODEL", "predict")
        self.fails(2, "predict needs DATA", "predict", "a.model")
        self.fails(2, "convert needs --output", "convert", "a.svm")
        self.fails(1, "a: cannot open: No such file", "check", "a", "b")  # without an output, every word is a file
        self.fails(2, "'b'; for the output file use -o b$", "train", "a", "b")
        self.fails(2, "--rows", "generate", "spirals", "--rows")
        self.fails(2, "both", "generate", "spirals", "--json", "-")
        self.fails(2, "TRAIN and --test cannot both be standard input", "compare", "-", "--test", "-")
        self.fails(2, "MODEL and DATA cannot both be standard input", "predict", "-", "-")
        self.fails(2, "--grid is 'linear': give a number$", "tune", "x", "--grid", "kernel=linear,rbf")

    def test_without_arguments_it_says_how_to_begin(self):
        result = self.run_tamis()
        self.assertEqual((result.code, result.out), (2, ""))
        for part in ("tamis check ", "tamis train ", "tamis predict ", "tamis --help"):
            self.assertIn(part, result.err)
        self.assertLessEqual(max(map(len, result.err.splitlines())), 80)

    def test_letters_of_libsvm_get_advice(self):
        for words in (("-b", 1), ("-b1",), ("-b", 0)):
            self.fails(2, "-b is an option of LIBSVM: .* use --probability-folds 5; omit -b 0$", "train", "x", *words)
        self.fails(2, "-v is an option of LIBSVM: .* use tamis tune", "train", "-v", 5, "x")
        self.fails(2, "-n is an option of LIBSVM: .* use --method opt-soft-margin --nu NU$", "train", "-s", 0, "-n", 0.5, "x")
        self.fails(2, "-b is an option of LIBSVM: .* use --probabilities", "predict", "m", "x", "-b", 1)
        self.fails(2, "svm-train is a program of LIBSVM; use tamis train$", "svm-train", "x")
        self.fails(2, "svm-grid is a program of LIBSVM; use tamis tune$", "svm-grid")

    def test_numbers_are_read_strictly(self):
        for text in ("0", "-1", "x", "10x", "1.5", "1e400", "nan", "0x10", "", " 7", "1,000", "99999999999999999999"):
            self.fails(2, "--rows", "generate", "spirals", "--rows", text)
        for text in ("-1", "5000", "two"):
            self.fails(2, "--threads", "generate", "spirals", "--threads", text)
        for text in ("1X", "-1G", "x", "0"):
            self.fails(2, "--memory", "generate", "spirals", "--memory", text)
        self.fails(2, "--noise", "generate", "spirals", "--noise", "inf")
        self.fails(2, "noise is 0.7: give 0 to 0.5", "generate", "checkerboard", "--noise", "0.7")
        self.fails(2, "always has 2", "generate", "spirals", "--features", "3")
        self.fails(2, "--index-base", "check", "x", "--index-base", "2")

    def test_options_that_a_method_does_not_use(self):
        # `options-table METHOD` lists what a method uses: every other option is refused, and the message names who uses it.
        options, used = {}, {}
        methods = re.search("one of (.*) or auto", self.run_tamis("train", "x", "--method", "?").err)[1].split(", ")
        self.assertIn("knn", methods)
        for method in methods:
            rows = re.findall(r"^\| `--(\S+)` \| .*? \| (.*?) \|", self.ok("options-table", method).out, re.MULTILINE)
            used[method] = {name for name, _ in rows}
            options.update(rows)
        for method in methods:
            for name in options.keys() - used[method] - {"polish"}:  # the library itself refuses that
                value = "1:2" if name == "class-weight" else (re.findall("`([^`]+)`", options[name]) or ["1"])[0]
                argument = (f"--{name}",) if value == "false" else (f"--{name}", value)
                task = ("--task", "regression") if name == "tube" else ()
                self.fails(2, f"--{name} is for the methods? .*, not for {method}( in a regression)?$", "train", "x", "--method",
                           method, *argument, *task)
        self.fails(2, "--cost is for the methods exact, linear, .* auto, not for knn$", "train", "x", "--method", "knn", "-c", 1)
        self.fails(2, "--cost is for the methods .*, not for opt-soft-margin in a regression$", "train", "x", "--method",
                   "opt-soft-margin", "--task", "regression", "-c", 1)

    def test_options_that_others_leave_without_an_effect(self):
        for kernel, option in (("linear", "-g"), ("precomputed", "-g"), ("linear", "-d"), ("rbf", "-d"), ("sigmoid", "-d"),
                               ("laplacian", "-d"), ("linear", "-r"), ("rbf", "-r"), ("laplacian", "-r")):
            name = {"-g": "gamma", "-d": "degree", "-r": "coef0"}[option]
            for command in ("train", "tune", "compare"):
                methods = ("--methods", "exact,falk") if command == "compare" else ()
                self.fails(2, f"--{name} has no effect: the {kernel} kernel has no {name}$", command, "x", "-t", kernel, option, 2,
                           *methods)
        self.fails(2, "the rbf kernel has no degree", "train", "x", "-d", 2)
        self.fails(2, "the rbf kernel has no degree", "train", "x", "--method", "auto", "-d", 2)
        self.fails(2, "--gamma has no effect: it does not change which rows are nearest", "train", "x", "--method", "knn", "-g", 2)
        self.fails(2, "--kernel has no effect: --mixed-kernels draws the kernels", "train", "x", "--method", "random-subset",
                   "--mixed-kernels", "-t", "linear")
        for words in (("--refine", 0), ("--leaders", 20), ("--threshold", "1:0.5")):
            self.fails(2, "--boundary has no effect: --refine is 0", "train", "x", "--method", "leader", "--boundary", "leaders", *words)
        for option, value in (("nu", 0.2), ("margin-k", 3), ("margin-k", "smallest")):
            self.fails(2, f"--cost has no effect: --{option} decides C$", "train", "x", "--method", "opt-soft-margin", "-c", 2,
                       f"--{option}", value)
        # With an effect: the file is looked for.
        for words in (("-t", "polynomial", "-g", 1, "-d", 2, "-r", 1), ("-t", "sigmoid", "-g", 1, "-r", 1), ("-t", "laplacian", "-g", 1),
                      ("--method", "knn", "-t", "sigmoid", "-g", 1), ("--method", "opt-soft-margin", "-c", 2),
                      ("--method", "leader", "--leaders", 20, "--refine", 1, "--boundary", "leaders"),
                      ("--method", "random-subset", "--mixed-kernels", "-d", 2)):
            self.fails(1, "x: cannot open", "train", "x", *words)
        self.fails(1, "x: cannot open", "compare", "x", "--methods", "exact,opt-soft-margin", "-c", 2, "--nu", 0.2)
        self.fails(1, "x: cannot open", "compare", "x", "--methods", "exact,falk", "-d", 2, "--set", "exact.kernel=polynomial")

    def test_options_that_need_another_one(self):
        for reason, *words in (
                ("--calibration has no effect: it goes with --probability-folds", "train", "x", "--calibration", "isotonic"),
                ("--checkpoint-seconds has no effect: it goes with --checkpoint", "train", "x", "--checkpoint-seconds", 5),
                ("--boundary has no effect: --stream refines nothing", "train", "x", "--method", "leader", "--stream",
                 "--boundary", "model"),
                ("--lower has no effect: it is for the method minmax, not for standard", "scale", "x", "--method", "standard", "-l", 1),
                ("--upper has no effect: --load-ranges decides the scaling", "scale", "x", "-r", "ranges", "-u", 2),
                ("--method has no effect: --load-ranges decides the scaling", "scale", "x", "-r", "ranges", "--method", "robust"),
                ("--split has no effect: --test gives the test rows", "compare", "x", "--test", "y", "--split", 0.2),
                ("--tune-rows has no effect: it goes with --tune", "compare", "x", "--tune-rows", 100),
                ("--points has no effect: it goes with --search random", "tune", "x", "--points", 5),
                ("--racing has no effect: halving drops points by its own rule", "tune", "x", "--search", "halving", "--racing", "yes"),
                ("--racing has no effect: with --centres no points are dropped", "tune", "x", "--method", "falk", "--centres", 5,
                 "--racing", "yes")):
            self.fails(2, f"{reason}$", *words)
        # With an effect: the file is looked for.
        self.fails(1, "x: cannot open", "train", "x", "--calibration", "isotonic", "--probability-folds", 3)
        self.fails(1, "cannot open ranges", "scale", "x", "-r", "ranges")
        self.fails(1, "x: cannot open", "tune", "x", "--search", "random", "--points", 5)
        self.fails(1, "x: cannot open", "tune", "x", "--search", "halving", "--racing", "no")

    def test_names_in_a_model_file_give_no_orders(self):
        self.write("words.svm", "aXb 1:1\nplain 1:2\n" * 5)
        self.ok("train", "words.svm", "-o", "model")
        model = (self.folder / "model").read_bytes()
        for letter in (b"\n", b"\x1b", b"\xff"):
            (self.folder / f"{letter.hex()}.model").write_bytes(model.replace(b"aXb", b"a" + letter + b"b"))
        self.assertIn("a?b", self.ok("info", "1b.model").out)
        (self.folder / "c1.model").write_bytes(model.replace(b"aXb", b"a\xc2\x9b"))  # U+009B, as ESC [
        self.assertRegex(self.ok("info", "c1.model").out, r"a\?[,)]")
        self.assertIn("a\x1bb", self.ok("predict", "1b.model", "words.svm", "-q").out)  # for programs: the label as it is
        self.fails(1, "0a.model: the label of class 2 has a tab or a line break", "predict", "0a.model", "words.svm")
        self.fails(1, "ff.model: .*byte 0xff in a label is not UTF-8", "predict", "ff.model", "words.svm")

    def test_a_first_number_of_features_is_for_svmlight(self):
        self.write("rows.csv", "a,label\n1,1\n2,2\n")
        self.write("rows.svm", "1 0:1\n2 0:2\n")
        message = "only svmlight text numbers its features"
        self.fails(2, f"rows.csv: {message}", "check", "rows.csv", "--index-base", 0)
        self.fails(2, f"out.csv: {message}", "generate", "spirals", "--rows", 10, "-o", "out.csv", "--index-base", 0)
        self.fails(2, f"out.csv: {message}", "convert", "rows.csv", "-o", "out.csv", "--output-index-base", 0)
        self.ok("scale", "rows.svm", "--index-base", 0, "-o", "out.csv")
        self.assertEqual(self.read("out.csv").splitlines()[1:], ["0,1", "1,2"])
        self.ok("scale", "rows.svm", "--index-base", 0, "-o", "out.svm")
        self.assertEqual(self.read("out.svm").split(), ["1", "2", "0:1"])

    def test_what_a_kind_of_model_does_not_have(self):
        self.fails(2, "scale: a precomputed kernel has no features to scale", "train", "x", "-t", "precomputed", "--scale", "standard")
        self.ok("generate", "gaussians", "--regression", "--rows", 30, "-o", "few.svm")
        self.ok("train", "few.svm", "--task", "regression", "-o", "few.model")
        self.fails(2, "the model is a regression: it predicts numbers, without probabilities", "predict", "few.model", "few.svm",
                   "--probabilities")

    def test_a_kernel_parameter_that_the_kernel_does_not_have_cannot_be_tuned(self):
        self.ok("generate", "spirals", "--rows", 30, "-o", "few.svm")
        for kernel, option in (("rbf", "degree"), ("linear", "gamma"), ("sigmoid", "degree"), ("laplacian", "coef0")):
            self.fails(2, f"{option} cannot be tuned: the {kernel} kernel has none", "tune", "few.svm", "-t", kernel, "--grid",
                       f"{option}=1,2", "--folds", 2)
        self.ok("tune", "few.svm", "-t", "sigmoid", "--grid", "coef0=0,1", "--folds", 2)

    def test_options_of_the_other_task(self):
        self.fails(2, "--class-weight is for a classification, not for a regression", "train", "x", "--task", "regression", "-w1", 2)
        self.fails(2, "--multiclass is for a classification", "train", "x", "-s", 3, "--multiclass", "one-vs-rest")
        self.fails(2, "--tube is for a regression, not for a classification", "train", "x", "-p", 0.5)
        self.fails(2, "--tube is for a regression", "compare", "x", "--methods", "exact", "-p", 0.5)

    def test_the_locale_does_not_matter(self):
        settings = dict(os.environ, LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8")
        self.assertEqual(self.ok("generate", "spirals", "--noise", "0.05", env=settings).out,
                         self.ok("generate", "spirals", "--noise", "0.05").out)

    def test_memory_limit(self):
        self.fails(1, "needs .* memory budget", "generate", "spirals", "--rows", "1e9", "--memory", "100M")
        self.fails(1, "needs", "generate", "spirals", "--rows", "1000000000000000")


class BadData(CliTest):
    def bad(self, pattern, content, name="bad.svm", *options):
        self.write(name, content)
        self.fails(1, pattern, "check", name, *options)

    def test_files(self):
        self.fails(1, "missing.svm.*No such file", "check", "missing.svm")
        self.fails(1, "folder|directory", "check", ".")
        self.fails(1, "No such file", "predict", "missing.model", "missing.svm")
        self.fails(1, "folder|directory|model", "info", ".")
        self.bad("bad.svm", "")
        self.bad("bad.svm", "# only\n# comments\n\n")
        self.fails(1, "stdin", "check", "-")

    def test_svmlight(self):
        self.bad(r"bad.svm:2:", "1 1:2\n1 1:\n")
        self.bad(r"bad.svm:1:", "1 1=2\n")
        self.bad(r"bad.svm:1:", "1 a:2\n")
        self.bad(r"bad.svm:3:\d+: .*0", "1 1:2\n1 1:2\n1 0:2\n")
        self.bad(r"bad.svm:1:", "1 3:1 2:1\n")
        self.bad(r"bad.svm:1:", "1 2:1 2:1\n")
        self.bad(r"bad.svm:1:", "1 99999999999999999999:1\n")
        self.bad(r"bad.svm:1:", "1 -1:1\n")
        for value in ("inf", "-inf", "1e999", "1e39"):
            self.bad(r"bad.svm:1:", f"1 1:{value}\n")
        self.write("bad.svm", "1 1:nan\n")  # `check` describes it as a missing value
        self.fails(1, "bad.svm:1:", "scale", "bad.svm")
        self.assertIn("--missing impute", self.ok("check", "bad.svm").out)
        self.bad(r"bad.svm:1:", "nan 1:1\n")

    def test_csv(self):
        self.bad(r"bad.csv:2:", "1,2,a\n1,b\n", "bad.csv")
        self.write("bad.csv", "1,2,a\n1,nan,b\n")
        self.fails(1, "bad.csv:2:", "scale", "bad.csv")
        self.bad(r"bad.csv", "x,y\n1,2\n", "bad.csv", "--label", "z")

    def test_archives_and_noise(self):
        packed = lzma.compress(b"1 1:2\n" * 100000)
        self.bad("bad.svm.xz", packed[:len(packed) // 2], "bad.svm.xz")
        packed = bytearray(gzip.compress(b"1 1:2\n" * 1000))
        packed[-8] ^= 1
        self.bad("bad.svm.gz: cannot unpack: incorrect data check", bytes(packed), "bad.svm.gz")
        noise = bytes((i * 7919 + i // 251) % 256 for i in range(5000))
        self.bad("bad.svm", noise)
        self.bad("bad.npy", noise, "bad.npy")
        self.bad("bad.npy", b"\x93NUMPY\x01\x00", "bad.npy")

    def test_models(self):
        self.write("t.svm", "1 1:1\n")
        self.write("a.model", LINEAR_MODEL)
        self.ok("convert", "a.model", "--to", "native", "-o", "n.model")
        whole = (self.folder / "n.model").read_bytes()
        for length in (0, 4, 9, len(whole) // 2, len(whole) - 1):
            self.write("cut.model", whole[:length])
            self.fails(1, "cut.model", "predict", "cut.model", "t.svm")
        for length in (0, 12, 60, 100, len(LINEAR_MODEL) - 15):
            self.write("cut.model", LINEAR_MODEL[:length])
            self.fails(1, "cut.model", "info", "cut.model")
        self.fails(1, "t.svm", "info", "t.svm")

    def test_rows_with_columns_nobody_knows(self):
        self.write("narrow.svm", "1 1:1\n1 1:3 2:1\n")
        self.write("wide.svm", "1 1:1 9:1\n")
        self.ok("scale", "narrow.svm", "-s", "r.json", "-o", "x.svm")
        self.write("wide.csv", "1,2,3,1\n4,5,6,-1\n")
        self.fails(1, "row 1 has a value in column 3, but only 2 columns", "scale", "wide.csv", "-r", "r.json")
        # A LIBSVM model does not say how many features it was trained with, so svm-predict takes any, and so do we.
        self.write("a.model", LINEAR_MODEL)
        self.assertEqual(self.ok("predict", "a.model", "wide.svm").out, "1\n")


class Output(CliTest):
    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            for arguments in (("generate", "spirals"), ("generate", "spirals", "--rows", "100000"), ("info",), ("--help",),
                              ("scale", "--help"), ("--version",)):
                result = self.run_tamis(*arguments, stdout=full)
                self.assertEqual(result.code, 1, arguments)
                self.assertRegex(result.err, r"\Atamis: [^\n]*cannot write[^\n]*\n\Z")
        self.fails(1, "No space left", "generate", "spirals", "-o", "/dev/full")

    def test_an_existing_file_survives_failure(self):
        self.write("out.svm", "precious\n")
        self.write("bad.svm", "1 1:x\n")
        self.fails(1, "bad.svm:1", "convert", "bad.svm", "-o", "out.svm")
        self.fails(1, "bad.svm:1", "scale", "bad.svm", "-o", "out.svm", "--json", "report.json")
        self.assertEqual(self.read("out.svm"), "precious\n")
        self.assertEqual(self.files(), ["bad.svm", "out.svm"])

    def test_a_folder_that_is_not_there(self):
        self.fails(1, "No such file", "generate", "spirals", "-o", "no/such/folder.svm")

    def test_what_cannot_be_written_is_told_before_the_work(self):
        # The data is not there either: the output is looked at first.
        for command, option in (("train", "-o"), ("train", "--report"), ("train", "--json"), ("tune", "-o"), ("tune", "--csv"),
                                ("compare", "--markdown")):
            self.fails(1, "no/such/folder: cannot create: No such file", command, "none.svm", option, "no/such/folder")
            self.fails(1, "cannot write: it is a folder", command, "none.svm", option, ".")
        self.write("protected", "precious\n")
        os.chmod(self.folder / "protected", 0o400)
        if os.getuid() != 0:
            self.fails(1, "protected: cannot write: Permission denied", "train", "none.svm", "-o", "protected")
        self.write("train.svm", "1 1:1\n-1 1:0\n")
        self.ok("train", "train.svm", "-o", "made/m", "--checkpoint", "made")

    def test_nothing_but_results_in_pipes(self):
        result = self.ok("generate", "gaussians", "--rows", 100000, "-o", "x.svm")
        self.assertNotIn("\r", result.err)
        self.assertEqual(self.ok("generate", "gaussians", "-o", "x.svm", "-q").err, "")


if __name__ == "__main__":
    main()
