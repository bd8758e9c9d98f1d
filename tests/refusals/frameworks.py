"""A service with six rules that its description does not have, which refuses as each framework words it."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

NAME, AGE, MAIL, COLOR, CODE = "name", "age", "mail", "color", "code"
PROPERTIES = {
    NAME: {"type": "string"},
    AGE: {"type": "integer"},
    MAIL: {"type": "string"},
    COLOR: {"type": "string"},
    CODE: {"type": "string"},
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Members", "version": "1"},
    "paths": {
        "/members": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": {"type": "object", "properties": PROPERTIES}}
                    },
                },
                "responses": {"201": {"description": ""}, "4XX": {"description": ""}},
            }
        }
    },
}


@dataclass(frozen=True)
class Rule:
    """One thing that the service asks for."""

    field: str
    keyword: str
    value: Any = True

    def is_broken_by(self, body: dict[str, Any]) -> bool:
        found = body.get(self.field)
        if self.keyword == "required":
            return self.field not in body
        if found is None:
            return False
        match self.keyword:
            case "minLength":
                return bool(len(found) < self.value)
            case "maxLength":
                return bool(len(found) > self.value)
            case "minimum":
                return bool(found < self.value)
            case "maximum":
                return bool(found > self.value)
            case "enum":
                return found not in self.value
            case "pattern":
                return re.search(self.value, found) is None
            case "format":
                return re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", found) is None
            case _:
                raise AssertionError(self.keyword)


REQUIRED = Rule(NAME, "required")
SHORT, LONG = Rule(NAME, "minLength", 3), Rule(NAME, "maxLength", 10)
YOUNG, OLD = Rule(AGE, "minimum", 18), Rule(AGE, "maximum", 99)
EMAIL = Rule(MAIL, "format", "email")
COLORS = Rule(COLOR, "enum", ["red", "green", "blue"])
UPPER = Rule(CODE, "pattern", "^[A-Z]{3}$")
Broken = Sequence[Rule]


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


def _texts(texts: dict[str, str], rule: Rule) -> str:
    value = rule.value
    return texts[rule.keyword].format(
        field=rule.field,
        Field=rule.field.capitalize(),
        value=", ".join(value) if isinstance(value, list) else value,
        quoted=value,
    )


def _keyed(texts: dict[str, str], broken: Broken) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for rule in broken:
        found.setdefault(rule.field, []).append(_texts(texts, rule))
    return found


def _pydantic(broken: Broken) -> Any:
    kinds = {
        "required": ("missing", "Field required", None),
        "minLength": ("string_too_short", "String should have at least 3 characters", "min_length"),
        "maxLength": ("string_too_long", "String should have at most 10 characters", "max_length"),
        "minimum": ("greater_than_equal", "Input should be greater than or equal to 18", "ge"),
        "maximum": ("less_than_equal", "Input should be less than or equal to 99", "le"),
        "pattern": ("string_pattern_mismatch", "String should match pattern", "pattern"),
        "format": ("value_error", "value is not a valid email address: no @-sign", None),
        "enum": ("literal_error", "Input should be 'red', 'green' or 'blue'", None),
    }
    detail = []
    for rule in broken:
        kind, text, name = kinds[rule.keyword]
        ctx = {name: rule.value} if name else {"expected": "'red', 'green' or 'blue'"}
        detail.append({"type": kind, "loc": ["body", rule.field], "msg": text, "ctx": ctx})
    return {"detail": detail}


def _pydantic_v1(broken: Broken) -> Any:
    kinds = {
        "required": ("value_error.missing", None),
        "minLength": ("value_error.any_str.min_length", "limit_value"),
        "maxLength": ("value_error.any_str.max_length", "limit_value"),
        "minimum": ("value_error.number.not_ge", "limit_value"),
        "maximum": ("value_error.number.not_le", "limit_value"),
        "pattern": ("value_error.str.regex", "pattern"),
        "format": ("value_error.email", None),
        "enum": ("type_error.enum", "enum_values"),
    }
    detail = []
    for rule in broken:
        kind, name = kinds[rule.keyword]
        ctx = {"ctx": {name: rule.value}} if name else {}
        detail.append({"type": kind, "loc": ["body", rule.field], "msg": "wrong", **ctx})
    return {"detail": detail}


_DRF = {
    "required": "This field is required.",
    "minLength": "Ensure this field has at least {value} characters.",
    "maxLength": "Ensure this field has no more than {value} characters.",
    "minimum": "Ensure this value is greater than or equal to {value}.",
    "maximum": "Ensure this value is less than or equal to {value}.",
    "format": "Enter a valid email address.",
}
_MARSHMALLOW = {
    "required": "Missing data for required field.",
    "minLength": "Shorter than minimum length {value}.",
    "maxLength": "Longer than maximum length {value}.",
    "minimum": "Must be greater than or equal to {value}.",
    "maximum": "Must be less than or equal to {value}.",
    "format": "Not a valid email address.",
    "enum": "Must be one of: {value}.",
}
_RESTX = {
    "required": "'{field}' is a required property",
    "minimum": "-5 is less than the minimum of {value}",
    "maximum": "500 is greater than the maximum of {value}",
    "pattern": "'x' does not match '{value}'",
    "enum": "'x' is not one of {quoted}",
    "format": "'x' is not a valid email address",
}
_BEAN = {
    "required": "must not be null",
    "minLength": "size must be between 3 and 10",
    "maxLength": "size must be between 3 and 10",
    "minimum": "must be greater than or equal to {value}",
    "maximum": "must be less than or equal to {value}",
    "pattern": 'must match "{value}"',
    "format": "must be a well-formed email address",
}
_ASPNET = {
    "required": "The {Field} field is required.",
    "minLength": "The field {Field} must be a string or array type with a minimum length of '{value}'.",
    "maxLength": "The field {Field} must be a string or array type with a maximum length of '{value}'.",
    "minimum": "The field {Field} must be between 18 and 99.",
    "maximum": "The field {Field} must be between 18 and 99.",
    "pattern": "The field {Field} must match the regular expression '{value}'.",
    "format": "The {Field} field is not a valid e-mail address.",
}
_RAILS = {
    "required": "can't be blank",
    "minLength": "is too short (minimum is {value} characters)",
    "maxLength": "is too long (maximum is {value} characters)",
    "minimum": "must be greater than or equal to {value}",
    "maximum": "must be less than or equal to {value}",
}
_LARAVEL = {
    "required": "The {field} field is required.",
    "minLength": "The {field} field must be at least {value} characters.",
    "maxLength": "The {field} field must not be greater than {value} characters.",
    "minimum": "The {field} field must be at least {value}.",
    "maximum": "The {field} field must not be greater than {value}.",
    "format": "The {field} field must be a valid email address.",
}
_SYMFONY = {
    "required": "This field is missing.",
    "minLength": "This value is too short. It should have {value} characters or more.",
    "maxLength": "This value is too long. It should have {value} characters or less.",
    "minimum": "This value should be greater than or equal to {value}.",
    "maximum": "This value should be less than or equal to {value}.",
    "format": "This value is not a valid email address.",
    "enum": "The value you selected is not a valid choice.",
}
_MSGSPEC = {
    "required": "Object missing required field `{field}`",
    "minLength": "Expected `str` of length >= {value}",
    "maxLength": "Expected `str` of length <= {value}",
    "minimum": "Expected `int` >= {value}",
    "maximum": "Expected `int` <= {value}",
    "pattern": "Expected `str` matching regex '{value}'",
}
_PLAIN = {
    "required": "{field} is required",
    "minLength": "{field} must be at least {value} characters long",
    "maxLength": "{field} must be at most {value} characters long",
    "minimum": "{field} must be greater than or equal to {value}",
    "maximum": "{field} must be less than or equal to {value}",
    "enum": "{field} must be one of: {value}",
}


def _ajv_errors(broken: Broken) -> list[dict[str, Any]]:
    names = {"enum": "allowedValues", "pattern": "pattern", "format": "format"}
    return [
        {
            "instancePath": "",
            "keyword": "required",
            "params": {"missingProperty": rule.field},
            "message": f"must have required property '{rule.field}'",
        }
        if rule.keyword == "required"
        else {
            "instancePath": f"/{rule.field}",
            "keyword": rule.keyword,
            "params": {names.get(rule.keyword, "limit"): rule.value},
        }
        for rule in broken
    ]


_FASTIFY = {
    "required": "body must have required property '{field}'",
    "minLength": "body/{field} must NOT have fewer than {value} characters",
    "maxLength": "body/{field} must NOT have more than {value} characters",
    "minimum": "body/{field} must be >= {value}",
    "maximum": "body/{field} must be <= {value}",
    "pattern": 'body/{field} must match pattern "{value}"',
    "format": 'body/{field} must match format "{value}"',
}


def _zod(broken: Broken) -> Any:
    issues: list[dict[str, Any]] = []
    for rule in broken:
        issue: dict[str, Any] = {"path": [rule.field]}
        match rule.keyword:
            case "required":
                issue |= {"code": "invalid_type", "expected": "string", "received": "undefined"}
            case "minLength":
                issue |= {"code": "too_small", "type": "string", "minimum": rule.value}
            case "maxLength":
                issue |= {"code": "too_big", "type": "string", "maximum": rule.value}
            case "minimum":
                issue |= {"code": "too_small", "type": "number", "minimum": rule.value}
            case "maximum":
                issue |= {"code": "too_big", "origin": "number", "maximum": rule.value}
            case "enum":
                issue |= {"code": "invalid_enum_value", "options": rule.value}
            case _:
                issue |= {"code": "invalid_string", "validation": "email"}
        issues.append(issue)
    return {"success": False, "error": {"issues": issues, "name": "ZodError"}}


def _symfony(broken: Broken) -> Any:
    return {
        "title": "Validation Failed",
        "violations": [
            {
                "propertyPath": f"[{rule.field}]" if rule.keyword == "required" else rule.field,
                "title": _texts(_SYMFONY, rule),
                "parameters": {"{{ choices }}": '"red", "green", "blue"'}
                if rule.keyword == "enum"
                else {"{{ value }}": '"x"'},
            }
            for rule in broken
        ],
    }


def _go(broken: Broken) -> Any:
    tags = {"required": "required", "minimum": "gte", "maximum": "lte", "format": "email"}
    tags |= {"minLength": "min", "maxLength": "max", "enum": "oneof"}
    values = [(rule, rule.value) for rule in broken]
    return {
        "errors": [
            {
                "Field": rule.field.capitalize(),
                "Tag": tags[rule.keyword],
                "Param": " ".join(value) if isinstance(value, list) else str(value),
            }
            for rule, value in values
        ]
    }


def _spring(broken: Broken) -> Any:
    return {
        "status": 400,
        "error": "Bad Request",
        "errors": [
            {
                "codes": ["X.member", "X"],
                "defaultMessage": _texts(_BEAN, rule),
                "objectName": "member",
                "field": rule.field,
                "rejectedValue": None,
                "code": rule.keyword,
            }
            for rule in broken
        ],
        "path": "/members",
    }


SIZES = (REQUIRED, SHORT, LONG, YOUNG, OLD)
FRAMEWORKS = (
    Framework("FastAPI", 422, (REQUIRED, SHORT, YOUNG, EMAIL, COLORS, UPPER), _pydantic),
    Framework("pydantic 1", 422, (REQUIRED, SHORT, YOUNG, EMAIL, COLORS, UPPER), _pydantic_v1),
    Framework("Django REST framework", 400, (*SIZES, EMAIL), lambda b: _keyed(_DRF, b)),
    Framework(
        "Flask-RESTX",
        400,
        (REQUIRED, YOUNG, OLD, COLORS, UPPER, EMAIL),
        lambda b: {
            "errors": {r.field: _texts(_RESTX, r) for r in b},
            "message": "Input payload validation failed",
        },
    ),
    Framework(
        "marshmallow",
        422,
        (REQUIRED, SHORT, YOUNG, OLD, EMAIL, COLORS),
        lambda b: {
            "code": 422,
            "errors": {"json": _keyed(_MARSHMALLOW, b)},
            "status": "Unprocessable",
        },
    ),
    Framework("Spring", 400, (REQUIRED, SHORT, LONG, YOUNG, EMAIL, UPPER), _spring),
    Framework(
        "ASP.NET",
        400,
        (REQUIRED, SHORT, LONG, YOUNG, EMAIL, UPPER),
        lambda b: {
            "title": "One or more validation errors occurred.",
            "status": 400,
            "errors": {name.capitalize(): texts for name, texts in _keyed(_ASPNET, b).items()},
        },
    ),
    Framework(
        "Rails", 422, (*SIZES, Rule(CODE, "minLength", 2)), lambda b: {"errors": _keyed(_RAILS, b)}
    ),
    Framework(
        "Laravel",
        422,
        (*SIZES, EMAIL),
        lambda b: {"message": "The name field is required.", "errors": _keyed(_LARAVEL, b)},
    ),
    Framework("Symfony", 422, (REQUIRED, SHORT, LONG, YOUNG, EMAIL, COLORS), _symfony),
    Framework(
        "Litestar",
        400,
        (*SIZES, UPPER),
        lambda b: {
            "status_code": 400,
            "detail": "Validation failed for POST /members",
            "extra": [
                {
                    "message": _texts(_MSGSPEC, r),
                    "key": "" if r.keyword == "required" else r.field,
                    "source": "body",
                }
                for r in b
            ],
        },
    ),
    Framework("Go validator", 400, (REQUIRED, SHORT, YOUNG, OLD, EMAIL, COLORS), _go),
    Framework(
        "AJV",
        400,
        (REQUIRED, SHORT, YOUNG, EMAIL, COLORS, UPPER),
        lambda b: {"errors": _ajv_errors(b)},
    ),
    Framework(
        "Fastify",
        400,
        (REQUIRED, SHORT, LONG, YOUNG, EMAIL, UPPER),
        lambda b: {
            "statusCode": 400,
            "code": "FST_ERR_VALIDATION",
            "error": "Bad Request",
            "message": ", ".join(_texts(_FASTIFY, r) for r in b),
        },
    ),
    Framework("Zod", 400, (REQUIRED, SHORT, LONG, YOUNG, EMAIL, COLORS), _zod),
    Framework(
        "anything",
        400,
        (*SIZES, COLORS),
        lambda b: {
            "error": "Bad Request",
            "details": [{"field": r.field, "message": _texts(_PLAIN, r)} for r in b],
        },
    ),
    Framework(
        "plain text",
        400,
        (*SIZES, COLORS),
        lambda b: "; ".join(_texts(_PLAIN, r) for r in b),
    ),
)
