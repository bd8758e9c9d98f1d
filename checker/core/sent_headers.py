"""Headers of a request for people who read it: by name and as text, as in any client; in order and as bytes, as they were sent."""

from collections.abc import Iterator
from typing import Any, SupportsIndex, TypeVar, overload

Field = tuple[bytes, bytes]
Default = TypeVar("Default")


class SentHeaders(list[Field]):
    """`headers["X-Key"]` is a text, whatever the letter case of the name; as a list it holds each line as a pair of bytes."""

    def keys(self) -> list[str]:
        """Names as they were sent, each once."""
        return list(dict(self.items()))

    def values(self) -> list[str]:
        """Values as text, in order."""
        return [value for _, value in self.items()]

    def items(self) -> Iterator[tuple[str, str]]:
        """Names and values as text, in order."""
        return ((name.decode("latin-1"), value.decode("latin-1")) for name, value in self)

    @overload
    def get(self, name: str) -> str | None: ...
    @overload
    def get(self, name: str, default: Default) -> str | Default: ...
    def get(self, name: str, default: Any = None) -> Any:
        """Values of a name, with commas between where there are several (RFC 9110, 5.3)."""
        wanted = name.lower()
        found = [value for key, value in self.items() if key.lower() == wanted]
        return ", ".join(found) if found else default

    @overload
    def __getitem__(self, place: str) -> str: ...
    @overload
    def __getitem__(self, place: SupportsIndex) -> Field: ...
    @overload
    def __getitem__(self, place: slice) -> list[Field]: ...
    def __getitem__(self, place: Any) -> Any:
        """By name, or by place as in any list. Raises `KeyError` for a name that was not sent."""
        if not isinstance(place, str):
            return super().__getitem__(place)
        found = self.get(place)
        if found is None:
            raise KeyError(place)
        return found

    def __contains__(self, wanted: object) -> bool:
        return (
            self.get(wanted) is not None
            if isinstance(wanted, str)
            else super().__contains__(wanted)
        )
