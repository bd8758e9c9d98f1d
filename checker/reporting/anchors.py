"""Long bodies once: who sends or receives the same again is given an alias, which every reader of YAML resolves.

Aliases of scalars cannot grow: what a reader holds of a cassette becomes smaller by them.
"""

import re
from hashlib import blake2b

_LONG = 1024
"""Characters; a shorter one is read faster where it stands."""
_LETTERS = ("", "b", "c", "d")
"""A request, its answer, and what a phase may say of them."""
_BODY = re.compile(r' *(?:string|"base64_string"): (?=")')


class Anchors:
    """Names the bodies of the interactions of one cassette, in their order."""

    def __init__(self) -> None:
        self._names: dict[bytes, str] = {}
        """By digest."""

    def shared(self, entries: str, number: int) -> str:
        """Text of interaction `number`, in which a body that came before is an alias: `string: *body-7`."""
        if len(entries) < _LONG:
            return entries
        lines = entries.split("\n")
        count = 0
        for index, line in enumerate(lines):
            key = _BODY.match(line) if len(line) >= _LONG else None
            if key is None:
                continue
            scalar = line[key.end() :]
            digest = blake2b(scalar.encode(), digest_size=16).digest()
            known = self._names.get(digest)
            if known is None:
                name = f"body-{number}{_LETTERS[count]}"
                count += 1
                self._names[digest] = name
                lines[index] = f"{key.group()}&{name} {scalar}"
            else:
                lines[index] = f"{key.group()}*{known}"
        return "\n".join(lines)
