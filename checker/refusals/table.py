"""Who reads which error bodies: one row a framework. The first row that understands something has read it."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from checker.refusals import codes, names, rust
from checker.refusals.said import PlaceDemand


class Reader(Struct, frozen=True):
    """How the error bodies of one framework are read."""

    framework: str
    read: Callable[[Any], Iterator[PlaceDemand]]
    """What a body says, parsed as JSON or as text; nothing where it is none of this framework."""


READERS: Final = (
    Reader("FastAPI, pydantic", codes.pydantic),
    Reader("AJV", codes.ajv),
    Reader("Fastify", codes.fastify),
    Reader("Zod", codes.zod),
    Reader("Symfony", codes.symfony),
    Reader("Spring", codes.spring),
    Reader("Go validator", codes.go_validator),
    Reader("Rust validator, serde", rust.rust),
    Reader("Litestar", names.litestar),
    Reader("marshmallow", names.marshmallow),
    Reader("Flask-RESTX", names.flask_restx),
    Reader("ASP.NET", names.aspnet),
    Reader("Laravel", names.laravel),
    Reader("Django REST framework", names.django_rest),
    Reader("Rails", names.rails),
    Reader("any", names.generic),
)
