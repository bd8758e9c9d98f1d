"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.pytest.lazy import LazySchema, from_fixture
from checker.pytest.several import parametrize

__all__ = [
    "LazySchema",
    "from_fixture",
    "parametrize",
]
