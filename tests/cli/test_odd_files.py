"""Files that users name and that never end, never begin or are too much: one sentence, exit code 2."""

import os
from pathlib import Path

import pytest

PLACES = {
    "configuration": ("--config-file", "{}", "run", "openapi.json"),
    "dictionary": ("--config-file", "dictionary.toml", "run", "openapi.json"),
    "hooks": ("--config-file", "hooks.toml", "run", "openapi.json", "--inline"),
    "cassette": ("replay", "{}"),
    "certificates": ("run", "openapi.json", "--tls-verify", "{}"),
    "certificates of a replay": ("replay", "empty.yaml", "--tls-verify", "{}"),
}


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


KINDS = {"is a named pipe": _pipe, "is a device": _device, "holds more than": _huge}


@pytest.mark.parametrize("words", KINDS)
@pytest.mark.parametrize("place", PLACES)
def test_file_that_cannot_be_read_ends_with_a_sentence(invoke, folder, place: str, words: str) -> None:
    name = "odd.py" if place == "hooks" else "odd"
    KINDS[words](folder / name)
    (folder / "dictionary.toml").write_text(f'[dictionaries.words]\nfrom-file = "{name}"')
    (folder / "hooks.toml").write_text(f'hooks = "{name}"')
    (folder / "empty.yaml").write_text("http_interactions: []")
    result = invoke(*(one.format(name) for one in PLACES[place]))
    said = " ".join(result.output.split())
    assert result.exit_code == 2, said
    assert words in said
    assert "Traceback" not in said


def test_a_configuration_that_is_found_and_cannot_be_read_is_told(invoke, folder) -> None:
    os.mkfifo(folder / "checker.toml")
    result = invoke("run", "openapi.json")
    assert result.exit_code == 2
    assert "checker.toml is a named pipe" in result.output


def test_a_configuration_that_is_too_deep_is_told(invoke, folder) -> None:
    (folder / "checker.toml").write_text("a = " + "[" * 100_000)
    result = invoke("run", "openapi.json")
    assert result.exit_code == 2
    assert "The content is nested too deeply" in result.output


_AS_TEXT = "request: {method: GET, uri: 'http://127.0.0.1:9/'}\n  response: null\n"
CASSETTES = {
    "http_interactions: " + "[" * 200_000: "it is nested too deeply",
    f"http_interactions:\n- id: {'1' * 5000}\n  {_AS_TEXT}": "not valid YAML",
    f"http_interactions:\n- id: 2024-99-99\n  {_AS_TEXT}": "not valid YAML",
    "http_interactions:\n- id: [1]\n  status: a\n  " + _AS_TEXT: "a single value was expected",
    "a: &a {b: 1}\nc:\n  <<: *a\nhttp_interactions: []": "not valid YAML",
}


@pytest.mark.parametrize("text", CASSETTES, ids=CASSETTES.values())
def test_a_hostile_cassette_is_one_sentence(invoke, folder, text: str) -> None:
    (folder / "odd.yaml").write_text(text)
    result = invoke("replay", "odd.yaml")
    said = " ".join(result.output.split())
    assert (result.exit_code, CASSETTES[text] in said) == (2, True), said[-300:]
    assert isinstance(result.exception, SystemExit)
