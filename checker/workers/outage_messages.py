"""What supervisor and workers say to each other when the target stops serving."""

from enum import StrEnum

from msgspec import Struct

from checker.core.operation import Label


class Trouble(StrEnum):
    """What keeps a target from serving."""

    GONE = "gone"
    """Nobody answers."""
    REFUSED = "refused"
    """Everybody is turned away."""


class Death(Struct, frozen=True):
    """An outage of which the request that did it is known."""

    at: float
    """Seconds since the epoch."""
    culprit: Label


class Hold(Struct, frozen=True):
    """The target is in trouble: send nothing of the run, and say so when nothing is in flight."""

    number: int
    """Of the outage, from 1."""


class Examine(Struct, frozen=True):
    """All hold: wait until the target serves, and look among what was sent here for what did it."""

    number: int
    trouble: Trouble
    is_last: bool
    """Whether nobody is left to look after this one: then it tells what happened."""
    doubted: Label | None = None
    """The operation whose refusal raised the question, as long as nobody has seen that others are refused, too."""
    at: float = 0.0
    """When it was noticed, in seconds since the epoch."""
    deaths: tuple[Death, ...] = ()
    """Earlier ones of the run."""


class GoOn(Struct, frozen=True):
    """The outage is over, or as over as it becomes."""

    number: int
    held_back: tuple[Label, ...]
    """Operations of the whole run that wait for its end."""
    serves: bool = True
    """Whether the target serves again: else what it refuses says nothing."""
    is_rate_limited: bool = False
    """Whether an answer with 429 is no sign of an outage: the target counts requests."""
    refuses: Label | None = None
    """The operation that was doubted, where everybody else is served: its refusals are its own."""


class Troubled(Struct, frozen=True):
    """The target has stopped serving: nothing more is sent from here."""

    trouble: Trouble
    doubted: Label | None = None
    """The operation that was refused to a worker which was never served anything: only others know whether that is new."""
    at: float = 0.0
    """When, in seconds since the epoch."""


class Held(Struct, frozen=True):
    """Nothing of this worker is in flight."""

    number: int


class Examined(Struct, frozen=True):
    """What one worker found about an outage."""

    number: int
    culprit: Label | None
    """The operation whose request did it; None where none of this worker did."""
    trouble: Trouble
    serves: bool
    """Whether the target serves again."""
    is_rate: bool = False
    """Whether the target counts requests, and refuses any with 429 that are too many: no request is guilty of that."""
    is_unfounded: bool = False
    """Whether nothing that was served here is refused: what was doubted may be the operation's own refusal."""
