"""One test over several schemas."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from checker.core.errors import IncorrectUsage
from checker.library.parametrized import Tested, with_schema
from checker.library.schema import LoadedSchema


class SeveralSchemas(Struct, frozen=True):
    """Schemas by the names that stand in the ids of tests."""

    named: Mapping[str, LoadedSchema]


def parametrize(**schemas: LoadedSchema) -> Callable[[Tested], Tested]:
    """Decorator of a test that takes `case`: one test for each operation of each schema, `test_api[users][GET /users]`.

    Raises `IncorrectUsage` for what is no loaded schema.
    """
    if not schemas:
        raise IncorrectUsage("`checker.pytest.parametrize` needs at least one schema: `users=...`")
    for name, schema in schemas.items():
        if not isinstance(schema, LoadedSchema):
            raise IncorrectUsage(f"{name!r} must be a loaded schema, got {schema!r:.80}")
    return with_schema(SeveralSchemas(schemas))
