"""A kind of description made outside the package, of public names: text commands that are sent over HTTP."""

import re
from pathlib import Path
from typing import Any

from checker import kinds

MAGIC, MEDIA_TYPE = b"commands 1\n", "application/x-command"


class Answer:
    """Promises `ok` and a number."""

    reads_prefix = refuses_compressed = False

    def is_valid(self, content: bytes) -> bool:
        return re.fullmatch(rb"ok -?[0-9]+", content) is not None

    def opinions(self, content: bytes) -> Any:
        text = content.decode("utf-8", "replace")
        says = f"{text!r} is not `ok` and a number"
        wrong = kinds.SchemaViolation(("answer",), "#1", (), "answer", says, "ok NUMBER", text)
        return kinds.BodyOpinions((wrong,))


class Contract:
    """Answers with 200, or says that it failed."""

    def plan(self, status: int, content_type: str | None) -> Any:
        documented, body = kinds.MediaTypeVerdict.DOCUMENTED, Answer() if status == 200 else None
        known = ("200", "500")
        return kinds.ResponsePlan(str(status) in known, known, documented, ("text/plain",), body)


def put() -> Any:
    """Its body is drawn from a JSON Schema, and written here."""
    key, number = {"type": "string", "pattern": "^[a-z]{1,8}$"}, {"type": "integer", "minimum": 0}
    schema = {"type": "array", "prefixItems": [key, number], "minItems": 2, "maxItems": 2}

    def write(value: list[Any]) -> bytes:
        return f"put {value[0]} {value[1]}".encode()

    body = kinds.Body(MEDIA_TYPE, kinds.json_schema(schema), "#put", {}, write=write)
    return {"method": "PUT", "bodies": (body,), "body_required": True}


def add() -> Any:
    """Its body is drawn here."""

    def draw(source: Any) -> tuple[bytes, str]:
        numbers = [source.integer(-9, 9)]
        while source.boolean(0.6):
            numbers.append(source.integer(-9, 9))
        return " ".join(["add", *map(str, numbers)]).encode(), "application/octet-stream"

    return {"draw": lambda compiler: {kinds.Location.BODY: draw}}


class Commands:
    name = "commands"

    def claims(self, name: str) -> bool:
        return name.endswith(".commands")

    def open(self, source: Any, options: Any) -> Any:
        if not isinstance(source, kinds.FileSource):
            raise kinds.ForeignDescription("commands are read from files")
        return self.reopen(Path(source.path).read_bytes())

    def reopen(self, data: bytes) -> Any:
        if not data.startswith(MAGIC):
            raise kinds.ForeignDescription(f"the first line is not {MAGIC!r}")
        title, url = data.decode().split("\n")[1:3]
        made = {kinds.Label("do put"): put(), kinds.Label("do add"): add()}
        operations = [kinds.DeclaredOperation(n, Contract(), **m) for n, m in made.items()]
        return kinds.DeclaredSchema(self.name, "Commands 1", data, tuple(operations), title, url)


kinds.register(Commands())
