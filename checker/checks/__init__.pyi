"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.checks.direct import (
    allow_header_conformance,
    content_type_conformance,
    ensure_resource_availability,
    error_disclosure,
    ignored_auth,
    max_response_time,
    missing_required_header,
    negative_data_rejection,
    not_a_server_error,
    object_level_authorization,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
    use_after_free,
)

__all__ = [
    "allow_header_conformance",
    "content_type_conformance",
    "ensure_resource_availability",
    "error_disclosure",
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
