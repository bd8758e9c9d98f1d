"""A schema that does things its own way, and what a run of it writes."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import checker
from checker import kinds


class Known:
    """Knows identifiers that the API holds."""

    def values_for(self, operation: checker.APIOperation, location: str, name: str) -> Sequence[int]:
        return [1, 2] if location == "path" else []


class Mine(checker.BaseSchema):
    """Overrides what the engine asks for."""

    @property
    def reauth_state(self) -> checker.ReauthState:
        return checker.ReauthState(most_in_vain=1)

    def create_extra_data_source(self) -> checker.ExtraDataSource:
        return Known()

    def get_coverage_capabilities(self) -> Collection[str]:
        return [kinds.Scenario.WRONG_TYPE]

    def apply_stateful_inference(self, observations: Sequence[checker.Observation]) -> Iterable[kinds.Transition]:
        for one in observations:
            taken = kinds.TakenValue(kinds.Location.PATH, "id", "$response.header.Location")
            target = kinds.Label("GET /items/{id}")
            yield kinds.Transition("Made", one.operation.label, str(one.status), target, (taken,))

    def prepare_request_body(self, body: Any) -> Any:
        return {"wrapped": body}

    def compute_fuzz_operation_weights(self, operations: Sequence[checker.APIOperation]) -> list[float]:
        return [2.0 if one.method == "POST" else 1.0 for one in operations]


names: checker.Registry[str] = checker.Registry("name")


def first_finding(schema: checker.BaseSchema) -> str:
    """Title of the first failure that a run finds."""
    events = checker.engine.from_schema(schema).execute()
    for event in events:
        if isinstance(event, checker.events.Finding):
            events.stop()
            return event.title
    return ""
