"""Runs with a limit of memory that the system enforces, and what they used."""
import os
import pathlib
import resource
import subprocess
import threading
import time

MIB = 1 << 20
SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size_bytes(text):
    return int(float(text[:-1]) * SIZES[text[-1]]) if text[-1] in SIZES else int(text)


def forget_pages(*paths):
    """Takes files out of the page cache: who reads them again, reads from the disk, and within its own limit."""
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class ControlGroup:
    """A limit of memory, pages of files included: control groups of version 1 or 2, or none if it cannot be made."""

    def __init__(self, limit_bytes):
        self.folder = None
        for base, limit, peak in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"),
                                  ("/sys/fs/cgroup", "memory.max", "memory.peak")):
            folder = pathlib.Path(base) / f"tamis-bench-{os.getpid()}"
            try:
                folder.mkdir()
                (folder / limit).write_text(str(limit_bytes))
                self.folder, self.peak = folder, folder / peak
                return
            except OSError:
                if folder.exists():
                    folder.rmdir()

    def enter(self):
        """Called in the child."""
        if self.folder:
            (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def take_peak_mib(self):
        """The most since the last call, pages of files included; 0 where the system does not tell."""
        if not self.folder or not self.peak.exists():
            return 0.0
        peak = int(self.peak.read_text()) / MIB
        try:
            self.peak.write_text("0")
        except OSError:  # a system that cannot forget it
            pass
        return peak

    def remove(self):
        if self.folder:
            self.folder.rmdir()


class Watched:
    """A run, perhaps in a control group, with the most anonymous memory (RssAnon) it held, looked at every 5 ms."""

    def __init__(self, command, group=None, must_succeed=False):
        if group:
            group.take_peak_mib()
        start, used = time.perf_counter(), self.children_seconds()
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, preexec_fn=group.enter if group else None)
        self.anonymous_mib = self.read_mib = self.written_mib = 0.0
        ended = threading.Event()
        watcher = threading.Thread(target=self.watch, args=(process.pid, ended))
        watcher.start()
        _, self.error = process.communicate()
        ended.set()
        watcher.join()
        self.seconds, self.cpu_seconds = time.perf_counter() - start, self.children_seconds() - used
        self.code = process.returncode
        self.peak_mib = group.take_peak_mib() if group else 0.0
        if must_succeed and self.code != 0:
            raise RuntimeError(f"{command}\nended with {self.code}: {self.error}")

    @staticmethod
    def children_seconds():
        """Of the processor, in processes that have ended."""
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def watch(self, pid, ended):
        status, io = pathlib.Path(f"/proc/{pid}/status"), pathlib.Path(f"/proc/{pid}/io")
        while not ended.wait(0.005):
            try:
                lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
                self.anonymous_mib = max(self.anonymous_mib, int(lines["RssAnon"].split()[0]) / 1024)
                counts = dict(line.split(": ") for line in io.read_text().splitlines())
                self.read_mib, self.written_mib = int(counts["read_bytes"]) / MIB, int(counts["write_bytes"]) / MIB
            except (OSError, KeyError, ValueError):  # it has just ended
                return

    def result(self):
        return "ends" if self.code in (0, 3) else self.error.strip().splitlines()[-1].removeprefix("tamis: ")

    def cells(self):
        return [f"{self.seconds:.1f}", f"{self.anonymous_mib:.0f}", f"{self.written_mib:.0f}", self.result()]
