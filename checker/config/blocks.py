"""`[[operations]]`: blocks of the file that are about some operations."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checker.config.dictionaries import parameter_rule
from checker.config.filters import SUBJECTS, Expression, FilterSpec, OperationFilters
from checker.config.kinds import Boolean, Either, ListOf, MapOf, Problem, Text, invalid
from checker.config.reading import section_error, unknown
from checker.config.table import OPERATION_KEYS, Path
from checker.core.errors import ConfigError, NotAvailableYet, UsageError

_VERBS = ("include", "exclude")
_EXACT = Either((Text(), ListOf(Text())))
_PARAMETERS = MapOf(parameter_rule)


@dataclass(frozen=True, slots=True)
class OperationBlock:
    """One block: what it is about, and what it says."""

    filters: OperationFilters
    enabled: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Values in place of generated ones."""


def read_blocks(blocks: object, *, prefix: Path = ()) -> tuple[OperationBlock, ...]:
    """Checked blocks, in file order. Raises `ConfigError` or `NotAvailableYet`."""
    if not isinstance(blocks, list) or not all(isinstance(one, Mapping) for one in blocks):
        problem = Problem("Type error", "'operations' -> Must be an array of tables")
        raise section_error(prefix, [problem])
    return tuple(
        _block(block, (*prefix, "operations", str(index))) for index, block in enumerate(blocks)
    )


def _filter_keys() -> dict[str, tuple[str, str, bool]]:
    keys = {}
    for verb in _VERBS:
        for subject in SUBJECTS:
            keys[f"{verb}-{subject}"] = (verb, subject, False)
            keys[f"{verb}-{subject}-regex"] = (verb, subject, True)
        keys[f"{verb}-by"] = (verb, "by", False)
    return keys


FILTER_KEYS = _filter_keys()
"""Key -> (verb, subject, whether its value is a regular expression)."""


def _block(block: Mapping[str, Any], path: Path) -> OperationBlock:
    known = ["enabled", *FILTER_KEYS, *OPERATION_KEYS]
    problems = [unknown(name, known) for name in block if name not in known]
    specs: list[FilterSpec] = []
    for name, value in block.items():
        if name in FILTER_KEYS:
            problem = _filter_problem(name, value)
            problems += [problem] if problem else []
            specs += [] if problem else _specs(name, value)
    enabled = block.get("enabled", True)
    wrong = Boolean().problem(enabled, "'enabled'")
    problems += [wrong] if wrong else []
    parameters = block.get("parameters", {})
    wrong = _PARAMETERS.problem(parameters, "'parameters'")
    problems += [wrong] if wrong else []
    if problems:
        raise section_error(path, problems)
    if not specs:
        raise ConfigError(
            f"{section_error(path, [])}\n\n"
            "At least one filter is required when defining [[operations]]."
        )
    refused = next((name for name in block if name in OPERATION_KEYS - {"parameters"}), None)
    if refused:
        raise NotAvailableYet(f"[{'.'.join(path)}] {refused}")
    return OperationBlock(_filters(specs, path), enabled, parameters)


def _filter_problem(name: str, value: object) -> Problem | None:
    _, subject, is_regex = FILTER_KEYS[name]
    problem = _EXACT.problem(value, repr(name))
    if problem or not (is_regex or subject == "by"):
        return problem
    for text in _texts(value):
        try:
            re.compile(text) if is_regex else Expression.parse(text)
        except re.error as error:
            return invalid(f"{name!r} -> Invalid regular expression {text!r}: {error}")
        except UsageError as error:
            return invalid(f"{name!r} -> {error}")
    return None


def _specs(name: str, value: object) -> list[FilterSpec]:
    verb, subject, is_regex = FILTER_KEYS[name]
    return [FilterSpec(verb, subject, text, is_regex) for text in _texts(value)]


def _texts(value: object) -> list[str]:
    return [value] if isinstance(value, str) else list(value)  # type: ignore[call-overload]


def _filters(specs: list[FilterSpec], path: Path) -> OperationFilters:
    try:
        return OperationFilters(tuple(specs))
    except UsageError as error:
        raise section_error(path, [invalid(str(error))]) from error
