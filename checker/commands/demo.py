"""`checker demo`."""

import contextlib
import threading

import click

from checker.commands.command import Command, Root, echo
from checker.commands.run import run
from checker.core.errors import UsageError
from checker.demo import Server

_PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True}


@click.command(cls=Command, context_settings=_PASSED_ON)
@click.option("--serve", is_flag=True, help="Only serve the API until Ctrl-C, without a test.")
@click.option("--fixed", is_flag=True, help="Use the version without defects.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Loopback port; 0 chooses a free port.")
@click.pass_context
def demo(ctx: click.Context, serve: bool, fixed: bool, port: int) -> None:
    """Run the tool against a bundled API with planted defects; further options are those of `run`."""
    root = ctx.find_object(Root) or Root()
    given = [*ctx.args, "--config-file"] if root.config_file is not None else ctx.args
    if serve and given:
        raise UsageError(f"--serve tests nothing: {given[0]} would have no effect")
    server = Server(port, fixed=fixed)
    try:
        server.start()
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror}") from error
    try:
        if serve:
            with contextlib.suppress(KeyboardInterrupt):
                echo(f"Serving {server.url}\nDescription: {server.document_url}\nPress Ctrl-C to stop.")
                threading.Event().wait()
        else:
            root.corpus = "demo-fixed" if fixed else "demo"
            with run.make_context("run", [server.document_url, *ctx.args], parent=ctx.parent) as inner:
                run.invoke(inner)
    finally:
        server.stop()
