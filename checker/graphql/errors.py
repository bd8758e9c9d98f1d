"""Decides whether the client or the server is to blame for the `errors` of a response, by the labels and words of servers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from checker.core.contract import Blame, Complaint
from checker.refusals.state import is_missing, is_of_state, is_taken

_MOST_SHOWN: Final = 3
_MOST_ANSWERS: Final = 10
_LONGEST: Final = 300
_MOST_READ: Final = 2_000  # Characters of a message that are read: 64 KiB took seconds.
_LABELS: Final = ("code", "classification", "type", "errorType", "category", "exception", "status")
"""Members of `extensions` that label an error."""

_OF_SERVER: Final = frozenset(
    ["internal_server_error", "internalservererror", "internal", "internal_error", "internalerror", "server_error",
     "servererror", "datafetchingexception", "data_fetching_exception", "nullvalueinnonnullablefield", "executionaborted",
     "unexpected", "unexpected_error", "unexpectederror", "unexpected_value", "unexpectedvalue", "postgres_error",
     "postgreserror", "database_error", "databaseerror", "downstream_service_error", "subgraph_error", "500", "502", "503",
     "504"]
)  # fmt: skip
_DEFAULT_LABEL: Final = "internal_server_error"
"""Apollo Server's label for every error without a label of its own. It has no meaning."""
_OF_CLIENT: Final = frozenset(
    ["bad_user_input", "baduserinput", "graphql_validation_failed", "graphql_parse_failed", "bad_request", "badrequest",
     "operation_resolution_failure", "validationerror", "validation_error", "validation_failed", "validation_failed_error",
     "invalidsyntax", "invalid_syntax", "parse_failed", "parsefailed", "parse_error", "parseerror",
     "argumentliteralsincompatible", "undefinedfield", "undefinedtype", "missingrequiredarguments", "argumentnotaccepted",
     "missingrequiredinputobjectattribute", "defaultvalueinvalidtype", "variablemismatch", "variablerequiresvalidtype",
     "variablenotused", "variablenotdefined", "selectionmismatch", "fieldconflict", "invalidonobjectfield",
     "constraint_violation", "constraint_violation_error", "400", "422"]
)  # fmt: skip
_CLIENT_BEGINNINGS: Final = ("persisted_query", "invalid")
_NOT_OWN: Final = re.compile(
    r"intern|unexpected|unhandled|uncaught|unknown|server|system|service|database|sql|exception|panic|fatal|crash|timeout|timed_?out"
    r"|unavailable|stream|subgraph|gateway|null_?(?:pointer|reference)|^err_|^e(?:conn|pipe|notfound|host|net|addr|timed|acces|perm)|^(?:graphql|generic)?_?(?:errors?|fail(?:ed|ure)?)$"
    r"|(?:type|reference|range|key|index|name|attribute|value|runtime|assertion|syntax)_?error|^5[0-9][0-9]$"
)
"""Labels that no application chose for mistakes of its clients: crashes, other services, exception names, generic words."""
_DENIED: Final = frozenset(
    ["unauthenticated", "unauthorized", "unauthorised", "forbidden", "authentication", "authorization", "access_denied",
     "accessdenied", "permission_denied", "permissiondenied", "not_authenticated", "notauthenticated", "not_found",
     "notfound", "resource_not_found", "does_not_exist", "already_exists", "conflict", "rate_limited", "too_many_requests",
     "throttled", "complexity_limit_exceeded", "401", "403", "404", "409", "429"]
)  # fmt: skip
_DENIALS: Final = re.compile(
    r"not (?:be )?(?:authoriz|authenticat|permitted|allowed)|unauthori[sz]ed|forbidden|permission|access denied|rate limit|too many requests"
    r"|\bonly (?:the |an? )?\w+(?: \w+)? (?:can|may|is|are)\b|violates (?:unique|foreign key|exclusion) constraint|(?:unique|foreign key) constraint fail",
    re.IGNORECASE,
)
"""Words of servers without labels for denied access and violated constraints."""
_REFUSALS: Final = re.compile(
    r"violates (?:check|not-null) constraint|(?:check|not null) constraint failed|invalid input (?:syntax|value)"
    r"|value too long for type|(?:out of range for type|(?:field value|^(?:(?:small|big)?int(?:eger)?|interval|timestamp|date|numeric)) out of range)"
    r"|(?:do|does)(?:n't| not) support|\bnot supported\b"
    r"|\b(?:is|are) (?:required|invalid|missing|too (?:short|long|small|large|big|low|high))\b|\b(?:is not|isn't) (?:an? )?valid\b"
    r"|^invalid (?:cursor|input|id|uuid|e-?mail|url|username|password|credentials|token)\b"
    r"|(?:must|should) be (?:an? )?(?:positive|non-?negative|at (?:least|most)|greater|less|between|unique|valid|one of)"
    r"|(?:can(?:not|'t)|(?:must|may|should) not) be (?:blank|empty|null|negative|zero)",
    re.IGNORECASE,
)
"""Words by which validators and databases refuse values during execution. Runtime errors do not contain them."""
_RULES: Final = re.compile(
    r"\b(?:must|should|needs?|ha(?:s|ve) to|can(?:not|'t)|can not|may not|(?:are|is)(?: not|n't) allowed to)\b|\b(?:at (?:least|most)|exactly) (?:one|two|\d+)\b"
    r"|\bno [\w -]{1,60} (?:provided|given|specified|supplied|selected|set)\b|\b(?:not|isn't|wasn't) (?:provided|given|specified|supplied|selected)\b"
    r"|^expected (?:an? |the |one )[a-z]|\b(?:required|necessary|needed) (?:for|to|when|if|by)\b|\bplease (?:provide|specify|choose|select|enter|use|(?:log|sign) in)\b|\bexceeds? the (?:limit|maximum)\b"
    r"|^(?:illegal|incorrect|invalid|wrong|provide|specify|choose|select|enter|(?:min|max)(?:imum)? (?:of )?\d+) \w|\blimit (?:is |was )?exceeded\b"
    r"|^sorry\b|^(?:pick|upload|try|upgrade|verify|confirm|complete|activate) (?:an?|the|your|another) |^(?:sign|log) (?:in|up)\b|\blimited to \d|\bbelongs? to (?!type|class)"
    r"|\b(?:off|disabled|(?:not|only) available) (?:for|in|on) (?:this|your|the) |\b(?:this|that) [\w -]{1,40} (?:is|has been) (?:reserved|frozen|forbidden|restricted)\b"
    r"|\byour (?!(?:request|query|message|code|server|network|connection|environment|schema|resolver|config\w*|settings|input)\b)",
    re.IGNORECASE,
)
"""Words by which applications state a rule. Runtimes use them too, together with words of `_RUNTIME`."""
_RUNTIME: Final = re.compile(
    r"\w\(\)|::|\bregular expression: /|\bcannot represent (?:value|non-)|^column |^[mM]ethod |^Class \"|\w(?:Error|Exception)\b|\[object |\bE[A-Z]{4,}\b|\b(?:undefined|None|NoneType|nil|NaN|null pointer|Infinity)\b|\b(?:module|function|method|attribute|constructor"
    r"|callable|iterable|(?:un)?hashable|subscriptable|(?:de)?seriali[sz]\w+|(?:un)?marshal\w*|instance|pointer|positional|keyword argument|bytes-like|coroutine"
    r"|async|event loop|thread|closure|stack|heap|memory|socket|stream|transaction|str|int|float|dict|tuple|bytes|offset-naive|propert(?:ies|y '[^']*') of|of type"
    r"|operand|concatenate|cast|unpack|destructure|invoke|before initiali[sz]ation|read-only|destination|closed (?:database|connection|file)|allocate|deadlock|mutex|partition|replica|shard|tombstone"
    r"|headers after|operator to search|BigInt|constant variable|read only property|Nullable object|[iI]llegal (?:string )?offset"
    r"|literal|isoformat|byte sequence|array length|number of arguments|escape|control character|UTF-8|(?:string|datetime|time) value|datetime|codec"
    r"|surrogates|file descriptor|[gG]ateway|invocation|looking for|rows in result set|such (?:table|column)|find name|divide"
    r"|(?:open|connect|reach|acquire|access|contact)(?: to)? (?:the )?(?:database|connection|server|service|file|host|backend|upstream)"
    r"|(?:database|connection|pool|file|stream|client|socket|channel|server|engine|relation|index|backend|upstream) (?:is|was|has been|\"\w+\" (?:is|does))"
    r"|(?:[cC]onnection|[cC]ursor|[rR]ecord(?:set)?|[rR]eader|[wW]riter) has been closed"
    r"|(?:[bB]ackend|[sS]erver|[sS]ervice|[sS]ystem) (?:is |was )?(?:currently |temporarily )?(?:unavailable|down|overloaded))\b"
)
"""Words of programming languages, databases and networks for their own failures."""
_FALLEN: Final = re.compile(
    r"\binternal (?:server |system )?error|unexpected (?:execution )?error|^error trying to resolve"
    # Guards in .NET use the words of validators.
    r"|^value cannot be null\.?\s+\(?parameter|^index was out of range|^specified argument was out of the range",
    re.IGNORECASE,
)
"""Words of servers for their own failure. They count more than any label."""
_VALIDATION: Final = re.compile(
    r"Cannot query field|Unknown (?:argument|type|field|fragment|directive)|Syntax Error|Variable [\"'`]?\$\w+"
    r"|Expected (?:type|value|variable|a? ?non-nullable)|Within OneOf Input Object type|(?:Argument|Field) [\"'`]?[\w.:]+[\"'`]?.{0,80} (?:is required|has (?:an )?invalid"
    r"|has coerced Null|was not provided)|is required, but it was not provided|must (?:not )?have a (?:sub)?selection"
    r"|cannot represent|does not exist in .{0,40}enum|doesn't (?:exist on type|accept argument)|is not defined by type"
    r"|Validation ?error|missing required argument|has invalid value|isn't a defined input type|In (?:field|argument) \""
    r"|must be (?:defined|provided)|Must provide (?:a )?query|got invalid value|No query (?:string|document)"
)
"""Words of libraries for an invalid query, if they give no label."""
_OF_REQUEST: Final = re.compile(
    r"bad request|(?:the|this|your|graphql|each|a) (?:query|operation|request|document|batch)\b|\bquery (?:is|string|depth|cost|has|does|contains|not)\b"
    r"|\bselections?\b|\bfragments?\b|\bdirectives?\b|\bintrospection\b|\bsubscriptions?\b|\bbatch|\bpersisted|\bcomplexity\b|\bdepth\b"
    r"|\bsyntax\b|\bpars(?:e|er|ing)\b|unexpected (?:token|character|end|name)|\bexpected (?:name|token|selection|one of|a name|an? `)"
    r"|(?:unknown|undefined|no such|missing|required|invalid(?: value for)?) (?:field|argument|type|variable|operation|fragment|directive|input)"
    r"|\b(?:field|argument|variable)s? [\"'`$]|too (?:deep|complex|large|long|many (?:fields|aliases|tokens|operations|root))"
    r"|(?:is|are) (?:not allowed|disabled|forbidden)|\bonly (?:post|get|queries|mutations|one|admin|for)\b",
    re.IGNORECASE,
)
"""Words about the request itself: its grammar, its limits. An error with one of them refuses the request."""
_LIMIT: Final = re.compile(
    r"\b(?:depth|deep|complex\w*|cost|aliases|tokens|nested|exceed\w*|limit|maximum)\b", re.IGNORECASE
)
_NULL: Final = re.compile(
    r"Cannot return null for non-null(?:able)? (?:field|type)|NonNull.*null|resolved (?:to|as) a? ?null"
    r"|the requested element is null which the schema does not allow|wrongly returned a null value for a non-null type",
    re.IGNORECASE,
)


def complaint_of(value: Any, status: int = 200, sent: Iterable[str] = ()) -> Complaint | None:
    """Return the complaint of all `errors` of a response; None without errors. In a list of responses, the first with errors counts.

    `sent` are texts of the request, which an error may repeat.
    """
    if isinstance(value, list):
        answers = [one for one in value[:_MOST_ANSWERS] if isinstance(one, dict)]
        return next(filter(None, (complaint_of(one, status, sent) for one in answers)), None)
    errors = value.get("errors") if isinstance(value, dict) else None
    if not errors:
        return None
    listed = [one if isinstance(one, dict) else {"message": one} for one in _several(errors)]
    texts = [_text(one) for one in listed]
    shown = "\n".join(f"- {text[:_LONGEST]}" for text in texts[:_MOST_SHOWN])
    more = f"\n({len(texts)} errors)" if len(texts) > _MOST_SHOWN else ""
    own_texts = texts
    # Remove sent values that are words of runtimes: `There is no book with the id NaN`.
    for echo in sent:
        if _RUNTIME.search(echo):
            own_texts = [text.replace(echo, "...") for text in own_texts]
    # Schemas cannot express rules of resolvers or limits of depth and cost.
    if any(map(_VALIDATION.search, texts)):
        is_of_schema = True
    else:
        labels = {label for one in listed for label in _labels(one)}
        is_of_schema = (
            bool(labels & _OF_CLIENT) and not _was_executed(listed, value) and not any(map(_LIMIT.search, texts))
        )
    return Complaint(
        _blame(listed, own_texts, value, status),
        shown + more,
        texts[0],
        ".".join(_names(listed[0])),
        is_of_schema=is_of_schema,
    )


_STATUSES: Final = (
    (401, re.compile(r"unauthenticated|not_?authenticated|401|unauthori[sz]ed|log in", re.IGNORECASE)),
    (429, re.compile(r"rate_?limit|too[_ ]many|throttled|complexity|429", re.IGNORECASE)),
    (409, re.compile(r"already|conflict|duplicate|unique|foreign key|409", re.IGNORECASE)),
    (403, re.compile(r"forbidden|denied|permi|\bonly\b|not (?:be )?(?:allowed|authori)|403", re.IGNORECASE)),
)
"""REST statuses for the same reasons."""


def denied_status(value: Mapping[str, Any]) -> int:
    """Return the REST status for a denial: 404 unless words indicate another."""
    errors = [one for one in _several(value.get("errors")) if isinstance(one, dict)]
    said = " ".join([*(label for one in errors for label in _labels(one)), *map(_text, errors)])
    return next((status for status, words in _STATUSES if words.search(said)), 404)


def _several(errors: Any) -> list[Any]:
    return errors if isinstance(errors, list) else [errors]


def _was_executed(errors: list[dict[str, Any]], value: Mapping[str, Any]) -> bool:
    return value.get("data") is not None or bool(errors[0].get("path"))


def _blame(errors: list[dict[str, Any]], texts: list[str], value: Mapping[str, Any], status: int) -> Blame:
    """Return the blame for the errors of a response. Known labels decide first, then words, unknown labels, and the status.

    An application chose an unknown label for this very error, so it expected the error. Errors without a path, a label and
    data count as failures of a resolver, unless their words or a 4xx status refuse the request.
    """
    if all(map(_NULL.search, texts)):
        return Blame.BROKEN_PROMISE
    labels = [label for one in errors for label in _labels(one)]
    if any(label in _DENIED for label in labels):
        return Blame.DENIED
    is_of_server = any(label in _OF_SERVER for label in labels)
    is_of_client = any(one in _OF_CLIENT or one.startswith(_CLIENT_BEGINNINGS) for one in labels)
    if is_of_client and not is_of_server:
        return Blame.REFUSED
    was_executed = _was_executed(errors, value)
    if not was_executed and any(map(_VALIDATION.search, texts)):
        # Some servers label every failure as internal, so words of validation are more reliable.
        return Blame.REFUSED
    if set(labels) == {_DEFAULT_LABEL} and all(map(_says_refusal, texts)):
        is_of_server = False
    if is_of_server or (was_executed and any(map(_FALLEN.search, texts))):
        return Blame.FAILED
    if all(map(_is_denial, texts)):
        return Blame.DENIED
    refuses = all(map(_is_refusal, errors, texts))
    if not was_executed:
        refuses = refuses or 400 <= status < 500 or all(map(_refuses_request, errors, texts))
    return Blame.REFUSED if refuses else Blame.FAILED


def _refuses_request(error: Mapping[str, Any], text: str) -> bool:
    """Whether an error that no resolver raised blames the request, by its label or its message."""
    is_foreseen = bool(list(_labels(error))) or _OF_REQUEST.search(text) is not None
    return is_foreseen and _FALLEN.search(text) is None


def _is_refusal(error: Mapping[str, Any], text: str) -> bool:
    """Whether the words or a label of the application refuse the request."""
    if _says_refusal(text):
        return True
    labels = list(_labels(error))
    return bool(labels) and not any(map(_NOT_OWN.search, labels))


def _says_refusal(text: str) -> bool:
    """Whether a message states a rule, a state or a denial, in words that runtimes do not use for their own failures."""
    is_rule = (_RULES.search(text) or is_of_state(text)) and not _RUNTIME.search(text)
    return bool(_REFUSALS.search(text) or is_rule or _is_denial(text))


def _is_denial(text: str) -> bool:
    return (_DENIALS.search(text) is not None or is_taken(text) or is_missing(text)) and not _RUNTIME.search(text)


def _labels(error: Mapping[str, Any]) -> Iterator[str]:
    """Yield the labels of an error, lower case."""
    extensions = error.get("extensions")
    for holder in (extensions, error):
        if not isinstance(holder, dict):
            continue
        for name in _LABELS:
            label = holder.get(name)
            if isinstance(label, str | int) and not isinstance(label, bool):
                yield str(label).lower().replace("-", "_")
            elif isinstance(label, dict) and isinstance(label.get("type"), str):
                yield label["type"].lower()


def _text(error: Mapping[str, Any]) -> str:
    message = error.get("message")
    return message[:_MOST_READ] if isinstance(message, str) and message else "an error without a message"


def first_path(value: Any) -> list[str]:
    """Return the path of the first error in the data of a response, without list indices; empty if there is none."""
    errors = _several(value.get("errors")) if isinstance(value, dict) else []
    return _names(errors[0]) if errors and isinstance(errors[0], dict) else []


def _names(error: Mapping[str, Any]) -> list[str]:
    path = error.get("path")
    return [one for one in path if isinstance(one, str)] if isinstance(path, list) else []
