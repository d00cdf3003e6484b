"""scikit-learn's own tests of SVC and SVR (sklearn/svm/tests), run with ours in their place."""
import numpy as np
import sklearn.svm
import tamis

sklearn.svm.SVC = tamis.SVC
sklearn.svm.SVR = tamis.SVR

from sklearn.svm.tests import test_sparse, test_svm  # noqa: E402 (they take the classes when they are imported)

NEGATIVE = "a negative weight is an error here; that it leaves the row out is an accident of LIBSVM's"
PRIVATE = "looks at private attributes of scikit-learn's classes"
BEYOND_TOL = "compares coefficients of two machines, trained on differently rounded or ordered values, beyond tol"
WORDS = "the warning says the same in other words"
#: What differs, and why. conftest.py sees to it that each of these fails.
BY_DESIGN = {
    "test_svm_svr_errors": "a kernel that gives a matrix of the wrong shape is refused by fit already",
    "test_svm_precomputed": BEYOND_TOL,
    "test_svm_tweak_params": PRIVATE + "; a trained machine does not change",
    "test_svm_negative_sample_weights_mask_all_samples[weights-are-negative-SVC]": NEGATIVE,
    "test_svm_negative_sample_weights_mask_all_samples[weights-are-negative-SVR]": NEGATIVE,
    "test_svm_negative_weights_svc_leave_just_one_label[mask-label-1-SVC]": NEGATIVE,
    "test_svm_negative_weights_svc_leave_just_one_label[mask-label-2-SVC]": NEGATIVE,
    "test_svm_negative_weights_svc_leave_two_labels[partial-mask-label-1-SVC]": NEGATIVE,
    "test_svm_negative_weight_equal_coeffs[partial-mask-label-1-SVC]": NEGATIVE,
    "test_svm_bad_input": "a machine trained on dense rows predicts sparse ones too, and the other way round",
    "test_svm_svc_nonfinite_params": "values beyond float32 are refused before training, in other words",
    "test_svm_gamma_scale": PRIVATE,
    "test_svm_svc_raises_error_internal_representation": PRIVATE,
    "test_svm_svm_class_weights_deprecation[SVR]": "an attribute that scikit-learn 1.4 removes",
    "test_svm_custom_kernel_not_array_input[SVR]": "compares scores of two machines to the last bit",
    "test_sparse_svc_iris": BEYOND_TOL,
    "test_svm_svc_clone_with_callable_kernel": BEYOND_TOL,
    "test_svm_libsvm_convergence_warnings": WORDS,
    "test_sparse_timeout": WORDS,
    "test_svm_svc_ovr_tie_breaking[SVC]": "wants predict to differ from the largest decision value without break_ties",
    "test_sparse_sparse_decision_function[csr_matrix]": BEYOND_TOL,
    "test_sparse_sparse_decision_function[csr_array]": BEYOND_TOL,
    "test_svm_probability_raises_futurewarning": "probability=True is not deprecated here: it does not depend on a random split",
    "test_svm_svc_nusvc_probA_probB_deprecated": "there are no such attributes",
    "test_svm_svm_with_infinite_C": "C=inf is an error here, which names a large C instead",
    "test_sparse_svc": "wants probabilities for a class of one row, which no fold can test",
}


def assert_equal_up_to_rounding(actual, desired, *args, **kwargs):
    """For assert_array_equal: what is computed from float32 kernel values is not compared to the last bit."""
    if np.asarray(actual).dtype.kind == "f" and np.asarray(desired).dtype.kind == "f":
        np.testing.assert_allclose(actual, desired, rtol=1e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(actual, desired, *args, **kwargs)


test_svm.assert_array_equal = assert_equal_up_to_rounding

for module, prefix in ((test_svm, "test_svm_"), (test_sparse, "test_sparse_")):
    globals().update({prefix + name[len("test_"):]: test for name, test in vars(module).items()
                      if name.startswith("test_") and callable(test)})
del module, prefix, test_svm, test_sparse  # so that pytest does not take them for tests
