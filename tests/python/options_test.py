"""Arguments, docstrings and documents against the core's option table."""
import inspect
import pathlib
import re

import pytest
import sklearn.svm
import tamis
from tamis import _core, _parameters

ESTIMATORS = [getattr(tamis, name) for name in tamis.__all__ if hasattr(getattr(tamis, name), "fit")]

#: Options that are not arguments: the class says what they are.
IN_THE_CLASS = {"method", "task"}
#: Options a class leaves out, because they mean nothing for its task.
ONLY_FOR = {"tube": "regression", "class-weight": "classification", "multiclass": "classification"}


#: Options without an effect: a tube and its price are found by k, and its slacks are linear.
WITHOUT_EFFECT = {"TubeSVR": {"cost", "loss"}}


def arguments_of(estimator):
    return list(inspect.signature(estimator).parameters.values())


def options_of(estimator):
    return [option for option in _core.option_table()
            if option["name"] not in IN_THE_CLASS
            and (not option["methods"] or set(estimator._methods) & set(option["methods"]))
            and ONLY_FOR.get(option["name"], estimator._task) == estimator._task
            and option["name"] not in WITHOUT_EFFECT.get(estimator.__name__, ())]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_option_of_the_method_is_an_argument(estimator):
    names = {_parameters.option_name(argument.name) for argument in arguments_of(estimator)}
    assert {option["name"] for option in options_of(estimator)} - names == set()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_argument_is_an_option_or_described_here(estimator):
    options = {option["name"] for option in options_of(estimator)}
    for argument in arguments_of(estimator):
        assert _parameters.option_name(argument.name) in options or argument.name in _parameters.PYTHON_HELP


#: The linear machines have scikit-learn's defaults and words, which differ from those of its machines with kernels.
AS_SCIKIT_LEARN = {"LinearSVC": ["loss", "multi_class", "tol", "fit_intercept", "intercept_scaling"],
                   "LinearSVR": ["loss", "epsilon", "tol", "fit_intercept", "intercept_scaling"]}


@pytest.mark.parametrize("name", AS_SCIKIT_LEARN)
def test_defaults_of_linear_machines_are_scikit_learns(name):
    theirs = inspect.signature(getattr(sklearn.svm, name)).parameters
    ours = inspect.signature(getattr(tamis, name)).parameters
    for argument in AS_SCIKIT_LEARN[name]:
        assert ours[argument].default == theirs[argument].default


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_defaults_are_the_cores(estimator):
    """Text that the core reads as its own default: setting it changes nothing."""
    defaults = {option["name"]: option["default"] for option in options_of(estimator)}
    for argument in arguments_of(estimator):
        name = _parameters.option_name(argument.name)
        text = _parameters.option_text(argument.name, argument.default)
        if name not in defaults or text is None or argument.name in AS_SCIKIT_LEARN.get(estimator.__name__, []):
            continue
        try:
            assert [*map(float, text.split(","))] == [*map(float, defaults[name].split(","))], argument.name
        except ValueError:
            assert text == defaults[name], argument.name


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_docstring_describes_every_argument(estimator):
    text = inspect.getdoc(estimator)
    for argument in arguments_of(estimator):
        assert re.search(rf"^{argument.name} : .+, default={re.escape(repr(argument.default))}\n    \S", text,
                         re.MULTILINE), argument.name
    assert "None.\n" not in text


def test_methods_exist():
    assert {method for estimator in ESTIMATORS for method in estimator._methods} <= {*_core.method_names(), "auto"}


def test_the_stub_has_every_name_of_the_core():
    stub = (pathlib.Path(tamis.__file__).parent / "_core.pyi").read_text()
    written = set(re.findall(r"^(?:def |class )?(\w+)(?=[(:])", stub, re.MULTILINE))
    assert written == {name for name in dir(_core) if not name.startswith("_")}
