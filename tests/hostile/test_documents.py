"""Hostile descriptions: each ends in a sentence or in a test, in bounded memory, and costs nothing but what it touches."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.apps.serving import json_reply, serving
from tests.hostile.conftest import Ended
from tests.hostile.documents import FAMILIES
from tests.hostile.making import Row

MOST_MIB = 300
_BATCH = 30
"""Documents of one test."""


def complaints(row: Row, found: dict[str, Any]) -> list[str]:
    """What is not as it should be."""
    if "raised" in found:
        return [found["raised"]]
    wrong = []
    if found["peak_mib"] > MOST_MIB:
        wrong.append(f"took {found['peak_mib']} MiB")
    if bool(row.refused) != ("refused" in found):
        return [*wrong, f"refused: {found.get('refused')}"]
    if row.refused:
        return wrong if row.refused in found["refused"] else [*wrong, found["refused"][:500]]
    operations, said = found["operations"], found["said"]
    failed = {label: error for label, error in operations.items() if error}
    wrong += [f"{label} was not tested: {operations.get(label)}" for label in row.tested if operations.get(label) != ""]
    if row.fails and not any(row.fails in error for error in failed.values()):
        wrong.append(f"failed: {failed}"[:900])
    if row.says and not any(row.says in sentence for sentence in said):
        wrong.append(f"said: {said}"[:900])
    wrong += [f"no sentence: {error!r}"[:300] for error in failed.values() if "\n" in error.strip()]
    return wrong


BATCHES = [(family, start) for family, rows in FAMILIES.items() for start in range(0, len(rows), _BATCH)]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("family", "start"), BATCHES)
@pytest.mark.thorough_beyond(1)
def test_hostile_documents_cost_what_they_touch(
    family: str, start: int, consider: Callable[..., dict[str, Any]]
) -> None:
    rows = dict(islice(FAMILIES[family].items(), start, start + _BATCH))
    wrong = {name: complaints(row, consider(family, name)) for name, row in rows.items()}
    assert {name: some for name, some in wrong.items() if some} == {}


def test_there_are_enough_of_them() -> None:
    assert sum(len(rows) for family, rows in FAMILIES.items() if family != "grammar") >= 200


RUN: dict[str, Row] = {
    name: rows[name]
    for rows, names in (
        (FAMILIES["names"], ("escapes in a path", "escapes in a method", "escapes in a parameter", "a media type that is none")),
        (FAMILIES["references"], ("to itself", "five thousand in a row")),
        (FAMILIES["schemas"], ("types of types", "all of all")),
    )
    for name in names
}  # fmt: skip


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", RUN)
@pytest.mark.thorough_beyond(1)
def test_run_goes_on_and_says_it_in_plain_text(name: str, drive: Callable[..., Ended], tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    path.write_bytes(RUN[name].data())
    with serving(lambda request: json_reply({}), {}) as app:
        ended = drive("run", str(path), "--url", app.url, "--inline", "--seed", "1", "-n", "3")
        assert any(request.target == b"/ok" for request in app.seen), ended
    assert ended.code in (0, 1), ended
    assert not ended.bug, ended
    assert "Traceback" not in ended.output, ended
    assert "Runtime Error" not in ended.output, ended
    assert [one for one in ended.output if not one.isprintable() and one != "\n"] == [], ended
    assert ended.peak_mib <= MOST_MIB


def test_document_that_cannot_be_read_ends_in_a_sentence(drive: Callable[..., Ended], tmp_path: Path) -> None:
    path = tmp_path / "hostile.yaml"
    path.write_bytes(FAMILIES["bytes"]["aliases of aliases"].data())
    ended = drive("run", str(path), "--url", "http://127.0.0.1:9", "--inline")
    assert ended.code == 2, ended
    assert not ended.bug, ended
    assert "its aliases expand to too many values" in " ".join(ended.output.split())
    assert "Traceback" not in ended.output
