"""Dictionaries and overrides of the file: what they mean, and what is wrong with them, word for word."""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from checker.config.config import Config
from checker.config.files import read_dictionary
from checker.config.overrides import EACH, Override, Overrides
from checker.config.resolve import Invocation, run_settings
from checker.core.errors import ConfigError
from checker.core.request import Location

WORDS = """
[dictionaries.ids]
values = [1, "2", 3.5, "x"]
[dictionaries.names]
values = ["Ann", "Bob"]
"""


@dataclass(frozen=True)
class Named:
    method: str
    path: str = "/a"
    tags: tuple[str, ...] = ()
    operation_id: str | None = None
    deprecated: bool = False
    definition: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.method} {self.path}"


def overrides(text: str) -> Overrides:
    return Config.from_str(text, environment={}).overrides()


def error_of(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        overrides(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "entries"), [("string", ("1", "2", "3.5", "x")), ("integer", (1, 2)), ("number", (1, 2, 3.5))]
)
def test_a_type_keeps_the_entries_that_are_eligible(kind: str, entries: tuple[Any, ...]) -> None:
    text = f"{WORDS}[generation.dictionaries]\n{kind} = {{ dictionary = 'ids', probability = 0.5 }}"
    (words,) = overrides(text).types
    assert (words.type, words.entries, words.share) == (kind, entries, 0.5)


@pytest.mark.parametrize(
    ("key", "location", "path"),
    [
        ("id", None, ("id",)),
        ("path.id", Location.PATH, ("id",)),
        ("query.a.b", Location.QUERY, ("a.b",)),
        ("header.X-A", Location.HEADER, ("X-A",)),
        ("cookie.c", Location.COOKIE, ("c",)),
        ("body.user.name", Location.BODY, ("user", "name")),
        ("body.items[*].id", Location.BODY, ("items", EACH, "id")),
        ("body.[*].id", Location.BODY, (EACH, "id")),
    ],
)
def test_a_key_names_a_place(key: str, location: Location | None, path: tuple[str, ...]) -> None:
    (override,) = overrides(f"[parameters]\n'{key}' = 5").parameters
    assert override == Override(location, path, (5,))
    assert override.is_forced


def test_a_dictionary_is_bound_to_a_parameter_with_probability_one_unless_said() -> None:
    text = WORDS + "[parameters]\na = { dictionary = 'names' }\nb = { dictionary = 'names', probability = 0.1 }"
    first, second = overrides(text).parameters
    assert (first.entries, first.share, second.share) == (("Ann", "Bob"), 1.0, 0.1)


def test_tables_and_arrays_are_values() -> None:
    one, other = overrides("[parameters]\na = [1, 2]\nb = { c = 1 }").parameters
    assert (one.entries, other.entries) == (([1, 2],), ({"c": 1},))


def test_a_block_of_operations_wins_for_those() -> None:
    text = """
        [parameters]
        id = 1
        [[operations]]
        include-method = "POST"
        parameters = { id = 2 }
    """
    found = overrides(text)
    post, get = Named("POST"), Named("GET")
    values = [
        override.entries
        for operation in (post, get)
        if (override := found.of(operation).parameter(Location.QUERY, "id"))
    ]
    assert values == [(2,), (1,)]


def test_header_names_have_no_case() -> None:
    found = overrides("[parameters]\n'header.x-a' = 1")
    assert found.parameter(Location.HEADER, "X-A") is not None
    assert found.parameter(Location.QUERY, "X-A") is None


def test_settings_of_a_run_keep_them_on_their_way() -> None:
    text = WORDS + "[parameters]\n'body.a[*]' = { dictionary = 'ids' }\nq = 'x'\n"
    text += "[generation.dictionaries]\nstring = { dictionary = 'names', probability = 1 }\n"
    text += "[[operations]]\ninclude-path = '/a'\nparameters = { q = 1 }\n"
    settings = run_settings(Config.from_str(text, environment={}), Invocation("a.json"), {})
    again = pickle.loads(pickle.dumps(settings))
    assert again.sources.overrides == settings.sources.overrides
    assert len(again.sources.overrides.parameters) == 3


WRONG = {
    "[dictionaries.a]\nvalues = [1]\nfrom-file = 'x'": "Dictionary 'a' needs exactly one of `values` and `from-file`",
    "[dictionaries.a]": "Dictionary 'a' needs exactly one of `values` and `from-file`",
    "[dictionaries.a]\nvalues = []": "`values` of dictionary 'a' must be an array with at least one entry",
    "[dictionaries.a]\nvalues = [1, true]": "Item #1 of dictionary 'a' must be a string, an integer or a number",
    "[dictionaries.a]\nvalues = [inf]": "Item #0 of dictionary 'a' must be a finite number, but got inf",
    "[dictionaries.a]\nvalue = [1]": "Dictionary 'a' has an unknown property 'value'. Did you mean 'values'?",
    "[generation.dictionaries]\nstring = { dictionary = 'a' }": "'string' has no `probability`",
    "[generation.dictionaries]\nstring = { dictionary = 'a', probability = 0 }": "`probability` of 'string' must be above 0 and at most 1, but got 0",
    "[generation.dictionaries]\nstring = { dictionary = 'a', probability = 1.5 }": "`probability` of 'string' must be above 0 and at most 1, but got 1.5",
    "[generation.dictionaries]\nintegr = { dictionary = 'a', probability = 1 }": "Unknown type 'integr'. Did you mean 'integer'?; use one of string, integer, number",
    "[parameters]\nq = { dictionary = 'a', probability = -1 }": "`probability` of 'q' must be above 0 and at most 1, but got -1",
    "[parameters]\nq = { dictionary = 'a', share = 1 }": "'q' has an unknown property 'share'",
    "[parameters]\n'body.a[0]' = 1": "'body.a[0]' is no path that is supported: use names with dots between them, and `[*]` for every element",
    "[parameters]\n'body.a..b' = 1": "'body.a..b' is no path that is supported",
    "[parameters]\n'query.' = 1": "'query.' must name a parameter after 'query'",
    "[parameters]\nq = { dictionary = 'nmes' }" + WORDS: "parameters.q: unknown dictionary 'nmes'. Did you mean 'names'?; defined dictionaries: 'ids', 'names'",
    "[generation.dictionaries]\ninteger = { dictionary = 'names', probability = 1 }" + WORDS: "generation.dictionaries.integer: dictionary 'names' has no entries that are eligible for 'integer'; it has 'Ann', 'Bob'",
    "[dictionaries.a]\nfrom-file = 'nowhere.dict'": "cannot read the dictionary file: nowhere.dict does not exist; give the path of a dictionary",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG.items(), ids=WRONG.values())
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    assert message in error_of(text)


def test_a_file_is_read_as_fuzzers_read_it(tmp_path: Path) -> None:
    content = r"""
# a comment

plain="word"
"no name"
escaped = "a\\b\"c\n\r\t\x41"   # behind
bytes="\xc3\xa9\xff"
utf="é"
empty=""
"""
    path = tmp_path / "words.dict"
    path.write_text(content, encoding="utf-8")
    assert read_dictionary(path.parent, path.name) == (
        "word",
        "no name",
        'a\\b"c\n\r\tA',
        "\u00c3\u00a9\u00ff",
        "\u00e9",
        "",
    )


@pytest.mark.parametrize("line", ["word", 'a="b', "a='b'", '"a" "b"', r'"\q"', 'a b="c"'])
def test_a_faulty_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "words.dict"
    path.write_text(f'"fine"\n{line}\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"words\.dict:2: "):
        read_dictionary(path.parent, path.name)


def test_files_are_found_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "words.dict").write_text('"5"\n"six"\n', encoding="utf-8")
    config = tmp_path / "checker.toml"
    config.write_text(
        "[dictionaries.a]\nfrom-file = 'words.dict'\n"
        "[generation.dictionaries]\ninteger = { dictionary = 'a', probability = 1.0 }\n"
    )
    (words,) = Config.from_path(config).overrides().types
    assert words.entries == (5,)


def test_without_randomness_the_seed_is_always_the_same_and_nothing_is_remembered() -> None:
    config = Config.from_str("[generation]\ndeterministic = true", environment={})
    one, other = (run_settings(config, Invocation("a.json"), {}) for _ in range(2))
    assert one.seed == other.seed
    assert one.sources.database == "none"
    seeded = Config.from_str("seed = 5\n[generation]\ndeterministic = true", environment={})
    assert run_settings(seeded, Invocation("a.json"), {}).seed == 5


def test_dictionaries_are_judged_with_the_file_that_names_them(tmp_path) -> None:
    file = tmp_path / "checker.toml"
    file.write_text("[dictionaries.a]\nfrom-file = 'nowhere.dict'\n")
    with pytest.raises(ConfigError) as caught:
        Config.from_path(file)
    assert str(caught.value) == (
        f"Failed to load configuration file from {file}\n\n"
        f"cannot read the dictionary file: {tmp_path / 'nowhere.dict'} does not exist; "
        "give the path of a dictionary"
    )


def test_a_file_without_entries_is_refused(tmp_path) -> None:
    (tmp_path / "empty.dict").write_text("# nothing yet\n")
    file = tmp_path / "checker.toml"
    file.write_text("[dictionaries.a]\nfrom-file = 'empty.dict'\n")
    with pytest.raises(ConfigError, match=r"empty\.dict has no entries"):
        Config.from_path(file)


def test_dictionaries_of_a_project_are_judged_too() -> None:
    text = "[[project]]\ntitle = 'A'\n[project.generation.dictionaries.integer]\n"
    with pytest.raises(ConfigError, match="unknown dictionary 'b'"):
        Config.from_str(f"{text}dictionary = 'b'\nprobability = 0.5", environment={})


def test_dictionary_files_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "words.dict").write_text('"a"')
    (tmp_path / "checker.toml").write_text(
        '[dictionaries.words]\nfrom-file = "words.dict"\n[[project]]\ntitle = "Shop"'
    )
    config = Config.from_path(tmp_path / "checker.toml")
    (tmp_path / "words.dict").unlink()
    assert config.for_project("Shop").overrides() == config.overrides()
