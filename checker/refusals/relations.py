"""Relations between values of one request, read from refusals and from prose of descriptions."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from checker.core.constraints import ANY, BELOW, EXCLUSIVE, PARALLEL, REQUIRES, SAME, Constraint, constraint
from checker.core.request import Location
from checker.core.resource_names import words
from checker.core.system import later_pattern

Place = tuple[Location, tuple[str, ...]]  # A part of a request, and the path of a value in it.
_LONGEST: Final = 2_000
# A pattern that begins with arbitrary text tries each position of a sentence to its end: 2,000 characters took 4 s. So
# the patterns only contain the verb, and the sides are the text around it.
_LONGEST_SENTENCE: Final = 300
_MOST_NAMES: Final = 6
_PAIR: Final = 2
_SENTENCE: Final = later_pattern(r"[;\n]|(?<=[\w`'\"])\.(?:\s|$)")
_LESS: Final = r"before|earlier|less|lower|smaller|prior|precedes?"
_MORE: Final = r"after|later|greater|higher|larger|more|exceeds?|follows?"
_DUTY: Final = later_pattern(
    r"\b(?:(?:must|should|shall|has to|have to|needs? to)|(?P<not>cannot|can not|can't|may not))\b(?P<no> not\b)?",
    re.IGNORECASE,
)
_COMPARED: Final = later_pattern(rf"\b(?:(?P<less>{_LESS})|(?:{_MORE}))\b(?=.)", re.IGNORECASE)
_FAULT: Final = later_pattern(
    r"\b(?:(?P<less>before|earlier than|less than)|after|later than|greater than)\b(?=.)", re.IGNORECASE
)
"""`End date is before start date`: a refusal may state either what is wrong or what is required."""
_LEADING: Final = later_pattern(r"(?:\s|\b(?:than|or|equal|equals|the|be|of|as)\b|\bto\b(?=\s+\S))+", re.IGNORECASE)
_SIGN: Final = later_pattern(r"[`'\"]?(?P<a>[\w.-]+)[`'\"]? ?(?P<sign><=?|>=?) ?[`'\"]?(?P<b>[\w.-]+)")
_NOT: Final = r"(?:cannot|can not|can't|must not|may not|should not)"
_DONE: Final = r"(?:used|given|set|specified|provided|combined|present|passed|supplied|sent)"
_EXCLUSIVE: Final = later_pattern(
    rf"\b(?:only|exactly|at most) one of\b|mutually exclusive|\b{_NOT} (?:both )?be {_DONE} (?:both|together|at the same time|"
    rf"simultaneously|in combination|with)|\b{_NOT} both be {_DONE}|"
    r"\bnot (?:allowed|valid|permitted|supported) (?:together |in combination )?with\b|\bbut not both\b",
    re.IGNORECASE,
)
"""No response can refute a wrong exclusion: `either a or b is required` allows both, `a conflicts with an existing b` is about values."""
_TOGETHER: Final = later_pattern(rf"\b(?:must|should|have to|need to) (?:both )?be {_DONE} together\b", re.IGNORECASE)
_REQUIRES: Final = later_pattern(
    rf"\b(?:requires|depends on|(?:must|can only|may only|should) be {_DONE} (?:together |along )?with|needs)\b",
    re.IGNORECASE,
)
_REQUIRED_WITH: Final = later_pattern(
    r"\b(?:is|are) (?:also )?required (?:when|if|with|together with)\b", re.IGNORECASE
)
_IS_DONE: Final = later_pattern(rf" (?:is|are) {_DONE}\W*$", re.IGNORECASE)
_SOME_OF: Final = later_pattern(
    rf"\b(?:at least|exactly) one(?: of)?\b|\b(?:either|one of)\b.*\b(?:(?:is|are) required|be {_DONE})\b|"
    r"\b(?:provide|specify|supply|give|send|pass) (?:either|one of)\b",
    re.IGNORECASE,
)
_PARTS: Final = r"(?:field|property|attribute|parameter|key|member|value)"
_SOMETHING: Final = later_pattern(
    rf"\bat least one (?:[\w-]+ )?{_PARTS}\b|\bno (?:{_PARTS}s|properties|data|changes|updates) (?:to|{_DONE}|were {_DONE})\b|"
    r"\bnothing to (?:update|change)\b|\b(?:body|payload|object|update) (?:is|was|cannot be|can't be|must not be|may not be|should not be) empty\b|"
    r"\bempty (?:body|payload|object|update)\b",
    re.IGNORECASE,
)
_SAME_NAME: Final = later_pattern(
    r"\b(?:id|identifier)\b.*\b(?:match|equal|same|differ|mismatch|conflict)|\b(?:match|mismatch|differ|conflict)\w*\b.*\b(?:id|identifier)\b",
    re.IGNORECASE,
)
_FIXED_NAME: Final = later_pattern(
    r"\b(?:id|identifier)\b.*\b(?:cannot|can not|can't|must not|may not) be (?:updated|changed|modified|altered)\b",
    re.IGNORECASE,
)
_ALIKE: Final = r"(?:inconsistent|unequal|different|differ|mismatch\w*|match|same|equal|identical|consistent)"
_SIZE: Final = r"(?:numbers?|lengths?|sizes?|counts?)"
# Chroma refuses lists of different lengths: with this demand 587 of its valid cases are accepted, without it 502.
_PARALLEL: Final = later_pattern(rf"\b{_ALIKE} {_SIZE}\b|\b{_SIZE}\b.*\b{_ALIKE}\b", re.IGNORECASE)
_PATH: Final = later_pattern(r"\b(?:ur[il]|path|endpoint|route|resource)\b", re.IGNORECASE)
_OTHER_WORDS: Final = frozenset(
    ["a", "an", "and", "at", "be", "both", "but", "by", "either", "for", "if", "in", "is", "it", "not", "of", "on",
     "one", "only", "or", "the", "to", "when", "with"]
)  # fmt: skip


def relations_in(
    text: str, places: Sequence[Place], variable: str = "", *, is_refusal: bool = True
) -> list[Constraint]:
    """Return the relations that a text states between places. `variable`: the last path variable, if the path ends with it.

    A refusal may state the fault instead of the rule. Then both readings are returned. The refused case breaks one of the two.
    """
    found: dict[Constraint | None, None] = {}
    firsts = [stems[0] for _, path in places if (stems := _stems(path[-1]))]
    for whole in _SENTENCE.split(text[:_LONGEST]):
        sentence = whole[:_LONGEST_SENTENCE]
        # Most sentences of prose name fewer than two places. Testing this first takes a tenth of the time of all patterns.
        lower = sentence.lower()
        if is_refusal or len([first for first in firsts if first in lower]) >= _PAIR:
            found |= dict.fromkeys(_in_sentence(sentence, places, is_refusal=is_refusal))
        if is_refusal:
            found |= dict.fromkeys(_some(sentence, places))
        is_of_name = _FIXED_NAME.search(sentence) or (_SAME_NAME.search(sentence) and _PATH.search(sentence))
        if variable and is_of_name:
            named = [path for at, path in places if at is Location.BODY and path in (("data", "id"), ("id",))]
            found |= {constraint(Location.BODY, path, SAME, variable): None for path in named}
    return [one for one in found if one is not None]


def is_of_parallel_lists(text: str) -> bool:
    """Whether a text says that lists must have the same length."""
    return _PARALLEL.search(text) is not None


def _in_sentence(sentence: str, places: Sequence[Place], *, is_refusal: bool) -> Iterator[Constraint | None]:
    if is_of_parallel_lists(sentence):
        said = set(re.split(r"\W+", sentence.lower()))
        listed = [(location, path) for location, path in places if path[-1].lower() in said]
        beside = [path[-1] for location, path in listed if location is listed[0][0] and path[:-1] == listed[0][1][:-1]]
        if _PAIR <= len(beside) <= _MOST_NAMES:
            yield constraint(*listed[0], PARALLEL, beside[1:])
    if _EXCLUSIVE.search(sentence):
        mentioned = _mentioned(sentence, places)
        for place, (part, way) in enumerate(mentioned[:-1]):
            others = [other[-1] for at, other in mentioned[place + 1 :] if at is part and other[:-1] == way[:-1]]
            if others and len(mentioned) <= _MOST_NAMES:
                yield constraint(part, way, EXCLUSIVE, others)
    elif _TOGETHER.search(sentence):
        named = _mentioned(sentence, places)
        for one in named:
            yield from _requiring([one], [other for other in named if other != one])
    elif found := _REQUIRED_WITH.search(sentence):
        condition = _IS_DONE.sub("", sentence[found.end() :])
        yield from _requiring(_mentioned(condition, places), _mentioned(sentence[: found.start()], places))
    elif found := _REQUIRES.search(sentence):
        before, after = sentence[: found.start()], sentence[found.end() :]
        yield from _requiring(_mentioned(before, places), _mentioned(after, places))
    else:
        stated = list(_orders(sentence, places, is_refusal=is_refusal))
        yield from stated
        if is_refusal and stated and not any(stated) and len(places) == _PAIR:
            # `Start must be before end` is unambiguous if the request has only two such values.
            (location, first), (_, second) = places
            # Both orders are tried, because the sentence names neither value. Only the order that the case breaks can
            # be the demand.
            yield constraint(location, first, BELOW, second[-1])
            yield constraint(location, second, BELOW, first[-1])


def _orders(sentence: str, places: Sequence[Place], *, is_refusal: bool) -> Iterator[Constraint | None]:
    """Yield the order that a sentence states; None for an order of values that it does not name."""
    duty = _DUTY.search(sentence)
    if duty is not None and (found := _COMPARED.search(sentence, duty.end())) is not None:
        is_negative = bool(duty["not"] or duty["no"])
        one, other, is_less = sentence[: duty.start()], sentence[found.end() :], bool(found["less"]) is not is_negative
        is_refusal = False
    elif (found := _SIGN.search(sentence)) is not None:
        one, other, is_less = found["a"], found["b"], found["sign"].startswith("<")
    elif (found := _FAULT.search(sentence)) is not None:
        one, other, is_less = sentence[: found.start()], sentence[found.end() :], bool(found["less"])
    else:
        return
    if re.search(r"-?\d", other.split(",")[0]):
        # A limit, such as `must have more than 5 items`.
        return
    yield _ordered(one, other, places, is_less=is_less)
    if is_refusal:
        yield _ordered(one, other, places, is_less=not is_less)


def _some(sentence: str, places: Sequence[Place]) -> Iterator[Constraint | None]:
    """Yield the demand that an object has at least one of the members that a sentence names, or any member."""
    named = [path for location, path in _mentioned(sentence, places) if location is Location.BODY]
    beside = list(dict.fromkeys(path[-1] for path in named if path[:-1] == named[0][:-1]))
    if _SOME_OF.search(sentence) and _PAIR <= len(beside) <= _MOST_NAMES:
        yield constraint(Location.BODY, named[0][:-1], ANY, beside)
    elif not named and _SOMETHING.search(sentence):
        yield constraint(Location.BODY, (), ANY, [])


def _requiring(first: Sequence[Place], second: Sequence[Place]) -> Iterator[Constraint | None]:
    for location, path in first if len(first) + len(second) <= _MOST_NAMES else ():
        others = [other[-1] for at, other in second if at is location and other[:-1] == path[:-1] and other != path]
        if others:
            yield constraint(location, path, REQUIRES, others)


def _ordered(one: str, other: str, places: Sequence[Place], *, is_less: bool) -> Constraint | None:
    """Return the relation of the two values whose names match two phrases best: `start time` and `end time` for `startsAt` and `endsAt`."""
    begin = _LEADING.match(other)
    other = other[begin.end() :] if begin else other
    low, high = (one, other) if is_less else (other, one)
    lows = [(likeness, place) for place in places if (likeness := _likeness(low, place[1][-1]))]
    highs = [(likeness, place) for place in places if (likeness := _likeness(high, place[1][-1]))]
    ranked = [
        (min(first, second), first + second, -number, (location, path, beside[-1]))
        for number, (first, (location, path)) in enumerate(lows)
        for second, (at, beside) in highs
        if at is location and beside[:-1] == path[:-1] and beside != path
    ]
    best = max(ranked, default=None)
    return None if best is None else constraint(best[3][0], best[3][1], BELOW, best[3][2])


def _likeness(phrase: str, name: str) -> float:
    """Return the share of a name's words that a phrase contains. The first word counts most, because it distinguishes `start` from `end`."""
    said, parts = _stems(phrase), _stems(name)
    if not parts or parts[0] not in said:
        return 0.0
    return sum(part in said for part in parts) / len(parts)


@lru_cache(maxsize=1024)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(word.rstrip("s") if len(word) > 3 else word for word in words(text))


def _mentioned(text: str, places: Sequence[Place]) -> list[Place]:
    """Return the places whose names a text contains, in the text's order."""
    said = f" {' '.join(words(text))} "
    found = {}
    for place in places:
        name = " ".join(words(place[1][-1]))
        at = said.find(f" {name} ")
        if name and at >= 0 and name not in _OTHER_WORDS:
            found[place] = at
    return sorted(found, key=lambda one: found[one])
