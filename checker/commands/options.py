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
    headers,
    location,
    setting,
)
from checker.config.auth import BASIC
from checker.config.config import Config
from checker.config.filters import FilterSpec, OperationFilters
from checker.config.reading import FILTER_KEYS
from checker.config.settings import NOTHING_SENT
from checker.config.table import COVERED
from checker.core.errors import UsageError
from checker.core.reports import REPORT_FORMATS

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_WHAT = {"include": "Test only operations", "exclude": "Do not test operations"}
_BY = "whose definition satisfies `<JSON pointer> == <value>` or `!=`."


def filter_help(key: str) -> str:
    """Return the help text of a filter: the operations that it selects."""
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


BASE_URL = setting("-u/--url", "base-url", variable="CHECKER_BASE_URL")

KNOWN_FAILURES = (setting("--baseline"), setting("--compare"))

SETTINGS = (
    BASE_URL,
    setting("--origin", variable="CHECKER_ORIGIN"),
    setting("-w/--workers"),
    setting("--lanes"),
    setting("--cluster"),
    setting("--max-workers"),
    setting("--max-memory"),
    setting("--max-disk", "corpus.max-size"),
    setting("--seed"),
    setting("--max-failures"),
    setting("--continue-on-failure", is_flag=True),
    setting("--wait-for-schema", variable="CHECKER_WAIT_FOR_SCHEMA"),
    setting("--changed-since"),
    setting("--with-dependents", is_flag=True),
    setting("--safety"),
    setting("--request-timeout"),
    setting("--proxy"),
    setting("--tls-verify"),
    setting("-A/--auth-type", "auth.basic.type"),
    setting("--auth-wfc", "auth.wfc.path"),
    setting("--auth-wfc-user", "auth.wfc.user"),
    setting("--rate-limit"),
    setting("--max-redirects"),
    setting("--request-retries"),
    setting("--request-cert"),
    setting("--request-cert-key"),
    setting("--suppress-health-check"),
    setting("--warnings"),
    setting("-m/--mode", "generation.mode"),
    setting("--generation-allow-x00", "generation.allow-x00"),
    setting("--generation-codec", "generation.codec"),
    setting("--generation-deterministic", "generation.deterministic", is_flag=True),
    setting("--generation-maximize", "generation.maximize"),
    setting("--generation-with-security-parameters", "generation.with-security-parameters"),
    setting("--generation-graphql-allow-null", "generation.graphql-allow-null"),
    setting("--generation-database", "generation.database"),
    setting("--generation-unique-inputs", "generation.unique-inputs", is_flag=True),
    *(setting(f"--{name.replace('_', '-')}", f"checks.{name}") for name, check in BUILT_IN.items() if check.switch),
    *KNOWN_FAILURES,
    setting("--live-port"),
    *(setting(f"--fail-under-{name.replace('_', '-')}") for name in COVERED),
    setting("--baseline-update", is_flag=True),
    setting("--baseline-prune", is_flag=True),
    setting("--upload-url", "upload.url", variable="CHECKER_URL"),
    setting("--upload-token", "upload.token", variable="CHECKER_TOKEN"),
    setting("--report-dir", "reports.directory"),
    setting("--report-preserve-bytes", "reports.preserve-bytes", is_flag=True),
    *(setting(f"--report-{row.name}-path", f"reports.{row.name}.path") for row in REPORT_FORMATS.values()),
    setting("--debug-output-file", "reports.ndjson.path"),
    setting("--output-sanitize", "output.sanitization.enabled"),
    setting("--max-shown", "output.max-shown"),
    setting("--code-sample-style", "output.code-sample-style"),
    setting("--output-truncate", "output.truncation.enabled"),
)
"""In the order of the help page."""

RUN_SETTINGS = (
    setting("-n/--max-examples", "generation.max-examples"),
    setting("--no-shrink", "generation.no-shrink", is_flag=True),
    setting("--max-time"),
    setting("--shard"),
    setting("--shard-weights"),
    setting("--corpus", "corpus.replay", is_flag=True),
)
"""Options of `run` only."""


FUZZ_SETTINGS = (
    setting("--max-time", "fuzz.max-time"),
    setting("--stop-when-saturated", "fuzz.stop-when-saturated", is_flag=True),
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
    for one in (*settings, *SETTINGS):
        value = options.get(one.name)
        if value is not None and (value is not False or not one.is_flag):
            if (one.path, one.key) == ((), "warnings"):
                # The option selects the displayed warnings; the file selects those that fail a run.
                value = {"enabled": True, "display": value}
            reduce(getattr, one.path, config).update(**{one.key.replace("-", "_"): value})
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
            f"unexpected argument {name!r}: the argument after LOCATION is the name of the API in a report archive; "
            "add --report or --upload-url to write one"
        )
