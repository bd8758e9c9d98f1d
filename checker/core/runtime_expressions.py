"""Runtime expressions of links and callbacks (OpenAPI 3.1, 4.8.20.4), parsed once, evaluated against an interaction.

Beyond the specification: `*` in a JSON pointer stands for every item or property, and `#regex:...` with one group takes a
part of a text.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from checker.core.case import Case, NotSet
from checker.core.response import Response
from checker.core.schema import tokens_of

_EMBEDDED = re.compile(r"\{(\$[^{}]*)\}")
_SOURCE = re.compile(r"\$(request|response)\.(header|query|path|body)(?:\.([^#]+))?(#.*)?", re.DOTALL)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_REGEX = "#regex:"
_SIMPLE: Final = {"$url", "$method", "$statusCode"}
_MOST = 1000  # Most candidates of one expression.

Pick = Callable[[Sequence[Any]], Any]  # Chooses one of several candidates.


class InvalidExpression(ValueError):
    """An invalid expression. The message is one sentence."""


class EvaluationContext(Struct, frozen=True):
    """A case, its response, and where it was sent."""

    case: Case
    response: Response
    url: str = ""


class Unresolved(Struct, frozen=True):
    """The value of an expression for which the interaction has no value."""

    expression: str
    reason: str


class RuntimeExpression(Struct, frozen=True):
    """One runtime expression."""

    text: str
    of_response: bool = False
    source: str = ""  # `header`, `query`, `path` or `body`; empty for simple expressions such as `$method`.
    name: str = ""  # Name of the header or parameter.
    tokens: tuple[str, ...] = ()  # Tokens of the JSON pointer.
    pattern: re.Pattern[str] | None = None


class ExpressionTemplate(Struct, frozen=True):
    """Text with expressions in it; an expression that stands alone keeps the type of its value."""

    parts: tuple[str | RuntimeExpression, ...]


Value = Any  # JSON in which texts with expressions are `ExpressionTemplate`s.


def parse_value(raw: Any) -> Value:
    """Return a value of a link in which texts with expressions are templates, at any depth. Raises `InvalidExpression`."""
    if isinstance(raw, str):
        if raw.startswith("$"):
            return ExpressionTemplate((parse_expression(raw),))
        parts: list[str | RuntimeExpression] = []
        end = 0
        for match in _EMBEDDED.finditer(raw):
            parts += [raw[end : match.start()], parse_expression(match[1])]
            end = match.end()
        return ExpressionTemplate((*parts, raw[end:])) if parts else raw
    if isinstance(raw, dict):
        return {key: parse_value(item) for key, item in raw.items()}
    if isinstance(raw, list):
        return [parse_value(item) for item in raw]
    return raw


def parse_expression(text: str) -> RuntimeExpression:
    """Return one parsed expression. Raises `InvalidExpression`."""
    if text in _SIMPLE:
        return RuntimeExpression(text)
    match = _SOURCE.fullmatch(text)
    if match is None:
        raise InvalidExpression(f"`{text}` is not a runtime expression; write it like `$response.body#/id`")
    of_response, source, name, rest = (match[1] == "response", match[2], match[3] or "", match[4] or "")
    if of_response and source in ("query", "path"):
        raise InvalidExpression(f"`{text}`: a response has no {source}; use `$request.{source}`")
    if source == "body" and name:
        pointer = name.replace(".", "/")
        raise InvalidExpression(
            f"`{text}`: parts of a body are named by a JSON pointer; write `${match[1]}.body#/{pointer}`"
        )
    if source != "body" and (not name or (source == "header" and not _TOKEN.fullmatch(name))):
        raise InvalidExpression(f"`{text}` names no {source}; add its name after `{source}.`")
    pointer, _, regex = rest.partition(_REGEX)
    if pointer in ("", "#"):
        tokens: tuple[str, ...] = ()
    else:
        if source != "body" or not pointer.startswith("#/"):
            raise InvalidExpression(f"`{text}`: a JSON pointer starts with `/` and belongs to a body")
        tokens = tokens_of(pointer)
    if not regex:
        pattern = None
    else:
        try:
            pattern = re.compile(regex)
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidExpression(f"`{text}`: the regular expression is invalid ({error})") from None
        if pattern.groups != 1:
            raise InvalidExpression(
                f"`{text}`: the regular expression has {pattern.groups} groups; give it exactly one"
            )
    return RuntimeExpression(text, of_response, source, name, tokens, pattern)


def evaluate(value: Value, exchange: EvaluationContext, pick: Pick) -> Any | Unresolved:
    """Return the value with every expression replaced; `Unresolved` if one of them has no value."""
    if isinstance(value, ExpressionTemplate):
        values = []
        for part in value.parts:
            if isinstance(part, str):
                values.append(part)
                continue
            found = candidates(part, exchange)
            if not found:
                return Unresolved(part.text, "the interaction has no such value")
            values.append(found[0] if len(found) == 1 else pick(found))
        return values[0] if len(values) == 1 else "".join(map(_text, values))
    if isinstance(value, dict):
        pairs = {key: evaluate(item, exchange, pick) for key, item in value.items()}
        return next((item for item in pairs.values() if isinstance(item, Unresolved)), pairs)
    if isinstance(value, list):
        items = [evaluate(item, exchange, pick) for item in value]
        return next((item for item in items if isinstance(item, Unresolved)), items)
    return value


def candidates(expression: RuntimeExpression, exchange: EvaluationContext) -> list[Any]:
    """Return the values of an expression in an interaction: none, one, or with `*` several."""
    case, response = exchange.case, exchange.response
    if expression.source == "body":
        if expression.of_response:
            read = exchange.case.operation.read_answer
            try:
                found = [exchange.response.json() if read is None else read(exchange.response)]
            except ValueError:
                found = []
        else:
            found = [] if isinstance(case.body, NotSet) else [case.body]
    elif expression.text == "$url":
        found = [exchange.url]
    elif expression.text == "$method":
        found = [case.operation.method]
    elif expression.text == "$statusCode":
        found = [response.status_code]
    elif expression.source == "header":
        wanted = expression.name.lower()
        if expression.of_response:
            pairs = exchange.response.raw_headers
        else:
            request = exchange.response.request
            pairs = [(name, value) for name, value in exchange.case.headers.items()]
            if request is not None:
                pairs += [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]
        found = [value for name, value in pairs if name.lower() == wanted][:1]
    else:
        container = case.query if expression.source == "query" else case.path_parameters
        found = [container[expression.name]] if expression.name in container else []
    for token in expression.tokens:
        # Most expressions name one value: a list for each level would take half of the time.
        if len(found) == 1 and found[0].__class__ is dict and token in found[0]:
            found = [found[0][token]]
        else:
            found = [inner for value in found for inner in _below(value, token)][:_MOST]
    if expression.pattern is None:
        return found
    matches = [expression.pattern.search(value) for value in found if isinstance(value, str)]
    return [match[1] for match in matches if match is not None and match[1] is not None]


def _below(value: Any, token: str) -> list[Any]:
    if isinstance(value, dict):
        if token in value:
            return [value[token]]
        return list(value.values()) if token == "*" else []
    if isinstance(value, list):
        if token.isdecimal() and len(token) < 10 and int(token) < len(value):
            return [value[int(token)]]
        return value if token == "*" else []
    return []


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)
