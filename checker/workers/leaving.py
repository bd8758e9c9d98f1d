"""The last message of a worker that ends by itself."""

from enum import StrEnum

from msgspec import Struct

from checker.core.errors import LoaderErrorKind


class LeavingKind(StrEnum):
    """The reason why a worker ends by itself."""

    DRAINED = "drained"
    """The supervisor ordered it."""
    MEMORY = "memory"
    """Its memory has grown too far. Another worker takes its place."""
    CONCLUDED = "concluded"
    """The class checks have reported about the whole run."""
    ORPHANED = "the supervisor is gone"
    CANNOT_OPEN = "cannot open"
    """The description cannot be read."""
    USAGE = "usage"
    """The settings leave nothing to test."""
    CANNOT_START = "cannot start"
    LIMIT = "stopped by the system"
    """A limit of the system stopped it. Another worker may succeed, because memory and files of this one are free again."""
    DISK = "disk"
    """The corpus cannot be written."""
    BUG = "bug"
    """The sentence is a traceback."""

    @property
    def ends_run(self) -> bool:
        """Whether no other worker would do better."""
        return self in _FATAL


_FATAL = frozenset(
    (LeavingKind.CANNOT_OPEN, LeavingKind.USAGE, LeavingKind.CANNOT_START, LeavingKind.DISK, LeavingKind.BUG)
)


class Leaving(Struct, frozen=True, tag=True):
    """The last message of a worker that ends by itself."""

    kind: LeavingKind
    sentence: str = ""
    details: tuple[str, ...] = ()
    """Further lines."""
    loading: LoaderErrorKind = LoaderErrorKind.UNCLASSIFIED
    """The kind of error that kept the description from being read."""
    url: str | None = None
    """The URL of the description, if it has one."""

    @property
    def reason(self) -> str:
        """For people, and for the record of its end."""
        said = f"{self.kind}: {self.sentence}" if self.sentence else str(self.kind)
        return "\n".join((said, *self.details))
