"""Records of a small run, as a worker would write them."""

from typing import Any

from msgspec import structs

from checker.config.settings import RunSettings
from checker.corpus.records import (
    CheckOutcome,
    Component,
    Exchange,
    Finding,
    Interaction,
    Investigation,
    Note,
    OperationError,
    Quarantined,
    RunFinished,
    RunStarted,
    SchemaOpened,
    TaskProgress,
)
from tests.asking import run_settings

AT = 1767225600.25
USERS = "GET /users"
ORDERS = "POST /orders"


def settings(**changes: Any) -> RunSettings:
    values = {
        "location": "http://127.0.0.1:8080/openapi.json",
        "kind": "run",
        "seed": 1,
        "workers": 2,
        "phases": ("fuzzing",),
        "command": "checker run http://127.0.0.1:8080/openapi.json",
        **changes,
    }
    return run_settings(**values)


def started(kind: str = "run") -> RunStarted:
    return RunStarted("r1", kind, AT, "0.1.0", "openapi.json", 1, "s", "checker run", 2)


def opened(selected: int = 3, total: int = 5) -> SchemaOpened:
    return SchemaOpened("Shop", "Open API 3.0.3", "http://127.0.0.1:8080/api", "d1", total, selected)


def exchange(**changes: Any) -> Exchange:
    values = {
        "method": "GET",
        "target": b"/api/users?limit=0",
        "headers": ((b"User-Agent", b"checker/0.1.0"), (b"X-Checker-TestCaseId", b"0a1b2c3d4e5f")),
        "body": None,
        "status": 500,
        "reason": "Internal Server Error",
        "response_head": b"Content-Type: application/json\r\n",
        "response_body": b'{"error":"boom"}',
        "response_size": 16,
        "elapsed_s": 0.0125,
        **changes,
    }
    return Exchange(**values)


def interaction(**changes: Any) -> Interaction:
    values = {
        "case": "0a1b2c3d4e5f",
        "label": USERS,
        "phase": "fuzzing",
        "phase_data": (),
        "mode": "positive",
        "components": (Component("query", "positive", ()),),
        "status": "FAILURE",
        "at": AT,
        "generation_s": 0.00002,
        "exchange": exchange(),
        "checks": (CheckOutcome("not_a_server_error", "FAILURE", "Server error"),),
        "worker": 1,
        **changes,
    }
    return Interaction(**values)


COMMAND = "curl -X GET 'http://127.0.0.1:8080/api/users?limit=0'"


def finding(**changes: Any) -> Finding:
    values: dict[str, Any] = {
        "fingerprint": "f1",
        "label": USERS,
        "check": "not_a_server_error",
        "title": "Server error",
        "message": "",
        "severity": "critical",
        "unique_key": "500",
        "phase": "fuzzing",
        "case": "0a1b2c3d4e5f",
        "task": "t1",
        "index": 3,
        "steps": (),
        "interactions": (interaction(),),
        "investigation": Investigation("minimised", COMMAND, reproduced=True, shrink_executions=12),
        "at": AT,
    }
    found: Finding = changed(Finding(**values), **changes)
    return found


def progress(**changes: Any) -> TaskProgress:
    values = {
        "task": "t1",
        "phase": "fuzzing",
        "labels": (USERS,),
        "next_index": 100,
        "finished": True,
        "cases": 100,
        "requests": 115,
        "failed_cases": 7,
        "statuses": ((USERS, 200, 90), (USERS, 500, 10)),
        "ledger": (0.1, 1.2, 0.05, 0.02, 0.6),
        **changes,
    }
    return TaskProgress(**values)


def schema_finding() -> Finding:
    return finding(
        fingerprint="f2",
        check="response_schema_conformance",
        title="Response violates schema",
        message="'id' is a required property\n\nSchema at /required:\n\n    [\n        \"id\"\n    ]",
        severity="high",
        unique_key="items/required",
        case="bbbbbbbbbbbb",
        index=8,
        reproduced=False,
        reproduction="curl -X GET http://127.0.0.1:8080/api/users",
        interactions=(
            interaction(
                exchange=exchange(status=200, reason="OK", response_body=b'[{"name":"Ada"}]', response_size=16)
            ),
        ),
    )


def records() -> list[Any]:
    """A run over three operations: one is clean, one fails, one cannot be tested."""
    return [
        started(),
        opened(),
        finding(),
        finding(
            fingerprint="f3",
            check="status_code_conformance",
            title="Undocumented HTTP status code",
            message="Received: 500\nDocumented: 200, 404",
            severity="medium",
        ),
        schema_finding(),
        progress(),
        progress(
            task="t2",
            labels=("GET /health",),
            cases=20,
            requests=20,
            failed_cases=0,
            statuses=(("GET /health", 200, 20),),
            ledger=(0.01, 0.4, 0.01, 0.01, 1.5),
        ),
        OperationError(ORDERS, "fuzzing", "Schema Error", "#/components/schemas/Order: no such schema"),
        Note("opaque", ORDERS, "#/components/schemas/Order/properties/id", "pattern"),
        Note("opaque", USERS, "#/components/schemas/Order/properties/id", "pattern"),
        Note("opaque", USERS, "#/components/schemas/User/properties/mail", "contentSchema"),
        Note("untried", "GET /health", "", "sent 20 of 100 cases of the fuzzing phase"),
        Note("unresolvable_reference", ORDERS, "#/a/b", "`#/c` at #/a/b points at nothing"),
        Note("unresolvable_reference", USERS, "#/a/b", "`#/c` at #/a/b points at nothing"),
        Note("unusable_body", ORDERS, "application/xml", "no serialiser"),
        Quarantined(
            "t2",
            "GET /health",
            7,
            "cccccccccccc",
            "send",
            2,
            (),
            "curl -X GET http://127.0.0.1:8080/api/health",
            "killed by signal 11",
        ),
        RunFinished("r1", AT + 2.0, "completed", 2.0, (0.11, 1.6, 0.06, 0.03, 2.2)),
    ]


def clean_records() -> list[Any]:
    """Records of a run that found nothing."""
    return [
        started(),
        opened(1, 1),
        progress(failed_cases=0, statuses=((USERS, 200, 100),)),
        RunFinished("r1", AT + 2.0, "completed", 2.0, (0.1, 1.2, 0.05, 0.02, 2.6)),
    ]


def changed(record: Any, **changes: Any) -> Any:
    """A copy with other values; those of a group of its fields by their own names."""
    for group in ("counts", "time", "investigation"):
        part: Any = getattr(record, group, None)
        names = changes.keys() & set(getattr(part, "__struct_fields__", ())) - set(record.__struct_fields__)
        if names:
            changes[group] = structs.replace(part, **{name: changes.pop(name) for name in names})
    return structs.replace(record, **changes)
