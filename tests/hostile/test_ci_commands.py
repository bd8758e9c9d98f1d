"""Text of a server acts in no log of a CI system: systems x places x spellings, in every format and command."""

import io
import json
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.core.blocks import Answer, FailedCase, Truncation, failure_block
from checker.core.curl import quoted, words
from checker.core.failures import Failure, FailureGroup
from checker.core.known import KnownFailure
from checker.corpus.fold import fold
from checker.corpus.journal import JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note, OperationError, OperationsSelected, Quarantined, ResourceMade
from checker.reporting.baselines import write_baseline
from checker.reporting.console import Console
from checker.reporting.formats.markdown import add_summary, annotations
from checker.reporting.formats.vcr import emitted
from checker.reporting.report import Report, report_of
from checker.reporting.shown import ReportContext
from checker.reporting.text import json_text
from tests import cassettes
from tests.asking import changed
from tests.e2e.runner import Command
from tests.hostile.runners import azure_commands, commands, github_commands, teamcity_messages
from tests.reporting.formats import WRITTEN, written
from tests.reporting.samples import AT, exchange, finding, interaction, records, settings

COMMANDS = (
    "::add-mask::{}",
    "::stop-commands::{}",
    "::error file=a.py,line=1::{}",
    "##[error]{}",
    "##[add-mask]{}",
    "##vso[task.setvariable variable=x]{}",
    "##VSO[task.complete result=Failed;]{}",
    "##teamcity[buildProblem description='{}']",
)
BEFORE = (
    *("", "\n", "\r", "\r\n", "\n    ", "\n\t", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"),
    *("\n\x1b[0m", "\n\u200b", "\n\ufeff ", "\n\u00a0", "\n\n\n", "#", "\n#", ":\n"),
)
"""What stands between the words of a server and its command."""


def spelt(command: str, place: str) -> str:
    """Every spelling of a command, with the place in it; the first one begins the text."""
    made = command.format(place)
    coloured = "\x1b[31m".join(made)
    return "".join(f"{before}{made} x" for before in BEFORE) + f"\n{coloured}"


TOLD = settings(truncation=Truncation(enabled=False), max_shown=1000, workers=1, color=False)


def sending(body: str) -> str:
    return f"curl -X POST -d {quoted(body)} http://127.0.0.1/a"


def hostile_records(command: str) -> tuple[list[Any], list[Any]]:
    """Records and interactions of a run in which every text of the server and of the description holds the command."""

    def text(place: str) -> str:
        return spelt(command, place)

    label = f"GET /{text('(path)')}"
    body = json.dumps({"multi": [text("json")]}, indent=2, ensure_ascii=False) + text("body")
    said = exchange(
        target=f"/{text('target')}".encode(),
        headers=((b"X-Sent", text("sent").encode()),),
        body=text("request body").encode(),
        reason=text("reason"),
        response_head=b"Content-Type: text/plain\r\nX-Said: "
        + text("header").replace("\r", "").replace("\n", " ").encode()
        + b"\r\n",
        response_body=body.encode(),
        response_size=len(body.encode()),
    )
    sent = interaction(label=label, exchange=said, phase_data=(("description", text("phase data")),))
    query = json.dumps({"query": f"{{ a(b: {json.dumps(text('query'))}) }}"})
    found = finding(
        label=label,
        title=text("title"),
        message=text("GraphQL message"),
        code="",
        check=text("check"),
        unique_key=text("rule"),
        reproduction=sending(query + text("command")),
        needs=(ResourceMade(text("made"), label, "fuzzing", 0, 201, sending(text("needs"))),),
        stopped=text("stopped"),
        interactions=(sent,),
    )
    base = records()
    about = [
        OperationError(label, "fuzzing", text("error title"), text("error"), text("trace")),
        Note("unresolvable_reference", label, text("pointer"), text("warning")),
        Note("opaque", label, text("opaque"), text("note")),
        Quarantined("t1", label, 1, "c", "send", 2, (), sending(text("q")), text("reason")),
    ]
    return [base[0], base[1], OperationsSelected((label,)), found, *about, *base[5:]], [sent]


def report(found: list[Any], told: RunSettings = TOLD) -> Report:
    return report_of(fold((1, one) for one in found), told, "completed")


def context(command: str) -> ReportContext:
    return ReportContext(
        "checker run x",
        1,
        "http://h",
        location="openapi.json",
        started_at=AT,
        title=spelt(command, "API"),
        truncation=Truncation(enabled=False),
    )


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("row", [one for one in WRITTEN if not one.is_binary], ids=lambda r: r.name)
def test_no_report_holds_a_command(row: Any, command: str) -> None:
    found, sent = hostile_records(command)
    files = written(row, found, sent, TOLD, context(command))
    assert files
    assert {name: lines for name, data in files.items() if (lines := commands(data.decode()))} == {}


@pytest.mark.parametrize("style", ["curl", "python"])
@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_console_holds_no_command(command: str, color: bool, style: str) -> None:
    told = changed(TOLD, color=color, code_sample_style=style, kind="fuzz")
    stream = io.StringIO()
    console = Console(told, stream, clock=lambda: 100.0)
    found, _ = hostile_records(command)
    for one in found:
        console.on_record(1, one)
    console.finish(report(found, told))
    shown = stream.getvalue()
    assert "GraphQL message" in shown
    assert commands(shown) == []
    # A path is on one line wherever it stands, with its line ends written out.
    with_path = [line for line in shown.split("\n") if "(path)" in line]
    assert len(with_path) > 3
    assert all(line.count("(path)") >= len(BEFORE) for line in with_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_annotations_are_our_own_and_no_others(command: str, tmp_path: Path) -> None:
    found, _ = hostile_records(command)
    lines = list(annotations(report(found), context(command)))
    log = "\n".join(lines)
    assert len(lines) == 3
    assert all(line.startswith("::error title=") for line in lines)
    # Each line is found twice, with and without ANSI escapes; it is the one command on it.
    assert sorted(github_commands(log)) == sorted(lines * 2)
    assert [*azure_commands(log), *teamcity_messages(log)] == []
    add_summary(tmp_path / "summary.md", report(found), context(command))
    assert commands((tmp_path / "summary.md").read_text()) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_about_a_past_run_prints_one(command: str, tmp_path: Path) -> None:
    found, _ = hostile_records(command)
    (defect,) = (one for one in found if hasattr(one, "fingerprint"))
    defect = replace(defect, fingerprint="0123456789abcdef")
    layout = RunLayout(tmp_path / "corpus")
    layout.create()
    writer = JournalWriter(layout.journal(1, 1001))
    for one in found:
        writer.write(defect if hasattr(one, "fingerprint") else one)
    writer.flush()
    writer.close()
    entry = {name: spelt(command, name) for name in ("title", "reason", "owner", "ticket")}
    known = KnownFailure(check="c", operation=defect.label, fingerprint="v1-0123456789abcdef", **entry)
    write_baseline(tmp_path / "known.toml", [known, replace(known, fingerprint="v1-1")])
    for arguments in (
        ("baseline", "list", "--file", "known.toml"),
        ("baseline", "diff", "corpus", "--file", "known.toml"),
        ("baseline", "add", "all", "--run", "corpus"),
        ("report", "corpus"),
        ("explain", defect.label, "--run", "corpus"),
        ("explain", "v1-0123456789abcdef", "--run", "corpus"),
        ("explain", defect.label + "x", "--run", "corpus"),
    ):
        ran = Command(tmp_path).here(*arguments)
        assert "GET /" in ran.shown, arguments
        assert commands(ran.shown) == [], arguments


@pytest.mark.parametrize("command", COMMANDS)
def test_formats_for_programs_lose_nothing(command: str) -> None:
    text = spelt(command, "x")
    value = {text: [text, f"\\{text}"]}
    assert json.loads(json_text(value)) == value
    assert cassettes.read(emitted(value)) == value
    assert [read for _, read in words(f"curl {quoted(text)}")] == ["curl", text]


@pytest.mark.parametrize("runner", [github_commands, azure_commands, teamcity_messages])
def test_a_stand_in_finds_what_its_runner_obeys(runner: Callable[[str], Iterator[str]]) -> None:
    obeyed: dict[Any, set[str]] = {
        github_commands: {"::add-mask::x", "  ::error file=a::b", "a ##[group]b", "##[error]c"},
        azure_commands: {"a ##vso[task.setvariable variable=x]y", "a ##[group]b", "##[error]c"},
        teamcity_messages: {"a ##teamcity[buildStop]"},
    }
    every = set[str]().union(*obeyed.values())
    idle = {"a ::add-mask::x", ":: x", r"#\#vso[a]b", r":\:error::x", "## [error]", "a::b::c"}
    found = set(runner("\n".join([*every, *idle])))
    assert {line.strip() for line in found} == {line.strip() for line in obeyed[runner]}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_traceback_of_a_test_run_holds_a_command(command: str) -> None:
    text = spelt(command, "x")
    answer = Answer(status=500, reason=text, body=text.encode())
    failed = FailedCase("", ((text, text),), answer, (sending(text),), about=text)
    group = FailureGroup(failure_block(1, failed), [Failure(text, title=text)])
    assert commands("".join(traceback.format_exception(group))) == []
