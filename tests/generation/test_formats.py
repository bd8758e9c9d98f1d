import zipfile
from io import BytesIO

import jsonschema_rs
import pytest

from checker.core.errors import Unsatisfiable
from checker.generation.drawing.files import SAMPLES
from checker.generation.drawing.formats import FORMATS
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.replay import SimplestSource
from checker.validation.formats import STRING_FORMATS

from .making import bodies, drawer, program_of

SIZED = [name for name, one in FORMATS.items() if one.of_size is not None]


def texts(name: str, count: int = 300) -> list[str]:
    found = []
    for seed in range(count):
        found.append(FORMATS[name].draw(RandomSource(seed)))
    return found


def is_strict(name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_texts_of_a_format_are_valid_for_both_readers(name: str) -> None:
    strict = is_strict(name)
    wrong = [t for t in texts(name) if not (STRING_FORMATS[name](t) and strict.is_valid(t))]
    assert wrong == []


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_texts_of_a_format_have_its_lengths(name: str) -> None:
    one = FORMATS[name]
    assert [text for text in texts(name) if not one.low <= len(text) <= one.high] == []


@pytest.mark.parametrize("name", sorted(SIZED))
@pytest.mark.parametrize("sizes", [(8, 8), (12, 14), (24, 24), (36, 40), (90, 100)])
def test_formats_are_made_to_measure(name: str, sizes: tuple[int, int]) -> None:
    low, high = sizes
    raw = {"type": "string", "format": name, "minLength": low, "maxLength": high}
    if low > FORMATS[name].high or high < FORMATS[name].low:
        with pytest.raises(Unsatisfiable):
            program_of(body=raw)
        return
    strict = is_strict(name)
    for text in bodies(raw, 5):
        assert (low <= len(text) <= high, STRING_FORMATS[name](text), strict.is_valid(text)) == (True, True, True)


@pytest.mark.parametrize("size", [6, 7, 30, 69, 70, 71, 133, 200, 254])
def test_mailboxes_of_any_length_have_a_domain_that_strict_readers_take(size: int) -> None:
    raw = {"type": "string", "format": "email", "minLength": size, "maxLength": size}
    draw = drawer(program_of(body=raw))
    sources: list[Source] = [SimplestSource(), *map(RandomSource, range(5))]
    for source in sources:
        local, _, domain = draw(source).body.partition("@")
        *labels, top = domain.split(".")
        assert labels
        assert top.isalpha()
        assert len(top) > 1
        assert all(0 < len(label) <= 63 for label in labels)
        assert len(local) <= 64


def test_mailboxes_are_no_longer_than_mail_servers_take() -> None:
    raw = {"type": "string", "format": "email", "minLength": 250, "maxLength": 320}
    assert all(250 <= len(text) <= 254 for text in bodies(raw, 30))


@pytest.mark.parametrize("name", ["date-time", "email", "uri", "hostname", "byte"])
def test_lengths_of_a_format_are_kept(name: str) -> None:
    raw = {"type": "string", "format": name, "minLength": 60, "maxLength": 64}
    found = bodies(raw, 30)
    assert all(60 <= len(text) <= 64 for text in found)
    assert len(set(found)) > 10


def test_samples_are_what_they_say() -> None:
    assert zipfile.ZipFile(BytesIO(SAMPLES["application/zip"])).read("a.txt") == b"hello"
    assert SAMPLES["image/jpeg"].startswith(b"\xff\xd8")
    assert SAMPLES["image/jpeg"].endswith(b"\xff\xd9")
    assert SAMPLES["image/webp"][8:12] == b"WEBP"
    pdf = SAMPLES["application/pdf"]
    assert pdf[int(pdf.split()[-2]) :].startswith(b"xref")


def test_binary_bodies_are_files_now_and_then() -> None:
    raw = {"type": "string", "format": "binary"}
    found = bodies(raw, 60, media_type="application/octet-stream")
    assert {type(value) for value in found} == {bytes}
    assert any(value in SAMPLES.values() for value in found)


@pytest.mark.parametrize("media_type", ["image/png", "image/gif", "application/pdf"])
def test_files_of_a_kind_are_mostly_of_that_kind(media_type: str) -> None:
    found = bodies({"type": "string", "format": "binary"}, 60, media_type=media_type)
    assert sum(value == SAMPLES[media_type] for value in found) > 40


def test_tables_have_the_columns_of_any_language() -> None:
    found = bodies({"type": "string", "description": "Columns: name, größe, alter"}, 20, media_type="text/csv")
    assert any(text.startswith("name,größe,alter\r\n") for text in found)
