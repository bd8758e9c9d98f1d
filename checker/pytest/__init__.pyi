"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.pytest.expansion import LazySchema, from_fixture, parametrize

__all__ = ["LazySchema", "from_fixture", "parametrize"]
