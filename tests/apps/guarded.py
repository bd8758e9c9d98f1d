"""Real servers that ask who is calling: Flask with Flask-HTTPAuth, FastAPI with its OAuth2 password flow."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import flask
from flask_httpauth import HTTPBasicAuth, HTTPDigestAuth
from werkzeug.serving import make_server

USER, PASSWORD = "anna", "pw-C4n4ry-1"
KEY, TOKEN = "key-C4n4ry-2 +/&", "tok-C4n4ry-3"

SCHEMES: dict[str, dict[str, str]] = {
    "Basic": {"type": "http", "scheme": "basic"},
    "Bearer": {"type": "http", "scheme": "bearer"},
    "HeaderKey": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "QueryKey": {"type": "apiKey", "in": "query", "name": "appid"},
    "CookieKey": {"type": "apiKey", "in": "cookie", "name": "sid"},
}
SECURITY: dict[str, list[dict[str, list[str]]]] = {
    "/basic": [{"Basic": []}],
    "/bearer": [{"Bearer": []}],
    "/header-key": [{"HeaderKey": []}],
    "/query-key": [{"QueryKey": []}],
    "/cookie-key": [{"CookieKey": []}],
    "/both": [{"QueryKey": [], "CookieKey": []}],
    "/either": [{"Unknown": []}, {"Bearer": []}],
    "/public": [],
}


@dataclass
class Guarded:
    """A running server, and what it let in."""

    url: str = ""
    served: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    carried: set[str] = field(default_factory=set)
    """What came to `/public`."""


def described(security: dict[str, list[dict[str, list[str]]]] = SECURITY) -> dict[str, Any]:
    parameters = [{"name": "q", "in": "query", "schema": {"type": "integer"}}]
    responses = {"200": {"description": ""}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Guarded", "version": "1"},
        "components": {"securitySchemes": SCHEMES},
        "paths": {
            path: {"get": {"parameters": parameters, "responses": responses, "security": asked}}
            for path, asked in security.items()
        },
    }


def guarded_app(seen: Guarded, document: dict[str, Any]) -> flask.Flask:
    """One path for each scheme of `SCHEMES`, `/digest`, and the document."""
    app = flask.Flask("guarded")
    basic, digest = HTTPBasicAuth(), _digest()
    basic.verify_password(lambda user, password: (user, password) == (USER, PASSWORD))

    @app.after_request
    def count(response: flask.Response) -> flask.Response:
        counter = seen.served if response.status_code == 200 else seen.refused
        counter[flask.request.path] += 1
        return response

    @app.get("/openapi.json")
    def openapi() -> Any:
        return document

    @app.get("/basic")
    @basic.login_required  # type: ignore[untyped-decorator, unused-ignore]
    def with_basic() -> Any:
        return {"you": basic.current_user()}

    @app.get("/digest")
    @digest.login_required  # type: ignore[untyped-decorator, unused-ignore]
    def with_digest() -> Any:
        # The library believes what the header says of itself.
        given = flask.request.authorization
        target = flask.request.full_path.rstrip("?")
        return _let_in(given is not None and given["uri"] == target)

    @app.get("/<name>")
    def with_token(name: str) -> Any:
        if name.startswith("basic"):
            return _let_in(False)
        if name != "public":
            return _let_in(_has_key_of(name, flask.request))
        request = flask.request
        names = [*request.headers.keys(), *request.args, *request.cookies]
        seen.carried |= {one.lower() for one in names}
        return {"you": "anybody"}

    return app


def _digest() -> HTTPDigestAuth:
    digest = HTTPDigestAuth(algorithm="MD5-Sess")
    # Its own nonces are kept in a session of cookies.
    digest.generate_nonce(lambda: "nonce-of-all")
    digest.generate_opaque(lambda: "opaque-of-all")
    digest.verify_nonce(lambda nonce: bool(nonce == "nonce-of-all"))
    digest.verify_opaque(lambda opaque: bool(opaque == "opaque-of-all"))
    digest.get_password(lambda user: PASSWORD if user == USER else None)
    return digest


def _has_key_of(name: str, request: flask.Request) -> bool:
    """Whether a request carries what the path of that name asks for."""
    return {
        "bearer": request.headers.get("Authorization") == f"Bearer {TOKEN}",
        "either": request.headers.get("Authorization") == f"Bearer {TOKEN}",
        "header-key": request.headers.get("X-Key") == KEY,
        "query-key": request.args.getlist("appid") == [KEY],
        "cookie-key": request.cookies.get("sid") == TOKEN,
        "both": request.args.get("appid") == KEY and request.cookies.get("sid") == TOKEN,
    }[name]


def _let_in(is_known: bool) -> Any:
    return ({"you": "in"}, 200) if is_known else ({"error": "who?"}, 401)


@contextmanager
def guarding(document: dict[str, Any] | None = None) -> Iterator[Guarded]:
    """A server on loopback until left."""
    seen = Guarded()
    app = guarded_app(seen, described() if document is None else document)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    seen.url = f"http://127.0.0.1:{server.port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
