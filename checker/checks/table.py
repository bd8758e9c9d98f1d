"""The checks, in the order in which they run. Configuration, command line and judge read everything about a check from its row."""

from collections.abc import Mapping

from msgspec.structs import replace

import checker.checks.missing_header as missing_header
import checker.checks.negative_data as negative_data
import checker.checks.positive_data as positive_data
import checker.checks.server_error as server_error
from checker.checks.authentication import (
    IgnoredAuth,
    asks_for_credentials,
    ignored_auth,
    is_accepted,
    is_asked_first,
    may_be_ignored,
    sent_beforehand,
    served_without,
)
from checker.checks.check import Applies, Check, CheckSetting, Fact, PriorRequest, SettingShape, expected_statuses
from checker.checks.collections import (
    ExceededLimit,
    IgnoredFilter,
    OverlappingPages,
    UnsortedItems,
    collection_conformance,
    has_query,
    takes_queries,
)
from checker.checks.deletion import UseAfterFree, is_read, use_after_free
from checker.checks.disclosure import DisclosedInternals, error_disclosure, shows_nothing
from checker.checks.location import DanglingLocation, creates, has_location, location_conformance
from checker.checks.methods import (
    AllowHeaderMismatch,
    UnsupportedMethodResponse,
    allow_header_conformance,
    may_be_options,
    unsupported_method,
)
from checker.checks.missing_header import MissingHeaderNotRejected, missing_required_header
from checker.checks.negative_data import AcceptedNegativeData, negative_data_rejection
from checker.checks.object_authorization import ObjectLevelAuthorizationViolation, has_peers, object_level_authorization
from checker.checks.positive_data import RejectedPositiveData, positive_data_acceptance
from checker.checks.resource_availability import (
    EnsureResourceAvailability,
    ensure_resource_availability,
    is_there,
    names_member,
)
from checker.checks.resources import is_bound, reads_member
from checker.checks.response_head import (
    HeaderSchemaError,
    MalformedMediaType,
    MissingContentType,
    MissingHeaders,
    ResponseTimeExceeded,
    UndefinedContentType,
    UndefinedStatusCode,
    content_type_conformance,
    has_documented_media_type,
    is_documented,
    is_in_time,
    max_response_time,
    promises_no_headers,
    response_headers_conformance,
    status_code_conformance,
)
from checker.checks.response_schema import (
    BrokenNonNull,
    ContentDecodingError,
    ContentDeserializationError,
    JsonSchemaError,
    MalformedJson,
    has_valid_body,
    promises_no_body,
    response_schema_conformance,
)
from checker.checks.server_error import (
    DroppedConnection,
    ReportedServerError,
    ServerError,
    UnansweredRequest,
    has_no_complaint,
    is_no_server_error,
    missing_response,
    not_a_server_error,
)
from checker.checks.writes import LostWrite, RefusedWriteStored, read_your_writes, refused_write, updates_one
from checker.core.failures import Failure
from checker.core.meta import GenerationMode
from checker.core.scenarios import REQUEST_SHAPES, Scenario

_OF_OPERATION = Applies(but_scenarios=REQUEST_SHAPES)
"""Requests that reach their operation."""
_POSITIVE = replace(_OF_OPERATION, modes=frozenset((GenerationMode.POSITIVE,)))
_NEGATIVE = replace(_OF_OPERATION, modes=frozenset((GenerationMode.NEGATIVE,)))

TABLE = (
    Check(
        "not_a_server_error",
        not_a_server_error,
        frozenset((Fact.STATUS, Fact.BODY)),
        failures=(ServerError, ReportedServerError, DroppedConnection, UnansweredRequest),
        settings=(expected_statuses(*server_error.EXPECTED),),
        passes=is_no_server_error,
        quick_look=has_no_complaint,
        no_response=missing_response,
    ),
    Check(
        "status_code_conformance",
        status_code_conformance,
        frozenset((Fact.STATUS,)),
        failures=(UndefinedStatusCode,),
        settings=(expected_statuses(),),
        passes=is_documented,
        applies=_OF_OPERATION,
    ),
    Check(
        "content_type_conformance",
        content_type_conformance,
        frozenset((Fact.STATUS, Fact.MEDIA_TYPE, Fact.BODY)),
        failures=(MissingContentType, UndefinedContentType, MalformedMediaType),
        passes=has_documented_media_type,
        applies=_OF_OPERATION,
    ),
    Check(
        "response_headers_conformance",
        response_headers_conformance,
        frozenset((Fact.STATUS, Fact.HEADERS)),
        failures=(MissingHeaders, HeaderSchemaError),
        passes=promises_no_headers,
        applies=_OF_OPERATION,
    ),
    Check(
        "response_schema_conformance",
        response_schema_conformance,
        frozenset((Fact.STATUS, Fact.MEDIA_TYPE, Fact.BODY)),
        failures=(JsonSchemaError, MalformedJson, ContentDeserializationError, ContentDecodingError, BrokenNonNull),
        settings=(
            CheckSetting(
                "validate-formats", SettingShape.FLAG, True, "Whether values must have the format of their schema."
            ),
        ),
        passes=promises_no_body,
        quick_look=has_valid_body,
        applies=_OF_OPERATION,
    ),
    Check(
        "negative_data_rejection",
        negative_data_rejection,
        frozenset((Fact.STATUS, Fact.MODE, Fact.REQUEST, Fact.BODY)),
        failures=(AcceptedNegativeData,),
        settings=(expected_statuses(*negative_data.EXPECTED),),
        applies=_NEGATIVE,
        passes=negative_data.refuses,
        wants_refusal=True,
    ),
    Check(
        "positive_data_acceptance",
        positive_data_acceptance,
        frozenset((Fact.STATUS, Fact.MODE, Fact.REQUEST, Fact.BODY)),
        failures=(RejectedPositiveData,),
        settings=(expected_statuses(*positive_data.EXPECTED),),
        applies=_POSITIVE,
        passes=positive_data.accepts,
        quick_look=positive_data.is_fine,
    ),
    Check(
        "missing_required_header",
        missing_required_header,
        frozenset((Fact.STATUS, Fact.MODE, Fact.SCENARIO, Fact.REQUEST)),
        failures=(MissingHeaderNotRejected,),
        settings=(expected_statuses(*missing_header.EXPECTED),),
        applies=replace(_NEGATIVE, operations=missing_header.asks_for_headers),
        wants_refusal=True,
    ),
    Check(
        "unsupported_method",
        unsupported_method,
        frozenset((Fact.STATUS, Fact.HEADERS, Fact.SCENARIO, Fact.REQUEST)),
        failures=(UnsupportedMethodResponse,),
        applies=Applies(scenarios=frozenset((Scenario.UNSPECIFIED_METHOD,))),
        wants_refusal=True,
    ),
    Check(
        "allow_header_conformance",
        allow_header_conformance,
        frozenset((Fact.HEADERS, Fact.REQUEST)),
        failures=(AllowHeaderMismatch,),
        applies=Applies(where=may_be_options),
    ),
    Check(
        "use_after_free",
        use_after_free,
        frozenset((Fact.STATUS, Fact.BODY, Fact.REQUEST, Fact.SEQUENCE)),
        failures=(UseAfterFree,),
        applies=replace(_OF_OPERATION, statuses=("2XX", "404", "410"), follows=True, operations=is_read),
        wants_refusal=True,
    ),
    Check(
        "ensure_resource_availability",
        ensure_resource_availability,
        frozenset((Fact.STATUS, Fact.BODY, Fact.REQUEST, Fact.SEQUENCE)),
        failures=(EnsureResourceAvailability,),
        settings=(
            CheckSetting(
                "second-look", SettingShape.SECONDS, 1.0, "Seconds after which a missing resource is read again."
            ),
        ),
        applies=replace(_OF_OPERATION, follows=True, operations=names_member),
        passes=is_there,
    ),
    Check(
        "read_your_writes",
        read_your_writes,
        frozenset((Fact.STATUS, Fact.BODY, Fact.REQUEST, Fact.SEQUENCE)),
        failures=(LostWrite,),
        may_send=is_bound,
        applies=replace(_OF_OPERATION, statuses=("2XX",), follows=True, operations=reads_member),
    ),
    Check(
        "refused_write",
        refused_write,
        frozenset((Fact.STATUS, Fact.BODY, Fact.REQUEST, Fact.SEQUENCE)),
        failures=(RefusedWriteStored,),
        may_send=is_bound,
        applies=replace(_OF_OPERATION, statuses=("4XX",), follows=True, operations=updates_one),
    ),
    Check(
        "location_conformance",
        location_conformance,
        frozenset((Fact.STATUS, Fact.HEADERS, Fact.BODY, Fact.REQUEST)),
        failures=(DanglingLocation,),
        may_send=has_location,
        applies=replace(_POSITIVE, statuses=("201", "202"), operations=creates),
    ),
    Check(
        "collection_conformance",
        collection_conformance,
        frozenset((Fact.STATUS, Fact.BODY, Fact.REQUEST, Fact.MODE)),
        failures=(IgnoredFilter, ExceededLimit, UnsortedItems, OverlappingPages),
        may_send=has_query,
        applies=replace(_OF_OPERATION, statuses=("2XX",), operations=takes_queries),
    ),
    Check(
        "ignored_auth",
        ignored_auth,
        frozenset((Fact.STATUS, Fact.REQUEST)),
        failures=(IgnoredAuth,),
        may_send=may_be_ignored,
        probes=is_accepted,
        probes_refused=served_without,
        beforehand=PriorRequest(is_asked_first, sent_beforehand),
        applies=replace(_OF_OPERATION, operations=asks_for_credentials),
        wants_refusal=True,
    ),
    Check(
        "object_level_authorization",
        object_level_authorization,
        frozenset((Fact.STATUS, Fact.BODY, Fact.REQUEST, Fact.SEQUENCE)),
        failures=(ObjectLevelAuthorizationViolation,),
        has_needs=has_peers,
        may_send=is_bound,
        applies=replace(_OF_OPERATION, statuses=("2XX",), follows=True, operations=reads_member),
        wants_refusal=True,
    ),
    Check(
        "error_disclosure",
        error_disclosure,
        frozenset((Fact.STATUS, Fact.BODY, Fact.REQUEST)),
        failures=(DisclosedInternals,),
        quick_look=shows_nothing,
        applies=Applies(statuses=("4XX", "5XX")),
    ),
    Check(
        "max_response_time",
        max_response_time,
        frozenset((Fact.TIME,)),
        failures=(ResponseTimeExceeded,),
        switch=CheckSetting("max_response_time", SettingShape.SECONDS, None, "Seconds that a response may take.", 2.0),
        quick_look=is_in_time,
    ),
)

BUILT_IN: Mapping[str, Check] = {check.name: check for check in TABLE}
"""All checks by name."""

FAILURES: Mapping[str, type[Failure]] = {kind.__name__: kind for check in TABLE for kind in check.failures}
"""Kinds of failures by class name."""
