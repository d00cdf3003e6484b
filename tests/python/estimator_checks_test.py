"""scikit-learn's own checks for estimators."""
import inspect

import numpy as np
import pytest
import tamis
from sklearn.utils.estimator_checks import parametrize_with_checks

ESTIMATORS = [
    tamis.SVC(),
    tamis.SVC(kernel="linear", loss="l2"),
    tamis.SVC(multi_class="ovr", scale="standard"),
    tamis.SVC(gamma="auto", break_ties=True, n_jobs=1),
    tamis.LinearSVC(),
    tamis.LinearSVC(loss="hinge", multi_class="ovo"),
    tamis.LinearSVR(),
    tamis.FalkSVC(k=30),
    tamis.FalkSVC(k=40, k_prime=5, prediction="nearest-centre"),
    tamis.FalkSVC(local_selection=True, k_grid=[30, 60], selection_folds=2),
    tamis.FalkSVR(k=30, prediction="nearest-centre"),
    tamis.KNNSVC(k=30),
    tamis.SubsampleSVC(),
    tamis.SubsampleSVC(delta=0.5),
    tamis.CGLQSVC(),
    tamis.LocalSamplingSVC(),
    tamis.LeaderSVC(),
    tamis.LeaderSVC(leaders=20, leader_weights="cluster", polish=True),
    tamis.RandomSubsetSVC(),
    tamis.RansacSVC(trials=20),
    tamis.OptMarginSVC(),
    tamis.TubeSVR(),
    tamis.AutoSVC(),
    tamis.SVR(),
    tamis.SVR(kernel="linear", scale="minmax"),
]


# New in scikit-learn 1.6, which expects its own SVC, SVR and LinearSVC to fail, too. test_weights_count_as_copies asks the
# same for what training promises.
WHY = "two trainings agree to their tolerance, not to seven digits"
EXPECTED_FAILURES = {f"check_sample_weight_equivalence_on_{kind}_data": WHY for kind in ("dense", "sparse")}


def all_checks():
    if "expected_failed_checks" in inspect.signature(parametrize_with_checks).parameters:
        return parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: EXPECTED_FAILURES)
    return parametrize_with_checks(ESTIMATORS)


@all_checks()
def test_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [
    tamis.SVC(tol=1e-6, gamma=1.0), tamis.SVC(tol=1e-6, multi_class="ovr", gamma="auto"), tamis.SVR(tol=1e-6, gamma=1.0),
    tamis.LinearSVC(tol=1e-7), tamis.LinearSVR(tol=1e-7, epsilon=0.1)])
def test_weights_count_as_copies(estimator):
    random = np.random.RandomState(42)
    X, y, weights = random.rand(60, 5), random.randint(0, 3, size=60), random.randint(0, 5, size=60)
    predict = "decision_function" if hasattr(estimator, "decision_function") else "predict"
    copied = getattr(estimator.fit(X.repeat(weights, axis=0), y.repeat(weights)), predict)(X)
    weighted = getattr(estimator.fit(X, y, sample_weight=weights), predict)(X)
    np.testing.assert_allclose(weighted, copied, atol=2e-4)
    assert np.abs(getattr(estimator.fit(X, y), predict)(X) - copied).max() > 0.01  # without weights


def test_every_estimator_is_checked():
    exported = {getattr(tamis, name) for name in tamis.__all__ if isinstance(getattr(tamis, name), type)}
    estimators = {cls for cls in exported if hasattr(cls, "fit")}
    assert estimators == {type(estimator) for estimator in ESTIMATORS}
