"""Counts of a task in work, as its records have them."""

from collections.abc import Mapping

from msgspec import Struct


def rows(counts: Mapping[tuple[str, int], int]) -> tuple[tuple[str, int, int], ...]:
    """(label, status or 0 for none, count) of what is counted by label and status."""
    return tuple((label, status, count) for (label, status), count in counts.items())


class UncountedRequests(Struct):
    """Requests that no task has counted: redirects that were followed, what was sent again on the way, logins, witnesses."""

    requests: int = 0
    inquiries: int = 0
    """Those of them that looked into failures."""

    def take(self) -> tuple[int, int]:
        """Both numbers, which are counted anew from now on."""
        taken = self.requests, self.inquiries
        self.requests = self.inquiries = 0
        return taken
