"""What all pictures share: colors, sizes that can be read on a phone, and the file, which remembers what it was made from."""
import hashlib
import pathlib
import struct
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "docs" / "pictures"
BLUE, ORANGE, GREEN, GRAY = "#2a6fbb", "#d9822b", "#3a8f5c", "#8a8f98"
FILL = {BLUE: "#dfe9f5", ORANGE: "#faeadc", GREEN: "#dff0e5", GRAY: "#eeeff1"}
WIDTH = 6.6  # inches, at 110 dots per inch; 12 points are still legible on half of the width
KEY = b"made from"


def fingerprint(*parts):
    """Of what a picture is made from; `stale` compares it with the one in the file."""
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:16]


def text_chunk(text):
    body = b"tEXt" + KEY + b"\x00" + text.encode()
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def stale(name, wanted):
    path = FOLDER / f"{name}.png"
    return not path.exists() or KEY + b"\x00" + wanted.encode() not in path.read_bytes()


def save(figure, name, made_from, colors=200):
    """`colors`: fewer make a smaller file, but rare ones are lost."""
    import matplotlib.pyplot as plt
    from PIL import Image

    path = FOLDER / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Software": None}, dpi=110)
    plt.close(figure)
    Image.open(path).convert("RGB").quantize(colors).save(path, optimize=True)
    raw = path.read_bytes()
    end = raw.rindex(b"IEND") - 4
    path.write_bytes(raw[:end] + text_chunk(made_from) + raw[end:])
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} KB")


def figure(height, **arguments):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 12, "axes.titlesize": 13, "axes.spines.top": False, "axes.spines.right": False,
                         "legend.framealpha": 0.9})
    return plt.subplots(figsize=(WIDTH, height), **arguments)
