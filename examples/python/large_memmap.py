"""Rows from a memory-mapped file: float32 in C order is used without a copy.

Progress is shown, and a time limit ends the training with a usable model.
"""
import pathlib
import sys
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
    model = tamis.SVC(C=10, gamma=100, max_seconds=30, max_memory="1G",
                        progress=lambda state: print(f"{state['elapsed_seconds']:.1f} s: {state['detail']}", file=sys.stderr))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # report_ says it too
        model.fit(mapped, y)
    report = model.report_
    print(f"{report['stop_reason']} after {report['train_seconds']:.2f} s, {len(model.support_)} support vectors, "
          f"peak {report['peak_memory_bytes'] / 2**20:.0f} MiB")

    # A model file holds the support vectors, not the data; `tamis predict` reads it, too.
    model.save(pathlib.Path(folder) / "checkerboard.model")
    again = tamis.SVC.load(pathlib.Path(folder) / "checkerboard.model")
    X_new, y_new = tamis.generate("checkerboard", 2000, random_state=2)
    print(f"accuracy on new rows: {100 * again.score(X_new, y_new):.1f} %")
