"""What the first answers say of the set-up."""

import pytest

from checker.health import ENOUGH, FirstAnswers

URL = "http://h:8000"


def test_a_header_that_is_refused_is_no_scheme_that_could_be_tried() -> None:
    first = FirstAnswers(URL, given_header="X-Key")
    first.note(401)
    assert first.sentence == (
        "all of the first 1 responses were 401: "
        "the `X-Key` header that was given (`-H`, `headers`) is refused; correct it"
    )


@pytest.mark.parametrize(
    ("statuses", "missing", "has_credentials", "said"),
    [
        ((404,), "", False, "were 404: check the address of the API: its base URL may lack a path"),
        ((404,), "/v1", False, "were 404: the description says /v1: try `--url http://h:8000/v1`"),
        (
            (401,),
            "",
            False,
            "were 401: give credentials with `--auth USER:PASSWORD` or `-H 'Authorization: ...'` or `[auth]`",
        ),
        (
            (401, 403),
            "",
            True,
            "were 401/403: the credentials are refused; correct them (`checker auth check` tries each of them)",
        ),
        (
            (502,),
            "",
            False,
            "were 502: a proxy responds instead of the API; check that the API runs, and where the proxy sends requests",
        ),
        ((404, 200), "/v1", False, ""),
        ((401, 405), "", False, ""),
    ],
)
def test_a_sentence_with_advice(statuses: tuple[int, ...], missing: str, has_credentials: bool, said: str) -> None:
    first = FirstAnswers(URL, missing, has_credentials)
    for number in range(1, ENOUGH + 1):
        assert first.note(statuses[number % len(statuses)]) is (number == ENOUGH)
    start = f"all of the first {ENOUGH} responses "
    assert first.sentence == (start + said if said else "")
