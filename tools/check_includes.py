#!/usr/bin/env python3
"""Fails if a file includes something its folder may not: includes go down the folder DAG only (ARCHITECTURE.md)."""
import pathlib
import re
import sys

# folder -> folders of src/ it may include. include/tamis is open to all, and includes none of them.
BELOW = {
    "base": [],
    "data": ["base"],
    "kernels": ["data", "base"],
    "qp": ["base"],
    "linear": ["qp", "data", "base"],
    "gram": ["kernels", "qp", "data", "base"],
    "neighbors": ["kernels", "data", "base"],
    "model": ["gram", "qp", "neighbors", "kernels", "data", "base"],
    "io": ["model", "kernels", "data", "base"],
    "multiclass": ["model", "kernels", "data", "base"],
    "methods": ["multiclass", "gram", "qp", "linear", "neighbors", "model", "kernels", "data", "base"],
    "selection": ["model", "kernels", "data", "base"],
    "eval": ["model", "kernels", "data", "base"],
    "distributed": ["io", "model", "data", "base"],
}
BELOW["api"] = [folder for folder in BELOW]

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def allowed(folder: str, target: str) -> bool:
    if target.startswith("tamis/"):
        return True
    if folder in ("include", "apps", "python"):
        return folder in ("apps", "python") and "/" not in target
    top = target.split("/")[0]
    return top == folder or top in BELOW[folder]


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    wrong = []
    for place in ("include", "apps", "python", "src"):
        for path in sorted((root / place).rglob("*.[ch]pp")):
            folder = path.relative_to(root / "src").parts[0] if place == "src" else place
            if place == "src" and folder not in BELOW:
                wrong.append(f"{path.relative_to(root)}: folder {folder} is not in the DAG of tools/check_includes.py")
                continue
            for target in INCLUDE.findall(path.read_text()):
                if not allowed(folder, target):
                    wrong.append(f'{path.relative_to(root)}: {folder} may not include "{target}"')
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
