"""`checker replay`."""

import re
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from checker.commands.command import echo_line
from checker.commands.failure_replay import ReplayTarget, fetched_for, keep_results, replay_findings
from checker.commands.legacy import LegacyCommand
from checker.commands.options import BASE_URL, auth_option, header_option, refuse_user_of_no_document
from checker.commands.runs_on_disk import PastRun, folder_of
from checker.commands.values import KeyValue, configured
from checker.config.auth import WFC
from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.core.credentials import basic_authorization
from checker.core.errors import StorageError, UsageError
from checker.core.request import BaseUrl
from checker.core.send import Purpose
from checker.corpus.layout import RunLayout
from checker.phases.replay import ReplayOptions
from checker.phases.replay import replay as replay_cassette

_ID = re.compile(r"(?:v\d+-)?[0-9a-f]{4,16}|all", re.IGNORECASE)
_STATUSES = ("SUCCESS", "FAILURE", "ERROR", "SKIP")


@click.command(cls=LegacyCommand)
@click.argument("cassette", metavar="[CASSETTE|ID...]", nargs=-1)
@click.option("--id", "ids", multiple=True, help="Send only the interaction with this id.")
@click.option("--run", metavar="RUN|FOLDER", help="Run or corpus to which the IDs belong.")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(_STATUSES, case_sensitive=False),
    help="Send only interactions with this result.",
)
@click.option(
    "--purpose",
    "purposes",
    multiple=True,
    type=click.Choice([purpose.value for purpose in Purpose], case_sensitive=False),
    help="Send only interactions with this purpose.",
)
@click.option("--uri", metavar="REGEX", help="Send only interactions whose URI matches.")
@click.option("--method", metavar="REGEX", help="Send only interactions whose method matches.")
@click.option(
    "--pace",
    type=click.Choice(["full", "recorded"], case_sensitive=False),
    default="full",
    show_default=True,
    help="Send as fast as responses arrive, or with the recorded pauses.",
)
@click.option(
    *BASE_URL.flags, BASE_URL.name, type=KeyValue((), "base-url"), help="Send the requests to this base URL instead."
)
@click.option("--request-timeout", type=KeyValue((), "request-timeout"), help="Seconds to wait for a response.")
@click.option("--tls-verify", type=KeyValue((), "tls-verify"), help="Verify certificates.")
@click.option("--proxy", type=KeyValue((), "proxy"), help="URL of an HTTP proxy.")
@header_option
@auth_option
@click.option(
    "--auth-wfc", "wfc", type=KeyValue(WFC, "path"), help="Authentication document of the Web Fuzzing Commons."
)
@click.option("--auth-wfc-user", "wfc_user", type=KeyValue(WFC, "user"), help="User of that document.")
@click.pass_context
def replay(ctx: click.Context, /, cassette: tuple[str, ...], **options: Any) -> None:
    """Send the interactions of CASSETTE again and print their old and new statuses.

    A cassette is YAML (`vcr`), HAR of any program, or event lines (`ndjson`). Masked values are taken from the current configuration, or -H.

    With IDs of failures of the last run, as reports show them, each is tried three times, after the requests that it needs:
    fixed, failed, flaky or not reproduced. Without any ID, all failures are tried. The next `fuzz` does not send again
    what is fixed on the server of the run.

    Exit code for failures: 1 one failed again or is flaky, 2 one could not be sent, 3 one was not reproduced, and its
    situation was not reached or it showed too seldom in the run, 0 all are fixed. The first of these that applies counts.
    """
    config = configured(ctx)
    for option, key in (("wfc", "path"), ("wfc_user", "user")):
        if options[option] is not None:
            config.auth.wfc.update(**{key: options[option]})
    refuse_user_of_no_document(config, options["wfc_user"])
    headers = dict(options["headers"])
    if options["auth"] is not None:
        user, _, password = options["auth"].partition(":")
        headers["Authorization"] = basic_authorization(user, password)
    common = run_settings(config, Invocation("", "run")).common
    http = common.http.with_options(
        timeout_s=options["request_timeout"], verify=options["tls_verify"], proxy=options["proxy"]
    )
    target = ReplayTarget(options["url"], http, tuple(headers.items()), config)
    cassette = cassette or ("all",)
    is_file = Path(cassette[0]).exists()
    if not is_file and _ID.fullmatch(cassette[0]):
        past = PastRun.of(folder_of(options["run"]), config)
        code, results = replay_findings(past, cassette, target, echo_line)
        try:
            # A failure that is fixed on another server may still show on the server that the nights test.
            if results and target.is_of(past):
                keep_results(RunLayout(Path(past.settings.corpus.folder)), results)
        except (UsageError, StorageError) as error:
            echo_line(f"Warning: the next run will not know these results: {error}", err=True)
        ctx.exit(code)
    if len(cassette) > 1:
        raise UsageError("give one cassette, or ids of failures of the last run")
    if not is_file:
        raise UsageError(f"{cassette[0]!r} does not exist, and is no id of a failure such as v1-9a689dd4")
    origin = BaseUrl.from_url(target.base_url) if target.base_url else None
    tokens = (one.bearer for one in common.authentication.static if one.bearer)
    chosen = ReplayOptions(
        base_url=target.base_url,
        headers=target.caller(origin).all_headers,
        configured=(*(("Authorization", f"Bearer {token}") for token in tokens), *common.headers),
        fetched=cache(partial(_fetched_headers, config, target.base_url, options["run"])),
        ids=options["ids"],
        statuses=options["statuses"],
        purposes=options["purposes"],
        uri=options["uri"],
        method=options["method"],
        http=http,
        keeps_pace=options["pace"] == "recorded",
    )
    ctx.exit(replay_cassette(Path(cassette[0]), chosen, echo_line))


def _fetched_headers(config: Config, base_url: str | None, run: str | None) -> dict[str, str]:
    """Return the headers that the configured logins give for the description of the last run; nothing without a run. Raises `CheckerError`."""
    try:
        past = PastRun.of(folder_of(run), config)
    except UsageError:
        return {}
    opened = past.view.opened
    return fetched_for(past, base_url or (opened.base_url if opened else "")).headers()
