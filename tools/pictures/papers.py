"""The figures of the papers next to ours, from docs/reproduction/*.csv, which the scripts in bench/macro write."""
import csv

from . import measured, style

REPRODUCTION = style.ROOT / "docs" / "reproduction"
COLORS = {"exact": style.GREEN, "falk": style.BLUE, "falk-c": style.ORANGE, "falk-l": "#7a4fa3"}
# The paper's Table 2: support vectors, test accuracy and seconds with all rows, and T and the same of leaders.
LEADER_PAPER = {"kddcup99-10pct": ((1_624, 94.20, 4_476.8), [(0.1, (48, 93.34, 6.2)), (0.01, (531, 94.26, 1_431.1))]),
                "covtype-84k-raw": ((105_541, 98.23, 74_135.9), [(0.1, (88_916, 97.75, 28_055.9))]),
                "extended-usps": ((2_468, 99.53, 1_419.7), [(0.06, (410, 99.21, 139.5))])}


def rows_of(file):
    with open(REPRODUCTION / file, newline="") as opened:
        return list(csv.DictReader(opened))


def source_of(file):
    return lambda name: style.fingerprint(name, (REPRODUCTION / file).read_text())


def in_order(rows, key):
    return list(dict.fromkeys(row[key] for row in rows))


def legend_above(figure, axes, columns):
    figure.legend(*axes.get_legend_handles_labels(), loc="upper center", ncol=columns, frameon=False, fontsize=11)


def make_falk(name):
    """Figures 3 to 8 of FaLK-SVM: accuracy, training and testing time of each method against the rows."""
    rows = rows_of("falk_figures.csv")
    columns = [("test accuracy, %", lambda row: 100 - 100 * float(row["error"])), ("training, CPU s", lambda row: float(row["train_cpu_seconds"])),
               ("testing, CPU s", lambda row: float(row["test_cpu_seconds"]))]
    data = in_order(rows, "data")
    figure, axes = style.figure(9.2, nrows=len(data), ncols=len(columns), squeeze=False, sharex=True)
    for y, one in enumerate(data):
        for x, (title, value) in enumerate(columns):
            ax = axes[y][x]
            for method, color in COLORS.items():
                points = [(float(row["rows"]), value(row)) for row in rows if (row["data"], row["method"]) == (one, method)]
                ax.plot(*zip(*points), marker="o", markersize=4, linewidth=1.5, color=color, label=method)
            ax.set_xscale("log")
            ax.set_xticks([1e4, 1e5, 1e6], ["10k", "100k", "1M"])
            if x > 0:
                ax.set_yscale("log")
                measured.plain(ax.yaxis)
            ax.tick_params(labelsize=9)
            ax.grid(alpha=0.25)
            if y == 0:
                ax.set_title(title, fontsize=11)
            if y == len(data) - 1:
                ax.set_xlabel("rows", fontsize=10)
        axes[y][0].set_ylabel(one, fontsize=12)
    legend_above(figure, axes[0][0], len(COLORS))
    figure.tight_layout(rect=(0, 0, 1, 0.965))
    style.save(figure, name, source_of("falk_figures.csv")(name))


def make_ensemble(name):
    """Figures 2, 3, 5 and 6 of the random subsets: accuracy against the number of members."""
    rows = [row for row in rows_of("ensemble_figures.csv") if row["value"] != "probability"]
    figure, axes = style.figure(6.4, nrows=2, ncols=2, squeeze=False, sharex=True, sharey=True)
    figures = {("10", "training_accuracy"): "Figure 2: training, 10 rows", ("10", "test_accuracy"): "Figure 3: test, 10 rows",
               ("100", "training_accuracy"): "Figure 5: training, 100 rows", ("100", "test_accuracy"): "Figure 6: test, 100 rows"}
    for ax, ((subset, kind), title) in zip(axes.flat, figures.items()):
        members = sorted({int(row["members"]) for row in rows if row["subset"] == subset})
        values = [[float(row[kind]) for row in rows if (row["subset"], int(row["members"])) == (subset, count)] for count in members]
        ax.fill_between(members, [min(v) for v in values], [max(v) for v in values], color=style.FILL[style.BLUE])
        ax.plot(members, [sum(v) / len(v) for v in values], marker="o", markersize=4, color=style.BLUE, label="ensemble")
        single = [float(row[kind]) for row in rows if row["subset"] not in ("10", "100")]
        ax.axhline(sum(single) / len(single), color=style.GREEN, linestyle="--", label="one SVM on all rows")
        ax.set_ylim(89, 93)
        ax.set_title(title, fontsize=11)
        ax.tick_params(labelsize=10)
        ax.grid(alpha=0.25)
    for ax in axes[1]:
        ax.set_xlabel("members")
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy, %")
    legend_above(figure, axes[0][0], 2)
    figure.tight_layout(rect=(0, 0, 1, 0.94))
    style.save(figure, name, source_of("ensemble_figures.csv")(name))


def draw_threshold(ax, rows, key, scale, paper_all, paper_points):
    """One panel of Figure 2: a value against T, ours and the paper's."""
    swept = [row for row in rows if row["threshold"] != "all rows"]
    across = [float(row["threshold"]) for row in swept]
    ax.plot(across, [scale * float(row[key]) for row in swept], marker="o", markersize=4, color=style.BLUE, label="leaders")
    everything = [scale * float(row[key]) for row in rows if row["threshold"] == "all rows"]
    ax.axhline(everything[0], color=style.GREEN, linestyle="--", linewidth=1.3, label="all rows")
    ax.axhline(paper_all, color=style.GRAY, linestyle=":", linewidth=1.3, label="paper: all rows")
    ax.scatter(*zip(*paper_points), marker="x", s=50, color=style.ORANGE, zorder=3, label="paper: leaders")
    ax.set_xscale("log")
    ax.set_xticks(across[::2], [f"{t:g}" for t in across[::2]])
    ax.minorticks_off()
    ax.tick_params(labelsize=9)
    ax.grid(alpha=0.25)


def make_leader(name):
    """Figure 2 of Leader + SVM: support vectors, accuracy and time against the threshold."""
    rows = rows_of("leader.csv")
    panels = [("support_vectors", 1, "support vectors", "log"), ("accuracy", 100, "test accuracy, %", "linear"), ("seconds", 1, "seconds", "log")]
    figure, axes = style.figure(8, nrows=len(panels), ncols=len(LEADER_PAPER), squeeze=False, sharex="col")
    for x, (problem, (paper_all, points)) in enumerate(LEADER_PAPER.items()):
        of_problem = [row for row in rows if row["problem"] == problem]
        for y, (key, scale, title, axis) in enumerate(panels):
            draw_threshold(axes[y][x], of_problem, key, scale, paper_all[y], [(t, values[y]) for t, values in points])
            axes[y][x].set_yscale(axis)
            axes[y][0].set_ylabel(title)
        axes[0][x].set_title(problem, fontsize=11)
        axes[-1][x].set_xlabel("T", fontsize=11)
    legend_above(figure, axes[0][0], 4)
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    style.save(figure, name, source_of("leader.csv")(name))


PICTURES = {"paper_falk": (source_of("falk_figures.csv"), make_falk), "paper_ensemble": (source_of("ensemble_figures.csv"), make_ensemble),
            "paper_leader": (source_of("leader.csv"), make_leader)}
