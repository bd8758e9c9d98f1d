"""`--include-*` and `--exclude-*`: declared from one table, read into one value."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from checker.config.blocks import FILTER_KEYS
from checker.config.filters import FilterSpec, OperationFilters

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_WHAT = {"include": "Test only operations", "exclude": "Do not test operations"}
_BY = "whose definition satisfies `<JSON pointer> == <value>` or `!=`."


def filter_options(command: Decorated) -> Decorated:
    """Add all filter options to a command."""
    command = click.option(
        "--exclude-deprecated", is_flag=True, help="Do not test deprecated operations."
    )(command)
    for key, (verb, subject, is_regex) in reversed(FILTER_KEYS.items()):
        about = f"whose {subject} {'matches a regular expression' if is_regex else 'is this'}."
        command = click.option(
            f"--{key}",
            multiple=True,
            metavar="EXPR" if subject == "by" else "REGEX" if is_regex else "VALUE",
            help=f"{_WHAT[verb]} {_BY if subject == 'by' else about}",
        )(command)
    return command


def read_filters(options: Mapping[str, Any]) -> OperationFilters:
    """Filters of these options. Raises `UsageError`."""
    specs = [
        FilterSpec(verb, subject, value, is_regex)
        for key, (verb, subject, is_regex) in FILTER_KEYS.items()
        for value in options[key.replace("-", "_")]
    ]
    if options["exclude_deprecated"]:
        specs.append(FilterSpec("exclude", "deprecated", ""))
    return OperationFilters(tuple(specs))
