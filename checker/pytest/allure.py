"""Calls of `allure.dynamic` and `allure.attach` in tests, for the Allure report of the session."""

from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pluggy import HookimplMarker

_hook = HookimplMarker("allure")
_MOST: Final = 200
"""Calls with different arguments that are kept for an operation: a test may attach something in each of its cases."""
_SINGLE: Final = ("severity", "thread", "host")  # Labels of which a result has one, as in `allure_commons.types`.


class AllureCalls:
    """A plug-in of `allure_commons`. Its methods are called for each call in a test; `allure-pytest` may be another plug-in."""

    def __init__(self) -> None:
        self.label = ""
        """The operation under test; empty between tests."""
        self.told: dict[str, dict[tuple[str, ...], Any]] = {}
        """Label of an operation -> what its tests told, as in `ReportContext.allure`."""

    @_hook
    def add_title(self, test_title: str) -> None:
        self._tell(str(test_title), "name")

    @_hook
    def add_description(self, test_description: str) -> None:
        self._tell(str(test_description), "description")

    @_hook
    def add_description_html(self, test_description_html: str) -> None:
        self._tell(str(test_description_html), "descriptionHtml")

    @_hook
    def add_label(self, label_type: str, labels: tuple[Any, ...]) -> None:
        """Add labels: severity, tags, epics, features, stories, suites, an id."""
        for value in map(_text, labels):
            kind = _text(label_type)
            key = (kind,) if kind in _SINGLE else (kind, value)
            self._tell({"name": kind, "value": value}, "labels", *key)

    @_hook
    def add_link(self, url: str, link_type: str, name: str | None) -> None:
        target, kind = _text(url), _text(link_type)
        self._tell({"type": kind, "url": target, "name": _text(name or url)}, "links", target, kind)

    @_hook
    def decorate_as_link(self, url: str, link_type: str, name: str | None) -> None:
        """Add the link of `allure.link`, which a test may call as a statement too."""
        self.add_link(url, link_type, name)

    @_hook
    def add_parameter(self, name: str, value: Any, excluded: bool | None, mode: Any) -> None:
        more = {"excluded": excluded, "mode": None if mode is None else _text(mode)}
        given = {key: one for key, one in more.items() if one is not None}
        self._tell({"name": _text(name), "value": str(value), **given}, "parameters", _text(name))

    @_hook
    def attach_data(self, body: str | bytes, name: str | None, attachment_type: Any, extension: str | None) -> None:
        media_type = _text(getattr(attachment_type, "mime_type", attachment_type) or "text/plain")
        ending = _text(extension or getattr(attachment_type, "extension", None) or "attach")
        content = body.encode(errors="backslashreplace") if isinstance(body, str) else bytes(body)
        shown = _text(name or "attachment")
        self._tell((shown, media_type, ending, content), "attachments", shown, sha256(content).hexdigest())

    @_hook
    def attach_file(self, source: str, name: str | None, attachment_type: Any, extension: str | None) -> None:
        self.attach_data(Path(source).read_bytes(), name or Path(source).name, attachment_type, extension)

    def absorb(self, told: dict[str, dict[tuple[str, ...], Any]]) -> None:
        for label, entries in told.items():
            self.told.setdefault(label, {}).update(entries)

    def _tell(self, value: Any, *key: str) -> None:
        """Keep a value of the operation under test; it replaces an earlier one with the same key."""
        if self.label:
            own = self.told.setdefault(self.label, {})
            if key in own or len(own) < _MOST:
                own[key] = value


def _text(value: Any) -> str:
    """Return a plain text: xdist sends no other objects between its processes."""
    return str(value.value if isinstance(value, Enum) else value)
