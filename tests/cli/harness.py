"""Runs the program as a user would, each test in an empty folder of its own."""
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = os.path.abspath(os.environ.get("TAMIS", "tamis"))

# Sanitizers slow the program down many times, and ThreadSanitizer holds signals back: times are not what is tested then.
SANITIZED = os.environ.get("TAMIS_SANITIZE", "") != ""

# f(x) = 2 x_1 between the classes 1 and -1.
LINEAR_MODEL = """svm_type c_svc
kernel_type linear
nr_class 2
total_sv 2
rho 0
label 1 -1
nr_sv 1 1
SV
1 1:1 2:0.5 
-1 1:-1 2:0.5 
"""

REGRESSION_MODEL = """svm_type epsilon_svr
kernel_type linear
nr_class 2
total_sv 1
rho -1
SV
2 1:1 
"""


class Result:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode()
        self.err = process.stderr.decode()


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tamis-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return name

    def read(self, name):
        return (self.folder / name).read_text()

    def files(self):
        return sorted(p.name for p in self.folder.iterdir())

    def start(self, *arguments, **settings):
        return subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, stdout=settings.pop("stdout", subprocess.PIPE),
                                stderr=settings.pop("stderr", subprocess.PIPE), **settings)

    def interrupt(self, *arguments, number=signal.SIGINT, ready=b"\r\x1b[K"):
        """Sends the signal once the program shows `ready` on its terminal: its line of progress. Returns exit code, standard
        output, what it said after that, and the seconds from signal to end. A run that is over before has nothing to
        interrupt: the test is skipped."""
        ours, theirs = pty.openpty()
        process = self.start(*arguments, stderr=theirs)
        os.close(theirs)
        said = bytearray()

        def read_until(done):
            try:
                while not done():
                    piece = os.read(ours, 4096)
                    if not piece:
                        return
                    said.extend(piece)
            except OSError:  # the other end is closed
                return

        read_until(lambda: ready in said)
        if ready not in said:
            process.communicate()
            os.close(ours)
            self.skipTest("over before it could be interrupted")
        start = time.monotonic()
        process.send_signal(number)
        reader = threading.Thread(target=read_until, args=(lambda: False,))
        reader.start()
        out, _ = process.communicate(timeout=120 if SANITIZED else 60)
        seconds = time.monotonic() - start
        reader.join()
        os.close(ours)
        said_last = said.decode().rsplit("\r\x1b[K", 1)[1].replace("\r\n", "\n")
        return process.returncode, out.decode(), said_last, seconds

    def run_tamis(self, *arguments, stdin=b"", stdout=subprocess.PIPE, env=None):
        if isinstance(stdin, str):
            stdin = stdin.encode()
        process = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, input=stdin, stdout=stdout,
                                 stderr=subprocess.PIPE, timeout=120, env=env)
        process.stdout = process.stdout or b""
        return Result(process)

    def on_terminal(self, *arguments, env=None):
        """Standard output of a run that has a terminal there."""
        ours, theirs = pty.openpty()
        said = bytearray()

        def read():
            try:
                while piece := os.read(ours, 4096):
                    said.extend(piece)
            except OSError:  # the other end is closed
                return

        reader = threading.Thread(target=read)
        reader.start()
        result = self.run_tamis(*arguments, stdout=theirs, env=env)
        os.close(theirs)
        reader.join()
        os.close(ours)
        self.assertEqual(result.code, 0, result.err)
        return said.decode()

    def ok(self, *arguments, **settings):
        result = self.run_tamis(*arguments, **settings)
        self.assertEqual(result.code, 0, result.err)
        return result

    def fails(self, code, pattern, *arguments, **settings):
        """One line on standard error that matches, nothing on standard output, that exit code."""
        result = self.run_tamis(*arguments, **settings)
        self.assertEqual(result.code, code, f"{arguments}: {result.err}")
        self.assertEqual(result.out, "")
        self.assertRegex(result.err, r"\Atamis: [^\n]+\n\Z")
        self.assertRegex(result.err, pattern)
        return result

    def report(self, name):
        return json.loads(self.read(name))


def main():
    program = unittest.main(exit=False, verbosity=1)
    result = program.result
    print(f"{result.testsRun} tests, {len(result.failures) + len(result.errors)} failed, {len(result.skipped)} skipped")
    sys.exit(0 if result.wasSuccessful() else 1)
