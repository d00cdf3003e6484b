"""Running and timing programs, and writing tables of results. Standard library only."""
import argparse
import csv
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tools"))

import wrap_prose


@dataclasses.dataclass
class Run:
    seconds: float  # wall, from the start of the process to its end
    cpu_seconds: float
    peak_mib: float
    out: str


def run(command, accepted=(0,)):
    """Runs the command to its end. Raises RuntimeError when its exit code is not among those accepted."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode not in accepted:
            words = " ".join(str(word) for word in command)
            raise RuntimeError(f"{words}\nended with {process.returncode}: {err.read().decode(errors='replace')}")
        return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read().decode(errors="replace"))


def best_of(count, command, accepted=(0,)):
    """The fastest of `count` runs."""
    return min((run(command, accepted) for _ in range(count)), key=lambda one: one.seconds)


def arguments(description, fill="--write", documents="the tables of docs/benchmarks.md and docs/exact.md"):
    """The options every comparison takes; `fill` is the one that writes results into documents, None: there is none."""
    parser = argparse.ArgumentParser(description=description)
    data = os.environ.get("TAMIS_DATA")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(data) if data else None, metavar="DIR",
                        help="where the data sets are (default: TAMIS_DATA)")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "bench", metavar="DIR",
                        help="prepared data, models and results (default: build/bench)")
    parser.add_argument("--tamis", default=ROOT / "build" / "release" / "tamis", type=pathlib.Path, metavar="FILE",
                        help="the program (default: build/release/tamis)")
    parser.add_argument("--threads", type=int, default=2, help="threads of tamis (default: 2)")
    parser.add_argument("--only", default="", metavar="NAME,..", help="these problems")
    if fill:
        parser.add_argument(fill, action="store_true", help=f"fill {documents} with all results in the work folder")
    return parser


def require_programs(tamis, *names):
    missing = [name for name in names if not shutil.which(name)]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)} (Debian: libsvm-tools, liblinear-tools)")
    if not tamis.exists():
        sys.exit(f"{tamis} is not there: build it first (scripts/quickstart), or give --tamis")


def load_results(path):
    return json.loads(path.read_text()) if path.exists() else {}


def kept_results(csv_file, key, text):
    """Results of a CSV file that save_results wrote earlier, for a work folder that has none: numbers but in the columns of `text`,
    None for empty cells; `key` makes their names."""
    def value(name, cell):
        if cell == "" or name in text:
            return cell or None
        return int(cell) if re.fullmatch(r"-?\d+", cell) else float(cell)
    with open(csv_file, newline="") as file:
        rows = [{name: value(name, cell) for name, cell in row.items()} for row in csv.DictReader(file)]
    return {key(row): row for row in rows}


def save_results(path, results, order):
    """JSON, and the same as CSV next to it; problems in the given order."""
    results = {name: results[name] for name in order if name in results}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=2) + "\n")
    keys = list(dict.fromkeys(key for result in results.values() for key in result))
    with open(path.with_suffix(".csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, keys)
        writer.writeheader()
        writer.writerows(results.values())


def seconds_text(seconds):
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.3g}" if seconds >= 1e-5 else "0"


def markdown_row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def markdown_head(titles):
    """The first title is a name, the others are numbers."""
    return markdown_row(titles) + "\n|---" + "|---:" * (len(titles) - 1) + "|"


def range_text(counts):
    """"3", or "1 to 3" when they differ."""
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def surroundings(tamis, threads, peer="LIBSVM", package="libsvm-tools"):
    """What was measured, and on what. `peer`: the other program; empty: none."""
    info = json.loads(run([tamis, "info", "--json", "-"]).out)
    processor = "unknown processor"
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE)
        processor = found.group(1).strip() if found else processor
    against = f", {peer}" if peer else ""
    if peer and shutil.which("dpkg-query"):
        asked = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
        against += " " + asked.stdout.split("+")[0].split("-")[0] if asked.returncode == 0 else ""
    against += " (which has one thread)" if peer else ""
    return f"tamis {info['version']} with {threads} threads and {info['simd']}{against}; {processor}."


def fill_marker(path, name, text):
    """Replaces what is between <!-- bench:NAME --> and <!-- /bench:NAME -->, if the file has them."""
    content = path.read_text()
    begin, end = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(content):
        return
    path.write_text(pattern.sub(lambda _: f"{begin}\n{wrap_prose.wrap(text.strip())}\n{end}", content))
    print(f"filled bench:{name} of {path.relative_to(ROOT)}")


def fill_documents(name, short, full):
    fill_marker(ROOT / "docs" / "benchmarks.md", name, short)
    fill_marker(ROOT / "docs" / "exact.md", name, full)
