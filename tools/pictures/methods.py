"""Pictures of the methods' pages: the rows, what a method keeps of them, and its boundary, on two features; next to the exact SVM.
They need the Python package of the release build."""
import json
import pathlib
import sys
import tempfile

from . import style

ROWS, SEED = 2_000, 3
SMALL = {"C": 3.0, "gamma": 0.5}  # of the ten Gaussians
COLORS = (style.BLUE, style.ORANGE)

# Method -> class, arguments, data, title.
METHODS = {
    "exact": ("SVC", SMALL, "ten-gaussians", "exact: support vectors"),
    "linear": ("LinearSVC", {"C": 1.0}, "two-gaussians", "linear: one hyperplane"),
    "subsample": ("SubsampleSVC", SMALL | {"delta": 0.1}, "ten-gaussians", "subsample: 200 random rows"),
    "cglq": ("CGLQSVC", SMALL, "ten-gaussians", "CGLQ: rows near the boundary"),
    "local-sampling": ("LocalSamplingSVC", SMALL, "ten-gaussians", "Local Sampling"),
    "leader": ("LeaderSVC", SMALL, "ten-gaussians", "leader: one row per cluster"),
    "falk": ("FalkSVC", {"C": 3.0, "gamma": 2.0, "k": 100}, "ten-gaussians", "FaLK-SVM: local SVMs"),
    "opt-margin": ("OptMarginSVC", {"kernel": "linear", "C": 1000.0}, "separable", "opt-margin: random samples"),
    "random-subset": ("RandomSubsetSVC", SMALL | {"members": 40, "subset_rows": 50}, "ten-gaussians", "random-subset: 40 SVMs"),
    "ransac": ("RansacSVC", SMALL, "ten-gaussians", "RANSAC-SVM: the best of 200"),
}


def package():
    """The package of the build, which is not on the path of other Pythons."""
    folder = str(style.ROOT / "build" / "release" / "python")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import tamis
    return tamis


def rows_of(data, count, seed):
    """Two features and two classes."""
    import numpy as np

    random = np.random.default_rng(seed)
    if data == "two-gaussians":
        y = random.integers(0, 2, count)
        return (random.normal(size=(count, 2)) + np.where(y, 1.2, -1.2)[:, None]).astype(np.float32), y
    if data == "separable":  # without rows near the line y = x
        X = random.uniform(size=(2 * count, 2)).astype(np.float32)
        X = X[np.abs(X[:, 0] - X[:, 1]) > 0.02][:count]
        return X, (X[:, 0] > X[:, 1]).astype(int)
    return package().generate(data, count, random_state=seed)


def read_arrays(path):
    """The arrays of a model file (docs/model_format.md)."""
    import numpy as np

    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    header.pop("__metadata__", None)
    types = {"F64": "<f8", "I64": "<i8", "F32": "<f4", "I32": "<i4", "U8": "u1"}
    return {name: np.frombuffer(raw[start + e["data_offsets"][0]:start + e["data_offsets"][1]], types[e["dtype"]]).reshape(e["shape"])
            for name, e in header.items()}


def centers(X, y, arguments):
    """Of the local SVMs: falk-c keeps them as anchors, falk has the same."""
    model = package().FalkSVC(**arguments, prediction="nearest-centre").fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model"
        model.save(path)
        arrays = read_arrays(path)
    return arrays["rows"][arrays["anchors"]]


def kept_rows(name, model, X, y, arguments):
    """What to mark, and its name."""
    if name == "falk":
        return centers(X, y, arguments), "centers"
    if name in ("linear", "random-subset"):  # no support vectors of its own
        return X[:0], ""
    if hasattr(model, "chosen_"):
        return X[model.chosen_], "rows chosen"
    return model.support_vectors_, "support vectors"


def draw(ax, model, X, y, marked, label, title):
    import numpy as np

    low, high = X.min(axis=0), X.max(axis=0)
    across, up = (np.linspace(low[i], high[i], 300) for i in (0, 1))
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    values = model.decision_function(grid).reshape(300, 300)
    ax.contourf(across, up, values > 0, levels=[-0.5, 0.5, 1.5], colors=COLORS, alpha=0.15)
    ax.contour(across, up, values, levels=[0], colors="black", linewidths=1.4)
    for code, of_class in enumerate(model.classes_):
        rows = X[y == of_class]
        ax.scatter(rows[:, 0], rows[:, 1], s=3, color=COLORS[code], linewidths=0)
    if len(marked):
        ax.scatter(marked[:, 0], marked[:, 1], s=20, facecolors="none", edgecolors="black", linewidths=0.7)
        title += f"\n{len(marked):,} {label}"
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)
    ax.set_title(title, fontsize=13)


def make(name):
    kind, arguments, data, title = METHODS[name]
    X, y = rows_of(data, ROWS, SEED)
    X_test, y_test = rows_of(data, 10 * ROWS, SEED + 1)
    model = getattr(package(), kind)(**arguments).fit(X, y)
    both = name != "exact"
    figure, axes = style.figure(3.9 if both else 6.2, ncols=1 + both, squeeze=False)
    if both:
        shared = {key: value for key, value in arguments.items() if key in ("C", "gamma", "kernel")}
        reference = package().SVC(**shared, **({"kernel": "linear"} if name == "linear" else {})).fit(X, y)
        draw(axes[0][0], reference, X, y, reference.support_vectors_, "support vectors",
             f"exact, all rows\n{100 * (1 - reference.score(X_test, y_test)):.1f} % test error")
    marked, label = kept_rows(name, model, X, y, arguments)
    error = f"\n{100 * (1 - model.score(X_test, y_test)):.1f} % test error" if both else ""
    draw(axes[0][-1], model, X, y, marked, label, title + error)
    figure.tight_layout()
    style.save(figure, name, source(name), colors=48)


def source(name):
    return style.fingerprint(name, repr(METHODS[name]), str(ROWS), str(SEED))


PICTURES = {name: (source, make) for name in METHODS}
