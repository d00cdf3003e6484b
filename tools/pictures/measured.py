"""Pictures of measured numbers. Nothing is measured here: the numbers are those of docs/pictures/*.csv, which bench/macro/pictures
writes, and of tables in docs/."""
import csv
import re

from . import style

ROOT, FOLDER = style.ROOT, style.FOLDER
# Where the names go, so that they do not cover one another: to the left, right, above or below the point.
LABELS = {"left": (-8, 0, "right", "center"), "right": (8, 0, "left", "center"), "up": (0, 8, "center", "bottom"),
          "down": (0, -8, "center", "top")}


def table(page, name):
    """The rows of the table between the markers bench:NAME of a page."""
    text = (ROOT / "docs" / page).read_text()
    part = re.search(rf"<!-- bench:{name} -->\n(.*?)<!-- /bench:{name} -->", text, re.DOTALL).group(1)
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("|")]
    return [dict(zip(lines[0], line)) for line in lines[2:]]


def rows_of(name):
    with open(FOLDER / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def of_csv(name):
    return style.fingerprint(name, (FOLDER / f"{name}.csv").read_text() if (FOLDER / f"{name}.csv").exists() else "")


def label(ax, text, at, side, **more):
    x, y, across, up = LABELS[side]
    ax.annotate(text, at, xytext=(x, y), textcoords="offset points", ha=across, va=up, **more)


def plain(axis):
    """1,000 instead of 10^3."""
    from matplotlib.ticker import FuncFormatter, NullFormatter
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def make_error_time(name):
    """Test error against training time, all methods and LIBSVM, on one data set."""
    # Where the names of points that are close together go, in points from the point.
    places = {"exact": (0, -20), "libsvm": (6, 13), "leader": (-62, 24), "falk-c": (-72, 6), "falk": (-72, -10),
              "random-subset": (-88, -28), "cglq": (24, 9), "local-sampling": (20, 14)}
    figure, ax = style.figure(4.6)
    for row in rows_of(name):
        color = style.ORANGE if row["method"] == "libsvm" else style.GREEN if row["method"] == "exact" else style.BLUE
        at = float(row["train_seconds"]), float(row["error_percent"])
        ax.scatter(*at, s=64, color=color, zorder=2)
        shown = {"libsvm": "LIBSVM (svm-train)", "exact": "tamis: exact"}.get(row["method"], row["method"])
        place = places.get(row["method"], (0, 12))
        far = {"arrowstyle": "-", "color": style.GRAY, "linewidth": 0.8} if place[0] < -30 else None
        ax.annotate(shown, at, xytext=place, textcoords="offset points", ha="center", va="center", fontsize=11, arrowprops=far)
    ax.set_xscale("log")
    plain(ax.xaxis)
    ax.margins(x=0.17, y=0.14)
    ax.set(xlabel="training time, seconds", ylabel="test error, %")
    ax.grid(alpha=0.25)
    figure.tight_layout()
    style.save(figure, name, of_csv(name))


def make_error_rows(name):
    """Test error against the number of rows that the last model was trained on."""
    figure, ax = style.figure(4.3)
    kinds = {}
    for row in rows_of(name):
        kinds.setdefault(row["method"], []).append((float(row["rows_used"]), float(row["error_percent"])))
    colors = {"subsample": style.GRAY, "cglq": style.BLUE, "leader": style.ORANGE, "local-sampling": style.GREEN, "exact": "black"}
    markers = {"cglq": "o", "leader": "s", "local-sampling": "^", "exact": "*"}
    for method, points in kinds.items():
        shown = {"subsample": "subsample (random rows)", "exact": "exact (all rows)"}.get(method, method)
        ax.plot(*zip(*sorted(points)), color=colors[method], marker=markers.get(method, "o"), label=shown, linewidth=1.6,
                linestyle="-" if len(points) > 1 else "none", markersize=12 if method == "exact" else 7)
    ax.set_xscale("log")
    ax.set_yscale("log")
    plain(ax.xaxis)
    ax.set_yticks([3, 4, 5, 7, 10, 15, 20], [3, 4, 5, 7, 10, 15, 20])
    ax.minorticks_off()
    ax.set(xlabel="rows that the model was trained on", ylabel="test error, %")
    ax.legend(fontsize=11)
    ax.grid(alpha=0.25)
    figure.tight_layout()
    style.save(figure, name, of_csv(name))


def make_growth(name):
    """Training time against the number of rows, log-log; the gray lines grow with the rows and with their square."""
    figure, ax = style.figure(4.6)
    kinds = {}
    for row in rows_of(name):
        kinds.setdefault(row["method"], []).append((float(row["rows"]), float(row["train_seconds"])))
    colors = {"exact": style.GREEN, "leader": style.ORANGE, "cglq": "#7a4fa3", "falk": style.BLUE}
    for method, points in kinds.items():
        points.sort()
        ax.plot(*zip(*points), marker="o", color=colors.get(method), linewidth=1.8)
        label(ax, method, points[-1], "right", fontsize=11, color=colors.get(method))
    begin, end = min(p[0] for ps in kinds.values() for p in ps), max(p[0] for ps in kinds.values() for p in ps)
    low = min(p[1] for ps in kinds.values() for p in ps)
    for power in (1, 2):
        ax.plot([begin, end], [low, low * (end / begin) ** power], linestyle=":", color=style.GRAY, linewidth=1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    plain(ax.xaxis)
    plain(ax.yaxis)
    ax.margins(x=0.2)
    ax.set(xlabel="rows", ylabel="training time, seconds")
    ax.grid(alpha=0.25)
    figure.tight_layout()
    style.save(figure, name, of_csv(name))


def threads_source(name):
    return style.fingerprint(name, repr(table("exact.md", "threads")))


def make_threads(name):
    """Speed-up of exact: measured on 2 threads, and what Amdahl's law predicts from that."""
    figure, ax = style.figure(4.6)
    ideal = [1, 2, 4, 8, 16]
    ax.plot(ideal, ideal, color=style.GRAY, linestyle=":", linewidth=1.4)
    label(ax, "ideal", (8, 8), "left", color=style.GRAY)
    rows = sorted(table("exact.md", "threads"), key=lambda row: float(row["speed-up"].rstrip("x")))
    palette = ["#7a4fa3", style.ORANGE, "#b8860b", style.BLUE, "#111111", style.GREEN]
    for color, row in zip(palette, rows):
        serial = float(row["serial share"].rstrip(" %")) / 100
        ax.plot(ideal, [1 / (serial + (1 - serial) / n) for n in ideal], color=color, linewidth=1.2, linestyle="--")
        ax.plot([1, 2], [1, float(row["speed-up"].rstrip("x"))], color=color, marker="o", linewidth=2.2,
                label=f"{row['problem']} ({row['speed-up']})")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_xticks(ideal, ideal)
    ax.set_yticks([1, 2, 4, 8], [1, 2, 4, 8])
    ax.set(ylim=(0.95, 9), xlabel="threads (solid: measured, dashed: predicted)", ylabel="speed-up of exact")
    ax.legend(fontsize=10.5, loc="upper left")
    ax.grid(alpha=0.25)
    figure.tight_layout()
    style.save(figure, name, threads_source(name))


def train_source(name):
    return style.fingerprint(name, repr(table("benchmarks.md", "train")))


def make_train(name):
    """Seconds of svm-train and of tamis train, from the measured table."""
    rows = table("benchmarks.md", "train")
    rows.sort(key=lambda row: float(row["LIBSVM s"].split()[0]))
    figure, axes = style.figure(4.0)
    for y, row in enumerate(rows):
        libsvm, ours = float(row["LIBSVM s"].split()[0]), float(row["tamis s"])
        axes.plot([ours, libsvm], [y, y], color="#bbbbbb", linewidth=2, zorder=1)
        axes.scatter(libsvm, y, s=40, color=style.ORANGE, zorder=2, label="" if y else "svm-train, 1 thread")
        axes.scatter(ours, y, s=40, color=style.BLUE, zorder=2, label="" if y else "tamis train, 2 threads")
        label(axes, row["ratio"].replace("x", " times"), (libsvm, y), "right", fontsize=11)
    axes.set_xscale("log")
    plain(axes.xaxis)
    axes.set(xlim=(0.1, 10000), xlabel="seconds, whole process")
    axes.set_yticks(range(len(rows)), [f"{row['problem']}, {row['rows']} rows" for row in rows], fontsize=11)
    axes.legend(loc="upper center", bbox_to_anchor=(0.3, 1.14), ncol=2, fontsize=11, frameon=False)
    figure.tight_layout()
    style.save(figure, name, train_source(name))


PICTURES = {"train": (train_source, make_train), "threads": (threads_source, make_threads),
            "error_time": (of_csv, make_error_time), "error_rows": (of_csv, make_error_rows), "growth": (of_csv, make_growth)}
