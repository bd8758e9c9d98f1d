"""Strings that contain something else: bytes, files and JSON documents, encoded as `contentEncoding` says."""

import base64
import json
import quopri
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from checker.core.errors import Unsatisfiable
from checker.generation.drawing.nodes import Nodes
from checker.generation.drawing.places import TextPlace, body_place
from checker.generation.drawing.samples import SAMPLES
from checker.generation.normalization.forms import Canonical, Content
from checker.generation.sources import alphabets
from checker.generation.sources.basic import either, finished, listed
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw

_MOST_BYTES: Final = 48
"""Of what is encoded, beyond what a minimum asks for."""
_FILES: Final = 0.9
"""Share of whole files where a kind of file is named."""
_JSON: Final = "application/json"


class _Encoding(Struct, frozen=True):
    """Groups of bytes that become groups of characters (RFC 4648, 4 to 8)."""

    encode: Callable[[bytes], bytes]
    bytes_in: int
    characters_out: int

    def sizes(self, low: int, high: int | None) -> tuple[int, int]:
        """Numbers of bytes whose texts have such lengths; the wrong way round when there are none."""
        groups = -(-low // self.characters_out)
        least = max(0, self.bytes_in * (groups - 1) + 1) if groups else 0
        if high is None:
            return least, least + _MOST_BYTES
        return least, min(least + _MOST_BYTES, self.bytes_in * (high // self.characters_out))


_ENCODINGS: Final = {
    "base64": _Encoding(base64.b64encode, 3, 4),
    "base64url": _Encoding(base64.urlsafe_b64encode, 3, 4),
    "base32": _Encoding(base64.b32encode, 5, 8),
    "base16": _Encoding(base64.b16encode, 1, 2),
    "quoted-printable": _Encoding(lambda content: quopri.encodestring(content, True), 1, 1),
}


def content_draw(nodes: Nodes, canonical: Canonical, place: TextPlace) -> Draw | None:
    """Draws what the text is said to contain, encoded; None for what nobody knows here. Lengths are kept as far as possible."""
    content = canonical.content
    if content is None:
        return None
    encoding = _ENCODINGS.get(content.encoding)
    if content.media_type == _JSON:
        document = _document(nodes, content, place)
        return document if encoding is None else finished(document, _encoded(encoding))
    if encoding is None:
        return None
    least, most = encoding.sizes(canonical.lengths.low, canonical.lengths.high)
    if least > most:
        return None
    plain: Draw = _bytes(least, most)
    file = SAMPLES.get(content.media_type)
    if file is not None and least <= len(file):
        plain = either(_FILES, listed((file,)), plain)
    return finished(plain, _encoded(encoding))


def _bytes(least: int, most: int) -> Draw:
    return lambda source: source.binary(least, most)


def _encoded(encoding: _Encoding) -> Callable[[Any], str]:
    def encode(content: str | bytes) -> str:
        raw = content.encode() if isinstance(content, str) else content
        return encoding.encode(raw).decode("ascii")

    return encode


def _document(nodes: Nodes, content: Content, place: TextPlace) -> Draw:
    """A JSON document, of a schema if there is one that can be satisfied."""
    if content.schema is not None:
        text = place.alphabet if place.is_body else alphabets.VISIBLE
        try:
            draw = nodes.compile((content.schema,), body_place(text, is_form=False, is_bytes=False))
            return finished(draw, json.dumps)
        except Unsatisfiable:
            if content.is_asserted:
                raise
    return _any_document


def _any_document(source: Source) -> str:
    text = source.string(alphabets.NAME, 0, 12)
    return (text.join('""'), str(source.integer(-99, 99)), f'{{"{text}": []}}')[source.choice(3)]
