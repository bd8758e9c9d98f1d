"""Files of known failures: what is read, and what is refused."""

import json
from pathlib import Path

import pytest

from checker.config.files import read_baseline
from checker.core.errors import ConfigError
from checker.core.known import KnownFailure

TOML = """
format-version = 1

[[failures]]
fingerprint = "v1-9a689dd49443c3d5"
operation = "GET /rooms"
reason = "paging is rewritten"
expires = 2026-12-31

[[failures]]
check = "not_a_server_error"
rule = "500"
"""


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text(TOML)
    first, second = read_baseline(tmp_path / "b.toml")
    assert first == KnownFailure(
        fingerprint="v1-9a689dd49443c3d5", operation="GET /rooms", reason="paging is rewritten", expires="2026-12-31"
    )
    assert (second.check, second.rule, second.text) == ("not_a_server_error", "500", None)
    plain = [
        {"fingerprint": "v1-9a689dd49443c3d5", "operation": "GET /rooms"}
        | {"reason": "paging is rewritten", "expires": "2026-12-31"},
        {"check": "not_a_server_error", "rule": "500"},
    ]
    (tmp_path / "b.json").write_text(json.dumps({"format_version": 1, "failures": plain}))
    assert read_baseline(tmp_path / "b.json") == (first, second)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[failures]]\nexpire = 2026-12-31\ncheck = 'x'", "unknown key 'expire'. Did you mean 'expires'?"),
        ("[[failures]]\nexpires = 'soon'\ncheck = 'x'", "must be a day like 2026-12-31, but got 'soon'"),
        ("[[failures]]\nreason = 'x'", "must have a `fingerprint` or a `check`"),
        ("[[failures]]\ncheck = 5", "check: must be text, but got 5"),
        ("failures = 5", "must hold a list `failures`"),
        ("failures = [5]", "failures[0]: must be a table, but got 5"),
        ("format-version = 7", "format_version is 7, and this version of checker reads 1"),
        ("[[failures]", "is no valid TOML"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        read_baseline(path)
    assert sentence in str(raised.value)
    assert str(path) in str(raised.value)
