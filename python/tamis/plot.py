"""Pictures, with matplotlib (`pip install tamis[plot]`, or Debian's python3-matplotlib)."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._classifier import Classifier


def decision_regions(model: Classifier, X: Any = None, y: Any = None, *, ax: Any = None, resolution: int = 200) -> Any:
    """Regions in which a model predicts each class; two features.

    Parameters
    ----------
    model : fitted classifier
    X, y : array-like, default=None
        Rows to show as dots. Without them, the picture covers the model's support vectors.
    ax : matplotlib Axes, default=None
        Where to draw; None: a new figure.
    resolution : int, default=200
        Points along each axis.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 1000)
    >>> ax = tamis.plot.decision_regions(tamis.SVC(C=10, gamma=100).fit(X, y), X, y)
    """
    points = np.asarray(model.support_vectors_ if X is None else X)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"rows of shape {points.shape}: a picture of regions needs two features")
    ax = _axes(ax)
    low, high = points.min(axis=0), points.max(axis=0)
    border = 0.02 * (high - low)
    across, up = (np.linspace(low[i] - border[i], high[i] + border[i], resolution) for i in (0, 1))
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    codes = np.searchsorted(model.classes_, model.predict(grid)).reshape(resolution, resolution)
    colors = _class_colors(len(model.classes_))
    ax.pcolormesh(across, up, codes, cmap=colors, vmin=-0.5, vmax=len(model.classes_) - 0.5, alpha=0.35, shading="nearest")
    if X is not None and y is not None:
        for code, label in enumerate(model.classes_):
            of_class = points[np.asarray(y) == label]
            ax.scatter(of_class[:, 0], of_class[:, 1], s=6, color=colors(code), label=str(label))
        ax.legend(loc="upper right")
    return ax


def error_against_time(comparison: Any, *, ax: Any = None) -> Any:
    """Test error against training time, one point per model; the time axis is logarithmic.

    Parameters
    ----------
    comparison : what `compare` returned, a dict or a frame
    ax : matplotlib Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import tamis
    >>> X, y = tamis.generate("checkerboard", 3000)
    >>> result = tamis.compare([tamis.SVC(C=10, gamma=100), tamis.LinearSVC()], X, y)
    >>> ax = tamis.plot.error_against_time(result)
    """
    rows = comparison["rows"] if isinstance(comparison, dict) else comparison.reset_index().to_dict("records")
    rows = [row for row in rows if not row["failure"]]
    ax = _axes(ax)
    error = "mse" if any("mse" in row for row in rows) else "error_rate"
    for row in rows:
        ax.errorbar(row["train_seconds"], row[error], xerr=row.get("train_seconds_deviation"),
                    yerr=row.get(error + "_deviation"), marker="o", capsize=3)
        ax.annotate(row["name"], (row["train_seconds"], row[error]), xytext=(5, 5), textcoords="offset points")
    ax.set_xscale("log")
    ax.set_xlabel("training, seconds")
    ax.set_ylabel("mean squared error" if error == "mse" else "share of wrong test rows")
    return ax


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots()[1]


def _class_colors(count: int) -> Any:
    from matplotlib import colormaps, colors

    return colors.ListedColormap([colormaps["tab10"](code % 10) for code in range(count)])
