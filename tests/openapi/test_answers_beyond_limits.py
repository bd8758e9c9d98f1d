"""JSON that is more than anybody reads is neither right nor wrong."""

import pytest

from checker.core.contract import BodyOpinions
from checker.openapi.answers.texts import DEEPEST, BeyondLimits, json_of_text
from tests.openapi.documents import contract

DEEP = "is nested more than 500 levels deep: no more of it is read"
DIGITS = "has a number of more digits than are read"


def nested(levels: int, inner: str = "") -> str:
    return "[" * levels + inner + "]" * levels


def opinions(content: str, schema: object, media_type: str = "application/json") -> BodyOpinions:
    body = contract({"200": {"description": "", "content": {media_type: {"schema": schema}}}})
    validator = body.plan(200, media_type).body
    assert validator is not None
    assert not validator.is_valid(content.encode())
    return validator.opinions(content.encode())


@pytest.mark.parametrize("levels", [DEEPEST + 1, 900, 5000, 500_000])
def test_the_limit_of_depth_is_the_same_for_everybody(levels: int) -> None:
    with pytest.raises(BeyondLimits, match="500 levels"):
        json_of_text(nested(levels))
    with pytest.raises(BeyondLimits, match="500 levels"):
        json_of_text('{"a":' * levels + "1" + "}" * levels)


def test_within_the_limits_it_is_read() -> None:
    assert json_of_text(nested(DEEPEST)) is not None
    assert json_of_text(nested(2, ",".join(["[]"] * 1000))) == [[[]] * 1000]
    assert json_of_text("9" * 4000) == 10**4000 - 1


@pytest.mark.parametrize("text", ["{", nested(100, "x"), "NaN", ""])
def test_what_is_no_json_is_told_from_what_is_too_much(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|NaN") as raised:
        json_of_text(text, strict=True)
    assert not isinstance(raised.value, BeyondLimits)


@pytest.mark.parametrize(
    ("content", "said"), [(nested(100_000), DEEP), (nested(700), DEEP), ("9" * 5000, DIGITS)]
)
@pytest.mark.parametrize("media_type", ["application/json", "application/x-ndjson"])
def test_nobody_says_that_it_is_wrong(content: str, said: str, media_type: str) -> None:
    # A line of a stream is over when there is one behind it.
    more = "\n1\n" if "ndjson" in media_type else ""
    assert opinions(content + more, {"type": "boolean"}, media_type) == BodyOpinions(unread=said)
