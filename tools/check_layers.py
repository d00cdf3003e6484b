#!/usr/bin/env python3
"""Fails if a folder of src/ uses one that it may not: by #include, by linked symbol, or by what ARCHITECTURE.md says; or if
two files define a type of the same name, of which the linker would mix up the inline functions.

  tools/check_layers.py                  includes, and the table of ARCHITECTURE.md
  tools/check_layers.py build/release    the symbols of the objects built there as well
  tools/check_layers.py --fix            rewrites the table of ARCHITECTURE.md

LAYERS is the only place that says who may use whom. It is listed from the bottom up, and a folder names only folders above
its own line, so there can be no cycle.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# folder: (what it is, the folders of src/ it may use). include/tamis is open to all for its types; a public function counts
# as part of the folder that defines it.
LAYERS = {
    "base": ("checks, clock, random numbers, threads, progress, memory, mapped files, scratch; platform.cpp and bus_guard.cpp: all that is asked of Linux alone", []),
    "data": ("Matrix, Labels, Dataset, scaling, folds and splits, generators", ["base"]),
    "kernels": ("each formula once; blocks of kernel values; SIMD", ["data", "base"]),
    "qp": ("the solver; knows no kernel and no data", ["base"]),
    "linear": ("linear SVMs: dual coordinate descent, Newton's method for large problems, an interior-point method; sums in fixed "
               "blocks; stops as qp does", ["qp", "data", "base"]),
    "gram": ("RowSources: computed rows, row cache, stored matrix, the kernel of tube regression",
             ["kernels", "qp", "data", "base"]),
    "neighbors": ("exact neighbor search: brute force, kd-tree, cover tree; separated rows; growing index",
                  ["kernels", "data", "base"]),
    "model": ("what a trained model is, decision rules, prediction; links no solver", ["neighbors", "kernels", "data", "base"]),
    "calibration": ("probabilities from decision values", ["model", "data", "base"]),
    "eval": ("metrics; `certify`, which shares no code with the solver", ["calibration", "model", "kernels", "data", "base"]),
    "io": ("readers and writers of data and models", ["calibration", "model", "kernels", "data", "base"]),
    "options": ("the description of every training option: name, type, range, help", ["kernels", "data", "base"]),
    "svm": ("training one binary SVM, or those of one neighborhood", ["model", "gram", "qp", "kernels", "data", "base"]),
    "multiclass": ("one-vs-one and one-vs-rest around a binary trainer", ["svm", "model", "data", "base"]),
    "methods": ("one file pair per way to train, in families",
                ["multiclass", "svm", "calibration", "model", "neighbors", "gram", "linear", "qp", "kernels", "data", "base"]),
    "training": ("the engine: prepare rows, the method registry, run a method, polish; options checked against the registry",
                 ["methods", "multiclass", "svm", "options", "io", "model", "kernels", "data", "base"]),
    "selection": ("folds, grids, tune, auto",
                  ["training", "methods", "multiclass", "svm", "options", "eval", "model", "gram", "qp", "kernels", "data",
                   "base"]),
    "compare": ("methods next to each other; the report page",
                ["selection", "training", "options", "eval", "io", "model", "data", "base"]),
    "api": ("the public entries: validate, call, time",
            ["compare", "selection", "training", "calibration", "io", "svm", "eval", "model", "data", "base"]),
    "c": ("the C functions of tamis.h, over the public C++ functions",
          ["api", "training", "options", "io", "calibration", "model", "data", "base"]),
    "distributed": ("the Group over MPI: `tamis_mpi`, a library of its own", []),
}
# Folders outside of src/ that see the public headers alone.
OUTSIDE = {
    "apps/tamis": "the program, one file per command",
    "apps/tamis_mpi": "`tamis-mpi`: the same program as a job of several processes",
    "python": "binding/: the module `_core`; tamis/: the scikit-learn estimators",
}

# What .clang-format leaves at the beginning of a line: namespaces, and types outside of others.
NAMESPACE = re.compile(r"namespace ?([\w:]*) ?\{")
TYPE = re.compile(r"(?:struct|class) (?:TAMIS_EXPORT )?(\w+)(?: final)?(?: :[^:;][^;]*)? ?\{")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def check_table():
    """Problems of LAYERS itself."""
    wrong, below = [], set()
    for folder, (_, uses) in LAYERS.items():
        wrong += [f"LAYERS: {folder} names {other}, which is not below it" for other in uses if other not in below]
        below.add(folder)
    return wrong


def may_include(place, folder, target):
    if target.startswith("tamis/"):
        return True
    if place != "src":
        return place != "include" and "/" not in target
    top = target.split("/")[0]
    return top == folder or top in LAYERS[folder][1]


def check_includes():
    wrong = []
    for place in ("include", "apps", "python", "src"):
        for path in sorted((ROOT / place).rglob("*.[ch]pp")):
            folder = path.relative_to(ROOT / place).parts[0]
            name = path.relative_to(ROOT)
            if place == "src" and folder not in LAYERS:
                wrong.append(f"{name}: the folder {folder} is not in LAYERS of tools/check_layers.py")
                continue
            wrong += [f'{name}: may not include "{target}"' for target in INCLUDE.findall(path.read_text())
                      if not may_include(place, folder, target)]
    return wrong


def types_of(text):
    """Full names of the types defined in a file; those of unnamed namespaces are left out."""
    spaces, found = [], []
    for line in text.splitlines():
        if opened := NAMESPACE.match(line):
            spaces.append(opened.group(1))
        elif line.startswith("}  // namespace"):
            spaces.pop()
        elif (defined := TYPE.match(line)) and all(spaces):
            found.append("::".join(spaces + [defined.group(1)]))
    return found


def check_types():
    wrong, owner = [], {}
    for place in ("include", "src", "apps"):
        for path in sorted((ROOT / place).rglob("*.[ch]pp")):
            for name in types_of(path.read_text()):
                first = owner.setdefault(name, path)
                if first != path:
                    wrong.append(f"{path.relative_to(ROOT)}: {name} is also defined in {first.relative_to(ROOT)}")
    return wrong


def read_symbols(objects):
    """(folder, object, symbols defined, symbols needed). Weak ones are templates and inline functions: everybody has them."""
    for path, folder in objects.items():
        defined, needed = set(), set()
        for line in subprocess.run(["nm", "-P", path], check=True, capture_output=True, text=True).stdout.splitlines():
            symbol, kind = line.split()[:2]
            if kind == "U":
                needed.add(symbol)
            elif kind.isupper() and kind not in "WV":
                defined.add(symbol)
        yield folder, path, defined, needed


def objects_of(build):
    """{object: folder}. An object whose source is gone belongs to an earlier build."""
    root = build / "CMakeFiles" / "tamis.dir"
    alone = {root / "src" / f"{path.relative_to(ROOT / 'src')}.o": path.relative_to(ROOT / "src").parts[0]
             for path in (ROOT / "src").rglob("*.cpp")}
    # Several files of one folder compiled as one: cmake/unity.cmake.
    together = {path.with_name(path.name + ".o"): re.fullmatch(r"unity_(\w+)_\d+_cxx\.cxx", path.name)[1]
                for path in (root / "Unity").glob("*.cxx")}
    return {path: folder for path, folder in sorted({**alone, **together}.items()) if path.exists()}


def check_symbols(build):
    objects = objects_of(build)
    if not objects:
        return [f"{build}: no objects of the library are there: build it first"]
    read = list(read_symbols(objects))
    owner = {symbol: folder for folder, _, defined, _ in read for symbol in defined}
    wrong = []
    for folder, path, _, needed in read:
        for symbol in sorted(needed):
            other = owner.get(symbol, folder)
            if other != folder and other not in LAYERS[folder][1]:
                plain = subprocess.run(["c++filt", symbol], capture_output=True, text=True).stdout.strip()
                wrong.append(f"{path.stem}: {folder} may not use {other}: {plain}")
    return wrong


def layer_rows():
    rows = ["| folder | what it is | may use |", "|---|---|---|"]
    for folder, (what, uses) in LAYERS.items():
        rows.append(f"| {folder} | {what} | {', '.join(uses) or '-'} |")
    rows += [f"| {folder} | {what} | include/tamis |" for folder, what in OUTSIDE.items()]
    return "\n".join(rows) + "\n"


def check_document(fix):
    path = ROOT / "ARCHITECTURE.md"
    begin, end = "<!-- layers -->\n", "<!-- /layers -->"
    head, rest = path.read_text().split(begin, 1)
    found, tail = rest.split(end, 1)
    if found == layer_rows():
        return []
    if fix:
        path.write_text(head + begin + layer_rows() + end + tail)
        return []
    return ["ARCHITECTURE.md: the table of folders is out of date: tools/check_layers.py --fix"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("--fix", action="store_true")
    options = parser.parse_args()
    wrong = check_table() + check_includes() + check_types() + check_document(options.fix)
    if options.build:
        wrong += check_symbols(options.build.resolve())
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
