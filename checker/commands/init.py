"""`checker init`."""

import json
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

import click

from checker.commands.command import echo
from checker.commands.config import schema_text
from checker.commands.options import RUN_SETTINGS, run_options
from checker.commands.outline import planned_run
from checker.commands.topics import TestingCommand
from checker.core.errors import UsageError
from checker.core.terminal import one_line
from checker.health import looks_dangerous
from checker.workers.subject import TestedDescription, read_subject

CONFIGURATION = Path("checker.toml")
SCHEMA = Path("checker.schema.json")  # Editors use this file to complete and verify keys.
_GITHUB = """\
name: API
on: [push]
jobs:
  api:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      # Start the API here.
      - uses: actions/setup-python@v5
        with: {{ python-version: "3.12" }}
      - run: pip install checker-api
      - run: |
          checker run {location} --seed 1 --max-time 300 --report junit,html,sarif
      - if: always()
        uses: actions/upload-artifact@v4
        with: {{ name: checker-report, path: checker-report }}
"""
_GITLAB = """\
api:
  image: python:3.12-slim
  script:
    # Start the API here, or as a service of the job.
    - pip install checker-api
    - |
      checker run {location} --seed 1 --max-time 300 --report-junit-path checker-report/junit.xml --report html
  artifacts:
    when: always
    paths: [checker-report]
    reports: {{ junit: checker-report/junit.xml }}
"""
JOBS = {"github": (Path(".github/workflows/api.yml"), _GITHUB), "gitlab": (Path("checker.gitlab-ci.yml"), _GITLAB)}
"""CI system -> file of its job, and the text."""


@click.command(cls=TestingCommand)
@click.option("--ci", type=click.Choice(tuple(JOBS)), help="Write a job for this CI system, too.")
@run_options(RUN_SETTINGS)
@click.pass_context
def init(ctx: click.Context, /, ci: str | None, **options: Any) -> None:
    """Write a commented checker.toml for the description at LOCATION, and the JSON Schema of its keys. Files that exist are not changed.

    Only the request for the description is sent.
    """
    wanted = [CONFIGURATION, *([JOBS[ci][0]] if ci else [])]
    for path in wanted:
        if path.exists():
            raise UsageError(f"{path} exists; rename or remove it, then run `checker init` again")
    with planned_run(ctx, options) as (settings, layout):
        # Files of a repository must not hold the credentials of the location.
        location = one_line(settings.report.sanitization.redaction.url(options["location"]))
        texts = ["\n".join(_configuration(read_subject(settings, layout), location)) + "\n"]
    if ci:
        texts.append(JOBS[ci][1].format(location=quote(location)))
    if not SCHEMA.exists():
        wanted.append(SCHEMA)
        texts.append(schema_text())
    for path, text in zip(wanted, texts, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        echo(f"Wrote {path}")
    echo(f"Next: checker run {quote(location)}")


def _configuration(subject: TestedDescription, location: str) -> Iterator[str]:
    schema, redaction = subject.description.schema, subject.settings.report.sanitization.redaction
    yield f"#:schema {SCHEMA}"
    yield f"# {one_line(schema.title)}: {len(subject.selected)} operations, described at {location}."
    yield f"# Editors complete and verify the keys by {SCHEMA}; `checker config schema > {SCHEMA}` renews it."
    yield "# `checker config show` prints the value and the source of every key."
    yield ""
    # A text of JSON is also a text of TOML.
    yield f"base-url = {json.dumps(redaction.url(schema.base_url or subject.origin.url))}"
    yield "# seed = 1                   # the same requests in every run"
    yield "# max-time = 300             # seconds for the testing"
    yield "# workers = 4                # processes; default 1"
    yield '# baseline = "known.toml"    # known failures fail no run'
    examples = subject.schemes.examples(schema.described_login, subject.origin.plain)
    if examples:
        yield ""
        yield "# The description declares these security schemes. Set the environment variables and remove the first sign of"
        yield "# each line; `checker auth check` tries the credentials."
        yield from (f"# {line}".rstrip() for line in "\n".join(examples).splitlines())
    dangerous = [one for one in subject.selected.values() if looks_dangerous(one.path, one.operation_id)]
    if dangerous:
        yield ""
        yield "# The names of these operations suggest that they end sessions or empty stores. A run tests them last. These"
        yield "# blocks leave them out."
    for operation in dangerous:
        yield "# [[operations]]"
        yield f'# include-name = "{operation.label}"'
        yield "# enabled = false"
