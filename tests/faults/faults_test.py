"""Every kind of failure once or a few times: the short version of bench/reliability/faults."""
import os
import signal
import tempfile
import unittest

import faults

NAMES = ("train exact", "train falk", "train with probabilities", "convert", "convert a model", "scale", "predict", "calibrate", "compare")


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="tamis-faults-", dir=faults.quick_folder())
        cls.bench = faults.Bench(cls.place.name, os.environ["TAMIS"], os.environ["TAMIS_INTERPOSER"])
        cls.bench.prepare()
        cls.cases = [case for case in faults.cases() if case.name in NAMES]
        cls.chance = faults.chance_of(1)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def calls(self, case, kind, most):
        return faults.some_of(self.bench.wanted(case)[1][kind], most, self.chance)

    def test_every_write_fails(self):
        for case in self.cases:
            for call in self.calls(case, "write", 5):
                for mode in ("", "+"):
                    self.bench.fail(case, f"write:{call}{mode}", may_succeed=False)

    def test_renames_syncs_and_closes_fail(self):
        for case in self.cases:
            for kind in ("fsync", "rename", "close"):
                for call in self.calls(case, kind, 6):
                    self.bench.fail(case, f"{kind}:{call}", may_succeed=kind != "rename")

    def test_reads_fail(self):
        for case in self.cases:
            for kind in ("open", "mmap", "read"):
                for call in self.calls(case, kind, 4):
                    self.bench.fail(case, f"{kind}:{call}")

    def test_allocations_fail(self):
        for case in self.cases:
            for call in self.calls(case, "alloc", 12):
                self.bench.fail(case, f"alloc:{call}")
                self.bench.fail(case, f"alloc:{call}+", may_leave=True)

    def test_half_reads_and_writes_make_no_difference(self):
        for case in self.cases:
            for kind in ("read", "write"):
                self.assertTrue(self.bench.fail(case, f"{kind}:1~", may_succeed=True), case.name)

    def test_killed_while_it_writes(self):
        for case in self.cases:
            for kind in ("write", "fsync", "rename"):
                for call in self.calls(case, kind, 3):
                    self.bench.kill_at(case, f"{kind}:{call}!")

    def test_a_reader_that_goes_away(self):
        case = faults.Case("predict to a pipe", "predict", "exact.model", "train.svm", outputs=())
        read, write = os.pipe()
        os.close(read)
        code, _ = self.bench.run(case, stdout=write)
        os.close(write)
        self.assertEqual(code, -signal.SIGPIPE)

    def test_read_only_folder(self):
        if os.getuid() != 0:
            self.skipTest("needs root, to become somebody who may not write")
        os.chmod(self.place.name, 0o755)
        for case in self.cases:
            self.bench.set_old(case)
            code, said = self.bench.run(case, user=65534, group=65534, extra_groups=[])
            self.assertEqual(code, 1, said)
            self.assertRegex(said, "Permission denied")
            self.assertFalse(any(self.bench.is_whole(case, output) for output in case.outputs))


if __name__ == "__main__":
    unittest.main()
