"""Texts of configuration errors, word for word."""

import tomllib

import pytest

from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.table import ONLY_ELSEWHERE, SECTIONS
from checker.core.errors import ConfigError

GOLDEN = {
    "unknown key with a near name": (
        "[generation]\nmax-exampels = 4",
        """Error in [generation] section:

Unknown properties:

  - 'max-exampels'. Did you mean 'max-examples'?

The following properties are valid: 'mode', 'max-examples', 'no-shrink', 'shrink-share', 'deterministic', 'allow-x00', 'allow-extra-parameters', 'exclude-header-characters', 'codec', 'maximize', 'with-security-parameters', 'graphql-allow-null', 'database', 'unique-inputs', 'dictionaries'""",
    ),
    "unknown key without a near name": (
        "[fuzz]\ncolour = 4",
        """Error in [fuzz] section:

Unknown properties:

  - 'colour'

The following properties are valid: 'max-time', 'stop-when-saturated'""",
    ),
    "wrong type": (
        'seed = "1"',
        """Error in root section:

Type error:

  - 'seed' -> Must be an integer, but got string: '1'""",
    ),
    "a boolean is no integer": (
        "seed = true",
        """Error in root section:

Type error:

  - 'seed' -> Must be an integer, but got boolean: True""",
    ),
    "wrong word where numbers are right as well": (
        'workers = "many"',
        """Error in root section:

Invalid value:

  - 'workers' -> 'many'

Valid values are: 'auto' or an integer""",
    ),
    "wrong word": (
        '[generation]\nmode = "positiv"',
        """Error in [generation] section:

Invalid value:

  - 'mode' -> 'positiv'. Did you mean 'positive'?

Valid values are: 'positive', 'negative', 'all'""",
    ),
    "out of bounds": (
        "workers = 65",
        """Error in root section:

Invalid value:

  - 'workers' -> Must be at most 64, but got 65""",
    ),
    "neither number nor word": (
        "workers = 1.5",
        """Error in root section:

Type error:

  - 'workers' -> Must be an integer or a string, but got float: 1.5""",
    ),
    "time-out of zero": (
        "request-timeout = 0",
        """Error in root section:

Invalid value:

  - 'request-timeout' -> Must be greater than 0, but got 0""",
    ),
    "item of a list": (
        "[output.sanitization]\nsensitive-markers = ['a', 1]",
        """Error in [output.sanitization] section:

Type error:

  - Item #1 in the 'sensitive-markers' array -> Must be a string, but got integer: 1""",
    ),
    "duplicates": (
        "[output.sanitization]\nsensitive-markers = ['a', 'a']",
        """Error in [output.sanitization] section:

Invalid value:

  - 'sensitive-markers' -> 'a' is given more than once""",
    ),
    "status pattern": (
        "[checks.not_a_server_error]\nexpected-statuses = ['2XX', '6XX']",
        """Error in [checks.not_a_server_error] section:

Invalid value:

  - Item #1 in the 'expected-statuses' array -> Must be a status from 100 to 599 or a pattern like '2XX' or '20X', but got '6XX'""",
    ),
    "header outside Latin-1": (
        "headers = { X = '☃' }",
        """Error in root section:

Invalid value:

  - 'headers' -> Header 'X' must hold Latin-1 characters only""",
    ),
    "base URL": (
        "base-url = 'example.com'",
        """Error in root section:

Invalid value:

  - 'base-url' -> Must be an absolute http(s) URL like 'http://127.0.0.1:8080', but got 'example.com'""",
    ),
    "NUL": (
        'hooks = "a\\u0000"',
        """Error in root section:

Invalid value:

  - 'hooks' -> Must not contain NUL characters""",
    ),
    "date": (
        "seed = 2020-01-01",
        """Error in root section:

Type error:

  - 'seed' -> Must be an integer, but got date: 2020-01-01""",
    ),
    "section that is no table": (
        "generation = 1",
        """Error in root section:

Type error:

  - 'generation' -> Must be a table, but got integer""",
    ),
    "two sections": (
        "seed = 1.0\n[fuzz]\nmax-time = -1",
        """Error in root section:

Type error:

  - 'seed' -> Must be an integer, but got float: 1.0

Error in [fuzz] section:

Invalid value:

  - 'max-time' -> Must be greater than 0, but got -1""",
    ),
    "block without a filter": (
        "[[operations]]\nenabled = false",
        """Error in [operations.0] section:

At least one filter is required when defining [[operations]].""",
    ),
    "block that includes and excludes": (
        "[[operations]]\nenabled = false\ninclude-tag = 'a'\nexclude-tag = ['a', 'b']",
        """Error in [operations.0] section:

Invalid value:

  - tag 'a' is both included and excluded""",
    ),
    "block with a bad regular expression": (
        "[[operations]]\nenabled = false\ninclude-path-regex = '['",
        """Error in [operations.0] section:

Invalid value:

  - include-path-regex: invalid regular expression '[': unterminated character set at position 0""",
    ),
    "project without a title": (
        "[[project]]\nseed = 1",
        """Error in [project.0] section:

Missing required property:

  - 'title' -> The title of the API""",
    ),
    "variable that is not set": (
        'base-url = "http://${HOST}:80"',
        "environment variable 'HOST' is not set; '${HOST}' needs it",
    ),
    "malformed placeholder": (
        'proxy = "http://${HO ST}"',
        "malformed placeholder '${HO ST}'; write ${NAME}, or $${ for a literal ${",
    ),
    "no TOML": ("seed = ", "The content is not valid TOML: Invalid value (at end of document)"),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_error_text(name: str) -> None:
    text, expected = GOLDEN[name]
    with pytest.raises(ConfigError) as caught:
        Config.from_str(text, environment={})
    assert str(caught.value) == expected


def test_missing_file_is_named(tmp_path) -> None:
    path = tmp_path / "no.toml"
    with pytest.raises(ConfigError) as caught:
        Config.from_path(path)
    expected = (
        f"Failed to load configuration file from {path}\n\n"
        f"{path} does not exist; give the path of a configuration in TOML"
    )
    assert str(caught.value) == expected


def test_every_default_has_the_type_of_its_key() -> None:
    problems = [
        (path, name, key.kind.problem(key.default, name))
        for path, keys in SECTIONS.items()
        for name, key in keys.items()
        if key.default is not None and key.kind.problem(key.default, name)
    ]
    assert problems == []


@pytest.mark.parametrize(
    ("phase", "key"),
    [("coverage", "max-examples = 3"), ("examples", "max-examples = 3"), ("coverage", "maximize = 'response_time'")],
)
def test_what_would_change_nothing_in_a_phase_is_no_key_of_it(phase: str, key: str) -> None:
    with pytest.raises(ConfigError, match=f"Unknown properties:\n\n  - '{key.partition(' ')[0]}'"):
        Config.from_str(f"[phases.{phase}.generation]\n{key}", environment={})


def test_an_option_of_another_section_is_told_where_it_belongs() -> None:
    with pytest.raises(ConfigError, match=r"'max_examples'. It belongs to \[generation\]"):
        Config.from_dict({}).update(max_examples=3)
    with pytest.raises(ConfigError, match=r"'keys-to-sanitize'. It belongs to \[output.sanitization\]"):
        Config.from_dict({"output": {"keys-to-sanitize": []}})


@pytest.mark.parametrize(
    ("text", "section", "said"),
    [
        ("[[projects]]\ntitle = 'a'", "root", "'projects'. Did you mean 'project'?"),
        ("operation = 1", "root", "'operation'. Did you mean 'operations'?"),
        (
            "[[operations]]\ninclude-path = '/a'\nseed = 1",
            "[operations.0]",
            "'seed'. It belongs to the root of the file",
        ),
        ("[[project]]\ntitle = 'a'\noperation = 1", "[project.0]", "'operation'. Did you mean 'operations'?"),
    ],
)
def test_tables_of_the_file_are_known_wherever_keys_are_listed(text: str, section: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Config.from_str(text)
    assert str(raised.value).startswith(f"Error in {section} section:")
    assert said in str(raised.value)


def test_an_unknown_check_of_a_phase_is_told_at_its_place() -> None:
    config = Config.from_str("[phases.coverage.checks.not_a_server_eror]\nenabled = false")
    with pytest.raises(ConfigError, match=r"Error in \[phases.coverage.checks\] section"):
        run_settings(config, Invocation(""))


PLACES = (
    ("deterministic", "[[operations]]\ninclude-path = '/a'\ngeneration.deterministic = true"),
    ("database", "[phases.fuzzing.generation]\ndatabase = 'none'"),
    ("shrink-share", "[phases.fuzzing.generation]\nshrink-share = 0.5"),
    ("operation-ordering", "[[operations]]\ninclude-path = '/a'\nphases.fuzzing.operation-ordering = 'none'"),
    ("extra-data-sources", "[phases.stateful.extra-data-sources]\nresponses = false"),
    ("error-feedback", "[[operations]]\ninclude-path = '/a'\nphases.fuzzing.error-feedback.enabled = false"),
    ("dictionaries", "[phases.fuzzing.generation.dictionaries]"),
    ("maximize", "[phases.coverage.generation]\nmaximize = 'response_time'"),
    ("max-examples", "[phases.examples.generation]\nmax-examples = 3"),
    ("queries", "[[operations]]\ninclude-path = '/a'\nphases.examples.queries = ['a.graphql']"),
    ("intermittent", "[[operations]]\ninclude-path = '/a'\nchecks.intermittent = 'report'"),
    ("max-steps", "[[operations]]\ninclude-path = '/a'\nphases.stateful.max-steps = 3"),
    ("link-calibration", "[[operations]]\ninclude-path = '/a'\nphases.stateful.link-calibration = false"),
    ("inference", "[[operations]]\ninclude-path = '/a'\nphases.stateful.inference.algorithms = []"),
)


@pytest.mark.parametrize(("name", "text"), PLACES)
def test_a_key_that_a_phase_or_a_block_cannot_have_is_refused_with_the_reason(name: str, text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Config.from_dict(tomllib.loads(text), environment={})
    assert f"{name!r} cannot be set here: {ONLY_ELSEWHERE[name]}" in str(refused.value)


def test_each_reason_is_tested() -> None:
    assert dict(PLACES).keys() == ONLY_ELSEWHERE.keys()
