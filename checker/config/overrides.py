"""Values that replace generated ones: forced, or taken from a dictionary with some probability."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from checker.config.filters import FilterSpec, OperationFilters, Selectable
from checker.config.value_kinds import type_name
from checker.core.errors import ConfigError, did_you_mean
from checker.core.request import Location
from checker.core.schema import tokens_of
from checker.core.system import later_pattern

EACH: Final = "[*]"  # Stands in a body path for every element of an array.


class Override(Struct, frozen=True):
    """A user's values for one place of a request: a parameter, or a path into a body."""

    location: Location | None  # Location of the parameter; None: any location that has a parameter of this name.
    path: tuple[str, ...]  # Name of a parameter, or property names and `EACH` from the root of a body.
    entries: tuple[Any, ...]  # Values to choose from; a single one when it is forced.
    share: float | None = None
    """Probability that one of these values replaces the generated one; None: the value is forced, valid or not."""
    operations: OperationFilters | None = None  # Operations to which this applies; None: all operations.

    @property
    def is_forced(self) -> bool:
        return self.share is None

    def names(self, location: Location, name: str) -> bool:
        """Whether the override applies to this parameter. Header names are case-insensitive."""
        if self.location is not location and self.location is not None:
            return False
        if location is Location.HEADER:
            return self.path[0].lower() == name.lower()
        return self.path == (name,)


class TypeWords(Struct, frozen=True):
    """A user's values for all generated values of one type, at any place."""

    type: str  # `string`, `integer` or `number`.
    entries: tuple[Any, ...]
    share: float
    operations: OperationFilters | None = None  # Operations to which this applies; None: all operations.


class Overrides(Struct, frozen=True):
    """All overrides of a run, those with precedence first."""

    parameters: tuple[Override, ...] = ()
    types: tuple[TypeWords, ...] = ()

    def of(self, operation: Selectable) -> "Overrides":
        parameters = tuple(one for one in self.parameters if _is_about(one.operations, operation))
        # The first entry for a type counts.
        types: dict[str, TypeWords] = {}
        for words in self.types:
            if _is_about(words.operations, operation):
                types.setdefault(words.type, words)
        return Overrides(parameters, tuple(types.values()))

    def parameter(self, location: Location, name: str) -> Override | None:
        """Return the override of a parameter, or None. One with a location takes precedence over one without."""
        if not self.parameters:
            # This is called for every parameter of every operation, and few runs have overrides.
            return None
        found = [one for one in self.parameters if one.location is not Location.BODY and one.names(location, name)]
        scoped = [one for one in found if one.operations is not None] or found
        return next((one for one in scoped if one.location is not None), None) or next(iter(scoped), None)

    def is_forced(self, location: Location, name: str) -> bool:
        """Whether a value is forced for a parameter, or for a place of a body (a JSON pointer)."""
        if location is not Location.BODY:
            override = self.parameter(location, name)
            return override is not None and override.is_forced
        tokens = tokens_of(name)
        forced = (one.path for one in self.body() if one.is_forced)
        return any(tokens[: len(path)] == path or path[: len(tokens)] == tokens for path in forced)

    def body(self) -> Iterator[Override]:
        """Yield the overrides that apply to a body, one for each path."""
        seen = set()
        for one in self.parameters:
            if one.location is Location.BODY and one.path not in seen:
                seen.add(one.path)
                yield one


NO_OVERRIDES: Final = Overrides()


def _is_about(filters: OperationFilters | None, operation: Selectable) -> bool:
    return filters is None or filters.matches(operation)


TYPES: Final = ("string", "integer", "number")
_ARGUMENTS: Final = "arguments"  # Member of a body of GraphQL that holds the arguments of its field.
_ARGUMENT: Final = later_pattern(
    r"((?:[A-Za-z_]\w*|[*])[.](?:[A-Za-z_]\w*|[*]))[.]"
    r"([A-Za-z_]\w*(?:[.][A-Za-z_]\w*|\[[*]\])*)"
)
"""`<Type>.<field>.<argument>`; `*` stands for any name."""
_LOCATIONS: Final = {str(location): location for location in Location}
_INTEGER: Final = later_pattern(r"[+-]?[0-9]+\Z")
_NUMBER: Final = later_pattern(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_SEGMENT: Final = later_pattern(r"[^.\[\]]+|\[\*\]")
Tables = Mapping[str, Any]
Block = tuple[OperationFilters, Tables, Tables]
"""Filters of an `[[operations]]` block, its `parameters`, and its `generation.dictionaries`."""


def dictionary_rule(name: str, value: object) -> str | None:
    """Return what is wrong with one `[dictionaries.<name>]`; None if nothing is."""
    if not isinstance(value, Mapping):
        return f"Dictionary {name!r} must be a table, but got {type_name(value)}"
    strange = next((key for key in value if key not in ("values", "from-file")), None)
    if strange is not None:
        near = did_you_mean(strange, ("values", "from-file"))
        return f"Dictionary {name!r} has an unknown property {strange!r}{near}"
    if ("values" in value) == ("from-file" in value):
        return f"Dictionary {name!r} needs exactly one of `values` and `from-file`"
    if "from-file" in value:
        path = value["from-file"]
        is_text = isinstance(path, str) and path != ""
        return None if is_text else f"`from-file` of dictionary {name!r} must be a path"
    entries = value["values"]
    if not isinstance(entries, list | tuple) or not entries:
        return f"`values` of dictionary {name!r} must be an array with at least one entry"
    for index, entry in enumerate(entries):
        if isinstance(entry, bool) or not isinstance(entry, str | int | float):
            return f"Item #{index} of dictionary {name!r} must be a string, an integer or a number"
        if isinstance(entry, float) and not math.isfinite(entry):
            return f"Item #{index} of dictionary {name!r} must be a finite number, but got {entry}"
    return None


def type_rule(kind: str, value: object) -> str | None:
    """Return what is wrong with one entry of `generation.dictionaries`; None if nothing is."""
    if kind not in TYPES:
        return f"Unknown type {kind!r}{did_you_mean(kind, TYPES)}; use one of {', '.join(TYPES)}"
    if not isinstance(value, Mapping):
        return f"{kind!r} must be a table with `dictionary` and `probability`"
    if "probability" not in value:
        return f"{kind!r} has no `probability`"
    return _binding_problem(kind, value)


def parameter_rule(key: str, value: object) -> str | None:
    """Return what is wrong with one entry of `parameters`; None if nothing is."""
    try:
        _place_of(key)
    except ValueError as error:
        return str(error)
    if isinstance(value, Mapping) and "dictionary" in value:
        return _binding_problem(key, value)
    if isinstance(value, float) and not math.isfinite(value):
        return f"{key!r} must be a finite number, but got {value}"
    return None


def _binding_problem(key: str, value: Tables) -> str | None:
    strange = next((name for name in value if name not in ("dictionary", "probability")), None)
    if strange is not None:
        near = did_you_mean(strange, ("dictionary", "probability"))
        return f"{key!r} has an unknown property {strange!r}{near}"
    name = value.get("dictionary")
    if not isinstance(name, str):
        return f"`dictionary` of {key!r} must be the name of a dictionary, but got {name!r}"
    share = value.get("probability", 1.0)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        return f"`probability` of {key!r} must be above 0 and at most 1, but got {share!r}"
    return None


def overrides_of(
    read: Mapping[str, tuple[Any, ...]], by_type: Tables, parameters: Tables, blocks: tuple[Block, ...]
) -> Overrides:
    """Return the overrides of these tables; `read` has the entries of each dictionary. Raises `ConfigError`.

    The tables must be well-formed (the rules above).
    """
    found: list[Override] = []
    types: list[TypeWords] = []
    for filters, own_parameters, own_types in (*blocks, (None, parameters, by_type)):
        for key, value in own_parameters.items():
            found += _overrides_at(key, value, read, filters)
        for kind, binding in own_types.items():
            place = f"generation.dictionaries.{kind}"
            entries = _named(binding["dictionary"], place, read)
            fitting = tuple(dict.fromkeys(one for e in entries if (one := as_type(kind, e)) is not None))
            if not fitting:
                shown = ", ".join(map(repr, entries[:3])) or "nothing"
                raise ConfigError(
                    f"{place}: dictionary {binding['dictionary']!r} has no entries that are eligible for {kind!r}; "
                    f"it has {shown}"
                )
            types.append(TypeWords(kind, fitting, float(binding["probability"]), filters))
    return Overrides(tuple(found), tuple(types))


def _named(name: str, key: str, read: Mapping[str, tuple[Any, ...]]) -> tuple[Any, ...]:
    if name not in read:
        known = ", ".join(map(repr, read)) or "none"
        raise ConfigError(
            f"{key}: unknown dictionary {name!r}{did_you_mean(name, read)}; defined dictionaries: {known}"
        )
    return read[name]


def as_type(kind: str, entry: str | float) -> str | float | None:
    """Return an entry as a base-10 integer, a finite number or a text; None if it is not of that type."""
    text = str(entry)
    if kind == "string":
        return text
    if kind == "integer":
        return int(text) if _INTEGER.match(text) else None
    if not _NUMBER.match(text):
        return None
    if _INTEGER.match(text):
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None


def _overrides_at(
    key: str, value: Any, read: Mapping[str, tuple[Any, ...]], filters: OperationFilters | None
) -> Iterator[Override]:
    entries, share = (value,), None
    if isinstance(value, Mapping) and "dictionary" in value:
        entries = _named(value["dictionary"], f"parameters.{key}", read)
        share = float(value.get("probability", 1.0))
    location, path = _place_of(key)
    yield Override(location, path, entries, share, filters)
    argument = _ARGUMENT.fullmatch(key) if location is None else None
    if argument is not None:
        # Names of parameters may contain dots, too. The description shows which reading is meant.
        label = "".join("\\w+" if part == "*" else part for part in argument[1].partition("."))
        spec = FilterSpec("include", "name", f"^{label.replace('.', '[.]')}$", is_regex=True)
        of_label = OperationFilters((*(filters.specs if filters else ()), spec))
        inside = (_ARGUMENTS, *_body_path(key, argument[2]))
        yield Override(Location.BODY, inside, entries, share, of_label)


def _place_of(key: str) -> tuple[Location | None, tuple[str, ...]]:
    """Return location and path of a key. Raises `ValueError` with a sentence."""
    prefix, dot, rest = key.partition(".")
    location = _LOCATIONS.get(prefix) if dot else None
    if location is Location.BODY:
        return location, _body_path(key, rest)
    if location is not None:
        if not rest:
            raise ValueError(f"{key!r} must name a parameter after {prefix!r}")
        return location, (rest,)
    if not key:
        raise ValueError("The name of a parameter must not be empty")
    return None, (key,)


def _body_path(key: str, text: str) -> tuple[str, ...]:
    path = tuple(_SEGMENT.findall(text))
    # The joined parts must equal the text, so that misplaced dots and brackets are refused.
    spelled = "".join(part if part == EACH else f".{part}" for part in path).removeprefix(".")
    if not path or spelled != text:
        raise ValueError(
            f"{key!r} is no path that is supported: use names with dots between them, and `[*]` for every element"
        )
    return path
