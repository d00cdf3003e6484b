#!/usr/bin/env python3
"""Peers on rows that are mapped from one .npy file: tamis falk-c, linear and leader, scikit-learn's SGDClassifier.partial_fit over
Nystroem features, and XGBoost with external memory (python3-xgboost; named as absent where it is missing). Each in a process
of its own: error on other rows, seconds, and the most memory that was not a page of a file.

  bench/macro/larger_peers.py --peer-rows 1000000         # checkerboard rows, generated in pieces
"""
import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import textwrap
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peers"))
import measure

TITLES = ["", "error", "training s", "prediction s", "RssAnon, MiB"]
TEST_ROWS = 200_000

# What every script of a peer begins with: rows in pieces, and the time of its two halves.
HEAD = """
import json, sys, time
import numpy as np
train, test, step = sys.argv[1], sys.argv[2], int(sys.argv[3])
X, y = np.load(train, mmap_mode="r"), np.load(train.replace(".npy", ".labels.npy"), mmap_mode="r")
X_test, y_test = np.load(test, mmap_mode="r"), np.load(test.replace(".npy", ".labels.npy"), mmap_mode="r")
pieces = lambda count: [slice(b, min(b + step, count)) for b in range(0, count, step)]
def report(fit, predict):
    start = time.perf_counter(); fit(); middle = time.perf_counter()
    wrong = sum(int(np.sum(predict(X_test[p]) != y_test[p])) for p in pieces(len(y_test)))
    print("RESULT", json.dumps([wrong / len(y_test), middle - start, time.perf_counter() - middle]))
"""

SGD = HEAD + """
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
def fit():
    global features, model
    sample = np.sort(np.random.default_rng(1).choice(len(y), min(len(y), 20000), replace=False))
    features = Nystroem(gamma=GAMMA, n_components=COMPONENTS, random_state=1).fit(X[sample])
    model = SGDClassifier(loss="hinge", alpha=1e-6, random_state=1)
    for part in pieces(len(y)):
        model.partial_fit(features.transform(X[part]), y[part], classes=[-1, 1])
report(fit, lambda rows: model.predict(features.transform(rows)))
"""

XGBOOST = HEAD + """
import os, tempfile, xgboost
class Pieces(xgboost.DataIter):
    def __init__(self, folder):
        self.place = 0
        super().__init__(cache_prefix=os.path.join(folder, "cache"))
    def next(self, input_data):
        if self.place == len(pieces(len(y))):
            return 0
        part = pieces(len(y))[self.place]
        input_data(data=np.ascontiguousarray(X[part]), label=(y[part] > 0).astype(np.float32))
        self.place += 1
        return 1
    def reset(self):
        self.place = 0
with tempfile.TemporaryDirectory(dir=os.path.dirname(train)) as folder:
    def fit():
        global model
        matrix = xgboost.DMatrix(Pieces(folder))
        model = xgboost.train({"objective": "binary:logistic", "tree_method": "approx", "max_depth": 8, "nthread": THREADS},
                              matrix, num_boost_round=ROUNDS)
    report(fit, lambda rows: np.where(model.predict(xgboost.DMatrix(np.ascontiguousarray(rows))) > 0.5, 1, -1))
"""


def watched(command):
    """Seconds, most anonymous memory in MiB, and output of a process. Raises RuntimeError with its message if it fails."""
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    most = [0.0]

    def watch():
        status = pathlib.Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            try:
                found = [line for line in status.read_text().splitlines() if line.startswith("RssAnon")]
                most[0] = max(most[0], int(found[0].split()[1]) / 1024)
            except (OSError, IndexError, ValueError):  # it has just ended
                return
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    out, error = process.communicate()
    watcher.join()
    if process.returncode != 0:
        raise RuntimeError(error.strip().splitlines()[-1] if error.strip() else f"exit code {process.returncode}")
    return time.perf_counter() - start, most[0], out


def checkerboard(path, rows, seed, package):
    """The generator of the package, a million rows at a time with seeds of their own."""
    import numpy as np

    labels_path = path.with_name(path.stem + ".labels.npy")
    if path.exists() and labels_path.exists():
        return
    sys.path.insert(0, str(package))
    import tamis

    array = np.lib.format.open_memmap(path, "w+", np.float32, (rows, 2))
    labels = np.lib.format.open_memmap(labels_path, "w+", np.int8, (rows,))
    for k, begin in enumerate(range(0, rows, 1_000_000)):
        end = min(rows, begin + 1_000_000)
        array[begin:end], labels[begin:end] = tamis.generate("checkerboard", end - begin, random_state=1000 * seed + k)
    array.flush()
    labels.flush()


def run_tamis(options, method, arguments, train, test):
    folder = train.parent
    model, out = folder / f"{method}.model", folder / "predicted.txt"
    common = ["--threads", options.threads, "--memory", options.memory, "--quiet"]
    seconds, fit_mib, _ = watched([options.tamis, "train", train, "--method", method, *arguments, *common, "-o", model])
    later, predict_mib, _ = watched([options.tamis, "predict", model, test, *common, "-o", out])
    report = json.loads(measure.run([options.tamis, "evaluate", model, test, "--json", "-", *common]).out)
    return [f"{100 * report['error_rate']:.2f} %", f"{seconds:.1f}", f"{later:.1f}", f"{max(fit_mib, predict_mib):.0f}"]


def run_script(options, script, train, test):
    script = (script.replace("GAMMA", str(options.gamma)).replace("COMPONENTS", str(options.components))
              .replace("THREADS", str(options.threads)).replace("ROUNDS", str(options.boost_rounds)))
    _, mib, out = watched([sys.executable, "-c", textwrap.dedent(script), train, test, options.step])
    error, fit, predict = json.loads(out.split("RESULT")[1])
    return [f"{100 * error:.2f} %", f"{fit:.1f}", f"{predict:.1f}", f"{mib:.0f}"]


def peers(options):
    """The table as text; prints its rows as they come."""
    folder = options.work / "larger"
    folder.mkdir(parents=True, exist_ok=True)
    train, test = folder / f"checkerboard-{options.peer_rows}.npy", folder / "checkerboard-test.npy"
    checkerboard(train, options.peer_rows, 1, options.package)
    checkerboard(test, TEST_ROWS, 2, options.package)
    kernel = ["-c", 10, "-g", options.gamma]
    absent = [] if importlib.util.find_spec("xgboost") else ["XGBoost is absent (python3-xgboost)."]
    runs = [("tamis falk-c", lambda: run_tamis(options, "falk-c", [*kernel, "--cell-rows", options.cell_rows], train, test)),
            ("tamis leader", lambda: run_tamis(options, "leader", [*kernel, "--leaders", options.leaders], train, test)),
            ("tamis leader, streamed", lambda: run_tamis(options, "leader", [*kernel, "--leaders", options.leaders, "--stream"], train, test)),
            ("tamis linear", lambda: run_tamis(options, "linear", ["-c", 1], train, test)),
            (f"SGDClassifier, {options.components} Nystroem features", lambda: run_script(options, SGD, train, test))]
    if not absent:
        runs.append((f"XGBoost, external memory, {options.boost_rounds} trees", lambda: run_script(options, XGBOOST, train, test)))
    table = [measure.markdown_head(TITLES)]
    print(table[0], flush=True)
    for title, work in runs:
        try:
            cells = work()
        except RuntimeError as error:
            cells = [str(error), "", "", ""]
        table.append(measure.markdown_row([title, *cells]))
        print(table[-1], flush=True)
    note = (f"Checkerboard, {options.peer_rows:,} rows to train and {TEST_ROWS:,} to test, mapped; pieces of {options.step:,} rows; "
            f"tamis with `--memory {options.memory}`, its seconds are those of whole processes. " + " ".join(absent)
            + measure.surroundings(options.tamis, options.threads, ""))
    return "\n".join([*table, "", note])


def add_arguments(parser):
    parser.add_argument("--peer-rows", type=int, default=1_000_000, help="peers: rows to train on (default: 1,000,000)")
    parser.add_argument("--cell-rows", type=int, default=250_000, help="peers: of falk-c (default: 250,000)")
    parser.add_argument("--gamma", type=float, default=100, help="peers: of the RBF kernel (default: 100)")
    parser.add_argument("--leaders", type=int, default=5000, help="peers: of leader (default: 5000)")
    parser.add_argument("--components", type=int, default=500, help="peers: Nystroem features (default: 500)")
    parser.add_argument("--boost-rounds", type=int, default=100, help="peers: trees of XGBoost (default: 100)")
    parser.add_argument("--step", type=int, default=100_000, help="peers: rows of a piece (default: 100,000)")
    parser.add_argument("--package", type=pathlib.Path, default=measure.ROOT / "build" / "release" / "python", metavar="DIR",
                        help="peers: the folder of the package tamis, for the generator (default: build/release/python)")


def main():
    parser = measure.arguments(__doc__, None)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--memory", default="500M", help="budget of tamis (default: 500M)")
    add_arguments(parser)
    options = parser.parse_args()
    options.tamis = pathlib.Path(options.tamis).resolve()
    measure.require_programs(options.tamis)
    print(peers(options).splitlines()[-1])


if __name__ == "__main__":
    main()
