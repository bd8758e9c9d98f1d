"""Facts about the components of a document are read once, however many schemas ask for them."""

from typing import Any

from checker.schema.discriminators import has_bases


class _Counted(dict[str, Any]):
    reads = 0

    def items(self) -> Any:
        self.reads += 1
        return super().items()


def test_components_are_searched_for_bases_once() -> None:
    schemas = _Counted(Pet={"discriminator": {"propertyName": "kind"}})
    root = {"components": {"schemas": schemas}}
    assert all(has_bases(root) for _ in range(20))
    assert schemas.reads == 1


def test_bases_of_many_documents_are_told_apart() -> None:
    roots: list[Any] = [{"components": {"schemas": {"Pet": {"discriminator": {}} if n % 2 else {}}}} for n in range(20)]
    for _ in range(2):
        assert [has_bases(root) for root in roots] == [n % 2 == 1 for n in range(20)]
