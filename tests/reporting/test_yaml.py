import math

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from checker.reporting.formats.vcr import emitted, emitted_entries, quoted

LOADERS: list[type] = [yaml.SafeLoader]
if yaml.__with_libyaml__:
    LOADERS.append(yaml.CSafeLoader)

texts = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


@pytest.mark.parametrize("loader", LOADERS)
@given(value=values)
@example(value={"null": 1, "on": {"": []}, "-": [[], {}, [[1]], {"a": [{"b": {}}]}]})
@example(value="\x00\x07\x1b\x7f\x80\x85\x9f\xa0\xad\u2028\u2029\ufeff\ufffe\uffff😀\U0010ffff")
@example(value={"k" * 3000: "v" * 3000})
@example(value=[1e-05, 1e16, 5e-324, -0.0, 2**70])
def test_document_loads_as_what_was_emitted(loader: type, value: object) -> None:
    assert value == yaml.load(emitted(value), loader)


@given(st.dictionaries(texts, values))
@pytest.mark.thorough
def test_entries_go_on_with_a_mapping(entries: dict[str, object]) -> None:
    document = f"- id: 1{emitted_entries({f'_{key}': v for key, v in entries.items()}, 1)}\n"
    assert yaml.safe_load(document) == [{"id": 1, **{f"_{key}": v for key, v in entries.items()}}]


def test_not_a_number_and_infinities_are_kept() -> None:
    found = yaml.safe_load(emitted([math.nan, math.inf, -math.inf]))
    assert math.isnan(found[0])
    assert found[1:] == [math.inf, -math.inf]


@pytest.mark.parametrize("loader", LOADERS)
@given(text=st.text(st.characters(categories=["Cs", "Lu"])))
def test_lone_surrogates_become_the_replacement_character(loader: type, text: str) -> None:
    wanted = "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)
    assert wanted == yaml.load(quoted(text), loader)


@given(texts)
def test_quoted_text_is_one_line(text: str) -> None:
    assert len(quoted(text).splitlines()) == 1
