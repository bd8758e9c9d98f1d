"""Commands as Python that sends the same."""

import contextlib
import io

from checker.demo import Server
from checker.reporting.console import shown_as_python
from checker.reporting.masking import unmasked


def test_it_sends_what_the_commands_send() -> None:
    server = Server()
    server.start()
    try:
        commands = (
            f"curl -X GET '{server.url}/rooms?limit=51'\n"
            f'curl -X POST -H \'Content-Type: application/json\' -d \'{{"room_id":1,"nights":1,"discount_percent":100}}\' {server.url}/quotes'
        )
        text = shown_as_python(unmasked, commands).text
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(text, "sample", "exec"), {})
    finally:
        server.stop()
    assert [line[:3] for line in said.getvalue().splitlines()] == ["200", "500"]


def test_other_text_stays_as_it_is() -> None:
    assert shown_as_python(unmasked, "no command").text == "no command"
    assert shown_as_python(unmasked, "curl --odd").text == "curl --odd"
