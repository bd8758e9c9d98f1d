"""Stand-ins of CI runners: which commands each of them finds in a log, by its public documentation and source.

Each is stricter than the runner: it also splits at line ends that are not ASCII, and looks once more without ANSI escapes.
"""

import re
from collections.abc import Iterator

_LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_ANSI = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad"


def github_commands(log: str) -> Iterator[str]:
    """Yield lines that start, after blanks, with `::name ...::` (ActionCommand.TryParseV2), or hold `##[name ...]` (TryParse)."""
    for line in _lines(log):
        trimmed = line.strip(_UNSEEN).strip().strip(_UNSEEN).lstrip()
        if trimmed.startswith("::") and "::" in trimmed[2:]:
            yield trimmed
        elif "]" in line.partition("##[")[2]:
            yield line


def azure_commands(log: str) -> Iterator[str]:
    """Yield lines that hold `##vso[area.action ...]` or a formatting command `##[name]`."""
    yield from (line for line in _lines(log) if re.search(r"##(?:vso)?\[[^\]]*\]", line, re.I))


def teamcity_messages(log: str) -> Iterator[str]:
    """Yield lines that hold a service message `##teamcity[name ...]`."""
    yield from (line for line in _lines(log) if re.search(r"##teamcity\[[^\]]*\]", line, re.I))


def commands(log: str) -> list[str]:
    """Return all lines of a log that one of the runners obeys."""
    return [*github_commands(log), *azure_commands(log), *teamcity_messages(log)]


def _lines(log: str) -> Iterator[str]:
    yield from _LINE_END.split(log)
    yield from _LINE_END.split(_ANSI.sub("", log))
