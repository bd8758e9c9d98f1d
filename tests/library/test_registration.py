"""What users register by name acts in cases, in requests and in verdicts."""

from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import find
from hypothesis import strategies as st

import checker
from checker.core.registry import BODY_STRATEGIES, DESERIALIZERS, SERIALIZERS


@pytest.fixture(autouse=True)
def forget():
    yield
    for registry in (SERIALIZERS, DESERIALIZERS, BODY_STRATEGIES):
        registry.clear()


def described(request_type: str = "application/json", answer_type: str = "application/json") -> Any:
    item = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Items", "version": "1"},
        "paths": {
            "/items": {
                "post": {
                    "requestBody": {"required": True, "content": {request_type: {"schema": item}}},
                    "responses": {"200": {"description": "", "content": {answer_type: {"schema": item}}}},
                }
            }
        },
    }


def operation_of(document: Any, url: str = "http://127.0.0.1:1") -> Any:
    schema = checker.openapi.from_dict(document)
    schema.config.update(base_url=url)
    return schema["/items"]["POST"]


def test_a_serializer_writes_bodies_and_knows_their_case(api) -> None:
    seen = []

    @checker.serializer("application/x-mine")
    def mine(ctx: checker.SerializationContext, value: Any) -> bytes:
        seen.append(None if ctx.case is None else ctx.case.operation.label)
        return b"mine:" + str(value["id"]).encode()

    operation = operation_of(described("application/x-mine"), api.url)
    operation.Case(body={"id": 7}).call()
    _, _, headers, body = api.requests[0]
    assert (headers["content-type"], body) == ("application/x-mine", b"mine:7")
    assert seen == ["POST /items"]
    assert isinstance(find(operation.as_strategy(), lambda case: True).body["id"], int)


def test_without_a_serializer_the_operation_says_so() -> None:
    operation = operation_of(described("application/x-mine"))
    with pytest.raises(checker.errors.SerializationError, match="application/x-mine"):
        find(operation.as_strategy(), lambda case: True)


def test_a_serializer_takes_the_place_of_ours_and_may_leave_the_body_out(api) -> None:
    @checker.serializer("application/json")
    def none(ctx: checker.SerializationContext, value: Any) -> None:
        return None

    operation_of(described(), api.url).Case(body={"id": 7}).call()
    _, _, headers, body = api.requests[0]
    assert ("content-type" in headers, body) == (False, b"")


@pytest.mark.parametrize(("given", "sentence"), [(7, "must give bytes or None, got int"), (None, "raised IndexError")])
def test_what_goes_wrong_in_a_serializer_is_told(given: Any, sentence: str) -> None:
    @checker.serializer("application/json")
    def wrong(ctx: checker.SerializationContext, value: Any) -> Any:
        return [][0] if given is None else given

    with pytest.raises(checker.errors.SerializationError, match=sentence):
        operation_of(described()).Case(body={"id": 7}).call()


def test_aliases_share_a_serializer(api) -> None:
    checker.serializer("application/x-mine")(lambda ctx, value: b"mine")
    checker.serializer.alias(["application/x-yours"], "application/x-mine")
    operation_of(described("application/x-yours"), api.url).Case(body={"id": 7}).call()
    assert api.requests[0][3] == b"mine"


@pytest.mark.parametrize(
    ("source", "body"),
    [
        ("application/json", {"id": 7}),
        ("application/yaml", {"id": 7}),
        ("application/xml", {"id": 7}),
        ("application/x-www-form-urlencoded", {"id": 7}),
        ("text/plain", "seven"),
        ("application/octet-stream", b"seven"),
    ],
)
def test_aliases_of_built_in_media_types_send_the_same_bytes(source: str, body: Any) -> None:
    checker.serializer.alias("application/x-mine", source)
    bodies = []
    for media_type in (source, "application/x-mine"):
        case = operation_of(described(media_type)).Case(body=body, media_type=media_type)
        bodies.append(case.as_transport_kwargs()["data"])
    assert bodies[0] == bodies[1]
    assert case.as_transport_kwargs()["headers"]["Content-Type"] == "application/x-mine"


def test_an_alias_of_multipart_names_the_boundary_of_its_bytes() -> None:
    checker.serializer.alias("application/x-mine", "multipart/form-data")
    operation = operation_of(described("application/x-mine"))
    sent = operation.Case(body={"id": 7}).as_transport_kwargs()
    name, _, boundary = sent["headers"]["Content-Type"].partition("; boundary=")
    assert name == "application/x-mine"
    assert sent["data"].startswith(b"--" + boundary.encode())


def test_cases_are_drawn_for_an_alias_of_a_built_in_media_type() -> None:
    checker.serializer.alias("application/x-mine", "application/json")
    operation = operation_of(described("application/x-mine"))
    assert isinstance(find(operation.as_strategy(), lambda case: True).body["id"], int)


def test_an_alias_of_a_built_in_deserializer_judges_answers() -> None:
    checker.deserializer.alias("application/x-mine", "application/json")
    case = operation_of(described(answer_type="application/x-mine")).Case(body={"id": 7})
    headers = [("Content-Type", "application/x-mine")]
    case.validate_response(checker.Response(200, headers, b'{"id": 7}'))
    with pytest.raises(checker.errors.FailureGroup):
        case.validate_response(checker.Response(200, headers, b'{"id": "x"}'))


@pytest.mark.parametrize(
    ("target", "source", "sentence"),
    [
        ("text/a", "text/unknown", "no serializer is registered for 'text/unknown'"),
        ("", "text/known", "the target must name a media type"),
        ([], "text/known", "the target must name a media type"),
    ],
)
def test_wrong_aliases(target: Any, source: str, sentence: str) -> None:
    checker.serializer("text/known")(lambda ctx, value: b"")
    with pytest.raises(ValueError, match=sentence):
        checker.serializer.alias(target, source)


def test_registration_is_for_media_types() -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="is not a media type"):
        checker.serializer("nonsense")(lambda ctx, value: b"")
    with pytest.raises(checker.errors.IncorrectUsage, match=r"`@checker.deserializer\('text/csv'\)`"):
        checker.deserializer(lambda ctx, response: None)  # type: ignore[arg-type]


def test_a_deserializer_gives_what_is_judged() -> None:
    seen: list[Any] = []

    @checker.deserializer("application/*")
    def mine(ctx: checker.DeserializationContext, response: checker.Response) -> Any:
        seen.append((ctx.operation.label, ctx.case, response.status_code))
        return {"id": response.content.decode()} if response.content != b"7" else {"id": 7}

    operation = operation_of(described(answer_type="application/x-mine"))
    headers = [("Content-Type", "application/x-mine")]
    case = operation.Case(body={"id": 7})
    case.validate_response(checker.Response(200, headers, b"7"))
    assert seen == [("POST /items", case, 200)]
    with pytest.raises(checker.errors.FailureGroup, match="Response violates schema"):
        case.validate_response(checker.Response(200, headers, b"seven"))
    with pytest.raises(checker.errors.FailureGroup, match="Server error"):
        case.validate_response(checker.Response(500, headers, b"7"))


def test_a_deserializer_that_raises_is_reported() -> None:
    @checker.deserializer("application/x-mine")
    def broken(ctx: checker.DeserializationContext, response: checker.Response) -> Any:
        raise RuntimeError("no")

    case = operation_of(described(answer_type="application/x-mine")).Case(body={"id": 7})
    headers = [("Content-Type", "application/x-mine")]
    with pytest.raises(checker.errors.FailureGroup, match="deserializer raised RuntimeError: no"):
        case.validate_response(checker.Response(200, headers, b"7"))


def test_bodies_of_a_media_type_are_drawn_from_a_strategy(api) -> None:
    strategy = st.sampled_from([b"%PDF-1", b"%PDF-2"])
    checker.openapi.media_type("application/x-pdf", strategy, aliases=["application/x-other"])
    for media_type in ("application/x-pdf", "application/x-other"):
        operation = operation_of(described(media_type), api.url)
        case = find(operation.as_strategy(), lambda case: case.body == b"%PDF-2")
        case.call()
        assert api.requests[-1][3] == b"%PDF-2"
        assert api.requests[-1][2]["content-type"] == media_type
    with pytest.raises(checker.errors.IncorrectUsage, match="a Hypothesis strategy of bytes, got b''"):
        checker.openapi.media_type("application/x-pdf", b"")


def test_what_is_registered_acts_in_whole_runs(api) -> None:
    checker.openapi.media_type("application/x-pdf", st.just(b"%PDF-1"))
    schema = checker.openapi.from_dict(described("application/x-pdf"))
    schema.config.update(base_url=api.url)
    schema.config.phases.update(phases=["fuzzing"])
    schema.config.generation.update(max_examples=3, modes=["positive"])
    result = checker.engine.from_schema(schema).execute().finish()
    assert result.errors == ()
    assert {body for method, _, _, body in api.requests if method == "POST"} == {b"%PDF-1"}


def test_what_is_neither_a_function_nor_a_class_is_no_check() -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="a function or a class, got 3"):
        checker.check(3)  # type: ignore[call-overload]


@pytest.mark.parametrize("register", [checker.serializer, checker.deserializer])
@pytest.mark.parametrize(
    ("function", "is_taken"),
    [
        (lambda ctx: b"", False),
        (lambda ctx, value, more: b"", False),
        (lambda ctx, value: b"", True),
        (lambda *arguments: b"", True),
    ],
)
def test_what_cannot_be_called_with_context_and_value_is_refused(register: Any, function: Any, is_taken: bool) -> None:
    refusing = pytest.raises(checker.errors.IncorrectUsage, match="takes two arguments, context and")
    with nullcontext() if is_taken else refusing:
        register("text/x-two")(function)
    found = SERIALIZERS.find("text/x-two") or DESERIALIZERS.find("text/x-two")
    assert (found is function) is is_taken


@pytest.mark.parametrize("decorator", [checker.serializer, checker.deserializer])
def test_what_cannot_be_called_writes_and_reads_nothing(decorator) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="must be a function of context and value"):
        decorator("application/x-nothing")(5)


async def of_two(ctx: Any, value: Any) -> Any:
    return value


# Type checkers refuse some of these, too.
awaited: Any = of_two


async def of_three(ctx: Any, response: Any, case: Any) -> None: ...


class Awaited:
    async def __call__(self, ctx: Any, value: Any) -> Any: ...
    async def get(self, case: Any, ctx: Any) -> str:
        return "token"

    def set(self, case: Any, data: str, ctx: Any) -> None: ...
    async def after_response(self, ctx: Any, response: Any, case: Any) -> None: ...


@pytest.mark.parametrize(
    ("register", "what"),
    [
        (lambda: checker.hook("map_query")(of_two), "hook 'map_query'"),
        (lambda: checker.hook("map_query")(Awaited()), "hook 'map_query'"),
        (lambda: checker.check(of_three), "check 'of_three'"),
        (lambda: checker.check(Awaited), "check Awaited: after_response"),
        (lambda: checker.serializer("text/csv")(of_two), "serializer 'text/csv'"),
        (lambda: checker.metric(awaited), "metric 'of_two'"),
        (lambda: checker.python.constants(of_two), "a source of constants"),
        (lambda: checker.auth()(Awaited), "`get` of an authentication provider"),
        (lambda: checker.auth().apply_to(awaited), "a filter function"),
        (lambda: checker.hook.apply_to(awaited), "a filter function"),
        (
            lambda: (
                operation_of(described())
                .Case(body={"id": 1})
                .validate_response(checker.Response(200, {}), checks=of_three)
            ),
            "check 'of_three'",
        ),
    ],
)
def test_what_is_async_is_refused(register, what: str) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="is `async`, and nothing awaits") as it:
        register()
    assert str(it.value).startswith(what)


def test_settings_of_a_check_that_is_not_registered_yet_say_where_to_register_it(document) -> None:
    config = checker.Config.from_dict({"checks": {"later": {"enabled": True}}})
    with pytest.raises(checker.errors.ConfigError, match="before the schema is loaded"):
        checker.openapi.from_dict(document, config=config)
