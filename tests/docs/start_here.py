#!/usr/bin/python3
"""Compiles and runs the example at the head of include/tamis/train.hpp, as a reader would paste it.

  start_here.py --cxx COMPILER --library FILE --include FOLDER.. --libraries NAME..
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--include", nargs="+", required=True)
    parser.add_argument("--libraries", nargs="*", default=[])
    options = parser.parse_args()
    head = (ROOT / "include" / "tamis" / "train.hpp").read_text().split("#pragma once")[0]
    example = re.findall(r"^//   (.*)$", head, re.MULTILINE)
    assert example, "train.hpp has no example at its head"
    program = "\n".join(['#include "tamis/io.hpp"', '#include "tamis/predict.hpp"', '#include "tamis/train.hpp"',
                         "int main() {", *example, "return labels.size() == data.rows() ? 0 : 1;", "}"])
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "main.cpp").write_text(program)
        (work / "train.svm").write_text("1 1:0.5 2:1\n-1 1:-0.5\n1 1:0.7\n-1 2:-1\n")
        subprocess.run([options.cxx, "-std=c++20", "main.cpp", *(f"-I{path}" for path in options.include), options.library,
                        *(f"-l{name}" for name in options.libraries), "-o", "main"], cwd=work, check=True)
        subprocess.run(["./main"], cwd=work, check=True)
        assert (work / "train.model").stat().st_size > 0
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
