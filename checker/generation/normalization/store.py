"""Canonical forms that operations of one document share: what one of them has read, the next need not read again."""

from collections import OrderedDict
from typing import Final

from msgspec import Struct, field

from checker.core.schema import Dialect, Direction, Document
from checker.generation.normalization.forms import Canonical, Conjunction, FacetKey

_NODES: Final = 40_000
"""Facets and names in all forms that are kept: some 16 MiB."""
_SEEN: Final = 100_000
"""Forms that are known to have been read once."""
FormKey = tuple[FacetKey, ...]


class StoredForm(Struct, frozen=True):
    """A form, and what reading it took."""

    conjunction: Conjunction
    form: Canonical
    steps: int
    nodes: int


class Forms(Struct):
    """Forms of one document, read in one way. The least recently used give way.

    Most schemas belong to one operation only: what is read for the second time is kept.
    """

    limit: int = _NODES
    nodes: int = 0
    _kept: OrderedDict[FormKey, StoredForm] = field(default_factory=OrderedDict)
    _seen: set[int] = field(default_factory=set)
    """Hashes of keys that were asked for once."""

    def get(self, key: FormKey, conjunction: Conjunction) -> StoredForm | None:
        """The form of a conjunction, if it is kept."""
        kept = self._kept.get(key)
        # What is made has a name that is its own in one operation only.
        if kept is None or kept.conjunction != conjunction:
            return None
        self._kept.move_to_end(key)
        return kept

    def keep(self, key: FormKey, conjunction: Conjunction, form: Canonical, steps: int) -> None:
        """Keep a form that was read before, as long as there is room."""
        nodes, name = _nodes(form), hash(key)
        if name not in self._seen or nodes > self.limit // 2:
            if len(self._seen) >= _SEEN:
                self._seen.clear()
            self._seen.add(name)
            return
        before = self._kept.pop(key, None)
        self.nodes += nodes - (before.nodes if before is not None else 0)
        self._kept[key] = StoredForm(conjunction, form, steps, nodes)
        while self.nodes > self.limit:
            _, oldest = self._kept.popitem(last=False)
            self.nodes -= oldest.nodes


def _nodes(form: Canonical) -> int:
    """Return the size of a form, in facets and names."""
    named = sum(len(rule.named) + len(rule.patterns) for rule in form.objects.rules)
    ways = sum(len(branches.alternatives) for branches in form.branches)
    return 4 + len(form.facets) + len(form.objects.properties) + len(form.objects.required) + named + ways


class FormStore:
    """Forms of all documents whose operations are compiled."""

    __slots__ = ("_forms",)

    def __init__(self) -> None:
        self._forms: dict[tuple[int, Dialect, Direction], tuple[Document, Forms]] = {}

    def of(self, document: Document, dialect: Dialect, direction: Direction) -> Forms:
        """Forms of one document; it is held on to, so that no other one is taken for it."""
        key = (id(document), dialect, direction)
        found = self._forms.get(key)
        if found is None:
            found = self._forms[key] = (document, Forms())
        return found[1]
