#!/usr/bin/env python3
"""Runs an example and compares what it prints with expected/NAME.txt.

  examples/compare_output.py NAME COMMAND..         # ends with 1, and both texts, if they differ
  examples/compare_output.py --fix NAME COMMAND..   # writes the file

Words must agree. Percentages may differ by 2, because processors round differently; other numbers (times, counts of
iterations) may be any. A test sets PATH and PYTHONPATH.
"""
import pathlib
import re
import subprocess
import sys

NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?")
PERCENT = re.compile(r"([\d.]+) ?%")
UNIT = re.compile(r"# (?:[KMGT]i)?B\b")


def words(line):
    return UNIT.sub("# B", NUMBER.sub("#", " ".join(line.split())))


def agree(expected, printed):
    if list(map(words, expected)) != list(map(words, printed)):
        return False
    both = zip(PERCENT.findall("\n".join(expected)), PERCENT.findall("\n".join(printed)))
    return all(abs(float(one) - float(other)) <= 2 for one, other in both)


def main():
    arguments = sys.argv[1:]
    fix = arguments[:1] == ["--fix"]
    name, *command = arguments[fix:]
    path = pathlib.Path(__file__).resolve().parent / "expected" / f"{name}.txt"
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{name} ends with {done.returncode}")
    if fix:
        path.parent.mkdir(exist_ok=True)
        path.write_text(done.stdout)
    elif not agree(path.read_text().splitlines(), done.stdout.splitlines()):
        sys.exit(f"expected/{name}.txt:\n{path.read_text()}\nprinted:\n{done.stdout}")


if __name__ == "__main__":
    main()
