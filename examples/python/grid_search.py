"""Finding C and gamma with scikit-learn's GridSearchCV.

Each fit uses all cores, so that the search itself need not run in parallel (n_jobs=1, the default).
"""
from sklearn.model_selection import GridSearchCV

import tamis

X, y = tamis.generate("checkerboard", 3000)
search = GridSearchCV(tamis.SVC(), {"C": [1, 10, 100], "gamma": [1, 10, 100]}, cv=3).fit(X, y)
print(f"best: {search.best_params_}, accuracy: {100 * search.best_score_:.1f} %")

X_new, y_new = tamis.generate("checkerboard", 2000, random_state=2)
print(f"accuracy on new rows: {100 * search.score(X_new, y_new):.1f} %")
