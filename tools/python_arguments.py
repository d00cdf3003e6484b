"""Prints the table of docs/python.md: the arguments of all estimators. Needs the package tamis."""
import inspect

import tamis
from tamis import _parameters


def main():
    estimators = [getattr(tamis, name) for name in tamis.__all__ if hasattr(getattr(tamis, name), "fit")]
    options = _parameters.option_table()
    classes, defaults = {}, {}
    for estimator in estimators:
        for argument in inspect.signature(estimator).parameters.values():
            classes.setdefault(argument.name, []).append(estimator.__name__)
            defaults[argument.name] = argument.default
    print("| argument | default | of the program | classes | effect |\n|---|---|---|---|---|")
    for name, owners in classes.items():
        option = options.get(_parameters.option_name(name))
        effect = _parameters.help_text(name)
        flag = f"`--{option['name']}`" if option else ""
        where = "all" if len(owners) == len(estimators) else ", ".join(owners)
        print(f"| `{name}` | `{defaults[name]!r}` | {flag} | {where} | {effect} |")


if __name__ == "__main__":
    main()
