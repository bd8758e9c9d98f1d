"""Where credentials are, as security schemes say it."""

from typing import Any

import pytest

from checker.openapi.loaders import from_dict

SCHEMES = {
    "query": {"type": "apiKey", "in": "query", "name": "AppId"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Me"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "referred": {"$ref": "#/components/securitySchemes/header"},
    "certificate": {"type": "mutualTLS"},
    "unnamed": {"type": "apiKey", "in": "query"},
    "elsewhere": {"type": "apiKey", "in": "body", "name": "b"},
    "lost": {"$ref": "#/nowhere"},
    "text": "none",
}
PLACES = ("cookie sid", "header x-me", "query appid")


def places(**document: Any) -> tuple[str, ...]:
    return from_dict({"info": {"title": "", "version": ""}, "paths": {}, **document}).credentials


def test_keys_are_where_their_schemes_say() -> None:
    assert places(openapi="3.1.0", components={"securitySchemes": SCHEMES}) == PLACES


@pytest.mark.parametrize("kind", ["http", "oauth2", "openIdConnect"])
def test_all_other_schemes_send_authorization(kind: str) -> None:
    schemes = {"components": {"securitySchemes": {"a": {"type": kind, "scheme": "bearer"}}}}
    assert places(openapi="3.0.3", **schemes) == ("header authorization",)


def test_older_documents_call_them_otherwise() -> None:
    definitions = {"a": {"type": "basic"}, "b": SCHEMES["query"]}
    found = places(swagger="2.0", securityDefinitions=definitions)
    assert found == ("header authorization", "query appid")


def test_without_schemes_there_are_none() -> None:
    assert places(openapi="3.0.3") == places(openapi="3.0.3", components=[]) == ()
