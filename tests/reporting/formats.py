"""Reports in every format, and readers of each that are not ours."""

import ast
import io
import json
import re
import subprocess
import tarfile
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import Any

import allure_commons.model2 as allure
import html5lib
from haralyzer import HarParser
from jsonschema import Draft4Validator, Draft6Validator, Draft202012Validator
from junitparser import JUnitXml
from markdown_it import MarkdownIt
from referencing import Registry
from referencing.jsonschema import DRAFT6

import checker
from checker.config.settings import RunSettings
from checker.core.reports import REPORT_FORMATS, ReportFormat
from checker.corpus.fold import fold
from checker.corpus.records import Interaction, Record
from checker.reporting.events import EventStream
from checker.reporting.report import report_of
from checker.reporting.shown import ReportContext
from checker.reporting.writing import writer_of
from tests import cassettes

_FOLDER = Path(checker.__file__).parent / "reporting" / "formats"
_EVENT = Draft202012Validator(json.loads((_FOLDER / "events.schema.json").read_text()))
WRITTEN = [row for row in REPORT_FORMATS.values() if row.writer is not None]
_DATA = Path(__file__).parents[1] / "data"
_SARIF = json.loads(_DATA.joinpath("sarif/sarif-2.1.0.json").read_text())
_WFC = cassettes.read(resources.files("webfuzzing_commons").joinpath("data/report.yaml").read_text())
_HAR_PARTS = json.loads(_DATA.joinpath("har/har-schema-2.0.0.json").read_text())["schemas"]
_HAR = Draft6Validator(
    _HAR_PARTS["har.json"],
    registry=Registry().with_resources((name, DRAFT6.create_resource(part)) for name, part in _HAR_PARTS.items()),
    format_checker=Draft6Validator.FORMAT_CHECKER,
)
_VERDICT = json.loads((_FOLDER / "verdict.schema.json").read_text())


def written(
    row: ReportFormat,
    records: Iterable[Record],
    interactions: Iterable[Interaction],
    settings: RunSettings,
    context: ReportContext,
) -> dict[str, bytes]:
    """Name -> content of the files of a report, as they would stand on disk."""
    found = list(records)
    if row.streams:
        writer, stream = writer_of(row)(context), EventStream()
        texts = [writer.head()]
        for record in found:
            texts += map(writer.event, stream.follow(1, record))
        for one in interactions:
            texts += map(writer.event, stream.interaction(one))
        texts += map(writer.event, stream.end())
        return {"": "".join([*texts, writer.end()]).encode()}
    report = report_of(fold((1, record) for record in found), settings, "completed")
    pieces = writer_of(row)(report, context)
    if row.is_binary:
        return {"": b"".join(pieces)}
    if row.is_folder:
        return {name: text.encode() for name, text in pieces}
    return {"": "".join(pieces).encode()}


def read_junit(files: dict[str, bytes]) -> Any:
    (suite,) = JUnitXml.fromstring(files[""])
    return [case.name for case in suite]


def read_vcr(files: dict[str, bytes]) -> Any:
    return cassettes.read(files[""])["http_interactions"] or []


def read_har(files: dict[str, bytes]) -> Any:
    found = json.loads(files[""])
    _HAR.validate(found)
    parser = HarParser(found)
    return [entry for page in parser.pages for entry in page.entries] or parser.har_data["entries"]


def read_ndjson(files: dict[str, bytes]) -> Any:
    lines = files[""].splitlines()
    found = [json.loads(line) for line in lines]
    for event in found:
        _EVENT.validate(event)
    return [next(iter(event.items())) for event in found]


def read_json(files: dict[str, bytes]) -> Any:
    found = json.loads(files[""])
    Draft202012Validator(_VERDICT).validate(found)
    return found


def read_sarif(files: dict[str, bytes]) -> Any:
    found = json.loads(files[""])
    Draft4Validator(_SARIF).validate(found)
    return found["runs"][0]["results"]


_ISSUES = {
    "items": {
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "pattern": r"\A.+\Z"},
            "check_name": {"type": "string"},
            "fingerprint": {"type": "string"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "required": ["path", "lines"],
                "properties": {"path": {"type": "string"}, "lines": {"properties": {"begin": {"type": "integer"}}}},
            },
        },
    },
    "type": "array",
}
"""https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format"""


def read_codequality(files: dict[str, bytes]) -> Any:
    found = json.loads(files[""])
    Draft202012Validator(_ISSUES).validate(found)
    assert len({one["fingerprint"] for one in found}) == len(found)
    return found


_OWN_TAGS = re.compile(r"</?details>|</?b>|</?summary>")


def read_markdown(files: dict[str, bytes]) -> Any:
    """Tokens; of tags only ours are there, and nothing leads anywhere."""
    assert len(files[""]) < 60_000
    tokens = MarkdownIt("commonmark").parse(files[""].decode())
    every = [one for token in tokens for one in (token, *(token.children or ()))]
    assert not {"link_open", "image"} & {one.type for one in every}
    raw = "".join(one.content for one in every if one.type in ("html_block", "html_inline"))
    assert "<" not in _OWN_TAGS.sub("", raw)
    return tokens


def read_html(files: dict[str, bytes]) -> Any:
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    return parser.parse(files[""].decode())


def read_allure(files: dict[str, bytes]) -> Any:
    results = []
    for name, content in files.items():
        if not name.endswith("-result.json"):
            continue
        plain = json.loads(content)
        result = allure.TestResult(**plain)
        assert result.status in ("passed", "failed", "broken", "skipped")
        for label in plain["labels"]:
            allure.Label(**label)
        for step in plain["steps"]:
            made = allure.TestStepResult(**step)
            for one in made.attachments:
                assert allure.Attachment(**one).source in files
        results.append(result)
    return results


def read_http(files: dict[str, bytes]) -> Any:
    return re.findall(r"(?m)^### (.*)$", files[""].decode())


def read_sh(files: dict[str, bytes]) -> Any:
    read = subprocess.run(["bash", "-n"], input=files[""], capture_output=True, check=False)
    assert (read.returncode, read.stderr) == (0, b"")
    return re.findall(r"(?m)^ +send \w+ (curl .*)$", files[""].decode())


def read_wfc(files: dict[str, bytes]) -> Any:
    found = json.loads(files[""])
    Draft202012Validator(_WFC).validate(found)
    ids = {case["id"] for case in found["testCases"]}
    operations = set(found["problemDetails"]["rest"]["endpointIds"])
    for fault in found["faults"]["foundFaults"]:
        assert fault["testCaseId"] in ids
        assert fault["operationId"] in operations
    return found


def read_pytest(files: dict[str, bytes]) -> Any:
    tree = ast.parse(files[""])
    compile(tree, "report", "exec")
    return [one.name for one in tree.body if isinstance(one, ast.FunctionDef) and "test_" in one.name]


def read_weights(files: dict[str, bytes]) -> Any:
    found = json.loads(files[""])
    assert all(0 <= seconds < 1e9 for seconds in found["weights"].values())
    return found


def read_archive(files: dict[str, bytes]) -> Any:
    with tarfile.open(fileobj=io.BytesIO(files[""]), mode="r:gz") as archive:
        found = {one.name: inside.read() for one in archive if (inside := archive.extractfile(one))}
    metadata = json.loads(found.pop("metadata.json"))
    assert sorted(found) == metadata["files"]
    return metadata, found


READERS: dict[str, Callable[[dict[str, bytes]], Any]] = {
    name.removeprefix("read_"): reader for name, reader in list(globals().items()) if name.startswith("read_")
}
