"""Which lines of a traceback are shown to users."""

from typing import Any

from checker.core.user_code import users_traceback


def _raised(function: Any, *arguments: Any) -> BaseException:
    namespace = {"__name__": "checker.asks", "function": function, "arguments": arguments}
    try:
        exec("function(*arguments)", namespace)
    except (KeyError, TypeError) as error:
        found = error.__traceback__
        assert found is not None
        return error.with_traceback(found.tb_next)
    raise AssertionError("it raises")


def _reads_nothing(where: dict[str, int]) -> int:
    return where["nothing"]


def test_a_traceback_begins_with_the_users_lines() -> None:
    text = users_traceback(_raised(_reads_nothing, {}))
    assert "checker.asks" not in text
    assert text.count("  File ") == 1
    assert 'return where["nothing"]' in text
    assert text.endswith("KeyError: 'nothing'\n")


def test_a_call_that_did_not_fit_has_no_line_of_the_user() -> None:
    assert users_traceback(_raised(_reads_nothing)) == ""
