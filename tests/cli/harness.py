"""Runs the program as a user would, each test in an empty folder of its own."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
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
        return subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=settings.pop("stderr", subprocess.PIPE), **settings)

    def run_tamis(self, *arguments, stdin=b"", stdout=subprocess.PIPE, env=None):
        if isinstance(stdin, str):
            stdin = stdin.encode()
        process = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, input=stdin, stdout=stdout,
                                 stderr=subprocess.PIPE, timeout=120, env=env)
        process.stdout = process.stdout or b""
        return Result(process)

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
