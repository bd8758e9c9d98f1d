"""States of resources: which requests have succeeded on each. So each operation meets resources in all states, also in rare ones."""

from collections import Counter, OrderedDict, defaultdict

from msgspec import Struct, field

from checker.core.operation import Label
from checker.core.resources import READING, REMOVING, ResourceUse
from checker.corpus.records import Above, agree
from checker.values.history import Scalar, Taken

State = tuple[Label, ...]
"""The operations that have changed a resource, each once, in the order of their first success."""
Member = tuple[str, Above]
"""The name of a member, and the objects that contain it: two carts may both have a line 1."""
_MEMBERS = 64
"""Members of a collection whose states are kept: those that changed last."""
_LONGEST = 8
_COUNTED = 4096
"""Pairs of an operation and a state that are known before all counts are halved."""
_SPARED = 4
"""Most members of one state that removals spare."""
_MISSING = (404, 410)


class ResourceStates(Struct):
    """The state of each resource, and how often each operation has met each state."""

    _collections: defaultdict[str, OrderedDict[Member, tuple[State, Taken]]] = field(
        default_factory=lambda: defaultdict(OrderedDict)
    )
    """Collection -> member -> its state. Members that nothing has changed since their creation are absent."""
    _met: Counter[tuple[Label, State]] = field(default_factory=Counter)

    def note(self, use: ResourceUse, key: str, taken: Taken, status: int) -> bool:
        """Read the response to a request on a member, or on what stands below it; return whether its state is another now."""
        member = self._member(key, taken.value, taken.above)
        state, _ = self._collections[key].get(member, ((), taken))
        if len(self._met) >= _COUNTED:
            # Rare pairs go, often those of members that are gone. A pair that is never counted would be the least met one for ever.
            self._met = Counter({pair: count // 2 for pair, count in self._met.items() if count > 1})
        self._met[use.label, state] += 1
        if status in _MISSING or (200 <= status < 300 and use.is_member and use.method == REMOVING):
            self.forget(key, taken.value, taken.above)
            return False
        return 200 <= status < 300 and use.method not in READING and self.changed(use.label, key, taken)

    def changed(self, label: Label, key: str, taken: Taken) -> bool:
        """Add an operation that has changed a member; return whether it is new to its state."""
        members, member = self._collections[key], self._member(key, taken.value, taken.above)
        state, _ = members.get(member, ((), taken))
        is_new = label not in state and len(state) < _LONGEST
        members[member] = (*state, label) if is_new else state, taken
        members.move_to_end(member)
        if len(members) > _MEMBERS:
            members.popitem(last=False)
        return is_new

    def forget(self, key: str, value: Scalar, above: Above) -> None:
        """Drop a member, which does not exist any more."""
        self._collections[key].pop(self._member(key, value, above), None)

    def _member(self, key: str, value: Scalar, above: Above) -> Member:
        """Return the known member of a name that may stand in what is `above`; requests may name less of that than responses show."""
        members, wanted = self._collections[key], (f"{value}", above)
        if wanted in members:
            return wanted
        return next((one for one in members if one[0] == wanted[0] and agree(one[1], above)), wanted)

    def least_met(self, label: Label, key: str, index: int) -> Taken | None:
        """Return a member in the state that an operation has met least: the last changed one for index 0.

        None if it has met members least that nothing has changed.
        """
        members = self._collections[key]
        if not members:
            return None
        states = {state for state, _ in members.values()}
        least = min(states, key=lambda state: (self._met[label, state], state))
        if self._met[label, least] > self._met[label, ()]:
            return None
        alike = [taken for state, taken in members.values() if state == least]
        return alike[-1 - index % len(alike)]

    def is_rare(self, key: str, taken: Taken) -> bool:
        """Whether few members of a collection are in the state of this one: removals spare them, and other workers learn of them."""
        members = self._collections[key]
        known = members.get(self._member(key, taken.value, taken.above))
        return known is not None and sum(state == known[0] for state, _ in members.values()) <= _SPARED
