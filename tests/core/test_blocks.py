import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.blocks import Answer, FailedCase, Truncation, excerpt, failure_block, quoted_body, truncated

CURL = "curl -X GET 'http://127.0.0.1/users?limit=0'"


def failed(**changes: object) -> FailedCase:
    values = {
        "case_id": "0a1b2c3d4e5f",
        "failures": (("Server error", ""), ("Undocumented HTTP status code", "Received: 500\nDocumented: 200, 404")),
        "answer": Answer(500, "", b'{"error": "boom"}'),
        "commands": (CURL,),
        **changes,
    }
    return FailedCase(**values)  # type: ignore[arg-type]


def test_block_holds_failures_answer_and_reproduction_in_order() -> None:
    assert (
        failure_block(1, failed())
        == f"""1. Test Case ID: 0a1b2c3d4e5f

- Server error

- Undocumented HTTP status code

    Received: 500
    Documented: 200, 404

[500] Internal Server Error:

    `{{"error": "boom"}}`

Reproduce with:

    {CURL}"""
    )


def test_failures_of_one_title_are_bullets_below_it() -> None:
    failures = (
        ("Response violates schema", "body.a: 1 is no text\n\nSchema at #/a"),
        ("Server error", ""),
        ("Response violates schema", "body.b: 2 is no text"),
    )
    text = failure_block(1, failed(failures=failures))
    assert (
        """

- Response violates schema

    - body.a: 1 is no text

      Schema at #/a

    - body.b: 2 is no text

- Server error

[500]"""
        in text
    )


def test_a_case_that_may_not_be_the_smallest_says_why() -> None:
    text = failure_block(1, failed(stopped="after 25 requests"))
    assert text.endswith("Maybe not the smallest case: shrinking stopped after 25 requests.")


def test_reproduction_that_did_not_fail_again_says_so() -> None:
    text = failure_block(1, failed(reproduced=False))
    assert text.endswith(f"{CURL}\n\nNot reproduced: the printed command was sent again and did not fail.")


@pytest.mark.parametrize("reproduced", [True, None])
def test_reproduction_that_failed_again_adds_nothing(reproduced: bool | None) -> None:
    assert failure_block(1, failed(reproduced=reproduced)).endswith(f"\n\n    {CURL}")


def test_steps_of_a_sequence_are_printed_oldest_first() -> None:
    text = failure_block(1, failed(commands=("curl -X POST http://h/a", CURL)))
    assert text.endswith(f"Reproduce with:\n\n    curl -X POST http://h/a\n    {CURL}")


def test_what_a_command_hides_is_named_beside_it() -> None:
    text = failure_block(1, failed(hidden=("header X-Key", "query token")))
    assert text.endswith(f"{CURL}\n\nHidden: header X-Key, query token. To see the values: `--output-sanitize false`.")


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (Answer(204), "<EMPTY>"),
        (Answer(200, body=b"\x89PNG\r\n\x1a\n\x00"), "<BINARY>"),
        (Answer(200, body=b"a\x00b"), "<BINARY>"),
        (Answer(200, body=b'{"id": "a\x1bb"}'), '`{"id": "a\\x1bb"}`'),
        (Answer(200, body=b'{"id":"a\x7fb\x00"}'), '`{"id":"a\\x7fb\\x00"}`'),
        (Answer(200, body='{"id":"a\x85"}'.encode()), '`{"id":"a\\x85"}`'),
        (Answer(200, body="grün".encode()), "`grün`"),
        (Answer(200, body="grün".encode("latin-1"), charset="latin-1"), "`grün`"),
        (Answer(200, body=b'{"name":"gr\xfcn","size":1}'), '`{"name":"gr\\ufffdn","size":1}`'),
        (Answer(200, body="grün".encode("utf-16") + b"a", charset="utf-16"), "`grün\\ufffd`"),
        (Answer(200, body=bytes(range(256))), "<BINARY>"),
        (Answer(200, body=b"plain", charset="no-such-charset"), "`plain`"),
        (Answer(200, body=b"\\d", charset="unicode-escape"), "`\\d`"),
        (Answer(200, body=b"plain", charset="undefined"), "`plain`"),
        (Answer(200, body=b"plain", charset="utf-8\0"), "`plain`"),
        (Answer(200, body="grü".encode()[:-1], is_cut=True), "`gr\n// Output truncated...`"),
    ],
)
def test_body_is_quoted_or_named(answer: Answer, shown: str) -> None:
    assert quoted_body(answer) == shown


def test_answer_that_never_came_is_explained() -> None:
    text = failure_block(1, failed(answer=Answer(None, failure="timed out: 10.0 s")))
    assert "[no response] timed out: 10.0 s" in text


def test_body_of_more_than_ten_lines_is_cut() -> None:
    assert truncated("x\n" * 11) == "x\n" * 10 + "// Output truncated..."


def test_truncation_can_be_switched_off() -> None:
    assert truncated("x" * 9000, Truncation(enabled=False)) == "x" * 9000


@given(st.text(), st.integers(1, 64), st.integers(1, 5))
@pytest.mark.thorough
def test_truncated_text_stays_within_its_limits(text: str, size: int, lines: int) -> None:
    shown = truncated(text, Truncation(max_payload_size=size, max_lines=lines))
    if shown == text:
        return
    kept, mark = shown.rsplit("\n", 1)
    assert mark == "// Output truncated..."
    assert len(kept.encode("utf-8", "surrogatepass")) <= size
    assert len(kept.splitlines()) <= lines


def test_excerpt_is_closed_by_its_bracket() -> None:
    shown = excerpt(list(range(100))).splitlines()
    assert shown[-2:] == ["    // Output truncated...", "]"]
    assert len(shown) == 11


def test_excerpt_is_not_wider_than_a_terminal() -> None:
    assert max(map(len, excerpt({"name": "x" * 500}).splitlines())) == 80


def test_of_a_large_value_no_more_is_written_than_is_shown() -> None:
    value: object = list(range(1000))
    for _ in range(5000):
        value = [value]
    shown = excerpt(value).splitlines()
    assert shown[-2:] == ["    // Output truncated...", "]"]
    assert len(shown) == 11
