"""tamis-mpi: several processes on one computer, each with a part of the rows."""
import json
import os
import re
import signal
import subprocess
import time

import numpy as np
from harness import PROGRAM, CliTest, Result, main

MPI_PROGRAM = os.environ["TAMIS_MPI"]
# In a container the user is root, and there are more processes than cores, which then must not wait by spinning. PRTE_: the same
# for Open MPI 5.
MPI_ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                   "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_hwloc_base_binding_policy": "none",
                   "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none"}


class MpiTest(CliTest):
    def start(self, ranks, *arguments, program=MPI_PROGRAM):
        command = ["mpirun", "-n", str(ranks), program, *map(str, arguments)]
        return subprocess.Popen(command, cwd=self.folder, env=MPI_ENVIRONMENT, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def together(self, ranks, *arguments, program=MPI_PROGRAM):
        process = self.start(ranks, *arguments, program=program)
        out, err = process.communicate(timeout=120)
        return Result(subprocess.CompletedProcess(process.args, process.returncode, out, err))

    def messages(self, result):
        """What the program itself wrote to standard error. Open MPI 5 ends its own notices with a zero byte."""
        return re.findall(r"^tamis: .*", result.err.replace("\0", ""), re.MULTILINE)

    def expect_same_model(self, data, *options, ranks=(2, 3)):
        self.ok("train", data, "-o", "alone.model", *options)
        expected = (self.folder / "alone.model").read_bytes()
        for count in ranks:
            result = self.together(count, "train", data, "-o", f"{count}.model", "--threads", 1, *options)
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual((self.folder / f"{count}.model").read_bytes(), expected, f"{count} ranks")
            self.assertEqual(result.out.count("model written"), 1)


class Training(MpiTest):
    def test_svmlight(self):
        self.ok("generate", "checkerboard", "--rows", 5000, "-o", "x.svm")
        self.expect_same_model("x.svm", "-c", 10, "-g", 100)

    def test_csv_with_many_classes(self):
        rng = np.random.default_rng(1)
        centers = rng.normal(size=(3, 4)) * 1.5
        rows = [(c % 3, *(centers[c % 3] + rng.normal(size=4))) for c in range(4000)]
        names = ("dog", "cat", "cow")
        self.write("x.csv", "a,b,c,d,label\n" + "".join(
            ",".join(f"{v:.4f}" for v in row[1:]) + f",{names[row[0]]}\n" for row in rows))
        self.expect_same_model("x.csv", "--scale", "standard")

    def test_falk_in_cells(self):
        self.ok("generate", "checkerboard", "--rows", 6000, "-o", "x.npy")
        for method in ("falk", "falk-c"):
            self.expect_same_model("x.npy", "--method", method, "-c", 10, "-g", 100, "--k", 60, "--cell-rows", 800)

    def test_numpy_regression(self):
        rng = np.random.default_rng(2)
        x = rng.normal(size=(3000, 3)).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        np.save(self.folder / "x.labels.npy", np.sin(x[:, 0]) + 0.2 * x[:, 1])
        self.expect_same_model("x.npy", "--task", "regression", "-c", 1, "-g", 0.2)
        np.save(self.folder / "x.npy", np.asfortranarray(x))
        self.expect_same_model("x.npy", "--task", "regression", "-c", 1, "-g", 0.2, ranks=(3,))

    def test_more_processes_than_rows(self):
        self.write("x.svm", "1 1:1\n-1 1:-1\n")
        self.expect_same_model("x.svm", ranks=(3,))

    def test_report(self):
        self.ok("generate", "checkerboard", "--rows", 3000, "-o", "x.svm")
        result = self.together(2, "train", "x.svm", "-o", "m", "-g", 100, "--json", "j")
        self.assertEqual(result.code, 0, result.err)
        report = json.loads(self.read("j"))
        self.assertEqual((report["processes"], report["rows"]), (2, 3000))
        self.assertGreater(report["bytes_sent"], 0)


    def test_other_methods(self):
        self.ok("generate", "checkerboard", "--rows", 2000, "-o", "x.svm")
        ensemble = ("-g", 100, "--subset-rows", 100, "--score-rows", 500)
        for method, ranks, options in (
                ("subsample", 2, ("-g", 100, "--delta", 0.2)),
                ("random-subset", 3, (*ensemble, "--members", 5)),
                ("ransac", 2, (*ensemble, "--trials", 6)),
                ("opt-soft-margin", 3, ("-g", 100)),
                ("leader", 2, ("-g", 100, "--leaders", 200)),
                ("linear", 2, ())):
            self.expect_same_model("x.svm", "--method", method, *options, ranks=(ranks,))

    def test_large_linear_problems(self):
        self.ok("generate", "gaussians", "--rows", 20000, "-o", "few.svm")
        self.ok("generate", "words", "--rows", 5000, "--features", 3000, "-o", "many.svm")
        self.expect_same_model("few.svm", "--method", "linear", "--bias", "free", ranks=(2, 3))
        self.expect_same_model("many.svm", "--method", "linear", "-e", 0.01, ranks=(2, 3))
        self.expect_same_model("many.svm", "--method", "linear", "-e", 0.01, "--loss", "l2", "-c", 1000, ranks=(3,))

    def test_several_files(self):
        self.ok("generate", "checkerboard", "--rows", 3000, "-o", "x.svm")
        lines = self.read("x.svm").splitlines(keepends=True)
        for part, (begin, end) in enumerate(((0, 100), (100, 2000), (2000, 2001), (2001, 3000))):
            self.write(f"part-{part}.svm", "".join(lines[begin:end]))
        subprocess.run(["gzip", "part-1.svm"], cwd=self.folder, check=True)
        self.ok("train", "x.svm", "-o", "alone.model", "-g", 100)
        expected = (self.folder / "alone.model").read_bytes()
        self.ok("train", "part-*.svm*", "-o", "parts.model", "-g", 100)
        self.assertEqual((self.folder / "parts.model").read_bytes(), expected)
        for ranks, files in ((2, ["part-*.svm*"]), (3, [f"part-{k}.svm" + (".gz" if k == 1 else "") for k in range(4)])):
            result = self.together(ranks, "train", *files, "-o", "m", "-g", 100)
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual((self.folder / "m").read_bytes(), expected)

    def test_scale(self):
        self.ok("generate", "checkerboard", "--rows", 2000, "-o", "x.svm")
        for method, ending in (("standard", "svm"), ("minmax", "csv"), ("quantile", "npy")):
            self.ok("scale", "x.svm", "--method", method, "-s", "alone.json", "-o", f"alone.{ending}")
            result = self.together(3, "scale", "x.svm", "--method", method, "-s", "ranges.json", "-o", f"together.{ending}")
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual(self.read("ranges.json"), self.read("alone.json"))
            self.assertEqual((self.folder / f"together.{ending}").read_bytes(),
                             (self.folder / f"alone.{ending}").read_bytes())


class Prediction(MpiTest):
    def test_labels_values_and_measures(self):
        self.ok("generate", "checkerboard", "--rows", 2000, "-o", "x.svm")
        self.ok("train", "x.svm", "-o", "m", "-c", 10, "-g", 100)
        for options in ((), ("--decision-values",)):
            alone = self.ok("predict", "m", "x.svm", "-o", "alone.txt", *options)
            result = self.together(3, "predict", "m", "x.svm", "-o", "together.txt", *options)
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual(self.read("together.txt"), self.read("alone.txt"))
            self.assertIn(alone.err.strip(), result.err)
        for command in (("evaluate",), ("certify", "-c", 10), ("certify", "-c", 11)):
            expected = self.run_tamis(command[0], "m", "x.svm", *command[1:])
            result = self.together(3, command[0], "m", "x.svm", *command[1:])
            self.assertEqual(result.out, expected.out)
            self.assertEqual(result.code == 0, expected.code == 0)
        self.ok("generate", "gaussians", "--regression", "--rows", 1000, "-o", "y.svm")
        self.ok("train", "y.svm", "-o", "n", "--task", "regression")
        self.assertEqual(self.together(3, "evaluate", "n", "y.svm").out, self.ok("evaluate", "n", "y.svm").out)
        # A class that only one process has, and that the model does not know.
        self.write("x.svm", self.read("x.svm") + "7 1:0.5 2:0.5\n")
        self.assertEqual(self.together(3, "evaluate", "m", "x.svm").out, self.ok("evaluate", "m", "x.svm").out)


class Failures(MpiTest):
    def test_a_bad_line_is_named_once(self):
        lines = [f"{i % 2} 1:{i % 7}\n" for i in range(3000)]
        lines[2500] = "1 1:x\n"
        self.write("x.svm", "".join(lines))
        for ranks in (2, 3):
            result = self.together(ranks, "train", "x.svm", "-o", "m")
            self.assertEqual(result.code, 1)
            self.assertEqual(self.messages(result), ["tamis: x.svm:2501:5: 'x' is not a number"])
            self.assertFalse((self.folder / "m").exists())

    def test_a_file_without_rows(self):
        self.write("empty.svm", "")
        result = self.together(2, "train", "empty.svm", "-o", "m")
        self.assertEqual(result.code, 1)
        self.assertEqual(self.messages(result), ["tamis: empty.svm: no rows: the file is empty"])

    def test_what_does_not_run_together(self):
        self.write("x.svm", "1 1:1\n-1 1:-1\n")
        for arguments, text in (
                (("train", "x.svm", "--method", "falk-l"), "does not run on several processes"),
                (("train", "x.svm", "--method", "auto"), "does not run on several processes"),
                (("train", "x.svm", "--probability-folds", 3), "does not run on several processes"),
                (("tune", "x.svm"), "tune does not run on several processes"),
                (("train", "none.svm"), "cannot open"),
                (("train", "x.svm", "--cost", "-1"), "cost")):
            result = self.together(2, *arguments)
            self.assertIn(result.code, (1, 2))
            self.assertEqual(len(self.messages(result)), 1, result.err)
            self.assertIn(text, result.err)

    def test_a_lone_failure_ends_all_soon(self):
        """One process finds a damaged file; the others wait for its rows."""
        self.ok("generate", "checkerboard", "--rows", 500, "-o", "a.svm")
        self.write("b.svm.gz", self.read("a.svm"))
        subprocess.run(["sh", "-c", "gzip -c a.svm > b.svm.gz && cp b.svm.gz good.svm.gz"], cwd=self.folder, check=True)
        whole = (self.folder / "b.svm.gz").read_bytes()
        (self.folder / "b.svm.gz").write_bytes(whole[:len(whole) // 2])

        def seconds(expected, *files):
            start = time.monotonic()
            result = self.together(2, "train", *files, "-o", "m", "-g", 100)
            self.assertEqual(result.code != 0, expected is not None, result.err)
            if expected is not None:
                self.assertEqual(len(self.messages(result)), 1, result.err)
                self.assertIn(expected, result.err)
            return time.monotonic() - start

        lost = [seconds("b.svm.gz", "a.svm", "b.svm.gz") - seconds(None, "a.svm", "good.svm.gz") for _ in range(3)]
        self.assertLess(min(lost), 5, lost)  # 0.5 s on an idle computer; without the end it would be for ever

    def test_the_plain_program_is_not_meant(self):
        result = self.together(2, "info", program=PROGRAM)
        self.assertEqual(result.code, 2)
        self.assertIn("use tamis-mpi", result.err)

    def test_a_full_disk_ends_all(self):
        self.write("x.svm", "1 1:1\n-1 1:-1\n1 1:2\n")
        result = self.together(2, "train", "x.svm", "-o", "/dev/full")
        self.assertNotEqual(result.code, 0)
        self.assertEqual(self.messages(result), ["tamis: /dev/full: cannot write: No space left on device"])

    def test_a_killed_process_ends_the_job(self):
        self.ok("generate", "checkerboard", "--rows", 200000, "-o", "x.svm")
        job = self.start(2, "train", "x.svm", "-o", "m", "--method", "exact", "-c", 1000, "-g", 100)
        deadline = time.monotonic() + 30
        children = []
        while len(children) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
            found = subprocess.run(["ps", "--ppid", str(job.pid), "-o", "pid="], capture_output=True, text=True)
            children = found.stdout.split()
        time.sleep(1)
        os.kill(int(children[1]), signal.SIGKILL)
        job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, 0)
        self.assertFalse((self.folder / "m").exists())


if __name__ == "__main__":
    main()
