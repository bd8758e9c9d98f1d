"""Error bodies and wordings as frameworks have them."""

from typing import Any

from tests.refusals.rules import Broken, Rule


def worded(texts: dict[str, str], rule: Rule) -> str:
    value = rule.value
    return texts[rule.keyword].format(
        field=rule.field,
        Field=rule.field.capitalize(),
        value=", ".join(value) if isinstance(value, list) else value,
        quoted=value,
    )


def by_field(texts: dict[str, str], broken: Broken) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for rule in broken:
        found.setdefault(rule.field, []).append(worded(texts, rule))
    return found


def pydantic(broken: Broken) -> Any:
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


def pydantic_v1(broken: Broken) -> Any:
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


DRF = {
    "required": "This field is required.",
    "minLength": "Ensure this field has at least {value} characters.",
    "maxLength": "Ensure this field has no more than {value} characters.",
    "minimum": "Ensure this value is greater than or equal to {value}.",
    "maximum": "Ensure this value is less than or equal to {value}.",
    "format": "Enter a valid email address.",
}
MARSHMALLOW = {
    "required": "Missing data for required field.",
    "minLength": "Shorter than minimum length {value}.",
    "maxLength": "Longer than maximum length {value}.",
    "minimum": "Must be greater than or equal to {value}.",
    "maximum": "Must be less than or equal to {value}.",
    "format": "Not a valid email address.",
    "enum": "Must be one of: {value}.",
}
RESTX = {
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
ASPNET = {
    "required": "The {Field} field is required.",
    "minLength": "The field {Field} must be a string or array type with a minimum length of '{value}'.",
    "maxLength": "The field {Field} must be a string or array type with a maximum length of '{value}'.",
    "minimum": "The field {Field} must be between 18 and 99.",
    "maximum": "The field {Field} must be between 18 and 99.",
    "pattern": "The field {Field} must match the regular expression '{value}'.",
    "format": "The {Field} field is not a valid e-mail address.",
}
RAILS = {
    "required": "can't be blank",
    "minLength": "is too short (minimum is {value} characters)",
    "maxLength": "is too long (maximum is {value} characters)",
    "minimum": "must be greater than or equal to {value}",
    "maximum": "must be less than or equal to {value}",
}
LARAVEL = {
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
MSGSPEC = {
    "required": "Object missing required field `{field}`",
    "minLength": "Expected `str` of length >= {value}",
    "maxLength": "Expected `str` of length <= {value}",
    "minimum": "Expected `int` >= {value}",
    "maximum": "Expected `int` <= {value}",
    "pattern": "Expected `str` matching regex '{value}'",
}
PLAIN = {
    "required": "{field} is required",
    "minLength": "{field} must be at least {value} characters long",
    "maxLength": "{field} must be at most {value} characters long",
    "minimum": "{field} must be greater than or equal to {value}",
    "maximum": "{field} must be less than or equal to {value}",
    "enum": "{field} must be one of: {value}",
}


def ajv_errors(broken: Broken) -> list[dict[str, Any]]:
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


FASTIFY = {
    "required": "body must have required property '{field}'",
    "minLength": "body/{field} must NOT have fewer than {value} characters",
    "maxLength": "body/{field} must NOT have more than {value} characters",
    "minimum": "body/{field} must be >= {value}",
    "maximum": "body/{field} must be <= {value}",
    "pattern": 'body/{field} must match pattern "{value}"',
    "format": 'body/{field} must match format "{value}"',
}


def zod(broken: Broken) -> Any:
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


def symfony(broken: Broken) -> Any:
    return {
        "title": "Validation Failed",
        "violations": [
            {
                "propertyPath": f"[{rule.field}]" if rule.keyword == "required" else rule.field,
                "title": worded(_SYMFONY, rule),
                "parameters": {"{{ choices }}": '"red", "green", "blue"'}
                if rule.keyword == "enum"
                else {"{{ value }}": '"x"'},
            }
            for rule in broken
        ],
    }


def go(broken: Broken) -> Any:
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


def spring(broken: Broken) -> Any:
    return {
        "status": 400,
        "error": "Bad Request",
        "errors": [
            {
                "codes": ["X.member", "X"],
                "defaultMessage": worded(_BEAN, rule),
                "objectName": "member",
                "field": rule.field,
                "rejectedValue": None,
                "code": rule.keyword,
            }
            for rule in broken
        ],
        "path": "/members",
    }


def rust(broken: Broken) -> Any:
    """As axum shows what the crate `validator` says, and serde."""
    missing = [rule.field for rule in broken if rule.keyword == "required"]
    if missing:
        of_serde = f"missing field `{missing[0]}` at line 1 column 2"
        return f"Failed to deserialize the JSON body into the target type: {of_serde}"
    return {"error": "\n".join(map(_rule_of_rust, broken))}


def _rule_of_rust(rule: Rule) -> str:
    codes = {"Length": "length", "imum": "range"}
    ending = next((one for one in codes if rule.keyword.endswith(one)), "")
    if not ending:
        return f'{rule.field}: Validation error: {rule.value} [{{"value": String("a]")}}]'
    bound = rule.keyword.removesuffix(ending)
    params = f'"{bound}": Number({rule.value}), "value": String("[]")'
    return f"{rule.field}: Validation error: {codes[ending]} [{{{params}}}]"


def rust_json(broken: Broken) -> Any:
    """The errors of the crate `validator` as serde writes them."""
    found: dict[str, list[Any]] = {}
    for rule in broken:
        code = "length" if rule.keyword.endswith("Length") else "range"
        bound = rule.keyword.removesuffix("Length").removesuffix("imum")
        error = {"code": code, "message": None, "params": {bound: rule.value, "value": "x"}}
        found.setdefault(rule.field, []).append(error)
    return found
