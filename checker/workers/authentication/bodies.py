"""Credentials that stand in the bodies of requests."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from checker.core.case import Case
from checker.core.request import WireRequest
from checker.transport.prepare import plain_maker

_CONTENT_TYPE: Final = b"content-type"
_BODY: Final = "body"
"""Of a value that has no name."""


class BodyRewriter:
    """Has requests that are made already carry the bodies of other cases of the same operations."""

    def __init__(self) -> None:
        self._maker = plain_maker()

    def rewrite(self, case: Case, changed: Case, request: WireRequest) -> None:
        """The body of a changed case in place of that of the request of a case. Raises `SerializationError`."""
        made = self._maker.make(changed)
        request.body, request.lines = made.body, None
        said = request.header(_CONTENT_TYPE)
        usual = (case.media_type or "").encode("latin-1", "replace")
        is_ours = said is None or _essence(said) == _essence(usual)
        if not is_ours and case.media_type == changed.media_type:
            # A type that a user gave for all requests stands; ours may name a boundary that is another one now.
            return
        kept = [pair for pair in request.headers if pair[0].lower() != _CONTENT_TYPE]
        written = [pair for pair in made.headers if pair[0].lower() == _CONTENT_TYPE]
        request.headers = kept + written


def _essence(media_type: bytes) -> bytes:
    return media_type.partition(b";")[0].strip().lower()


def new_texts(before: Any, after: Any, name: str = _BODY) -> Iterator[tuple[str, str]]:
    """Texts of a value that another one has not at the same place, each with the name that it stands under."""
    match after:
        case str():
            if after and after != before:
                yield name, after
        case Mapping():
            members = before if isinstance(before, Mapping) else {}
            for key, value in after.items():
                yield from new_texts(members.get(key), value, str(key))
        case list() | tuple():
            items = before if isinstance(before, list | tuple) else ()
            for number, value in enumerate(after):
                yield from new_texts(items[number] if number < len(items) else None, value, name)
        case _:
            # Numbers, truth values and bytes: nothing that is looked for in texts.
            pass
