"""Runs in which every text and every byte may be anything: control characters, markup, lone surrogates."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from checker.core.curl import quoted
from checker.corpus.records import Component, OperationsSelected

from .samples import exchange, finding, interaction, records

NUL = "\x00"
NASTY = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=30),
    st.sampled_from(
        [
            *("]]>", "</script><script>alert(1)</script>", "<!--", "-->", "&amp;", "&#0;", '"', "'"),
            *("\x00\x1b[2J\x07", "\ud800", "\udfff\ud800", "\u2028\u2029\x85", "```\n````", "|", "\r"),
            *("### GET /", "- [x](javascript:alert(1))", "\n# x", "\ufffe\uffff", "$(rm -rf ~)"),
        ]
    ),
)
BYTES = st.one_of(st.binary(max_size=40), NASTY.map(lambda text: text.encode("utf-8", "replace")))


@st.composite
def hostile(draw: Callable[..., Any]) -> tuple[list[Any], list[Any]]:
    """Records and interactions of a run in which every text and every byte may be anything."""
    text, body, label = draw(NASTY), draw(BYTES), f"GET /{draw(NASTY)}"
    head = b"Content-Type: " + draw(BYTES).replace(b"\r", b"").replace(b"\n", b"") + b"\r\n"
    said = exchange(
        target=b"/" + draw(BYTES).replace(b"\n", b"").replace(b"\r", b""),
        headers=((b"X-" + draw(st.binary(max_size=3)), draw(BYTES)),),
        body=draw(st.none() | BYTES),
        reason=draw(NASTY),
        response_head=head,
        response_body=body,
        response_size=len(body),
        failure=draw(st.none() | NASTY),
    )
    sent = interaction(
        label=label,
        exchange=said,
        phase_data=((draw(NASTY), draw(st.none() | NASTY)),),
        components=(Component("query", "positive", ()),),
    )
    found = finding(
        label=label,
        title=draw(NASTY) or "x",
        message=text,
        check=draw(NASTY),
        unique_key=draw(NASTY),
        # As the program writes commands: whatever a word holds, it is one word.
        reproduction=f"curl -X GET {quoted(draw(NASTY).replace(NUL, ''))}",
        interactions=(sent,),
    )
    base = records()
    return [base[0], OperationsSelected((label,)), base[1], found, *base[5:]], [sent]
