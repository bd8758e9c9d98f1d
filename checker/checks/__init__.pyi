"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.checks.allow_header import allow_header_conformance
from checker.checks.authentication import ignored_auth
from checker.checks.content_type import content_type_conformance
from checker.checks.deletion import use_after_free
from checker.checks.missing_header import missing_required_header
from checker.checks.negative_data import negative_data_rejection
from checker.checks.object_authorization import object_level_authorization
from checker.checks.positive_data import positive_data_acceptance
from checker.checks.resource_availability import ensure_resource_availability
from checker.checks.response_headers import response_headers_conformance
from checker.checks.response_schema import response_schema_conformance
from checker.checks.response_time import max_response_time
from checker.checks.server_error import not_a_server_error
from checker.checks.status_code import status_code_conformance
from checker.checks.undeclared_method import unsupported_method

__all__ = [
    "allow_header_conformance",
    "content_type_conformance",
    "ensure_resource_availability",
    "ignored_auth",
    "max_response_time",
    "missing_required_header",
    "negative_data_rejection",
    "not_a_server_error",
    "object_level_authorization",
    "positive_data_acceptance",
    "response_headers_conformance",
    "response_schema_conformance",
    "status_code_conformance",
    "unsupported_method",
    "use_after_free",
]
