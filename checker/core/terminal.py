"""Text for consoles and logs of CI systems, which cannot control the terminal or the runner."""

import re
from typing import Final

DRIVING: Final = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""For a character class of a regular expression: control characters of terminals, and those that change the place of the
following text. Tabs and line feeds are not among them.
"""
UNSEEN: Final = (
    r"\u00a0\u00ad\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f"
    r"\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
"""For a character class of a regular expression: invisible characters (Unicode: Default_Ignorable_Code_Point), and spaces that look like the usual one."""

_DRIVING: Final = re.compile(f"[{DRIVING}]")
_LINE_ENDS: Final = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_LINE_COMMAND: Final = re.compile(rf"((?:\A|[{_LINE_ENDS}])[\s{UNSEEN}]*+)(:(?=:))?")
"""The start of a line, and the first colon of `::` there. It matches at every line, so that blank lines are scanned once."""
_HASH_COMMAND: Final = re.compile(r"#(?=#(?:\[|vso|teamcity))", re.IGNORECASE)
"""The first `#` of `##[error]`, `##vso[...]` or `##teamcity[...]`.

Azure Pipelines, TeamCity and older runners of GitHub look for these anywhere in a line.
"""


def printable(text: str) -> str:
    """Return text of any number of lines in a form that is safe in a console and a CI log.

    Control characters of terminals become escapes, and commands of CI systems are broken.
    """
    return without_ci_commands(_DRIVING.sub(escape_of, text))


def one_line(text: str) -> str:
    r"""Return `text` as `printable` does, with `\n` in place of each line feed."""
    return printable(text.replace("\n", "\\n"))


def encodable(text: str, encoding: str) -> str:
    """Return `text` with a question mark for each character that the encoding does not have."""
    return text.encode(encoding, "replace").decode(encoding, "replace")


def without_ci_commands(text: str) -> str:
    r"""Return `text` with a backslash in each command of a CI system: `:\:error::`, `#\#vso[...]`.

    Otherwise the text of a server would be a command in the log: it could mask words, set variables, or stop our own
    annotations. A pair of `::stop-commands::` around the text does not help: a process may be killed between them.
    """
    if "::" in text:
        text = _LINE_COMMAND.sub(lambda found: found[1] + (":\\" if found[2] else ""), text)
    return with_escaped_hashes(text, "#\\")


def with_escaped_hashes(text: str, escape: str) -> str:
    r"""Return `text` with `escape` in place of the first `#` of each `##` that a CI system would take for a command.

    Formats with their own escape lose nothing: readers of JSON read `\u0023` as `#`.
    """
    return _HASH_COMMAND.sub(lambda _: escape, text) if "##" in text else text


def escape_of(found: re.Match[str]) -> str:
    r"""Return the escape of one matched character: `\x1b`, `\u2028`."""
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
