"""From scikit-learn's SVC to this one: the import changes, the answers do not."""
import time

import sklearn.svm  # before
import tamis        # after

X, y = tamis.generate("checkerboard", 6000)
X_new, y_new = tamis.generate("checkerboard", 3000, random_state=2)
arguments = dict(C=10, gamma=100, class_weight="balanced")

models = {}
for name, SVC in (("scikit-learn", sklearn.svm.SVC), ("tamis", tamis.SVC)):
    start = time.perf_counter()
    models[name] = SVC(**arguments).fit(X, y)
    print(f"{name:>12}: {time.perf_counter() - start:.2f} s, {len(models[name].support_)} support vectors, "
          f"{100 * models[name].score(X_new, y_new):.2f} % accuracy")

theirs, ours = models.values()
same = (theirs.predict(X_new) == ours.predict(X_new)).mean()
difference = abs(theirs.decision_function(X_new) - ours.decision_function(X_new)).max()
print(f"same labels: {100 * same:.2f} %, decision values differ by {difference:.1g} at most")
