"""Methods side by side, a certificate, and two pictures.

The pictures need matplotlib; they are written to a folder that is removed again: give another one as argument to keep them.
"""
import pathlib
import sys
import tempfile

import tamis

X, y = tamis.generate("checkerboard", 10_000)
board = dict(C=10, gamma=100)
models = {
    "exact": tamis.SVC(**board),
    "local": tamis.FalkSVC(k=200, **board),
    "leaders": tamis.LeaderSVC(leader_weights="cluster", **board),
    "random sample": tamis.SubsampleSVC(delta=0.2, **board),
}
result = tamis.compare(models, X, y)  # as_frame=True: a pandas frame
for row in result["rows"]:
    print(f"{row['name']:>13}: {100 * row['error_rate']:.1f} % errors, {row['train_seconds']:.2f} s, "
          f"{row['support_vectors']:.0f} support vectors")

for name in ("exact", "random sample"):
    certificate = tamis.certify(models[name].fit(X, y), X, y)
    print(f"{name:>13}: {'the optimum' if certificate['certified'] else 'not the optimum'} of the full problem, "
          f"gap {certificate['gap']:.3g}")

with tempfile.TemporaryDirectory() as removed:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else removed)
    tamis.plot.error_against_time(result).figure.savefig(folder / "error_against_time.png")
    tamis.plot.decision_regions(models["exact"], X[:500], y[:500]).figure.savefig(folder / "decision_regions.png")
    print(f"pictures: {', '.join(sorted(path.name for path in folder.glob('*.png')))}")
