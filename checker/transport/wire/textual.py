"""Bodies that people could have typed: plain text, CSV, YAML."""

import codecs
import csv
import io
import re
from collections.abc import Callable
from typing import Any

import yaml

from checker.transport.wire.styles import text_of

_SafeDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_SafeDumper):  # type: ignore[misc]
    """Quotes what is a number for YAML 1.2 and text for 1.1, which the library knows: `034296`, `1e5`."""


_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+)$"),
    list("-+.0123456789"),
)


def text_bytes(value: Any) -> bytes:
    """Text in UTF-8; arrays and objects as JSON."""
    return value if isinstance(value, bytes) else text_of(value).encode("utf-8", "surrogatepass")


def text_encoder(charset: str | None) -> Callable[[Any], bytes]:
    """Writes values in a charset that a media type names; UTF-8 where nobody knows it. Raises `ValueError` for what it lacks."""
    try:
        known = "utf-8" if charset is None else codecs.lookup(charset).name
    except LookupError:
        known = "utf-8"
    if known in ("utf-8", "ascii"):
        return text_bytes
    return lambda value: value if isinstance(value, bytes) else text_of(value).encode(known)


def csv_bytes(value: Any) -> bytes:
    """Rows: of objects, with their names as the first row, or of arrays. Text goes out as it is."""
    if not isinstance(value, list) or not value:
        return text_bytes("" if value == [] else value)
    out = io.StringIO(newline="")
    rows = csv.writer(out)
    if all(isinstance(row, dict) for row in value):
        names = list(dict.fromkeys(name for row in value for name in row))
        rows.writerow(names)
        rows.writerows([_cell(row.get(name, "")) for name in names] for row in value)
    else:
        rows.writerows(map(_cell, row) if isinstance(row, list) else [_cell(row)] for row in value)
    return out.getvalue().encode("utf-8", "surrogatepass")


def yaml_bytes(value: Any) -> bytes:
    """YAML, escaped to ASCII. Raises `ValueError` for what YAML cannot say: lone surrogates."""
    if isinstance(value, bytes):
        return value
    try:
        text: bytes = yaml.dump(value, Dumper=_Dumper, encoding="utf-8", sort_keys=False)
    except yaml.YAMLError as error:
        raise ValueError(f"YAML cannot say it: {error}") from error
    return text


def _cell(value: Any) -> str:
    return text_of(value)
