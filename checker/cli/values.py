"""Texts of the command line as values."""

import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import click

from checker.config import rules
from checker.config.kinds import Boolean, Choice, Either, Integer, ListOf, Number, ValueKind
from checker.config.table import SECTIONS, Path
from checker.core.redact import Redaction
from checker.core.request import canonical_url

_TRUE = frozenset(("y", "yes", "t", "true", "on", "1"))
_FALSE = frozenset(("n", "no", "f", "false", "off", "0"))


class KeyValue(click.ParamType[Any]):
    """The value of a configuration key, by the rules of the table."""

    def __init__(self, path: Path, key: str) -> None:
        self._key = SECTIONS[path][key]
        self.name = _metavar(self._key.kind).lower()

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """What stands for the value on help pages: choices as they are written, kinds in upper case."""
        return _metavar(self._key.kind)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Value of this text, or a usage error."""
        if not isinstance(value, str):
            return value
        parsed = parsed_text(value, self._key.kind)
        problem = self._key.kind.problem(parsed, "it")
        if problem:
            said = problem.text.partition(" -> ")[2] or problem.text
            said = said.replace("but got string: ", "but got ")
            self.fail(_sentences(said, problem.hint), param, ctx)
        return parsed


def parsed_text(text: str, kind: ValueKind) -> Any:
    """The value that a text means where this kind is expected, choices in any case; the text itself when it means none."""
    match kind:
        case Boolean():
            return _boolean(text)
        case Integer():
            return _number(text, int)
        case Number():
            return _number(text, float)
        case ListOf():
            return [parsed_text(one, kind.item) for one in comma_list([text])]
        case Choice():
            return text.lower() if text.lower() in kind.values else text
        case Either():
            found = [parsed_text(text, one) for one in kind.kinds]
            return next((value for value in found if value != text), text)
        case _:
            return text


def comma_list(values: Iterable[str]) -> list[str]:
    """Items of repeated comma lists, in order, each once."""
    items = (item.strip() for value in values for item in value.split(","))
    return list(dict.fromkeys(item for item in items if item))


def headers(_: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Callback of `-H`: headers by name; a repeated name keeps its last value."""
    found: dict[str, str] = {}
    for text in values:
        name, separator, value = text.partition(":")
        if not separator:
            # Not shown: what was meant for a value may be all there is.
            raise click.BadParameter("a header is not in the KEY:VALUE form", param=param)
        name, value = name.strip(), value.strip(" \t")
        problem = rules.header(name, value)
        if problem:
            raise click.BadParameter(problem, param=param)
        found[name] = value
    return found


def credentials(_: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Callback of `--auth`: `USER:PASSWORD`."""
    if value is None:
        return None
    user, separator, _password = value.partition(":")
    if not separator:
        raise click.BadParameter("it is not in the USER:PASSWORD form", param=param)
    if not user:
        raise click.BadParameter("the user name is empty", param=param)
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        raise click.BadParameter("it must hold Latin-1 characters only", param=param) from None
    return value


def application(_: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Callback of `--app`: `module:variable`."""
    if value is not None and (problem := rules.attribute(value)):
        raise click.BadParameter(
            problem.replace("module:attribute", "module:variable"), param=param
        )
    return value


def location(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Callback of LOCATION: an http(s) URL, also behind a unix socket, or a file that exists."""
    if not value or "\0" in value:
        raise click.BadParameter("give a URL or the path of an API description", param=param)
    shown = Redaction().url(value)
    try:
        canonical = canonical_url(value)
        parts = urlsplit(canonical)
    except ValueError as error:
        raise click.BadParameter(f"{shown!r} is not a URL: {error}", param=param) from error
    if parts.netloc:
        if parts.scheme not in ("http", "https"):
            raise click.BadParameter(f"{shown!r} is not an http(s) URL", param=param)
        problem = rules.base_url(value)
        if problem:
            raise click.BadParameter(problem, param=param)
    elif not os.path.exists(value) and not ctx.params.get("app"):
        raise click.BadParameter(f"file {shown!r} does not exist", param=param)
    return canonical


def _sentences(said: str, hint: str) -> str:
    if not hint:
        return said
    return f"{said} {hint}" if said.endswith("?") else f"{said}. {hint}"


def _boolean(text: str) -> bool | str:
    lowered = text.lower()
    if lowered in _TRUE:
        return True
    return False if lowered in _FALSE else text


def _number(text: str, kind: type[int] | type[float]) -> float | str:
    try:
        return kind(text)
    except ValueError:
        return text


def _metavar(kind: ValueKind) -> str:
    match kind:
        case Boolean():
            return "BOOLEAN"
        case Integer():
            return "INTEGER"
        case Number():
            return "NUMBER"
        case Choice():
            return "|".join(kind.values)
        case ListOf():
            return "LIST"
        case Either():
            return "|".join(_metavar(one) for one in kind.kinds)
        case _:
            return "TEXT"
