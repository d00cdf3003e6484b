"""How sure is the machine? Probabilities of its own, and scikit-learn's calibration around it."""
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss

import tamis

X, y = tamis.generate("checkerboard", 4000)
X_new, y_new = tamis.generate("checkerboard", 4000, random_state=2)

own = tamis.SVC(C=10, gamma=100, probability=True).fit(X, y)
around = CalibratedClassifierCV(tamis.SVC(C=10, gamma=100), method="isotonic", cv=5).fit(X, y)
for name, machine in (("of its own", own), ("CalibratedClassifierCV", around)):
    shares = machine.predict_proba(X_new)
    sure = shares.max(axis=1) > 0.9
    right = machine.classes_[shares.argmax(axis=1)] == y_new
    print(f"{name:>22}: log loss {log_loss(y_new, shares):.3f}; surer than 90 % on {100 * sure.mean():.0f} % of the rows, "
          f"right on {100 * np.mean(right[sure]):.1f} % of these")
