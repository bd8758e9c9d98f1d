"""Commands and configurations of the documentation are accepted as they stand there."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from checker.cli import checker
from checker.config.config import Config
from checker.config.files import read_baseline

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r'^( *)```(\w+)(?: title="([^"]*)")?\n(.*?)^\1```', re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(checker [a-z][^`]*)`")
VARIABLE = re.compile(r"\$\{(\w+)\}(/?)")
PLACEHOLDERS = {
    "$URL": "http://127.0.0.1:8080/openapi.json",
    "LOCATION": "openapi.json",
    "[LOCATION]": "openapi.json",
    "CONFIG": "checker.toml",
    "bash|zsh|fish": "bash",
}
"""Words that stand for a value of the reader."""


def blocks(*languages: str) -> Iterator[tuple[str, str, str]]:
    """Yield page, title and text of each block in one of these languages."""
    for page in PAGES:
        for indent, language, title, text in BLOCK.findall(page.read_text()):
            if language in languages:
                yield page.name, title, re.sub(f"^{indent}", "", text, flags=re.MULTILINE)


def commands() -> Iterator[tuple[str, list[str]]]:
    """Yield page and arguments of each call of the command line."""
    lines = [
        (page, line) for page, _, text in blocks("sh", "console") for line in text.replace("\\\n", " ").splitlines()
    ]
    lines += [(page.name, line) for page in PAGES for line in INLINE.findall(page.read_text())]
    for page, line in lines:
        words = shlex.split(line.removeprefix("$ "), comments=True)
        while words and re.fullmatch(r"\w+=.*", words[0]):
            del words[0]
        if words[:1] == ["checker"]:
            yield page, [PLACEHOLDERS.get(word, word) for word in words[1:]]


def refusal(words: list[str]) -> str | None:
    """Return what the command line says against these arguments; None if it accepts them."""
    try:
        checker.main(list(words), prog_name="checker", standalone_mode=False)
    except click.MissingParameter as error:
        # A sentence may name a command without the description that it takes.
        return None if error.param and error.param.name == "location" else error.format_message()
    except click.ClickException as error:
        return error.format_message()
    return None


def test_each_command_of_a_page_has_known_options_and_values(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Arguments are parsed, commands are not carried out.
    monkeypatch.setattr(click.Context, "invoke", lambda *_, **__: None)
    refused, count = [], 0
    for page, words in commands():
        # The files of a reader.
        for word in words:
            if re.fullmatch(r"[\w-]+\.(toml|json|yaml|har|graphql)", word):
                (tmp_path / word).touch()
        count += 1
        if (reason := refusal(words)) is not None:
            refused.append((page, shlex.join(words), reason))
    assert refused == []
    assert count > 60


@pytest.mark.parametrize("page", sorted({page for page, _, _ in blocks("toml")}))
def test_each_configuration_of_a_page_is_accepted(page: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _, title, text in [block for block in blocks("toml") if block[0] == page]:
        for variable, is_origin in VARIABLE.findall(text):
            monkeypatch.setenv(variable, "http://127.0.0.1:8080" if is_origin else "12")
        content = tomllib.loads(text)
        for dictionary in content.get("dictionaries", {}).values():
            if "from-file" in dictionary:
                (tmp_path / dictionary["from-file"]).write_text('"A-1"\n')
        path = tmp_path / (title or "checker.toml")
        path.write_text(text)
        if title == "known.toml":
            assert read_baseline(path)
        elif not title:
            Config.from_path(path)
