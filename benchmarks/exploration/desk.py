"""A help desk: tickets, comments, search, templates, webhooks. Injections by effect, leaks in errors, tokens after logout."""

import json
import re
import sqlite3
import time
from itertools import count
from typing import Any

from benchmarks.exploration.engine import Answer, Ask, Defect, Json, Problem, Service

_INJECTION = ("injection", "error_disclosure", "not_a_server_error")
_DISCLOSURE = ("error_disclosure",)
_TICKET = "/tickets/{ticket_id}"
DEFECTS = (
    Defect("search-is-sql", "injection", 1, "GET /search", _INJECTION),
    Defect("sort-is-sql", "injection", 1, "GET /tickets", _INJECTION),
    Defect("template-is-evaluated", "injection", 1, "POST /templates/preview", ("injection",)),
    Defect("attachment-outside-folder", "injection", 1, "GET /attachments", ("injection",)),
    Defect("webhook-fetches-any-address", "injection", 1, "POST /webhooks", ("injection",)),
    Defect("redirect-splits-header", "injection", 1, "GET /go", ("injection",)),
    Defect("stack-trace-shown", "leak", 2, f"POST {_TICKET}/assign", _DISCLOSURE),
    Defect("sql-shown", "leak", 1, "POST /tags", _DISCLOSURE),
    Defect("path-shown", "leak", 2, f"POST {_TICKET}/export", _DISCLOSURE),
    Defect("token-after-logout", "access", 3, "GET /me", ("session_ends",)),
    Defect(
        "role-can-be-set",
        "semantics",
        1,
        "POST /agents",
        ("mass_assignment", "read_your_writes"),
        ("GET /agents/{agent_id}",),
    ),
    Defect("quadratic-preview", "semantics", 1, "POST /templates/preview", ("latency",)),
    Defect("closed-without-solution", "state", 3, f"POST {_TICKET}/close"),
    Defect("reopened-open-ticket", "state", 2, f"POST {_TICKET}/reopen"),
    Defect("third-reopening", "state", 8, f"POST {_TICKET}/reopen"),
    Defect("assigned-to-deleted-agent", "id", 4, f"POST {_TICKET}/assign"),
    Defect("merged-with-itself", "id", 2, f"POST {_TICKET}/merge"),
    Defect("merged-with-closed", "id", 5, f"POST {_TICKET}/merge"),
    Defect("comment-on-merged", "id", 4, f"POST {_TICKET}/comments"),
    Defect("reply-to-comment-of-other-ticket", "id", 4, f"POST {_TICKET}/comments"),
    Defect("urgent-without-due-date", "pair", 1, "POST /tickets"),
    Defect("due-date-in-past-when-urgent", "pair", 1, "POST /tickets"),
    Defect(
        "put-not-idempotent",
        "semantics",
        3,
        "PUT /tags/{tag}",
        ("read_your_writes", "update_conformance"),
        ("GET /tags/{tag}",),
    ),
    Defect("head-differs-from-get", "semantics", 2, f"GET {_TICKET}", ("safe_methods",)),
    Defect(
        "read-marks-as-changed", "semantics", 2, f"GET {_TICKET}", ("safe_methods", "read_your_writes", "refused_write")
    ),
    Defect(
        "deleted-comment-still-listed",
        "state",
        4,
        f"GET {_TICKET}/comments",
        ("use_after_free", "read_your_writes"),
        ("DELETE /comments/{comment_id}", "GET /comments/{comment_id}"),
    ),
    Defect("priority-not-filtered", "semantics", 3, "GET /tickets", ("collection_conformance",)),
)
_TEXT = {"type": "string", "minLength": 1, "maxLength": 60}
_ID = {"type": "string"}
_OBJECT = {"type": "object", "additionalProperties": False}
_PRIORITIES = ["low", "normal", "urgent"]
_STATES = ["open", "solved", "closed", "merged"]
SCHEMAS: Json = {
    "NewTicket": {
        "type": "object",
        "properties": {"title": _TEXT, "priority": {"enum": _PRIORITIES}, "due": {"type": "string", "format": "date"}},
        "required": ["title", "priority"],
        "additionalProperties": False,
    },
    "Ticket": {
        "type": "object",
        "properties": {
            "id": _ID,
            "title": _TEXT,
            "priority": {"enum": _PRIORITIES},
            "due": {"type": "string"},
            "status": {"enum": _STATES},
            "agent_id": {"type": ["string", "null"]},
            "revision": {"type": "integer", "readOnly": True},
        },
        "required": ["id", "title", "priority", "status", "revision"],
    },
    "Comment": {
        "type": "object",
        "properties": {"id": _ID, "text": _TEXT, "reply_to": {"type": ["string", "null"]}},
        "required": ["id", "text"],
    },
    "Agent": {
        "type": "object",
        "properties": {"id": _ID, "name": _TEXT, "role": {"enum": ["agent", "admin"], "readOnly": True}},
        "required": ["id", "name", "role"],
    },
    "Tag": {
        "type": "object",
        "properties": {"tag": {"type": "string"}, "colours": {"type": "array", "items": {"type": "string"}}},
        "required": ["tag", "colours"],
    },
    "Text": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "Session": {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]},
}
_TICKETS = {"type": "array", "items": {"$ref": "#/components/schemas/Ticket"}}
_TRACE = (
    'Traceback (most recent call last):\n  File "/srv/desk/app/views.py", line 88, in assign\n    agent = agents[key]\n'
    "KeyError: 'unassigned'"
)


def build(*, is_fixed: bool) -> Service:
    """Return the help desk, or its twin without defects."""
    service = Service("desk", DEFECTS, SCHEMAS, is_fixed)
    tickets: dict[str, Json] = {}
    reopened: dict[str, int] = {}
    comments: dict[str, Json] = {}
    gone_comments: set[str] = set()
    agents: dict[str, Json] = {}
    gone_agents: set[str] = set()
    tags: dict[str, Json] = {}
    sessions: set[str] = set()
    ended: set[str] = set()
    numbers = count(1)

    def get(shelf: dict[str, Any], key: str, word: str) -> Any:
        if key not in shelf:
            raise Problem(404, f"{word} not found")
        return shelf[key]

    def rows(statement: str, *values: str) -> list[str]:
        """Return the identifiers of the tickets that a statement selects from a table of them."""
        base = sqlite3.connect(":memory:")
        base.execute("create table ticket (id text, title text, priority text)")
        base.executemany("insert into ticket values (:id, :title, :priority)", list(tickets.values()))
        try:
            return [row[0] for row in base.execute(statement, values)]
        finally:
            base.close()

    @service.route("GET /search", {200: _TICKETS}, query={"q": {**_TEXT, "required": True}})
    def search(ask: Ask) -> Answer:
        text = ask.query["q"]
        if "'" in text and service.bug("search-is-sql"):
            try:
                keys = rows(f"select id from ticket where title like '%{text}%'")
            except sqlite3.Error as error:
                return Answer({"message": f"sqlite3.OperationalError: {error}"}, 500)
        else:
            keys = rows("select id from ticket where instr(title, ?)", text)
        return Answer([tickets[key] for key in keys])

    @service.route(
        "GET /tickets",
        {200: _TICKETS},
        query={
            "priority": {"type": "string", "enum": _PRIORITIES},
            "sort": {
                "type": "string",
                "maxLength": 20,
                "default": "id",
                "description": "`id`, `title` or `priority`; anything else is ignored",
            },
        },
    )
    def list_tickets(ask: Ask) -> Answer:
        key = ask.query["sort"]
        found = list(tickets.values())
        if "priority" in ask.query:
            right = [one for one in found if one["priority"] == ask.query["priority"]]
            is_wrong = ask.query["priority"] == "low" and right and len(right) < len(found)
            found = found if is_wrong and service.bug("priority-not-filtered") else right
        if key not in ("id", "title", "priority"):
            if re.search(r"['\"();]", key) and service.bug("sort-is-sql"):
                return Answer({"message": f'near "{key}": syntax error in: SELECT * FROM ticket ORDER BY {key}'}, 500)
            key = "id"
        return Answer(sorted(found, key=lambda one: (one[key], int(one["id"][1:]))))

    @service.route("POST /tickets", {201: "Ticket"}, body="NewTicket")
    def create_ticket(ask: Ask) -> Answer:
        body = ask.body
        if body["priority"] == "urgent":
            if "due" not in body:
                service.crash("urgent-without-due-date")
            elif body["due"] < "2000-01-01":
                service.crash("due-date-in-past-when-urgent")
        ticket = {"id": f"t{next(numbers)}", **body, "status": "open", "agent_id": None, "revision": 1}
        tickets[ticket["id"]] = ticket
        return Answer(ticket, 201, (("Location", f"/tickets/{ticket['id']}"),))

    def ticket_of(ask: Ask) -> Json:
        found: Json = get(tickets, ask.path["ticket_id"], "ticket")
        return found

    @service.route(f"GET {_TICKET}", {200: "Ticket"})
    def get_ticket(ask: Ask) -> Answer:
        ticket = ticket_of(ask)
        shown = dict(ticket)
        if ticket["priority"] == "low" and service.bug("read-marks-as-changed"):
            ticket["revision"] += 1
        if ask.method == "HEAD" and service.bug("head-differs-from-get"):
            raise Problem(404, "ticket not found")
        return Answer(shown)

    def must_be(ticket: Json, *statuses: str) -> None:
        if ticket["status"] not in statuses:
            raise Problem(409, f"the ticket is {ticket['status']}, not {' or '.join(statuses)}")

    def change(ticket: Json, **values: Any) -> Answer:
        ticket |= values
        ticket["revision"] += 1
        return Answer(ticket)

    @service.route(f"POST {_TICKET}/solve", {200: "Ticket", 409: "Error"})
    def solve(ask: Ask) -> Answer:
        ticket = ticket_of(ask)
        must_be(ticket, "open")
        return change(ticket, status="solved")

    @service.route(f"POST {_TICKET}/close", {200: "Ticket", 409: "Error"})
    def close(ask: Ask) -> Answer:
        ticket = ticket_of(ask)
        if ticket["status"] == "open" and ticket["agent_id"] is not None:
            service.crash("closed-without-solution")
        must_be(ticket, "solved")
        return change(ticket, status="closed")

    @service.route(f"POST {_TICKET}/reopen", {200: "Ticket", 409: "Error"})
    def reopen(ask: Ask) -> Answer:
        ticket = ticket_of(ask)
        if ticket["status"] == "open":
            service.crash("reopened-open-ticket")
        must_be(ticket, "solved", "closed")
        reopened[ticket["id"]] = reopened.get(ticket["id"], 0) + 1
        if reopened[ticket["id"]] == 3:
            service.crash("third-reopening")
        return change(ticket, status="open")

    @service.route(
        f"POST {_TICKET}/assign",
        {200: "Ticket", 409: "Error"},
        body={**_OBJECT, "properties": {"agent_id": _ID}, "required": ["agent_id"]},
    )
    def assign(ask: Ask) -> Answer:
        ticket, key = ticket_of(ask), ask.body["agent_id"]
        if key in gone_agents:
            service.crash("assigned-to-deleted-agent")
        if key not in agents:
            if not key.isascii() and service.bug("stack-trace-shown"):
                raise Problem(409, _TRACE)
            raise Problem(409, "unknown agent_id")
        return change(ticket, agent_id=key)

    @service.route(
        f"POST {_TICKET}/merge",
        {200: "Ticket", 409: "Error"},
        body={**_OBJECT, "properties": {"other_ticket_id": _ID}, "required": ["other_ticket_id"]},
    )
    def merge(ask: Ask) -> Answer:
        ticket = ticket_of(ask)
        other = tickets.get(ask.body["other_ticket_id"])
        if other is None:
            raise Problem(409, "unknown other_ticket_id")
        if other is ticket:
            service.crash("merged-with-itself")
            raise Problem(409, "a ticket is not merged with itself")
        if other["status"] == "closed":
            service.crash("merged-with-closed")
        must_be(ticket, "open")
        must_be(other, "open", "solved")
        return change(ticket, status="merged")

    @service.route(
        f"POST {_TICKET}/export",
        {200: "Text", 409: "Error"},
        body={**_OBJECT, "properties": {"format": {"enum": ["text", "csv", "pdf"]}}, "required": ["format"]},
    )
    def export(ask: Ask) -> Answer:
        ticket = ticket_of(ask)
        if ask.body["format"] == "pdf":
            if service.bug("path-shown"):
                raise Problem(409, "cannot open /srv/desk/templates/private/ticket.pdf.tmpl: No such file or directory")
            raise Problem(409, "PDF is not available")
        return Answer({"text": ticket["title"]})

    @service.route(
        f"GET {_TICKET}/comments", {200: {"type": "array", "items": {"$ref": "#/components/schemas/Comment"}}}
    )
    def list_comments(ask: Ask) -> Answer:
        key = ticket_of(ask)["id"]
        mine = [one for one in comments.values() if one["ticket_id"] == key]
        if any(one["id"] in gone_comments for one in mine) and not service.bug("deleted-comment-still-listed"):
            mine = [one for one in mine if one["id"] not in gone_comments]
        return Answer([shown(one) for one in mine])

    def shown(comment: Json) -> Json:
        return {key: comment[key] for key in ("id", "text", "reply_to")}

    @service.route(
        f"POST {_TICKET}/comments",
        {201: "Comment", 409: "Error"},
        body={**_OBJECT, "properties": {"text": _TEXT, "reply_to": _ID}, "required": ["text"]},
    )
    def add_comment(ask: Ask) -> Answer:
        ticket = ticket_of(ask)
        if ticket["status"] == "merged":
            service.crash("comment-on-merged")
            raise Problem(409, "the ticket is merged")
        reply_to = ask.body.get("reply_to")
        if reply_to is not None:
            above = comments.get(reply_to)
            if above is None or reply_to in gone_comments:
                raise Problem(409, "unknown reply_to")
            if above["ticket_id"] != ticket["id"]:
                service.crash("reply-to-comment-of-other-ticket")
                raise Problem(409, "unknown reply_to")
        made = {"id": f"c{next(numbers)}", "ticket_id": ticket["id"], "text": ask.body["text"], "reply_to": reply_to}
        comments[made["id"]] = made
        return Answer(shown(made), 201, (("Location", f"/comments/{made['id']}"),))

    @service.route("GET /comments/{comment_id}", {200: "Comment"})
    def get_comment(ask: Ask) -> Answer:
        if ask.path["comment_id"] in gone_comments:
            raise Problem(404, "comment not found")
        return Answer(shown(get(comments, ask.path["comment_id"], "comment")))

    @service.route("DELETE /comments/{comment_id}", {204: None})
    def delete_comment(ask: Ask) -> Answer:
        key = ask.path["comment_id"]
        if key in gone_comments:
            raise Problem(404, "comment not found")
        get(comments, key, "comment")
        gone_comments.add(key)
        return Answer(None, 204)

    @service.route(
        "POST /agents", {201: "Agent"}, body={"type": "object", "properties": {"name": _TEXT}, "required": ["name"]}
    )
    def create_agent(ask: Ask) -> Answer:
        agent = {"id": f"a{next(numbers)}", "name": ask.body["name"], "role": "agent"}
        if ask.body.get("role") == "admin" and service.bug("role-can-be-set"):
            agent["role"] = "admin"
        agents[agent["id"]] = agent
        return Answer(agent, 201, (("Location", f"/agents/{agent['id']}"),))

    @service.route("GET /agents/{agent_id}", {200: "Agent"})
    def get_agent(ask: Ask) -> Answer:
        return Answer(get(agents, ask.path["agent_id"], "agent"))

    @service.route("DELETE /agents/{agent_id}", {204: None})
    def delete_agent(ask: Ask) -> Answer:
        get(agents, ask.path["agent_id"], "agent")
        del agents[ask.path["agent_id"]]
        gone_agents.add(ask.path["agent_id"])
        return Answer(None, 204)

    @service.route(
        "POST /tags",
        {201: "Tag", 409: "Error"},
        body={**_OBJECT, "properties": {"tag": {"type": "string", "pattern": "^[a-z]{1,12}$"}}, "required": ["tag"]},
    )
    def create_tag(ask: Ask) -> Answer:
        name = ask.body["tag"]
        if name in tags:
            if service.bug("sql-shown"):
                raise Problem(409, "INSERT INTO tag (name) VALUES (?): UNIQUE constraint failed: tag.name")
            raise Problem(409, "this tag exists")
        tags[name] = {"tag": name, "colours": []}
        return Answer(tags[name], 201, (("Location", f"/tags/{name}"),))

    @service.route("GET /tags/{tag}", {200: "Tag"})
    def get_tag(ask: Ask) -> Answer:
        return Answer(get(tags, ask.path["tag"], "tag"))

    @service.route(
        "PUT /tags/{tag}",
        {200: "Tag"},
        body={
            **_OBJECT,
            "properties": {"colours": {"type": "array", "items": {"enum": ["red", "blue", "gold"]}, "maxItems": 3}},
            "required": ["colours"],
        },
    )
    def replace_tag(ask: Ask) -> Answer:
        tag = get(tags, ask.path["tag"], "tag")
        colours = ask.body["colours"]
        if tag["colours"] and colours and service.bug("put-not-idempotent"):
            tag["colours"] = [*tag["colours"], *colours][:10]
        else:
            tag["colours"] = colours
        return Answer({"tag": tag["tag"], "colours": colours})

    @service.route(
        "POST /templates/preview",
        {200: "Text"},
        body={**_OBJECT, "properties": {"template": {"type": "string", "maxLength": 4000}}, "required": ["template"]},
    )
    def preview(ask: Ask) -> Answer:
        text: str = ask.body["template"]
        product = re.search(r"\{\{\s*(\d{1,6})\s*\*\s*(\d{1,6})\s*\}\}", text)
        if product is not None and service.bug("template-is-evaluated"):
            text = text.replace(product[0], str(int(product[1]) * int(product[2])))
        if len(text) > 2000 and service.bug("quadratic-preview"):
            time.sleep(len(text) ** 2 / 4e7)
        return Answer({"text": text})

    @service.route("GET /attachments", {200: "Text", 404: "Error"}, query={"file": {**_TEXT, "required": True}})
    def attachment(ask: Ask) -> Answer:
        name = ask.query["file"]
        if re.search(r"\.\./(\.\./)*etc/passwd", name) and service.bug("attachment-outside-folder"):
            return Answer({"text": "root:x:0:0:root:/root:/bin/sh\n"})
        raise Problem(404, "attachment not found")

    @service.route(
        "POST /webhooks",
        {202: "Text", 409: "Error"},
        body={
            **_OBJECT,
            "properties": {"url": {"type": "string", "format": "uri", "maxLength": 200}},
            "required": ["url"],
        },
    )
    def webhook(ask: Ask) -> Answer:
        found = re.match(r"http://(127\.0\.0\.1|localhost):([0-9]{1,5})(?=[/?#]|$)", ask.body["url"])
        if found is not None and service.bug("webhook-fetches-any-address"):
            service.fetches.append(ask.body["url"])
        return Answer({"text": "registered"}, 202)

    @service.route("GET /go", {302: None}, query={"to": {**_TEXT, "required": True}})
    def go(ask: Ask) -> Answer:
        target = ask.query["to"]
        if "\r\n" in target and service.bug("redirect-splits-header"):
            first, _, rest = target.partition("\r\n")
            name, colon, value = rest.partition(":")
            more = ((name.strip(), value.strip()),) if colon and re.fullmatch(r"[A-Za-z-]+", name.strip()) else ()
            return Answer(None, 302, (("Location", json.dumps(first)[1:-1]), *more))
        return Answer(None, 302, (("Location", "/go/" + json.dumps(target)[1:-1].replace(" ", "%20")),))

    @service.route(
        "POST /sessions",
        {201: "Session"},
        body={**_OBJECT, "properties": {"name": _TEXT}, "required": ["name"]},
        summary="Log in",
    )
    def log_in(ask: Ask) -> Answer:
        token = f"session-{next(numbers) * 7919:08d}"
        sessions.add(token)
        return Answer({"token": token}, 201)

    def session_of(ask: Ask, defect: str) -> str:
        token = ask.headers.get("X-Session") or ""
        if token not in sessions and not (token in ended and defect and service.bug(defect)):
            raise Problem(403, "log in first")
        return str(token)

    session = {"X-Session": {"type": "string", "required": True, "description": "`token` of the session"}}

    @service.route("GET /me", {200: "Session", 403: "Error"}, headers=session)
    def me(ask: Ask) -> Answer:
        return Answer({"token": session_of(ask, "token-after-logout")})

    @service.route("POST /logout", {204: None, 403: "Error"}, headers=session)
    def log_out(ask: Ask) -> Answer:
        token = session_of(ask, "")
        sessions.discard(token)
        ended.add(token)
        return Answer(None, 204)

    return service
