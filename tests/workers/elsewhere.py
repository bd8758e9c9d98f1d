"""Settings that have tests of their own elsewhere."""

from checker.config.table import SECTIONS

BASIC = [("auth", "basic", key) for key in SECTIONS["auth", "basic"]]
"""None of them means anything without the others: `tests/e2e/test_authentication.py`."""
SECURITY = ("generation", "with-security-parameters")
"""Means nothing without schemes: `tests/generation/test_security.py`."""
NULL = ("generation", "graphql-allow-null")
"""Means nothing for OpenAPI: `tests/graphql_kind/test_null.py`."""
MAXIMIZE = ("generation", "maximize")
"""Leads `fuzz` and Hypothesis: `tests/cli/test_maximize.py`."""
OF_CHECKS = {
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
    "ensure_resource_availability",
    "ignored_auth",
    "mass_assignment",
    "object_level_authorization",
    "injection",
    "object_level_writes",
    "races",
    "read_your_writes",
    "refused_write",
    "safe_methods",
    "session_ends",
    "update_conformance",
    "collection_conformance",
}
"""Need wrong data, other methods or phases, sequences or credentials: see the tests of each check."""
