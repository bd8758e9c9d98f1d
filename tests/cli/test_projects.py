"""`[[project]]` tables in a run: the title is known only when the document is open."""

from checker.demo import Server, document
from tests.cassettes import interactions_of

CONFIG = """
[[project]]
title = "{title}"
headers = {{ X-A = "b" }}
[project.generation]
max-examples = 3
[[project.operations]]
enabled = false
exclude-path = "/rooms"
"""


def test_settings_of_a_project_reach_supervisor_and_workers(invoke, folder) -> None:
    title = document()["info"]["title"]
    (folder / "checker.toml").write_text(CONFIG.format(title=title))
    with Server(fixed=True) as server:
        result = invoke("run", server.document_url, "--inline", "--phases", "fuzzing", "--include-method", "GET")
    assert result.exit_code == 0, result.output
    assert "1 selected" in result.stdout
    assert "3 generated, 3 passed" in result.stdout


def test_headers_of_a_project_are_written_out_when_nothing_is_masked(invoke, folder) -> None:
    title = document()["info"]["title"]
    (folder / "checker.toml").write_text(CONFIG.format(title=title))
    plain = ("--output-sanitize", "false", "--report-vcr-path", "tape.yaml")
    with Server(fixed=True) as server:
        invoke("run", server.document_url, "--inline", "--phases", "fuzzing", "--include-method", "GET", *plain)
    recorded = interactions_of(folder / "tape.yaml")
    assert len(recorded) >= 3
    assert all(one["request"]["headers"]["X-A"] == ["b"] for one in recorded)
