"""Every option and every key of the configuration is explained on a page of the documentation."""

import re
from pathlib import Path

import pytest

from checker.commands.config import json_schema
from checker.commands.replay import replay
from checker.commands.run import fuzz, run
from checker.config.table import SECTIONS
from checker.core.reports import REPORT_FORMATS
from checker.corpus.layout import RunLayout
from checker.transport.prepare import CASE_ID_HEADER

ROOT = Path(__file__).parents[2]
TEXT = "\n".join(page.read_text() for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
WORDS = frozenset(word.strip("-") for word in re.findall(r"[\w-]+", TEXT))
"""Options without their dashes: an option and its key explain each other."""
OF_FORMATS = {f"--report-{row.name}-path" for row in REPORT_FORMATS.values()}
OF_FILTERS = re.compile("--(in|ex)clude-(path|method|name|tag|operation-id)(-regex)?")


@pytest.mark.parametrize("command", [run, fuzz, replay], ids=["run", "fuzz", "replay"])
def test_options(command) -> None:
    missing = []
    for option in command.params:
        names = {name for name in getattr(option, "opts", ()) if name.startswith("--")}
        words = {name.strip("-") for name in names}
        # `--generation-codec` sets the key `generation.codec`.
        words |= {re.sub("^(generation|output)-", "", word) for word in words}
        is_of_many = OF_FORMATS & names or any(map(OF_FILTERS.fullmatch, names))
        if names and not getattr(option, "hidden", False) and not is_of_many and not WORDS & words:
            missing.append(sorted(names))
    assert missing == []


def test_keys() -> None:
    keys = {key.replace("_", "-") for section in SECTIONS.values() for key in section}
    assert {key for key in keys if key not in WORDS and key.replace("-", "_") not in WORDS} == set()


def test_keys_of_single_operations() -> None:
    (block,) = re.findall(r"^\| key \|.*?\n\n", (ROOT / "docs" / "operations.md").read_text(), re.DOTALL | re.MULTILINE)
    keys = json_schema()["$defs"]["operations"]["properties"]
    settings = {key for key in keys if not re.match("(in|ex)clude-", key)}
    assert {key for key in settings if f"`{key}" not in block} == set()


def test_files_and_headers_of_a_run() -> None:
    page = (ROOT / "docs" / "traffic.md").read_text()
    layout = RunLayout(Path())
    files = {getattr(layout, name).name for name, value in vars(RunLayout).items() if isinstance(value, property)}
    assert {name for name in (*files, CASE_ID_HEADER) if f"`{name}`" not in page} == set()
    assert len(files) > 8
