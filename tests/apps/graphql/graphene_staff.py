"""A staff register by graphene on Flask."""

from typing import Any

import graphene
from flask import Flask, jsonify, request

PLANTED = {
    ("query.staff", "not_a_server_error"): "a page size of zero",
    ("query.person", "response_schema_conformance"): "the email of a person",
    ("query.average", "not_a_server_error"): "no numbers",
    ("mutation.hire", "not_a_server_error"): "a name of blanks or nothing",
}


GRADES = graphene.Enum("Grade", [("JUNIOR", 1), ("SENIOR", 2)])


class Person(graphene.ObjectType):  # type: ignore[misc]
    id = graphene.ID(required=True)
    name = graphene.String(required=True)
    email = graphene.String(required=True)
    grade = graphene.Field(GRADES)


class Robot(graphene.ObjectType):  # type: ignore[misc]
    id = graphene.ID(required=True)
    model = graphene.String()


class Employed(graphene.Union):  # type: ignore[misc]
    class Meta:
        name = "Worker"
        types = (Person, Robot)


def schema_of(*, planted: bool) -> graphene.Schema:
    """Its root types have names of their own."""

    def person(number: str, name: str = "Ann") -> Person:
        email = None if planted and number == "7" else "a@example.org"
        return Person(id=number, name=name, email=email, grade=1)

    class Queries(graphene.ObjectType):  # type: ignore[misc]
        class Meta:
            name = "query"

        staff = graphene.List(Employed, size=graphene.Int(default_value=2))
        person = graphene.Field(Person, id=graphene.ID(required=True))
        average = graphene.Float(numbers=graphene.List(graphene.NonNull(graphene.Float), required=True))

        def resolve_staff(self, info: Any, size: int | None) -> Any:
            pages = 10 // size if planted and size is not None else 1
            return [person("1"), Robot(id=str(pages), model="R2")]

        def resolve_person(self, info: Any, id: str) -> Any:
            return person("7")

        def resolve_average(self, info: Any, numbers: list[float]) -> Any:
            count = len(numbers) if planted else len(numbers) or 1
            return sum(1.0 for _ in numbers) / count

    class Hire(graphene.Mutation):  # type: ignore[misc]
        class Arguments:
            name = graphene.String(required=True)
            grade_ = graphene.Argument(GRADES, name="grade")

        person = graphene.Field(Person)

        def mutate(self, info: Any, name: str, grade_: Any = None) -> Any:
            initial = name.split()[0] if planted else name[:1]
            return Hire(person=person("3", initial or "?"))

    class Mutations(graphene.ObjectType):  # type: ignore[misc]
        class Meta:
            name = "mutation"

        hire = Hire.Field()

    return graphene.Schema(Queries, Mutations)


def staff(*, planted: bool) -> Flask:
    """The application; its endpoint is `/graphql`."""
    schema, app = schema_of(planted=planted), Flask("staff")

    @app.post("/graphql")
    def answer() -> Any:
        asked = request.get_json(silent=True)
        if not isinstance(asked, dict) or not isinstance(asked.get("query"), str):
            return jsonify({"errors": [{"message": "Must provide a query string."}]}), 400
        variables = asked.get("variables")
        if variables is not None and not isinstance(variables, dict):
            return jsonify({"errors": [{"message": "Variables must be an object."}]}), 400
        done = schema.execute(asked["query"], variables=variables)
        found: dict[str, Any] = {}
        if done.errors:
            found["errors"] = [error.formatted for error in done.errors]
        if done.data is not None or not done.errors:
            found["data"] = done.data
        return jsonify(found), 200 if "data" in found else 400

    return app
