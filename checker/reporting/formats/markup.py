"""Pieces of HTML: text that stays text, and small pictures as SVG."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from checker.reporting.text import xml_text

MOST_CHARACTERS = 4_000
"""Of one text: what is longer stands in reports for programs, and 200 failures fit into 2 MB."""
_QUOTED = re.compile(r"`([^`\n]+)`")
CLASSES = ("2xx", "3xx", "4xx", "5xx", "1xx", "none")


def plain(text: str) -> str:
    """Text that is text wherever it stands: between tags and in attributes in quotes."""
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}\n..."
    # A carriage return would come back as another line end.
    return escape(xml_text(text).replace("\r", "\\r"))


def prose(text: str) -> str:
    """Sentences in which code stands in back-quotes, as text."""
    return _QUOTED.sub(r"<code>\1</code>", plain(text))


def block(text: str, *, copied: bool = False) -> str:
    """Text as it is laid out, in its own box; with a button that copies it."""
    button = '<button type="button" class="copy">Copy</button>\n' if copied else ""
    return f'<div class="block">\n<pre tabindex="0">{plain(text)}</pre>\n{button}</div>\n'


def class_counts(statuses: Iterable[tuple[int, int]]) -> dict[str, int]:
    """Class of the status (`2xx`, `none`) -> count, without those that did not come."""
    counts = dict.fromkeys(CLASSES, 0)
    for status, count in statuses:
        counts[f"{status // 100}xx" if 100 <= status < 600 else "none"] += count
    return {name: count for name, count in counts.items() if count}


def bar(counts: dict[str, int], what: str = "answers") -> str:
    """Parts of a whole as a picture with words."""
    whole = sum(counts.values())
    if not whole:
        return "-"
    words = plain(f"{what}: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()))
    parts, left = [], 0.0
    for name, count in counts.items():
        width = 100 * count / whole
        parts.append(
            f'<rect class="s{name}" x="{left:.2f}" y="0" width="{width:.2f}" height="10"/>'
        )
        left += width
    return (
        f'<svg class="bar" role="img" aria-label="{words}" viewBox="0 0 100 10" width="100" height="10" '
        f'preserveAspectRatio="none"><title>{words}</title>{"".join(parts)}</svg>'
    )


def span(began: float, seconds: float, whole: float, kind: str) -> str:
    """A bar from when something began for as long as it took, in a bar of the whole; a dash where nobody knows.

    `kind` is the class of statuses whose colour it has.
    """
    if not seconds:
        return "-"
    whole = max(whole, began + seconds)
    words = plain(f"from {began:.1f} s to {began + seconds:.1f} s")
    return (
        f'<svg class="bar" role="img" aria-label="{words}" viewBox="0 0 100 10" width="100" height="10" '
        f'preserveAspectRatio="none"><title>{words}</title>'
        f'<rect class="s{kind}" x="{100 * began / whole:.2f}" y="0" width="{100 * seconds / whole:.2f}" height="10"/></svg>'
    )


def steps(seconds: Sequence[float], until: float, label: str) -> str:
    """How a count grew over time: one more at each of these moments, in order."""
    width, height = 600.0, 90.0
    whole, most = max(until, *seconds, 0.001), max(len(seconds), 1)
    points = [(0.0, 0)]
    for count, at in enumerate(seconds, 1):
        points += [(at, count - 1), (at, count)]
    points.append((whole, len(seconds)))
    path = " ".join(
        f"{width * at / whole:.1f},{height - height * n / most:.1f}" for at, n in points
    )
    words = plain(label)
    return (
        f'<svg class="curve" role="img" aria-label="{words}" viewBox="-4 -6 608 116" width="608" height="116">'
        f'<title>{words}</title><line x1="0" y1="90" x2="600" y2="90"/><line x1="0" y1="0" x2="0" y2="90"/>'
        f'<polyline points="{path}"/><text x="4" y="8">{len(seconds)}</text>'
        f'<text x="0" y="106">0 s</text><text x="600" y="106" text-anchor="end">{whole:.1f} s</text></svg>\n'
    )


def table(heads: Sequence[str], rows: Iterable[str], caption: str) -> Iterable[str]:
    """A table of rows that are HTML already."""
    yield f'<div class="wide" tabindex="0" role="region" aria-label="{plain(caption)}">\n'
    yield f"<table>\n<caption>{plain(caption)}</caption>\n<thead><tr>"
    yield "".join(f'<th scope="col">{plain(head)}</th>' for head in heads)
    yield "</tr></thead>\n<tbody>\n"
    yield from rows
    yield "</tbody>\n</table>\n</div>\n"
