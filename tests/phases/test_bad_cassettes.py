"""What is no cassette is one sentence, whatever it is."""

from pathlib import Path

import pytest

from checker.phases.replay import ReplayOptions, replay


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "does not exist; give the path of a cassette"),
        (b"a: [", "is not valid YAML"),
        (b"\xff\xfe\x00", "is not valid YAML"),
        (b"- 1\n", "not a cassette: it has no `http_interactions`"),
        (b"http_interactions: 1\n", "`http_interactions` is not a list"),
        (b"http_interactions:\n- id: '1'\n", "interaction 1 cannot be read: no 'request'"),
        (b"http_interactions:\n- 1\n", "interaction 1 cannot be read"),
    ],
)
def test_bad_cassette_is_one_sentence(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "cassette.yaml"
    if content is not None:
        path.write_bytes(content)
    lines: list[str] = []
    assert replay(path, ReplayOptions(), lines.append) == 2
    assert len(lines) == 1
    assert reason in lines[0]
    assert "\n" not in lines[0]
