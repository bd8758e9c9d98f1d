"""The masked requests of a finding as texts with holes for values of earlier responses and for secrets. Each format fills the holes differently."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from checker.checks.authentication import wrong_values
from checker.config.resolve import slug
from checker.core.meta import ANYTHING
from checker.core.request import Location, WireRequest
from checker.corpus.records import Finding
from checker.corpus.references import EMBEDDED_REFERENCE, REFERENCE
from checker.reporting.calls import Call, Path, Source, at, calls_of, form_with, has_form, parsed, parts_of, with_values
from checker.reporting.masking import Masking

NOT_SENT: Final = frozenset(
    ("host", "content-length", "user-agent", "accept-encoding", "connection", "transfer-encoding")
)
"""Headers that clients set themselves."""
_HOLE = "\ue000{}\ue001"


class Secret(Struct, frozen=True):
    """A masked value that comes from an environment variable."""

    variable: str  # `CHECKER_API_KEY`; `CHECKER_TOKEN_OAUTH` for the credentials of a security scheme.


class Taken(Struct, frozen=True):
    """A value from an earlier response."""

    source: Source
    is_json: bool
    """Whether the value is in a JSON body, where the hole includes the quotes. Otherwise it is in a URL."""
    variable: str  # `owner_id_1`.


Text = tuple[str | Taken | Secret, ...]


class ShownCall(Struct, frozen=True):
    """A masked request of a reproduction."""

    call: Call
    method: str
    target: Text  # Without the base path.
    headers: tuple[tuple[str, Text], ...]
    body: Text | None  # Its bytes as Latin-1.

    @property
    def texts(self) -> Iterator[Text]:
        yield self.target
        yield from (text for _, text in self.headers)
        if self.body is not None:
            yield self.body


def base_path_of(base_url: str) -> str:
    """Return the path of a base URL, without a slash at its end."""
    return urlsplit(base_url).path.rstrip("/")


def shown_calls(finding: Finding, masking: Masking, base_path: str) -> list[ShownCall]:
    """Return the masked requests of a finding. `base_path`: the path of the base URL, without a slash at its end."""
    calls = calls_of(finding)
    variables = variables_of(
        use
        for call in calls
        for use in (
            *((one, False) for one in (*call.in_target.values(), *call.in_headers.values())),
            *((one, not has_form(call.request)) for one in call.in_body.values()),
        )
    )
    return [_shown(call, masking, base_path, variables) for call in calls]


def used_from(calls: Sequence[ShownCall], number: int) -> list[Taken]:
    """Return the values of the response to a request that later requests use, in a stable order."""
    wanted = dict.fromkeys(part for one in calls for text in one.texts for part in text if isinstance(part, Taken))
    return [one for one in wanted if one.source.call == number]


def secrets_of(calls: Sequence[ShownCall]) -> list[str]:
    """Return the environment variables that the requests of a finding need."""
    return list(
        dict.fromkeys(part.variable for one in calls for text in one.texts for part in text if isinstance(part, Secret))
    )


Variables = Mapping[tuple[Source, bool], str]  # (value, whether it stands in a JSON body) -> variable.


def variables_of(uses: Iterable[tuple[Source, bool]]) -> Variables:
    """Return a variable for each use of a value: `owner_id_1` for the `id` of the `owner` in the first response.

    If names are equal in ASCII, a number distinguishes them.
    """
    found: dict[tuple[Source, bool], str] = {}
    names: set[str] = set()
    for source, is_json in dict.fromkeys(uses):
        path = (source.header,) if source.path is None else source.path
        name = "_".join(slug(str(part)).replace("-", "_") for part in path)
        name = f"{'_' * name[:1].isdigit()}{name}_{source.call + 1}"
        numbered = (name if number == 1 else f"{name}_{number}" for number in count(1))
        found[source, is_json] = next(one for one in numbered if one not in names)
        names.add(found[source, is_json])
    return found


def _shown(call: Call, masking: Masking, base_path: str, variables: Variables) -> ShownCall:
    recorded = call.request
    sent = masking.request(
        WireRequest(recorded.method, recorded.target, list(recorded.headers), recorded.body), call.components
    )
    parts = [part.decode("latin-1") for part in parts_of(sent.target)]
    if len(parts) == len(parts_of(recorded.target)):
        for place, source in call.in_target.items():
            parts[place] = _HOLE.format(_number(call, source))
    target = "".join(parts).removeprefix(base_path)
    fields = [
        (name.decode("latin-1"), shown.decode("latin-1"), value.decode("latin-1"))
        for (name, shown), (_, value) in zip(sent.headers, recorded.headers, strict=True)
    ]
    taken = {name: _HOLE.format(_number(call, source)) for name, source in call.in_headers.items()}
    body = None if sent.body is None else _body(sent, sent.body, call)
    sources = sorted(call.sources, key=repr)
    in_url, in_json = (
        [Taken(one, is_json, variables.get((one, is_json), "")) for one in sources] for is_json in (False, True)
    )
    return ShownCall(
        call,
        sent.method,
        _text(target, masking, "query", in_url),
        tuple(
            (
                name,
                _text(taken[name.lower()], masking, name, in_url)
                if name.lower() in taken
                else _header(name, shown, value, call, masking) or _text(shown, masking, name, in_url),
            )
            for name, shown, value in fields
            if name.lower() not in NOT_SENT and not name.lower().startswith("x-checker-")
        ),
        None if body is None else _text(body, masking, "body", in_url if has_form(sent) else in_json),
    )


def _secret(masking: Masking, place: str, secret: str) -> Text:
    before, variable, _ = masking.variable_of(place, secret)
    return (before, Secret(variable)) if before else (Secret(variable),)


def _header(name: str, shown: str, value: str, call: Call, masking: Masking) -> Text:
    """Return the text of a masked header that was recorded with this value; empty if it carries no credentials."""
    found = REFERENCE.fullmatch(value) or EMBEDDED_REFERENCE.search(value)
    if found is not None and (shown == masking.sanitization.replacement or REFERENCE.fullmatch(shown)):
        return _secret(masking, name, found["name"])
    if name.lower() == "cookie":
        text: list[str | Taken | Secret] = []
        for pair, own in zip(shown.split(";"), value.split(";"), strict=False):
            field, _, content = pair.strip().partition("=")
            has_reference = EMBEDDED_REFERENCE.search(own) is not None
            is_hidden = bool(EMBEDDED_REFERENCE.search(content)) or content == masking.sanitization.replacement != ""
            text += ["; "] if text else []
            if is_hidden and (has_reference or not _is_made_up(call, Location.COOKIE, field, own, masking)):
                text += (f"{field}=", *_secret(masking, f"cookie {field}", f"cookie:{field}"))
            else:
                text.append(own.strip() if is_hidden else pair.strip())
        return tuple(text)
    is_shown = found is None and shown != value and _is_made_up(call, Location.HEADER, name, value, masking)
    return (value,) if is_shown else ()


def _is_made_up(call: Call, location: Location, name: str, value: str, masking: Masking) -> bool:
    """Whether a masked value may be shown, because a check invented it as wrong credentials, or because it was drawn."""
    if masking.sanitization.generated:
        return False
    outside = next((one.outside for one in call.components if one.location == location), (ANYTHING,))
    is_drawn = ANYTHING not in outside and name.lower() not in map(str.lower, outside)
    return is_drawn or any(wrong in value for wrong in wrong_values(call.label))


def _number(call: Call, source: Source) -> int:
    return sorted(call.sources, key=repr).index(source)


def _body(sent: WireRequest, body: bytes, call: Call) -> str:
    values: Mapping[Path, str] = {path: _HOLE.format(_number(call, one)) for path, one in call.in_body.items()}
    document = parsed(body)
    if values and has_form(sent):
        return form_with(body, values)
    if not isinstance(document, dict | list) or not values:
        return body.decode("latin-1")
    text = (with_values(sent, values) or b"").decode("utf-8", "surrogatepass")
    # The hole for a number has no quotes.
    for path, one in call.in_body.items():
        if not isinstance(at(document, path), str):
            hole = _HOLE.format(_number(call, one))
            text = text.replace(json.dumps(hole, ensure_ascii=False), hole)
    before, *rest = re.split("(\ue000[0-9]+\ue001)", text)
    return _latin(before) + "".join(one if one.startswith("\ue000") else _latin(one) for one in rest)


def _latin(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _text(text: str, masking: Masking, name: str, values: Sequence[Taken]) -> Text:
    """Return a text with its holes. A masked part is named after the parameter before it, if there is one."""
    mask = masking.sanitization.replacement
    text = EMBEDDED_REFERENCE.sub(lambda _: mask, text)
    masks = [re.escape(one) for one in (mask, mask.replace("[", "%5B").replace("]", "%5D")) if one]
    pattern = "|".join([*masks, "\ue000[0-9]+\ue001"])
    found: list[str | Taken | Secret] = []
    at = 0
    for hole in re.finditer(pattern, text):
        before = text[at : hole.start()]
        if before:
            found.append(before)
        if hole[0].startswith("\ue000"):
            found.append(values[int(hole[0][1:-1])])
        else:
            named = re.search(r"([\w.-]+)\"?\s*[=:]\s*\"?$", before)
            field = named[1] if named else name
            found += _secret(masking, f"{name} {field}", f"{name}:{field}")
        at = hole.end()
    if text[at:] or not found:
        found.append(text[at:])
    return tuple(found)
