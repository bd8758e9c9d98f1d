"""Scenarios of the coverage phase: the phase and the checks that judge its cases use the same words."""

from enum import StrEnum
from typing import Final


class Scenario(StrEnum):
    """The purpose of a value (`case.meta.phase.data["scenario"]`)."""

    EXAMPLE = "example_value"
    DEFAULT = "default_value"
    ENUM = "enum_value"
    CONST = "const_value"
    STRING = "valid_string"
    SIGNS = "string_of_signs"
    UNUSUAL = "unusual_value"
    NUMBER = "valid_number"
    BOOLEAN = "valid_boolean"
    ARRAY = "valid_array"
    OBJECT = "valid_object"
    NULL = "null_value"
    BINARY = "valid_binary"
    SHORTEST = "minimum_length_string"
    LONGEST = "maximum_length_string"
    NEAR_LENGTH = "near_boundary_length_string"
    MINIMUM = "minimum_value"
    MAXIMUM = "maximum_value"
    NEAR_NUMBER = "near_boundary_number"
    MOST_ITEMS = "maximum_items_array"
    NEAR_ITEMS = "near_boundary_items_array"
    ONLY_REQUIRED = "object_only_required"
    SOME_OPTIONAL = "object_required_and_optional"
    ADDITIONAL = "object_additional_property"
    DEFAULT_CASE = "default_positive_test"
    SMALLEST = "smallest_request"
    TOO_LARGE = "value_above_maximum"
    TOO_SMALL = "value_below_minimum"
    TOO_LONG = "string_above_max_length"
    TOO_SHORT = "string_below_min_length"
    TOO_MANY_ITEMS = "array_above_max_items"
    TOO_FEW_ITEMS = "array_below_min_items"
    TOO_MANY_PROPERTIES = "object_above_max_properties"
    TOO_FEW_PROPERTIES = "object_below_min_properties"
    UNEXPECTED_PROPERTIES = "object_unexpected_properties"
    MISSING_PROPERTY = "object_missing_required_property"
    MISSING_DEPENDENT = "object_missing_dependent_property"
    WRONG_TYPE = "incorrect_type"
    NOT_LISTED = "invalid_enum_value"
    WRONG_FORMAT = "invalid_format"
    WRONG_PATTERN = "invalid_pattern"
    NO_MULTIPLE = "not_multiple_of"
    REPEATED_ITEMS = "non_unique_items"
    NOT_CONTAINED = "array_without_contained_item"
    FORBIDDEN = "forbidden_value"
    NO_ALTERNATIVE = "no_alternative"
    MISSING_PARAMETER = "missing_parameter"
    RELATED_TEXTS = "related_texts"
    OTHER_CREDENTIALS = "other_credentials"
    DUPLICATE_PARAMETER = "duplicate_parameter"
    EMPTY_LIST = "empty_list_of_query"
    UNSPECIFIED_METHOD = "unspecified_http_method"
    GIVEN_METHOD = "given_http_method"
    MALFORMED_CONTENT_TYPE = "malformed_content_type"
    UNSUPPORTED_CONTENT_TYPE = "unsupported_content_type"
    BATCH = "batched_requests"
    QUERY_BY_GET = "query_by_get"
    MANY_ALIASES = "many_aliases"
    DEEP_NESTING = "deep_nesting"


OPTIONAL_SETS: Final = frozenset((Scenario.ONLY_REQUIRED, Scenario.SOME_OPTIONAL))
"""Scenarios that test which optional properties are present."""
REQUEST_SHAPES: Final = frozenset(
    (
        Scenario.UNSPECIFIED_METHOD,
        # The user has set the method, so the response is not one of the operation, and its contract does not apply.
        Scenario.GIVEN_METHOD,
        # Servers may read this as no list, an empty list or one empty item.
        Scenario.EMPTY_LIST,
        Scenario.MALFORMED_CONTENT_TYPE,
        Scenario.UNSUPPORTED_CONTENT_TYPE,
        Scenario.BATCH,
        Scenario.QUERY_BY_GET,
        Scenario.MANY_ALIASES,
        Scenario.DEEP_NESTING,
    )
)
"""Scenarios with a method or body that does not belong to the operation, so that its contract does not apply."""


def standing(listed: str | None, *, is_other_method: bool) -> str | None:
    """Return the scenario of a case that was listed for the scenario `listed`; users may have changed its method since then."""
    is_given = is_other_method and listed not in REQUEST_SHAPES
    return Scenario.GIVEN_METHOD if is_given else listed
