"""Listed bodies name things that are there, so that a refusal is about what is wrong in them."""

from typing import Any, Final

from msgspec import Struct

from checker.core.meta import Binding
from checker.core.operation import Label, Operation, Place
from checker.core.request import Location
from checker.generation.settings import GenerationSettings
from checker.phases.case_factory import CaseFactory, GeneratedCase, GenerationRules, ReusedValues
from checker.phases.listed_phases import edge_cases
from tests.openapi.documents import operation
from tests.phases.test_recipes import COVERAGE

LABEL: Final = Label("POST /trips")
WHOLE: Final = {"type": "integer"}
LINES: Final = {
    "type": "array",
    "minItems": 1,
    "items": {"type": "object", "required": ["carId"], "properties": {"carId": WHOLE}},
}
REFERENCES: Final = ("/driver_id", "/vin", "/lines/*/carId")
KNOWN: Final[dict[str, object]] = {"/driver_id": "77", "/vin": "V-1", "/lines/*/carId": 9}


class Pool(Struct):
    """Gives what is known at each place of a body; texts with the index."""

    known: dict[str, object]

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        literal = self.known.get(name) if location is Location.BODY else None
        if literal is None:
            return None
        return Binding(location, name, Label("POST /drivers"), "/id", index, literal)

    def was_shown(self, place: Place, value: object) -> bool:
        return False


def trips(*, optional: tuple[str, ...] = (), **more: Any) -> Operation:
    properties = {
        "driver_id": {**WHOLE, "minimum": 0},
        "vin": {"type": "string", "minLength": 1},
        "km": {"type": "number", "minimum": 1},
        "lines": LINES,
        **more,
    }
    required = [name for name in properties if name not in optional]
    schema = {"type": "object", "required": required, "properties": properties}
    content = {"application/json": {"schema": schema}}
    body = {"required": True, "content": content}
    return operation({"requestBody": body}, path="/trips", method="post")


def listed(of: Operation, known: dict[str, object]) -> list[GeneratedCase]:
    settings = GenerationSettings(mode=None, reuse=True, references=REFERENCES)
    factory = CaseFactory(
        {LABEL: of},  # type: ignore[dict-item]
        GenerationRules.alike(settings),
        ReusedValues(lambda *_: Pool(known), ("coverage",)),
        lister=lambda _: edge_cases,
    )
    numbers = [number for number, _ in factory.listed_from(LABEL, "coverage", (0, "coverage"))]
    return [factory.listed(LABEL, 1, number, COVERAGE) for number in numbers]


def bodies(of: Operation, known: dict[str, object]) -> list[tuple[str, dict[str, Any]]]:
    """(description, body) of the cases with an object."""
    cases = [made.case for made in listed(of, known)]
    return [
        (str(case.meta.phase.data.get("description")), case.body)
        for case in cases
        if case.meta is not None and isinstance(case.body, dict)
    ]


def test_a_wrong_body_names_things_that_are_there_but_where_it_is_wrong() -> None:
    wrong = [body for text, body in bodies(trips(), KNOWN) if "km" in text and "minimum" in text]
    assert wrong
    for body in wrong:
        assert body["km"] < 1
        assert (body["driver_id"], body["vin"]) == (77, "V-1")
        assert [line["carId"] for line in body["lines"]] == [9] * len(body["lines"])


def test_what_a_case_is_about_keeps_its_value() -> None:
    found = bodies(trips(), KNOWN)
    drivers = {str(body["driver_id"]) for _, body in found if "driver_id" in body}
    assert drivers > {"77", "-1", "1", "None", "[]"}
    others = [body for _, body in found if body.get("driver_id") == -1]
    assert {body.get("vin") for body in others} == {"V-1"}


def test_what_does_not_fit_stays_made_up() -> None:
    known = {"/driver_id": "seven", "/vin": "", "/lines/*/carId": True}
    assert bodies(trips(), known) == bodies(trips(), {})


def test_a_named_thing_gets_no_name_of_its_own() -> None:
    """`vin` is what things commonly are called by; here it is another's."""
    assert {body["vin"] for text, body in bodies(trips(), KNOWN) if "km" in text} == {"V-1"}


def test_a_recorded_case_takes_what_it_took() -> None:
    settings = GenerationSettings(mode=None, reuse=True, references=REFERENCES)
    of = trips()
    factory = CaseFactory(
        {LABEL: of},  # type: ignore[dict-item]
        GenerationRules.alike(settings),
        lister=lambda _: edge_cases,
    )
    for made in listed(of, KNOWN):
        again = factory.remake(made.step, name=made.case.id, phase=COVERAGE)
        assert (again.case.body, again.bindings) == (made.case.body, made.bindings)


def test_some_cases_keep_what_an_author_gave() -> None:
    said = {**WHOLE, "minimum": 0, "example": 3}
    drivers = [body.get("driver_id") for _, body in bodies(trips(driver_id=said), KNOWN)]
    assert {3, 77} <= {one for one in drivers if isinstance(one, int)}


def test_right_bodies_get_known_values_for_optional_references() -> None:
    of = trips(optional=("driver_id",))
    unknown = [made.case for made in listed(of, {}) if is_right(made)]
    known = [made.case for made in listed(of, KNOWN) if is_right(made)]
    assert sum("driver_id" in case.body for case in unknown) < len(unknown) / 2
    assert sum(case.body.get("driver_id") == 77 for case in known) > len(known) * 0.7
    # The first case has only what is required: the target may refuse the optional reference.
    assert "driver_id" not in known[0].body


def is_right(made: GeneratedCase) -> bool:
    meta = made.case.meta
    return meta is not None and not meta.mode.is_negative and isinstance(made.case.body, dict)
