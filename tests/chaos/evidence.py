"""What stands in the journals, read by nobody's help: only the documented format of their frames is used here.

A frame is `length u32 | kinds u32 | crc32 u32 | zstd(msgpack list of [tag, field, ...])`, little-endian; the checksum is of length, kinds
and payload.
Extension 2 of msgpack is a text with lone surrogates.
"""

import re
import struct
from collections import Counter
from pathlib import Path
from typing import Any
from zlib import crc32

import zstandard
from msgspec.msgpack import Decoder

FINDING, _QUARANTINED = 6, 13
_TEXT = 2
Said = tuple[str, str, str]
"""Operation, title, first line of the details: what a reader of a report can tell findings apart by."""


def records(corpus: Path, tag: int) -> list[list[Any]]:
    """Fields of the records with this tag that were written completely, whatever stands behind them."""
    found = []
    decode = Decoder(ext_hook=_extension).decode
    for path in sorted(corpus.glob("journals/*.journal")):
        data = path.read_bytes()
        position = 0
        while len(data) - position >= 12:
            length, _, checksum = struct.unpack_from("<III", data, position)
            payload = data[position + 12 : position + 12 + length]
            if len(payload) < length or crc32(payload, crc32(data[position:][:8])) != checksum:
                break
            position += 12 + length
            content = zstandard.ZstdDecompressor().decompress(payload, max_output_size=1 << 26)
            found += [fields for kind, *fields in decode(content) if kind == tag]
    return found


def _extension(code: int, data: memoryview) -> object:
    return str(data, "utf-8", "surrogatepass") if code == _TEXT else bytes(data)


def findings(corpus: Path) -> dict[str, Said]:
    """Fingerprint -> what its last version says."""
    return {
        fields[0]: (fields[1], fields[3], next(iter(fields[4].splitlines()), "")) for fields in records(corpus, FINDING)
    }


def quarantines(corpus: Path) -> list[dict[str, Any]]:
    """Cases that are in quarantine."""
    names = ("task", "label", "index", "case", "stage", "strikes", "steps", "request", "reason")
    return [dict(zip((*names, "components"), fields, strict=True)) for fields in records(corpus, _QUARANTINED)]


def reported(stdout: str) -> Counter[Said]:
    """What the report on the console says, and how often."""
    _, _, rest = stdout.partition("= FAILURES =")
    rest = re.split(r"^=+ (?:ERRORS|SUMMARY) =+$", rest, maxsplit=1, flags=re.MULTILINE)[0]
    found: Counter[Said] = Counter()
    label = ""
    lines = rest.splitlines()
    for number, line in enumerate(lines):
        if heading := re.fullmatch(r"_{3,} (.+) _{3,}", line):
            label = heading.group(1)
        elif line.startswith("- "):
            details = next((text for text in lines[number + 1 :] if text), "")
            first = details.strip() if details.startswith("    ") else ""
            found[label, line[2:], first] += 1
    return found
