"""One defect reads the same every time, whatever its error texts quote."""

import json

import pytest

from checker.core.case import Case
from checker.core.templates import error_template, generalised, is_alike, matches, sent_texts
from tests.generation.making import PlainOperation

DESCRIBED = frozenset({"room", "guest", "booking"})


def template(text: str, *sent: str) -> str:
    return error_template(text.encode(), sent, DESCRIBED)


@pytest.mark.parametrize(
    "texts",
    [
        ("no room with ID 1EL2RQUM", "no room with ID Q7ZZKPLA"),
        ("no room with ID RQUMXBCD", "no room with ID lkjhgfds"),
        ("lost connection 550e8400-e29b-41d4-a716-446655440000", "lost connection 9b2f"),
        (
            'no such column: x [SQL: SELECT a FROM guest WHERE a = ? ORDER BY "b"]',
            "no such column: x [SQL: SELECT guest, room FROM booking]",
        ),
        (
            "syntax error in INSERT INTO guest (room) VALUES (1)",
            "syntax error in INSERT INTO guest (booking, guest) VALUES (1, 2)",
        ),
        ("<Guest object at 0x7f1b2c> has no attribute", "<Guest object at 0x55aaee> has no attribute"),
        (
            "<title>ValueError: cannot read &quot;null&quot;</title>",
            "<title>ValueError: cannot read &quot;server error&quot;</title>",
        ),
        ("worker-qpwo failed on node ksjdh-3", "worker-abcd failed on node zzzzz-1"),
    ],
)
def test_what_is_random_is_masked_as_a_whole(texts: tuple[str, str]) -> None:
    one, other = map(template, texts)
    assert one == other
    assert one != ""


def test_letters_around_a_digit_leave_nothing_behind() -> None:
    assert template("ID 1EL2RQUM") == ""
    assert template("error 12abcDEF34server") == "error"


def test_an_echo_is_masked_and_words_that_contain_it_are_not() -> None:
    assert template("server error: cannot read err", "err") == "server error cannot read"


@pytest.mark.parametrize("host", ["ab.n6qjj.net", "one.com", "two.org"])
@pytest.mark.parametrize("address", ["https://{}/a?b#c", "http://me:you@{}:8080", "someone@{}"])
def test_hosts_of_what_was_sent_are_masked_where_they_are_told_alone(host: str, address: str) -> None:
    case = Case(PlainOperation(), "c", body={"url": [address.format(host)]})
    assert template(f"can not resolve {host}", *sent_texts(case)) == "can not resolve"


def test_an_apostrophe_quotes_nothing() -> None:
    assert template("can't open file, won't retry") == "can open file retry"


def test_words_of_the_description_and_classes_of_errors_are_kept() -> None:
    assert template("FrobnicationError: room is closed") == "FrobnicationError room closed"


def test_the_telling_line_of_a_text_inside_json_counts() -> None:
    trace = "Traceback (most recent call last):\n  File x, line 3, in frob\nValueError: bad room"
    content = json.dumps({"detail": trace}).encode()
    assert error_template(content, (), DESCRIBED) == "ValueError bad room"


@pytest.mark.parametrize("name", ["description", "error_description"])
def test_errors_of_one_code_are_told_apart_by_their_description(name: str) -> None:
    # OGC API, RFC 6749 5.2
    errors = [{"code": "NoCode", name: text} for text in ("query error (check logs)", "connection lost")]
    one, other = (error_template(json.dumps(error).encode(), (), DESCRIBED) for error in errors)
    assert one == "code query error check logs"
    assert not is_alike(one, other)


def test_what_differs_between_two_answers_stands_for_anything() -> None:
    both = generalised("no such table room", "no such guest table room")
    assert both == "no such * table room"
    assert matches(both, "no such table room")
    assert matches(both, "no such booking guest table room")
    assert not matches(both, "no such table")
    assert generalised("one thing", "other words") == "*"
    assert matches("*", "")
    assert matches("", "")
    assert not matches("", "error")


def test_alike_are_texts_of_one_class_of_error_that_share_most_words() -> None:
    assert is_alike("missing required field room guest", "missing required field guest")
    assert not is_alike("KeyError room", "IndexError room")
    assert not is_alike("internal server error", "internal server error no such table")
    assert not is_alike("unique constraint failed booking room", "null constraint failed guest")


def test_a_long_run_without_a_break_is_read_at_once() -> None:
    assert template("a" * 4000 + "1") == ""
    assert template("error " + "ab" * 2000 + "-1 room") == "error room"
    assert "select" in template("<a" * 1400 + "SELECT " * 180)
