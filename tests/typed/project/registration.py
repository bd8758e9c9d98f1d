"""Hooks, checks, authentication, bodies, formats, scalars, constants."""

import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import hypothesis.strategies as st

import checker
from checker import Case, Response


@checker.hook
def filter_query(ctx: checker.HookContext, query: dict[str, Any]) -> bool:
    return "bad" not in query


@checker.hook("map_headers")
def with_header(ctx: checker.HookContext, headers: dict[str, Any]) -> dict[str, Any]:
    return {**headers, "X-Mine": "1"}


@checker.hook.apply_to(method="POST").skip_for(path=["/a", "/b"], name_regex=re.compile("x"))
def before_call(ctx: checker.HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    kwargs["timeout"] = 3


checker.hooks.unregister(before_call)


@checker.check
def is_json(ctx: checker.CheckContext, response: Response, case: Case) -> None:
    response.json()


@checker.check(statuses=[200])
class IsCounted:
    """Counts answers."""

    def __init__(self, limit: int = 10) -> None:
        self.limit = limit
        self.seen: set[str] = set()

    def after_response(self, ctx: checker.CheckContext, response: Response, case: Case) -> None:
        self.seen.add(case.id)

    def after_run(self, ctx: object) -> None:
        if len(self.seen) < self.limit:
            raise AssertionError("too few")


function: checker.CheckFunction = is_json


@checker.auth(refresh_interval=None, retry_on=[401, 403], cache_by_key=lambda case, ctx: case.path)
class Token:
    """A token of the API."""

    def get(self, case: Case, ctx: checker.AuthContext) -> str:
        return ctx.operation.path

    def set(self, case: Case, data: str, ctx: checker.AuthContext) -> None:
        case.headers["Authorization"] = f"Bearer {data}"


def provider(schema: checker.BaseSchema, signer: object) -> checker.AuthProvider:
    checker.auth.set_from_requests(signer).apply_to(method="GET").skip_for(path_regex="^/open")

    @schema.auth(refresh_interval=5).apply_to(path="/users").skip_for(method="GET")
    class Other(Token):
        """Another one."""

    @schema.auth(Other)
    def test_api(case: Case) -> None:
        case.call()

    schema.auth.set_from_requests(signer)
    return Other()


@checker.metric
def size(ctx: checker.MetricContext) -> float:
    return len(ctx.response.content) + len(ctx.case.query)


metric: checker.MetricFunction = size


@checker.serializer("application/x-mine", "text/mine")
def to_mine(ctx: checker.SerializationContext, value: Any) -> bytes | None:
    return None if ctx.case is None else str(value).encode()


checker.serializer.alias("text/other", "text/mine")


@checker.deserializer("text/*")
def from_mine(ctx: checker.DeserializationContext, response: Response) -> object:
    return response.text


checker.openapi.format("card", st.from_regex(r"\A\d{16}\Z"))
checker.openapi.media_type("image/png", st.binary(), aliases=["image/x-png"])
checker.graphql.scalar("Date", st.dates().map(str).map(checker.graphql.nodes.String))
checker.graphql.scalar("Count", st.integers().map(checker.graphql.nodes.Int))
checker.graphql.scalar("Share", st.floats().map(checker.graphql.nodes.Float))


@checker.python.constants
def literals() -> ModuleType:
    return re


def hooks_of(schema: checker.BaseSchema) -> None:
    @schema.hook
    def map_body(ctx: checker.HookContext, body: Any) -> Any:
        return body

    @schema.hooks.apply(map_body, name="map_query")
    def test_api(case: Case) -> None:
        case.call()


class Mine(checker.BaseSchema):
    """A schema with extension points of its own."""

    def build_request_url(self, case: Case, base_url: str) -> str:
        return super().build_request_url(case, base_url) + "/"

    def get_custom_format_strategies(self, generation_config: Any, mode: Any) -> Mapping[str, st.SearchStrategy[str]]:
        return {"card": st.just("1")}

    def prepare_request_body(self, body: Any) -> Any:
        return {"mine": body}


class Expiring(checker.credentials.CredentialSource):
    """Credentials of a service."""

    name = "mine"

    def fetch(self, case: Case) -> checker.credentials.Credentials:
        return checker.credentials.Credentials(headers={"X-Token": "1"})


checker.credentials.register(Expiring())
