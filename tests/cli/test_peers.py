"""Object-level authorization: what one user of an authentication document made, the others do not get to read."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.apps.notebooks import DOCUMENT, Notebooks, wfc_document
from tests.apps.serving import serving

RUN = ("--inline", "--phases", "stateful", "-n", "12", "--seed", "1", "--mode", "positive")
ONLY = ("-c", "object_level_authorization")
TITLE = "Object-level authorization bypass"
PEERS = '[auth.wfc]\npath = "users.json"\npeers = ["anna", "bert"]\n'


@pytest.fixture
def run(invoke: Any, folder: Path) -> Any:
    (folder / "users.json").write_text(json.dumps(wfc_document()))
    (folder / "checker.toml").write_text(PEERS)

    def called(app: Notebooks, *options: str) -> Any:
        with serving(app.answer, DOCUMENT) as served:
            return invoke("run", served.document_url, "-u", served.url, *RUN, *ONLY, *options)

    return called


def test_a_note_that_any_user_reads_is_found_with_a_command_that_shows_it(run) -> None:
    result = run(Notebooks())
    assert result.exit_code == 1, result.output
    assert f"{TITLE}: 1" in result.output
    assert "Made by 'anna' with: POST /notes" in result.output
    assert "Read by 'bert' with: GET /notes/" in result.output
    assert "tok-" not in result.output
    assert "not reproduced" not in result.output


@pytest.mark.parametrize(
    "app",
    [Notebooks(is_planted=False), Notebooks(is_shared=True), Notebooks(is_public=True)],
    ids=["kept apart", "shared by lists", "public"],
)
def test_notes_that_are_well_kept_or_meant_for_all_are_no_failure(run, app: Notebooks) -> None:
    result = run(app)
    assert result.exit_code == 0, result.output
    # It has asked.
    assert app.readers["bert"] >= 3


def test_without_peers_nobody_else_asks(run, folder: Path) -> None:
    (folder / "checker.toml").write_text('[auth.wfc]\npath = "users.json"\n')
    app = Notebooks()
    result = run(app)
    assert result.exit_code == 0, result.output
    assert "object_level_authorization needs `peers` in `[auth.wfc]`" in result.stderr
    assert not app.readers["bert"]


@pytest.mark.parametrize(
    ("peers", "said"),
    [
        ('["anna"]', "'peers' must name two users or more"),
        ('["anna", "carl"]', "there is no user 'carl' in the document"),
        ('["anna", "anna"]', "'anna' is given more than once"),
        ("3", "Must be an array"),
    ],
)
def test_peers_that_mean_nothing_are_one_sentence(run, folder: Path, peers: str, said: str) -> None:
    (folder / "checker.toml").write_text(f'[auth.wfc]\npath = "users.json"\npeers = {peers}\n')
    result = run(Notebooks())
    assert result.exit_code == 2
    assert said in result.output


def test_the_check_can_be_switched_off(invoke: Any, run, folder: Path) -> None:
    app = Notebooks()
    off = "[checks.object_level_authorization]\nenabled = false\n"
    (folder / "checker.toml").write_text(PEERS + off)
    with serving(app.answer, DOCUMENT) as served:
        result = invoke("run", served.document_url, "-u", served.url, *RUN)
    assert TITLE not in result.output
    assert app.readers["anna"]
    assert not app.readers["bert"]
