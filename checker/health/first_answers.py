"""Signs of a wrong setup in the first responses of a run: one sentence with advice, long before the report."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct, field

from checker.core.security import UNAUTHORIZED, named_ways

ENOUGH: Final = 25
"""Answers after which it is said, or nothing is wrong."""
KIND: Final = "first_answers"
"""Of the note that holds the sentence."""
_GATEWAY = frozenset((502, 503, 504))


class FirstAnswers(Struct):
    """Statuses of the first answers."""

    base_url: str
    """As it may be shown."""
    missing_path: str = ""
    """What the description puts before all paths, if the base URL that was given lacks it."""
    has_credentials: bool = False
    """Whether any are configured."""
    given_header: str = ""
    """Name of a header with credentials that the user wrote for all requests."""
    ways_in: Sequence[str] = ()
    """Options that give credentials to what the description declares, as people are told of them."""
    _statuses: Counter[int] = field(default_factory=Counter)

    def note(self, status: int) -> bool:
        """One more; whether they are enough."""
        self._statuses[status] += 1
        return self._statuses.total() >= ENOUGH

    @property
    def sentence(self) -> str:
        """Return the problem and the advice; empty if there is no problem."""
        found = self._statuses.keys()
        if not found:
            return ""
        said = f"all of the first {self._statuses.total()} answers were {'/'.join(map(str, sorted(found)))}"
        if found == {404}:
            advice = "check that the API is there: its base URL may lack a path"
            if self.missing_path:
                wanted = f"{self.base_url.rstrip('/')}{self.missing_path}"
                advice = f"the description says {self.missing_path}: try `--url {wanted}`"
            return f"{said}: {advice}"
        if found <= UNAUTHORIZED:
            advice = f"give credentials with {named_ways(self.ways_in)} or `[auth]`"
            if self.has_credentials:
                advice = "the credentials are refused; correct them (`checker auth check` tries each of them)"
            elif self.given_header:
                advice = f"the `{self.given_header}` header that was given (`-H`, `headers`) is refused; correct it"
            return f"{said}: {advice}"
        if found <= _GATEWAY:
            return f"{said}: a proxy answers in the place of the API; check that the API runs, and where the proxy leads"
        return ""
