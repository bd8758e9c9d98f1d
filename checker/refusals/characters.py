"""Characters that prose allows: `only lowercase letters, numbers, and dashes`, as a class of a regular expression."""

import re
from typing import Final

_ALPHANUMERIC: Final = r"alpha-?numerics?"
_ROWS: Final = (
    (rf"lower-? ?case {_ALPHANUMERIC}", "a-z0-9"),
    (rf"upper-? ?case {_ALPHANUMERIC}", "A-Z0-9"),
    (_ALPHANUMERIC, "a-zA-Z0-9"),
    (r"lower-? ?case(?: letters| alphabets?)?", "a-z"),
    (r"upper-? ?case(?: letters| alphabets?)?", "A-Z"),
    (r"letters|alphabetic|alphabets?|alphas?\b", "a-zA-Z"),
    (r"numbers|numerals|numeric|digits", "0-9"),
    (r"dash(?:es)?|hyphens?|minus(?:es)?", "-"),
    (r"under-?scores?", "_"),
    (r"dots?|periods?|full stops?", "."),
    (r"white-?spaces?|spaces?|blanks?", " "),
    (r"colons?", ":"),
    (r"slash(?:es)?", "/"),
    (r"plus(?:es)?", "+"),
    (r"at signs?", "@"),
)
"""Words, and what they stand for."""
_BETWEEN: Final = re.compile(
    r"(?:\s|[,(]|\b(?:and|or|the|ascii|english|latin|roman|basic|single|unaccented|characters?|signs?|symbols?)\b)+",
    re.IGNORECASE,
)
_WORD: Final = re.compile("|".join(f"(?P<k{at}>{words})" for at, (words, _) in enumerate(_ROWS)), re.IGNORECASE)  # fmt: skip
_SYMBOLS: Final = re.compile(
    r"['\"`](?P<quoted>_|[^\w\s'\"`])['\"`]|(?P<slashed>(?:_|[^\w\s,])(?:/(?:_|[^\w\s,]))+)"
)
_FIRST_IS_ALPHANUMERIC: Final = re.compile(
    rf"start(?:s|ing)? and end(?:s|ing)? with an? (?:lower-? ?case )?{_ALPHANUMERIC}", re.IGNORECASE
)


def pattern_of(prose: str) -> str:
    """The pattern of texts that hold nothing but what is listed first in `prose`; empty where it begins with no such list.

    `lowercase letters, numbers, and dashes`: `^[a-z0-9-]+$`.
    """
    listed = list(dict.fromkeys(_listed(prose)))
    if not listed:
        return ""
    inner = _with_hyphen_last(listed)
    if _FIRST_IS_ALPHANUMERIC.search(prose):
        ends = "".join(part for part in ("a-z", "A-Z", "0-9") if part in listed)
        return f"^[{ends}]([{inner}]*[{ends}])?$" if ends else f"^[{inner}]+$"
    return f"^[{inner}]+$"


def _listed(prose: str) -> list[str]:
    """Classes and characters of a list, until a word that is none of it."""
    found: list[str] = []
    at = 0
    while True:
        between = _BETWEEN.match(prose, at)
        at = between.end() if between else at
        if word := _WORD.match(prose, at):
            row = int((word.lastgroup or "k0")[1:])
            found.extend(re.findall(r"\w-\w|.", _ROWS[row][1]))
            at = word.end()
        elif symbols := _SYMBOLS.match(prose, at):
            found.extend((symbols["quoted"] or symbols["slashed"])[::2])
            at = symbols.end()
        else:
            return found


def _with_hyphen_last(parts: list[str]) -> str:
    """The inside of a class: a hyphen stands for itself at the end alone."""
    plain = [f"\\{part}" if part in ("\\", "]", "^") else part for part in parts if part != "-"]
    return "".join(plain) + "-" * ("-" in parts)
