"""Bodies that callers give in place of that of a case, under the names of HTTP clients: `json`, `data`, `files`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx
from msgspec import Struct

from checker.core.case import Case
from checker.core.errors import IncorrectUsage
from checker.core.media_types import is_json

_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"
_OCTETS: Final = "application/octet-stream"
"""Of what goes out byte by byte."""


class GivenBody(Struct, frozen=True):
    """What is sent in place of the body of a case."""

    value: Any
    media_type: str
    content_type: str | None = None
    """The header, where it is not the media type that `value` is written as."""


def body_given(case: Case, json: Any, data: Any, files: Any) -> GivenBody | None:
    """What stands in place of the body of a case; None where nothing is given. Raises `IncorrectUsage`."""
    if json is not None and (data is not None or files is not None):
        raise IncorrectUsage("case.call() takes either `json`, or `data` and `files`, not both")
    if json is not None:
        is_fit = case.media_type is not None and is_json(case.media_type)
        return GivenBody(json, str(case.media_type) if is_fit else _JSON)
    if files is not None:
        return _multipart(case, data, files)
    if data is None:
        return None
    if isinstance(data, str | bytes):
        raw = data.encode() if isinstance(data, str) else data
        return GivenBody(raw, _OCTETS, case.media_type)
    return GivenBody(_fields(data), _FORM)


def _multipart(case: Case, data: Any, files: Any) -> GivenBody:
    # The same case makes the same request: clients choose a boundary by chance.
    named = f"multipart/form-data; boundary=part-{case.id}"
    fields = {} if data is None else _fields(data)
    try:
        request = httpx.Request(
            "POST", "http://localhost", headers={"Content-Type": named}, data=fields, files=files
        )
        content = request.read()
    except (TypeError, ValueError, AttributeError) as error:
        raise IncorrectUsage(
            f"`files` must be what clients take, such as {{'name': ('a.txt', b'...')}}: {error}"
        ) from error
    return GivenBody(content, _OCTETS, named)


def _fields(data: Any) -> dict[str, Any]:
    """Values by name, lists where a name has several. Raises `IncorrectUsage`."""
    if isinstance(data, Mapping):
        return dict(data)
    is_pairs = isinstance(data, Sequence) and all(
        isinstance(one, tuple | list) and len(one) == 2 for one in data
    )
    if not is_pairs:
        raise IncorrectUsage(
            f"`data` must be text, bytes, a dict, or pairs of a name and a value, got {data!r:.80}"
        )
    found: dict[str, list[Any]] = {}
    for name, value in data:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}
