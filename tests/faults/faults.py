"""Commands on small data, and a judge of what they leave behind when the system fails them. Used by faults_test.py and by
bench/reliability/faults."""
import gzip
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import time

OLD = b"what was there before\n"
TEMPORARY = re.compile(r"\.tamis-[0-9a-f]{16}-\d+\.tmp")
KINDS = ("alloc", "write", "fsync", "rename", "open", "close", "ftruncate", "mmap", "read")


class Case:
    """A command; `outputs` are the files it writes. Those of `timed` hold times, or depend on them: they are not the same
    each time, but whole."""

    def __init__(self, name, *arguments, outputs=("out",), timed=()):
        self.name, self.arguments, self.outputs, self.timed = name, [str(a) for a in arguments], outputs, timed


METHODS = ("exact", "linear", "falk", "falk-c", "falk-l", "knn", "knn-svm", "random-subset", "ransac", "cglq",
           "local-sampling", "leader", "subsample", "opt-margin", "opt-soft-margin")

# What a method needs to make something of 200 rows.
SMALL = {"falk": ["--k", 20], "falk-c": ["--k", 20], "falk-l": ["--k-grid", 20], "knn-svm": ["--k", 20],
         "leader": ["--leaders", 50]}


def cases():
    train = [Case(f"train {m}", "train", "train.svm", "--method", m, *SMALL.get(m, []), "-o", "out")
             for m in METHODS]
    return train + [
        Case("train auto", "train", "train.svm", "--method", "auto", "--max-seconds", 1, "-o", "out", timed=("out",)),
        Case("train with probabilities", "train", "train.svm", "--probability-folds", 2, "-o", "out", "--json", "r.json",
             outputs=("out", "r.json"), timed=("r.json",)),
        Case("train --stream", "train", "train.svm", "--method", "leader", "--stream", "--leaders", 50, "-o", "out"),
        Case("train from CSV", "train", "train.csv", "-o", "out"),
        Case("train from .csr", "train", "train.csr", "-o", "out"),
        Case("train with columns", "train", "mixed.csv", "--missing", "impute", "--text-columns", "one-hot", "-o", "out"),
        Case("train in cells", "train", "train.svm", "--method", "falk", "--k", 20, "--cell-rows", 100, "-o", "out"),
        Case("convert to .csr", "convert", "train.csv", "-o", "out.csr", outputs=("out.csr",)),
        Case("generate", "generate", "checkerboard", "--rows", 300, "-o", "out"),
        Case("convert", "convert", "train.csv.gz", "-o", "out.npy", outputs=("out.npy", "out.labels.npy")),
        Case("convert a model", "convert", "exact.model", "--to", "libsvm", "-o", "out"),
        Case("scale", "scale", "train.svm", "-o", "out", "-s", "ranges", outputs=("out", "ranges")),
        Case("check", "check", "train.svm", "--json", "r.json", outputs=("r.json",), timed=("r.json",)),
        Case("predict", "predict", "exact.model", "train.svm", "-o", "out"),
        Case("predict probabilities", "predict", "probable.model", "train.svm", "--probabilities", "-o", "out"),
        Case("predict with columns", "predict", "columns.model", "mixed.csv", "-o", "out"),
        Case("predict knn-svm", "predict", "knn-svm.model", "train.svm", "-o", "out"),
        Case("evaluate", "evaluate", "exact.model", "train.svm", "--json", "r.json", outputs=("r.json",), timed=("r.json",)),
        Case("certify", "certify", "exact.model", "train.svm", "--json", "r.json", outputs=("r.json",), timed=("r.json",)),
        Case("calibrate", "calibrate", "exact.model", "train.svm", "-o", "out"),
        Case("tune", "tune", "train.svm", "--grid", "cost=1,10", "--grid", "gamma=1,10", "--folds", 2, "-o", "out",
             "--csv", "out.csv", "--report", "out.html", outputs=("out", "out.csv", "out.html"), timed=("out.csv", "out.html")),
        Case("compare", "compare", "train.svm", "--methods", "exact,linear,knn", "--csv", "out.csv", "--markdown", "out.md",
             "--report", "out.html", outputs=("out.csv", "out.md", "out.html"), timed=("out.csv", "out.md", "out.html")),
        Case("info", "info", "exact.model", outputs=()),
    ]


class Broken(AssertionError):
    """The program did what it must not."""


class Bench:
    """A folder with the inputs of the cases, and the program."""

    def __init__(self, folder, program, interposer, threads=1):
        self.folder, self.program, self.interposer, self.threads = pathlib.Path(folder), program, interposer, threads
        self._wanted = {}

    def prepare(self, rows=200):
        run = lambda *arguments: subprocess.run([self.program, *map(str, arguments), "-q"], cwd=self.folder, check=True,
                                                stdout=subprocess.DEVNULL)
        run("generate", "checkerboard", "--rows", rows, "-o", "train.svm")
        run("convert", "train.svm", "-o", "train.csv")
        run("convert", "train.svm", "-o", "train.csr")
        (self.folder / "train.csv.gz").write_bytes(gzip.compress((self.folder / "train.csv").read_bytes()))
        run("train", "train.svm", "-o", "exact.model")
        run("train", "train.svm", "--method", "knn-svm", "--k", 20, "-o", "knn-svm.model")
        run("calibrate", "exact.model", "train.svm", "-o", "probable.model")
        words = ("ape", "bee", "", "cat")
        (self.folder / "mixed.csv").write_text("size,kind,label\n" + "".join(
            f"{i % 7 if i % 5 else ''},{words[i % 4]},{'yes' if i % 3 else 'no'}\n" for i in range(rows // 4)))
        run("train", "mixed.csv", "--missing", "impute", "--text-columns", "one-hot", "-o", "columns.model")

    def start(self, case, fault=None, **settings):
        environment = dict(os.environ)
        if fault is not None:
            environment.update(LD_PRELOAD=self.interposer, TAMIS_FAULT=fault, TAMIS_FAULT_COUNTS=str(self.folder / "counts"))
        return subprocess.Popen([self.program, *case.arguments, "--threads", str(self.threads)], cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=settings.pop("stdout", subprocess.DEVNULL),
                                stderr=subprocess.PIPE, env=environment, **settings)

    def run(self, case, fault=None, **settings):
        """Exit code and what was said."""
        process = self.start(case, fault, **settings)
        try:
            _, said = process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Broken(f"{case.name}, {fault}: does not end")
        return process.returncode, said.decode(errors="replace")

    def set_old(self, case):
        for output in case.outputs:
            (self.folder / output).write_bytes(OLD)

    def wanted(self, case):
        """What the outputs hold after a run that nothing disturbs, and how often it makes each kind of call."""
        if case.name not in self._wanted:
            self.set_old(case)
            code, said = self.run(case, "none:0")
            if code not in (0, 3):
                raise Broken(f"{case.name}: exit code {code}: {said}")
            counts = dict(line.split() for line in (self.folder / "counts").read_text().splitlines())
            self._wanted[case.name] = ({o: (self.folder / o).read_bytes() for o in case.outputs},
                                       {kind: int(n) for kind, n in counts.items()})
        return self._wanted[case.name]

    def leftovers(self):
        return [p.name for p in self.folder.iterdir() if TEMPORARY.fullmatch(p.name)]

    def is_whole(self, case, output):
        """Whether the file is the new one; Broken if it is neither that nor the old one."""
        found = (self.folder / output).read_bytes()
        if found == OLD:
            return False
        if output not in case.timed:
            whole = found == self.wanted(case)[0][output]
        elif output.endswith(".json"):
            whole = bool(json.loads(found))
        elif output.endswith(".html"):
            whole = found.endswith(b"</html>\n")
        elif output.endswith((".csv", ".md")):
            whole = found.count(b"\n") == self.wanted(case)[0][output].count(b"\n")
        else:
            whole = subprocess.run([self.program, "info", output], cwd=self.folder, stdout=subprocess.DEVNULL).returncode == 0
        if not whole:
            raise Broken(f"{case.name}: {output} is neither whole nor as it was: {found[:80]!r}")
        return True

    def judge(self, case, fault, code, said, may_leave=False, may_succeed=True):
        """The rules: no signal; exit code 0 and every output new, or 1, a message and every output whole or as it was;
        nothing else left. Returns whether it succeeded."""
        where = f"{case.name}, {fault}: exit code {code}, {said[-300:]!r}"
        if code not in (0, 1, 3):
            raise Broken(where)
        if code == 1 and not re.search(r"^tamis: \S", said, re.MULTILINE):
            raise Broken("no message: " + where)
        if code != 1 and not may_succeed:
            raise Broken("the failure was not noticed: " + where)
        new = [self.is_whole(case, output) for output in case.outputs]
        if code != 1 and not all(new):
            raise Broken("an output is missing: " + where)
        if self.leftovers() and not may_leave:
            raise Broken(f"left {self.leftovers()}: {where}")
        return code != 1

    def fail(self, case, fault, **rules):
        self.set_old(case)
        code, said = self.run(case, fault)
        return self.judge(case, fault, code, said, **rules)

    def kill_at(self, case, fault):
        """Killed at a call. What it left is gone after the next run."""
        self.set_old(case)
        code, _ = self.run(case, fault)
        self.judge_killed(case, fault, code)

    def kill_after(self, case, seconds):
        self.set_old(case)
        process = self.start(case)
        time.sleep(seconds)
        process.kill()
        process.communicate()
        self.judge_killed(case, f"killed after {seconds:.4f} s", process.returncode)

    def judge_killed(self, case, fault, code):
        if code not in (-signal.SIGKILL, 0, 3):
            raise Broken(f"{case.name}, {fault}: exit code {code}")
        for output in case.outputs:
            self.is_whole(case, output)
        odd = [p.name for p in self.folder.iterdir() if p.name.startswith(".") and not TEMPORARY.fullmatch(p.name)]
        if odd:
            raise Broken(f"{case.name}, {fault}: left {odd}")
        if self.leftovers():
            self.run(case)
            if self.leftovers():
                raise Broken(f"{case.name}, {fault}: the next run left {self.leftovers()}")


def quick_folder():
    """Where fsync costs nothing, if there is such a place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def some_of(count, most, chance):
    """The calls 1 to count, or `most` of them: the first, the last, and others at random."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({1, count, *chance.sample(range(1, count + 1), most - 2)})


def chance_of(seed):
    return random.Random(seed)
