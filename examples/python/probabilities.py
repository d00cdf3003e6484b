"""Probabilities: the model's own, and those of scikit-learn's calibration."""
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss

import tamis

X, y = tamis.generate("checkerboard", 4000)
X_new, y_new = tamis.generate("checkerboard", 4000, random_state=2)

own = tamis.SVC(C=10, gamma=100, probability=True).fit(X, y)
around = CalibratedClassifierCV(tamis.SVC(C=10, gamma=100), method="isotonic", cv=5).fit(X, y)
for name, model in (("probability=True", own), ("CalibratedClassifierCV", around)):
    chances = model.predict_proba(X_new)
    sure = chances.max(axis=1) > 0.9
    right = model.classes_[chances.argmax(axis=1)] == y_new
    print(f"{name:>22}: log loss {log_loss(y_new, chances):.3f}; surer than 90 % on {100 * sure.mean():.0f} % of the rows, "
          f"right on {100 * np.mean(right[sure]):.1f} % of these")
