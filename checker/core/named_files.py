"""Contents of files that have names of their own."""

from typing import Any, Self


class NamedFile(bytes):
    """The content of a file with its name in multipart bodies, without an extension."""

    file_name: str

    def __new__(cls, content: bytes, file_name: str) -> Self:
        """Return a value that equals `content`; only the name differs."""
        made = super().__new__(cls, content)
        made.file_name = file_name
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[bytes, str]]:
        return type(self), (bytes(self), self.file_name)

    def __repr__(self) -> str:
        return f"NamedFile({bytes(self)!r}, {self.file_name!r})"
