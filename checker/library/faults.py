"""Convert the faults of an API description to exceptions. The class of an exception tells the kind of the fault."""

from collections.abc import Iterator, Mapping
from typing import Final

from checker.core.errors import (
    InvalidHeadersExample,
    InvalidRegexPattern,
    InvalidRegexType,
    InvalidSchema,
    InvalidTransition,
    SchemaLocation,
    UnknownScalar,
)
from checker.core.operation import BrokenOperation
from checker.core.request import Location
from checker.core.schema import SchemaWarning, WarningKind
from checker.kinds.protocol import ApiOperation

_KINDS: Final[Mapping[WarningKind, type[InvalidSchema]]] = {
    WarningKind.UNSUPPORTED_REGEX: InvalidRegexPattern,
    WarningKind.BROKEN_LINK: InvalidTransition,
    WarningKind.UNKNOWN_SCALAR: UnknownScalar,
}


def unread(broken: BrokenOperation) -> InvalidSchema:
    """Return the error of an operation that cannot be read."""
    return InvalidSchema(f"{broken.label}: {broken.error}", location=SchemaLocation(broken.label, ""))


def dropped(warning: SchemaWarning) -> InvalidSchema:
    """Return the error of a part of the schema that is ignored."""
    return _error(InvalidSchema, warning)


def faults_of(operation: ApiOperation) -> Iterator[InvalidSchema]:
    """Yield the errors of an operation that can be tested in spite of them."""
    of_headers = {
        example.pointer
        for parameter in operation.parameters
        if parameter.location is Location.HEADER
        for example in parameter.examples
    }
    for warning in operation.warnings():
        if warning.kind is WarningKind.INVALID_EXAMPLE and warning.pointer in of_headers:
            kind: type[InvalidSchema] = InvalidHeadersExample
        elif warning.kind is WarningKind.MALFORMED_KEYWORD and warning.pointer.endswith("/pattern"):
            kind = InvalidRegexType
        else:
            kind = _KINDS.get(warning.kind, InvalidSchema)
        yield _error(kind, warning)


def _error(kind: type[InvalidSchema], warning: SchemaWarning) -> InvalidSchema:
    return kind(f"{warning.pointer}: {warning.message}", location=SchemaLocation(warning.label, warning.pointer))
