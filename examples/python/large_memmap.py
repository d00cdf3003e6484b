"""Rows from a file that is mapped, not read: float32 in C order is used where it lies.

Progress is shown, and a limit ends the training in time, with a machine that can be used.
"""
import pathlib
import tempfile
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import tamis

rows = 50_000
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "rows.float32"
    X, y = tamis.generate("checkerboard", rows)
    X.tofile(path)

    mapped = np.memmap(path, dtype=np.float32, mode="r", shape=X.shape)
    machine = tamis.SVC(C=10, gamma=100, max_seconds=30, max_memory="1G",
                        progress=lambda state: print(f"  {state['elapsed_seconds']:.1f} s: {state['detail']}"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # report_ says it too
        machine.fit(mapped, y)
    report = machine.report_
    print(f"{report['stop_reason']} after {report['train_seconds']:.2f} s, {len(machine.support_)} support vectors, "
          f"peak {report['peak_memory_bytes'] / 2**20:.0f} MiB")

    # A model file holds the support vectors alone; `tamis predict` reads it, too.
    machine.save(pathlib.Path(folder) / "checkerboard.model")
    again = tamis.SVC.load(pathlib.Path(folder) / "checkerboard.model")
    X_new, y_new = tamis.generate("checkerboard", 2000, random_state=2)
    print(f"on new rows, right: {100 * again.score(X_new, y_new):.1f} %")
