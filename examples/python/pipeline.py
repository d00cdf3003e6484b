"""A model in a pipeline: scaling learned from the training rows only, kept with the model."""
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamis

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), tamis.SVC(C=10, gamma=0.01))
scores = cross_val_score(model, X, y, cv=5)
print(f"accuracy: {100 * scores.mean():.1f} % (5 folds)")

# The model can also scale the rows; the scaling is then part of the model file.
alone = tamis.SVC(C=10, gamma=0.01, scale="standard")
print(f"the same without a pipeline: {100 * cross_val_score(alone, X, y, cv=5).mean():.1f} %")
