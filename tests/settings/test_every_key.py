"""Every key of the configuration has a row: its default, a good value and its effect, a bad value and its sentence."""

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.checks.judge import UNJUDGED
from checker.config.config import Config
from checker.config.operation_settings import OperationLayers, OperationSettings
from checker.config.resolve import Invocation, run_settings
from checker.config.table import NOT_IN_PROJECTS, OPERATION_KEYS, SECTIONS, not_in_operations
from checker.core import phases
from checker.core.errors import ConfigError, UsageError
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.response import Response
from checker.phases.attempt import Verdict
from checker.phases.case_factory import GeneratedCase
from tests.apps.notebooks import wfc_document
from tests.asking import saying
from tests.settings.experiments import EXPERIMENTS
from tests.settings.rows import BLOCK, ROWS, InRun
from tests.settings.runs import Place, Seen, nested
from tests.workers.block_probes import PROBES
from tests.workers.harness import workplace


def is_of_one_phase(place: Place) -> bool:
    """Whether the key stands elsewhere, too, for all phases."""
    return place[0] == "phases" and place[2:3] in (("generation",), ("checks",))


TESTS = Path(__file__).parents[1]
IN_RUNS = {place: row for place, row in ROWS.items() if isinstance(row.effect, InRun) and not is_of_one_phase(place)}
Runs = Callable[[str, str | None], Seen]


def places() -> Iterator[Place]:
    for section, keys in SECTIONS.items():
        yield from ((*section, key) for key in keys)


def test_every_key_has_a_row() -> None:
    assert set(places()) == ROWS.keys()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """(experiment, which settings: None for none) -> what was seen; each is run once."""
    folder = tmp_path_factory.mktemp("runs")
    known: dict[tuple[str, str | None], Seen] = {}

    def run(name: str, apart: str | None) -> Seen:
        if (name, apart) not in known:
            said = {
                place: row.good
                for place, row in IN_RUNS.items()
                if isinstance(row.effect, InRun) and (row.effect.run, row.effect.apart) == (name, apart)
            }
            known[name, apart] = EXPERIMENTS[name].run(folder / str(len(known)), said)
        return known[name, apart]

    return run


@pytest.mark.parametrize("place", IN_RUNS, ids=".".join)
def test_a_good_value_acts(place: Place, runs: Runs) -> None:
    effect = ROWS[place].effect
    assert isinstance(effect, InRun)
    without, with_it = runs(effect.run, None), runs(effect.run, effect.apart)
    assert effect.shows(with_it), with_it.stdout + with_it.stderr
    assert not effect.shows(without), without.stdout + without.stderr


def test_what_is_shown_elsewhere_is_shown_there() -> None:
    for place, row in ROWS.items():
        if isinstance(row.effect, str):
            file, _, name = row.effect.partition("::")
            text = (TESTS / file).read_text()
            assert name, place
            assert re.search(rf"^def {name}\(", text, re.MULTILINE), (place, row.effect)
        if row.effect == BLOCK and place != ("dictionaries",):
            assert (place[2:] if is_of_one_phase(place) else place) in PROBES


def test_failures_of_another_run_are_known(tmp_path: Path) -> None:
    experiment = dataclasses.replace(EXPERIMENTS["plain"], base={"reports.json.path": str(tmp_path / "a.json")})
    first = experiment.run(tmp_path / "first", {})
    again = dataclasses.replace(experiment, base={}).run(tmp_path / "again", {("compare",): str(tmp_path / "a.json")})
    assert (first.code, again.code) == (1, 0)
    assert "2 known" in again.stdout


NAME = {"type": "string", "minLength": 1}
THING = {"type": "object", "properties": {"id": NAME}, "required": ["id"]}
THINGS: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {
        "/things": {
            "post": {"responses": {"201": {"description": "", "content": {"application/json": {"schema": THING}}}}}
        },
        "/things/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": NAME}],
            "get": {"responses": {"200": {"description": ""}}},
        },
    },
}


def answered(label: str, number: int) -> Response:
    """What is made has a number; nobody finds anything."""
    if label.startswith("GET"):
        return Response(404, [], b"")
    content = json.dumps({"id": f"T{number}"}).encode()
    return Response(201, [("Content-Type", "application/json")], content)


def test_what_was_refused_is_taken_again_without_calibration(tmp_path: Path) -> None:
    def takes_refused(*, link_calibration: bool) -> bool:
        """Whether an identifier is taken that was refused although there is a fresh one."""
        rules = replace(place.explorer.chains.rules, link_calibration=link_calibration)
        explorer, step = replace(place.explorer.chains, rules=rules), PhaseInfo("stateful")
        for index in range(30):
            sequence: list[Verdict] = []
            refused: set[object] = set()
            after: GeneratedCase | None
            after = place.factory.make(Label("POST /things"), 1, index, step)
            while after is not None:
                taken = {one.literal for one in after.bindings}
                made = sum(one.case.method == "POST" for one in sequence)
                if taken & refused and made > len(refused):
                    return True
                refused |= taken
                answer = answered(after.label, len(sequence))
                sequence.append(Verdict(after.case, None, answer, UNJUDGED))
                after = explorer.follow(tuple(sequence), 1, index, step)
        return False

    with workplace(tmp_path, document=THINGS) as place:
        assert takes_refused(link_calibration=False)
        assert not takes_refused(link_calibration=True)


def test_a_sequence_makes_another_resource_when_its_value_is_refused_again(tmp_path: Path) -> None:
    def sequences(*, link_calibration: bool) -> Iterator[list[str]]:
        rules = replace(place.explorer.chains.rules, link_calibration=link_calibration, max_steps=10)
        explorer, step = replace(place.explorer.chains, rules=rules), PhaseInfo("stateful")
        for index in range(30):
            sequence: list[Verdict] = []
            sent: list[str] = []
            after: GeneratedCase | None = place.factory.make(Label("POST /things"), 1, index, step)
            while after is not None:
                sent += [str(one.literal) for one in after.bindings] or ["new"]
                sequence.append(Verdict(after.case, None, answered(after.label, len(sequence)), UNJUDGED))
                after = explorer.follow(tuple(sequence), 1, index, step)
            yield sent

    def most_uses(sent: list[str]) -> int:
        return max((sent.count(one) for one in sent if one != "new"), default=0)

    with workplace(tmp_path, document=THINGS) as place:
        assert max(map(most_uses, sequences(link_calibration=False))) > 2
        calibrated = list(sequences(link_calibration=True))
    assert max(map(most_uses, calibrated)) == 2
    assert all(sent.count("new") > 2 for sent in calibrated if len(sent) == 10)
    assert any(len(sent) == 10 for sent in calibrated)


def value_of(config: Any, place: Place) -> Any:
    for part in place:
        config = getattr(config, part.replace("-", "_"))
    return config


def test_defaults_are_those_of_the_table() -> None:
    config = Config.from_dict({}, environment={})
    for place in places():
        assert value_of(config, place) == SECTIONS[place[:-1]][place[-1]].default, place


def needed(place: Place) -> dict[Place, Any]:
    """What must stand beside some keys."""
    beside: dict[Place, dict[Place, Any]] = {
        ("auth", "basic", "username"): {("auth", "basic", "password"): "s"},
        ("auth", "basic", "password"): {("auth", "basic", "username"): "a"},
        ("auth", "basic", "type"): {("auth", "basic", "username"): "a", ("auth", "basic", "password"): "s"},
        ("auth", "wfc", "user"): {("auth", "wfc", "path"): "users.json"},
        ("auth", "wfc", "refresh_interval"): {("auth", "wfc", "path"): "users.json"},
        ("auth", "wfc", "peers"): {("auth", "wfc", "path"): "users.json"},
        ("generation", "dictionaries"): {("dictionaries",): {"words": {"values": ["w"]}}},
        ("baseline-update",): {("baseline",): "known.toml"},
        ("baseline-prune",): {("baseline",): "known.toml"},
        ("request-cert-key",): {("request-cert",): __file__},
    }
    return beside.get(place, {})


def test_a_bad_value_is_one_sentence() -> None:
    for place, row in ROWS.items():
        Config.from_dict(given(place), environment={})
        with pytest.raises(ConfigError) as refused:
            Config.from_dict(nested({}, {**needed(place), place: row.bad}), environment={})
        assert row.message in str(refused.value), place
        assert place[-1] in str(refused.value), place


def is_in(place: Place, banned: Any) -> bool:
    return any(place[:length] in banned for length in range(1, len(place) + 1))


OF_OPERATIONS = [place for place in ROWS if place[0] in OPERATION_KEYS and not is_in(place, not_in_operations())]


def settled(said: dict[str, Any], place: Place) -> OperationSettings:
    """What holds in the phase that a key is about; else in fuzzing."""
    phase = place[1] if place[0] == "phases" and len(place) > 2 else phases.FUZZING.name
    layers = saying(said)
    return layers.settled(tuple(layers.blocks), phase)


def given(place: Place) -> dict[str, Any]:
    good = ROWS[place].good
    value = good.replace("{url}", "http://127.0.0.1:8") if isinstance(good, str) else good
    return nested({}, {**needed(place), place: value})


def test_a_key_says_in_a_block_what_it_says_for_all() -> None:
    for place in OF_OPERATIONS:
        whole = given(place)
        apart = {key: whole.pop(key) for key in list(whole) if key == "dictionaries"}
        block = {**apart, "operations": [{"include-path": "/a", **whole}]}
        assert settled(block, place) == settled({**apart, **whole}, place), place


PHASED = [place for place in ROWS if is_of_one_phase(place)]


def test_a_key_of_a_phase_says_there_what_it_says_for_all() -> None:
    def of(said: dict[str, Any], phase: str) -> OperationSettings:
        return saying(said).settled((), phase)

    for place in PHASED:
        phase, row = place[1], ROWS[place]
        other = next(name for name in phases.phase_names() if name != phase)
        mine, whole = nested({}, {place: row.good}), nested({}, {place[2:]: row.good})
        assert of(mine, phase) == of(whole, phase), place
        assert of(mine, phase) != of({}, phase), place
        assert of(mine, other) == of({}, other), place


OF_PROJECTS = [place for place in ROWS if not is_in(place, NOT_IN_PROJECTS)]


@pytest.mark.thorough
def test_a_key_says_for_a_project_what_it_says_for_all(folder: Path) -> None:
    """Seeds aside: they are of the run."""

    def settings(document: dict[str, Any]) -> tuple[Any, ...]:
        config = Config.from_dict(document, environment={})
        whole = run_settings(config, Invocation("openapi.json", corpus="c"), {})
        try:
            found = whole.for_project("Shop")
        except UsageError as error:
            return (str(error),)
        of_operations = [found.operations.settled((), one) for one in phases.phase_names()]
        return replace(found, operations=OperationLayers(), projects=()), *of_operations

    for place in OF_PROJECTS:
        said = given(place)
        whole = {key: said.pop(key) for key in list(said) if key == "dictionaries"} | {"seed": 1}
        project = {**whole, "project": [{"title": "Shop", **said}]}
        assert settings(project) == settings({**whole, **said}), place


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with what some values name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "users.json").write_text(json.dumps(wfc_document()))
    (tmp_path / "q.graphql").write_text("{ a }")
    return tmp_path
