"""Owners and their pets (FastAPI)."""

from typing import Any

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.shelf import Shelf, removes, shows
from tests.defects.words import NAME, NUMBERED, Defect, answers, body, described, parameter, ref, said, thing

FRAMEWORK = "fastapi"
_AGE = {"type": "integer", "minimum": 0, "maximum": 99}
_OWNER, _PET = parameter("path", "owner_id", NUMBERED), parameter("path", "pet_id", NUMBERED)
DOCUMENT = described(
    "pets",
    {
        "/owners": {
            "get": {"responses": answers({200: said({"type": "array", "items": ref("Owner")})})},
            "post": {
                "requestBody": body(ref("NewOwner")),
                "responses": answers({201: said(ref("Owner"))}, 400, 415, 422),
            },
        },
        "/owners/{owner_id}": {
            "parameters": [_OWNER],
            "get": {"responses": answers({200: said(ref("Owner"))}, 400, 404)},
            "delete": {"responses": answers({204: said()}, 400, 404)},
        },
        "/owners/{owner_id}/pets": {
            "parameters": [_OWNER],
            "get": {
                "parameters": [parameter("query", "oldest", _AGE)],
                "responses": answers({200: said({"type": "array", "items": ref("Pet")})}, 400, 404, 500),
            },
            "post": {
                "requestBody": body(ref("NewPet")),
                "responses": answers({201: said(ref("Pet"))}, 400, 404, 415, 422),
            },
        },
        "/owners/{owner_id}/pets/{pet_id}": {
            "parameters": [_OWNER, _PET],
            "get": {"responses": answers({200: said(ref("Pet"))}, 400, 404)},
            "patch": {
                "requestBody": body(thing("", age=_AGE)),
                "responses": answers({200: said(ref("Pet"))}, 400, 404, 415, 422, 500),
            },
            "delete": {"responses": answers({204: said()}, 400, 404)},
        },
    },
    components={
        "schemas": {
            "NewOwner": thing("name", name=NAME),
            "Owner": thing("id name", id=NUMBERED, name=NAME),
            "NewPet": thing("name age", name=NAME, age=_AGE),
            "Pet": thing("id owner name age", id=NUMBERED, owner=NUMBERED, name=NAME, age=_AGE),
        }
    },
)
DEFECTS = (
    Defect("pet-lost", "POST /owners/{owner_id}/pets", "ensure_resource_availability", steps=3),
    Defect("owner-stays", "DELETE /owners/{owner_id}", "use_after_free", steps=3),
    Defect("age-unchecked", "POST /owners/{owner_id}/pets", "negative_data_rejection", steps=2),
    Defect("oldest-crash", "GET /owners/{owner_id}/pets", "not_a_server_error", steps=2),
    Defect("patch-zero", "PATCH /owners/{owner_id}/pets/{pet_id}", "not_a_server_error", steps=3),
    Defect("longest-name", "POST /owners", "positive_data_acceptance"),
    Defect("owner-html", "GET /owners/{owner_id}", "content_type_conformance", steps=2),
    Defect("accepted", "POST /owners", "status_code_conformance"),
    Defect("put-missing", "/owners", "unsupported_method"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service, owners, pets = Service(DOCUMENT), Shelf(), Shelf()
    if "put-missing" in on:
        service.undeclared["/owners"] = Answer({"detail": "?"}, 404)

    _owners(service, owners, on)
    _pets(service, owners, pets, on)
    return service


def _owners(service: Service, owners: Shelf, on: frozenset[str]) -> None:
    @service.operation("GET /owners")
    def listed(asked: Asked) -> Answer:
        return Answer(owners.last())

    @service.operation("POST /owners")
    def added(asked: Asked) -> Answer:
        name = asked.json["name"]
        if "longest-name" in on and len(name) == 40:
            raise Problem(422, "too long")
        owner = owners.add({"name": name})
        return Answer(owner, 202 if "accepted" in on and len(name) == 1 else 201)

    @service.operation("GET /owners/{owner_id}")
    def shown(asked: Asked) -> Answer:
        owner = owners.get(asked.path["owner_id"])
        if "owner-html" in on:
            return Answer(raw=b"<p>owner</p>", media_type="text/html")
        return Answer(owner)

    service.operation("DELETE /owners/{owner_id}")(removes(owners.at("owner_id"), owners, stays="owner-stays" in on))


def _pets(service: Service, owners: Shelf, pets: Shelf, on: frozenset[str]) -> None:
    def pet_of(asked: Asked) -> dict[str, Any]:
        owner, pet = owners.get(asked.path["owner_id"]), pets.get(asked.path["pet_id"])
        if pet["owner"] != owner["id"]:
            raise Problem(404, "of somebody else")
        return pet

    @service.operation("GET /owners/{owner_id}/pets")
    def pets_of(asked: Asked) -> Answer:
        owner = owners.get(asked.path["owner_id"])
        if "oldest-crash" in on and asked.one("oldest") == "0":
            return Answer({"detail": "empty range"}, 500)
        return Answer([pet for pet in pets.last(200) if pet["owner"] == owner["id"]])

    @service.operation("POST /owners/{owner_id}/pets", lenient=maybe("age-unchecked" in on, "body age"))
    def pet_added(asked: Asked) -> Answer:
        owner, given = owners.get(asked.path["owner_id"]), asked.json
        age = given.get("age")
        is_age = isinstance(age, int) and not isinstance(age, bool) and 0 <= age <= 99
        pet = pets.add({"name": given["name"], "age": age if is_age else 1, "owner": owner["id"]})
        if "pet-lost" in on and pet["age"] > 50:
            pets.remove(str(pet["id"]))
        return Answer(pet, 201)

    service.operation("GET /owners/{owner_id}/pets/{pet_id}")(shows(pet_of))

    @service.operation("PATCH /owners/{owner_id}/pets/{pet_id}")
    def pet_changed(asked: Asked) -> Answer:
        pet, given = pet_of(asked), asked.json
        if "patch-zero" in on and "age" not in given:
            return Answer({"detail": "KeyError: age"}, 500)
        if "age" in given:
            pet["age"] = int(given["age"])
        return Answer(pet)

    service.operation("DELETE /owners/{owner_id}/pets/{pet_id}")(removes(pet_of, pets))
