import gzip

from checker.core.request import WireRequest
from checker.core.response import Response
from checker.corpus.records import Exchange
from checker.corpus.secrets import Secrets, exchange
from checker.values.harvest import ABSENT, json_of

SECRETS = Secrets([("Authorization", "Bearer s3cr3t-token")])


def recorded(text: bytes) -> tuple[Response, Exchange]:
    fields = [("Content-Encoding", "gzip"), ("X-A", "1")]
    response = Response(200, fields, gzip.compress(text))
    return response, exchange(WireRequest("GET", b"/", []), response, SECRETS)


def test_secret_inside_a_compressed_answer_is_not_kept() -> None:
    _, kept = recorded(b"you are s3cr3t-token")
    assert b"s3cr3t" not in kept.response_body
    assert kept.response_body.startswith(b"you are ")
    assert kept.response_headers == [("X-A", "1")]


def test_compressed_answer_without_secrets_is_kept_as_received() -> None:
    response, kept = recorded(b"nothing of interest")
    assert kept.response_body == response.content
    assert kept.response_headers == response.raw_headers


def test_values_are_read_from_compressed_answers() -> None:
    fields = [("Content-Encoding", "gzip")]
    assert json_of(Response(200, fields, gzip.compress(b'{"id": 7}'))) == {"id": 7}
    assert json_of(Response(200, fields, gzip.compress(b"text"))) is ABSENT
    assert json_of(Response(200, [], b"text")) is ABSENT
