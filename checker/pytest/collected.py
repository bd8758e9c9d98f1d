"""Operations of one item where pytest knows no subtests: all are tried, then what failed is told together."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


class CollectedOutcomes:
    """Stands for the fixture `subtests`."""

    def __init__(self) -> None:
        self._failures: list[Exception] = []
        self._skipped: list[str] = []
        self._count = 0

    @contextmanager
    def test(self, name: str) -> Iterator[None]:
        """Keep the failure of the block for later; its note says which operation it is of."""
        __tracebackhide__ = True
        self._count += 1
        try:
            yield
        except pytest.skip.Exception as error:
            self._skipped.append(str(error))
        except pytest.fail.Exception as error:
            # It is no `Exception`, which alone groups of exceptions take.
            self._keep(name, AssertionError(str(error)))
        except Exception as error:  # noqa: BLE001 - what a test of a user raises is its failure
            self._keep(name, error)

    def conclude(self) -> None:
        """Raise what failed as one group; skip where everything was skipped."""
        # Its frame is shown: pytest 8.4 cannot tell of a group all of whose frames are hidden.
        if self._failures:
            told = f"{len(self._failures)} of {self._count} operations failed"
            raise ExceptionGroup(told, self._failures)
        if len(self._skipped) == self._count:
            pytest.skip("; ".join(dict.fromkeys(self._skipped)))

    def _keep(self, name: str, error: Exception) -> None:
        error.add_note(name)
        self._failures.append(error)
