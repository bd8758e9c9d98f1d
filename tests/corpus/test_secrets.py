"""Every credential that a user may give is known, and no record holds one."""

from base64 import b64encode
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import RunSettings
from checker.core.credentials import Credentials
from checker.core.meta import Binding, Drawn, Step
from checker.core.operation import Label
from checker.core.request import Location
from checker.corpus.records import CorpusEntry, Note, Record, RunStarted, SchemaOpened, WorkerGone
from checker.corpus.secrets import Secrets, secrets_of
from tests.asking import saying

CANARY = "c4n4ry-0f-th3-us3r"
DICTIONARY = "[dictionaries.d]\nvalues = {values}\n[parameters]\n'query.token' = {{ dictionary = 'd' }}"

OAUTH2 = "[auth.oauth2.openapi.K]\nclient_id = 'i'\nclient_secret = 'secret'\n{}"
LOGIN = "[auth.dynamic.openapi.K]\nextract_selector = '/t'\n{}"


def found(toml: str, location: str = "openapi.json") -> Secrets:
    return secrets_of(run_settings(Config.from_str(toml, environment={"C": CANARY}), Invocation(location), {}))


@pytest.mark.parametrize(
    "toml",
    [
        "headers = { X-Mine = '${C}' }",
        "headers = { Authorization = 'Bearer ${C}' }",
        "base-url = 'http://u:${C}@h'",
        "base-url = 'http://${C}@h'",
        "base-url = 'http://h/?api_key=${C}'",
        "proxy = 'http://u:${C}@h'",
        "parameters = { api_key = '${C}' }",
        "parameters = { 'body.user.password' = '${C}' }",
        "parameters = { 'path.token' = '${C}' }",
        "[[operations]]\ninclude-path = '/a'\nparameters = { 'cookie.session' = '${C}' }",
        "[servers.variables]\ntoken = '${C}'",
        DICTIONARY.format(values="['x', '${C}']"),
        OAUTH2.format("parameters = { assertion = '${C}' }"),
        OAUTH2.format("parameters = { api_key = 'k', custom = '${C}' }"),
        OAUTH2.format("token_url = 'http://u:${C}@h/token'"),
        OAUTH2.format("token_url = '/token?key=${C}'"),
        LOGIN.format("url = 'http://${C}@h/token'"),
        LOGIN.format("path = '/token'\nheaders = { X-App = 'App ${C}' }"),
        LOGIN.format("path = '/token'\npayload = { user = 'u', key = 'k', assertion = '${C}' }"),
    ],
)
def test_a_configured_credential_is_a_secret(toml: str) -> None:
    secrets = found(toml)
    assert not secrets.is_empty
    assert CANARY not in secrets.store.mask(f"it was {CANARY}, they say")


@pytest.mark.parametrize("name", ["HTTP_PROXY", "all_proxy"])
def test_the_password_of_a_proxy_of_the_environment_is_a_secret(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, f"http://u:{CANARY}@h")
    sent = b64encode(f"u:{CANARY}".encode()).decode()
    shown = found("").store.mask(f"{CANARY} is sent as {sent}")
    assert CANARY not in shown
    assert sent not in shown


def test_a_client_is_a_secret_as_its_header_is_written() -> None:
    secrets = found(OAUTH2.format("client_auth = 'basic'").replace("'secret'", "'s/c r'"))
    sent = b64encode(b"i:s%2Fc%20r").decode()
    assert sent not in secrets.store.mask(f"echoed: {sent}")


@pytest.mark.parametrize("data", [CANARY, ["map", "n", 1, "refresh_token", CANARY], {"a": [CANARY]}, CANARY.encode()])
def test_data_that_a_source_keeps_is_a_secret_until_it_is_old(data: object) -> None:
    secrets = Secrets()
    secrets.add_credentials(Credentials(data=data))
    assert CANARY not in secrets.store.mask(f"it was {CANARY}, they say")
    for number in range(20):
        secrets.add_credentials(Credentials(data={"refresh_token": f"later-{number}"}))
    # A reference resolves to the last value of its name.
    assert secrets.store.mask("later-19 again") != "later-19 again"


@pytest.mark.parametrize("owner", ["", "call"])
def test_credentials_of_sources_and_calls_push_out_no_configured_value(owner: str) -> None:
    secrets = found("headers = { X-Key = '${C}' }")
    secrets.add_credentials(Credentials({"X-Key": CANARY}), owner=owner)
    for number in range(20):
        secrets.add_credentials(Credentials({"X-Key": f"later-{number}"}), owner=owner)
    assert secrets.store.mask(f"it was {CANARY}") == "it was {secret:header:X-Key}"
    if owner:
        assert secrets.store.resolve("secret:header:X-Key") == CANARY


def test_a_value_is_a_secret_as_long_as_one_request_has_it() -> None:
    secrets = Secrets()
    for number in range(20):
        secrets.add_credentials(Credentials({"X-Key": f"key-of-{number % 2}", "X-Signature": f"signature-{number}"}))
    assert "key-of" not in secrets.store.mask("It was key-of-0 or key-of-1")
    assert secrets.store.mask("signature-0") == "signature-0"


def test_public_names_of_tokens_are_no_secrets() -> None:
    secrets = found(
        OAUTH2.format("parameters = { audience = 'https://api.example', requested_token_type = 'urn:jwt' }")
    )
    secrets.add_credentials(
        Credentials(data=["map", "token_type", "Bearer", "access_token", CANARY, "expires_in", 86_400])
    )
    text = "a Bearer of urn:jwt for https://api.example lives 86400 s"
    assert secrets.store.mask(text) == text
    plain = found(LOGIN.format("path = '/t'\nheaders = { Accept = 'application/json' }"))
    assert plain.store.mask("application/json it is") == "application/json it is"


@pytest.mark.parametrize("url", [f"http://u:{CANARY}@h/a", f"http://{CANARY}@h/a", f"http://h/?key={CANARY}"])
def test_a_credential_of_the_location_is_a_secret(url: str) -> None:
    assert CANARY not in found("", url).store.mask(f"it was {CANARY}, they say")


def test_what_a_url_is_sent_as_is_a_secret() -> None:
    sent = b64encode(b"u:p@ss").decode()
    secrets = found("base-url = 'http://u:p%40ss@h'")
    assert secrets.store.mask(f"Basic {sent}") == "secret:header:Authorization"
    assert sent not in secrets.store.mask(f"echoed: {sent}")
    given = found("base-url = 'http://u:p@h'\nheaders = { Authorization = 'Bearer 1234567' }")
    assert given.store.resolve("secret:header:Authorization") == "Bearer 1234567"


def test_test_data_is_no_secret() -> None:
    assert found("parameters = { limit = 'a-long-value' }").is_empty
    assert found(DICTIONARY.format(values=[f"word-{n}" for n in range(100)])).is_empty
    assert found("", "http://h/a?b=a-long-value").is_empty


STARTED = RunStarted("r", "run", 0.0, "1", "", 1, "s", "", 1)


@pytest.mark.parametrize(
    "record",
    [
        replace(STARTED, location=f"http://u:{CANARY}@h", command=f"checker run {CANARY}"),
        SchemaOpened("T", "Open API 3.0.3", f"http://u:{CANARY}@h", "d", 1, 1),
        Note("kind", "GET /a", "#/a", f"it was {CANARY}"),
        WorkerGone(1, f"Traceback: {CANARY}"),
    ],
)
def test_no_record_holds_a_secret(record: Record) -> None:
    secrets = found("headers = { X-Mine = '${C}' }")
    assert CANARY in repr(record)
    assert CANARY not in repr(secrets.conceal(record))
    assert Secrets().conceal(record) is record


@pytest.mark.parametrize(
    "url", ["http://example.com:80/api/{}", "http://u:{}@example.com?a={}", "http://[::1]:80", "{}"]
)
def test_the_host_of_a_url_is_no_secret(url: str) -> None:
    secrets = found(f"headers = {{ X-Host = 'example.com', X-Short = '::1', X-Mine = '{CANARY}' }}")
    started = secrets.conceal(replace(STARTED, location=url.format(CANARY, CANARY)))
    assert isinstance(started, RunStarted)
    assert secrets.store.resolve(started.location) == url.format(CANARY, CANARY)
    assert CANARY not in started.location
    assert urlsplit(started.location).netloc.rpartition("@")[2] == urlsplit(url).netloc.rpartition("@")[2]


def test_steps_hold_no_secrets_of_earlier_answers() -> None:
    secrets = found("headers = { X-Mine = '${C}' }")
    taken = Binding(Location.PATH, "id", Label("POST /a"), "/token", 0, CANARY, '"$x"', 0)
    whole = replace(taken, location=Location.BODY, name="", literal={"a": [CANARY]})
    plain = replace(taken, literal="B-7")
    entry = CorpusEntry("GET /a", (Step(Label("GET /a"), Drawn(()), (taken, whole, plain)),), (), 0)
    concealed = secrets.conceal(entry)
    assert isinstance(concealed, CorpusEntry)
    literals = [binding.literal for binding in concealed.steps[0].bindings]
    assert literals == ["secret:header:X-Mine", None, "B-7"]
    assert Secrets().conceal(entry) is entry


@pytest.mark.parametrize(
    ("value", "is_there"),
    [
        (CANARY, True),
        ({"a": [1, {"b": f"it was {CANARY}"}]}, True),
        ({CANARY: None}, True),
        ((b"\xff" + CANARY.encode(),), True),
        ([None, 1, True, 1.5, "c4n4ry", b"\xff"], False),
    ],
)
def test_a_secret_is_found_wherever_it_stands(value: object, is_there: bool) -> None:
    assert found("headers = { X-Mine = '${C}' }").is_in(value) is is_there


def test_a_deep_value_is_looked_through() -> None:
    deep: object = CANARY
    for _ in range(5_000):
        deep = [deep]
    assert found("headers = { X-Mine = '${C}' }").is_in(deep)


def test_what_names_something_stays_as_it_is() -> None:
    note = Note("kind", f"GET /{CANARY}", "#/a", "text")
    assert found("headers = { X-Mine = '${C}' }").conceal(note) is note


def test_headers_of_single_operations_are_secret_as_well() -> None:
    block = {"include-path": "/a", "headers": {"X-Key": "of-one-operation", "Accept": "text/csv"}}
    said = saying({}, block, headers={"X-Key": "of-all-of-them"}, proxy="http://u:pass-word@h:1")
    store = secrets_of(RunSettings("openapi.json", "run", 1, operations=said)).store
    text = "of-all-of-them of-one-operation text/csv"
    masked = store.mask(text)
    assert masked == "{secret:header:X-Key} {secret:header:X-Key.1} text/csv"
    assert store.resolve(masked) == text
    assert "pass-word" not in store.mask("http://u:pass-word@h:1")


@pytest.mark.parametrize(
    ("header", "places", "is_secret"),
    [
        ("X-Tenant = 'acme-north'", (), False),
        ("X-Tenant = 'acme-north'", ("header x-tenant",), True),
        ("X-Tenant = 'acme-north'", None, True),
        ("X-Tenant = 'Bearer acme-north'", (), True),
        ("X-Partner-Key = 'acme-north'", (), True),
        ("X-Tenant = 'eu-${TENANT}'", (), True),
        ("X-Tenant = 'https://bob:pw@internal/acme-north'", (), True),
        ("X-Tenant = 'https://internal/?token=acme-north'", (), True),
        ("X-Tenant = 'https://internal/?page=acme-north'", (), False),
        ("X-Tenant = 'eyJhbGciOiJub25lIn0.eyJhIjoxfQ.acme-north'", (), True),
        ("X-Saml-Assertion = 'acme-north'", (), True),
        ("X-Signature = 'acme-north'", (), True),
        ("X-Jwt = 'acme-north'", (), True),
    ],
)
def test_a_header_that_is_no_credential_is_shown(header: str, places: tuple[str, ...] | None, is_secret: bool) -> None:
    config = Config.from_str(f"headers = {{ {header} }}", environment={"TENANT": "acme-north"})
    settings = run_settings(config, Invocation("openapi.json"), {})
    ((_, value),) = settings.common.headers
    assert ("acme-north" not in secrets_of(settings, places).store.mask(f"It was: {value}")) is is_secret
