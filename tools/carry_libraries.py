#!/usr/bin/env python3
"""Puts the shared libraries that a wheel needs into it, and checks that it can then be called manylinux.

  tools/carry_libraries.py WHEEL FOLDER   writes FOLDER/WHEEL with libraries and platform manylinux_2_36
  tools/carry_libraries.py --check WHEEL  only lists needed libraries and symbol versions; fails if the policy does not allow one,
                                          or if the module shows more than Python needs to see

Libraries get names of their own, with a part of their hash: a process that has loaded another libtbb.so.12 must not
make do with that one. What auditwheel does, which Debian does not have, for one module.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# https://peps.python.org/pep-0600: libraries that every system of the policy has, of those that could occur here, and
# the newest symbol versions that glibc 2.36 and GCC 12 (Debian 12) define.
POLICY = "manylinux_2_36"
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
NEWEST = {"GLIBC": (2, 36), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0), "ZLIB": (1, 2, 12)}
LARGEST_BYTES = 5_000_000


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", path))


def versions(path):
    """The symbol versions that a library asks of the system's, as (name, numbers)."""
    asked = run("readelf", "-VW", path).partition("Version needs section")[2]
    found = set(re.findall(r"Name: ([A-Z]+)_([\d.]+)", asked))
    return sorted((name, tuple(int(part) for part in number.split("."))) for name, number in found)


def shown(path):
    """The symbols that other libraries of a process could use."""
    return [line.split()[-1] for line in run("nm", "-D", "--defined-only", path).splitlines()]


def places(path):
    """Where the loader finds each library: name -> path."""
    return dict(re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", path), re.MULTILINE))


def shared_objects(folder):
    return sorted(path for path in folder.rglob("*.so*") if path.is_file())


def carry(folder):
    """Copies what no system has into tamis.libs, under new names, and makes everything look there."""
    libraries = folder / "tamis.libs"
    libraries.mkdir()
    renamed, waiting = {}, shared_objects(folder)
    found = {name: place for path in waiting for name, place in places(path).items()}
    while waiting:
        path = waiting.pop()
        for name in needed(path):
            if name in SYSTEM or name in renamed:
                continue
            source = pathlib.Path(found[name]).resolve()
            stem, _, ending = name.partition(".so")
            renamed[name] = f"{stem}-{hashlib.sha256(source.read_bytes()).hexdigest()[:8]}.so{ending}"
            copy = libraries / renamed[name]
            shutil.copy(source, copy)
            copy.chmod(0o755)
            keep_licence(folder, source)
            run("strip", "--strip-unneeded", copy)
            run("patchelf", "--set-soname", renamed[name], copy)
            waiting.append(copy)
    for path in shared_objects(folder):
        for name in needed(path):
            if name in renamed:
                run("patchelf", "--replace-needed", name, renamed[name], path)
        run("patchelf", "--set-rpath", "$ORIGIN" if path.parent == libraries else "$ORIGIN/../tamis.libs", path)


def keep_licence(folder, library):
    """What Debian says about the licence of a library goes into the wheel with it."""
    package = run("dpkg", "-S", f"*/{library.name}").split(":")[0]  # the folder may be a link
    info, = folder.glob("*.dist-info")
    (info / "licenses").mkdir(exist_ok=True)
    shutil.copy(f"/usr/share/doc/{package}/copyright", info / "licenses" / package)


def retag(folder):
    """The platform in the wheel's own description, from which it gets its name."""
    description, = folder.glob("*.dist-info/WHEEL")
    text = re.sub(r"-linux_(\w+)$", rf"-{POLICY}_\1", description.read_text(), flags=re.MULTILINE)
    description.write_text(text)


def check(wheel):
    """Prints what the wheel needs; a list of what the policy does not allow."""
    wrong = []
    with tempfile.TemporaryDirectory() as work:
        run("unzip", "-q", str(wheel), "-d", work)
        objects = shared_objects(pathlib.Path(work))
        carried = {path.name for path in objects}
        for path in objects:
            asked = versions(path)
            newest = {name: number for name, number in asked}  # sorted: the last of a name is its newest
            print(f"{path.relative_to(work)}: {', '.join(needed(path))}; "
                  + ", ".join(f"{name} {'.'.join(map(str, number))}" for name, number in newest.items()))
            wrong += [f"{path.name} needs {name}, which is neither carried nor in {POLICY}" for name in needed(path)
                      if name not in SYSTEM | carried]
            wrong += [f"{path.name} shows {name}" for name in shown(path) if path.parent.name == "tamis" and name != "PyInit__core"]
            wrong += [f"{path.name} needs {name} {'.'.join(map(str, number))}, newer than {POLICY}" for name, number in asked
                      if name in NEWEST and number > NEWEST[name]]
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.2f} MB")
    if size > LARGEST_BYTES:
        wrong.append(f"{size} bytes, more than {LARGEST_BYTES}")
    return wrong


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "--check":
        wheel = pathlib.Path(sys.argv[2])
    else:
        source, target = map(pathlib.Path, sys.argv[1:])
        with tempfile.TemporaryDirectory() as work:
            run(sys.executable, "-m", "wheel", "unpack", "-d", work, str(source))
            folder, = pathlib.Path(work).iterdir()
            carry(folder)
            retag(folder)
            packed = run(sys.executable, "-m", "wheel", "pack", "-d", str(target), str(folder))
        wheel = target / re.search(r"(\S+\.whl)", packed).group(1).split("/")[-1]
    wrong = check(wheel)
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
