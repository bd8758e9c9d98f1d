"""What the exact service answers where a description leaves it no choice."""

from tests.apps.exact import Exact, prepared
from tests.apps.http import Request


def test_what_nobody_can_serve_by_the_letter_is_forbidden() -> None:
    nothing = {"type": "null", "oneOf": [{"type": "string"}]}
    answer = {"description": "", "content": {"application/json": {"schema": nothing}}}
    document = {"openapi": "3.1.0", "paths": {"/a": {"get": {"responses": {"200": answer}}}}}
    exact = Exact(prepared(document))
    assert exact(Request("GET", b"/a", {})).status == 403
