"""Files that are mapped: the same results as from text, within the memory budget, and files that change meanwhile."""
import os
import pathlib
import signal
import struct
import threading
import time

from harness import SANITIZED, CliTest, main

ROWS, COLUMNS = 120_000, 50  # 23 MiB: above the size from which a file is mapped


def write_npy(path, shape, kind, chunks):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        for chunk in chunks:
            file.write(chunk)


class Mapped(CliTest):
    def setUp(self):
        super().setUp()
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")  # what was checked is not remembered beyond a test

    def make_rows(self, name="x.npy", rows=ROWS, columns=COLUMNS, apart=0.8):
        """Two classes, apart in the first columns; numbers of a simple generator, taken in steps of 1 to 89 along its period,
        the prime 997. Every row is a part of one of 89 runs of numbers, so that it need not be packed number by number."""
        state = 12345
        noise = []
        for _ in range(997):
            state = (1103515245 * state + 12345) % 2**31
            noise.append(state / 2**31)
        labels = bytes(i * 7919 % 13 % 2 for i in range(rows))

        def runs(shift):
            return [struct.pack(f"<{997 + columns}f", *(noise[k * step % 997] + shift for k in range(997 + columns)))
                    for step in range(1, 90)]

        plain, shifted = runs(0), runs(apart)
        inverse = [pow(step, -1, 997) for step in range(1, 90)]

        def chunk(i):
            at = 4 * (i * 31 * inverse[i % 89] % 997)
            row = plain[i % 89][at:at + 4 * columns]
            return shifted[i % 89][at:at + 16] + row[16:] if labels[i] else row

        write_npy(self.folder / name, (rows, columns), "<f4", (chunk(i) for i in range(rows)))
        write_npy(self.folder / name.replace(".npy", ".labels.npy"), (rows,), "|i1", [labels])
        return name

    def run_within(self, budget_mib, *arguments):
        """Exit code, errors, and the most anonymous memory of the process in MiB."""
        process = self.start(*arguments, "--memory", f"{budget_mib}M")
        most, ended = [0], threading.Event()

        def watch():
            while not ended.wait(0.002):
                try:
                    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
                        if line.startswith("RssAnon:"):
                            most[0] = max(most[0], int(line.split()[1]) // 1024)
                except OSError:
                    return

        watcher = threading.Thread(target=watch)
        watcher.start()
        _, error = process.communicate(timeout=300)
        ended.set()
        watcher.join()
        return process.returncode, error.decode(), most[0]

    def test_same_results_from_text_and_from_mapped_rows(self):
        self.make_rows(rows=90_000)  # 17 MiB
        self.ok("convert", "x.npy", "-o", "x.csv")
        self.ok("convert", "x.npy", "-o", "x.csr")
        train = ("--method", "subsample", "--delta", 0.01, "-c", 1, "-g", 0.05, "--scale", "standard", "-q")
        for ending in ("npy", "csv", "csr"):
            self.ok("train", f"x.{ending}", *train, "-o", f"{ending}.model")
            self.ok("predict", f"{ending}.model", f"x.{ending}", "-o", f"{ending}.txt", "-q")
        # A model from CSV has the names of its columns as well.
        self.assertEqual((self.folder / "npy.model").read_bytes(), (self.folder / "csr.model").read_bytes())
        self.assertEqual(self.read("npy.txt"), self.read("csv.txt"))
        self.assertEqual(self.read("npy.txt"), self.read("csr.txt"))

    def test_commands_keep_to_the_budget(self):
        if SANITIZED:
            self.skipTest("a sanitizer has memory of its own")
        self.make_rows(rows=600_000)  # 114 MiB, and as much for a scaled copy
        budget = 100
        train = ("--method", "subsample", "--delta", 0.002, "-c", 1, "-g", 0.05, "-q", "--scale", "standard")
        code, error, most = self.run_within(budget, "train", "x.npy", *train, "-o", "a.model", "--scratch", self.folder)
        self.assertEqual((code, error), (0, ""))
        self.assertLess(most, budget)
        self.ok("train", "x.npy", *train, "-o", "b.model")
        self.assertEqual((self.folder / "a.model").read_bytes(), (self.folder / "b.model").read_bytes())
        for arguments in (("predict", "a.model", "x.npy", "-o", "out.txt", "-q"), ("evaluate", "a.model", "x.npy", "-q"),
                          ("check", "x.npy", "-q"), ("certify", "a.model", "x.npy", "-c", 1, "-q")):
            code, error, most = self.run_within(budget, *arguments)
            self.assertEqual((code, error), (3 if arguments[0] == "certify" else 0, ""), arguments)
            self.assertLess(most, budget, arguments)
        self.assertEqual(len(self.read("out.txt").splitlines()), 600_000)
        code, error, _ = self.run_within(60, "train", "x.npy", "--method", "leader", "-c", 1, "-g", 0.05, "-q", "-o", "c.model")
        self.assertEqual(code, 1)
        self.assertRegex(error, r"needs .*, but the memory budget leaves .*; or train in passes over a file \(stream\)")
        code, error, _ = self.run_within(budget, "train", "x.npy", *train, "-o", "c.model", "--scratch", "/nowhere")
        self.assertEqual(code, 1)
        self.assertRegex(error, r"scaling needs 114 MiB, but the memory budget leaves .* the scratch folder /nowhere cannot")
        self.assertNotIn("c.model", self.files())

    def test_exact_gives_the_same_model_with_little_memory(self):
        if SANITIZED:
            self.skipTest("a sanitizer has memory of its own")
        self.make_rows(rows=60_000, columns=120)  # 27 MiB, as much scaled, ordered, and packed
        self.ok("convert", "x.npy", "-o", "x.svm")  # read into memory; every value is there, so it is dense as well
        for scale in ("none", "standard"):
            train = ("--method", "exact", "-c", 1, "-g", 0.01, "-q", "--scale", scale)
            self.ok("train", "x.svm", *train, "-o", "a.model")
            self.ok("train", "x.npy", *train, "-o", "b.model")
            code, error, most = self.run_within(80, "train", "x.npy", *train, "-o", "c.model", "--scratch", self.folder)
            self.assertEqual((code, error), (0, ""))
            self.assertLess(most, 88)
            for name in ("b", "c"):
                self.assertEqual((self.folder / "a.model").read_bytes(), (self.folder / f"{name}.model").read_bytes(), (scale, name))

    def test_numbers_of_the_rows_lie_in_files_where_memory_is_short(self):
        if SANITIZED:
            self.skipTest("a sanitizer has memory of its own")
        self.make_rows(rows=400_000, columns=12, apart=1.5)  # 18 MiB, and 61 MiB of numbers of the rows
        few = {"random-subset": ("--members", 4, "--score-rows", 2000, "--subset-rows", 500), "opt-soft-margin": ("--draw", 500)}
        for method, budget in (("random-subset", 30), ("opt-soft-margin", 40), ("linear", 36), ("exact", 48)):
            train = ("--method", method, "-c", 1, "-q", *(() if method == "linear" else ("-g", 0.05)), *few.get(method, ()))
            self.ok("train", "x.npy", *train, "-o", "a.model")
            code, error, most = self.run_within(budget, "train", "x.npy", *train, "-o", "b.model", "--scratch", self.folder)
            self.assertEqual((code, error), (0, ""), method)
            self.assertLess(most, budget, method)
            self.assertEqual((self.folder / "a.model").read_bytes(), (self.folder / "b.model").read_bytes(), method)
            # Pieces that just fit are kept in memory then, so that a little less must be too little.
            code, error, _ = self.run_within(budget - 8, "train", "x.npy", *train, "-o", "c.model", "--scratch", "/nowhere")
            self.assertEqual(code, 1, method)
            self.assertRegex(error, r"needs .*, but the memory budget leaves .* the scratch folder /nowhere cannot", method)
        code, error, _ = self.run_within(10, "train", "x.npy", *train, "-o", "c.model", "--scratch", self.folder)
        self.assertEqual(code, 1)
        self.assertRegex(error, r"training on 400000 rows of 12 features needs [\d.]+ MiB")

    def test_errors_name_the_row_of_the_file(self):
        rows, bad = 1_100_000, 1_060_000  # 17 MiB, and beyond the first block of every command
        row = struct.pack("<4f", 1, 0, 0, 0)
        write_npy(self.folder / "x.npy", (rows, 4), "<f4", [row * (bad - 1), struct.pack("<4f", 1, 0, 0, 2), row * (rows - bad)])
        write_npy(self.folder / "x.labels.npy", (rows,), "|i1", [bytes(rows)])
        self.write("train.svm", "0 1:1\n1 1:2 2:1 3:1\n0 1:1 3:2\n1 1:3 2:2\n")
        for scale in ("none", "standard"):
            self.ok("train", "train.svm", "--method", "exact", "-c", 1, "-g", 1, "--scale", scale, "-q", "-o", "a.model")
            for arguments in (("predict", "a.model", "x.npy", "-o", "out.txt"), ("evaluate", "a.model", "x.npy")):
                self.fails(1, f"row {bad} has a value in column 4, but only 3 columns are known", *arguments, "-q")

    def test_a_file_that_is_truncated_is_an_error(self):
        self.make_rows()
        self.ok("train", "x.npy", "--method", "subsample", "--delta", 0.05, "-c", 1, "-g", 0.05, "-q", "-o", "a.model")
        for arguments, output in ((("predict", "a.model", "x.npy", "-o", "out.txt"), "out.txt"),
                                  (("train", "x.npy", "--method", "exact", "-c", 1, "-g", 0.05, "-o", "b.model"), "b.model")):
            self.make_rows()
            process = self.start(*arguments, "-q")
            # Once it has the file open; it is long from done then.
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and process.poll() is None:
                try:
                    if any(os.readlink(f"/proc/{process.pid}/fd/{fd}").endswith("x.npy") for fd in os.listdir(f"/proc/{process.pid}/fd")):
                        break
                except OSError:
                    pass
            os.truncate(self.folder / "x.npy", 1 << 16)
            _, error = process.communicate(timeout=300)
            if process.returncode == 0:
                self.skipTest("over before the file was truncated")
            self.assertNotEqual(process.returncode, -signal.SIGBUS)
            self.assertEqual(process.returncode, 1, error)
            self.assertRegex(error.decode(), r"\Atamis: x.npy: [^\n]*\n\Z")
            self.assertNotIn(output, self.files())

    def test_stream_takes_every_format(self):
        self.make_rows(rows=90_000)
        self.ok("convert", "x.npy", "-o", "x.csv")
        self.ok("convert", "x.npy", "-o", "x.csr")
        train = ("--method", "leader", "--stream", "--leaders", 300, "-c", 1, "-g", 0.05, "-q")
        for ending in ("npy", "csv", "csr"):
            self.ok("train", f"x.{ending}", *train, "-o", f"{ending}.model")
            self.ok("predict", f"{ending}.model", "x.npy", "-o", f"{ending}.txt", "-q")
            self.assertEqual(self.read(f"{ending}.txt"), self.read("npy.txt"))


class Conversion(CliTest):
    def test_continues_after_a_kill(self):
        self.ok("generate", "checkerboard", "--rows", 3_000_000, "-o", "x.svm", "-q")  # above 64 MiB
        self.assertGreater((self.folder / "x.svm").stat().st_size, 64 << 20)
        self.ok("convert", "x.svm", "-o", "whole.npy", "-q")
        process = self.start("convert", "x.svm", "-o", "killed.npy", "--memory", "100M", "-q")
        deadline = time.monotonic() + 60
        while not (self.folder / "killed.npy.parts" / "state").exists() and process.poll() is None:
            if time.monotonic() > deadline:
                break
            time.sleep(0.005)
        process.kill()
        process.communicate()
        self.ok("convert", "x.svm", "-o", "killed.npy", "-q")
        for name in ("npy", "labels.npy"):
            self.assertEqual((self.folder / f"whole.{name}").read_bytes(), (self.folder / f"killed.{name}").read_bytes())
        self.assertFalse((self.folder / "killed.npy.parts").exists())


if __name__ == "__main__":
    main()
