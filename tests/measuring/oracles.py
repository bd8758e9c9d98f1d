"""Two oracles that share no code with the generator, and how often each agrees with the labels of the suite.

The first is jsonschema-rs, with its own strict formats; plain schemas are given to it as they stand. The second is the
referee: jsonschema with decimal-exact `multipleOf`, translated ECMA-262 patterns and asserted formats.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs

from checker.core.schema import Dialect, Direction, UnresolvableReference
from checker.validation.compiled import Translator
from checker.validation.formats import ASSERTED_FORMATS
from checker.validation.referee import referee
from tests.measuring.corpora import Sample
from tests.measuring.documents import JsonDocument

IsValid = Callable[[Any], bool]
_VALIDATORS: Final[dict[Dialect, Any]] = {
    Dialect.DRAFT4: jsonschema_rs.Draft4Validator,
    Dialect.DRAFT6: jsonschema_rs.Draft6Validator,
    Dialect.DRAFT7: jsonschema_rs.Draft7Validator,
    Dialect.DRAFT2019: jsonschema_rs.Draft201909Validator,
    Dialect.DRAFT2020: jsonschema_rs.Draft202012Validator,
    Dialect.OPENAPI20: jsonschema_rs.Draft7Validator,
    Dialect.OPENAPI30: jsonschema_rs.Draft7Validator,
    Dialect.OPENAPI31: jsonschema_rs.Draft202012Validator,
}
_KNOWN_TO_THE_ENGINE = frozenset(
    (
        "date", "time", "date-time", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uri", "uri-reference",
        "iri", "iri-reference", "uri-template", "json-pointer", "relative-json-pointer", "regex",
    )
)  # fmt: skip
_FORMATS: Final = {name: accepts for name, accepts in ASSERTED_FORMATS.items() if name not in _KNOWN_TO_THE_ENGINE}


class NoOpinion(Exception):
    """An oracle cannot read the schema: the message says why."""


@dataclass(frozen=True, slots=True)
class Oracles:
    """What two validators say."""

    first: IsValid
    second: IsValid

    def verdicts(self, value: Any) -> tuple[bool, bool]:
        """Valid by the first, valid by the second."""
        return self.first(value), self.second(value)


def oracles_of(sample: Sample, *, formats: bool = True) -> Oracles:
    """Both oracles of a schema. Raises `NoOpinion`."""
    return Oracles(_first(sample, formats=formats), _second(sample, formats=formats))


def _first(sample: Sample, *, formats: bool) -> IsValid:
    schema = sample.schema
    validator = _VALIDATORS[schema.dialect]
    options: dict[str, Any] = {"validate_formats": formats, "formats": _FORMATS}
    document = schema.document
    try:
        if not isinstance(document, JsonDocument):
            translator = Translator(document, schema.dialect, Direction.REQUEST, validate_formats=formats)
            return _judging(validator(translator.bundle(schema), **options).is_valid)
        others = document.others
        return _judging(validator(schema.raw, retriever=others.__getitem__, **options).is_valid)
    except (ValueError, jsonschema_rs.ReferencingError, UnresolvableReference, RecursionError) as error:
        raise NoOpinion(f"jsonschema-rs: {str(error).splitlines()[0]}") from error


def _second(sample: Sample, *, formats: bool) -> IsValid:
    second = referee(sample.schema, Direction.REQUEST, validate_formats=formats)
    return lambda value: not second.errors(as_json(value))


def _judging(is_valid: IsValid) -> IsValid:
    def judged(value: Any) -> bool:
        try:
            return is_valid(value)
        except ValueError:
            return is_valid(as_json(value))

    return judged


def as_json(value: Any) -> Any:
    """A value as JSON can hold it: bytes as text, and without what is no Unicode."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {as_json(name): as_json(item) for name, item in value.items()}
    return value
