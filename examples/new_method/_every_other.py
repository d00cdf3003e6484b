"""One model on every other row."""
from ._arguments import EveryOtherSVCArguments
from ._classifier import Classifier
from ._parameters import documented


@documented
class EveryOtherSVC(EveryOtherSVCArguments, Classifier):
    """One model on every other row of each class.

    PARAMETERS

    ATTRIBUTES
    """

    _methods = ("every-other",)
