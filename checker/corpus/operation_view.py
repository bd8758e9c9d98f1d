"""The value pool as one operation may use it: what a case takes for the variables of one path belongs together."""

from collections.abc import Collection, Iterable, Sequence

from checker.core import resource_names
from checker.core.meta import Binding
from checker.core.operation import Location, Operation
from checker.core.resource_names import Resource, place_word
from checker.core.resources import ResourceUse, place_of, variable_at
from checker.corpus.consumers import Consumer, Taken, consumer_of
from checker.corpus.contexts import key_of, noun_of_key, request_pointer
from checker.corpus.harvest import field_of, is_integer
from checker.corpus.value_history import Above, ValueHistory

# Names that one operation is asked for. Those of additional properties are made up and never come to an end.
_SLOTS = 512


class OperationView:
    """The pool as one operation may use it."""

    def __init__(
        self, rings: Sequence[ValueHistory], operation: Operation, use: ResourceUse, telling: Collection[str] = ()
    ) -> None:
        """`use`: where the operation stands among the resources; `telling`: variables that name the same in every body."""
        self._telling = telling
        self._use = use
        self._rings = rings
        self._operation = operation
        self._consumers: dict[tuple[Location, str], Consumer] = {}
        self._named: dict[tuple[Location, str], Consumer] = {}
        """Consumers by every name that was asked for: items of one array share one."""
        self._is_nested = len(use.owners) > 1
        self._taken: dict[str, Taken] = {}
        """Variable -> what the case that is being made takes for it."""

    def begin(self) -> None:
        """Another case is made: what it takes need not belong to what the last one took."""
        if self._taken:
            self._taken = {}

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """A value for this parameter: the best and newest for index 0, less likely ones above.

        What a case takes for several variables belongs together: the deepest one is chosen, the others are what it stands in.
        """
        consumer = self._named.get((location, name)) or self._consumer(location, name)
        if consumer is None:
            return None
        if self._is_nested and consumer.is_path:
            taken = self._taken.get(consumer.name) or self._taken_together(consumer.name, index)
        else:
            taken = consumer.choose(self._rings, index)
        if taken is None:
            return None
        value, (producer, pointer) = taken.value, taken.origin
        if consumer.as_text and not isinstance(value, str):
            value = str(value)
        return Binding(location, name, producer, pointer, index, value)

    def _taken_together(self, wanted: str, index: int) -> "Taken | None":
        """Return the values for a variable, chosen together with those below it that have no value yet."""
        for name, owner in reversed(self._use.owners):
            if name in self._taken:
                continue
            consumer = self._consumer(*place_of(self._operation, name))
            above = self._around()
            known = _named_in(above, owner)
            if consumer is not None and known is not None:
                named = consumer.named(self._rings, known, above)
                self._taken[name] = named or self._unseen(known, consumer)
            elif consumer is not None:
                taken = consumer.choose(self._rings, index, above)
                if taken is not None:
                    self._taken[name] = taken
            if name == wanted:
                break
        return self._taken.get(wanted)

    def _around(self) -> Above:
        """Return the context of the chosen values, as the deepest of them states it."""
        found: dict[str, str] = {}
        for taken in self._taken.values():
            for collection, name in taken.above:
                found.setdefault(collection, name)
        return tuple(found.items())

    def _unseen(self, text: str, consumer: Consumer) -> Taken:
        """A thing that no answer names, as it was named in the request in whose answer something below it was seen."""
        value = int(text) if str not in consumer.kinds and is_integer(text) else text
        producer = next(iter(self._taken.values())).origin[0]
        return Taken(value, (), (producer, request_pointer(consumer.name)))

    def consumed(self, bindings: Iterable[Binding], *, is_missing: bool) -> None:
        """Learn whether the fields of these values are what the parameters ask for."""
        for taken in bindings:
            name = (taken.location, taken.name)
            consumer = self._named.get(name) or self._consumer(*name)
            if consumer is not None:
                consumer.fared(field_of(taken.pointer), is_missing=is_missing)

    def blamed(self, bindings: Sequence[Binding]) -> Sequence[Binding]:
        """Return the values that may be unknown to the target after a 404: of several in one path the deepest."""
        if not self._is_nested:
            return bindings
        places = [place_of(self._operation, name) for name, _ in self._use.owners]
        named = [one for one in bindings if (one.location, one.name) in places]
        named.sort(key=lambda one: places.index((one.location, one.name)))
        return [one for one in bindings if one not in named[:-1]]

    def _consumer(self, location: Location, name: str) -> "Consumer | None":
        """None when there are too many names already."""
        named = self._named.get((location, name))
        if named is not None:
            return named
        variable = variable_at(self._operation, (location, name))
        slot = (location, place_word(name, self._telling) if location is Location.BODY else name)
        if variable is not None:
            slot = (Location.PATH, variable)
        consumer = self._consumers.get(slot)
        if consumer is None:
            if len(self._consumers) >= _SLOTS:
                return None
            consumer = self._consumers[slot] = consumer_of(self._operation, self._use, *slot, name)
        if len(self._named) < _SLOTS:
            self._named[location, name] = consumer
        return consumer


def _named_in(above: Above, owner: Resource) -> str | None:
    """Return the member of a collection in which a context places a value: by its path, else by its noun."""
    key, noun = key_of(owner), resource_names.noun_of(owner)
    found = dict(above).get(key)
    if found is not None:
        return found
    return next((name for at, name in reversed(above) if noun_of_key(at) == noun), None)
