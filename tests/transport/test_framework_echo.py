"""A server written with FastAPI answers with what it parsed: it equals what was meant, for all that the framework supports.

It has no styles but `simple` in paths, `form` in queries and cookies, lists and objects in exploded queries, JSON, forms
and multipart; what else there is to say is said by openapi-core (`test_second_decoder`).
"""

import asyncio
import base64
import json
from typing import Annotated, Any, cast
from urllib.parse import unquote

import pytest
from fastapi import Body as JsonBody
from fastapi import Cookie, FastAPI, File, Form, Header, Query, Request, UploadFile
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from checker.core.case import Case
from checker.core.operation import Body, Location, Operation
from checker.core.request import BaseUrl, WireRequest
from checker.generation.drawing.places import place_of
from checker.generation.sources.alphabets import text_of
from checker.transport.prepare import RequestMaker
from checker.transport.wire.multipart import file_kind

from .cells import parameter, schema_of
from .test_prepare import Plain

app = FastAPI()


class Shape(BaseModel):
    side: int
    name: str
    tags: list[str]


@app.get("/path/{s}/{n}/{f}/{b}")
def read_path(s: str, n: int, f: float, b: bool) -> Any:
    return {"s": s, "n": n, "f": f, "b": b}


@app.get("/query")
def read_query(
    s: str, n: int, f: float, b: bool, ints: Annotated[list[int], Query()], texts: Annotated[list[str], Query()]
) -> Any:
    return {"s": s, "n": n, "f": f, "b": b, "ints": ints, "texts": texts}


@app.get("/object")
def read_object(shape: Annotated[Shape, Query()]) -> Any:
    return {"shape": shape.model_dump()}


@app.get("/headers")
def read_headers(
    s: Annotated[str, Header(alias="X-S")],
    n: Annotated[int, Header(alias="X-N")],
    b: Annotated[bool, Header(alias="X-B")],
) -> Any:
    return {"X-S": s, "X-N": n, "X-B": b}


@app.get("/cookies")
def read_cookies(s: Annotated[str, Cookie()], n: Annotated[int, Cookie()], b: Annotated[bool, Cookie()]) -> Any:
    return {"s": s, "n": n, "b": b}


@app.post("/json")
def read_json(value: Annotated[Any, JsonBody()]) -> Any:
    return value


@app.post("/form")
def read_form(
    s: Annotated[str, Form()],
    n: Annotated[int, Form()],
    b: Annotated[bool, Form()],
    texts: Annotated[list[str], Form()],
) -> Any:
    return {"s": s, "n": n, "b": b, "texts": texts}


@app.post("/parts")
async def read_parts(
    s: Annotated[str, Form()],
    ints: Annotated[list[int], Form()],
    file: Annotated[UploadFile, File()],
    more: Annotated[list[UploadFile], File()],
    o: Annotated[UploadFile | str, Form()],
) -> Any:
    nested = o if isinstance(o, str) else (await o.read()).decode()
    return {
        "s": s,
        "ints": ints,
        "file": base64.b64encode(await file.read()).decode(),
        "more": [base64.b64encode(await one.read()).decode() for one in more],
        "o": json.loads(nested),
        "about": [file.filename, file.content_type],
    }


@app.post("/raw")
async def read_raw(request: Request) -> Any:
    return base64.b64encode(await request.body()).decode()


def parsed(request: WireRequest) -> Any:
    """What the application makes of a request, called as a server calls it."""
    raw_path, _, query = request.target.partition(b"?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(raw_path.decode("ascii")),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers],
    }
    answers: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": request.body or b"", "more_body": False}

    async def send(message: Any) -> None:
        answers.append(message)

    asyncio.run(app(scope, receive, send))
    content = b"".join(answer.get("body", b"") for answer in answers)
    assert answers[0]["status"] == 200, content
    return json.loads(content)


MAKER = RequestMaker(BaseUrl("http", "127.0.0.1", 80, ""), version="1")


def echoed(method: str, path: str, parameters: tuple[Any, ...] = (), **parts: Any) -> Any:
    bodies: tuple[Body, ...] = ()
    if "media_type" in parts:
        bodies = (Body(parts["media_type"], schema_of({}), "", {}),)
    operation = Plain(method, path, parameters, bodies)
    return parsed(MAKER.make(Case(cast("Operation", operation), "1", **parts)))


UTF8 = text_of("utf-8", allows_nul=False)


def texts(location: Location) -> st.SearchStrategy[str]:
    """What generation sends there."""
    return st.text(st.characters(codec="utf-8"), max_size=12).filter(place_of(location, UTF8, "").carries)


numbers = st.integers(-(2**63), 2**63 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60)
@given(s=texts(Location.PATH), n=numbers, f=floats, b=st.booleans())
def test_paths(**values: Any) -> None:
    declared = tuple(parameter(Location.PATH, "simple", name, explode=False) for name in "snfb")
    assert echoed("GET", "/path/{s}/{n}/{f}/{b}", declared, path_parameters=values) == values


@settings(max_examples=60)
@given(
    s=texts(Location.QUERY),
    n=numbers,
    f=floats,
    b=st.booleans(),
    ints=st.lists(numbers, min_size=1),
    texts=st.lists(texts(Location.QUERY), min_size=1),
)
def test_queries(**values: Any) -> None:
    declared = tuple(parameter(Location.QUERY, "form", name, explode=True) for name in values)
    assert echoed("GET", "/query", declared, query=values) == values


@settings(max_examples=40)
@given(
    st.fixed_dictionaries(
        {
            "side": numbers,
            "name": texts(Location.QUERY),
            "tags": st.lists(texts(Location.QUERY), min_size=1, max_size=3),
        }
    )
)
def test_exploded_objects(shape: Any) -> None:
    declared = (parameter(Location.QUERY, "form", "shape", explode=True),)
    assert echoed("GET", "/object", declared, query={"shape": shape}) == {"shape": shape}


@settings(max_examples=60)
@given(texts(Location.HEADER), numbers, st.booleans())
def test_headers(s: str, n: int, b: bool) -> None:
    values = {"X-S": s, "X-N": n, "X-B": b}
    declared = tuple(parameter(Location.HEADER, "simple", name, explode=False) for name in values)
    assert echoed("GET", "/headers", declared, headers=values) == values


@settings(max_examples=60)
@given(s=texts(Location.COOKIE), n=numbers, b=st.booleans())
@pytest.mark.thorough
def test_cookies(**values: Any) -> None:
    declared = tuple(parameter(Location.COOKIE, "form", name, explode=True) for name in values)
    assert echoed("GET", "/cookies", declared, cookies=values) == values


json_values = st.recursive(
    st.booleans() | numbers | floats | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner | st.none(), max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner | st.none(), max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@given(json_values)
def test_json(value: Any) -> None:
    assert echoed("POST", "/json", body=value, media_type="application/json") == value


@settings(max_examples=60)
@given(
    s=st.text(st.characters(codec="utf-8"), min_size=1),
    n=numbers,
    b=st.booleans(),
    texts=st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=3),
)
@pytest.mark.parametrize("media_type", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_forms(media_type: str, **values: Any) -> None:
    assert echoed("POST", "/form", body=values, media_type=media_type) == values


@settings(max_examples=60)
@given(
    s=st.text(st.characters(codec="utf-8"), min_size=1),
    ints=st.lists(numbers, min_size=1, max_size=3),
    file=st.binary(max_size=50) | st.binary(max_size=5).map(b"\x89PNG\r\n\x1a\n".__add__),
    more=st.lists(st.binary(max_size=20), min_size=1, max_size=2),
    o=st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), json_values, max_size=2),
)
@example(s="0", ints=[0], file=b"PK\x03\x04", more=[b""], o={})
def test_parts(**values: Any) -> None:
    media_type, extension = file_kind(values["file"])
    found = echoed("POST", "/parts", body=values, media_type="multipart/form-data")
    name = f"file.{extension}" if extension else "file"
    assert found.pop("about") == [name, media_type]
    assert {**found, "file": base64.b64decode(found["file"])} == {
        **values,
        "more": [base64.b64encode(one).decode() for one in values["more"]],
    }


@settings(max_examples=30)
@given(st.text(st.characters(codec="utf-8")), st.binary())
def test_text_and_octets(text: str, octets: bytes) -> None:
    found = echoed("POST", "/raw", body=text, media_type="text/plain")
    assert base64.b64decode(found).decode() == text
    found = echoed("POST", "/raw", body=octets, media_type="application/octet-stream")
    assert base64.b64decode(found) == octets
