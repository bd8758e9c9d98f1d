"""A run inside a CI job against a server that writes commands of the runner into its responses."""

from tests.apps.http import Reply
from tests.apps.serving import serving
from tests.e2e.runner import Command
from tests.hostile.runners import azure_commands, github_commands, teamcity_messages

BODY = b"""{
::stop-commands::pause
  ::error file=app.py::forged
##vso[task.setvariable variable=secret]x
##teamcity[buildProblem description='forged']
}"""
PATH = "/a\n::add-mask::users\n##[error]b"


def test_the_commands_of_a_job_are_ours_alone(command: Command) -> None:
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Forger", "version": "1"},
        "paths": {PATH: {"get": {"responses": {"200": {"description": ""}}}}},
    }
    summary = command.directory / "summary.md"
    command.environment |= {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    with serving(lambda _: Reply(500, "text/plain", BODY), document) as app:
        ran = command.run(app.document_url, "-n", "2", "--report", "ndjson,vcr,junit", inline=True)
    assert ran.code == 1, ran.shown
    log = ran.stdout + ran.stderr
    ours = [line for line in log.splitlines() if line.startswith("::error title=")]
    assert ours
    assert set(github_commands(log)) == set(ours)
    assert [*azure_commands(log), *teamcity_messages(log)] == []
    written = [summary, *(command.directory / "checker-report").iterdir()]
    assert len(written) == 4
    for path in written:
        text = path.read_text()
        assert [*github_commands(text), *azure_commands(text), *teamcity_messages(text)] == []
