"""Which kind opens a description, and what is told when none does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.config import user_code
from checker.core.errors import ConfigError, ForeignDescription, IncorrectUsage, LoaderError
from checker.core.operation import Definition, Label
from checker.core.registry import Registry
from checker.kinds import table
from checker.kinds.sources import DIRECT, FileSource, TextSource
from checker.kinds.static import DeclaredOperation, DeclaredSchema, json_schema
from checker.kinds.table import kind_named, open_description, packed, register, unpacked

NO_RESPONSES: Any = None
"""The contract of operations that get no response."""
OPENAPI = b'{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {}}'


class Lines:
    """Reads documents that begin with its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: list[str] = []

    def claims(self, name: str) -> bool:
        return name.endswith(f".{self.name}")

    def open(self, source: Any, options: Any) -> DeclaredSchema:
        self.asked.append(source.name)
        return self.reopen(source.data)

    def reopen(self, data: bytes) -> DeclaredSchema:
        if not data.startswith(self.name.encode()):
            raise ForeignDescription(f"it does not begin with {self.name}")
        return DeclaredSchema(self.name, "Lines 1", data, ())


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Lines:
    monkeypatch.setattr(table, "_KINDS", Registry("kind", table._KINDS.items()))
    kind = Lines("lines")
    assert register(kind) is kind
    return kind


@pytest.fixture
def fresh_plugins() -> Iterator[None]:
    for cached in (user_code.load_plugins, user_code._plugins):
        cached.cache_clear()
    yield
    for cached in (user_code.load_plugins, user_code._plugins):
        cached.cache_clear()


def opened(data: bytes, name: str) -> Any:
    return open_description(TextSource(data, name), DIRECT)


def test_the_kind_is_that_of_the_document_whatever_its_name(lines: Lines) -> None:
    assert opened(b"lines: 1", "openapi.json").kind == "lines"
    assert opened(OPENAPI, "some.lines").kind == "openapi"


def test_who_claims_the_name_is_asked_first(lines: Lines) -> None:
    opened(OPENAPI, "openapi.json")
    assert lines.asked == []
    opened(OPENAPI, "some.lines")
    assert lines.asked == ["some.lines"]


def test_what_nobody_reads_is_told_by_the_likeliest(lines: Lines) -> None:
    with pytest.raises(ForeignDescription, match="it does not begin with lines"):
        opened(b"{}", "some.lines")
    with pytest.raises(ForeignDescription, match="Unable to determine the Open API version"):
        opened(b"{}", "some.json")


@pytest.mark.parametrize("data", [b"", b"<html></html>", b"[1]", b"a: [", b"text"])
def test_what_is_no_openapi_at_all_may_be_of_another_kind(data: bytes) -> None:
    with pytest.raises(ForeignDescription):
        kind_named("openapi").open(TextSource(data, "it"), DIRECT)


@pytest.mark.parametrize("data", [b'{"openapi": "9.0"}', b'{"swagger": "1.2"}'])
def test_a_version_that_nobody_reads_is_of_no_other_kind(lines: Lines, data: bytes) -> None:
    with pytest.raises(LoaderError) as caught:
        opened(data, "openapi.json")
    assert not isinstance(caught.value, ForeignDescription)
    assert lines.asked == []


def test_a_file_that_is_not_there_is_of_no_other_kind(tmp_path: Path) -> None:
    with pytest.raises(LoaderError) as caught:
        kind_named("openapi").open(FileSource(tmp_path / "gone"), DIRECT)
    assert not isinstance(caught.value, ForeignDescription)


def test_what_is_packed_is_unpacked_by_its_kind(lines: Lines) -> None:
    for data in (b"lines: 1\nmore", OPENAPI):
        schema = opened(data, "it")
        again = unpacked(packed(schema))
        assert (again.kind, again.normalised()) == (schema.kind, schema.normalised())


def test_a_kind_that_is_not_there_any_more_is_named() -> None:
    with pytest.raises(LoaderError, match="no kind of description is called 'lost'"):
        unpacked(b"lost\n...")


@pytest.mark.parametrize("name", ["openapi", "lines", "two words"])
def test_a_name_is_one_word_and_given_once(lines: Lines, name: str) -> None:
    with pytest.raises(IncorrectUsage, match=f"{name!r}"):
        register(Lines(name))


@pytest.mark.usefixtures("fresh_plugins", "lines")
def test_a_plugin_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = tmp_path / "broken-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[checker.plugins]\nbad = broken_plugin\n")
    (tmp_path / "broken_plugin.py").write_text("raise ValueError('no')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match=r"plug-in 'bad' \(broken_plugin\): ValueError: no"):
        opened(b"{}", "it")


def test_references_of_a_schema_that_stands_alone_are_its_own() -> None:
    schema = json_schema({"$defs": {"a/b": {"type": "string"}}})
    found = schema.document.resolve("#/$defs/a~1b", at="#")
    assert found == ({"type": "string"}, "#/$defs/a~1b")


def test_without_a_comparison_of_its_kind_an_operation_has_changed_unless_its_definition_is_the_same() -> None:
    def schema(**definitions: Any) -> DeclaredSchema:
        operations = [
            DeclaredOperation(Label(name), NO_RESPONSES, definition=Definition(one))
            for name, one in definitions.items()
        ]
        return DeclaredSchema("lines", "Lines 1", b"", tuple(operations))

    before = schema(same={"a": 1}, other={"a": 1}, unknown={})
    now = schema(same={"a": 1}, other={"a": 2}, unknown={}, new={"a": 1})
    assert list(now.changed_since(before)) == ["other", "unknown", "new"]
