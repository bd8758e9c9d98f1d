"""When a run is warned of: functions from what it came to and how it was set up to places, each a `Note`."""

from collections import Counter
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from msgspec import Struct, field

from checker.config.settings import RunSettings
from checker.config.warnings import WarningSettings
from checker.core.resource_names import is_login
from checker.core.security import UNAUTHORIZED
from checker.corpus.fold import RunView
from checker.corpus.records import Note

NEARLY_ALL = 0.9
MANY = 0.1
_ENOUGH = 10
"""Cases below which a share says nothing."""
_LIKE_MILLISECONDS = 1000
_MOST_EXAMPLES = 3
"""Security schemes that a warning shows the configuration of."""
_OF_OTHERS = (*UNAUTHORIZED, 404, 405, 409, 429)
"""4xx that say nothing of the schemas: credentials, missing data, methods, conflicts, limits."""


class WarningFacts(Struct, frozen=True):
    """What triggers are shown."""

    view: RunView
    settings: RunSettings
    own: Mapping[str, WarningSettings] = field(default_factory=dict)
    """By label: what is to be made of warnings about operations of which something else is said than of all others."""

    def warnings_of(self, label: str) -> WarningSettings:
        """What is to be made of warnings about an operation."""
        return self.own.get(label, self.settings.verdict.warnings)

    def positive(self) -> Iterator[tuple[str, Counter[int]]]:
        """(label, status -> count) of the cases that were meant to be accepted, of operations that had such cases."""
        for label in sorted(self.view.statuses):
            counts = self.view.positive_statuses(label)
            if counts:
                yield label, counts


def unreached(facts: WarningFacts) -> Iterator[Note]:
    """Operations that were tested and never answered 2xx, with what most answers were instead."""
    for label, statuses in facts.positive():
        if not any(status // 100 == 2 for status in statuses):
            most = max(statuses, key=lambda status: (statuses[status], -status))
            said = f"mostly {most}" if most else "mostly no answer"
            yield Note(
                "unreached", label, "", said if len(statuses) > 1 else said.removeprefix("mostly ")
            )


def missing_auth(facts: WarningFacts) -> Iterator[Note]:
    """Operations of whose answers at least 90 % are 401, or at least 90 % are 403, and none is a success.

    Where nothing is configured, lines of `checker.toml` that would configure what the description declares are one more.
    """
    found = list(_closed(facts))
    yield from found
    opened = facts.view.opened
    examples = opened.auth_examples if opened is not None else ()
    if found and examples:
        more = (
            f" (and {len(examples) - _MOST_EXAMPLES} more)"
            if len(examples) > _MOST_EXAMPLES
            else ""
        )
        text = "; ".join(examples[:_MOST_EXAMPLES])
        yield Note("missing_auth", "", "", f"write into checker.toml: {text}{more}")


def _closed(facts: WarningFacts) -> Iterator[Note]:
    for label, statuses in facts.positive():
        status = max(sorted(UNAUTHORIZED), key=lambda one: statuses[one])
        refused = statuses[401] + statuses[403]
        if _is_served(statuses) or refused < NEARLY_ALL * statuses.total():
            continue
        if _is_open_login(facts.view, label):
            continue
        yield Note(
            "missing_auth", label, str(status), f"{status} in {_share(refused, statuses)} of cases"
        )


def _is_open_login(view: RunView, label: str) -> bool:
    """Whether it takes credentials in its body alone: it refuses those that are made up, whatever a request carries."""
    said = view.described.get(label)
    if said is None or said.needs_credentials or "body" not in said.parameters:
        return False
    return is_login(label)


def rate_limited(facts: WarningFacts) -> Iterator[Note]:
    """Operations of whose answers at least 90 % are 429."""
    for label, statuses in facts.positive():
        if statuses[429] and statuses[429] >= NEARLY_ALL * statuses.total():
            yield Note(
                "rate_limited", label, "", f"429 in {_share(statuses[429], statuses)} of cases"
            )


def low_valid_rate(facts: WarningFacts) -> Iterator[Note]:
    """Operations with at least 10 valid requests, of which some were let in, but less than the configured share."""
    for label, statuses in facts.positive():
        rate = facts.warnings_of(label).low_valid_rate
        served = sum(count for status, count in statuses.items() if 200 <= status < 400)
        if statuses.total() >= _ENOUGH and 0 < served < rate * statuses.total():
            text = f"let in {_share(served, statuses)} of cases"
            yield Note("low_valid_rate", label, "", text)


def timeout_units(facts: WarningFacts) -> Iterator[Note]:
    """Times of a thousand seconds and more: whoever writes them thinks of milliseconds."""
    common = facts.settings.common
    given = {
        "request-timeout": common.request_timeout_s,
        "checks.max_response_time": common.check_settings.get("max_response_time", {}).get(
            "max_response_time", 0
        ),
    }
    for name, seconds in given.items():
        if seconds >= _LIKE_MILLISECONDS:
            text = f"{name} is {seconds:g} s; if that was meant in milliseconds, write {seconds / 1000:g}"
            yield Note("timeout_units", "", name, text)


def base_url_mismatch(facts: WarningFacts) -> Iterator[Note]:
    """That all valid requests were answered with 404 and the base URL that was given lacks a path of the description."""
    opened, given = facts.view.opened, facts.settings.target.base_url
    declared = opened.declared_path.rstrip("/") if opened is not None else ""
    if given is None or not declared:
        return
    path = urlsplit(given).path.rstrip("/")
    found = [statuses for _, statuses in facts.positive()]
    if path.endswith(declared) or not found:
        return
    if all(set(statuses) == {404} for statuses in found):
        shown = facts.settings.report.sanitization.redaction.url(given).rstrip("/")
        wanted = f"{shown}{_lacking(path, declared)}"
        text = f"all answers were 404, and the description says {declared}: try `--url {wanted}`"
        yield Note("base_url_mismatch", "", "", text)


def _lacking(path: str, declared: str) -> str:
    """What a path needs behind it to end with another one, with which it may have begun: `/v1` of `/api` and `/api/v1`."""
    parts = declared.split("/")[1:]
    heads = ("/" + "/".join(parts[:count]) for count in range(len(parts), 0, -1))
    return declared.removeprefix(next((head for head in heads if path.endswith(head)), ""))


def missing_test_data(facts: WarningFacts) -> Iterator[Note]:
    """Operations that served nothing valid, and of whose refusals for other reasons than credentials at least 10 % are 404.

    None where the base URL is to blame.
    """
    if any(base_url_mismatch(facts)):
        return
    for label, statuses, refused in _refusing(facts):
        if statuses[404] and statuses[404] >= MANY * refused:
            text = _refusals("404", statuses[404], statuses, refused)
            yield Note("missing_test_data", label, "", text)


def validation_mismatch(facts: WarningFacts) -> Iterator[Note]:
    """Operations that served nothing valid, and of whose refusals for other reasons than credentials at least 10 % are about the data itself."""
    for label, statuses, refused in _refusing(facts):
        others = {status: statuses[status] for status in statuses if _is_about_data(status)}
        count = sum(others.values())
        if count and count >= MANY * refused:
            usual = sorted(others, key=lambda status: (-others[status], status))
            text = _refusals(", ".join(map(str, usual)), count, statuses, refused)
            yield Note("validation_mismatch", label, "", text)


def method_not_allowed(facts: WarningFacts) -> Iterator[Note]:
    """Operations that answered at least ten cases, all of them with 405, which is not documented."""
    for label, statuses in facts.positive():
        if facts.view.is_never_allowed(label):
            text = f"405 in all {statuses[405]} cases"
            more = "; later phases leave it out" if len(facts.settings.phases) > 1 else ""
            yield Note("method_not_allowed", label, "", text + more)


def _refusing(facts: WarningFacts) -> Iterator[tuple[str, Counter[int], int]]:
    """(label, statuses, number of 4xx but 401 and 403) of operations that served nothing valid, and failed in no other way."""
    for label, statuses in facts.positive():
        refused = sum(
            count
            for status, count in statuses.items()
            if status // 100 == 4 and status not in UNAUTHORIZED
        )
        # A server error says nothing of the data, but it does not speak for it either.
        if refused and all(status // 100 == 4 or status == 500 for status in statuses):
            yield label, statuses, refused


def _refusals(what: str, count: int, statuses: Counter[int], refused: int) -> str:
    """How many valid cases were refused so; of how many refusals that is, where others than those that count came, too."""
    text = f"{what} in {_share(count, statuses)} of valid cases"
    if refused == statuses.total():
        return text
    return f"{text}, {count / refused:.0%} of the refusals that are not about credentials"


def _is_about_data(status: int) -> bool:
    return status // 100 == 4 and status not in _OF_OTHERS


def _is_served(statuses: Counter[int]) -> bool:
    return any(200 <= status < 400 for status in statuses)


def _share(count: int, statuses: Counter[int]) -> str:
    return f"{count / statuses.total():.0%}"
