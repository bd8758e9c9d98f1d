import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.config.operation_settings import HttpSettings
from checker.core.response import MOST_DECODED, Decoded, Undecoded, codings_of, decoded, readable


def raw_deflate(content: bytes) -> bytes:
    coder = zlib.compressobj(wbits=-15)
    return coder.compress(content) + coder.flush()


CODERS: dict[str, list[Callable[[bytes], bytes]]] = {
    "gzip": [gzip.compress],
    "x-gzip": [gzip.compress],
    "deflate": [zlib.compress, raw_deflate],
}
STEPS = st.sampled_from([(name, coder) for name, coders in CODERS.items() for coder in coders])


@given(st.binary(max_size=200), st.lists(STEPS, max_size=8))
def test_what_was_coded_is_decoded(content: bytes, steps: list[tuple[str, Callable[[bytes], bytes]]]) -> None:
    coded = content
    for _, coder in steps:
        coded = coder(coded)
    codings = tuple(name for name, _ in steps)
    assert decoded(coded, codings, is_cut=False) == Decoded(content, is_cut=False)


@given(st.binary(min_size=1, max_size=200), STEPS, st.integers(min_value=1))
def test_beginning_of_a_body_says_the_beginning(
    content: bytes, step: tuple[str, Callable[[bytes], bytes]], kept: int
) -> None:
    name, coder = step
    coded = coder(content)
    part = coded[: kept % len(coded)]
    found = decoded(part, (name,), is_cut=True)
    assert isinstance(found, Decoded)
    assert found.is_cut
    assert content.startswith(found.content)
    if part:
        said = decoded(part, (name,), is_cut=False)
        assert said == Undecoded(f"Content-Encoding: {name}: the compressed data ends too early", is_damaged=True)


def test_codings_are_read_from_all_fields_in_order() -> None:
    fields = [("Content-Encoding", "Deflate , identity"), ("X", "br"), ("CONTENT-ENCODING", "x-GZIP,")]
    assert codings_of(fields) == ("deflate", "x-gzip")


@pytest.mark.parametrize("codings", [("br",), ("gzip", "zstd"), ("gzip",) * 9])
def test_coding_that_is_beyond_us_is_no_damage(codings: tuple[str, ...]) -> None:
    found = decoded(b"x", codings, is_cut=False)
    assert isinstance(found, Undecoded)
    assert not found.is_damaged
    assert readable(b"x", codings, is_cut=False) == Decoded(b"x", is_cut=False)


@pytest.mark.parametrize("coding", CODERS)
def test_what_was_never_coded_is_damaged(coding: str) -> None:
    found = decoded(b'{"a": 1}', (coding,), is_cut=False)
    assert isinstance(found, Undecoded)
    assert found.is_damaged
    assert found.message.startswith(f"Content-Encoding: {coding}: ")


def test_empty_body_was_not_coded() -> None:
    assert decoded(b"", ("gzip",), is_cut=False) == Decoded(b"", is_cut=False)


def test_members_of_gzip_are_one_body_and_padding_is_none() -> None:
    coded = gzip.compress(b"a") + gzip.compress(b"b") + bytes(512)
    assert decoded(coded, ("gzip",), is_cut=False) == Decoded(b"ab", is_cut=False)


@pytest.mark.parametrize("coding", CODERS)
def test_decoding_stops_at_what_is_kept_of_any_body(coding: str) -> None:
    assert HttpSettings().max_response_bytes == MOST_DECODED
    coded = CODERS[coding][0](bytes(MOST_DECODED))
    assert decoded(coded, (coding,), is_cut=False) == Decoded(bytes(MOST_DECODED), is_cut=False)
    coded = CODERS[coding][0](bytes(MOST_DECODED + 1))
    assert decoded(coded, (coding,), is_cut=False) == Decoded(bytes(MOST_DECODED), is_cut=True)


def test_endless_members_are_cut() -> None:
    found = decoded(gzip.compress(b"a") * 1000, ("gzip",), is_cut=False)
    assert isinstance(found, Decoded)
    assert found.is_cut
    assert found.content == b"a" * len(found.content)
