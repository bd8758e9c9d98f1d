"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.checks.direct import functions as _functions

allow_header_conformance = _functions.allow_header_conformance
collection_conformance = _functions.collection_conformance
content_type_conformance = _functions.content_type_conformance
ensure_resource_availability = _functions.ensure_resource_availability
error_disclosure = _functions.error_disclosure
ignored_auth = _functions.ignored_auth
injection = _functions.injection
location_conformance = _functions.location_conformance
mass_assignment = _functions.mass_assignment
max_response_time = _functions.max_response_time
missing_required_header = _functions.missing_required_header
negative_data_rejection = _functions.negative_data_rejection
not_a_server_error = _functions.not_a_server_error
object_level_authorization = _functions.object_level_authorization
object_level_writes = _functions.object_level_writes
positive_data_acceptance = _functions.positive_data_acceptance
races = _functions.races
read_your_writes = _functions.read_your_writes
refused_write = _functions.refused_write
response_headers_conformance = _functions.response_headers_conformance
response_schema_conformance = _functions.response_schema_conformance
safe_methods = _functions.safe_methods
session_ends = _functions.session_ends
status_code_conformance = _functions.status_code_conformance
unsupported_method = _functions.unsupported_method
update_conformance = _functions.update_conformance
use_after_free = _functions.use_after_free

__all__ = [
    "allow_header_conformance",
    "collection_conformance",
    "content_type_conformance",
    "ensure_resource_availability",
    "error_disclosure",
    "ignored_auth",
    "injection",
    "location_conformance",
    "mass_assignment",
    "max_response_time",
    "missing_required_header",
    "negative_data_rejection",
    "not_a_server_error",
    "object_level_authorization",
    "object_level_writes",
    "positive_data_acceptance",
    "races",
    "read_your_writes",
    "refused_write",
    "response_headers_conformance",
    "response_schema_conformance",
    "safe_methods",
    "session_ends",
    "status_code_conformance",
    "unsupported_method",
    "update_conformance",
    "use_after_free",
]
