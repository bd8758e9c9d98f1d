"""Six rules that only the code of a service knows: what real frameworks answer is enough to learn them in one phase."""

import json
from collections.abc import Callable
from typing import Any

import marshmallow
import pytest
from django import forms
from flask import Flask, request
from marshmallow import validate
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from tests.apps.django_settings import configure
from tests.refusals.rules import COLORS, EMAIL, LONG, OLD, REQUIRED, SHORT, YOUNG, Rule
from tests.workers.test_demands import COUNT, Refusing, Service, accepted

configure()

RULES = (REQUIRED, SHORT, LONG, YOUNG, OLD, EMAIL)


def django_rest() -> Refusing:
    class Member(serializers.Serializer):  # type: ignore[misc]
        name = serializers.CharField(min_length=SHORT.value, max_length=LONG.value)
        age = serializers.IntegerField(min_value=YOUNG.value, max_value=OLD.value, required=False)
        mail = serializers.EmailField(required=False)

    def answer(body: Any) -> tuple[int, bytes]:
        try:
            Member(data=body).is_valid(raise_exception=True)
        except ValidationError as error:
            return error.status_code, json.dumps(error.detail).encode()
        return 201, b"{}"

    return answer


def django_forms() -> Refusing:
    class Member(forms.Form):  # type: ignore[misc]
        name = forms.CharField(min_length=SHORT.value, max_length=LONG.value)
        age = forms.IntegerField(min_value=YOUNG.value, max_value=OLD.value, required=False)
        mail = forms.EmailField(required=False)

    def answer(body: Any) -> tuple[int, bytes]:
        member = Member(body)
        return (201, b"{}") if member.is_valid() else (400, member.errors.as_json().encode())

    return answer


def flask_marshmallow() -> Refusing:
    class Member(marshmallow.Schema):
        class Meta:
            unknown = marshmallow.INCLUDE

        name = marshmallow.fields.String(required=True, validate=validate.Length(SHORT.value, LONG.value))
        age = marshmallow.fields.Integer(validate=validate.Range(YOUNG.value, OLD.value))
        color = marshmallow.fields.String(validate=validate.OneOf(COLORS.value))
        mail = marshmallow.fields.Email()

    app = Flask("members")

    @app.post("/members")
    def add() -> Any:
        try:
            Member().load(request.get_json())
        except marshmallow.ValidationError as error:
            return {"errors": error.messages}, 422
        return {}, 201

    def answer(body: Any) -> tuple[int, bytes]:
        found = app.test_client().post("/members", json=body)
        return found.status_code, found.get_data()

    return answer


@pytest.mark.parametrize(
    ("framework", "rules"),
    [
        # What Django says of a wrong choice does not name the right ones.
        (django_rest, RULES),
        (django_forms, RULES),
        (flask_marshmallow, (*RULES, COLORS)),
    ],
)
def test_what_a_framework_itself_refuses_is_learned(framework: Callable[[], Refusing], rules: tuple[Rule, ...]) -> None:
    service = Service(framework())
    before, after = service.phase("coverage"), service.phase("fuzzing")
    found = {(one.path[0], one.keyword) for one in service.known if one.path}
    missed = {(rule.field, rule.keyword) for rule in rules} - found
    assert not missed, found
    assert accepted(after) >= max(0.8 * COUNT, 2 * accepted(before))
