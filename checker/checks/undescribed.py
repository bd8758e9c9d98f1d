"""Finds reasons of refusals that schemas cannot state: exclusive parameters, compared values, invented identifiers."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any, Final

from checker.checks.context import CheckContext
from checker.checks.rules import has_made_up_path, places_of, sentences_of
from checker.core.case import Case
from checker.core.constraints import BELOW
from checker.core.media_types import is_form
from checker.core.operation import Body, Parameter
from checker.core.request import Location
from checker.core.schema import UnresolvableReference
from checker.refusals.relations import relations_in
from checker.refusals.state import FORM_OF_IDENTIFIERS
from checker.schema.views import Outline, outline_of

_REFUSED: Final = (400, 422)
_EXCLUSIVE: Final = re.compile(
    r"\bexclusive\b|\b(?:cannot|can't|can not|may not|must not|should not) be (?:used|combined|specified|set|given|provided|passed|present|applied|mixed)\b"
    r"|\bnot both\b|\b(?:only|exactly|at most) one of\b|\beither\b.{1,200}?\bor\b|\bincompatible with\b|\bconflicts? with\b|\binstead of\b|\bin place of\b"
    r"|\bignored (?:if|when)\b|\bdo not (?:use|combine|specify|set)\b",
    re.IGNORECASE | re.DOTALL,
)
_COMPARED: Final = re.compile(
    r"\b(?:before|after|earlier|later|greater|less|larger|smaller|higher|lower|exceeds?|precedes?|follows?|same|differ\w*|equals?|match(?:es)?|between)\b|[<>]",
    re.IGNORECASE,
)
_ALIKE: Final = re.compile(
    r"\b(?:same|identical|differ\w*|equals?|match(?:es|ing)?)\b(?: (?:values?|dates?|each other))?\W*$", re.IGNORECASE
)
"""The end of a sentence that has named all compared values."""
_NUMBER: Final = re.compile(r"(?<!\w)-?\d")
_SENTENCE: Final = re.compile(r"[.;\n]+(?:\s|$)")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MOST_NAMES: Final = 50
_LONGEST: Final = 500  # Characters of a sentence that are read.
_MOST_SENTENCES: Final = 20


def undescribed_reason(context: CheckContext) -> str:
    """Return why a refusal may be right although the schemas allow the request; empty if no reason is known."""
    case = context.case
    sentences = list(sentences_of(context.response))
    empty = [name for _, name in empty_values(case)]
    named = _named_parts(context, sentences) if empty else []
    if empty and (not named or any(name in named for name in empty)):
        return "servers read an empty value as a missing one or as text"
    for one, other in _exclusive(case):
        return f"the description says that {one} and {other} exclude each other"
    if context.response.status_code not in _REFUSED:
        return ""
    for one, other in _compared(case, sentences):
        return f"the response compares {one} with {other}, and a schema cannot state that"
    if _is_of_identifier(context, sentences):
        return "an identifier in its path is invented, so that the response may mean 404"
    return ""


def empty_values(case: Case) -> Iterator[tuple[Location, str]]:
    """Yield the places of empty texts in query, headers, cookies and forms."""
    for location in (Location.QUERY, Location.HEADER, Location.COOKIE):
        for name, value in getattr(case, location.container).items():
            if value == "":
                yield location, name
    if isinstance(case.body, dict) and is_form(case.media_type or ""):
        for name, value in case.body.items():
            if value == "":
                yield Location.BODY, name


def _body_of(case: Case) -> Body | None:
    return next((one for one in case.operation.bodies if one.media_type == case.media_type), None)


def names_of_body(case: Case) -> list[str]:
    """Return the names of the properties of a body, declared or sent."""
    body = _body_of(case)
    sent = [name for name in case.body if isinstance(name, str)] if isinstance(case.body, dict) else []
    return list(dict.fromkeys([*([] if body is None else outline_of(body.schema).names), *sent]))[:_MOST_NAMES]


def _names_of(case: Case) -> list[str]:
    """Return the names of the parameters and properties of a case, declared or sent."""
    return [*(one.name for one in case.operation.parameters), *names_of_body(case)][:_MOST_NAMES]


def _exclusive(case: Case) -> Iterator[tuple[str, str]]:
    """Yield pairs of sent parameters and properties that one sentence of the description declares as exclusive."""
    sent = [name for location in (Location.QUERY, Location.HEADER) for name in getattr(case, location.container)]
    sent += [name for name in case.body if isinstance(name, str)] if isinstance(case.body, dict) else []
    if len(sent) < 2:
        return
    for own, text in _prose(case):
        for sentence in _SENTENCE.split(text, _MOST_SENTENCES):
            start = sentence[:_LONGEST]
            if _EXCLUSIVE.search(start):
                named = named_in(start, sent[:_MOST_NAMES])
                yield from combinations([name for name in sent if name == own or name in named], 2)


def _prose(case: Case) -> Iterator[tuple[str, str]]:
    """Yield (parameter or property, text that describes it); the name is empty for the whole operation."""
    operation = case.operation
    for name in ("summary", "description"):
        yield "", _text(operation.definition, name)
    for parameter in operation.parameters:
        with suppress(UnresolvableReference):
            yield parameter.name, _text(parameter.definition, "description")
    body = _body_of(case)
    if body is not None:
        whole = outline_of(body.schema)
        yield from (("", text) for text in _descriptions(whole))
        for name in list(whole.names)[:_MOST_NAMES]:
            yield from ((name, text) for text in _descriptions(whole.property(name)))


def _descriptions(outline: Outline) -> Iterator[str]:
    for part in outline.parts():
        yield _text(part.raw, "description")


def _text(declared: Any, name: str) -> str:
    text = declared.get(name) if hasattr(declared, "get") else None
    return text if isinstance(text, str) else ""


def named_in(text: str, names: Iterable[str]) -> list[str]:
    """Return the names that a text contains in any spelling: `start_date`, `startDate`, `Start date`."""
    spelled = f" {_spelled(text)} "
    return [name for name in dict.fromkeys(names) if len(name) > 1 and f" {_spelled(name)} " in spelled]


def _spelled(text: str) -> str:
    return " ".join(_WORD.findall(text)).lower()


def _compared(case: Case, sentences: list[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of different parameters and properties that a sentence compares. One of the two may be stored instead of sent.

    `start must be before end`, `start and end must differ`, but not `name of user must be less than 50 characters`. A
    sentence with other spellings, such as `start time` for `begin`, counts if there are only two such values.
    """
    names = _names_of(case)
    places = [(Location.BODY, (name,)) for name in names]
    for sentence in sentences[:_MOST_SENTENCES]:
        start = sentence[:_LONGEST]
        orders = [one for one in relations_in(start, places) if one.keyword == BELOW]
        yield from ((one.path[-1], one.given) for one in orders)
        named = named_in(start, names)
        # `end` is also a word of `end_date`.
        named = [name for name in named if not any(named_in(one, [name]) for one in named if one != name)]
        if _ALIKE.search(start):
            yield from combinations(named, 2)
        for word in _COMPARED.finditer(start) if len(named) > 1 else ():
            later = named_in(_NUMBER.split(start[word.end() :], 1)[0], named)
            yield from ((one, other) for one in named for other in later if one not in later)


def _is_of_identifier(context: CheckContext, sentences: list[str]) -> bool:
    """Whether a refusal that names no other part of the request may be about an invented identifier in the path.

    Such a refusal is documented, or states the format of the identifiers.
    """
    case, plan = context.case, context.plan
    is_described = plan.matched_response in (str(context.response.status_code), "4XX")
    is_of_form = any(map(FORM_OF_IDENTIFIERS.search, sentences[:_MOST_SENTENCES]))
    if not (is_described or is_of_form) or not has_made_up_path(context):
        return False
    bound = () if case.meta is None else {one.name for one in case.meta.bindings if one.location is Location.PATH}
    declared = [one for one in case.operation.parameters if one.location is Location.PATH]
    # A value of an earlier response may be another name of the resource and not its identifier.
    if all((one.name in bound and not is_of_form) or _is_listed(one) for one in declared):
        return False
    in_path = [one.name for one in declared]
    return all(name in in_path for name in _named_parts(context, sentences))


def _named_parts(context: CheckContext, sentences: list[str]) -> list[str]:
    """Return the parameters and properties of a case that a refusal names, in sentences or as places."""
    names = _names_of(context.case)
    sent = context.response.request
    own = "" if sent is None else sent.path.decode("latin-1")
    # Spring repeats the request's path as `path`.
    places = [place for place in places_of(context.response) if place != own]
    texts = " ".join((*sentences, *places))
    return list(dict.fromkeys([*(name for name in names if name in places), *named_in(texts, names)]))


def _is_listed(parameter: Parameter) -> bool:
    """Whether the schema lists the values of a parameter."""
    raws = [part.raw for part in outline_of(parameter.schema).parts() if isinstance(part.raw, dict)]
    return any("enum" in raw or "const" in raw or raw.get("type") == "boolean" for raw in raws)
