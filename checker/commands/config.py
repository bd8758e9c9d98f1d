"""`checker config`: the JSON Schema of `checker.toml`, and the effective values of its keys."""

import json
from collections.abc import Collection, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import click

from checker.commands.command import Command, CommandGroup, echo, echo_line
from checker.commands.options import filter_help
from checker.commands.values import apply_keys, configured
from checker.commands.values import location as location_of
from checker.config import auth
from checker.config.config import Config
from checker.config.filters import Selectable
from checker.config.operation_settings import keys_of, value_in, with_first_headers
from checker.config.reading import FILTER_KEYS
from checker.config.resolve import fetch_limits, sanitization_of
from checker.config.settings import Sanitization
from checker.config.table import (
    NOT_IN_PROJECTS,
    OPERATION_KEYS,
    SECTIONS,
    UPLOAD,
    Key,
    is_of_checks,
    not_in_operations,
    subsections,
)
from checker.config.table import Path as SectionPath
from checker.config.value_kinds import Boolean, Bytes, Choice, Either, Integer, ListOf, MapOf, Number, ValueKind
from checker.core.errors import UsageError, did_you_mean
from checker.core.operation import BrokenOperation
from checker.core.redact import Redaction
from checker.kinds.sources import FetchOptions, FileSource, UrlSource
from checker.kinds.table import open_description

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


_TITLE: Final = {
    "description": "Title of the API in its description.",
    "type": "string",
    "minLength": 1,
    "examples": ["Shop"],
}
_BLOCK_IS_TESTED: Final = Key(Boolean(), True, about="Whether these operations are tested.")
_EXAMPLES: Final = {
    "path": "/users",
    "method": "GET",
    "name": "GET /users",
    "tag": "users",
    "operation-id": "listUsers",
    "by": "/deprecated == true",
}
"""Subject of a filter -> a value."""


def json_schema() -> Schema:
    """Return the JSON Schema of the whole file."""
    whole = _section((), ())
    others = {(name,) for name in SECTIONS[()] if name not in OPERATION_KEYS}
    block = _section((), frozenset(others) | not_in_operations())
    block["properties"] |= {"enabled": _key(_BLOCK_IS_TESTED)} | {name: _filter(name) for name in FILTER_KEYS}
    block["anyOf"] = [{"required": [name]} for name in FILTER_KEYS]
    about = "Settings of some operations. If several blocks set a key for an operation, the first one counts."
    blocks = {"description": about, "type": "array", "items": {"$ref": "#/$defs/operations"}}
    project = _section((), NOT_IN_PROJECTS)
    project["properties"] |= {"title": _TITLE, "operations": blocks}
    project["required"] = ["title"]
    projects = {"description": "Settings of one API.", "type": "array", "items": {"$ref": "#/$defs/project"}}
    whole["properties"] |= {"operations": blocks, "project": projects}
    head = {"$schema": DIALECT, "title": "checker.toml"}
    return head | whole | {"$defs": {"operations": block, "project": project}}


def schema_text() -> str:
    """Return the JSON Schema of the file as text."""
    return json.dumps(json_schema(), indent=2) + "\n"


def _filter(name: str) -> Schema:
    _, subject, is_regex = FILTER_KEYS[name]
    example = f"^{_EXAMPLES[subject]}" if is_regex else _EXAMPLES[subject]
    values = [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
    return {"description": filter_help(name), "anyOf": values, "examples": [example]}


def _section(path: SectionPath, banned: Collection[SectionPath]) -> Schema:
    found: Schema = {name: _key(key) for name, key in SECTIONS.get(path, {}).items() if (*path, name) not in banned}
    for name in subsections(path):
        if (*path, name) not in banned:
            found[name] = _section((*path, name), banned)
    schema: Schema = {"type": "object", "properties": found, "additionalProperties": False}
    if is_of_checks(path):
        # Users' checks.
        schema["additionalProperties"] = {"type": "object"}
    return schema


def _key(key: Key) -> Schema:
    schema = {"description": key.about, **_kind(key.kind), "examples": [key.shown]}
    return schema if key.default is None else {**schema, "default": key.default}


def _kind(kind: ValueKind) -> Schema:
    match kind:
        case Boolean():
            return {"type": "boolean"}
        case Integer():
            return {"type": "integer"} | _present(minimum=kind.minimum, maximum=kind.maximum)
        case Bytes():
            return {"type": ["integer", "string"]}
        case Number():
            bounds = _present(
                exclusiveMinimum=kind.above, minimum=kind.minimum, maximum=kind.maximum, exclusiveMaximum=kind.below
            )
            return {"type": "number"} | bounds
        case Choice():
            return {"enum": list(kind.values)}
        case ListOf():
            return {"type": "array", "items": _kind(kind.item), "uniqueItems": True}
        case MapOf():
            return {"type": "object"}
        case Either():
            return {"anyOf": [_kind(one) for one in kind.kinds]}
        case _:
            return {"type": "string"}


def _present(**given: float | None) -> Schema:
    return {name: value for name, value in given.items() if value is not None}


_DEFAULT: Final = "default"


def effective_keys(
    config: Config, redaction: Redaction | None = None, operation: Selectable | None = None
) -> Iterator[tuple[str, Any, str]]:
    """Yield (name, value, source) of every key of the table in its order, for one operation or for the run, then of users' checks.

    The name includes its sections: `generation.max-examples`. The source is `default`, `command line`, a file, or a table of it.
    Secrets in values are masked.
    """
    redaction = redaction or Sanitization().redaction
    layers = config.sources
    if operation is not None:
        # Sections of phases override blocks; they have keys of their own in the output.
        mine = [one for one in enumerate(config.operations) if one[1].filters.matches(operation)]
        values = with_first_headers([block.values for _, block in mine])
        places = (f"{config.config_path} [[operations]] {number}" for number, _ in mine)
        layers[1:1] = zip(values, places, strict=True)
    own = {path for layer, _ in layers for path in layer if path not in SECTIONS}
    for path in (*SECTIONS, *sorted(own)):
        for key in keys_of(path):
            named = (name for layer, name in layers if key in layer.get(path, {}))
            value = value_in([layer for layer, _ in layers], path, key)
            masked = _masked(value, redaction, is_secret=(*path, key) in _SECRETS)
            yield ".".join((*path, key)), masked, next(named, _DEFAULT)


_SECRETS: Final = frozenset([(*auth.BASIC, "password"), auth.OPENAPI, auth.DYNAMIC, auth.OAUTH2, (*UPLOAD, "token")])
"""Keys whose values are secret, whatever names they contain."""


def _masked(value: Any, redaction: Redaction, *, is_secret: bool) -> Any:
    if isinstance(value, dict):
        return {
            name: _masked(one, redaction, is_secret=is_secret or redaction.is_sensitive(str(name)))
            for name, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [_masked(one, redaction, is_secret=is_secret) for one in value]
    if isinstance(value, str):
        return redaction.replacement if is_secret and value else redaction.url(value)
    return value


@click.group(cls=CommandGroup)
def config() -> None:
    """Inspect the configuration."""


@config.command(cls=Command)
def schema() -> None:
    """Print the JSON Schema of checker.toml, for editors."""
    echo(schema_text().rstrip())


@config.command(cls=Command)
@click.argument("location", required=False, callback=lambda *given: given[2] and location_of(*given))
@click.option("--set", "keys", multiple=True, metavar="NAME=VALUE", help="Any key.")
@click.option("--changed", is_flag=True, help="Show only configured keys.")
@click.option("--operation", "label", metavar="NAME", help="Show the values for this operation of LOCATION.")
@click.pass_context
def show(ctx: click.Context, location: str | None, keys: tuple[str, ...], label: str | None, *, changed: bool) -> None:
    """Print the value of every key and its source. For the API at LOCATION, its `[[project]]` table counts."""
    found = configured(ctx)
    apply_keys(found, keys)
    operation = None
    if location is not None:
        source = UrlSource(location) if bool(urlsplit(location).netloc) else FileSource(location)
        http = found.operation_layers().common.http
        options = FetchOptions.of(http, fetch_limits(found), sanitization_of(found).redaction)
        opened = open_description(source, options)
        found = found.for_project(opened.title)
        if label is not None:
            known = opened.find(label)
            if isinstance(known, BrokenOperation):
                raise UsageError(f"{label} cannot be read: {known.error}")
            if known is None:
                hint = did_you_mean(label, [str(one.label) for one in opened.entries()])
                raise UsageError(f"no operation is called {label!r}{hint}")
            operation = known
    elif label is not None:
        raise UsageError("--operation needs LOCATION: filters depend on the description")
    for name, value, origin in effective_keys(found, sanitization_of(found).redaction, operation):
        if not changed or origin != _DEFAULT:
            text = "(not set)" if value is None else json.dumps(value, ensure_ascii=False)
            echo_line(f"{name} = {text}  # {origin}")
    for number, block in enumerate(found.operations):
        if operation is not None and not block.filters.matches(operation):
            continue
        listed = ", ".join(".".join((*path, key)) for path, of in block.values.items() for key in of)
        echo_line(f"[[operations]] {number}: {listed}  # {found.config_path}")
