"""Prints the table of docs/python.md: the arguments of all estimators. Needs the package tamis."""
import inspect

import tamis
from tamis import _parameters


def class_words(owners, everyone):
    """The shorter list: of those that have the argument, or of those that have it not."""
    others = [name for name in everyone if name not in owners]
    if not others:
        return "all"
    return "all but " + ", ".join(others) if len(others) < len(owners) else ", ".join(owners)


def default_words(defaults):
    """The usual default, and who has another."""
    values = [repr(value) for value in defaults.values()]
    usual = max(values, key=values.count)
    exceptions = [f"{name} `{value!r}`" for name, value in defaults.items() if repr(value) != usual]
    return f"`{usual}`" + (f"; {', '.join(exceptions)}" if exceptions else "")


def main():
    estimators = [getattr(tamis, name) for name in tamis.__all__ if hasattr(getattr(tamis, name), "fit")]
    everyone = [estimator.__name__ for estimator in estimators]
    options = _parameters.option_table()
    defaults = {}  # argument -> class -> default
    for estimator in estimators:
        for argument in inspect.signature(estimator).parameters.values():
            defaults.setdefault(argument.name, {})[estimator.__name__] = argument.default
    print("| argument | default | of the program | classes | effect |\n|---|---|---|---|---|")
    for name, owners in defaults.items():
        option = options.get(_parameters.option_name(name))
        effect = _parameters.description(name, may_be_none=None in owners.values())
        flag = f"`--{option['name']}`" if option else ""
        print(f"| `{name}` | {default_words(owners)} | {flag} | {class_words(list(owners), everyone)} | {effect} |")


if __name__ == "__main__":
    main()
