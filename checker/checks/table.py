"""The checks, in the order in which they run. All that the configuration, the command line and the judge know of one stands here."""

from collections.abc import Mapping

from checker.checks import positive_data, server_error
from checker.checks.check import Applies, Check, Fact, Setting, Shape, expected_statuses
from checker.checks.content_type import (
    MalformedMediaType,
    MissingContentType,
    UndefinedContentType,
    content_type_conformance,
    has_documented_media_type,
)
from checker.checks.positive_data import RejectedPositiveData, positive_data_acceptance
from checker.checks.response_headers import (
    HeaderSchemaError,
    MissingHeaders,
    promises_no_headers,
    response_headers_conformance,
)
from checker.checks.response_schema import (
    ContentDecodingError,
    ContentDeserializationError,
    JsonSchemaError,
    MalformedJson,
    has_valid_body,
    promises_no_body,
    response_schema_conformance,
)
from checker.checks.response_time import ResponseTimeExceeded, is_in_time, max_response_time
from checker.checks.server_error import ServerError, is_no_server_error, not_a_server_error
from checker.checks.status_code import UndefinedStatusCode, status_code_conformance
from checker.core.failures import Failure
from checker.core.meta import GenerationMode

_POSITIVE = Applies(modes=frozenset((GenerationMode.POSITIVE,)))

TABLE = (
    Check(
        "not_a_server_error",
        not_a_server_error,
        frozenset((Fact.STATUS,)),
        failures=(ServerError,),
        settings=(expected_statuses(*server_error.EXPECTED),),
        passes=is_no_server_error,
    ),
    Check(
        "status_code_conformance",
        status_code_conformance,
        frozenset((Fact.STATUS,)),
        failures=(UndefinedStatusCode,),
    ),
    Check(
        "content_type_conformance",
        content_type_conformance,
        frozenset((Fact.STATUS, Fact.MEDIA_TYPE, Fact.BODY)),
        failures=(MissingContentType, UndefinedContentType, MalformedMediaType),
        passes=has_documented_media_type,
    ),
    Check(
        "response_headers_conformance",
        response_headers_conformance,
        frozenset((Fact.STATUS, Fact.HEADERS)),
        failures=(MissingHeaders, HeaderSchemaError),
        passes=promises_no_headers,
    ),
    Check(
        "response_schema_conformance",
        response_schema_conformance,
        frozenset((Fact.STATUS, Fact.MEDIA_TYPE, Fact.BODY)),
        failures=(
            JsonSchemaError,
            MalformedJson,
            ContentDeserializationError,
            ContentDecodingError,
        ),
        settings=(Setting("validate-formats", Shape.FLAG, True),),
        passes=promises_no_body,
        quick_look=has_valid_body,
    ),
    Check(
        "negative_data_rejection",
        settings=(
            expected_statuses(
                "400", "401", "403", "404", "405", "406", "409", "415", "422", "428", "429", "5XX"
            ),
        ),
    ),
    Check(
        "positive_data_acceptance",
        positive_data_acceptance,
        frozenset((Fact.STATUS, Fact.MODE, Fact.REQUEST)),
        failures=(RejectedPositiveData,),
        settings=(expected_statuses(*positive_data.EXPECTED),),
        applies=_POSITIVE,
        passes=positive_data.accepts,
    ),
    Check(
        "missing_required_header",
        settings=(expected_statuses("400", "401", "403", "406", "415", "422"),),
    ),
    Check("unsupported_method"),
    Check("allow_header_conformance"),
    Check("use_after_free"),
    Check("ensure_resource_availability"),
    Check("ignored_auth"),
    Check(
        "max_response_time",
        max_response_time,
        frozenset((Fact.TIME,)),
        failures=(ResponseTimeExceeded,),
        switch=Setting("max_response_time", Shape.SECONDS),
        help="Seconds that a response may take.",
        quick_look=is_in_time,
    ),
)

BUILT_IN: Mapping[str, Check] = {check.name: check for check in TABLE}
"""All checks by name, those that are not built yet included."""

AVAILABLE: Mapping[str, Check] = {check.name: check for check in TABLE if check.run is not None}
"""Checks by name that judge something today."""

FAILURES: Mapping[str, type[Failure]] = {
    kind.__name__: kind for check in TABLE for kind in check.failures
}
"""Kinds of failures by class name."""
