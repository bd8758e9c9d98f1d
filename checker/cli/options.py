"""Options that `run` and `fuzz` share, each declared once; most are keys of the configuration under another name."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import click

from checker.checks.table import BUILT_IN
from checker.cli.any_key import apply_keys
from checker.cli.contradictions import (
    refuse_contradictions,
    refuse_key_of_no_certificate,
    refuse_pointless_bytes,
    refuse_type_of_no_user,
    refuse_user_of_no_document,
    without_lesser_target,
)
from checker.cli.filters import filter_options
from checker.cli.lists import apply_lists, list_options
from checker.cli.setting import SettingOption, generation_option, root_option
from checker.cli.topics import KeyOption, show_all
from checker.cli.values import KeyValue, application, credentials, headers, location
from checker.config import auth
from checker.config.config import Config
from checker.config.sections import Section
from checker.config.settings import NOTHING_SENT
from checker.config.table import UPLOAD
from checker.core.reports import report_formats

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


BASE_URL = root_option(
    "-u/--url",
    "Base URL of the API, or unix:/path/to.sock; not what the description names.",
    key="base-url",
    variable="CHECKER_BASE_URL",
)

KNOWN_FAILURES = (
    root_option(
        "--baseline", "File of known failures, which fail no run; written when it is not there."
    ),
    root_option(
        "--compare", "Run whose failures count as known: a folder, its name, or a JSON report."
    ),
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
    SettingOption(
        ("-A", "--auth-type"), auth.BASIC, "type", "How they are sent: `basic` or `digest`."
    ),
    SettingOption(
        ("--auth-wfc",), auth.WFC, "path", "Authentication document of the Web Fuzzing Commons."
    ),
    SettingOption(
        ("--auth-wfc-user",), auth.WFC, "user", "User of that document; the one that is let in."
    ),
    root_option(
        "--rate-limit",
        "Requests per time, of all workers together: `N/s`, `N/m`, `N/h`, `N/d`, or `auto`: wait as long as answers with 429 ask for.",
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
    root_option("--live-port", "Port on loopback for a page that follows the run; 0: a free one."),
    root_option("--fail-under-operations", "Percentage of operations that must answer 2xx."),
    root_option("--fail-under-responses", "Percentage of documented answers that must come."),
    root_option("--fail-under-parameters", "Percentage of parameters that a case must be about."),
    root_option(
        "--fail-under-enum-values", "Percentage of listed values that a valid case must have."
    ),
    root_option(
        "--fail-under-media-types",
        "Percentage of documented media types that must be sent, or come.",
    ),
    SettingOption(
        ("--baseline-update",),
        (),
        "baseline-update",
        "Write new failures into the baseline, too.",
        is_flag=True,
    ),
    SettingOption(
        ("--baseline-prune",),
        (),
        "baseline-prune",
        "Take out of the baseline what did not fail again.",
        is_flag=True,
    ),
    SettingOption(
        ("--upload-url",),
        UPLOAD,
        "url",
        "Where the archive of the run is posted when it is over.",
        variable="CHECKER_URL",
    ),
    SettingOption(
        ("--upload-token",),
        UPLOAD,
        "token",
        "Bearer token for it.",
        variable="CHECKER_TOKEN",
    ),
    SettingOption(("--report-dir",), ("reports",), "directory", "Folder of the reports."),
    SettingOption(
        ("--report-preserve-bytes",),
        ("reports",),
        "preserve-bytes",
        "Write payloads as base64.",
        is_flag=True,
    ),
    *(
        SettingOption(
            (f"--report-{row.name}-path",),
            ("reports", row.name),
            "path",
            f"Place of the {row.title} report.",
        )
        for row in report_formats()
    ),
    SettingOption(
        ("--debug-output-file",),
        ("reports", "ndjson"),
        "path",
        "Place of the NDJSON report: all events of the run, one a line.",
    ),
    SettingOption(
        ("--output-sanitize",), ("output", "sanitization"), "enabled", "Whether to mask secrets."
    ),
    SettingOption(
        ("--max-shown",),
        ("output",),
        "max-shown",
        "Operations whose failures are printed, the worst first.",
    ),
    SettingOption(
        ("--code-sample-style",),
        ("output",),
        "code-sample-style",
        "Reproductions as `curl` commands or as `python`.",
    ),
    SettingOption(
        ("--output-truncate",), ("output", "truncation"), "enabled", "Whether to cut payloads."
    ),
)
"""In the order of the help page."""

RUN_SETTINGS = (
    generation_option("max-examples", "Cases for each operation.", flags="-n/--max-examples"),
    generation_option(
        "no-shrink", "Show failures as they were found.", flags="--no-shrink", is_flag=True
    ),
    root_option("--max-time", "Seconds for the whole run."),
)
"""Of `run` alone."""


FUZZ_SETTINGS = (
    SettingOption(
        ("--max-time",),
        ("fuzz",),
        "max-time",
        "Seconds after which to end; without it, the first failure ends the run.",
    ),
)
"""Of `fuzz` alone."""


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
        "-a",
        "--auth",
        callback=credentials,
        metavar="USER:PASSWORD",
        help="User and password for all operations.",
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
        command = click.option(
            "--dry-run", is_flag=True, help="Make all requests and send none of them."
        )(command)
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
        # Of no use but with an archive: it is not in the usage line.
        name = click.argument("api_name", required=False, envvar="CHECKER_API_NAME", metavar="")
        return click.argument("location", callback=location)(name(command))

    return decorate


def apply_options(
    config: Config,
    options: Mapping[str, Any],
    settings: tuple[SettingOption, ...],
    *,
    has_hooks: bool,
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
    refuse_key_of_no_certificate(config)
    refuse_pointless_bytes(config, asked=options["report_preserve_bytes"])
    refuse_user_of_no_document(config, options["auth_wfc_user"])
    refuse_type_of_no_user(config, options["auth_type"])


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
        # What is shown: the file says what fails a run.
        value = {"enabled": True, "display": value}
    section.update(**{setting.key.replace("-", "_"): value})
