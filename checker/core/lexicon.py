"""Words of API descriptions: an error text that says one of them speaks of the API, not of a value."""

import re

from msgspec import Struct, field

from checker.core.operation import Operation
from checker.core.schema import Document

_WORD = re.compile(r"[^\W\d_]{3,}")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MOST_NODES = 50_000
_LONGEST_TEXT = 2_000

Words = frozenset[str]
NO_WORDS: Words = frozenset()


class Lexicon(Struct):
    """Remembers the words of the descriptions that it was asked about."""

    _known: dict[int, tuple[object, Words]] = field(default_factory=dict)
    """By `id` of what was read, which is kept alive as long as it stands for it."""

    def of(self, operation: Operation) -> Words:
        """Lower-case words of the document, or of the operation alone when nothing in it leads to the document."""
        document = _document_of(operation)
        source: object = operation.definition if document is None else document
        found = self._known.get(id(source))
        if found is None:
            root = operation.definition if document is None else document.root
            found = self._known[id(source)] = source, words_of((operation.path, root))
        return found[1]


def words_of(value: object) -> Words:
    """Words of at least three letters in the texts and keys of a value, in lower case; its first 50,000 nodes count."""
    words: set[str] = set()
    pending, left = [value], _MOST_NODES
    while pending and left:
        left -= 1
        item = pending.pop()
        if isinstance(item, str):
            for text in _WORD.findall(item[:_LONGEST_TEXT]):
                words.update(parts_of(text))
        elif isinstance(item, dict):
            pending += item.keys()
            pending += item.values()
        elif isinstance(item, list | tuple):
            pending += item
    return frozenset(words)


def parts_of(word: str) -> list[str]:
    """Words of which a name in camel case consists, in lower case: `KeyError` is `key` and `error`."""
    return [part.lower() for part in _HUMP.split(word)]


def _document_of(operation: Operation) -> Document | None:
    schemas = [part.schema for part in operation.parameters]
    schemas += [body.schema for body in operation.bodies]
    return schemas[0].document if schemas else None
