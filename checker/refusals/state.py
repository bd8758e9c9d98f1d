"""Sentences that do not blame the data: a resource exists, does not exist or is in another state; the service lacks a setting or is busy."""

import re
from typing import Final

from checker.core.system import later_pattern

_LONGEST: Final = 500  # Characters of a sentence that are read: 64 KiB took seconds.
_TAKEN: Final = later_pattern(
    r"\balready (?:been )?(?:exists?|taken|used|in use|registered|assigned|present)\b|\bis (?:taken|in use)\b|\bin use already\b"
    r"|\bmust make a unique set\b|\bduplicate (?:key|entry|id|identifier|name)\b|\bunique constraint\b",
    re.IGNORECASE,
)
_MUST_BE_UNIQUE: Final = later_pattern(r"\bmust be unique\b", re.IGNORECASE)
_OF_ITEMS: Final = later_pattern(r"\b(?:elements?|items?|members?|entries)\b", re.IGNORECASE)
_OF_DATA: Final = later_pattern(
    r"\b(?:field|property|attribute|parameter|header|argument|member|content[- ]type|boundary)s?\b", re.IGNORECASE
)
"""Words for parts of a request. With one of them, `not found` is about the data and not about a resource."""
_NOT_MISSING: Final = r"(?!module|symbol|function|method|class|file|host|address)"
_NOT_UNKNOWN: Final = "(?!error|reason|exception|formats?|types?|values?|modes?|methods?|operators?|units?|encodings?|failure|server|internal|column|system|host|database|charset)"
"""Excludes words that name no resource, beside `unknown`."""
FORM_OF_IDENTIFIERS: Final = re.compile(r"\b(?:UUID|GUID|ULID|ObjectId|KSUID)(?:v\d)?s?\b", re.IGNORECASE)
_MISSING: Final = later_pattern(
    r"\b(?:does|do)(?: not|n't) (?:exist|reference|refer)\b|\b(?:was|were|is|are|could)(?: not|n't)(?: be)? found\b|\bnot found\b"
    # Django writes the last one about a missing reference. For an invalid choice it adds the sent value.
    rf"|\bno such {_NOT_MISSING}|\bmust exist\b|\bthat choice is not one of the available choices\b"
    rf"|\b(?:could not|couldn't|cannot|can't|unable to|failed to) (?:find|locate|resolve|look up) {_NOT_MISSING}|\bnon-?existent\b"
    r"|\binvalid (?:hyperlink|iri)\b|\bno (?:route|url) match|\b(?:be|reference|refer to|name) an? existing\b|\bthere is no\b|\b(?:is|are)(?: not|n't) registered\b|\bis unknown\b"
    rf"|^\W*{_NOT_UNKNOWN}[a-z][\w-]*(?: id)? unknown\W*$"
    rf"|\bno {_NOT_MISSING}\w.{{0,120}}\b(?:found|exists?)\b|\bno \w+ (?:with|for|named|called) (?:the |this |that )?(?:id|name|key|slug)\b"
    rf"|\b(?:unknown|unrecognized|invalid reference to|dangling) {_NOT_UNKNOWN}[a-z]\w*(?: (?:id|key|name|with))?(?: ?[:=#]|\W*[\"'`]|\W+[\w-]*\d|[.!]?$)",
    re.IGNORECASE,
)
_STATES: Final = (
    "active|inactive|(?:de)?activated|archived|assigned|associated|attached|available|banned|blocked|booked|cancell?ed|claimed|closed|completed?|confirmed|consumed|declined|deleted"
    "|disabled|drafts?|enabled|ended|expired|final(?:i[sz]ed)?|finished|frozen|full|immutable|in progress|installed|linked|locked|merged"
    "|occupied|open(?:ed)?|outdated|over(?= *[.!]?$)|paid|pending|processed|(?:un)?published|queued|read-?only|redeemed|refunded|released|removed|reserved"
    "|revoked|running|settled|shipped|sold|stale|started|stopped|submitted|suspended|(?:turned|switched) (?:on|off)|unavailable|(?:un)?verified|voted|withdrawn"
)
_BE: Final = r"(?:is|are|was|were|be|been|has|have|isn't|aren't|wasn't|hasn't)"
_HOLDERS: Final = "basket|cart|inventory|order|queue"
_STATE: Final = later_pattern(
    rf"\b{_BE}(?: (?:not|already|currently|no longer|still|now|just|being|been|an?|yet))* (?:{_STATES})\b(?!-)(?! (?:string|array|list|object|value)\b)"
    r"|\balready (?:been )?[a-z]+(?:ed|en|id|nt|ld)\b|\bno longer\b|\b(?:insufficient|not enough)\b|\bout of stock\b|\bsold out\b"
    r"|\bexceeds? (?:the |its |your )?(?:available|remaining|current|stock|balance|credit)\b|\b(?:balance|credit)\b.{0,20}\btoo low\b"
    r"|\b(?:in|from|to) (?:the |its |this |a )?(?:current |present |wrong )?(?:state|status)\b|\b(?:state|status) transition"
    rf"|\b(?:{_HOLDERS})\b.{{0,40}} (?:is empty|contains no)\b|\b(?:empty|no \w+ in (?:the|this|your)) (?:{_HOLDERS})\b|\bonly (?:{_STATES})\b|\bnot yet\b|\bcurrently\b"
    r"|\b(?:bucket|category|collection|directory|folder|group|project|workspace) is not empty\b"
    r"|\bdo(?:es)?(?: not|n't) belong to\b|\b(?:is|are)(?: not|n't) (?:the|an?|part|owned)(?: \w+)? (?:of|by) (?:the|this|that|an?)\b"
    r"|\bdo(?:es)?(?: not|n't) (?:match|equal) the (?:total|sum|stored|existing|current|order|balance)\b|\bthan the (?:current|existing|previous|stored)\b"
    r"|\bnot the (?:latest|newest|current|most recent)\b|\bmodified by (?:another|someone)\b"
    r"|\bquota\b.{0,40}\breached\b|\breached (?:the|your) (?:limit|maximum|quota)\b|\bmaximum number of (?!argument|attempt|connection|retr)\w+ reached\b"
    rf"|\bno (?!memory|room|space)\w+ left\b|\bno (?:active|pending) (?:account|contract|invitation|membership|order|payment|plan|reservation|subscription)\b"
    # The first vector of a collection determines the length of the others.
    r"|\bdimension(?:s|ality)?\b.{0,60}\b(?:match\w*|mismatch\w*|got|expect\w*)\b|\b(?:expect\w*|mismatch\w*)\b.{0,60}\bdim(?:ension(?:s|ality)?)?\b"
    r"|\b(?:build|execution|job|run|task) (?:has |is |was )?failed\b"
    rf"|\b(?:account|address|e-?mail|user) not (?:{_STATES})\b|\bmust first\b|\bjust taken\b|\b(?:date|period|time|window) has passed\b",
    re.IGNORECASE,
)
_FORBIDDEN: Final = later_pattern(
    r"\b(?:cannot|can't|can not|could not|may not|must not)(?: be)? (?:add|approve|cancel|change|close|delete|edit|modif|move|publish|refund|reject|remove"
    r"|rename|reopen|replace|ship|start|stop|update|vote)\w*\b(?! with\b)",
    re.IGNORECASE,
)
_OF_SYNTAX: Final = later_pattern(
    r"\b(?:string|array|object|bracket|brace|quote|tag)\b.{0,10}\bclosed\b", re.IGNORECASE
)

_KEY: Final = r"(?:api[ _-]?keys?|access[ _-]?tokens?|client[ _-]?secrets?|credentials)"
_CONFIGURATION: Final = later_pattern(
    rf"\bnot (?:been )?configured\b|\bno \w*{_KEY}\b|{_KEY}\b.{{0,60}}\b(?:missing|required|invalid|(?:not|n't)(?: been)? (?:set|configured|provided|found|valid|specified))\b"
    rf"|\b(?:missing|invalid|incorrect|set|provide|configure)\b.{{0,40}}{_KEY}\b",
    re.IGNORECASE,
)

_CONTENTION: Final = later_pattern(
    r"\b(?:database|table|file|row|resource) (?:\w+ )?is (?:locked|busy)\b|\bdeadlock|\block (?:wait )?timed?[ -]?out\b|\bSQLITE_BUSY\b"
    r"|\bcould not (?:obtain|acquire|get) (?:a |the )?lock\b|\bcould not serialize access\b|\bserialization fail|\btoo many (?:connections|clients)\b"
    r"|\bconnection pool\b|\btemporarily unavailable\b|\b(?:try|retry) again (?:later|in)\b"
    # Not Werkzeug's page for every error: "Either the server is overloaded or there is an error in the application".
    r"|\boverload(?!ed or there is an error)",
    re.IGNORECASE,
)


def is_of_contention(text: str) -> bool:
    """Whether a text says that simultaneous requests conflict with this one."""
    return _CONTENTION.search(text[:_LONGEST]) is not None


def is_taken(text: str) -> bool:
    """Whether a text reports that something exists already."""
    # Two patterns take 1 ms for 64 KiB. One with a lookahead over the whole text took 30 ms.
    if _TAKEN.search(text):
        return True
    return _MUST_BE_UNIQUE.search(text) is not None and not _OF_ITEMS.search(text)


def is_missing(text: str) -> bool:
    """Whether a text reports that a resource does not exist."""
    start = text[:_LONGEST]
    return _MISSING.search(start) is not None and not _OF_DATA.search(start)


def is_of_state(text: str) -> bool:
    """Whether a text reports that the state of a resource forbids the request."""
    start = text[:_LONGEST]
    if _STATE.search(start):
        return not _OF_SYNTAX.search(start)
    return _FORBIDDEN.search(start) is not None and not _OF_DATA.search(start)


def is_of_configuration(text: str) -> bool:
    """Whether a text reports that the service lacks a setting, such as the API key of another service."""
    return _CONFIGURATION.search(text[:_LONGEST]) is not None
