"""Operations that hand out credentials."""

from typing import Any

import pytest

from checker.core.operation import BrokenOperation
from checker.openapi.loaders import from_dict

FLOWS = {"password": {"tokenUrl": "https://shop.test/api/token/", "scopes": {}}}
DECLARED: dict[str, tuple[str, dict[str, Any]]] = {
    "3.0.3": ("openapi", {"components": {"securitySchemes": {"a": {"type": "oauth2", "flows": FLOWS}}}}),
    "2.0": ("swagger", {"securityDefinitions": {"a": {"type": "oauth2", "flow": "password", "tokenUrl": "token"}}}),
    "3.1.0": (
        "openapi",
        # What means nothing is passed over.
        {
            "components": {
                "securitySchemes": {
                    "a": {"flows": {"password": {"tokenUrl": "/token"}, "implicit": 7}},
                    "b": {"flows": {"password": {"tokenUrl": "http://[x"}}},
                    "c": 1,
                }
            }
        },
    ),
}


@pytest.mark.parametrize("version", DECLARED)
def test_the_operation_at_the_url_of_tokens_grants_credentials(version: str) -> None:
    key, declared = DECLARED[version]
    post: dict[str, Any] = {"post": {"responses": {}}}
    paths = dict.fromkeys(("/token", "/a/token2", "/broken"), post)
    raw = {key: version, "info": {"title": "T", "version": "1"}, "paths": paths, **declared}
    found = [
        one.path
        for one in from_dict(raw).get_all_operations()
        if not isinstance(one, BrokenOperation) and one.grants_credentials
    ]
    assert found == ["/token"]
