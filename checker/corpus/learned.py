"""Records of what answers teach of the target beyond its description: values, demands, and features that are new."""

from msgspec import Struct

from checker.core.constraints import Constraint
from checker.core.meta import Literal


class ValueSeen(Struct, frozen=True):
    """A scalar in a successful response that some parameter could use."""

    producer: str
    """Label."""
    pointer: str
    """JSON pointer in the body, array indices as `*`; or `header:NAME`."""
    value: str | int | float | bool
    case: str
    phase: str = ""
    index: int = -1
    """Of the case in its task, where values are used by later layers alone."""
    above: tuple[tuple[str, str], ...] = ()
    """(collection, name in it) of what the value stands in, outermost first."""


class ValueGone(Struct, frozen=True):
    """A value that a DELETE took away, or tried to."""

    value: str | int | float | bool
    case: str
    label: str = ""
    """Of the DELETE: the value is gone from the resources that its path belongs to."""
    phase: str = ""
    index: int = -1
    above: tuple[tuple[str, str], ...] = ()
    """What it stood in."""
    succeeded: bool = True
    """Otherwise it may be there still."""


class DemandHeard(Struct, frozen=True):
    """A demand beyond the description, from a refusal of valid data, or the discovery that such a demand does not hold."""

    label: str
    demand: Constraint
    phase: str
    """Empty for what an earlier run heard and this one heard again."""
    is_refuted: bool = False
    """Whether the target demands it no longer: it takes what breaks it, or refuses what respects it for the same reason."""
    refused: tuple[Literal, ...] = ()
    """The case that was refused, if there was one."""


class OperationServed(Struct, frozen=True):
    """A request that changes nothing was served, the first one of its operation in a worker: who doubts the target asks again."""

    label: str
    status: int
    request: Literal


class OperationProbed(Struct, frozen=True):
    """A check that probes each operation once did so for the first accepted case of a task."""

    label: str
    task: str
    phase: str
    index: int
    """Of the case."""
    is_judged: bool
    """Whether the check came to a verdict."""


class SignalsSeen(Struct, frozen=True):
    """Feature ids that this incarnation saw for the first time, with their class names."""

    label: str
    ids: tuple[tuple[int, str], ...]
    """(64-bit id, class: `status`, `media_type`, `header`, `leaf`, `error`, `latency`, `finding`, `input`, ...)."""
