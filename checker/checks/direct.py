"""The built-in checks as functions `(context, response, case)`, which users' checks can call."""

from collections.abc import Callable, Mapping

from checker.checks.context import CheckContext
from checker.checks.judge import Judge, JudgeSettings
from checker.checks.table import BUILT_IN
from checker.core.case import Case
from checker.core.failures import FailureGroup
from checker.core.response import Response
from checker.core.send import drive

BuiltInCheck = Callable[[CheckContext, Response, Case], None]


def _function(name: str) -> BuiltInCheck:
    row = BUILT_IN[name]

    def check(context: CheckContext, response: Response, case: Case) -> None:
        given = context.config.get("checks", {}).get(name, {})
        # A switch, such as the limit of `max_response_time`, is a value where other checks have a section.
        settings = {name: given if isinstance(given, Mapping) else {name: given}}
        judge = Judge((row,), JudgeSettings(settings, context.truncation), context.tools)
        judgement = drive(judge.judge(case, response, context.sequence), case.exchange)
        for _, error in judgement.errors:
            raise error
        failures = list(judgement.failures)
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise FailureGroup("\n\n".join(f"{one.title}\n{one.message}" for one in failures), failures)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = row.run.__doc__
    return check


allow_header_conformance = _function("allow_header_conformance")
collection_conformance = _function("collection_conformance")
content_type_conformance = _function("content_type_conformance")
ensure_resource_availability = _function("ensure_resource_availability")
error_disclosure = _function("error_disclosure")
ignored_auth = _function("ignored_auth")
injection = _function("injection")
location_conformance = _function("location_conformance")
mass_assignment = _function("mass_assignment")
max_response_time = _function("max_response_time")
missing_required_header = _function("missing_required_header")
negative_data_rejection = _function("negative_data_rejection")
not_a_server_error = _function("not_a_server_error")
object_level_authorization = _function("object_level_authorization")
object_level_writes = _function("object_level_writes")
positive_data_acceptance = _function("positive_data_acceptance")
races = _function("races")
read_your_writes = _function("read_your_writes")
refused_write = _function("refused_write")
response_headers_conformance = _function("response_headers_conformance")
response_schema_conformance = _function("response_schema_conformance")
safe_methods = _function("safe_methods")
session_ends = _function("session_ends")
status_code_conformance = _function("status_code_conformance")
unsupported_method = _function("unsupported_method")
update_conformance = _function("update_conformance")
use_after_free = _function("use_after_free")
