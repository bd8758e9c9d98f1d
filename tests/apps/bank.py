"""A bank: accounts named by clients in the path, envelopes, lists, a cookie, a tenant; 14 planted defects, each with a label."""

import json
import urllib.request
from itertools import count
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tests.apps.restartable import Restartable
from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.words import COUNT, Defect, answers, body, described, parameter, ref, said, thing

USER, PIN, TENANT, PARTNER = "teller", "pin-bank-7731", "acme", "partner-key-5519"
CONFIG = f"""
headers = {{ X-Tenant = "{TENANT}", X-Partner-Key = "{PARTNER}" }}
[auth.dynamic.openapi.Session]
path = "/session"
payload = {{ user = "{USER}", pin = "{PIN}" }}
extract_from = "cookie"
extract_selector = "sid"
"""
_SLUG = {"type": "string", "pattern": "^[a-z]{3,12}$"}
_UUID = {"type": "string", "format": "uuid"}
_TEXT = {"type": "string", "maxLength": 30}
_STATE = {"type": "string", "enum": ["active", "blocked"]}
_CURRENCY = {"type": "string", "enum": ["EUR", "USD"]}
_ACCOUNTS, _ACCOUNT = "/accounts", "/accounts/{name}"
_CARDS, _CARD = f"{_ACCOUNT}/cards", f"{_ACCOUNT}/cards/{{card_id}}"
_TRANSFERS, _TRANSFER = f"{_ACCOUNT}/transfers", f"{_ACCOUNT}/transfers/{{transfer_id}}"
_BRANCHES, _BRANCH = "/branches", "/branches/{branch_code}"
_LOANS, _LOAN = "/loans", "/loans/{loan_id}"
_NAMED = [parameter("path", "name", _SLUG)]
_READ, _WRITE = (400, 401, 404), (400, 401, 404, 409, 415, 422)
_NEW_ACCOUNT = thing("currency", currency=_CURRENCY, limit=COUNT)
_NEW_CARD = thing("holder", holder=_TEXT, limit=COUNT)
_NEW_TRANSFER = thing("to_account amount", to_account=_SLUG, amount=COUNT)
_NEW_LOAN = thing("account amount", account=_SLUG, amount=COUNT)


def _inside(member: str, schema: Any) -> dict[str, Any]:
    """A response with one member around a thing."""
    return said({"type": "object", "required": [member], "properties": {member: schema}})


def _listed(schema: Any) -> dict[str, Any]:
    return _inside("data", {"type": "array", "items": schema})


DOCUMENT = described(
    "bank",
    {
        "/session": {
            "post": {
                "security": [],
                "requestBody": body(thing("user pin", user=_TEXT, pin=_TEXT)),
                "responses": answers({204: said()}, 400, 401, 415, 422),
            }
        },
        _ACCOUNTS: {"get": {"responses": answers({200: _listed(ref("Account"))}, *_READ)}},
        _ACCOUNT: {
            "parameters": _NAMED,
            "post": {
                "requestBody": body(_NEW_ACCOUNT),
                "responses": answers({201: _inside("account", ref("Account"))}, *_WRITE),
            },
            "get": {"responses": answers({200: _inside("account", ref("Account"))}, *_READ)},
            "patch": {
                "requestBody": body(thing("limit", limit=COUNT)),
                "responses": answers({200: _inside("account", ref("Account"))}, *_WRITE),
            },
            "delete": {"responses": answers({204: said()}, *_READ)},
        },
        _CARDS: {
            "parameters": _NAMED,
            "get": {"responses": answers({200: _listed(ref("Card"))}, *_READ)},
            "post": {
                "requestBody": body(_NEW_CARD),
                "responses": answers({201: _inside("data", ref("Card"))}, *_WRITE),
            },
        },
        _CARD: {
            "parameters": [*_NAMED, parameter("path", "card_id", _UUID)],
            "get": {"responses": answers({200: _inside("data", ref("Card"))}, *_READ)},
            "delete": {"responses": answers({204: said()}, *_READ)},
        },
        f"{_CARD}/block": {
            "parameters": [*_NAMED, parameter("path", "card_id", _UUID)],
            "post": {"responses": answers({200: _inside("data", ref("Card"))}, 400, 401, 404, 409)},
        },
        _TRANSFERS: {
            "parameters": _NAMED,
            "get": {"responses": answers({200: _listed(ref("Transfer"))}, *_READ)},
            "post": {
                "requestBody": body(_NEW_TRANSFER),
                "responses": answers({201: _inside("transfer", ref("Transfer"))}, *_WRITE),
            },
        },
        _TRANSFER: {
            "parameters": [*_NAMED, parameter("path", "transfer_id", {"type": "string", "pattern": "^tr-[0-9]{6}$"})],
            "get": {"responses": answers({200: _inside("transfer", ref("Transfer"))}, *_READ)},
        },
        _BRANCHES: {"get": {"responses": answers({200: _listed(ref("Branch"))}, *_READ)}},
        _BRANCH: {
            "parameters": [parameter("path", "branch_code", _UUID)],
            "get": {
                "parameters": [parameter("query", "rooms", COUNT)],
                "responses": answers({200: _inside("data", ref("Branch"))}, *_READ),
            },
        },
        _LOANS: {
            "post": {"requestBody": body(_NEW_LOAN), "responses": answers({201: _inside("data", ref("Loan"))}, *_WRITE)}
        },
        _LOAN: {
            "parameters": [parameter("path", "loan_id", _UUID)],
            "get": {"responses": answers({200: _inside("data", ref("Loan"))}, *_READ)},
        },
    },
    security=[{"Session": []}],
    components={
        "securitySchemes": {"Session": {"type": "apiKey", "in": "cookie", "name": "sid"}},
        "schemas": {
            "Account": thing("name currency limit", name=_SLUG, currency=_CURRENCY, limit=COUNT),
            "Card": thing("id holder state limit", id=_UUID, holder=_TEXT, state=_STATE, limit=COUNT),
            "Transfer": thing("id to_account amount", id={"type": "string"}, to_account=_SLUG, amount=COUNT),
            "Branch": thing("branch_code city", branch_code=_UUID, city=_TEXT),
            "Loan": thing("id account amount", id=_UUID, account=_SLUG, amount=COUNT),
        },
    },
)
DEFECTS = (
    Defect("account-limit", f"POST {_ACCOUNT}", "not_a_server_error"),
    Defect("account-unchecked", f"POST {_ACCOUNT}", "negative_data_rejection"),
    Defect("account-limit-text", f"GET {_ACCOUNT}", "response_schema_conformance", steps=2),
    Defect("account-raised", f"PATCH {_ACCOUNT}", "not_a_server_error", steps=2),
    Defect("account-stays", f"DELETE {_ACCOUNT}", "use_after_free", steps=3),
    Defect("accounts-unnamed", f"GET {_ACCOUNTS}", "response_schema_conformance", steps=2),
    Defect("cards-untyped", f"GET {_CARDS}", "content_type_conformance", steps=2),
    Defect("card-limit", f"POST {_CARDS}", "not_a_server_error", steps=2),
    Defect("card-open", f"GET {_CARD}", "ignored_auth", steps=3),
    Defect("card-accepted", f"DELETE {_CARD}", "status_code_conformance", steps=3),
    Defect("card-blocked-twice", f"POST {_CARD}/block", "not_a_server_error", steps=4),
    Defect("transfer-to-self", f"POST {_TRANSFERS}", "not_a_server_error", steps=2),
    Defect("transfer-amount-text", f"GET {_TRANSFER}", "response_schema_conformance", steps=4),
    Defect("branch-cityless", f"GET {_BRANCH}", "response_schema_conformance", steps=2),
    Defect("branch-rooms", f"GET {_BRANCH}", "not_a_server_error", steps=2),
    Defect("loan-large", f"POST {_LOANS}", "not_a_server_error", steps=2),
    Defect("loan-null", f"GET {_LOAN}", "response_schema_conformance", steps=3),
)


class Bank:
    """The state of one server."""

    def __init__(self, on: frozenset[str]) -> None:
        self.on = on
        self.numbers = count(1)
        self.accounts: dict[str, dict[str, Any]] = {}
        self.cards: dict[str, dict[str, dict[str, Any]]] = {}
        self.transfers: dict[str, dict[str, dict[str, Any]]] = {}
        self.loans: dict[str, dict[str, Any]] = {}
        self.sessions: set[str] = set()
        self.branches = [{"branch_code": self.new_id(), "city": city} for city in ("Bonn", "Graz", "Bern")]

    def new_id(self) -> str:
        """Return an identifier of this server alone."""
        return str(uuid5(NAMESPACE_URL, f"{id(self)} {next(self.numbers)}"))

    def serve(self, asked: Asked) -> None:
        """Admit a request of the tenant and a partner. Raises `Problem` 400 and 401."""
        if asked.headers.get("x-tenant") != TENANT:
            raise Problem(400, "header X-Tenant names no tenant")
        if asked.headers.get("x-partner-key") != PARTNER:
            raise Problem(401, "header X-Partner-Key names no partner")

    def enter(self, asked: Asked) -> None:
        """Admit a request of a session. Raises `Problem` 400 and 401."""
        self.serve(asked)
        if asked.cookies.get("sid") not in self.sessions:
            raise Problem(401, "no session")

    def account(self, asked: Asked) -> dict[str, Any]:
        """Return the account in the path. Raises `Problem` 404."""
        self.enter(asked)
        return self.found(self.accounts, asked.path["name"])

    @staticmethod
    def found(things: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
        """Return a thing by its name. Raises `Problem` 404."""
        if name not in things:
            raise Problem(404, f"no {name}")
        return things[name]


def build(on: frozenset[str]) -> Service:
    """The service with these defects, empty."""
    service, bank = Service(DOCUMENT), Bank(on)

    @service.operation("POST /session")
    def entered(asked: Asked) -> Answer:
        if asked.json != {"user": USER, "pin": PIN}:
            raise Problem(401, "wrong user or pin")
        bank.sessions.add(session := f"sid-{bank.new_id()}")
        return Answer(status=204, headers={"Set-Cookie": f"sid={session}; Path=/; HttpOnly"})

    _accounts(service, bank)
    _cards(service, bank)
    _transfers(service, bank)
    _branches(service, bank)
    _loans(service, bank)
    return service


def _accounts(service: Service, bank: Bank) -> None:
    on = bank.on

    @service.operation(f"GET {_ACCOUNTS}")
    def listed(asked: Asked) -> Answer:
        bank.enter(asked)
        found = list(bank.accounts.values())
        if "accounts-unnamed" in on:
            found = [{key: value for key, value in one.items() if key != "currency"} for one in found]
        return Answer({"data": found})

    @service.operation(f"POST {_ACCOUNT}", lenient=maybe("account-unchecked" in on, "body currency"))
    def added(asked: Asked) -> Answer:
        bank.enter(asked)
        given, name = asked.json, asked.path["name"]
        limit = given.get("limit", 0)
        if "account-limit" in on and limit > 900:
            return Answer({"detail": "overflow"}, 500)
        if name in bank.accounts:
            raise Problem(409, "the account exists already")
        currency = given.get("currency")
        bank.accounts[name] = {
            "name": name, "currency": currency if currency in _CURRENCY["enum"] else "EUR", "limit": limit,
        }  # fmt: skip
        bank.cards[name], bank.transfers[name] = {}, {}
        return Answer({"account": bank.accounts[name]}, 201)

    @service.operation(f"GET {_ACCOUNT}")
    def shown(asked: Asked) -> Answer:
        account = bank.account(asked)
        return Answer(
            {"account": {**account, "limit": str(account["limit"])} if "account-limit-text" in on else account}
        )

    @service.operation(f"PATCH {_ACCOUNT}")
    def changed(asked: Asked) -> Answer:
        account, limit = bank.account(asked), asked.json["limit"]
        if "account-raised" in on and limit > account["limit"] + 50:
            return Answer({"detail": "raised"}, 500)
        account["limit"] = limit
        return Answer({"account": account})

    @service.operation(f"DELETE {_ACCOUNT}")
    def removed(asked: Asked) -> Answer:
        account = bank.account(asked)
        if "account-stays" not in on:
            del bank.accounts[account["name"]]
        return Answer(status=204)


def _cards(service: Service, bank: Bank) -> None:
    on = bank.on

    def card_of(asked: Asked) -> dict[str, Any]:
        return bank.found(bank.cards[bank.account(asked)["name"]], asked.path["card_id"])

    @service.operation(f"GET {_CARDS}")
    def listed(asked: Asked) -> Answer:
        cards = list(bank.cards[bank.account(asked)["name"]].values())
        return Answer({"data": cards}, media_type="text/html" if "cards-untyped" in on else "application/json")

    @service.operation(f"POST {_CARDS}")
    def added(asked: Asked) -> Answer:
        name, given = bank.account(asked)["name"], asked.json
        limit = given.get("limit", 0)
        if "card-limit" in on and limit > 500:
            return Answer({"detail": "limit"}, 500)
        card = {"id": bank.new_id(), "holder": given["holder"], "state": "active", "limit": limit}
        bank.cards[name][str(card["id"])] = card
        return Answer({"data": card}, 201)

    @service.operation(f"GET {_CARD}")
    def shown(asked: Asked) -> Answer:
        if "card-open" in on:
            return Answer({"data": bank.found(bank.cards.get(asked.path["name"], {}), asked.path["card_id"])})
        return Answer({"data": card_of(asked)})

    @service.operation(f"DELETE {_CARD}")
    def removed(asked: Asked) -> Answer:
        card = card_of(asked)
        del bank.cards[asked.path["name"]][card["id"]]
        return Answer(status=202 if "card-accepted" in on else 204)

    @service.operation(f"POST {_CARD}/block")
    def blocked(asked: Asked) -> Answer:
        card = card_of(asked)
        if card["state"] == "blocked":
            if "card-blocked-twice" in on:
                return Answer({"detail": "blocked"}, 500)
            raise Problem(409, "the card is blocked")
        card["state"] = "blocked"
        return Answer({"data": card})


def _transfers(service: Service, bank: Bank) -> None:
    on = bank.on

    @service.operation(f"GET {_TRANSFERS}")
    def listed(asked: Asked) -> Answer:
        return Answer({"data": list(bank.transfers[bank.account(asked)["name"]].values())})

    @service.operation(f"POST {_TRANSFERS}")
    def added(asked: Asked) -> Answer:
        name, given = bank.account(asked)["name"], asked.json
        if "transfer-to-self" in on and given["to_account"] == name:
            return Answer({"detail": "deadlock"}, 500)
        bank.found(bank.accounts, given["to_account"])
        made = {"id": f"tr-{next(bank.numbers) + 100000}", "to_account": given["to_account"], "amount": given["amount"]}
        bank.transfers[name][made["id"]] = made
        return Answer({"transfer": made}, 201)

    @service.operation(f"GET {_TRANSFER}")
    def shown(asked: Asked) -> Answer:
        found = bank.found(bank.transfers[bank.account(asked)["name"]], asked.path["transfer_id"])
        if "transfer-amount-text" in on:
            found = {**found, "amount": f"{found['amount']} cents"}
        return Answer({"transfer": found})


def _branches(service: Service, bank: Bank) -> None:
    on = bank.on

    @service.operation(f"GET {_BRANCHES}")
    def listed(asked: Asked) -> Answer:
        bank.enter(asked)
        return Answer({"data": bank.branches})

    @service.operation(f"GET {_BRANCH}")
    def shown(asked: Asked) -> Answer:
        bank.enter(asked)
        found = bank.found({one["branch_code"]: one for one in bank.branches}, asked.path["branch_code"])
        if "branch-rooms" in on and float(asked.one("rooms", "0")) > 700:
            return Answer({"detail": "rooms"}, 500)
        if "branch-cityless" in on:
            found = {key: value for key, value in found.items() if key != "city"}
        return Answer({"data": found})


def _loans(service: Service, bank: Bank) -> None:
    on = bank.on

    @service.operation(f"POST {_LOANS}")
    def added(asked: Asked) -> Answer:
        bank.enter(asked)
        given = asked.json
        bank.found(bank.accounts, given["account"])
        if "loan-large" in on and given["amount"] > 300:
            return Answer({"detail": "too large"}, 500)
        loan = {"id": bank.new_id(), "account": given["account"], "amount": given["amount"]}
        bank.loans[str(loan["id"])] = loan
        return Answer({"data": loan}, 201)

    @service.operation(f"GET {_LOAN}")
    def shown(asked: Asked) -> Answer:
        bank.enter(asked)
        loan = bank.found(bank.loans, asked.path["loan_id"])
        return Answer({"data": {**loan, "amount": None} if "loan-null" in on else loan})


def _log_in(url: str) -> dict[str, str]:
    payload = json.dumps({"user": USER, "pin": PIN}).encode()
    asked = urllib.request.Request(f"{url}/session", payload, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked) as answer:
        session = answer.headers["Set-Cookie"].partition(";")[0].partition("=")[2]
    return {"CHECKER_X_PARTNER_KEY": PARTNER, "CHECKER_TOKEN_SESSION": session, "CHECKER_SID": session}


def bank() -> Restartable:
    """The bank with all its defects."""
    return Restartable(DOCUMENT, CONFIG, DEFECTS, build, _log_in)
