#!/usr/bin/env python3
"""Fails if the library shows a symbol that no public header declares, or hides one that a header marks.

  tools/check_exports.py build/release/libtamis.a

Visible is what a shared library would export: global symbols of default visibility that are not weak.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def visible_names(library):
    """The names of functions and classes of namespace tamis, and those of the C functions."""
    table = subprocess.run(["readelf", "-sW", library], check=True, capture_output=True, text=True).stdout
    symbols = [line.split() for line in table.splitlines()]
    mangled = [words[7] for words in symbols
               if len(words) == 8 and words[4] == "GLOBAL" and words[5] == "DEFAULT" and words[6] != "UND"]
    plain = subprocess.run(["c++filt"], input="\n".join(mangled), check=True, capture_output=True, text=True).stdout
    return {re.sub(r"\[abi:cxx11\]", "", name) for name in plain.splitlines() if "tamis::" in name or name.startswith("tamis_")}


def main():
    headers = "\n".join(path.read_text() for path in sorted((ROOT / "include" / "tamis").glob("*.hpp*"))
                        if path.name not in ("export.hpp", "mpi.hpp"))  # the latter is of another library
    marked = set(re.findall(r"TAMIS_EXPORT [^;{(]*?(\w+)\(", headers))
    marked_classes = set(re.findall(r"(?:class|struct) TAMIS_EXPORT (\w+)", headers))
    members = {"validate", "set_text", "text"}  # marked one by one in structs that are not
    in_c = set(re.findall(r"^TAMIS_API [^;(]*?(\w+)\(", (ROOT / "include" / "tamis" / "tamis.h").read_text(), re.MULTILINE))
    names = visible_names(sys.argv[1])
    shown_in_c = {name for name in names if re.fullmatch(r"tamis_\w+", name)}
    seen, wrong = set(shown_in_c), []
    wrong += [f"shown, but not in tamis.h: {name}" for name in sorted(shown_in_c - in_c)]
    wrong += [f"in tamis.h, but not shown: {name}" for name in sorted(in_c - shown_in_c)]
    for name in sorted(names - shown_in_c):
        if name.startswith(("typeinfo", "vtable", "guard variable", "construction vtable")):
            continue
        path = name.split("(")[0].split("tamis::", 1)[1]
        function = path.split("::")[-1]
        seen.add(function)
        if function not in marked and function not in members and not marked_classes.intersection(path.split("::")):
            wrong.append(f"shown, but in no public header: {name}")
    wrong += [f"marked TAMIS_EXPORT, but not shown: {name}" for name in sorted(marked - seen)]
    print("\n".join(wrong) if wrong else f"{len(seen)} names shown, all of public headers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
