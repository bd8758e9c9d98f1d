"""States of resources: which requests have succeeded on each. Operations use them to meet resources in all states, including rare ones."""

from collections import Counter, OrderedDict, defaultdict
from itertools import islice

from msgspec import Struct, field

from checker.core.operation import Label
from checker.core.resources import READING, REMOVING, ResourceUse
from checker.corpus.records import Above, agree
from checker.values.history import Scalar, Taken

State = tuple[Label, ...]
"""The operations that have changed a resource, each once, by their first success."""
Member = tuple[str, Above]  # A member's name and context: two carts may both have a line 1.
_MEMBERS = 64  # Members of a collection whose states are kept, the last changed ones.
_LONGEST = 8
_COUNTED = 4096  # When more (operation, state) pairs are known, all counts are halved.
_SPARED = 4  # A removal is avoided if at most this many members are in the state.
_MISSING = (404, 410)


class CollectionStates(Struct):
    """The changed members of a collection, the last changed one at the end."""

    states: OrderedDict[Member, State] = field(default_factory=OrderedDict)
    alike: dict[State, dict[Member, Taken]] = field(default_factory=dict)  # State -> members in this state.

    named: dict[str, list[Member]] = field(default_factory=dict)  # Name -> members that have it, the oldest first.

    def member(self, value: Scalar, above: Above) -> Member:
        """Return the known member of this name whose context fits `above`. A request may name fewer resources of the context than a response."""
        wanted = (f"{value}", above)
        if wanted in self.states:
            return wanted
        return next((one for one in self.named.get(wanted[0], ()) if agree(one[1], above)), wanted)

    def put(self, member: Member, state: State, taken: Taken) -> None:
        """Set the state of a member that has changed."""
        self.drop(member)
        self.states[member] = state
        self.alike.setdefault(state, {})[member] = taken
        self.named.setdefault(member[0], []).append(member)
        if len(self.states) > _MEMBERS:
            self.drop(next(iter(self.states)))

    def drop(self, member: Member) -> None:
        """Forget a member, if it is known."""
        state = self.states.pop(member, None)
        if state is None:
            return
        del self.alike[state][member]
        if not self.alike[state]:
            del self.alike[state]
        self.named[member[0]].remove(member)
        if not self.named[member[0]]:
            del self.named[member[0]]


class ResourceStates(Struct):
    """The state of each resource, and how often each operation has met each state."""

    _collections: defaultdict[str, CollectionStates] = field(default_factory=lambda: defaultdict(CollectionStates))
    _met: Counter[tuple[Label, State]] = field(default_factory=Counter)

    def note(self, use: ResourceUse, key: str, taken: Taken, status: int) -> bool:
        """Learn from the response to a request on a member, or on a resource below it; return whether the member's state changed."""
        members = self._collections[key]
        member = members.member(taken.value, taken.above)
        state = members.states.get(member, ())
        if len(self._met) >= _COUNTED:
            # Halving drops rare pairs, often of removed members. A pair that is never counted would stay the least met
            # one for ever.
            self._met = Counter({pair: count // 2 for pair, count in self._met.items() if count > 1})
        self._met[use.label, state] += 1
        if status in _MISSING or (200 <= status < 300 and use.is_member and use.method == REMOVING):
            members.drop(member)
            return False
        return 200 <= status < 300 and use.method not in READING and self.changed(use.label, key, taken)

    def changed(self, label: Label, key: str, taken: Taken) -> bool:
        """Add an operation that has changed a member; return whether its state did not have it."""
        members = self._collections[key]
        member = members.member(taken.value, taken.above)
        state = members.states.get(member, ())
        is_new = label not in state and len(state) < _LONGEST
        members.put(member, (*state, label) if is_new else state, taken)
        return is_new

    def forget(self, key: str, value: Scalar, above: Above) -> None:
        """Forget a removed member."""
        members = self._collections[key]
        members.drop(members.member(value, above))

    def least_met(self, label: Label, key: str, index: int) -> Taken | None:
        """Return a member in the state that an operation has met least: for index 0 the one that changed last.

        Return None if the least met members are unchanged ones.
        """
        members = self._collections[key].alike
        if not members:
            return None
        met = self._met
        # `Counter` takes ten times as long for a missing key without a default.
        least = min(members, key=lambda state: (met.get((label, state), 0), state))
        if met.get((label, least), 0) > met.get((label, ()), 0):
            return None
        alike = members[least]
        return next(islice(reversed(alike.values()), index % len(alike), None))

    def is_rare(self, key: str, taken: Taken) -> bool:
        """Whether few members are in the state of this one. Removals avoid such members, and other workers learn of them."""
        members = self._collections[key]
        state = members.states.get(members.member(taken.value, taken.above))
        return state is not None and len(members.alike[state]) <= _SPARED
