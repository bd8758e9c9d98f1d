"""Options that mean nothing together."""

from collections.abc import Mapping
from typing import Any, Final

import click
from click.core import ParameterSource

from checker.config.auth import BASIC
from checker.config.config import Config
from checker.core.errors import UsageError
from checker.core.reports import report_formats

_VARIABLE: Final = ParameterSource.ENVIRONMENT


def refuse_contradictions(options: Mapping[str, Any]) -> None:
    """Raise `UsageError` for options that exclude or need each other."""
    if options["url"] and options["origin"]:
        raise UsageError("--url and --origin exclude each other")
    if options["force_color"] and options["no_color"]:
        raise UsageError("--force-color and --no-color exclude each other")
    if options["generation_deterministic"] and options["generation_database"] not in (None, "none"):
        raise UsageError("--generation-deterministic and --generation-database exclude each other")
    has_header = any(name.lower() == "authorization" for name in options["headers"])
    if options["auth"] and options["auth_wfc"]:
        raise UsageError("--auth and --auth-wfc exclude each other")
    if options["auth"] and has_header:
        raise UsageError("--auth and an Authorization header exclude each other")


def without_lesser_target(ctx: click.Context, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Options without the place of the API that a variable of the environment names, where the command line names another."""
    given = {name: ctx.get_parameter_source(name) for name in ("url", "origin")}
    if set(given.values()) != {ParameterSource.COMMANDLINE, _VARIABLE}:
        return options
    return {**options, **{name: None for name, by in given.items() if by is _VARIABLE}}


def refuse_key_of_no_certificate(config: Config) -> None:
    """Raise `UsageError` where there is the key of a client certificate, and nobody names one."""
    own = [config, *map(config.for_project, config.titles)]
    if config.request_cert_key and not any(one.request_cert for one in own):
        raise UsageError("--request-cert-key needs --request-cert, or `request-cert`")


def refuse_type_of_no_user(config: Config, kind: str | None) -> None:
    """Raise `UsageError` where it is said how user and password are sent, and nobody gives any."""
    own = [config, *map(config.for_project, config.titles)]
    blocks = (block.values.get(BASIC, {}) for one in own for block in one.operations)
    is_given = any(one.auth.basic.username for one in own) or any("username" in b for b in blocks)
    if kind is not None and not is_given:
        raise UsageError("--auth-type needs --auth, or `username` in `[auth.basic]`")


def refuse_user_of_no_document(config: Config, user: str | None) -> None:
    """Raise `UsageError` where a user is named and no authentication document is."""
    if user is not None and not config.auth.wfc.path:
        raise UsageError("--auth-wfc-user needs --auth-wfc, or `path` in `[auth.wfc]`")


def refuse_pointless_bytes(config: Config, *, asked: bool) -> None:
    """Raise `UsageError` where an option asks for bytes to be kept and no report keeps any; a file may, for runs that write one."""
    keeping = [row.name for row in report_formats() if row.keeps_bytes]
    wanted = (getattr(config.reports, name) for name in keeping)
    if asked and not any(one.enabled or one.path for one in wanted):
        raise UsageError(f"--report-preserve-bytes needs a {' or '.join(keeping)} report")
