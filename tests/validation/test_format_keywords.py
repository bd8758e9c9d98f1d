import base64
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.schema import Dialect, Direction
from checker.validation.compiled import FORMATS_IN_KEYWORDS, Compiled, compile_schema
from checker.validation.formats import FORMAT_PATTERNS, STRING_FORMATS
from tests.validation.schemas import schema_of, verdicts

IN_KEYWORDS = sorted(STRING_FORMATS.keys() & FORMATS_IN_KEYWORDS.keys())
NEARLY = {
    **{name: st.from_regex(pattern, fullmatch=True) for name, pattern in FORMAT_PATTERNS.items()},
    "byte": st.binary(max_size=9).map(lambda data: base64.b64encode(data).decode()),
    "duration": st.from_regex(
        r"[+-]?P(?:[0-9](?:[.,][0-9])?[YMWD]){0,4}(?:T(?:[0-9](?:[.,][0-9])?[HMS]){0,3})?", fullmatch=True
    ),
}
BLANKS = "".join(filter(re.compile(r"\s").match, map(chr, range(0x10000))))
# Blank for one engine only, digits and letters of other scripts, and what formats are made of.
ODD = BLANKS + "\ufeff\u180e\u200b\x00\u0662\uff11\u017f\u212a\U0001d7ce" + "0aAgGPTZDz=-+#().,:/_"
UUID = "2eb8aa08-aa98-11ea-b4aa-73b441d16380"


@st.composite
def changed(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    text = draw(texts)
    whole = [text, text.upper(), text.lower(), f"{text}\n", f" {text} ", text * 2, ""]
    text = draw(st.sampled_from(whole))
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 2))
        text = text[:start] + draw(st.sampled_from(["", *ODD])) + text[end:]
    return text


@cache
def compiled(name: str, dialect: Dialect = Dialect.OPENAPI30) -> Compiled:
    return compile_schema(schema_of({"format": name}, dialect), Direction.RESPONSE)


@pytest.mark.parametrize("name", IN_KEYWORDS)
@given(st.data())
@pytest.mark.thorough_beyond(1)
def test_keywords_say_what_the_format_says(name: str, data: st.DataObject) -> None:
    text = data.draw(changed(NEARLY[name]))
    expected = STRING_FORMATS[name](text)
    assert compiled(name).is_valid(text) == expected
    assert compiled(name).is_strictly_valid(text) == expected


@pytest.mark.parametrize("blank", [*BLANKS, "\ufeff", "\u180e"])
def test_base64_is_broken_by_the_same_blanks_for_all(blank: str) -> None:
    for text in (blank, f"YW{blank}Jj", f"YQ={blank}="):
        assert compiled("byte").is_valid(text) == STRING_FORMATS["byte"](text)


@pytest.mark.parametrize("text", [f"P{'1' * 400_000}D", f"PT{'1' * 400_000}S", "1" * 400_000])
def test_long_durations_are_read_to_the_end(text: str) -> None:
    assert compiled("duration").is_valid(text) == STRING_FORMATS["duration"](text)


@pytest.mark.parametrize("name", IN_KEYWORDS)
@pytest.mark.parametrize("dialect", [Dialect.OPENAPI30, Dialect.DRAFT2019, Dialect.OPENAPI31])
def test_text_formats_say_nothing_of_other_values(name: str, dialect: Dialect) -> None:
    for value in (None, True, 0, -1.5, 2**70, [], ["x"], {}, {"format": name}):
        assert compiled(name, dialect).is_strictly_valid(value)
    assert not compiled(name, dialect).is_valid("\ufeff?\n")


@pytest.mark.parametrize(
    ("beside", "valid", "invalid"),
    [
        ({"format": "uuid", "pattern": "^2"}, [UUID], ["2", f"3{UUID[1:]}"]),
        ({"format": "duration", "allOf": [{"maxLength": 3}]}, ["P1D"], ["P", "P10D"]),
        ({"format": "duration", "pattern": "^P"}, ["P1D"], ["PT", "+P1D"]),
        ({"format": "int8", "minimum": 5}, [5, 127], [4, 128]),
        ({"format": "int8", "maximum": 500}, [-128, 127], [-129, 128]),
        ({"format": "int8", "minimum": 5, "exclusiveMinimum": True}, [6, 127], [5, 128]),
        ({"format": "uuid", "nullable": True}, [None, UUID], ["x"]),
        ({"format": "uuid", "oneOf": [{"minLength": 1}, {"type": "null"}]}, [UUID], ["x"]),
    ],
)
def test_format_holds_beside_keywords_of_the_schema(beside: Any, valid: list[Any], invalid: list[Any]) -> None:
    schema = schema_of(beside)
    assert [verdicts(schema, value) for value in valid] == [(True, True)] * len(valid)
    assert [verdicts(schema, value) for value in invalid] == [(False, False)] * len(invalid)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ({"enum": [{"format": "uuid"}]}, {"format": "uuid"}),
        ({"const": {"format": "uuid"}}, {"format": "uuid"}),
        ({"properties": {"format": {"enum": ["uuid"]}}}, {"format": "uuid"}),
    ],
)
def test_format_in_data_is_data(raw: Any, value: Any) -> None:
    assert verdicts(schema_of(raw, Dialect.OPENAPI31), value) == (True, True)
