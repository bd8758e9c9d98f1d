"""Small valid files of the type that a media type, a name or prose states."""

import base64
import csv
import io
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from zipfile import ZipFile, ZipInfo

from checker.core.media_types import parse, stream_of
from checker.core.system import later_pattern
from checker.transport.wire.multipart import CSV, JSON_LINES, XLSX

SAMPLES: Final[Mapping[str, bytes]] = {
    # One grey pixel each.
    "image/png": base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
    ),
    "image/jpeg": base64.b64decode(
        "/9j/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/wAALCAABAAEBAREA"
        "/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z"
    ),
    "image/gif": base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
    "image/webp": base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="),
    # One empty page.
    "application/pdf": (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\nxref\n0 4\n0000000000 65535 f \n0000000009 00000 n \n"
        b"0000000052 00000 n \n0000000101 00000 n \ntrailer<</Size 4/Root 1 0 R>>\nstartxref\n160\n%%EOF"
    ),
    # `a.txt`, stored: `hello`.
    "application/zip": base64.b64decode(
        "UEsDBAoAAAAAAAAAIQCGphA2BQAAAAUAAAAFAAAAYS50eHRoZWxsb1BLAQIKAAoAAAAAAAAAIQCGphA2BQAAAAUAAAAFAAAAAAAAAAAAAAAAAAAA"
        "AABhLnR4dFBLBQYAAAAAAQABADMAAAAoAAAAAAA="
    ),
}
TABLES: Final = (CSV, JSON_LINES)
_WORDS: Final = (
    (CSV, r"csv\b"), (XLSX, r"xlsx?\b|excel\b|spreadsheet"), (JSON_LINES, r"jsonl\b|ndjson\b|json[- ]?lines\b"),
    ("application/pdf", r"pdf\b"), ("application/zip", r"zip\b|archive\b"), ("image/jpeg", r"jpe?g\b"),
    ("image/gif", r"gif\b"), ("image/webp", r"webp\b"), ("image/png", r"png\b|image|picture|photo|avatar|logo\b"),
)  # fmt: skip
_NAMED: Final = later_pattern("|".join(rf"(\b(?:{words}))" for _, words in _WORDS))
_SPLIT: Final = later_pattern(r"[_/{}]|(?<=[a-z])(?=[A-Z])")
_NAME: Final = r"[`\"']?[A-Za-z_]\w*[`\"']?"
_LIST: Final = rf"({_NAME}(?:(?:\s*[,;|]\s*(?:and\s+)?|\s+and\s+){_NAME})+)"
_COLUMNS: Final = tuple(
    later_pattern(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        rf"\b(?:(?:columns?|headers?|fields?)\b[^,;|\n]{{0,40}}?[:\s(]|format\s*:\s*){_LIST}",
        rf"`{_LIST}`",
        rf"^{_LIST}\r?$",
    )
)
_BULLET: Final = rf"\s*(?:[-*+]|\d+[.)])\s+({_NAME})"
_BULLETS: Final = later_pattern(
    rf"\b(?:columns?|headers?|fields?)\b[^\n]*\n((?:{_BULLET}[^\n]*(?:\n|\Z)){{2,}})", re.IGNORECASE
)
_USUAL: Final = ("id", "name")
_CELLS: Final = (
    ("mail", "a{}@example.com"), ("date|day|_at$", "2024-01-0{}"), ("url|link", "https://example.com/{}"),
    (r"(^|_)id$|age$|count|quantity|qty|price|amount|year|number|size|total|score", "{}"), ("", "a{}"),
)  # fmt: skip
_LONGEST: Final = 4_000  # Characters of prose that are read.


def file_type(media_type: str) -> str:
    """Return the type of file that a media type or range stands for; empty if it stands for no single type."""
    parsed = parse(media_type)
    plain = "" if parsed is None else parsed.essence
    if parsed is not None and stream_of(parsed) == "lines":
        return JSON_LINES
    return "image/png" if plain == "image/*" else plain if plain in SAMPLES or plain in (CSV, XLSX) else ""


def named_type(prose: str) -> str:
    """Return the type of file that a name or prose mentions first; empty if none."""
    found = _NAMED.search(_SPLIT.sub(" ", prose[:_LONGEST]).lower())
    return "" if found is None else _WORDS[found.lastindex - 1][0] if found.lastindex else ""


def named_columns(prose: str) -> tuple[str, ...]:
    """Return the columns of a table that prose or an example lists; empty without such a list."""
    for pattern in _COLUMNS:
        found = pattern.search(prose[:_LONGEST])
        if found is not None:
            names = re.findall(r"\w+", found[1])
            return tuple(dict.fromkeys(name for name in names if name.lower() != "and"))
    listed = _BULLETS.search(prose[:_LONGEST])
    names = [] if listed is None else re.findall(rf"^{_BULLET}", listed[1], re.MULTILINE)
    return tuple(dict.fromkeys(name.strip("`\"'") for name in names))


@lru_cache(maxsize=64)
def files_of(kind: str, columns: tuple[str, ...] = ()) -> tuple[bytes, ...]:
    """Return valid files of a type; without a type, one of each."""
    if kind in SAMPLES:
        return (SAMPLES[kind],)
    if not kind:
        return (*SAMPLES.values(), *(files_of(table)[0] for table in (*TABLES, XLSX)))
    names = columns or _USUAL
    rows = [
        [next(value for words, value in _CELLS if re.search(words, name.lower())).format(number) for name in names]
        for number in (1, 2, 3)
    ]
    return tuple(_table(kind, names, some) for some in (rows[:1], rows))


def _table(kind: str, names: tuple[str, ...], rows: list[list[str]]) -> bytes:
    if kind == JSON_LINES:
        items = (dict(zip(names, (int(one) if one.isdecimal() else one for one in row), strict=True)) for row in rows)
        return "".join(json.dumps(item) + "\n" for item in items).encode()
    if kind == XLSX:
        # A workbook with one sheet (ECMA-376). The bytes of the workbook are the same each time.
        cells = ("".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) for row in (names, *rows))
        data = "".join(f"<row>{row}</row>" for row in cells)
        sheet = f'<worksheet xmlns="{_OOXML}/spreadsheetml/2006/main"><sheetData>{data}</sheetData></worksheet>'
        archive = io.BytesIO()
        with ZipFile(archive, "w") as file:
            for name, text in (*_PARTS.items(), ("xl/s.xml", sheet)):
                file.writestr(ZipInfo(name), text)
        return archive.getvalue()
    out = io.StringIO(newline="")
    csv.writer(out).writerows([names, *rows])
    return out.getvalue().encode()


_OOXML: Final = "http://schemas.openxmlformats.org"
_OFFICE: Final = f"{_OOXML}/officeDocument/2006/relationships"
_SHEET: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS: Final = {
    "[Content_Types].xml": f'<Types xmlns="{_OOXML}/package/2006/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEET}.sheet.main+xml"/>'
    f'<Override PartName="/xl/s.xml" ContentType="{_SHEET}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_OOXML}/package/2006/relationships"><Relationship Id="a" '
    f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_OOXML}/spreadsheetml/2006/main" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="a" sheetId="1" r:id="a"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_OOXML}/package/2006/relationships"><Relationship Id="a" '
    f'Type="{_OFFICE}/worksheet" Target="s.xml"/></Relationships>',
}
