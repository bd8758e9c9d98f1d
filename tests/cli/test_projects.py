"""`[[project]]` tables in a run: the title is known only when the document is open."""

from checker.demo import Server
from checker.demo.description import document

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
        result = invoke("run", server.document_url, "--inline", "--include-method", "GET")
    assert result.exit_code == 0, result.output
    assert "1 selected" in result.stdout
    assert "3 generated, 3 passed" in result.stdout
