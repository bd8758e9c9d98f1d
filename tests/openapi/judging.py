"""The referee asked about single requests."""

from typing import Any

from checker.core.contract import Outcome, RequestVerdict
from checker.core.request import WireRequest

from .documents import operation

VALID, INVALID, AMBIGUOUS = Outcome.VALID, Outcome.INVALID, Outcome.AMBIGUOUS
INTEGER = {"type": "integer"}
LIST = {"type": "array", "items": INTEGER}
OBJECT = {"type": "object", "properties": {"x": INTEGER}}
CLOSED = {"type": "object", "additionalProperties": False}


def judge(
    definition: Any, target: str, headers: tuple[tuple[str, str], ...] = (), body: bytes | None = None, **more: Any
) -> RequestVerdict:
    base_path = more.pop("base_path", "")
    found = operation({"responses": {}, **definition}, **more)
    fields = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    request = WireRequest(found.method, target.encode("latin-1"), fields, body)
    return found.judge_request(request, base_path=base_path)


def reasons(verdict: RequestVerdict) -> list[str]:
    return [part.reason for part in verdict.parts if part.reason]


def bodied(*, required: bool = True, **types: Any) -> dict[str, Any]:
    content = {name.replace("__", "/"): {"schema": schema} for name, schema in types.items()}
    return {"requestBody": {"required": required, "content": content}}
