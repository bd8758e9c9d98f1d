"""Options that `run` and `fuzz` share, each declared once; most are keys of the configuration under another name."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from checker.checks.table import BUILT_IN
from checker.commands.topics import KeyOption, show_all
from checker.commands.values import (
    KeyValue,
    SettingOption,
    application,
    apply_keys,
    apply_lists,
    credentials,
    generation_option,
    headers,
    list_options,
    location,
    root_option,
)
from checker.config import auth
from checker.config.auth import BASIC
from checker.config.config import Config, Section
from checker.config.filters import FilterSpec, OperationFilters
from checker.config.reading import FILTER_KEYS
from checker.config.settings import NOTHING_SENT
from checker.config.table import UPLOAD
from checker.core.errors import UsageError
from checker.core.reports import report_formats

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_WHAT = {"include": "Test only operations", "exclude": "Do not test operations"}
_BY = "whose definition satisfies `<JSON pointer> == <value>` or `!=`."


def filter_options(command: Decorated) -> Decorated:
    """Add all filter options to a command."""
    command = click.option("--exclude-deprecated", is_flag=True, help="Do not test deprecated operations.")(command)
    for key, (verb, subject, is_regex) in reversed(FILTER_KEYS.items()):
        about = f"whose {subject} {'matches a regular expression' if is_regex else 'is this'}."
        command = click.option(
            f"--{key}",
            multiple=True,
            metavar="EXPR" if subject == "by" else "REGEX" if is_regex else "VALUE",
            help=f"{_WHAT[verb]} {_BY if subject == 'by' else about}",
        )(command)
    return command


def read_filters(options: Mapping[str, Any]) -> OperationFilters:
    """Return the filters of these options. Raises `UsageError`."""
    specs = [
        FilterSpec(verb, subject, value, is_regex)
        for key, (verb, subject, is_regex) in FILTER_KEYS.items()
        for value in options[key.replace("-", "_")]
    ]
    if options["exclude_deprecated"]:
        specs.append(FilterSpec("exclude", "deprecated", ""))
    return OperationFilters(tuple(specs))


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
    """Return options without the target of an environment variable if the command line names another target."""
    given = {name: ctx.get_parameter_source(name) for name in ("url", "origin")}
    if set(given.values()) != {ParameterSource.COMMANDLINE, _VARIABLE}:
        return options
    return {**options, **{name: None for name, by in given.items() if by is _VARIABLE}}


def _refuse_pointless(config: Config, options: Mapping[str, Any]) -> None:
    """Raise `UsageError` for an option without the option or key that it needs."""
    own = [config, *map(config.for_project, config.titles)]
    if config.request_cert_key and not any(one.request_cert for one in own):
        raise UsageError("--request-cert-key needs --request-cert, or `request-cert`")
    keeping = [row.name for row in report_formats() if row.keeps_bytes]
    wanted = (getattr(config.reports, name) for name in keeping)
    # Only the option is refused: a file may ask for bytes on behalf of those runs that write a report.
    if options["report_preserve_bytes"] and not any(one.enabled or one.path for one in wanted):
        raise UsageError(f"--report-preserve-bytes needs a {' or '.join(keeping)} report")
    refuse_user_of_no_document(config, options["auth_wfc_user"])
    blocks = (block.values.get(BASIC, {}) for one in own for block in one.operations)
    has_user = any(one.auth.basic.username for one in own) or any("username" in block for block in blocks)
    if options["auth_type"] is not None and not has_user:
        raise UsageError("--auth-type needs --auth, or `username` in `[auth.basic]`")


def refuse_user_of_no_document(config: Config, user: str | None) -> None:
    """Raise `UsageError` for the name of a user without an authentication document."""
    if user is not None and not config.auth.wfc.path:
        raise UsageError("--auth-wfc-user needs --auth-wfc, or `path` in `[auth.wfc]`")


BASE_URL = root_option(
    "-u/--url",
    "Base URL of the API, or unix:/path/to.sock; not what the description names.",
    key="base-url",
    variable="CHECKER_BASE_URL",
)

KNOWN_FAILURES = (
    root_option("--baseline", "File of known failures, which fail no run; written when it is not there."),
    root_option("--compare", "Run whose failures count as known: a folder, its name, or a JSON report."),
)

SETTINGS = (
    BASE_URL,
    root_option(
        "--origin",
        "Scheme, host and port of the API; the path of the description's own server stays.",
        variable="CHECKER_ORIGIN",
    ),
    root_option("-w/--workers", "Worker processes, 1-64 or `auto`."),
    root_option("--lanes", "Requests in flight in each worker, 1-64 or `auto`."),
    root_option("--seed", "Seed of all random choices."),
    root_option("--max-failures", "End after that many different failures or errors."),
    SettingOption(
        ("--continue-on-failure",),
        (),
        "continue-on-failure",
        "Test everything, even what failed already.",
        is_flag=True,
    ),
    root_option(
        "--wait-for-schema",
        "Seconds to wait until the API description can be loaded.",
        variable="CHECKER_WAIT_FOR_SCHEMA",
    ),
    root_option(
        "--safety",
        "What may be sent: `read-only`, `create-own` (changes and deletes only what the run made) or `full`.",
    ),
    root_option("--request-timeout", "Seconds to wait for a response."),
    root_option("--proxy", "URL of an HTTP proxy."),
    root_option("--tls-verify", "Whether to verify certificates, or a file of authorities."),
    SettingOption(("-A", "--auth-type"), auth.BASIC, "type", "How they are sent: `basic` or `digest`."),
    SettingOption(("--auth-wfc",), auth.WFC, "path", "Authentication document of the Web Fuzzing Commons."),
    SettingOption(("--auth-wfc-user",), auth.WFC, "user", "User of that document; the one that is let in."),
    root_option(
        "--rate-limit",
        "Maximum request rate of all workers together: `N/s`, `N/m`, `N/h`, `N/d`, or `auto`: wait as long as 429 responses ask.",
    ),
    root_option("--max-redirects", "Redirects to follow on the same site; 0: none."),
    root_option(
        "--request-retries",
        "Times that a request is sent again after a connection error or a time-out, after 1, 2, 4, ... 10 s.",
    ),
    root_option("--request-cert", "File of the client certificate."),
    root_option("--request-cert-key", "File of the client certificate's key."),
    root_option("--suppress-health-check", "Health checks to leave out."),
    root_option("--warnings", "Warnings to show, or `off`."),
    generation_option("mode", "Valid data, invalid data, or both.", flags="-m/--mode"),
    generation_option("allow-x00", "Whether strings may hold NUL."),
    generation_option("codec", "Codec that strings can be written in."),
    generation_option("deterministic", "No randomness at all.", is_flag=True),
    generation_option("maximize", "Metric to maximise."),
    generation_option("with-security-parameters", "Whether to generate credentials."),
    generation_option("graphql-allow-null", "Whether to use null in GraphQL."),
    generation_option("database", "Where examples are kept: `none`, `:memory:` or a folder."),
    generation_option("unique-inputs", "Never the same case twice.", is_flag=True),
    *(
        SettingOption((f"--{name.replace('_', '-')}",), ("checks",), name, check.help)
        for name, check in BUILT_IN.items()
        if check.switch
    ),
    *KNOWN_FAILURES,
    root_option("--live-port", "Loopback port for a live page of the run; 0 chooses a free port."),
    root_option("--fail-under-operations", "Minimum percentage of operations with a 2xx response."),
    root_option("--fail-under-responses", "Minimum percentage of documented responses that were received."),
    root_option("--fail-under-parameters", "Minimum percentage of parameters that a case targets."),
    root_option("--fail-under-enum-values", "Minimum percentage of enum values that occur in a valid case."),
    root_option("--fail-under-media-types", "Minimum percentage of documented media types that were sent or received."),
    SettingOption(
        ("--baseline-update",), (), "baseline-update", "Write new failures into the baseline, too.", is_flag=True
    ),
    SettingOption(
        ("--baseline-prune",), (), "baseline-prune", "Remove baseline entries that did not fail again.", is_flag=True
    ),
    SettingOption(
        ("--upload-url",),
        UPLOAD,
        "url",
        "Where the archive of the run is posted when it is over.",
        variable="CHECKER_URL",
    ),
    SettingOption(("--upload-token",), UPLOAD, "token", "Bearer token for it.", variable="CHECKER_TOKEN"),
    SettingOption(("--report-dir",), ("reports",), "directory", "Folder of the reports."),
    SettingOption(
        ("--report-preserve-bytes",), ("reports",), "preserve-bytes", "Write payloads as base64.", is_flag=True
    ),
    *(
        SettingOption(
            (f"--report-{row.name}-path",), ("reports", row.name), "path", f"Place of the {row.title} report."
        )
        for row in report_formats()
    ),
    SettingOption(
        ("--debug-output-file",),
        ("reports", "ndjson"),
        "path",
        "Place of the NDJSON report: all events of the run, one a line.",
    ),
    SettingOption(("--output-sanitize",), ("output", "sanitization"), "enabled", "Whether to mask secrets."),
    SettingOption(
        ("--max-shown",), ("output",), "max-shown", "Operations whose failures are printed, the worst first."
    ),
    SettingOption(
        ("--code-sample-style",), ("output",), "code-sample-style", "Reproductions as `curl` commands or as `python`."
    ),
    SettingOption(("--output-truncate",), ("output", "truncation"), "enabled", "Whether to cut payloads."),
)
"""In the order of the help page."""

RUN_SETTINGS = (
    generation_option("max-examples", "Cases for each operation.", flags="-n/--max-examples"),
    generation_option("no-shrink", "Show failures as they were found.", flags="--no-shrink", is_flag=True),
    root_option("--max-time", "Seconds for the testing; reports are written afterwards."),
)
"""Options of `run` only."""


FUZZ_SETTINGS = (
    SettingOption(
        ("--max-time",), ("fuzz",), "max-time", "Seconds for the testing; without it, the first failure ends the run."
    ),
)
"""Options of `fuzz` only."""


def header_option(command: Decorated) -> Decorated:
    """Add `-H`."""
    return click.option(
        "-H",
        "--header",
        "headers",
        multiple=True,
        metavar="NAME:VALUE",
        callback=headers,
        help="Header of every request.",
    )(command)


def auth_option(command: Decorated) -> Decorated:
    """Add `-a`."""
    return click.option(
        "-a", "--auth", callback=credentials, metavar="USER:PASSWORD", help="User and password for all operations."
    )(command)


def run_options(settings: tuple[SettingOption, ...]) -> Callable[[Decorated], Decorated]:
    """Add LOCATION, the shared options and these settings to a command."""

    def decorate(command: Decorated) -> Decorated:
        command = click.option("--inline", is_flag=True, hidden=True)(command)
        command = click.option(
            "--set",
            "keys",
            multiple=True,
            metavar="NAME=VALUE",
            help="Any key of the configuration, such as `phases.stateful.max-steps=8`.",
        )(command)
        command = click.option("--dry-run", is_flag=True, help="Make all requests and send none of them.")(command)
        command = click.option(
            "--app",
            metavar="MODULE:VARIABLE",
            is_eager=True,
            callback=application,
            help="ASGI or WSGI application to test in this process; LOCATION may be a path of it.",
        )(command)
        command = filter_options(command)
        for setting in reversed((*settings, *SETTINGS)):
            command = _option(setting)(command)
        command = list_options(header_option(auth_option(command)))
        command = click.option("--no-color", is_flag=True, help="No colours.")(command)
        command = click.option(
            "--help-all",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=show_all,
            help="Show all options, by topic, with their keys and defaults.",
        )(command)
        command = click.option("--force-color", is_flag=True, help="Colours in any case.")(command)
        # Only useful with an archive, so that it is not in the usage line.
        name = click.argument("api_name", required=False, envvar="CHECKER_API_NAME", metavar="")
        return click.argument("location", callback=location)(name(command))

    return decorate


def apply_options(
    config: Config, options: Mapping[str, Any], settings: tuple[SettingOption, ...], *, has_hooks: bool
) -> None:
    """Put the options of a command on top of a configuration.

    Raises `UsageError` for what contradicts itself.
    """
    options = without_lesser_target(click.get_current_context(), options)
    refuse_contradictions(options)
    for setting in (*settings, *SETTINGS):
        value = options.get(setting.name)
        if value is not None and (value is not False or not setting.is_flag):
            _set(config, setting, value)
    if options["headers"]:
        config.update(headers=options["headers"])
    if options["auth"]:
        user, _, password = options["auth"].partition(":")
        config.auth.basic.update(username=user, password=password)
    apply_lists(config, options, has_hooks=has_hooks)
    if options["force_color"] or options["no_color"]:
        config.update(color=bool(options["force_color"]))
    apply_keys(config, options["keys"])
    if options["dry_run"]:
        config.update(transport=NOTHING_SENT)
        config.checks.update(enabled=False)
        config.auth.update(auto_signup=False)
    _refuse_pointless(config, options)


def _option(setting: SettingOption) -> Callable[[Decorated], Decorated]:
    make = partial(click.option, cls=KeyOption, setting=setting, help=setting.help)
    if setting.is_flag:
        return make(*setting.flags, setting.name, is_flag=True)
    value = KeyValue(setting.path, setting.key)
    return make(*setting.flags, setting.name, type=value, envvar=setting.variable)


def _set(config: Config, setting: SettingOption, value: Any) -> None:
    section: Section = config
    for name in setting.path:
        section = getattr(section, name)
    if (setting.path, setting.key) == ((), "warnings"):
        # The option selects the displayed warnings; the file selects those that fail a run.
        value = {"enabled": True, "display": value}
    section.update(**{setting.key.replace("-", "_"): value})


def name_api(ctx: click.Context, config: Config, name: str | None) -> None:
    """Set the name of the API for report archives. Raises `UsageError` if the argument must be something else."""
    if not name:
        return
    if "://" in name or os.path.exists(name):
        raise UsageError(f"one LOCATION at a time: {name!r} is another one")
    config.upload.update(api_name=name)
    is_wanted = config.upload.url or config.reports.archive.path or config.reports.archive.enabled
    is_given = ctx.get_parameter_source("api_name") is ParameterSource.COMMANDLINE
    if is_given and not is_wanted:
        raise UsageError(
            f"unexpected argument {name!r}: after LOCATION stands the name of the API for a report archive; "
            "give --report or --upload-url for one"
        )
