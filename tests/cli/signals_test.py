"""Stopping a run, readers that go away, and the progress line of a terminal."""
import os
import pathlib
import pty
import re
import signal
import subprocess
import time

from harness import PROGRAM, SANITIZED, CliTest, main

SLOW = ("generate", "ndcc", "--features", 100, "--rows", 400000, "-o", "out.svm")


class Interrupt(CliTest):
    def soon(self, *arguments, number=signal.SIGINT):
        code, out, err, seconds = self.interrupt(*arguments, number=number)
        if not SANITIZED:
            self.assertLess(seconds, 3)
        return code, out, err

    def test_generate(self):
        self.assertEqual(self.soon(*SLOW), (130, "", "tamis: interrupted\n"))
        self.assertEqual(self.files(), [])

    def test_terminate(self):
        self.assertEqual(self.soon(*SLOW, number=signal.SIGTERM)[0], 143)
        self.assertEqual(self.files(), [])

    def test_while_writing(self):
        self.write("out.svm", "precious\n")
        process = self.start("generate", "checkerboard", "--rows", 10000000, "-o", "out.svm", "--threads", 1)
        deadline = time.monotonic() + 60
        while len(self.files()) < 2 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)  # until the temporary file is there
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120 if SANITIZED else 20)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.files(), ["out.svm"])
        self.assertEqual(self.read("out.svm"), "precious\n")

    def test_predict(self):
        count = 20000
        rows = self.ok("generate", "gaussians", "--rows", count).out.splitlines()
        vectors = sorted((line.split(" ", 1) for line in rows), key=lambda pair: pair[0] != "1")
        half = count // 2
        self.write("big.model", f"svm_type c_svc\nkernel_type rbf\ngamma 0.1\nnr_class 2\ntotal_sv {count}\nrho 0\n"
                   f"label 1 -1\nnr_sv {half} {half}\nSV\n" + "".join(f"{y} {x} \n" for y, x in vectors))
        self.ok("generate", "gaussians", "--rows", 400000, "--seed", 2, "-o", "data.svm")
        self.assertEqual(self.soon("predict", "big.model", "data.svm", "-o", "out.txt"), (130, "", "tamis: interrupted\n"))
        self.assertEqual(self.files(), ["big.model", "data.svm"])

    def test_train_before_anything_was_learned(self):
        # The sums that this training begins with take minutes; reading takes less than the CPU time waited for.
        self.ok("generate", "gaussians", "--rows", 200000, "--features", 20, "-o", "data.npy", "-q")
        self.write("m", "precious")
        process = self.start("train", "data.npy", "--task", "regression", "--method", "opt-soft-margin", "-o", "m")
        ticks = 0
        while ticks < 0.5 * os.sysconf("SC_CLK_TCK"):
            self.assertIsNone(process.poll())
            fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks = int(fields[11]) + int(fields[12])
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120 if SANITIZED else 60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(err.decode(), "tamis: interrupted before anything was learned: no model is written; m is left as it was\n")
        self.assertEqual(self.read("m"), "precious")

    def test_waiting_for_input(self):
        process = self.start("check", "-", stdin=subprocess.PIPE)
        status = pathlib.Path(f"/proc/{process.pid}/status")
        while not int(re.search(r"^SigCgt:\s*(\w+)", status.read_text(), re.MULTILINE)[1], 16) & 1 << (signal.SIGINT - 1):
            time.sleep(0.002)  # until it catches the signal
        for _ in range(2):  # the first signal only asks; the second one ends the program
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=1)
                break
            except subprocess.TimeoutExpired:
                continue
        process.wait(timeout=5)
        self.assertEqual(process.returncode, 130)
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()

    def terminate_when_blocked(self, process):
        """Sends SIGTERM once, after it did nothing but wait for a while."""
        def ticks():
            fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return fields[0] == "S" and int(fields[11]) + int(fields[12])
        quiet = 0
        last = None
        while quiet < 20:
            self.assertIsNone(process.poll())
            quiet = quiet + 1 if ticks() is not False and ticks() == last else 0
            last = ticks()
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err.decode()), (143, "tamis: interrupted\n"))

    def test_a_reader_that_does_not_read(self):
        self.write("tiny.svm", "1 1:1\n-1 1:0\n")
        self.ok("train", "tiny.svm", "-o", "m", "-q")
        self.write("rows.svm", "1 1:1\n" * 100000)
        for command in (("predict", "m", "rows.svm"), ("convert", "rows.svm", "-o", "-", "--to", "csv"),
                        ("generate", "checkerboard", "--rows", 20000, "-o", "-")):
            read, write = os.pipe()
            process = self.start(*command, "-q", stdout=write)
            os.close(write)
            self.terminate_when_blocked(process)
            os.close(read)

    def test_a_named_pipe_that_nobody_reads(self):
        self.write("tiny.svm", "1 1:1\n-1 1:0\n")
        os.mkfifo(self.folder / "pipe")
        for command in (("train", "tiny.svm", "-o", "pipe"), ("train", "tiny.svm", "-o", "m", "--json", "pipe"),
                        ("generate", "checkerboard", "--rows", 10, "-o", "pipe"), ("tune", "tiny.svm", "--folds", 2, "--csv", "pipe")):
            self.terminate_when_blocked(self.start(*command, "-q"))

    def test_a_reader_that_goes_away(self):
        process = self.start("generate", "checkerboard", "--rows", 200000)
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=20), -signal.SIGPIPE)
        self.assertEqual(err, b"")


class Terminal(CliTest):
    def terminal_output(self, *arguments):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, stderr=theirs)
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 0)
        return seen.decode()

    def test_progress_line(self):
        seen = self.terminal_output("generate", "ndcc", "--features", 100, "--rows", 200000, "-o", "x.npy")
        self.assertRegex(seen, r"\r\x1b\[Kgenerate +\d+ %  \d+ s, about \d+ s left")
        last = seen.rsplit("\r\x1b[K", 1)[1]
        self.assertRegex(last, r"\Andcc: [^\r\n]+\r\n\Z")  # the line was cleared before the remark

    def test_quiet(self):
        self.assertEqual(self.terminal_output("generate", "ndcc", "--features", 100, "--rows", 200000, "-o", "x.npy", "-q"),
                         "")


class KilledInCells(CliTest):
    """kill -9 costs the cell that was being trained."""

    def test_continues(self):
        self.ok("generate", "checkerboard", "--rows", 60000, "-o", "x.npy")
        words = ("train", "x.npy", "--method", "falk-c", "-c", 10, "-g", 100, "--k", 300, "--cell-rows", 5000, "--threads", 1)
        self.ok(*words, "-o", "straight.model")
        cells = self.folder / "state" / "cells"

        def finished():
            return {path.name: path.stat().st_mtime_ns for path in cells.glob("*.trained")} if cells.exists() else {}

        killed = 0
        for goal in (2, 5, 9):
            process = self.start(*words, "-o", "x.model", "--checkpoint", "state")
            while len(finished()) < goal and process.poll() is None:
                time.sleep(0.001)
            process.kill()
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
        self.assertGreater(killed, 0)
        before = finished()
        self.assertFalse((self.folder / "x.model").exists())
        self.ok(*words, "-o", "x.model", "--checkpoint", "state")
        self.assertGreaterEqual(len(before), 2)
        self.assertEqual((self.folder / "x.model").read_bytes(), (self.folder / "straight.model").read_bytes())
        self.assertEqual(list((self.folder / "state").iterdir()), [])

    def test_members_of_ensembles(self):
        self.ok("generate", "checkerboard", "--rows", 20000, "-o", "x.npy")
        for method, words in (("random-subset", ("--members", 40)), ("ransac", ("--trials", 200))):
            words = ("train", "x.npy", "--method", method, *words, "-c", 10, "-g", 100, "--threads", 1)
            self.ok(*words, "-o", "straight.model")
            state = self.folder / "state"
            killed = 0
            for goal in (2, 4):
                process = self.start(*words, "-o", "x.model", "--checkpoint", "state", "--checkpoint-seconds", 0)
                while len(list(state.glob("members-*.0.checkpoint"))) < goal and process.poll() is None:
                    time.sleep(0.001)
                process.kill()
                process.communicate()
                killed += process.returncode == -signal.SIGKILL
            self.assertGreater(killed, 0)
            self.ok(*words, "-o", "x.model", "--checkpoint", "state")
            self.assertEqual((self.folder / "x.model").read_bytes(), (self.folder / "straight.model").read_bytes())
            self.assertEqual(list(state.iterdir()), [])
            (self.folder / "x.model").unlink()

    def test_checkpoint_of_other_rows(self):
        self.ok("generate", "checkerboard", "--rows", 3000, "-o", "x.npy")
        self.ok("generate", "checkerboard", "--rows", 3000, "--seed", 2, "-o", "y.npy")
        words = ("--method", "falk-c", "-c", 10, "-g", 100, "--k", 50, "--cell-rows", 500, "--checkpoint", "state")
        process = self.start("train", "x.npy", "-o", "x.model", *words)
        while not list((self.folder / "state").glob("cells/*.trained")) and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        process.communicate()
        if process.returncode != -signal.SIGKILL:
            self.skipTest("it had ended before it was killed")
        result = self.run_tamis("train", "y.npy", "-o", "y.model", *words)
        self.assertEqual(result.code, 1)
        self.assertIn("the checkpoint is of other rows or options", result.err)


if __name__ == "__main__":
    main()
