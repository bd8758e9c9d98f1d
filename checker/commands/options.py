"""Options that `run` and `fuzz` share, each declared once; most are keys of the configuration under another name."""

import os
from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from checker.checks.table import BUILT_IN
from checker.commands.command import Root
from checker.commands.topics import KeyOption, show_all
from checker.commands.values import (
    LIST_OPTIONS,
    KeyValue,
    SettingOption,
    application,
    apply_keys,
    apply_lists,
    configured,
    credentials,
    generation_option,
    headers,
    location,
    root_option,
)
from checker.config import auth
from checker.config.auth import BASIC
from checker.config.config import Config
from checker.config.filters import FilterSpec, OperationFilters
from checker.config.reading import FILTER_KEYS
from checker.config.settings import NOTHING_SENT
from checker.config.table import COVERED, UPLOAD
from checker.core.errors import UsageError
from checker.core.reports import REPORT_FORMATS

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_WHAT = {"include": "Test only operations", "exclude": "Do not test operations"}
_BY = "whose definition satisfies `<JSON pointer> == <value>` or `!=`."


def filter_help(key: str) -> str:
    """Return what the filter of a key selects."""
    verb, subject, is_regex = FILTER_KEYS[key]
    about = f"whose {subject} {'matches a regular expression' if is_regex else 'is this'}."
    return f"{_WHAT[verb]} {_BY if subject == 'by' else about}"


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
    """Raise `UsageError` for options that exclude each other."""
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
    if options["with_dependents"] and not any(one.changed_since for one in own):
        raise UsageError("--with-dependents needs --changed-since, or `changed-since`")
    if options.get("max_workers") is not None and all(one.cluster in (None, "local") for one in own):
        raise UsageError("--max-workers needs --cluster, or `cluster`: local workers are as many as --workers")
    keeping = [row.name for row in REPORT_FORMATS.values() if row.keeps_bytes]
    wanted = (getattr(config.reports, name) for name in keeping)
    # Only the option is refused: a file may have this key for those runs that write a report.
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


BASE_URL = root_option("-u/--url", key="base-url", variable="CHECKER_BASE_URL")

KNOWN_FAILURES = (root_option("--baseline"), root_option("--compare"))

SETTINGS = (
    BASE_URL,
    root_option("--origin", variable="CHECKER_ORIGIN"),
    root_option("-w/--workers"),
    root_option("--lanes"),
    root_option("--cluster"),
    root_option("--max-workers"),
    root_option("--max-memory"),
    SettingOption(("--max-disk",), ("corpus",), "max-size"),
    root_option("--seed"),
    root_option("--max-failures"),
    SettingOption(("--continue-on-failure",), (), "continue-on-failure", is_flag=True),
    root_option("--wait-for-schema", variable="CHECKER_WAIT_FOR_SCHEMA"),
    root_option("--changed-since"),
    SettingOption(("--with-dependents",), (), "with-dependents", is_flag=True),
    root_option("--safety"),
    root_option("--request-timeout"),
    root_option("--proxy"),
    root_option("--tls-verify"),
    SettingOption(("-A", "--auth-type"), auth.BASIC, "type"),
    SettingOption(("--auth-wfc",), auth.WFC, "path"),
    SettingOption(("--auth-wfc-user",), auth.WFC, "user"),
    root_option("--rate-limit"),
    root_option("--max-redirects"),
    root_option("--request-retries"),
    root_option("--request-cert"),
    root_option("--request-cert-key"),
    root_option("--suppress-health-check"),
    root_option("--warnings"),
    generation_option("mode", flags="-m/--mode"),
    generation_option("allow-x00"),
    generation_option("codec"),
    generation_option("deterministic", is_flag=True),
    generation_option("maximize"),
    generation_option("with-security-parameters"),
    generation_option("graphql-allow-null"),
    generation_option("database"),
    generation_option("unique-inputs", is_flag=True),
    *(
        SettingOption((f"--{name.replace('_', '-')}",), ("checks",), name)
        for name, check in BUILT_IN.items()
        if check.switch
    ),
    *KNOWN_FAILURES,
    root_option("--live-port"),
    *(root_option(f"--fail-under-{name.replace('_', '-')}") for name in COVERED),
    SettingOption(("--baseline-update",), (), "baseline-update", is_flag=True),
    SettingOption(("--baseline-prune",), (), "baseline-prune", is_flag=True),
    SettingOption(("--upload-url",), UPLOAD, "url", variable="CHECKER_URL"),
    SettingOption(("--upload-token",), UPLOAD, "token", variable="CHECKER_TOKEN"),
    SettingOption(("--report-dir",), ("reports",), "directory"),
    SettingOption(("--report-preserve-bytes",), ("reports",), "preserve-bytes", is_flag=True),
    *(SettingOption((f"--report-{row.name}-path",), ("reports", row.name), "path") for row in REPORT_FORMATS.values()),
    SettingOption(("--debug-output-file",), ("reports", "ndjson"), "path"),
    SettingOption(("--output-sanitize",), ("output", "sanitization"), "enabled"),
    SettingOption(("--max-shown",), ("output",), "max-shown"),
    SettingOption(("--code-sample-style",), ("output",), "code-sample-style"),
    SettingOption(("--output-truncate",), ("output", "truncation"), "enabled"),
)
"""In the order of the help page."""

RUN_SETTINGS = (
    generation_option("max-examples", flags="-n/--max-examples"),
    generation_option("no-shrink", flags="--no-shrink", is_flag=True),
    root_option("--max-time"),
    root_option("--shard"),
    root_option("--shard-weights"),
    SettingOption(("--corpus",), ("corpus",), "replay", is_flag=True),
)
"""Options of `run` only."""


FUZZ_SETTINGS = (
    SettingOption(("--max-time",), ("fuzz",), "max-time"),
    SettingOption(("--stop-when-saturated",), ("fuzz",), "stop-when-saturated", is_flag=True),
)
"""Options of `fuzz` only."""


header_option = click.option(
    "-H", "--header", "headers", multiple=True, metavar="NAME:VALUE", callback=headers, help="Header of every request."
)
auth_option = click.option(
    "-a", "--auth", callback=credentials, metavar="USER:PASSWORD", help="User and password for all operations."
)


def run_options(settings: tuple[SettingOption, ...]) -> Callable[[Decorated], Decorated]:
    """Add LOCATION, the shared options and these settings to a command."""
    parameters = (
        click.argument("location", callback=location),
        # Only useful with an archive, so that it is not in the usage line.
        click.argument("api_name", required=False, envvar="CHECKER_API_NAME", metavar=""),
        click.option("--force-color", is_flag=True, help="Always use colours."),
        click.option(
            "--help-all",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=show_all,
            help="Show all options, by topic, with their keys and defaults.",
        ),
        click.option("--no-color", is_flag=True, help="No colours."),
        *LIST_OPTIONS,
        header_option,
        auth_option,
        *map(_option, (*settings, *SETTINGS)),
        *(
            click.option(
                f"--{key}",
                multiple=True,
                metavar="EXPR" if subject == "by" else "REGEX" if is_regex else "VALUE",
                help=filter_help(key),
            )
            for key, (_, subject, is_regex) in FILTER_KEYS.items()
        ),
        click.option("--exclude-deprecated", is_flag=True, help="Do not test deprecated operations."),
        click.option(
            "--app",
            metavar="MODULE:VARIABLE",
            is_eager=True,
            callback=application,
            help="ASGI or WSGI application in this process.",
        ),
        click.option("--dry-run", is_flag=True, help="Make all requests and send none of them."),
        click.option(
            "--set",
            "keys",
            multiple=True,
            metavar="NAME=VALUE",
            help="Any key of the configuration, such as `phases.stateful.max-steps=8`.",
        ),
        click.option("--inline", is_flag=True, hidden=True),
    )

    def decorate(command: Decorated) -> Decorated:
        for add in reversed(parameters):
            command = add(command)
        return command

    return decorate


def configured_by(
    ctx: click.Context, options: Mapping[str, Any], settings: tuple[SettingOption, ...]
) -> tuple[Config, Root]:
    """Return the configuration with the options of a command on top, and the options before the command.

    Raises `ConfigError`, and `UsageError` for options that contradict each other.
    """
    root, config = ctx.find_object(Root) or Root(), configured(ctx)
    options = {**without_lesser_target(ctx, options), "no_color": options["no_color"] or root.no_color}
    refuse_contradictions(options)
    for setting in (*settings, *SETTINGS):
        value = options.get(setting.name)
        if value is not None and (value is not False or not setting.is_flag):
            if (setting.path, setting.key) == ((), "warnings"):
                # The option selects the displayed warnings; the file selects those that fail a run.
                value = {"enabled": True, "display": value}
            reduce(getattr, setting.path, config).update(**{setting.key.replace("-", "_"): value})
    if options["headers"]:
        config.update(headers=options["headers"])
    if options["auth"]:
        user, _, password = options["auth"].partition(":")
        config.auth.basic.update(username=user, password=password)
    apply_lists(config, options, has_hooks=bool(root.hooks or config.hooks or os.environ.get("CHECKER_HOOKS")))
    if options["force_color"] or options["no_color"]:
        config.update(color=bool(options["force_color"]))
    apply_keys(config, options["keys"])
    if options["dry_run"]:
        config.update(transport=NOTHING_SENT)
        config.checks.update(enabled=False)
        config.auth.update(auto_signup=False)
    _refuse_pointless(config, options)
    _name_api(ctx, config, options["api_name"])
    return config, root


def _option(setting: SettingOption) -> Callable[[Decorated], Decorated]:
    make = partial(click.option, *setting.flags, setting.name, cls=KeyOption, setting=setting, help=setting.help)
    if setting.is_flag:
        return make(is_flag=True)
    return make(type=KeyValue(setting.path, setting.key), envvar=setting.variable)


def _name_api(ctx: click.Context, config: Config, name: str | None) -> None:
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
