"""A service with six rules that its description does not have, which refuses as each framework words it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.refusals.bodies import (
    ASPNET,
    DRF,
    FASTIFY,
    LARAVEL,
    MARSHMALLOW,
    MSGSPEC,
    PLAIN,
    RAILS,
    RESTX,
    ajv_errors,
    by_field,
    go,
    pydantic,
    pydantic_v1,
    rust,
    rust_json,
    spring,
    symfony,
    worded,
    zod,
)
from tests.refusals.rules import CODE, COLORS, EMAIL, LONG, OLD, PROPERTIES, REQUIRED, SHORT, UPPER, YOUNG, Broken, Rule

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Members", "version": "1"},
    "paths": {
        "/members": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"type": "object", "properties": PROPERTIES}}},
                },
                "responses": {"201": {"description": ""}, "4XX": {"description": ""}},
            }
        }
    },
}


@dataclass(frozen=True)
class Framework:
    name: str
    status: int
    rules: tuple[Rule, ...]
    """Those of which its error bodies say all that there is to know."""
    body: Callable[[Broken], Any]

    def refusal(self, body: Any) -> tuple[int, bytes]:
        """Status and content of the answer."""
        broken = [rule for rule in self.rules if rule.is_broken_by(body)]
        if not broken:
            return 201, b"{}"
        said = self.body(broken)
        return self.status, (said if isinstance(said, str) else json.dumps(said)).encode()


SIZES = (REQUIRED, SHORT, LONG, YOUNG, OLD)
FRAMEWORKS = (
    Framework("FastAPI", 422, (REQUIRED, SHORT, YOUNG, EMAIL, COLORS, UPPER), pydantic),
    Framework("pydantic 1", 422, (REQUIRED, SHORT, YOUNG, EMAIL, COLORS, UPPER), pydantic_v1),
    Framework("Django REST framework", 400, (*SIZES, EMAIL), lambda b: by_field(DRF, b)),
    Framework(
        "Flask-RESTX",
        400,
        (REQUIRED, YOUNG, OLD, COLORS, UPPER, EMAIL),
        lambda b: {"errors": {r.field: worded(RESTX, r) for r in b}, "message": "Input payload validation failed"},
    ),
    Framework(
        "marshmallow",
        422,
        (REQUIRED, SHORT, YOUNG, OLD, EMAIL, COLORS),
        lambda b: {"code": 422, "errors": {"json": by_field(MARSHMALLOW, b)}, "status": "Unprocessable"},
    ),
    Framework("Spring", 400, (REQUIRED, SHORT, LONG, YOUNG, EMAIL, UPPER), spring),
    Framework(
        "ASP.NET",
        400,
        (REQUIRED, SHORT, LONG, YOUNG, EMAIL, UPPER),
        lambda b: {
            "title": "One or more validation errors occurred.",
            "status": 400,
            "errors": {name.capitalize(): texts for name, texts in by_field(ASPNET, b).items()},
        },
    ),
    Framework("Rails", 422, (*SIZES, Rule(CODE, "minLength", 2)), lambda b: {"errors": by_field(RAILS, b)}),
    Framework(
        "Laravel",
        422,
        (*SIZES, EMAIL),
        lambda b: {"message": "The name field is required.", "errors": by_field(LARAVEL, b)},
    ),
    Framework("Symfony", 422, (REQUIRED, SHORT, LONG, YOUNG, EMAIL, COLORS), symfony),
    Framework(
        "Litestar",
        400,
        (*SIZES, UPPER),
        lambda b: {
            "status_code": 400,
            "detail": "Validation failed for POST /members",
            "extra": [
                {"message": worded(MSGSPEC, r), "key": "" if r.keyword == "required" else r.field, "source": "body"}
                for r in b
            ],
        },
    ),
    Framework("Go validator", 400, (REQUIRED, SHORT, YOUNG, OLD, EMAIL, COLORS), go),
    Framework("Rust validator", 400, (REQUIRED, SHORT, LONG, YOUNG, OLD, EMAIL), rust),
    Framework("Rust validator, JSON", 422, (SHORT, LONG, YOUNG, OLD), rust_json),
    Framework("AJV", 400, (REQUIRED, SHORT, YOUNG, EMAIL, COLORS, UPPER), lambda b: {"errors": ajv_errors(b)}),
    Framework(
        "Fastify",
        400,
        (REQUIRED, SHORT, LONG, YOUNG, EMAIL, UPPER),
        lambda b: {
            "statusCode": 400,
            "code": "FST_ERR_VALIDATION",
            "error": "Bad Request",
            "message": ", ".join(worded(FASTIFY, r) for r in b),
        },
    ),
    Framework("Zod", 400, (REQUIRED, SHORT, LONG, YOUNG, EMAIL, COLORS), zod),
    Framework(
        "anything",
        400,
        (*SIZES, COLORS),
        lambda b: {"error": "Bad Request", "details": [{"field": r.field, "message": worded(PLAIN, r)} for r in b]},
    ),
    Framework("plain text", 400, (*SIZES, COLORS), lambda b: "; ".join(worded(PLAIN, r) for r in b)),
)
