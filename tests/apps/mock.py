"""An API that does exactly what its description says: each operation answers by its own book."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote_to_bytes

from tests.apps.builder import Builder, Unbuildable
from tests.apps.document import Described, Document, Missing
from tests.apps.http import Reply, Request
from tests.apps.inspector import Inspector

_NO_CONTENT = (204, 205, 304)
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+*-]+/[\w!#$&^.+*-]+\s*(;.*)?", re.ASCII)
_ANY = {"*/*": "application/json", "application/*": "application/json", "text/*": "text/plain"}
_VARIABLE = re.compile(r"\{[^{}]*\}")
_NOTHING = object()


class Mock:
    """Answers requests to the API of a document; give it to `tests.apps.serving.serving`."""

    def __init__(self, root: dict[str, Any], *, prefix: str = "") -> None:
        self.document = Document(root)
        self.unbuildable: dict[str, str] = {}
        """Label -> why there is no answer by the book."""
        self.answered: set[str] = set()
        """Labels of the operations that were asked."""
        self.complaints: list[str] = []
        """What was wrong with requests: `label: problem`. They were answered all the same."""
        self._inspector = Inspector(self.document)
        self._builder = Builder(self.document)
        self._prefix = prefix
        self._replies: dict[str, Reply] = {}
        self._routes: dict[str, list[tuple[tuple[int, ...], _Template, Described]]] = {}
        for operation in self.document.operations():
            template = _Template(operation.path.partition("#")[0])
            routes = self._routes.setdefault(operation.method, [])
            routes.append((template.rank, template, operation))
        for routes in self._routes.values():
            routes.sort(key=lambda route: route[0])

    def __call__(self, request: Request) -> Reply:
        path = request.target.partition(b"?")[0]
        prefix = self._prefix.encode()
        segments = [unquote_to_bytes(part) for part in path.removeprefix(prefix).split(b"/")]
        found = self.find(request.method, segments, request.headers) if path.startswith(prefix) else None
        if found is not None:
            operation, values = found
            self.answered.add(operation.label)
            problem = self._inspector.problem(operation, request, values)
            if problem is not None:
                self.complaints.append(f"{operation.label}: {problem}")
            return self.reply(operation)
        self.complaints.append(f"{request.method} {path!r}: not described")
        others = sorted(method for method in self._routes if self.find(method, segments))
        if others:
            return Reply(405, headers=(("Allow", ", ".join(others)),))
        return Reply(404)

    def find(
        self, method: str, segments: list[bytes], headers: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[Described, dict[str, bytes]] | None:
        """The operation that these decoded segments of a path belong to, literals first, and its variables.

        Of operations whose paths differ in a fragment `NAME=VALUE`, it is the one with that header, or the first.
        """
        first = None
        for _, template, operation in self._routes.get(method, ()):
            values = template.values(segments)
            if values is not None:
                name, _, value = operation.path.partition("#")[2].partition("=")
                if not value or headers.get(name.lower()) == value:
                    return operation, values
                first = first or (operation, values)
        return first

    def reply(self, operation: Described) -> Reply:
        """What an operation always answers."""
        found = self._replies.get(operation.label)
        if found is None:
            found = self._replies[operation.label] = self._made(operation)
        return found

    def _made(self, operation: Described) -> Reply:
        problem = "no answer is documented"
        for status, raw in _by_preference(operation.raw.get("responses")):
            try:
                return self._answer(operation, status, self.document.resolved(raw))
            except (Unbuildable, Missing) as error:
                problem = str(error)
        self.unbuildable[operation.label] = problem
        return Reply(200)

    def _answer(self, operation: Described, status: int, raw: dict[str, Any]) -> Reply:
        problem: Unbuildable | Missing | None = None
        for media_type, schema, examples in self._contents(operation, raw):
            if status in _NO_CONTENT:
                return Reply(status)
            try:
                body = self._body(media_type, schema, examples)
            except (Unbuildable, Missing) as error:
                problem = error
                continue
            return Reply(status, media_type, body)
        if problem is not None:
            raise problem
        return Reply(status)

    def _contents(self, operation: Described, raw: dict[str, Any]) -> Iterator[tuple[str, Any, list[Any]]]:
        """Media type, schema and examples of what may be answered, JSON first."""
        if self.document.is_swagger:
            yield from self._swagger_contents(operation, raw)
            return
        content = raw.get("content") or {}
        for name in sorted(content, key=_preference):
            item = self.document.resolved(content[name])
            examples = [item["example"]] if "example" in item else []
            for example in (item.get("examples") or {}).values():
                # An example that is not there takes nothing from what is promised.
                with suppress(Missing):
                    example = self.document.resolved(example)
                    if "value" in example:
                        examples.append(example["value"])
            yield _sent_as(name), item.get("schema", _NOTHING), examples

    def _swagger_contents(self, operation: Described, raw: dict[str, Any]) -> Iterator[tuple[str, Any, list[Any]]]:
        produced = operation.raw.get("produces") or self.document.root.get("produces") or []
        if not produced and "schema" in raw:
            produced = ["application/json"]
        schema = raw.get("schema", _NOTHING)
        examples = raw.get("examples") or {}
        for name in sorted(produced, key=_preference):
            yield _sent_as(name), schema, [examples[name]] if name in examples else []

    def _body(self, media_type: str, schema: Any, examples: list[Any]) -> bytes:
        if not _is_json(media_type) and (schema is _NOTHING or "yaml" not in media_type):
            text = next((value for value in examples if isinstance(value, str)), None)
            return (text or _text_of(media_type)).encode()
        if schema is _NOTHING:
            return json.dumps(examples[0]).encode() if examples else b""
        witness = self._builder.witness
        # One item breaks no limit, order or filter that a query asks for.
        for value in (*map(_with_one_item, examples), *examples):
            if witness.problem(schema, value) is None:
                return json.dumps(value).encode()
        try:
            return json.dumps(self._builder.value(schema)).encode()
        except Missing:
            # Nothing is promised by a schema that is not there.
            return b"{}"


def _with_one_item(value: Any) -> Any:
    """Return a body with the first item alone of each list that stands in no other list."""
    if isinstance(value, dict):
        return {name: _with_one_item(one) for name, one in value.items()}
    return value[:1] if isinstance(value, list) else value


class _Template:
    """A path template, matched segment by segment."""

    def __init__(self, path: str) -> None:
        segments = path.split("/")
        self.rank = tuple(_rank(segment) for segment in segments)
        self._names = [name[1:-1] for name in _VARIABLE.findall(path)]
        self._is_clear = "}{" not in path
        self._patterns = [
            re.compile(b"(.+)".join(re.escape(unquote_to_bytes(part)) for part in _VARIABLE.split(segment)), re.DOTALL)
            for segment in segments
        ]

    def values(self, segments: list[bytes]) -> dict[str, bytes] | None:
        """What the variables stand for, `None` when the path is another one."""
        if len(segments) != len(self._patterns):
            return None
        found: list[bytes] = []
        for pattern, segment in zip(self._patterns, segments, strict=True):
            match = pattern.fullmatch(segment)
            if match is None:
                return None
            found += match.groups()
        return dict(zip(self._names, found, strict=True)) if self._is_clear else {}


def _rank(segment: str) -> int:
    if not _VARIABLE.search(segment):
        return 0
    return 2 if _VARIABLE.fullmatch(segment) else 1


def _by_preference(responses: Any) -> Iterator[tuple[int, Any]]:
    """(status, response object): what succeeds first, then the default, then anything else."""
    if not isinstance(responses, dict):
        return
    found = []
    for name, raw in responses.items():
        wild = name.upper().replace("X", "0")
        if name.lower() == "default":
            found.append((1, 200, raw))
        elif wild.isdigit() and 200 <= int(wild) <= 599:
            found.append((0 if wild[0] == "2" else 2, int(wild), raw))
    for _, status, raw in sorted(found, key=lambda each: each[0]):
        yield status, raw


def _preference(media_type: str) -> tuple[bool, bool, bool]:
    is_sound = _MEDIA_TYPE.fullmatch(media_type) is not None
    return not is_sound, not _is_json(media_type), "*" in media_type


def _is_json(media_type: str) -> bool:
    essence = media_type.partition(";")[0].strip().lower()
    return essence.endswith(("/json", "+json"))


def _sent_as(media_type: str) -> str:
    return _ANY.get(media_type, media_type.replace("*", "x"))


def _text_of(media_type: str) -> str:
    return "<answer/>" if "xml" in media_type or "html" in media_type else "answer"
