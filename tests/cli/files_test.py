"""Files and streams that are closed, full, special, or the same one twice."""
import bz2
import gzip
import itertools
import lzma
import os
import pathlib
import re
import signal
import socket
import subprocess

from harness import LINEAR_MODEL, PROGRAM, SANITIZED, CliTest, Result, main

ROWS = "1 1:1 2:3\n-1 1:-1 2:1\n1 1:2\n-1 1:-2 2:2\n"


class ClosedStreams(CliTest):
    def run_closed(self, closed, *arguments):
        """Runs the program with these descriptors closed; what it writes to the others is kept."""
        process = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, timeout=120,
                                 stdin=None if 0 in closed else subprocess.DEVNULL,
                                 stdout=None if 1 in closed else subprocess.PIPE,
                                 stderr=None if 2 in closed else subprocess.PIPE,
                                 preexec_fn=lambda: [os.close(fd) for fd in closed])
        process.stdout = process.stdout or b""
        process.stderr = process.stderr or b""
        return Result(process)

    def test_files_are_written(self):
        whole = self.ok("generate", "checkerboard", "--rows", 10).out
        for closed in ((0,), (1,), (2,), (0, 1), (0, 1, 2), (1, 2)):
            name = "f" + "".join(map(str, closed))
            result = self.run_closed(closed, "generate", "checkerboard", "--rows", 10, "-o", name)
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual(self.read(name), whole)

    def test_a_model_is_not_lost(self):
        self.write("x.svm", ROWS)
        self.ok("train", "x.svm", "-o", "expected.model")
        expected = (self.folder / "expected.model").read_bytes()
        for closed in ((0,), (1,), (2,), (0, 1), (0, 1, 2)):
            name = "m" + "".join(map(str, closed))
            result = self.run_closed(closed, "train", "x.svm", "-o", name, "-q")
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertEqual((self.folder / name).read_bytes(), expected)
        self.assertEqual(self.run_closed((1,), "train", "x.svm", "-o", "told.model").code, 1)
        self.assertEqual((self.folder / "told.model").read_bytes(), expected)

    def test_what_cannot_be_read_or_written_is_an_error(self):
        self.write("x.svm", ROWS)
        self.write("a.model", LINEAR_MODEL)
        self.assertRegex(self.run_closed((1,), "predict", "a.model", "x.svm").err, r"\Atamis: [^\n]*cannot write[^\n]*\n\Z")
        for arguments in (("predict", "a.model", "x.svm"), ("info",), ("--help",), ("train", "--help"), ("--version",)):
            self.assertEqual(self.run_closed((1,), *arguments).code, 1, arguments)
        result = self.run_closed((0,), "check", "-")
        self.assertEqual(result.code, 1)
        self.assertRegex(result.err, r"\Atamis: <stdin>: cannot read[^\n]*\n\Z")


class SameFile(CliTest):
    """No output replaces an input, or another output, by mistake."""

    def setUp(self):
        super().setUp()
        self.write("x.svm", ROWS)
        self.write("a.model", LINEAR_MODEL)
        (self.folder / "sub").mkdir()
        os.symlink("x.svm", self.folder / "link")
        os.symlink("new", self.folder / "dangling")
        os.link(self.folder / "x.svm", self.folder / "twin")
        self.before = {name: self.read(name) for name in ("x.svm", "a.model")}

    def refused(self, pattern, *arguments, **settings):
        names = self.files()
        self.fails(2, pattern, *arguments, **settings)
        self.assertEqual(self.files(), names)
        self.assertEqual({name: self.read(name) for name in self.before}, self.before)

    def test_outputs_that_are_inputs(self):
        for name in ("x.svm", "./x.svm", "sub/../x.svm", self.folder / "x.svm", "link", "twin"):
            self.refused("--output would replace DATA", "train", "x.svm", "-o", name)
            self.refused("--output would replace DATA", "predict", "a.model", "x.svm", "-o", name)
            self.refused("--json would replace DATA", "check", "x.svm", "--json", name)
        self.refused("--output would replace DATA", "train", "link", "-o", "x.svm")
        self.refused("--output would replace MODEL", "predict", "a.model", "x.svm", "-o", "a.model")
        self.refused("--json would replace MODEL", "info", "a.model", "--json", "a.model")
        self.refused("--json would replace MODEL", "evaluate", "a.model", "x.svm", "--json", "a.model")
        self.refused("--json would replace --against", "certify", "x.model", "x.svm", "--against", "a.model", "--json", "a.model")
        self.refused("--output would replace DATA", "calibrate", "a.model", "x.svm", "-o", "x.svm")
        self.refused("--output would replace DATA", "tune", "x.svm", "-o", "x.svm")
        self.refused("--csv would replace TRAIN", "compare", "x.svm", "--csv", "x.svm")
        self.refused("--report would replace --test", "compare", "y.svm", "--test", "x.svm", "--report", "x.svm")
        self.refused("--save-ranges would replace DATA", "scale", "x.svm", "-s", "x.svm", "-o", "y.svm")
        self.refused("--output would replace --load-ranges", "scale", "x.svm", "-r", "r.json", "-o", "r.json")

    def test_redirected_streams_count(self):
        with open(self.folder / "x.svm", "rb") as rows:
            process = subprocess.run([PROGRAM, "train", "-", "-o", "x.svm"], cwd=self.folder, stdin=rows, capture_output=True)
        self.assertEqual((process.returncode, self.read("x.svm")), (2, ROWS), process.stderr)
        with open(self.folder / "x.svm", "ab") as rows:
            self.assertEqual(self.run_tamis("predict", "a.model", "x.svm", stdout=rows).code, 2)
        self.assertEqual(self.read("x.svm"), ROWS)

    def test_two_outputs(self):
        for first, second in (("new", "new"), ("new", "./sub/../new"), ("new", "dangling"), ("new", self.folder / "new")):
            self.refused("--output.*--json|--json.*--output", "train", "x.svm", "-o", first, "--json", second)
            self.refused("--output.*--save-ranges|--save-ranges.*--output", "scale", "x.svm", "-s", first, "-o", second)
            self.refused("--csv.*--report|--report.*--csv", "tune", "x.svm", "--csv", first, "--report", second)
            self.refused("--csv.*--markdown|--markdown.*--csv", "compare", "x.svm", "--csv", first, "--markdown", second)
        self.refused("the labels of --output", "generate", "spirals", "-o", "new.npy", "--json", "new.labels.npy")
        self.refused("both be standard output", "predict", "a.model", "x.svm", "--json", "-")
        self.refused("both be standard output", "tune", "x.svm", "--csv", "-", "-o", "/dev/stdout")

    def test_labels_of_arrays_are_inputs_too(self):
        self.ok("convert", "x.svm", "-o", "x.npy")
        self.refused("--output would replace the labels of DATA", "predict", "a.model", "x.npy", "-o", "x.labels.npy")
        self.refused("--output would replace the labels of DATA", "scale", "x.npy", "-o", "x.labels.npy")

    def test_updates_in_place(self):
        self.ok("convert", "x.svm", "-o", "x.npy")
        self.ok("scale", "x.npy", "-o", "x.npy")
        self.assertIn("0 to 1", self.ok("check", "x.npy").out)
        self.ok("scale", "x.svm", "-o", "x.svm")
        self.assertIn("0 to 1", self.ok("check", "x.svm").out)
        self.ok("convert", "a.model", "--to", "native", "-o", "a.model")
        self.ok("calibrate", "a.model", "x.svm", "-o", "a.model")
        self.assertIn("probabilities", self.ok("info", "a.model").out)

    def test_devices_may_be_named_twice(self):
        self.ok("train", "x.svm", "-o", "/dev/null", "--json", "/dev/null")


class SpecialInputs(CliTest):
    def test_a_file_that_shrinks_while_it_is_read(self):
        """The labels come from a pipe, which is opened after the features: so these can be cut short in between."""
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1), }\n"
        self.write("x.npy", b"\x93NUMPY\x01\x00" + bytes((len(header), 0)) + header + bytes(4000000))
        os.mkfifo(self.folder / "y.npy")
        process = self.start("check", "x.npy", "--labels", "y.npy")
        with open(self.folder / "y.npy", "wb"):
            os.truncate(self.folder / "x.npy", 1000)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (1, b"tamis: x.npy: the file became shorter while it was read\n"))

    def test_what_is_no_file(self):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(self.folder / "socket"))
            self.fails(1, "it is a socket", "check", "socket")
        self.fails(1, "it is a folder", "check", ".")
        self.fails(1, "no rows", "check", "/dev/null")
        self.fails(1, "larger than the memory budget of 64", "check", "/dev/zero", "--memory", "64M")
        os.mkfifo(self.folder / "pipe")
        self.fails(1, "not a plain file", "train", "pipe", "--stream", "--method", "leader", "-o", "m")

    def test_a_pipe_without_a_writer_can_be_interrupted(self):
        os.mkfifo(self.folder / "pipe")
        process = self.start("check", "pipe")
        status = pathlib.Path(f"/proc/{process.pid}/status")
        while not int(re.search(r"^SigCgt:\s*(\w+)", status.read_text(), re.MULTILINE)[1], 16) & 1 << (signal.SIGINT - 1):
            os.sched_yield()  # until it catches the signal
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (130, b"tamis: interrupted\n"))


class Hostile(CliTest):
    """Small files that ask for much: refused within the memory budget, before it is taken. The files are written in pieces,
    because the peak that the system reports for a child begins with that of its parent."""

    def write_pieces(self, name, pieces):
        with open(self.folder / name, "wb") as file:
            file.writelines(pieces)

    def refused(self, pattern, *arguments):
        process = self.start(*arguments, "--memory", "64M")
        with process.stdout, process.stderr:
            err = process.stderr.read().decode()
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 1, f"{arguments}: {err}")
        self.assertRegex(err, pattern)
        if not SANITIZED:
            self.assertLess(usage.ru_maxrss / 1024, 64 * 1.1 + 32, arguments)

    def test_archives(self):
        """A gigabyte in a few kilobytes."""
        zeros = bytes(1 << 20)
        for ending, packed in (("gz", gzip.compress(zeros)), ("xz", lzma.compress(zeros)), ("bz2", bz2.compress(zeros))):
            self.write_pieces("bomb." + ending, itertools.repeat(packed, 1024))
            self.refused("its text is larger than the memory budget", "check", "bomb." + ending)
            self.refused("its text is larger than the memory budget", "info", "bomb." + ending)

    def test_one_long_line(self):
        self.write_pieces("commas.csv", itertools.repeat(b"," * 1000, 10_000))
        self.refused("reading commas.csv needs", "check", "commas.csv")
        self.write_pieces("names.csv", (b"f," * 2_000_000, b"y\n", b"1," * 2_000_000, b"1\n"))
        self.refused("reading names.csv with 2000001 columns needs", "check", "names.csv")
        self.write_pieces("pairs.svm", itertools.chain((b"1",), (b" %d:1" % i for i in range(1, 6_000_000))))
        self.refused("reading pairs.svm needs", "check", "pairs.svm")
        self.refused("reading pairs.svm needs", "train", "pairs.svm", "--method", "leader", "--stream", "-o", "m")

    def test_shapes_without_bytes(self):
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 0), }\n"
        self.write("x.npy", b"\x93NUMPY\x01\x00" + bytes((len(header), 0)) + header)
        self.refused("x.npy: no columns", "check", "x.npy")

    def test_large_column_numbers(self):
        self.write("x.svm", "1 1:1 100000000:1\n-1 2:1\n1 1:2\n-1 3:1\n" * 20)
        for method in ("linear", "exact", "falk", "falk-c", "falk-l", "knn", "knn-svm", "cglq", "local-sampling", "leader",
                       "subsample", "random-subset", "ransac", "opt-margin", "opt-soft-margin", "auto"):
            self.refused("100000000 (columns|features)", "train", "x.svm", "--method", method, "-o", "m")
        for command in (("scale", "x.svm"), ("convert", "x.svm", "-o", "x.csv"), ("convert", "x.svm", "-o", "x.npy"),
                        ("train", "x.svm", "--method", "linear", "--scale", "maxabs", "-o", "m")):
            self.refused("100000000 (columns|features)", *command)


class Labels(CliTest):
    def test_a_stray_word(self):
        self.write("x.svm", "1 1:1\n-1 1:2\n1 1:3\nl 1:4\n")
        self.fails(1, "x.svm:4:1: the label 'l' is a word", "train", "x.svm", "-o", "m")
        self.write("x.csv", "1,2,0\n3,4,1\n5,6,one\n")
        self.fails(1, "x.csv:3:5: the label 'one' is a word", "check", "x.csv")
        self.assertIn("class            one: 1 row", self.ok("check", "x.csv", "--text-labels").out)
        self.fails(2, "this task needs numbers", "train", "x.csv", "--text-labels", "--task", "regression")

    def test_long_numbers(self):
        names = ("9007199254740992", "9007199254740993", "9007199254740994")
        self.write("x.svm", "".join(f"{name} {k}:1\n{name} {k}:2\n" for k, name in enumerate(names, 1)))
        self.ok("train", "x.svm", "-o", "m", "--scale", "none")
        self.assertEqual(self.ok("predict", "m", "x.svm").out.split(), [name for name in names for _ in range(2)])
        self.write("y.svm", f"{names[0]} 1:1\n{names[2]} 3:1\n")  # these two are doubles
        self.assertIn("Accuracy = 100%", self.ok("predict", "m", "y.svm").err)

    def test_options_of_other_formats(self):
        self.write("x.svm", ROWS)
        self.fails(2, "x.svm: svmlight text has no label column", "check", "x.svm", "--label", "y")
        self.fails(2, "x.svm: svmlight text has no weight column", "train", "x.svm", "--weight", "w")
        self.fails(2, "x.svm: .*NumPy", "check", "x.svm", "--labels", "y.npy")


class FullDisk(CliTest):
    def test_everything_printed_is_checked(self):
        self.write("x.svm", ROWS)
        self.write("a.model", LINEAR_MODEL)
        commands = ("train", "predict", "evaluate", "calibrate", "tune", "compare", "certify", "generate", "convert", "scale",
                    "check", "info")
        every = [(command, "--help") for command in commands]
        every += [("--help",), ("--version",), ("train", "--help", "falk"), ("man",), ("man", "train"), ("completion", "bash"),
                  ("completion", "zsh"), ("completion", "fish"), ("options-table", "exact"), ("info",), ("info", "a.model"),
                  ("check", "x.svm"), ("evaluate", "a.model", "x.svm"), ("certify", "a.model", "x.svm"),
                  ("predict", "a.model", "x.svm"), ("scale", "x.svm"), ("train", "x.svm", "-o", "m"),
                  ("check", "x.svm", "--json", "-"), ("convert", "x.svm", "-o", "-")]
        with open("/dev/full", "wb") as full:
            for arguments in every:
                result = self.run_tamis(*arguments, stdout=full)
                self.assertEqual(result.code, 1, arguments)
                self.assertRegex(result.err.splitlines()[-1], r"\Atamis: [^\n]*cannot write[^\n]*\Z")


class SpecialOutputs(CliTest):
    def test_devices_and_pipes_are_written_directly(self):
        whole = self.ok("generate", "spirals", "--rows", 5).out
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            self.assertEqual(self.ok("generate", "spirals", "--rows", 5, "-o", name, "-q").out, whole)
        self.ok("generate", "spirals", "--rows", 5, "-o", "/dev/null")
        with open(self.folder / "redirected", "wb") as file:
            file.write(b"before\n")
            file.flush()
            self.ok("generate", "spirals", "--rows", 5, "-o", "/dev/stdout", "-q", stdout=file)
        self.assertEqual(self.read("redirected"), "before\n" + whole)
        os.mkfifo(self.folder / "pipe")
        process = self.start("generate", "spirals", "--rows", 5, "-o", "pipe")
        self.assertEqual(self.read("pipe"), whole)
        process.communicate(timeout=60)
        self.assertEqual(self.files(), ["pipe", "redirected"])

    def test_a_model_on_standard_output_stands_alone(self):
        self.write("x.svm", ROWS)
        self.ok("train", "x.svm", "-o", "m", "-q")
        process = self.start("train", "x.svm", "-o", "/dev/stdout")
        out, _ = process.communicate(timeout=60)
        self.assertEqual(out, (self.folder / "m").read_bytes())

    def test_a_symbolic_link_keeps_its_target(self):
        (self.folder / "sub").mkdir()
        os.symlink("sub/real.svm", self.folder / "link.svm")
        for rows in (3, 4):  # the target is made, then replaced
            self.ok("generate", "spirals", "--rows", rows, "-o", "link.svm")
            self.assertTrue((self.folder / "link.svm").is_symlink())
            self.assertEqual(len(self.read("sub/real.svm").splitlines()), rows)


if __name__ == "__main__":
    main()
