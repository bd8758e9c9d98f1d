"""Error texts without the parts that change between requests, so that one defect always has the same text.

A template is words, separated by spaces; `*` stands for any words at places where two responses to one request differed.
"""

import html
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from checker.core.case import Case
from checker.core.operation import Operation

_WORD = re.compile(r"[^\W\d_]{3,}")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MOST_NODES = 50_000
_LONGEST_TEXT = 2_000

Words = frozenset[str]
NO_WORDS: Words = frozenset()


class Lexicon(Struct):
    """Keeps the words of descriptions."""

    _known: dict[int, tuple[object, Words]] = field(default_factory=dict)
    """`id` of the document -> (document, words). The document is kept alive so that its `id` is not used again."""

    def of(self, operation: Operation) -> Words:
        """Return the lower-case words of the document, or of the operation alone if nothing in it leads to the document."""
        schemas = [part.schema for part in operation.parameters]
        schemas += [body.schema for body in operation.bodies]
        document = schemas[0].document if schemas else None
        source: object = operation.definition if document is None else document
        found = self._known.get(id(source))
        if found is None:
            root = operation.definition if document is None else document.root
            found = self._known[id(source)] = source, words_of((operation.path, root))
        return found[1]


def words_of(value: object) -> Words:
    """Return the words of at least three letters in the texts and keys of a value, in lower case; its first 50,000 nodes count."""
    # Most texts are the same few keywords of a description, and most words occur in many texts.
    texts: set[str] = set()
    pending, left = [value], _MOST_NODES
    while pending and left:
        left -= 1
        item = pending.pop()
        if isinstance(item, str):
            texts.add(item[:_LONGEST_TEXT])
        elif isinstance(item, dict):
            pending += item.keys()
            pending += item.values()
        elif isinstance(item, list | tuple):
            pending += item
    words = {word for text in texts for word in _WORD.findall(text)}
    return frozenset(part for word in words for part in parts_of(word))


def parts_of(word: str) -> list[str]:
    """Return the words of a name in camel case, in lower case: `key` and `error` for `KeyError`."""
    return [part.lower() for part in _HUMP.split(word)]


_ENDINGS: Final = ("ies", "ing", "ed", "es", "ly", "er", "or", "s", "d")
_SHORTEST_STEM: Final = 3


@cache
def _common_words() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("error_words.txt").read_text("utf-8").split())


def is_common(word: str) -> bool:
    """Whether a word in lower case, or its stem, is a usual one for errors, programs, data bases or networks."""
    common = _common_words()
    if word in common:
        return True
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem is not word and len(stem) >= _SHORTEST_STEM:
            # stopped: stop; parsing: parse; entries: entry.
            stems = (stem, f"{stem}e", f"{stem}y", stem[:-1] if stem[-1] == stem[-2] else stem)
            if any(candidate in common for candidate in stems):
                return True
    return False


ANYTHING = "*"

_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[/!?]?[a-z][^>]*>|<!DOCTYPE[^>]*>")
# An apostrophe inside a word is not a quote.
_QUOTED = re.compile(r"(?<!\w)'[^'\n]*'(?!\w)|\"[^\"\n]*\"|`[^`\n]*`")
_STATEMENT = re.compile(
    r"\[SQL:.*|\b(?:SELECT\b.+?\bFROM|INSERT\s+INTO|UPDATE\b.+?\bSET|DELETE\s+FROM|WITH\s+\w+\s+AS)\b.*", re.DOTALL
)
_ANY_WORDS = r"(?: \S+)*"
_TOKEN = re.compile(r"[\w-]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_CLASS = re.compile(r"[A-Za-z_]*[a-z](?:Error|Exception|Fault|Failure|Warning)")
_TELLING = (
    *("type", "title", "error", "code", "exception", "name", "message", "detail", "msg", "reason"),
    *("description", "error_description"),
)
_HOST = re.compile(r"(?:://(?:[^/?#@\s]*@)?|@)([\w.-]+)")
_LIMIT = 160
_DEPTH = 3
_TEXT_BYTES = 4096
_JSON_BYTES = 1 << 16
_SHORTEST_ECHO = 3
_SHORTEST_WORD = 3
_TELLING_WORDS = 3
_BOILERPLATE = frozenset({"internal", "server", "error"})
_OF_NO_CAUSE = re.compile(
    r"(?:(?:internal|server|error|unexpected|unknown|exception|something|went|wrong|occur(?:red|s)?|happened|unable|request|fail(?:ed)?|try|again|later"
    r"|please|with|the|has|have|was|been)(?: |$))*"
)


def error_template(content: bytes, sent: Iterable[str] = (), described: Words = NO_WORDS) -> str:
    """Return the words of an error body that do not depend on the request: general words of errors, and those of the description.

    Quoted parts, statements of SQL, `sent` texts and words with digits are masked. At most 160 characters; empty if nothing
    stable is left.
    """
    text = telling_text(content)
    # The longest come first, because a short value may be a part of a longer one, whose rest would remain.
    for value in sorted({s for s in sent if len(s) >= _SHORTEST_ECHO}, key=lambda one: (-len(one), one)):
        if value in text:
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", " ", text)
    words: list[str] = []
    size = 0
    for token in _TOKEN.findall(_QUOTED.sub(" ", _STATEMENT.sub(" ", text))):
        if any(character.isdigit() for character in token):
            # The token is an identifier, a number or an address, which differs between requests.
            stable = []
        elif _CLASS.fullmatch(token):
            stable = [token]
        else:
            stable = [
                part
                for word in _LETTERS.findall(token)
                for part in parts_of(word)
                if len(part) >= _SHORTEST_WORD and (is_common(part) or part in described)
            ]
        for word in stable:
            size += len(word) + 1
            if size > _LIMIT:
                return " ".join(words)
            words.append(word)
    return " ".join(words)


def generalised(one: str, other: str) -> str:
    """Return the template of both texts: `*` replaces the differences."""
    if one == other:
        return one
    left, right = one.split(), other.split()
    found: list[str] = []
    at = [0, 0]
    for place, match in _common(left, right):
        if (place > at[0] or match > at[1]) and found[-1:] != [ANYTHING]:
            found.append(ANYTHING)
        if left[place] != ANYTHING:
            found.append(left[place])
        at = [place + 1, match + 1]
    if (at[0] < len(left) or at[1] < len(right)) and found[-1:] != [ANYTHING]:
        found.append(ANYTHING)
    return " ".join(found)


def matches(template: str, text: str) -> bool:
    """Whether a text matches a template."""
    if ANYTHING not in template:
        return template == text
    parts = [_ANY_WORDS if word == ANYTHING else f" {re.escape(word)}" for word in template.split()]
    return re.fullmatch("".join(parts), f" {text}" if text else "") is not None


def is_alike(template: str, text: str) -> bool:
    """Whether a text is about the same error: it names the same classes of errors, and two thirds of the words of the shorter one are in both."""
    one = [word for word in template.split() if word != ANYTHING]
    other = text.split()
    if _classes(one) != _classes(other):
        return False
    one, other = _without_boilerplate(one), _without_boilerplate(other)
    shorter = min(len(one), len(other))
    return shorter > 0 and 3 * len(_common(one, other)) >= 2 * shorter


def names_error(template: str) -> bool:
    """Whether a template is specific enough that two operations with it have the same cause.

    A class alone (`KeyError`) is too general, and so are words alone (`something went wrong`).
    """
    telling = _without_boilerplate([word for word in template.split() if word != ANYTHING])
    return bool(_classes(telling)) and len(telling) >= _TELLING_WORDS


def says_nothing(template: str) -> bool:
    """Whether a template only reports that there was an error: `unexpected error occurred`."""
    return _OF_NO_CAUSE.fullmatch(template) is not None


def sent_texts(case: Case) -> list[str]:
    """Return every text that the case sent, because an error message may repeat it."""
    texts: list[str] = []
    pending: list[object] = [case.path_parameters, case.query, case.headers, case.cookies, case.body]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            texts.append(value)
            # An error of a name lookup quotes only the host of a URL.
            texts.extend(_HOST.findall(value))
        elif isinstance(value, dict):
            pending.extend(value.values())
            texts.extend(key for key in value if isinstance(key, str) and len(key) > 12)
        elif isinstance(value, list | tuple):
            pending.extend(value)
    return texts


def _common(one: list[str], other: list[str]) -> list[tuple[int, int]]:
    """Return the indices of the longest common sequence of words."""
    # Dynamic programming from the end. Templates have at most 160 characters, so the table is small.
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            same = one[i] == other[j]
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if same else max(lengths[i + 1][j], lengths[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _classes(words: list[str]) -> set[str]:
    return {word for word in words if not word.islower()}


def _without_boilerplate(words: list[str]) -> list[str]:
    return [word for word in words if word not in _BOILERPLATE]


def telling_text(content: bytes) -> str:
    """Return the lines of an error body that name the error: members such as `message`, the title of a page, the end of a traceback."""
    text = content[:_TEXT_BYTES].decode("utf-8", "replace")
    stripped = text.lstrip()
    if stripped[:1] in ("{", "["):
        try:
            return "\n".join(_telling_parts(json.loads(content[:_JSON_BYTES]), _DEPTH))
        except (ValueError, RecursionError):
            return text
    if stripped[:1] == "<":
        title = _TITLE.search(text)
        # HTML pages write quotes as entities. The quoted text is not part of the error.
        return html.unescape(title.group(1) if title else _telling_line(_TAG.sub(" ", text)))
    return _telling_line(text)


def _telling_line(text: str) -> str:
    """Return the line that names the error: the last one of a Python traceback, the first one of most others."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def _telling_parts(value: object, depth: int) -> Iterable[str]:
    if depth == 0:
        return
    if isinstance(value, str):
        yield _telling_line(value[:_TEXT_BYTES])
    elif isinstance(value, list):
        for item in value[:1]:
            yield from _telling_parts(item, depth - 1)
    elif isinstance(value, dict):
        lowered = {key.lower(): key for key in value if isinstance(key, str)}
        for name in _TELLING:
            if name in lowered:
                yield from _telling_parts(value[lowered[name]], depth - 1)
