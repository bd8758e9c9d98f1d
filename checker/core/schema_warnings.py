"""Mistakes in an API description that do not stop it from being tested."""

from enum import StrEnum

from msgspec import Struct


class WarningKind(StrEnum):
    """The kind of a mistake."""

    UNRESOLVABLE_REFERENCE = "unresolvable_reference"
    UNUSABLE_PARAMETER = "unusable_parameter"
    UNUSABLE_BODY = "unusable_body"
    MISSING_BODY = "missing_body"
    SEVERAL_BODIES = "several_bodies"
    LEFT_OUT = "left_out"
    DICTIONARY_MISMATCH = "dictionary_mismatch"
    UNKNOWN_METHOD = "unknown_method"
    UNUSABLE_MEDIA_TYPE = "unusable_media_type"
    UNVALIDATED_RESPONSE = "unvalidated_response"
    MISSING_DESERIALIZER = "missing_deserializer"
    MALFORMED_PART = "malformed_part"
    MALFORMED_KEYWORD = "malformed_keyword"
    UNSUPPORTED_REGEX = "unsupported_regex"
    INVALID_EXAMPLE = "invalid_example"
    BROKEN_LINK = "broken_link"
    OTHER_SERVER = "other_server"
    UNDECLARED_SECURITY = "undeclared_security"
    SUBSCRIPTION = "subscription"
    FEDERATION = "federation"
    LOOSE_SCHEMA = "loose_schema"
    UNKNOWN_SCALAR = "unknown_scalar"
    UNUSED_OPENAPI_AUTH = "unused_openapi_auth"


class SchemaWarning(Struct, frozen=True):
    """One fault of a description, and what it costs."""

    kind: WarningKind
    label: str
    """Of the operation that it costs something."""
    pointer: str
    """Where in the description."""
    message: str
    """One sentence: what was found, where, what follows from it."""
