"""Operations as producers of values: which of their answers to read, how deep, and what their requests call things."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from checker.core.operation import Label
from checker.core.resource_names import Resource
from checker.core.resources import ResourceModel
from checker.corpus.contexts import Ancestry, request_pointer
from checker.corpus.harvest import DEEP, AnswerPlace, Places, field_of

NO_FORMATS: Final[Mapping[str, str]] = MappingProxyType({})
_ANSWERED: Final = "$response.body#"
NEAR = 2
"""Levels of an answer that name the new thing itself."""
_LONGEST_PAUSE = 63


class Producer(Struct):
    """One operation as a producer: whether its answers are worth reading."""

    resource: Resource
    feeds: bool
    """Whether some path parameter chooses from this collection: then every scalar may be a name."""
    wanted: frozenset[str]
    """Field names that some parameter asks for, wherever they are seen."""
    places: Places
    ancestry: Ancestry
    """How it says what its values stand in."""
    given: tuple[AnswerPlace, ...] = ()
    """Where its requests say what they make is called."""
    linked: frozenset[str] = frozenset()
    """Pointers in its answers at which other operations find what they ask for, by transitions or by format."""
    formats: Mapping[str, str] = NO_FORMATS
    """Pointer in its answers -> format that fields of other operations have, too."""
    _pause: int = 0
    """Answers not to read fully after one that taught nothing: twice as many each time."""
    _left: int = 0

    @property
    def is_read(self) -> bool:
        """Whether its answers may hold anything that is asked for."""
        return bool(self.feeds or self.wanted or self.linked)

    def wants(self, place: AnswerPlace) -> bool:
        """Whether values at a place may be what some parameter asks for. Places of other collections are those that paths ask for."""
        is_fed = self.feeds or place.resource != self.resource
        return is_fed or place.name in self.wanted or place.origin[1] in self.linked

    def depth(self, method: str) -> int:
        """Return the depth to which the next response is read: less and less often at all, once an operation shows nothing new."""
        if not self.is_read:
            return 0
        self._left -= 1
        if self._left < 0:
            return DEEP
        # What names a new thing is needed at once, and stands near the top.
        return NEAR if method == "POST" else 0

    def learned(self, *, is_fresh: bool) -> None:
        """Note whether the answer taught anything."""
        if is_fresh:
            self._pause = self._left = 0
        elif self._left < 0:
            self._pause = self._left = min(2 * self._pause + 1, _LONGEST_PAUSE)


def names_given(model: ResourceModel) -> dict[Label, tuple[AnswerPlace, ...]]:
    """Operation -> where its requests say what the things are called that they make."""
    pointers: dict[Label, dict[str, None]] = {}
    for one in model.transitions:
        for value in one.values if one.is_inferred else ():
            if value.sent_pointer is not None:
                pointers.setdefault(one.source, {})[value.sent_pointer] = None
    return {
        label: tuple(
            AnswerPlace(field_of(one), (label, request_pointer(one)), model.uses[label].resource) for one in each
        )
        for label, each in pointers.items()
    }


def pointers_taken(model: ResourceModel) -> dict[Label, frozenset[str]]:
    """Operation -> pointers into its answers that transitions take values from."""
    found: dict[Label, set[str]] = {}
    for one in model.transitions:
        for value in one.values:
            if isinstance(value.value, str) and value.value.startswith(_ANSWERED):
                found.setdefault(one.source, set()).add(value.value.removeprefix(_ANSWERED))
    for label, formats in model.formatted.items():
        found.setdefault(label, set()).update(formats)
    return {label: frozenset(pointers) for label, pointers in found.items()}
