"""The last message of a worker that ends by itself."""

from enum import StrEnum

from msgspec import Struct

from checker.core.errors import LoaderErrorKind


class LeavingKind(StrEnum):
    """The reason why a worker ends by itself."""

    DRAINED = "drained"
    """It was told to."""
    MEMORY = "memory"
    """It grew too far: another one takes its place."""
    CONCLUDED = "concluded"
    """Class checks have said all that they have to say."""
    ORPHANED = "the supervisor is gone"
    CANNOT_OPEN = "cannot open"
    """The description cannot be read."""
    USAGE = "usage"
    """What was asked for leaves nothing to do."""
    CANNOT_START = "cannot start"
    LIMIT = "stopped by the system"
    """A limit of the system stopped it. Another one may do better: memory and files of this one are free again."""
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
    """The last word of a worker that ends by itself."""

    kind: LeavingKind
    sentence: str = ""
    details: tuple[str, ...] = ()
    """Further lines."""
    loading: LoaderErrorKind = LoaderErrorKind.UNCLASSIFIED
    """What kept the description from being read."""
    url: str | None = None
    """Where it was asked for, if it was behind a URL."""

    @property
    def reason(self) -> str:
        """For people, and for the record of its end."""
        said = f"{self.kind}: {self.sentence}" if self.sentence else str(self.kind)
        return "\n".join((said, *self.details))
