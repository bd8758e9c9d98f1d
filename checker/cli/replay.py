"""`checker replay`."""

from pathlib import Path

import click

from checker.cli.command import Command
from checker.cli.main import Root
from checker.cli.options import BASE_URL, auth_option, header_option
from checker.cli.values import KeyValue
from checker.config.auth import basic_value
from checker.config.table import default_of
from checker.core.errors import UsageError
from checker.core.send import Purpose
from checker.phases.replay import ReplayOptions
from checker.phases.replay import replay as replay_cassette
from checker.transport.settings import HttpSettings

_STATUSES = ("SUCCESS", "FAILURE", "ERROR", "SKIP")


@click.command(cls=Command)
@click.argument("cassette", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--id", "ids", multiple=True, help="Only the interaction with this id.")
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
    cassette: Path,
    ids: tuple[str, ...],
    statuses: tuple[str, ...],
    purposes: tuple[str, ...],
    uri: str | None,
    method: str | None,
    url: str | None,
    request_timeout: float,
    tls_verify: bool | str,
    proxy: str | None,
    headers: dict[str, str],
    auth: str | None,
) -> None:
    """Send the interactions of CASSETTE again and print their old and new statuses."""
    if (ctx.find_object(Root) or Root()).config_file is not None:
        raise UsageError("--config-file has no effect here: replay reads no configuration")
    if auth is not None:
        user, _, password = auth.partition(":")
        headers = {**headers, "Authorization": basic_value(user, password)}
    options = ReplayOptions(
        base_url=url,
        headers=tuple(headers.items()),
        ids=ids,
        statuses=statuses,
        purposes=purposes,
        uri=uri,
        method=method,
        http=HttpSettings(request_timeout_s=request_timeout, verify=tls_verify, proxy=proxy),
    )
    ctx.exit(replay_cassette(cassette, options, click.echo))
