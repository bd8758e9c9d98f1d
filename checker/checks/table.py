"""The checks, in the order in which they run. Configuration, command line and judge read everything about a check from its row."""

from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

import checker.checks.authentication as authentication
import checker.checks.collections as collections
import checker.checks.concurrency as concurrency
import checker.checks.deletion as deletion
import checker.checks.disclosure as disclosure
import checker.checks.effects as effects
import checker.checks.location as location
import checker.checks.methods as methods
import checker.checks.missing_header as missing_header
import checker.checks.negative_data as negative_data
import checker.checks.object_authorization as object_authorization
import checker.checks.positive_data as positive_data
import checker.checks.read_only as read_only
import checker.checks.reads as reads
import checker.checks.resource_availability as resource_availability
import checker.checks.resources as resources
import checker.checks.response_head as response_head
import checker.checks.response_schema as response_schema
import checker.checks.server_error as server_error
import checker.checks.sessions as sessions
import checker.checks.updates as updates
import checker.checks.writes as writes
from checker.checks.check import (
    IN_RUN,
    MEMBER,
    RESOURCE,
    Applies,
    Check,
    CheckSetting,
    PriorRequest,
    SettingShape,
    expected_statuses,
)
from checker.core.failures import Failure
from checker.core.meta import GenerationMode
from checker.core.scenarios import REQUEST_SHAPES, Scenario

_OF_OPERATION = Applies(but_scenarios=REQUEST_SHAPES)  # Requests that reach their operation.
_POSITIVE = replace(_OF_OPERATION, modes=frozenset((GenerationMode.POSITIVE,)))
_NEGATIVE = replace(_OF_OPERATION, modes=frozenset((GenerationMode.NEGATIVE,)))
_WRITES = ("POST", "PUT", "PATCH")
_UPDATES = replace(_OF_OPERATION, follows=True, methods=("PUT", "PATCH"), operations=resources.has_read)

TABLE = (
    Check(
        "not_a_server_error",
        server_error.not_a_server_error,
        failures=(
            server_error.ServerError,
            server_error.ReportedServerError,
            server_error.DroppedConnection,
            server_error.UnansweredRequest,
        ),
        settings=(expected_statuses(*server_error.EXPECTED),),
        quick_look=server_error.is_no_server_error,
        no_response=server_error.missing_response,
    ),
    Check(
        "status_code_conformance",
        response_head.status_code_conformance,
        failures=(response_head.UndefinedStatusCode,),
        settings=(expected_statuses(),),
        quick_look=response_head.is_documented,
        applies=_OF_OPERATION,
    ),
    Check(
        "content_type_conformance",
        response_head.content_type_conformance,
        failures=(
            response_head.MissingContentType,
            response_head.UndefinedContentType,
            response_head.MalformedMediaType,
        ),
        quick_look=response_head.has_documented_media_type,
        applies=_OF_OPERATION,
    ),
    Check(
        "response_headers_conformance",
        response_head.response_headers_conformance,
        failures=(response_head.MissingHeaders, response_head.HeaderSchemaError),
        quick_look=response_head.promises_no_headers,
        applies=_OF_OPERATION,
    ),
    Check(
        "response_schema_conformance",
        response_schema.response_schema_conformance,
        failures=(
            response_schema.JsonSchemaError,
            response_schema.MalformedJson,
            response_schema.ContentDeserializationError,
            response_schema.ContentDecodingError,
            response_schema.BrokenNonNull,
        ),
        settings=(
            CheckSetting(
                "validate-formats", SettingShape.FLAG, True, "Whether values must have the format of their schema."
            ),
        ),
        quick_look=response_schema.has_valid_body,
        applies=_OF_OPERATION,
    ),
    Check(
        "negative_data_rejection",
        negative_data.negative_data_rejection,
        failures=(negative_data.AcceptedNegativeData,),
        settings=(expected_statuses(*negative_data.EXPECTED),),
        applies=_NEGATIVE,
        quick_look=negative_data.refuses,
        wants_refusal=True,
        judges_request=True,
    ),
    Check(
        "positive_data_acceptance",
        positive_data.positive_data_acceptance,
        failures=(positive_data.RejectedPositiveData,),
        settings=(expected_statuses(*positive_data.EXPECTED),),
        applies=_POSITIVE,
        quick_look=positive_data.accepts,
        judges_request=True,
    ),
    Check(
        "missing_required_header",
        missing_header.missing_required_header,
        failures=(missing_header.MissingHeaderNotRejected,),
        settings=(expected_statuses(*missing_header.EXPECTED),),
        applies=replace(_NEGATIVE, operations=missing_header.asks_for_headers),
        wants_refusal=True,
        judges_request=True,
    ),
    Check(
        "unsupported_method",
        methods.unsupported_method,
        failures=(methods.UnsupportedMethodResponse,),
        applies=Applies(scenarios=frozenset((Scenario.UNSPECIFIED_METHOD,))),
        wants_refusal=True,
        judges_request=True,
    ),
    Check(
        "allow_header_conformance",
        methods.allow_header_conformance,
        failures=(methods.AllowHeaderMismatch,),
        applies=Applies(where=methods.may_be_options),
        judges_request=True,
    ),
    Check(
        "use_after_free",
        deletion.use_after_free,
        failures=(deletion.UseAfterFree,),
        applies=replace(_OF_OPERATION, statuses=("2XX", "404", "410"), follows=True, operations=deletion.is_read),
        wants_refusal=True,
    ),
    Check(
        "ensure_resource_availability",
        resource_availability.ensure_resource_availability,
        failures=(resource_availability.EnsureResourceAvailability,),
        settings=(
            CheckSetting(
                "second-look", SettingShape.SECONDS, 1.0, "Seconds after which a missing resource is read again."
            ),
        ),
        applies=replace(_OF_OPERATION, follows=True, operations=resource_availability.names_member),
        quick_look=resource_availability.is_there,
    ),
    Check(
        "read_your_writes",
        writes.read_your_writes,
        failures=(writes.LostWrite,),
        may_send=resources.is_bound,
        applies=replace(_OF_OPERATION, statuses=("2XX",), follows=True, methods=("GET",), path=MEMBER),
    ),
    Check(
        "refused_write",
        writes.refused_write,
        failures=(writes.RefusedWriteStored,),
        may_send=resources.is_bound,
        applies=replace(_UPDATES, statuses=("4XX",), path=MEMBER),
    ),
    Check(
        "update_conformance",
        updates.update_conformance,
        failures=(
            updates.RepeatedUpdate,
            updates.PartialReplacement,
            updates.EmptiedField,
            updates.IgnoredCondition,
            writes.LostWrite,
        ),
        may_send=updates.is_chosen,
        applies=replace(_UPDATES, modes=_POSITIVE.modes, statuses=("2XX",)),
    ),
    Check(
        "location_conformance",
        location.location_conformance,
        failures=(location.DanglingLocation,),
        may_send=location.has_location,
        applies=replace(_POSITIVE, statuses=("201",), methods=("POST", "PUT")),
        judges_request=True,
    ),
    Check(
        "mass_assignment",
        read_only.mass_assignment,
        failures=(read_only.MassAssignment,),
        may_send=read_only.may_assign,
        # The request may grant a role to its sender.
        settings=(IN_RUN,),
        applies=replace(_POSITIVE, statuses=("2XX",), methods=_WRITES, operations=read_only.takes_json),
        wants_refusal=True,
        judges_request=True,
    ),
    Check(
        "injection",
        effects.injection,
        failures=(effects.Injection,),
        may_send=effects.is_chosen,
        # Evaluated or opened text may do more harm than the check itself.
        settings=(IN_RUN,),
        applies=replace(_POSITIVE, operations=effects.takes_texts),
        wants_refusal=True,
        judges_request=True,
    ),
    Check(
        "races",
        concurrency.races,
        failures=(concurrency.RaceCondition, concurrency.RepeatedKey),
        may_send=concurrency.is_chosen,
        # A value that was spent or used twice cannot be restored.
        settings=(IN_RUN,),
        # Removing a resource twice does no harm.
        applies=replace(_POSITIVE, statuses=("2XX",), methods=_WRITES),
    ),
    Check(
        "safe_methods",
        reads.safe_methods,
        failures=(reads.HeadDiffers, reads.UnsafeRead),
        may_send=reads.is_chosen,
        applies=replace(_POSITIVE, follows=True, methods=("GET",), path=RESOURCE),
        judges_request=True,
    ),
    Check(
        "collection_conformance",
        collections.collection_conformance,
        failures=(
            collections.IgnoredFilter,
            collections.ExceededLimit,
            collections.UnsortedItems,
            collections.OverlappingPages,
            collections.WrongTotal,
            collections.SkippedItems,
        ),
        may_send=collections.lists_items,
        applies=replace(_OF_OPERATION, statuses=("2XX",), methods=("GET",), operations=collections.takes_queries),
        judges_request=True,
    ),
    Check(
        "ignored_auth",
        authentication.ignored_auth,
        failures=(authentication.IgnoredAuth,),
        may_send=authentication.may_be_ignored,
        probes=authentication.is_accepted,
        # No request with credentials was accepted, so only 401 and 403 prove anything.
        probes_refused=partial(authentication.sent_beforehand, failing=(2, 5)),
        beforehand=PriorRequest(authentication.is_asked_first, authentication.sent_beforehand),
        applies=replace(_OF_OPERATION, operations=authentication.asks_for_credentials),
        wants_refusal=True,
        judges_request=True,
    ),
    Check(
        "object_level_authorization",
        object_authorization.object_level_authorization,
        failures=(object_authorization.ObjectLevelAuthorizationViolation,),
        has_needs=object_authorization.has_peers,
        may_send=resources.is_bound,
        applies=replace(_OF_OPERATION, statuses=("2XX",), follows=True, methods=("GET",), path=RESOURCE),
        wants_refusal=True,
    ),
    Check(
        "object_level_writes",
        object_authorization.object_level_writes,
        failures=(object_authorization.ForeignWrite,),
        has_needs=object_authorization.has_peers,
        may_send=object_authorization.may_write,
        beforehand=PriorRequest(authentication.is_asked_first, object_authorization.removed_by_peer),
        # A resource that a peer removed cannot be restored.
        settings=(IN_RUN,),
        applies=replace(_POSITIVE, statuses=("2XX",), follows=True, methods=("PUT", "PATCH", "DELETE"), path=MEMBER),
        wants_refusal=True,
    ),
    Check(
        "session_ends",
        sessions.session_ends,
        failures=(sessions.TokenAfterLogout,),
        may_send=sessions.is_chosen,
        # In `run` only if it is switched on, because the check ends a session.
        settings=(IN_RUN,),
        applies=replace(_POSITIVE, statuses=("2XX",), follows=True, operations=sessions.reads_with_token),
        wants_refusal=True,
    ),
    Check(
        "error_disclosure",
        disclosure.error_disclosure,
        failures=(disclosure.DisclosedInternals,),
        quick_look=disclosure.shows_nothing,
        applies=Applies(statuses=("4XX", "5XX")),
        judges_request=True,
    ),
    Check(
        "max_response_time",
        response_head.max_response_time,
        failures=(response_head.ResponseTimeExceeded,),
        switch=CheckSetting("max_response_time", SettingShape.SECONDS, None, "Seconds that a response may take.", 2.0),
        quick_look=response_head.is_in_time,
    ),
)

BUILT_IN: Mapping[str, Check] = {check.name: check for check in TABLE}  # All checks by name.

FAILURES: Mapping[str, type[Failure]] = {kind.__name__: kind for check in TABLE for kind in check.failures}
"""Kinds of failures by class name."""
