"""User code that asks for every public name of each object that it receives, and writes down which of them raise.

A hooks module of runs, and a module of tests. A new name is asked by itself; a method with arguments needs a row below.
"""

import copy
import inspect
import json
import os
import traceback
from collections.abc import Callable
from typing import Any

import checker
from checker.generation.settings import GenerationSettings

FILE = os.path.abspath("names.txt")
ROOM = checker.transport.WireRequest("GET", b"/probe", [])
KINDS = (
    checker.Case, checker.APIOperation, checker.Response, checker.CheckContext, checker.HookContext,
    checker.AuthContext, checker.MetricContext, checker.SerializationContext, checker.DeserializationContext,
)  # fmt: skip
SENDS = {"call", "call_and_validate", "validate_response", "is_valid_response", "exchange", "as_curl_command", "make"}
"""Methods that a serializer and a deserializer of the same case cannot use: they are called by them."""
Arguments = Callable[[Any, "Received"], tuple[Any, ...]]


class Received:
    """The objects that user code received at one place."""

    def __init__(self, place: str, case: Any, response: Any = None) -> None:
        self.place, self.case = place, case
        found = checker.Response(200, {"Content-Type": "application/x-room"}, b'{"id": 1}')
        self.response = found if response is None else response


ARGUMENTS: dict[str, Arguments] = {
    "Case.validate_response": lambda case, it: (it.response,),
    "Case.get_container": lambda case, it: ("query",),
    "Case.exchange": lambda case, it: (ROOM,),
    "APIOperation.add_parameter": lambda operation, it: (operation.parameters[0],),
    "APIOperation.compile": lambda operation, it: (GenerationSettings(),),
    "APIOperation.get_bodies_for_media_type": lambda operation, it: ("application/x-room",),
    "APIOperation.get_body_for_media_type": lambda operation, it: ("application/x-room",),
    "APIOperation.get_parameter": lambda operation, it: ("id", "path"),
    "APIOperation.get_parameter_set": lambda operation, it: ("path",),
    "APIOperation.is_valid_response": lambda operation, it: (it.response,),
    "APIOperation.judge_request": lambda operation, it: (ROOM,),
    "APIOperation.methods_at": lambda operation, it: ("/probe",),
    "APIOperation.path_behind": lambda operation, it: ("/",),
    "APIOperation.prepare_multipart": lambda operation, it: ({"a": b"x"},),
    "APIOperation.status_of": lambda operation, it: (it.response,),
    "APIOperation.validate_response": lambda operation, it: (it.response,),
    "APIOperation.with_engine": lambda operation, it: (operation.engine,),
    "CheckContext.make": lambda context, it: (it.case,),
    "Response.truncated": lambda response, it: (3,),
}
CHANGING = {"Case.freeze_metadata", "APIOperation.add_parameter"}
"""Methods that change their object: a copy is asked."""
seen: set[tuple[int, str, str]] = set()


def public_names(kind: type) -> list[str]:
    """Return the names of a class that an instance is asked for; constructors are no matter of the place."""
    names = (name for name in dir(kind) if not name.startswith("_"))
    return [name for name in names if not isinstance(inspect.getattr_static(kind, name), classmethod | staticmethod)]


def asked(place: str, case: Any, *others: Any, response: Any = None) -> None:
    """Ask the case, its operation and further objects for all their names, once in each process and place."""
    it = Received(place, case, response)
    for one in (case, case.operation, response, *others):
        kind = next((kind for kind in KINDS if isinstance(one, kind)), None)
        if kind is None or (os.getpid(), place, kind.__name__) in seen:
            continue
        seen.add((os.getpid(), place, kind.__name__))
        title = {"ApiOperation": "APIOperation"}.get(kind.__name__, kind.__name__)
        for name in public_names(kind):
            if name in SENDS and place in ("serializer", "deserializer"):
                continue
            error = ""
            try:
                _ask(one, f"{title}.{name}", inspect.getattr_static(kind, name), it)
            except Exception:  # noqa: BLE001 - reported by the test
                error = traceback.format_exc()
            with open(FILE, "a") as file:
                file.write(json.dumps([place, title, name, error]) + "\n")


def _ask(one: Any, title: str, member: Any, it: Received) -> None:
    one = copy.copy(one) if title in CHANGING else one
    found = getattr(one, title.partition(".")[2])
    if inspect.isfunction(member):
        arguments = ARGUMENTS.get(title)
        found(*(() if arguments is None else arguments(one, it)))


@checker.hook
def before_call(ctx: Any, case: Any, kwargs: Any) -> None:
    asked("before_call", case, ctx)


@checker.hook
def after_call(ctx: Any, case: Any, response: Any) -> None:
    asked("after_call", case, ctx, response=response)


@checker.hook
def after_validate(ctx: Any, case: Any, response: Any, results: Any) -> None:
    asked("after_validate", case, ctx, response=response)


@checker.hook
def filter_case(ctx: Any, case: Any) -> bool:
    asked("filter_case", case, ctx)
    return True


@checker.hook
def map_case(ctx: Any, case: Any) -> Any:
    asked("map_case", case, ctx)
    return case


@checker.hook
def map_query(ctx: Any, query: Any) -> Any:
    asked("map_query", ctx.operation.Case(path_parameters={"id": 1}, body={"id": 1}), ctx)
    return query


@checker.check
def function(ctx: Any, response: Any, case: Any) -> None:
    asked("function", case, ctx, response=response)


@checker.check
def generator(ctx: Any, response: Any, case: Any) -> Any:
    asked("generator", case, ctx, response=response)
    yield ctx.make(case)


@checker.check
class Class:
    def after_response(self, ctx: Any, response: Any, case: Any) -> None:
        asked("class", case, ctx, response=response)


@checker.auth()
class Provider:
    def get(self, case: Any, ctx: Any) -> str:
        asked("get", case, ctx)
        return "token"

    def set(self, case: Any, data: Any, ctx: Any) -> None:
        asked("set", case, ctx)
        case.headers["X-Token"] = data


@checker.serializer("application/x-room")
def write(ctx: Any, value: Any) -> bytes:
    if ctx.case is not None:
        asked("serializer", ctx.case, ctx)
    return json.dumps(value).encode()


@checker.deserializer("application/x-room")
def read(ctx: Any, response: Any) -> Any:
    if ctx.case is not None:
        asked("deserializer", ctx.case, ctx, response=response)
    return json.loads(response.content)


@checker.metric
def size(ctx: Any) -> float:
    asked("metric", ctx.case, ctx, response=ctx.response)
    return float(len(ctx.response.content))
