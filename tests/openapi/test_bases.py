"""Facts about the components of a document are read once, however many schemas ask for them."""

from typing import Any

from checker.kinds.static import SchemaDocument
from checker.schema.discriminators import has_bases


class _Counted(dict[str, Any]):
    reads = 0

    def items(self) -> Any:
        self.reads += 1
        return super().items()


def test_components_are_searched_for_bases_once() -> None:
    schemas = _Counted(Pet={"discriminator": {"propertyName": "kind"}})
    document = SchemaDocument({"components": {"schemas": schemas}})
    assert all(has_bases(document) for _ in range(20))
    assert schemas.reads == 1


def test_bases_of_many_documents_are_told_apart() -> None:
    pets: list[Any] = [{"discriminator": {}} if n % 2 else {} for n in range(20)]
    documents = [SchemaDocument({"components": {"schemas": {"Pet": pet}}}) for pet in pets]
    for _ in range(2):
        assert [has_bases(document) for document in documents] == [n % 2 == 1 for n in range(20)]
