"""Documents parsed from JSON or YAML. YAML uses the core schema of 1.2, with text keys, and dates as text."""

import contextlib
import json
import re
from collections.abc import Callable, Mapping
from datetime import date, time
from typing import Any

import orjson
import yaml
from msgspec import Struct, field

from checker.core.errors import LoaderError, LoaderErrorKind
from checker.kinds.fetching import refuse_depth

_PLAIN = "?"
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS = (("null", None), ("true", True), ("false", False))
_CONSTANTS: dict[str, bool | None] = {
    "": None,
    "~": None,
    **{spelled: value for word, value in _WORDS for spelled in (word, word.capitalize(), word.upper())},
}
_LARGEST = 10_000_000  # Most values and pieces of long texts in a description, counted as often as aliases repeat them.
_LONG = 32
_TAG = "tag:yaml.org,2002:"
_NUMERIC_START = frozenset("+-.0123456789")


class _ComposingLoader(yaml.CSafeLoader):
    """Composes nodes in C and leaves their meaning to `_NodeReader`."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _TAG + "str"
        return _TAG + ("map" if kind is yaml.MappingNode else "seq")


class TooMuch(yaml.constructor.ConstructorError):
    """Aliases repeat more values than the caller allows."""


_MOST_REPEATED = 100
_SHOWN = 100


class RepeatedKeys(Struct):
    """Sentences about keys that occur twice in one mapping of a document: parsers drop the first value."""

    _name: str
    _sentences: list[str]

    @property
    def is_full(self) -> bool:
        """Whether further keys are ignored. Otherwise a document of repeated keys would take quadratic time."""
        return len(self._sentences) >= _MOST_REPEATED

    def add(self, key: str, first: int, second: int) -> None:
        """Add a key and the lines of both places."""
        shown = key if len(key) <= _SHOWN else f"{key[:_SHOWN]}..."
        self._sentences.append(
            f"the key `{shown}` occurs twice in one object of {self._name}, at lines {first} and {second}; "
            f"the value at line {first} is ignored"
        )


def parse_yaml(text: str, repeated: RepeatedKeys | None = None) -> Any:
    """Return the value of the first document. Raises `yaml.YAMLError`."""
    node = compose(text)
    return None if node is None else _NodeReader(_plain_scalar, _LARGEST, repeated).value(node)


def compose(text: str) -> yaml.Node | None:
    """Return the node of the first document; None without one. Raises `yaml.YAMLError`, also for trailing text that begins no other document."""
    refuse_depth(text)
    loader = _ComposingLoader(text)
    try:
        node = loader.get_node() if loader.check_node() else None
        loader.check_node()
        return node
    finally:
        loader.dispose()


def value_of(node: yaml.Node, *, plain: Callable[[str], Any] | None = None, largest: int = _LARGEST) -> Any:
    """Return the value of a node; plain scalars follow the core schema of YAML 1.2 or `plain`.

    `largest` is the maximum number of values. A repeated alias counts each time. Raises `TooMuch`, `yaml.YAMLError`.
    """
    return _NodeReader(plain or _plain_scalar, largest).value(node)


class _NodeReader(Struct):
    """Reads the values of nodes. A node with several aliases is one value, as in YAML itself."""

    _plain: Callable[[str], Any]
    _largest: int
    _repeated: RepeatedKeys | None = None
    _containers: dict[int, Any] = field(default_factory=dict)
    _sizes: dict[int, int] = field(default_factory=dict)
    _size: int = 0

    def value(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            text = node.value
            if len(text) > _LONG:
                # Long texts that aliases repeat fill the memory as well as many short ones.
                self._grow(len(text) // _LONG, node)
            scalar: str = node.value
            tag: str = node.tag
            if tag == _PLAIN:
                return self._plain(scalar)
            if tag in (_TAG + "int", _TAG + "float"):
                return _number(scalar)
            if tag in (_TAG + "bool", _TAG + "null"):
                return _CONSTANTS.get(scalar, scalar)
            return scalar
        key = id(node)
        if key in self._containers:
            if key not in self._sizes:
                raise yaml.constructor.ConstructorError(None, None, "an alias contains itself", node.start_mark)
            # A few lines of aliases of aliases can expand beyond any memory.
            self._grow(self._sizes[key], node)
            return self._containers[key]
        before = self._size
        self._grow(len(node.value) + 1, node)
        container: list[Any] | dict[str, Any]
        if isinstance(node, yaml.SequenceNode):
            container = self._containers[key] = []
            container.extend(self.value(item) for item in node.value)
        else:
            container = self._containers[key] = {}
            self._fill(container, node)
        self._sizes[key] = self._size - before
        return container

    def _grow(self, size: int, node: yaml.Node) -> None:
        self._size += size
        if self._size > self._largest:
            raise TooMuch(None, None, "its aliases expand to too many values", node.start_mark)

    def _fill(self, mapping: dict[str, Any], node: yaml.Node) -> None:
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be text", key.start_mark)
            if key.value == "<<" and key.tag in (_PLAIN, _TAG + "merge"):
                for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    inherited = self.value(source)
                    if not isinstance(inherited, dict):
                        raise yaml.constructor.ConstructorError(
                            None, None, "`<<` must name a mapping", source.start_mark
                        )
                    # In a chain of merges each one copies all that the earlier ones copied.
                    self._grow(len(inherited), source)
                    merged = {**merged, **inherited, **merged}
            else:
                if key.value in mapping and self._repeated is not None and not self._repeated.is_full:
                    first = next(one for one, _ in node.value if one.value == key.value)
                    self._repeated.add(key.value, first.start_mark.line + 1, key.start_mark.line + 1)
                mapping[key.value] = self.value(value)
        for name, item in merged.items():
            mapping.setdefault(name, item)


def _plain_scalar(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return _number(text) if text[0] in _NUMERIC_START else text


def _number(text: str) -> int | float | str:
    if _INTEGER.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        # Python refuses longer integers, and no server uses such texts as numbers.
        return int(text, base) if len(text) <= 4000 else text
    if _FLOAT.fullmatch(text):
        value = float(text)
        return value if value - value == 0 else text
    return text


_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
# orjson reads integers beyond 64 bits as floats.
_LONG_NUMBER = b"0" * 19
_DIGITS_AS_ZERO = bytes(ord("0") if chr(byte).isdecimal() and byte < 128 else 0x20 for byte in range(256))
_TABS = re.compile(r"^[ \t]*\t[ \t]*$", re.MULTILINE)
_SYNTAX = LoaderErrorKind.SYNTAX_ERROR
_JSON_START = re.compile(rb"[ \t\r\n]*[{\[]")
# Possessive quantifiers up to the end of the text: each character is read once.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])", re.DOTALL)
_NO_LINE_END = re.compile(r"[^\r\n]")
_MOST_COMMENTED = 1 << 22
"""Characters of JSON with comments: such files are hand-written, and reading them takes several times their memory."""


def parse(data: bytes, *, name: str, content_type: str | None = None, notes: list[str] | None = None) -> Any:
    """Return the value of a JSON or YAML document; `name` denotes it in errors.

    Sentences about repeated keys are added to `notes`. The first character decides which parser comes first, because
    content types and file names are unreliable. Raises `LoaderError`.
    """
    repeated = RepeatedKeys(name, [] if notes is None else notes)
    if _JSON_START.match(data):
        with contextlib.suppress(ValueError):
            # This is the usual case: JSON in valid UTF-8 is JSON, whatever its headers state.
            return _json(data, repeated)
    text = _decoded(data, content_type)
    start = text.lstrip()[:200]
    if not start:
        raise LoaderError(f"{name} is empty; give an OpenAPI document in JSON or YAML", kind=_SYNTAX)
    if start[0] == "<":
        kind = "HTML" if "html" in start.lower() else "XML or HTML"
        raise LoaderError(
            f"{name} is {kind}, not an API description; give the location of its JSON or YAML document",
            kind=LoaderErrorKind.UNEXPECTED_CONTENT_TYPE,
        )
    if not start.startswith(("{", "[", "//", "/*")):
        return _yaml(text, name, repeated)
    with contextlib.suppress(ValueError):
        return _json(text.encode(), repeated)
    # YAML reads `1 // one` as text.
    is_short = len(text) <= _MOST_COMMENTED
    bare = _COMMENT.sub(_blank, text) if is_short else text
    try:
        return _json(bare.encode(), repeated)
    except ValueError as broken:
        with contextlib.suppress(ValueError):
            if is_short:
                return _json(_LAST_COMMA.sub(_blank, bare).encode(), repeated)
        try:
            return _yaml(text, name, repeated)
        except LoaderError:
            where, why = "", str(broken)
            if isinstance(broken, json.JSONDecodeError):
                where, why = f" at line {broken.lineno}, column {broken.colno}", broken.msg
            advice = "correct it there" if where else "correct it"
            raise LoaderError(f"{name} is not valid JSON{where}: {why}; {advice}", kind=_SYNTAX) from broken


_SPACES = b" \t\r\n"
_JSON_TOKEN = re.compile(rf"({_STRING})(\s*+:)?|[{{}}]", re.DOTALL)


def _json(data: bytes, repeated: RepeatedKeys) -> Any:
    """Return the value of JSON text, and report repeated keys, which parsers drop (RFC 8259, 4). Raises `ValueError`."""
    value = parse_json(data)
    # Counting keys takes a tenth of the time of reading them, and nearly every text has as many keys as its value.
    of_text, of_value = (one.translate(None, _SPACES).count(b'":') for one in (data, to_json(value)))
    if of_text > of_value:
        _report_repeated(data.decode(), repeated)
    return value


def _report_repeated(text: str, repeated: RepeatedKeys) -> None:
    objects: list[dict[str, int]] = []
    for token in _JSON_TOKEN.finditer(text):
        if token[0] == "{":
            objects.append({})
        elif token[0] == "}":
            objects.pop()
        elif repeated.is_full:
            return
        elif token[2] is not None:
            key, at = json.loads(token[1]), token.start()
            first = objects[-1].setdefault(key, at)
            if first != at:
                repeated.add(key, text.count("\n", 0, first) + 1, text.count("\n", 0, at) + 1)


def parse_json(data: bytes) -> Any:
    """Return the value of JSON text; integers of any size are kept. Raises `ValueError`."""
    try:
        if _LONG_NUMBER in data.translate(_DIGITS_AS_ZERO):
            return json.loads(data)
        with contextlib.suppress(orjson.JSONDecodeError):
            return orjson.loads(data)
        # Python accepts a lone surrogate as text, and its errors have positions.
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _blank(found: re.Match[str]) -> str:
    """Replace a comment by blanks, so that the rest stays on its lines; strings stay unchanged."""
    return found[1] or _NO_LINE_END.sub(" ", found[0])


def as_parsed(value: Any) -> Any:
    """Return the value with text keys and dates as text; the same object if nothing has to change. Raises `LoaderError` if it contains itself."""
    try:
        orjson.dumps(value)
    except TypeError:
        try:
            return _plain(value)
        except RecursionError:
            raise LoaderError(
                "the schema contains itself or is nested too deeply; give a tree of objects and lists"
            ) from None
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        words = {True: "true", False: "false", None: "null"}
        return {
            words[key] if isinstance(key, bool) or key is None else str(key): _plain(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    return value.isoformat() if isinstance(value, date | time) else str(value)


def to_json(value: Any) -> bytes:
    """Return the JSON text of a parsed document. Raises `ValueError` if it contains itself."""
    try:
        return orjson.dumps(value)
    except TypeError:
        try:
            return json.dumps(value, separators=(",", ":")).encode()
        except RecursionError:
            raise ValueError("it contains itself") from None


def _decoded(data: bytes, content_type: str | None) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    charset = _CHARSET.search(content_type or "")
    # Without a byte order mark, zeros among the first four bytes show the width of characters (RFC 4627, 3).
    usual = json.detect_encoding(data[:4]) if b"\0" in data[:4] else "utf-8"
    for encoding in (charset[1] if charset else usual, usual):
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("cp1252", "replace")


def _yaml(text: str, name: str, repeated: RepeatedKeys) -> Any:
    try:
        try:
            return parse_yaml(text, repeated)
        except yaml.scanner.ScannerError as error:
            # A line of tabs is blank (YAML 1.2, 6.7), but the parser refuses it.
            blanked = _TABS.sub("", text)
            if "tab" not in str(error.problem) or blanked == text:
                raise
            return parse_yaml(blanked, repeated)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise LoaderError(
            f"{name} is neither valid JSON nor valid YAML{where}: {error.problem or error.context}; correct it there",
            kind=_SYNTAX,
        ) from error
    except yaml.YAMLError as error:
        reason = str(error).split("\n", 1)[0]
        raise LoaderError(f"{name} is neither valid JSON nor valid YAML: {reason}; correct it", kind=_SYNTAX) from error
    except RecursionError:
        raise LoaderError(f"{name} is nested too deeply to be read; simplify it", kind=_SYNTAX) from None
