"""The second pair of eyes of the tests: `jsonschema` with the rules of OpenAPI, no code of the tool."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from ipaddress import IPv4Address, IPv6Address
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from jsonschema import Draft4Validator, Draft202012Validator, ValidationError, validators

from tests.apps.document import Document, Missing
from tests.apps.patterns import in_python

Errors = Iterator[ValidationError]

_INTEGERS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def _uri_reference(value: str) -> None:
    if re.search(r"[\s<>\"{}|\\^`]", value):
        raise ValueError(value)
    urlsplit(value)


def _uri(value: str) -> None:
    _uri_reference(value)
    if not urlsplit(value).scheme:
        raise ValueError(value)


def _date_time(value: str) -> None:
    if not re.search(r"[Tt ].*([Zz]|[+-][0-9]{2}:[0-9]{2})$", value):
        raise ValueError(value)
    datetime.fromisoformat(value.upper())


def _email(value: str) -> None:
    if not re.fullmatch(r"[^@\s]+@[^@\s]+", value):
        raise ValueError(value)


_TEXTS: dict[str, Callable[[str], object]] = {
    "date": date.fromisoformat,
    "date-time": _date_time,
    "uuid": UUID,
    "uri": _uri,
    "uri-reference": _uri_reference,
    "email": _email,
    "ipv4": IPv4Address,
    "ipv6": IPv6Address,
    "byte": lambda value: base64.b64decode(value, validate=True),
}


def _format(validator: Any, name: str, value: Any, schema: Any) -> Errors:
    bounds = _INTEGERS.get(name)
    if bounds and isinstance(value, int) and not bounds[0] <= value <= bounds[1]:
        yield ValidationError(f"{value} is no {name}")
    if isinstance(value, str) and name in _TEXTS:
        try:
            _TEXTS[name](value)
        except (ValueError, binascii.Error):
            yield ValidationError(f"{value!r} is no {name}")


class Witness:
    """Says whether a value is valid by a schema of a document, as part of a request or of a response."""

    def __init__(self, document: Document, *, is_response: bool = True) -> None:
        self._document = document
        self._is_response = is_response
        self._flag = "writeOnly" if is_response else "readOnly"
        standard: Any = Draft202012Validator if document.has_siblings else Draft4Validator
        self._type = standard.VALIDATORS["type"]
        self._properties = standard.VALIDATORS["properties"]
        self._exactly_one = standard.VALIDATORS["oneOf"]
        create: Any = validators.create
        self._class = create(
            meta_schema={},
            validators={
                **standard.VALIDATORS,
                "$ref": self._follow,
                "type": self._kind,
                "required": self._required,
                "properties": self._known,
                "format": _format,
                "pattern": self._pattern,
                "oneOf": self._one_of,
            },
            type_checker=standard.TYPE_CHECKER,
            id_of=lambda schema: None,
            applicable_validators=self._applicable,
        )

    def problem(self, schema: Any, value: Any) -> str | None:
        """What is wrong with a value, `None` when nothing is."""
        try:
            error = next(self._class(schema).iter_errors(value), None)
        except (Missing, RecursionError) as broken:
            return f"schema: {type(broken).__name__} {broken}"
        return None if error is None else error.message

    def is_hidden(self, schema: Any) -> bool:
        """Whether a property with this schema does not travel in this direction."""
        schema = self._document.resolved(schema)
        if not isinstance(schema, dict):
            return False
        return schema.get(self._flag) is True or any(
            self.is_hidden(part) for part in schema.get("allOf") or () if part is not schema
        )

    def _applicable(self, schema: Any) -> list[tuple[str, Any]]:
        if not isinstance(schema, dict):
            return []
        if "$ref" in schema and not self._document.has_siblings:
            return [("$ref", schema["$ref"])]
        return list(schema.items())

    def _follow(self, validator: Any, reference: str, value: Any, schema: Any) -> Errors:
        yield from validator.descend(value, self._document.target(reference))

    def _kind(self, validator: Any, kinds: Any, value: Any, schema: Any) -> Errors:
        # Swagger's own type of a download: anything goes.
        if kinds == "file" or (value is None and schema.get(self._document.nullable) is True):
            return
        yield from self._type(validator, kinds, value, schema)

    def _pattern(self, validator: Any, pattern: str, value: Any, schema: Any) -> Errors:
        if not self._is_response and re.search(r"\\[pP]\{", pattern):
            # Our reading of Unicode classes is too narrow for values of others.
            return
        try:
            is_match = not isinstance(value, str) or re.search(in_python(pattern), value, re.ASCII)
        except re.error:
            # Not written for Python: nobody here can tell.
            return
        if not is_match:
            yield ValidationError(f"{value!r} does not match {pattern!r}")

    def _one_of(self, validator: Any, parts: Any, value: Any, schema: Any) -> Errors:
        named = self._discriminated(schema, value)
        if named is None:
            yield from self._exactly_one(validator, parts, value, schema)
        else:
            yield from validator.descend(value, {"$ref": named})

    def _discriminated(self, schema: dict[str, Any], value: Any) -> str | None:
        """The alternative that a request names itself: others may fit as well, which nobody minds."""
        discriminator = schema.get("discriminator")
        if self._is_response or not isinstance(discriminator, dict) or not isinstance(value, dict):
            return None
        named = value.get(discriminator.get("propertyName"))
        found = (discriminator.get("mapping") or {}).get(named) if isinstance(named, str) else None
        return found if isinstance(found, str) and found.startswith("#") else None

    def _required(self, validator: Any, names: Any, value: Any, schema: Any) -> Errors:
        if not isinstance(value, dict) or not isinstance(names, list):
            return
        properties = schema.get("properties") or {}
        for name in names:
            if name not in value and not self.is_hidden(properties.get(name)):
                yield ValidationError(f"{name!r} is required")

    def _known(self, validator: Any, properties: Any, value: Any, schema: Any) -> Errors:
        if isinstance(value, dict):
            for name in properties.keys() & value.keys():
                if self.is_hidden(properties[name]):
                    yield ValidationError(f"{name!r} does not travel in this direction")
        yield from self._properties(validator, properties, value, schema)
