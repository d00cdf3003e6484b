"""scikit-learn's own checks for estimators. There is no list of expected failures."""
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


@parametrize_with_checks(ESTIMATORS)
def test_check(estimator, check):
    check(estimator)


def test_every_estimator_is_checked():
    exported = {getattr(tamis, name) for name in tamis.__all__ if isinstance(getattr(tamis, name), type)}
    estimators = {cls for cls in exported if hasattr(cls, "fit")}
    assert estimators == {type(estimator) for estimator in ESTIMATORS}
