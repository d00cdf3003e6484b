"""The problems of the comparisons and how their files are made. Standard library only.

A problem's files are prepared once, in DATA_FOLDER/NAME/{train,test}.svm of the work folder; delete that folder to prepare
them again.
"""
import dataclasses
import lzma
import math
import multiprocessing
import pathlib
import random
import shutil
import subprocess

SHUFFLE_SEED = 20240601


class Missing(Exception):
    """A source file is not there."""


@dataclasses.dataclass(frozen=True)
class Problem:
    name: str
    source: str  # folder of the data; empty: generated
    parameters: tuple  # LIBSVM's letters, which tamis understands too
    target: float  # LIBSVM's seconds over ours; 0: none
    recipe: str
    rows: int = 0  # training rows, where the recipe chooses them
    regression: bool = False
    generator: tuple = ()  # name and options, where the name alone does not say them
    test_rows: int = 0  # where the recipe chooses them


TRAIN = [
    Problem("ijcnn1", "ijcnn1", ("-c", "10", "-g", "2"), 20, "as_is"),
    Problem("cod-rna", "cod-rna", ("-c", "32", "-g", "8"), 25, "minmax"),
    Problem("checkerboard", "", ("-c", "10", "-g", "100"), 50, "generated", 100_000),
    Problem("covtype-20k", "covtype-93k-binary", ("-c", "10", "-g", "32"), 15, "covtype", 20_000),
    Problem("covtype-80k", "covtype-93k-binary", ("-c", "10", "-g", "32"), 50, "covtype", 80_000),
    Problem("a9a", "a9a", ("-c", "10", "-g", "0.05"), 5, "as_is"),
    Problem("reuters-lasvm", "reuters-lasvm", ("-c", "10", "-g", "1"), 5, "as_is"),
    Problem("cadata", "cadata", ("-s", "3", "-c", "1", "-g", "0.125", "-p", "0.1"), 15, "cadata", 16_512, True),
]
PREDICT = [
    Problem("ijcnn1", "ijcnn1", ("-c", "10", "-g", "2"), 20, "as_is"),
    Problem("cod-rna", "cod-rna", ("-c", "32", "-g", "8"), 20, "minmax"),
    Problem("mnist-10k", "mnist", ("-c", "10", "-g", "0.02"), 10, "mnist", 10_000),
]
LOCAL = [
    Problem("ijcnn1", "ijcnn1", ("-c", "10", "-g", "2"), 0, "as_is"),
    Problem("cod-rna", "cod-rna", ("-c", "32", "-g", "8"), 0, "minmax"),
    Problem("covtype-80k", "covtype-93k-binary", ("-c", "10", "-g", "32"), 400, "covtype", 80_000),
    Problem("covtype-73k", "covtype-93k-binary", ("-c", "10", "-g", "8"), 0, "covtype", 73_000),
    Problem("checkerboard", "", ("-c", "10", "-g", "100"), 200, "generated", 100_000),
    Problem("spirals", "", ("-c", "10", "-g", "30"), 0, "generated", 100_000),
    Problem("ndcc", "", ("-c", "1", "-g", "1"), 0, "generated", 100_000),
]
# Gamma of those without -g: 1 / (features * variance).
LEADER = [
    Problem("kddcup99-10pct", "kddcup99-10pct", ("-c", "10", "-g", "1"), 0, "minmax"),
    Problem("covtype-80k", "covtype-93k-binary", ("-c", "10", "-g", "32"), 0, "covtype", 80_000),
]
# As in the paper: its C and gamma, nine tenths of covtype to train.
LEADER_PAPER = [
    Problem("kddcup99-10pct", "kddcup99-10pct", ("-c", "10000", "-g", "0.1"), 0, "minmax"),
    Problem("covtype-84k-raw", "covtype-93k-binary", ("-c", "10000", "-g", "0.0001"), 0, "raw_split", 83_666),
    Problem("extended-usps", "usps", ("-c", "10", "-g", "0.0078"), 0, "extended_usps"),
]
WEIGHTS = [
    *LEADER,
    Problem("usps", "usps", ("-c", "10", "-g", "0.0078"), 0, "as_is"),
    Problem("ijcnn1", "ijcnn1", ("-c", "10", "-g", "2"), 0, "as_is"),
    Problem("cod-rna", "cod-rna", ("-c", "32", "-g", "8"), 0, "minmax"),
    Problem("checkerboard", "", ("-c", "10", "-g", "100"), 0, "generated", 100_000),
    Problem("a9a", "a9a", ("-c", "10", "-g", "0.05"), 0, "as_is"),
    Problem("letter", "letter", ("-c", "10"), 0, "minmax"),
    Problem("pendigits", "pendigits", ("-c", "10"), 0, "minmax"),
    Problem("shuttle", "shuttle", ("-c", "10"), 0, "minmax"),
    Problem("w7a", "w7a", ("-c", "10"), 0, "as_is"),
    Problem("susy-30k", "susy-30k", ("-c", "10"), 0, "split", 24_000),
    Problem("mammography", "mammography", ("-c", "10"), 0, "split", 8_947),
    Problem("gmsc", "gmsc", ("-c", "10"), 0, "split", 120_000),
]
BOUNDARY = [
    *WEIGHTS,
    Problem("w8a", "w8a", ("-c", "10"), 0, "split", 39_799),
    Problem("ring", "ring", ("-c", "10"), 0, "split", 5_920),
]
COVTYPE_TEST_ROWS = 12_962


@dataclasses.dataclass
class Files:
    train: pathlib.Path
    test: pathlib.Path


def select(problems, only):
    """Those named in `only` ("a,b"; empty: all). Raises ValueError for an unknown name."""
    if not only:
        return problems
    names = only.split(",")
    known = [p.name for p in problems]
    for name in names:
        if name not in known:
            raise ValueError(f"there is no problem '{name}': {', '.join(known)}")
    return [p for p in problems if p.name in names]


def prepare(problem, data, work, tamis):
    """The problem's files, made if they are not there yet. Raises Missing."""
    folder = work / "data" / problem.name
    files = Files(folder / "train.svm", folder / "test.svm")
    if folder.exists():
        return files
    sources = find_sources(problem, data)
    print(f"{problem.name}: preparing data", flush=True)
    # In a process of its own: the peak memory of a program we start later counts from our own size.
    worker = multiprocessing.get_context("fork").Process(target=make, args=(problem, sources, folder, tamis))
    worker.start()
    worker.join()
    if worker.exitcode != 0:
        raise RuntimeError(f"{problem.name}: preparing the data failed")
    return files


def find_sources(problem, data):
    if not problem.source:
        return []
    if data is None:
        raise Missing("no data folder: give --data or set TAMIS_DATA")
    folder = data / problem.source
    pair = [folder / f"{problem.source}.{part}.xz" for part in ("train", "test")]
    whole = folder / f"{problem.source}.xz"
    if all(p.exists() for p in pair):
        return pair
    if whole.exists():
        return [whole]
    raise Missing(f"no {whole.name} and no {pair[0].name} in {problem.source}/ of the data folder")


def make(problem, sources, folder, tamis):
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    RECIPES[problem.recipe](problem, sources, partial, tamis)
    partial.rename(folder)


def lines_of(path):
    with lzma.open(path, "rt", encoding="ascii") as file:
        return [line for line in file if line.strip()]


def write_lines(path, lines):
    with open(path, "w", encoding="ascii") as file:
        file.writelines(lines)


def shuffled(lines):
    random.Random(SHUFFLE_SEED).shuffle(lines)
    return lines


def make_as_is(_problem, sources, folder, _tamis):
    for source, part in zip(sources, ("train", "test"), strict=True):
        write_lines(folder / f"{part}.svm", lines_of(source))


def make_whole(_problem, sources, folder, _tamis):
    """A data set of one part, for comparisons that need no test rows."""
    write_lines(folder / "train.svm", lines_of(sources[0]))


def scale_to_unit(folder, tamis):
    """train.raw and test.raw -> train.svm and test.svm in [0, 1], the ranges learned on the training part."""
    for part, words in (("train", ("--method", "minmax", "--save-ranges")), ("test", ("--load-ranges",))):
        subprocess.run([tamis, "scale", folder / f"{part}.raw", *words, folder / "ranges.json", "-o", folder / f"{part}.svm", "--quiet"],
                       check=True)
        (folder / f"{part}.raw").unlink()


def make_minmax(_problem, sources, folder, tamis):
    for source, part in zip(sources, ("train", "test"), strict=True):
        write_lines(folder / f"{part}.raw", lines_of(source))
    scale_to_unit(folder, tamis)


def make_covtype(problem, sources, folder, tamis):
    lines = shuffled(lines_of(sources[0]))
    write_lines(folder / "train.raw", lines[:problem.rows])
    write_lines(folder / "test.raw", lines[-COVTYPE_TEST_ROWS:])
    scale_to_unit(folder, tamis)


def make_raw_split(problem, sources, folder, _tamis):
    """Shuffled; the first rows train, the others test; nothing is scaled."""
    lines = shuffled(lines_of(sources[0]))
    write_lines(folder / "train.svm", lines[:problem.rows])
    write_lines(folder / "test.svm", lines[problem.rows:])


def make_extended_usps(_problem, sources, folder, _tamis):
    """Digits 0 and 1 of usps, 16 x 16 pixels, at each of the 121 places of a 26 x 26 image: shifts by up to five pixels in both
    directions. Pixels are in [-1, 1] and the frame is -1, the background; written plus 1, so that the background is not stored:
    the RBF kernel sees differences alone."""
    side, wide = 16, 26
    for source, part in zip(sources, ("train", "test"), strict=True):
        with open(folder / f"{part}.svm", "w", encoding="ascii") as file:
            for label, pairs in map(parse, lines_of(source)):
                if label not in (0, 1):
                    continue
                pixels = dict(pairs)
                inked = [(wide * (i // side) + i % side, f":{1 + pixels.get(i + 1, 0.0):.6g}") for i in range(side * side)
                         if pixels.get(i + 1, 0.0) > -1]
                for down in range(wide - side + 1):
                    for right in range(wide - side + 1):
                        first = 1 + wide * down + right
                        file.write(f"{'+1' if label == 1 else '-1'} "
                                   + " ".join(f"{first + place}{value}" for place, value in inked) + "\n")


def make_split(problem, sources, folder, tamis):
    """Shuffled; the first rows train, the others test; columns to [0, 1]."""
    lines = shuffled(lines_of(sources[0]))
    write_lines(folder / "train.raw", lines[:problem.rows])
    write_lines(folder / "test.raw", lines[problem.rows:])
    scale_to_unit(folder, tamis)


def make_part(problem, sources, folder, tamis):
    """Rows drawn at random, test rows from the official test part where there is one; columns to [0, 1]."""
    parts = [shuffled(lines_of(source)) for source in sources]
    write_lines(folder / "train.raw", parts[0][:problem.rows])
    test = parts[1] if len(parts) > 1 else parts[0][problem.rows:]
    write_lines(folder / "test.raw", test[:problem.test_rows])
    scale_to_unit(folder, tamis)


def make_pooled(problem, sources, folder, tamis):
    """All parts together, shuffled; the first rows train, the next test; columns to [0, 1]."""
    lines = shuffled([line for source in sources for line in lines_of(source)])
    write_lines(folder / "train.raw", lines[:problem.rows])
    write_lines(folder / "test.raw", lines[problem.rows:problem.rows + problem.test_rows])
    scale_to_unit(folder, tamis)


def make_generated(problem, _sources, folder, tamis):
    name, *words = problem.generator or (problem.name,)
    for part, seed, rows in (("train", 1, problem.rows), ("test", 2, problem.test_rows or problem.rows)):
        generate(tamis, name, rows, seed, folder / f"{part}.svm", *words)


def make_generated_unit(problem, _sources, folder, tamis):
    """Generated; columns to [0, 1]."""
    name, *words = problem.generator
    for part, seed, rows in (("train", 1, problem.rows), ("test", 2, problem.test_rows or problem.rows)):
        generate(tamis, name, rows, seed, folder / f"{part}.raw", *words, "--format", "svmlight")
    scale_to_unit(folder, tamis)


def generate(tamis, name, rows, seed, path, *words):
    subprocess.run([tamis, "generate", name, *words, "--rows", str(rows), "--seed", str(seed), "-o", path, "--quiet"], check=True)


def parse(line):
    label, *pairs = line.split()
    return float(label), [(int(i), float(v)) for i, v in (pair.split(":") for pair in pairs)]


def make_mnist(problem, sources, folder, _tamis):
    for source, part, rows in zip(sources, ("train", "test"), (problem.rows, None), strict=True):
        scaled = []
        for line in lines_of(source)[:rows]:
            label, pairs = parse(line)
            scaled.append(f"{label:g} " + " ".join(f"{i}:{v / 255:.6g}" for i, v in pairs) + "\n")
        write_lines(folder / f"{part}.svm", scaled)


def make_cadata(problem, sources, folder, _tamis):
    """Every column and the target to mean 0 and deviation 1, as they are in the training part."""
    rows = [(label, dict(pairs)) for label, pairs in map(parse, shuffled(lines_of(sources[0])))]
    columns = sorted({i for _, pairs in rows for i in pairs})
    table = [[label] + [pairs.get(i, 0.0) for i in columns] for label, pairs in rows]
    moments = []
    for column in zip(*table[:problem.rows]):
        mean = math.fsum(column) / len(column)
        moments.append((mean, math.sqrt(math.fsum((v - mean) ** 2 for v in column) / len(column))))
    lines = []
    for row in table:
        label, *values = [(v - mean) / deviation for v, (mean, deviation) in zip(row, moments)]
        lines.append(f"{label:.6g} " + " ".join(f"{i}:{v:.6g}" for i, v in zip(columns, values)) + "\n")
    write_lines(folder / "train.svm", lines[:problem.rows])
    write_lines(folder / "test.svm", lines[problem.rows:])


RECIPES = {"as_is": make_as_is, "whole": make_whole, "minmax": make_minmax, "covtype": make_covtype, "split": make_split,
           "raw_split": make_raw_split, "part": make_part, "pooled": make_pooled, "extended_usps": make_extended_usps,
           "generated": make_generated, "generated_unit": make_generated_unit, "mnist": make_mnist, "cadata": make_cadata}
