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
METHODS = {method["name"]: method for method in _core.method_table()}


def arguments_of(estimator):
    return list(inspect.signature(estimator).parameters.values())


def uses(method, option, task):
    if option["methods"] and method not in option["methods"] or option["task"] not in (None, task):
        return False
    described = METHODS.get(method, {"unused": [], "unused_in_regression": []})  # auto is not in the table
    return option["name"] not in described["unused"] + (described["unused_in_regression"] if task == "regression" else [])


def options_of(estimator):
    return [option for option in _core.option_table() if option["name"] not in IN_THE_CLASS
            and any(uses(method, option, estimator._task) for method in estimator._methods)]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_option_of_the_method_is_an_argument(estimator):
    names = {_parameters.option_name(argument.name) for argument in arguments_of(estimator)}
    assert {option["name"] for option in options_of(estimator)} - names == set()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_argument_is_an_option_or_described_here(estimator):
    options = {option["name"] for option in options_of(estimator)}
    for argument in arguments_of(estimator):
        assert _parameters.option_name(argument.name) in options or argument.name in _parameters.PYTHON_HELP


#: The linear models have scikit-learn's defaults and words, which differ from those of its kernel models.
AS_SCIKIT_LEARN = {"LinearSVC": ["loss", "multi_class", "tol", "fit_intercept", "intercept_scaling"],
                   "LinearSVR": ["loss", "epsilon", "tol", "fit_intercept", "intercept_scaling"]}


#: Defaults that are not scikit-learn's: memory is budgeted, no form is chosen by hand, and training ends when it is optimal.
OTHER_DEFAULTS = {"SVC": {"cache_size"}, "SVR": {"cache_size"}, "LinearSVC": {"dual", "max_iter"}, "LinearSVR": {"dual", "max_iter"}}


@pytest.mark.parametrize("name", OTHER_DEFAULTS)
def test_arguments_and_defaults_are_scikit_learns(name):
    """All arguments of the installed version are there; with its defaults, but for words that announce a change."""
    theirs = {argument.name: argument.default for argument in arguments_of(getattr(sklearn.svm, name))}
    ours = {argument.name: argument.default for argument in arguments_of(getattr(tamis, name))}
    assert set(theirs) <= set(ours)
    differ = {argument for argument, default in theirs.items() if default not in ("deprecated", "warn", ours[argument])}
    assert differ <= OTHER_DEFAULTS[name]


#: None is not the core's "automatic", but Python's word for the default.
NONE_IS_THE_DEFAULT = {"class_weight", "random_state"}
#: These search for C and gamma when neither is given.
SEARCHES = {"auto", "random-subset"}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_defaults_are_the_cores(estimator):
    options = {option["name"]: option for option in options_of(estimator)}
    for argument in arguments_of(estimator):
        option = options.get(_parameters.option_name(argument.name))
        if option is None or argument.name in AS_SCIKIT_LEARN.get(estimator.__name__, []):
            continue
        if argument.default is None:
            automatic = option["default"] is None or SEARCHES & set(estimator._methods)
            assert argument.name in NONE_IS_THE_DEFAULT or (option["unset"] and automatic), argument.name
        else:
            default = {"yes": True, "no": False}.get(str(option["default"]), option["default"])
            assert _parameters.option_value(argument.name, argument.default) == default, argument.name


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_constructors_are_written_out(estimator):
    """For scikit-learn, type checkers and editors: no *args, no **kwargs, a type for each argument."""
    for argument in arguments_of(estimator):
        assert argument.kind is inspect.Parameter.KEYWORD_ONLY and argument.annotation is not inspect.Parameter.empty
    assert set(estimator().get_params()) == {argument.name for argument in arguments_of(estimator)}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_docstring_describes_every_argument(estimator):
    text = inspect.getdoc(estimator)
    for argument in arguments_of(estimator):
        assert re.search(rf"^{argument.name} : .+, default={re.escape(repr(argument.default))}\n    \S", text,
                         re.MULTILINE), argument.name
    assert "None.\n" not in text


def test_methods_exist():
    known = {method["name"] for method in _core.method_table()} | {"auto"}
    assert {method for estimator in ESTIMATORS for method in estimator._methods} <= known


def test_the_stub_has_every_name_of_the_core():
    stub = (pathlib.Path(tamis.__file__).parent / "_core.pyi").read_text()
    written = set(re.findall(r"^(?:def |class )?(\w+)(?=[(:])", stub, re.MULTILINE))
    assert written == {name for name in dir(_core) if not name.startswith("_")}
