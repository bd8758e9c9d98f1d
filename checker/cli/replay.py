"""`checker replay`."""

import re
from pathlib import Path

import click

from checker.cli.command import Command
from checker.cli.failure_replay import ReplayTarget, replay_findings
from checker.cli.options import BASE_URL, auth_option, header_option
from checker.cli.past import PastRun, configured, folder_of
from checker.cli.values import KeyValue
from checker.config.auth import basic_value
from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.table import default_of
from checker.core.errors import UsageError
from checker.core.send import Purpose
from checker.phases.replay import ReplayOptions
from checker.phases.replay import replay as replay_cassette
from checker.transport.settings import HttpSettings

_ID = re.compile(r"(?:v\d+-)?[0-9a-f]{4,16}|all", re.IGNORECASE)
_STATUSES = ("SUCCESS", "FAILURE", "ERROR", "SKIP")


@click.command(cls=Command)
@click.argument("cassette", metavar="CASSETTE|ID...", nargs=-1, required=True)
@click.option("--id", "ids", multiple=True, help="Only the interaction with this id.")
@click.option("--run", metavar="RUN|FOLDER", help="Whose failures the IDs are of.")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(_STATUSES, case_sensitive=False),
    help="Only interactions that ended like this.",
)
@click.option(
    "--purpose",
    "purposes",
    multiple=True,
    type=click.Choice([purpose.value for purpose in Purpose], case_sensitive=False),
    help="Only interactions that were sent for this.",
)
@click.option("--uri", metavar="REGEX", help="Only interactions whose URI matches.")
@click.option("--method", metavar="REGEX", help="Only interactions whose method matches.")
@click.option(
    "--pace",
    type=click.Choice(["full", "recorded"], case_sensitive=False),
    default="full",
    show_default=True,
    help="Send as fast as answers come, or with the pauses that were recorded.",
)
@click.option(
    *BASE_URL.flags, BASE_URL.name, type=KeyValue((), "base-url"), help="Send there instead."
)
@click.option(
    "--request-timeout",
    type=KeyValue((), "request-timeout"),
    default=default_of((), "request-timeout"),
    help="Seconds.",
)
@click.option(
    "--tls-verify",
    type=KeyValue((), "tls-verify"),
    default=default_of((), "tls-verify"),
    help="Verify certificates.",
)
@click.option("--proxy", type=KeyValue((), "proxy"), help="URL of an HTTP proxy.")
@header_option
@auth_option
@click.pass_context
def replay(
    ctx: click.Context,
    cassette: tuple[str, ...],
    run: str | None,
    ids: tuple[str, ...],
    statuses: tuple[str, ...],
    purposes: tuple[str, ...],
    uri: str | None,
    method: str | None,
    pace: str,
    url: str | None,
    request_timeout: float,
    tls_verify: bool | str,
    proxy: str | None,
    headers: dict[str, str],
    auth: str | None,
) -> None:
    """Send the interactions of CASSETTE again and print their old and new statuses.

    What was masked in it is as the configuration of today says, or -H.

    With IDs of failures of the last run, as reports show them, each is tried three times: fixed, failed or flaky.
    """
    http = HttpSettings(request_timeout_s=request_timeout, verify=tls_verify, proxy=proxy)
    if not Path(cassette[0]).exists() and _ID.fullmatch(cassette[0]):
        config = configured(ctx)
        ctx.exit(
            replay_findings(
                PastRun.of(folder_of(run), config), cassette, ReplayTarget(url, http), click.echo
            )
        )
    if len(cassette) > 1:
        raise UsageError("give one cassette, or ids of failures of the last run")
    path = Path(cassette[0])
    if not path.exists():
        raise UsageError(
            f"{str(path)!r} does not exist, and is no id of a failure such as v1-9a689dd4"
        )
    if auth is not None:
        user, _, password = auth.partition(":")
        headers = {**headers, "Authorization": basic_value(user, password)}
    options = ReplayOptions(
        base_url=url,
        headers=tuple(headers.items()),
        configured=_configured_headers(configured(ctx)),
        ids=ids,
        statuses=statuses,
        purposes=purposes,
        uri=uri,
        method=method,
        http=http,
        keeps_pace=pace == "recorded",
    )
    ctx.exit(replay_cassette(path, options, click.echo))


def _configured_headers(config: Config) -> tuple[tuple[str, str], ...]:
    """What a run would send with every request, and the token of a scheme that is for bearers."""
    common = run_settings(config, Invocation("", "run")).common
    tokens = (one.bearer for one in common.authentication.static if one.bearer)
    return (*(("Authorization", f"Bearer {token}") for token in tokens), *common.headers)
