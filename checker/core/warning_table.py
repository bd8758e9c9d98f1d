"""The warnings: one row each, with its trigger and advice. Warnings never stop a run."""

from typing import Any, Final

from msgspec import Struct

from checker.core.registry import LOWER_CASE, Registry
from checker.core.schema import WarningKind


class WarningRow(Struct, frozen=True):
    """One kind of warning."""

    name: str  # In `warnings` and `--warnings`: words with underscores.
    title: str  # The heading above the places of such warnings.
    advice: str = ""  # The advice for the user: a sentence.
    is_usual: bool = True  # Whether it is shown unless other kinds are asked for.
    trigger: Any = None
    """A function from the fold of a run and its settings to places, or its `module:attribute`. None: workers write notes of this kind."""


_TRIGGERS: Final = "checker.reporting.warnings"
BUILT_IN: Final = (
    WarningRow(
        "unreached",
        "Operations that never answered 2xx",
        "Give credentials, `parameters` or examples with which a request succeeds.",
        is_usual=False,
        trigger=f"{_TRIGGERS}:unreached",
    ),
    WarningRow(
        "missing_auth",
        "Operations that refused nearly all credentials (401, 403)",
        "Give credentials with `-H` or `--auth`.",
        trigger=f"{_TRIGGERS}:missing_auth",
    ),
    WarningRow(
        "undeclared_auth",
        "Operations that need credentials but declare none",
        "Declare their `security` in the description, because its readers cannot know it otherwise.",
    ),
    WarningRow(
        "refresh_stopped",
        "Credentials that are not renewed again, since they were refused",
        "Try the login with `checker auth check`.",
    ),
    WarningRow(
        "turned_away",
        "Requests after which the API refused every request, or every change",
        "Leave the operation out with `--exclude-name`, or log in with `[auth.dynamic]`, so that new credentials can be obtained.",
    ),
    WarningRow(
        "sign_up_failed",
        "Accounts that could not be created",
        "Give credentials (`[auth]`, `--auth`), or turn the sign-up off with `auth.auto-signup = false`.",
    ),
    WarningRow(
        "signed_up",
        "Accounts that the run created to get access",
        "Give credentials (`[auth]`, `--auth`) to avoid this, or set `auth.auto-signup = false`.",
        is_usual=False,
    ),
    WarningRow("left_behind", "Resources that the run created and could not remove"),
    WarningRow(
        "rate_limited",
        "Requests that exceeded the rate limit of the API (429)",
        "Send fewer requests with `--rate-limit`, wait as the responses ask with `--rate-limit auto`, or test an instance without a limit. If the API locks callers out, exclude the operation that triggers the lockout, or log in with valid data only.",
        trigger=f"{_TRIGGERS}:rate_limited",
    ),
    WarningRow(
        "base_url_mismatch",
        "Base URLs that lack a path of the description",
        "Add the path to `--url`.",
        trigger=f"{_TRIGGERS}:base_url_mismatch",
    ),
    WarningRow(
        "missing_test_data",
        "Operations that often returned 404",
        "Use `parameters` in the configuration to give values that exist on the server, or add examples to the description.",
        trigger=f"{_TRIGGERS}:missing_test_data",
    ),
    WarningRow(
        "validation_mismatch",
        "Operations that often rejected valid requests",
        "Describe the constraints in the schemas, or give accepted values with `parameters`.",
        trigger=f"{_TRIGGERS}:validation_mismatch",
    ),
    WarningRow(
        "low_valid_rate",
        "Operations that accept few of their valid requests",
        "Describe the constraints in the schemas, or change the limit `warnings.low_valid_rate.threshold`.",
        is_usual=False,
        trigger=f"{_TRIGGERS}:low_valid_rate",
    ),
    WarningRow(
        "timeout_units",
        "Times that look like milliseconds",
        "Times are in seconds.",
        trigger=f"{_TRIGGERS}:timeout_units",
    ),
    WarningRow(
        "method_not_allowed",
        "Operations that only answered 405",
        "Correct the base URL or the method in the description.",
        trigger=f"{_TRIGGERS}:method_not_allowed",
    ),
    WarningRow("unmatched_filter", "Filters that no operation matches", "Correct the value of the filter."),
    WarningRow(
        "unmatched_parameter", "Values for parameters that no operation has", "Correct the name in `parameters`."
    ),
    WarningRow(
        "unused_server_variable", "Values of server variables that are not declared", "Correct `servers.variables`."
    ),
    WarningRow(WarningKind.UNRESOLVABLE_REFERENCE, "References without a target"),
    WarningRow(
        "nothing_recalled",
        "`--corpus` without requests of earlier runs",
        "Restore the folder that `fuzz` or `run` left for this description, or leave `--corpus` out.",
    ),
    WarningRow(
        "other_hosts",
        "References to other hosts that were not fetched",
        "Set `other-hosts = true` in [documents] of checker.toml, or refer to copies beside the description.",
    ),
    WarningRow(WarningKind.UNUSABLE_PARAMETER, "Optional parameters that cannot be sent"),
    WarningRow(WarningKind.UNUSABLE_BODY, "Request bodies that cannot be sent"),
    WarningRow(WarningKind.MISSING_BODY, "Operations without a valid request: the required body cannot be read"),
    WarningRow(WarningKind.SEVERAL_BODIES, "Operations with several bodies"),
    WarningRow(WarningKind.LEFT_OUT, "Optional parts that are not sent, because no value satisfies them"),
    WarningRow(
        WarningKind.DICTIONARY_MISMATCH,
        "Dictionaries whose entries the schema mostly forbids",
        "Use another dictionary for this parameter or property, or correct its schema. Entries that the schema forbids are not sent as valid data.",
    ),
    WarningRow(WarningKind.UNKNOWN_METHOD, "Operations that the version of the description does not know"),
    WarningRow(WarningKind.REPEATED_KEY, "Keys that occur twice in one object", "Keep one of them."),
    WarningRow(WarningKind.UNUSABLE_MEDIA_TYPE, "Malformed media types"),
    WarningRow(WarningKind.UNVALIDATED_RESPONSE, "Responses that are not fully validated"),
    WarningRow(WarningKind.MISSING_DESERIALIZER, "Responses in media types that are not read"),
    WarningRow(WarningKind.MALFORMED_PART, "Malformed parts of operations"),
    WarningRow(WarningKind.MALFORMED_KEYWORD, "Keywords that mean nothing"),
    WarningRow(WarningKind.UNSUPPORTED_REGEX, "Regular expressions that are not supported"),
    WarningRow(WarningKind.INVALID_EXAMPLE, "Examples that their schema forbids"),
    WarningRow(WarningKind.BROKEN_LINK, "Links without a target"),
    WarningRow(WarningKind.OTHER_SERVER, "Operations on another host"),
    WarningRow(WarningKind.UNDECLARED_SECURITY, "Security schemes that are not declared"),
    WarningRow(WarningKind.SUBSCRIPTION, "Subscriptions, which are not tested"),
    WarningRow(WarningKind.FEDERATION, "Fields for gateways, which are not tested"),
    WarningRow(WarningKind.LOOSE_SCHEMA, "Schemas that a strict parser rejects"),
    WarningRow(
        WarningKind.UNKNOWN_SCALAR,
        "Custom GraphQL scalars without a strategy",
        "Register a strategy for their values with `checker.graphql.scalar`.",
    ),
    WarningRow(WarningKind.UNUSED_OPENAPI_AUTH, "Credentials for security schemes that are not declared"),
    WarningRow(
        "constants_extraction",
        "Sources of constants that returned none",
        "Have the function return an application, a module, or a list of them.",
    ),
    WarningRow("damaged_file", "Damaged files of the corpus"),
    WarningRow("trimmed", "Traffic that was removed to save space"),
    WarningRow("incomplete_report", "Reports that are not complete"),
    WarningRow("killed", "Cases left out, because workers were killed repeatedly"),
)
"""The built-in warnings, in the order in which they are shown."""

WARNINGS: Final[Registry[WarningRow]] = Registry(
    "warning", ((str(row.name), row) for row in BUILT_IN), names=LOWER_CASE
)
"""All kinds by name, those of plug-ins that are loaded included."""


def add_warning(row: WarningRow) -> WarningRow:
    """Add a kind and return it. Raises `IncorrectUsage`."""
    return WARNINGS.add_row(row)
