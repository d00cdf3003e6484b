"""Diagrams: the folders, from the table that tools/check_layers.py checks; how to choose a method; the steps of auto."""
import re
import sys
import textwrap

from . import style

sys.path.insert(0, str(style.ROOT / "tools"))
import check_layers

# Question, and the method if the answer is yes: name, remark, color.
CHOICE = [
    ("You do not want to choose, or\nC and gamma are unknown?", "auto", "tries kernels, scaling, C,\ngamma, methods in a time limit", style.GREEN),
    ("Up to about 100,000 rows?", "exact", "the optimum; every other\nmethod approximates it", style.GREEN),
    ("Thousands of sparse features, or\na nearly linear boundary?", "linear", "no kernel; millions of rows", style.BLUE),
    ("Several computers?", "tamis-mpi", "exact, with the rows\nspread over processes", style.BLUE),
    ("A file larger than memory, or\nrows that repeat each other?", "leader", "one row stands for those\naround it; --stream", style.BLUE),
    ("Few to some hundred features?", "falk", "local SVMs; falk-c predicts\nfaster, falk-l chooses C, gamma", style.BLUE),
    ("A small model, also for LIBSVM?", "cglq", "support vectors and their\nneighbors; smaller: ransac", style.BLUE),
]
OTHERWISE = ("subsample", "a first look; compare it with\nrandom-subset on your data", style.GRAY)

AUTO = [
    ("1  Parameters", "C, gamma, scaling for each kernel\nby cross-validation on 1,000 rows"),
    ("2  Feature weights", "three rounds; kept if they are\nbetter on held-out rows"),
    ("3  Candidates", "exact with each kernel, linear;\nfalk if there are enough rows"),
    ("4  Trials", "all on 1,000 rows, the better half\non 4,000, then 16,000 .."),
    ("5  Forecast", "time and error on all rows, or on\nthose that fit into the time"),
    ("6  Local search", "C and gamma of the best one\nor two candidates"),
    ("7  Choice", "the lowest forecast error"),
    ("8  Training", "on all rows, the hold-out set\nincluded"),
]


def box(ax, x, y, width, height, title, text="", color=style.BLUE, size=12):
    from matplotlib.patches import FancyBboxPatch
    ax.add_patch(FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=0.08", facecolor=style.FILL[color],
                                edgecolor=color, linewidth=1.3, zorder=2))
    middle = x + width / 2
    if text:
        lines = text.count("\n") + 1
        ax.text(middle, y + height - 0.07, title, ha="center", va="top", fontsize=size, fontweight="bold", zorder=3)
        ax.text(middle, y + 0.07, text, ha="center", va="bottom", fontsize=size - 2.5, linespacing=1.15, zorder=3)
        return lines
    ax.text(middle, y + height / 2, title, ha="center", va="center", fontsize=size, zorder=3, linespacing=1.2)
    return 1


def arrow(ax, begin, end, text="", color="#555555"):
    ax.annotate("", end, begin, arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0}, zorder=1)
    if text:
        across = abs(begin[0] - end[0]) > abs(begin[1] - end[1])
        ax.text((begin[0] + end[0]) / 2 + (0 if across else 0.1), (begin[1] + end[1]) / 2 + (0.05 if across else 0), text,
                ha="center" if across else "left", va="bottom" if across else "center", fontsize=11, color="#333333")


def canvas(height):
    figure, ax = style.figure(height)
    ax.set(xlim=(0, style.WIDTH), ylim=(0, height))
    ax.axis("off")
    figure.subplots_adjust(0, 0, 1, 1)
    return figure, ax


def choosing_source(name):
    return style.fingerprint(name, repr(CHOICE), repr(OTHERWISE))


def make_choosing(name):
    step, height = 0.98, 0.7
    total = step * (len(CHOICE) + 1) + 0.1
    figure, ax = canvas(total)
    for i, (question, method, remark, color) in enumerate(CHOICE):
        y = total - step * i - height - 0.1
        box(ax, 0.08, y, 3.1, height, question, color=style.GRAY)
        box(ax, 3.85, y - 0.06, 2.65, height + 0.12, method, remark, color)
        arrow(ax, (3.18, y + height / 2), (3.83, y + height / 2), "yes")
        arrow(ax, (1.6, y), (1.6, y - step + height), "no")
    method, remark, color = OTHERWISE
    box(ax, 0.3, total - step * len(CHOICE) - height - 0.22, 2.65, height + 0.12, method, remark, color)
    style.save(figure, name, choosing_source(name))


def auto_source(name):
    return style.fingerprint(name, repr(AUTO))


def make_auto(name):
    step, height = 0.62, 0.5
    total = step * len(AUTO) + 0.1
    figure, ax = canvas(total)
    for i, (title, text) in enumerate(AUTO):
        y = total - step * i - height - 0.06
        box(ax, 0.1, y, 2.2, height, title, color=style.GREEN if i == len(AUTO) - 1 else style.BLUE)
        ax.text(2.45, y + height / 2, text.replace("\n", " ") if len(text) < 30 else text, va="center", fontsize=11.5, linespacing=1.15)
        if i + 1 < len(AUTO):
            arrow(ax, (1.2, y), (1.2, y - step + height))
    style.save(figure, name, auto_source(name))


def levels():
    """Folder -> its height: above every folder that it uses."""
    found = {}
    for folder, (_, uses) in check_layers.LAYERS.items():
        found[folder] = 1 + max((found[other] for other in uses), default=-1)
    return found


def direct_uses(folder):
    """Without those that another of them uses, too."""
    uses = check_layers.LAYERS[folder][1]
    return [other for other in uses if not any(other in check_layers.LAYERS[third][1] for third in uses)]


def short(what):
    """The beginning of a description that fits into a box."""
    clause = re.split(r"[;:(]", what.replace("`", ""))[0].strip()
    return "\n".join(textwrap.wrap(clause, 48 if len(clause) < 24 else 24, max_lines=2, placeholder=" ..", break_on_hyphens=False))


def architecture_source(name):
    return style.fingerprint(name, repr(check_layers.LAYERS), repr(check_layers.OUTSIDE))


def draw_flow(ax, y):
    """The data flow, from file to file."""
    parts = ["file", "Dataset", "Model", "labels"]
    width = 1.05
    places = [0.1 + i * (style.WIDTH - width - 0.2) / 3 for i in range(4)]
    for x, part in zip(places, parts):
        box(ax, x, y, width, 0.36, part, color=style.ORANGE)
    for begin, end, text in zip(places, places[1:], ("read (io)", "train (api)", "predict\n(model)")):
        arrow(ax, (begin + width, y + 0.18), (end, y + 0.18))
        ax.text((begin + width + end) / 2, y + 0.23, text, ha="center", va="bottom", fontsize=9.5, linespacing=1)


def make_architecture(name):
    found = levels()
    rows = {}
    for folder, level in found.items():
        if folder != "distributed":
            rows.setdefault(level, []).append(folder)
    step, height = 0.84, 0.6
    total = step * (len(rows) + 1) + 0.95
    figure, ax = canvas(total)
    draw_flow(ax, total - 0.6)
    middle = {}
    for level, folders in rows.items():
        width = min(1.75, (style.WIDTH - 0.2) / len(folders) - 0.12)
        for i, folder in enumerate(folders):
            x = style.WIDTH * (i + 0.5) / len(folders) - width / 2
            y = 0.1 + step * level
            middle[folder] = (x + width / 2, y)
            box(ax, x, y, width, height, folder, short(check_layers.LAYERS[folder][0]), style.BLUE)
    for folder in middle:
        for other in direct_uses(folder):
            (x, y), (to_x, to_y) = middle[folder], middle[other]
            arrow(ax, (x, y), (to_x + 0.25 * (x - to_x) / style.WIDTH, to_y + height), color="#9aa3ad")
    y = 0.1 + step * len(rows)
    outside = list(check_layers.OUTSIDE)
    for i, folder in enumerate(outside):
        x = style.WIDTH * (i + 0.5) / len(outside)
        box(ax, x - 0.85, y, 1.7, 0.4, folder, color=style.GREEN)
        arrow(ax, (x, y), (middle["api"][0] + 0.4 * (i - (len(outside) - 1) / 2), middle["api"][1] + height), color="#9aa3ad")
    style.save(figure, name, architecture_source(name))


PICTURES = {"architecture": (architecture_source, make_architecture), "choosing": (choosing_source, make_choosing),
            "auto": (auto_source, make_auto)}
