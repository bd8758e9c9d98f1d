"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.checks.authentication import ignored_auth
from checker.checks.deletion import use_after_free
from checker.checks.methods import allow_header_conformance, unsupported_method
from checker.checks.missing_header import missing_required_header
from checker.checks.negative_data import negative_data_rejection
from checker.checks.object_authorization import object_level_authorization
from checker.checks.positive_data import positive_data_acceptance
from checker.checks.resource_availability import ensure_resource_availability
from checker.checks.response_head import (
    content_type_conformance,
    max_response_time,
    response_headers_conformance,
    status_code_conformance,
)
from checker.checks.response_schema import response_schema_conformance
from checker.checks.server_error import not_a_server_error

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
