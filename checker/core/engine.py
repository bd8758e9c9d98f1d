"""The engine of cases: public methods on low layers hold an engine and call one line of it, which reaches high layers."""

from typing import Any, Protocol

from checker.core.response import Response


class Engine(Protocol):
    """Send, judge, make. Built by `checker.faces`, the only way up.

    `case` and `operation` are `Any` here because those classes hold an engine themselves.
    """

    def formatted_path(self, case: Any, base_path: str = "") -> str: ...

    def as_curl_command(
        self, case: Any, headers: dict[str, str] | None, base_url: str | None, *, verify: bool
    ) -> str: ...

    def identity_of(self, case: Any) -> str | None: ...

    def as_transport_kwargs(
        self, case: Any, base_url: str | None, headers: dict[str, str] | None
    ) -> dict[str, Any]: ...

    def call(self, case: Any, base_url: str | None, **options: Any) -> Response: ...

    def validate_response(self, case: Any, response: Any, **options: Any) -> None: ...

    def call_and_validate(self, case: Any, base_url: str | None, **options: Any) -> Response: ...

    def make_case(self, operation: Any, **parts: Any) -> Any: ...

    def as_strategy(self, operation: Any, **options: Any) -> Any: ...

    def examples_of(self, operation: Any) -> list[Any]: ...

    @property
    def schema(self) -> Any: ...
