"""`[[operations]]`: blocks of the file that are about some operations."""

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from msgspec import Struct, field

from checker.config.filters import SUBJECTS, FilterExpression, FilterSpec, OperationFilters
from checker.config.kinds import Boolean, Either, ListOf, Problem, Text, invalid
from checker.config.reading import Layer, LayerPlace, read_layer, section_error, unknown
from checker.config.scopes import OPERATION_KEYS, not_in_operations
from checker.config.table import Path
from checker.core.errors import ConfigError, UsageError

_VERBS = ("include", "exclude")
_EXACT = Either((Text(), ListOf(Text())))


class OperationBlock(Struct, frozen=True):
    """One block: what it is about, and what it says."""

    filters: OperationFilters
    values: Layer = field(default_factory=dict)
    """Of its keys and sections, as in any other layer; `enabled` stands at its root."""
    is_shared: bool = False
    """Whether it stands beside `[[project]]` tables: it may be about the API of any of them."""

    @property
    def enabled(self) -> bool:
        """False where it switches its operations off."""
        return bool(self.values.get((), {}).get("enabled", True))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Values in place of generated ones."""
        found: Mapping[str, Any] = self.values.get((), {}).get("parameters", {})
        return found

    @property
    def dictionaries(self) -> Mapping[str, Any]:
        """Dictionaries by type of value (`generation.dictionaries`)."""
        found: Mapping[str, Any] = self.values.get(("generation",), {}).get("dictionaries", {})
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-able form."""
        return {
            "filters": self.filters.to_list(),
            "values": plain_layer(self.values),
            "is_shared": self.is_shared,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "OperationBlock":
        """Back from `to_dict`."""
        filters = OperationFilters.from_list(plain["filters"])
        return cls(filters, layer_of(plain["values"]), plain["is_shared"])


def plain_layer(layer: Layer) -> list[list[Any]]:
    """A layer in JSON-able form, copied."""
    return [[list(path), deepcopy(values)] for path, values in layer.items()]


def layer_of(plain: Sequence[Sequence[Any]]) -> Layer:
    """Back from `plain_layer`."""
    return {tuple(path): dict(values) for path, values in plain}


def read_blocks(blocks: object, *, prefix: Path = ()) -> tuple[OperationBlock, ...]:
    """Checked blocks, in file order. Raises `ConfigError`."""
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
    known = ["enabled", *FILTER_KEYS, *sorted(OPERATION_KEYS)]
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
    if problems:
        raise section_error(path, problems)
    said = {name: value for name, value in block.items() if name in OPERATION_KEYS}
    values = read_layer(said, LayerPlace(path, not_in_operations(), is_of_run=False))
    if not specs:
        raise ConfigError(
            f"{section_error(path, [])}\n\n"
            "At least one filter is required when defining [[operations]]."
        )
    values.setdefault((), {})["enabled"] = enabled
    return OperationBlock(_filters(specs, path), values)


def _filter_problem(name: str, value: object) -> Problem | None:
    _, subject, is_regex = FILTER_KEYS[name]
    problem = _EXACT.problem(value, repr(name))
    if problem or not (is_regex or subject == "by"):
        return problem
    for text in _texts(value):
        try:
            re.compile(text) if is_regex else FilterExpression.parse(text)
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
