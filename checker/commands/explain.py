"""`checker explain`."""

import re

import click

from checker.commands.command import Command, echo
from checker.commands.runs_on_disk import PastRun, chosen_findings, folder_of
from checker.commands.values import configured
from checker.core.errors import UsageError, did_you_mean
from checker.core.terminal import one_line
from checker.corpus.layout import RunLayout
from checker.corpus.records import Interaction
from checker.reporting.events import RunEvents
from checker.reporting.explain import known_names, operation_page, pages_for, samples_by_status, title_of_name
from checker.reporting.findings import failures_by_label

_ID = re.compile(r"(?:v1-)?(?=.*\d)[0-9a-f]{4,}")
"""Id of a failure, or its beginning. It has a digit, so no word is taken for an id."""


@click.command(cls=Command)
@click.argument("name", metavar="CODE|OPERATION|ID", required=False)
@click.option("--list", "lists", is_flag=True, help="List everything that can be explained.")
@click.option("--run", metavar="RUN|FOLDER", help="Run or corpus with the operation or failure.")
@click.pass_context
def explain(ctx: click.Context, name: str | None, *, lists: bool, run: str | None) -> None:
    """Explain a failure or a warning and its remedy, or show the result of one operation in the last run.

    CODE is `ST101`, the name of a check, or of a warning; OPERATION is its name in reports: "POST /users", Query.user; ID
    identifies a failure of the last run: its first characters are enough, such as v1-9a68.
    """
    if lists:
        for one in known_names():
            echo(f"{one:<28}  {title_of_name(one)}")
        return
    if name is None:
        raise UsageError('give a code such as ST101, an operation such as "POST /users", or --list')
    pages = pages_for(name)
    if pages is None and _ID.fullmatch(name.strip().lower()):
        past = PastRun.of(folder_of(run), configured(ctx))
        found = chosen_findings([name.strip()], list(past.report.findings))
        blocks = failures_by_label(found, past.context.truncation, past.context.masking.command)
        shown = [f"{one_line(label)}\n\n{block}" for label, block in blocks]
        codes = dict.fromkeys(one.code or one.check for one in found)
        echo("\n\n".join([*shown, *(page for code in codes for page in pages_for(code) or ())]))
        return
    # Names of codes, checks and warnings are one word; labels of operations are not.
    if pages is None and (run is not None or " " in name.strip() or "." in name):
        echo(_page_of(ctx, name, run))
        return
    if pages is None:
        hint = did_you_mean(name, known_names(), alike=0.5) or "."
        raise UsageError(f"unknown name {name!r}{hint} --list shows what can be explained")
    echo("\n\n".join(pages))


def _page_of(ctx: click.Context, name: str, run: str | None) -> str:
    folder = folder_of(run)
    past = PastRun.of(folder, configured(ctx))
    label, report = name.strip(), past.report
    labels = [one.label for one in report.operations]
    if label not in labels:
        hint = did_you_mean(label, labels) or "."
        raise UsageError(f"the last run of {folder} had no operation {label!r}{hint}")
    events = RunEvents(RunLayout(folder), past.run.first)
    samples = samples_by_status((one for one in events.all() if isinstance(one, Interaction)), label)
    return operation_page(label, past.view, report, samples, past.context)
