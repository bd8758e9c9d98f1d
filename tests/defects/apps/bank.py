"""Accounts and transfers (Django)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.shelf import Shelf, removes, shows
from tests.defects.words import BOOLEAN, NUMBERED, Defect, answers, body, described, parameter, ref, said, thing

FRAMEWORK = "django"
_AMOUNT = {"type": "integer", "minimum": 1, "maximum": 5000}
_ID = parameter("path", "account_id", NUMBERED)
_KEY = parameter("header", "Idempotency-Key", {"type": "string", "pattern": "^[a-z0-9]{4,12}$"}, required=True)
DOCUMENT = described(
    "bank",
    {
        "/accounts": {
            "get": {
                "parameters": [parameter("query", "frozen", BOOLEAN)],
                "responses": answers({200: said({"type": "array", "items": ref("Account")})}, 400),
            },
            "post": {
                "requestBody": body(thing("currency", currency={"enum": ["EUR", "CHF", "NOK"]})),
                "responses": answers({201: said(ref("Account"))}, 400, 415, 422, 500),
            },
        },
        "/accounts/{account_id}": {
            "parameters": [_ID],
            "get": {"responses": answers({200: said(ref("Account"))}, 400, 404)},
            "delete": {"responses": answers({204: said()}, 400, 404)},
        },
        "/accounts/{account_id}/deposits": {
            "parameters": [_ID, _KEY],
            "post": {
                "requestBody": body(thing("amount", amount=_AMOUNT)),
                "responses": answers({200: said(ref("Account"))}, 400, 404, 415, 422, 500),
            },
        },
        "/accounts/{account_id}/freeze": {
            "parameters": [_ID],
            "put": {
                "requestBody": body(thing("frozen", frozen=BOOLEAN)),
                "responses": answers({200: said(ref("Account"))}, 400, 404, 415, 422),
            },
        },
    },
    components={
        "schemas": {
            "Account": thing(
                "id currency balance frozen",
                id=NUMBERED,
                currency={"type": "string", "enum": ["EUR", "CHF", "NOK"]},
                balance={"type": "integer", "minimum": 0},
                frozen=BOOLEAN,
            )
        }
    },
)
DEFECTS = (
    Defect("frozen-unchecked", "GET /accounts", "negative_data_rejection"),
    Defect("krone-crash", "POST /accounts", "not_a_server_error"),
    Defect("key-optional", "POST /accounts/{account_id}/deposits", "missing_required_header", steps=2),
    Defect("negative-balance", "POST /accounts/{account_id}/deposits", "response_schema_conformance", steps=2),
    Defect("frozen-crash", "POST /accounts/{account_id}/deposits", "not_a_server_error", steps=3),
    Defect("frozen-word", "PUT /accounts/{account_id}/freeze", "response_schema_conformance", steps=2),
    Defect("closed-shown", "DELETE /accounts/{account_id}", "use_after_free", steps=3),
    Defect("no-allow", "/accounts/{account_id}", "unsupported_method"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service, accounts = Service(DOCUMENT), Shelf()
    if "no-allow" in on:
        service.undeclared["/accounts/{account_id}"] = Answer({"detail": "not so"}, 405)

    @service.operation("GET /accounts", lenient=maybe("frozen-unchecked" in on, "query frozen"))
    def listed(asked: Asked) -> Answer:
        wanted = {"true": True, "false": False}.get(asked.one("frozen"))
        found = accounts.last()
        return Answer([one for one in found if wanted is None or one["frozen"] is wanted])

    @service.operation("POST /accounts")
    def opened(asked: Asked) -> Answer:
        currency = asked.json["currency"]
        if "krone-crash" in on and currency == "NOK":
            return Answer({"detail": "no rate"}, 500)
        return Answer(accounts.add({"currency": currency, "balance": 0, "frozen": False}), 201)

    account = accounts.at("account_id")
    service.operation("GET /accounts/{account_id}")(shows(account))
    service.operation("DELETE /accounts/{account_id}")(removes(account, accounts, stays="closed-shown" in on))

    @service.operation(
        "POST /accounts/{account_id}/deposits", lenient=maybe("key-optional" in on, "header Idempotency-Key")
    )
    def deposited(asked: Asked) -> Answer:
        account, amount = accounts.get(asked.path["account_id"]), int(asked.json["amount"])
        key = asked.headers.get("idempotency-key")
        if key is not None and not (
            (4 <= len(key) <= 12 and key.isalnum() and key.islower()) or (key.isdigit() and 4 <= len(key) <= 12)
        ):
            raise Problem(400, "key")
        if account["frozen"]:
            if "frozen-crash" in on:
                return Answer({"detail": "invalid state"}, 500)
            return Answer(account)
        account["balance"] += amount
        if "negative-balance" in on and amount == 5000:
            return Answer({**account, "balance": -1})
        return Answer(account)

    @service.operation("PUT /accounts/{account_id}/freeze")
    def frozen(asked: Asked) -> Answer:
        account = accounts.get(asked.path["account_id"])
        account["frozen"] = asked.json["frozen"]
        if "frozen-word" in on and not account["frozen"]:
            return Answer({**account, "frozen": "no"})
        return Answer(account)

    return service
