"""Servers and descriptions that would have credentials sent elsewhere: to another server than the user named."""

import json
from pathlib import Path
from typing import Any

import pytest

import checker
from checker.core.errors import UsageError
from tests.hostile.conftest import Run
from tests.hostile.servers import Behaviour, page, serving

CANARY = "c4n4ry-0f-th3-us3r"
SECRET = f"Authorization: Bearer {CANARY}"


def described(server: str = "", reference: str = "") -> Behaviour:
    parameter: dict[str, Any] = {"name": "q", "in": "query", "schema": {"type": "string"}}
    if reference:
        parameter = {"$ref": reference}
    operation = {"parameters": [parameter], "responses": {"200": {"description": ""}}}
    document: dict[str, Any] = {
        "openapi": "3.0.3",
        "info": {"title": "Away", "version": "1"},
        "paths": {"/a": {"get": operation}},
    }
    if server:
        document["servers"] = [{"url": server}]
    return page(json.dumps(document).encode())


def redirect(target: str) -> Behaviour:
    return page(b"", f"Location: {target}", "Set-Cookie: own=1", status="307 Temporary Redirect")


PARAMETER = page(json.dumps({"p": {"name": "q", "in": "query", "schema": {}}}).encode())


def test_a_redirect_leads_no_credential_away(run: Run) -> None:
    near: list[str] = []
    far: list[str] = []
    with (
        serving({"/": described("/")}, far) as away,
        serving({"/": redirect(f"{away}/openapi.json"), "/a": page(b"")}, near) as home,
    ):
        location = home.replace("http://", f"http://user:{CANARY}@") + f"/openapi.json?key={CANARY}"
        ended = run(location, "-H", f"X-Other: {CANARY}", "-H", SECRET, "--url", home)
    assert ended.code == 0, ended
    assert CANARY in near[0]
    (asked,) = far
    assert CANARY not in asked
    assert "own=1" not in asked


def test_a_redirect_to_where_the_api_is_said_to_live_asks_for_the_url(run: Run) -> None:
    far: list[str] = []
    with serving({"/": described("/")}, far) as away, serving({"/": redirect(f"{away}/openapi.json")}) as home:
        ended = run(f"{home}/openapi.json", "-H", SECRET)
    assert ended.code == 2, ended
    assert f"are not sent to {away}" in " ".join(ended.output.split())
    assert len(far) == 1


def test_a_redirect_on_the_same_server_keeps_the_credentials(run: Run) -> None:
    seen: list[str] = []
    pages = {"/openapi.json": redirect("/real.json"), "/real.json": described("/"), "/a": page(b"")}
    with serving(pages, seen) as home:
        ended = run(f"{home}/openapi.json", "-H", SECRET, "-n", "1")
    assert ended.code == 0, ended
    assert all(CANARY in asked for asked in seen)
    assert "own=1" in seen[1]
    assert "own=1" not in seen[2]


@pytest.mark.parametrize("hop", ["", "/hop"])
def test_a_reference_leads_no_credential_away(run: Run, hop: str) -> None:
    """Neither a reference to another server, nor one to the own server that is redirected there."""
    near: list[str] = []
    far: list[str] = []
    with serving({"/": PARAMETER}, far) as away:
        pages = {"/hop": redirect(f"{away}/p.json"), "/a": page(b"")}
        target = hop or f"{away}/p.json"
        pages["/openapi.json"] = described("/", f"{target}#/p")
        with serving(pages, near) as home:
            ended = run(f"{home}/openapi.json", "-H", SECRET, "-H", f"X-Other: {CANARY}", "-n", "1")
    assert ended.code == 0, ended
    assert all(CANARY in asked for asked in near)
    (asked,) = far
    assert CANARY not in asked


OTHER_HOSTS = "[documents]\nother-hosts = "


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("hop", ["", "/hop"], ids=["reference", "redirect"])
@pytest.mark.parametrize(
    ("server", "arguments", "toml", "is_fetched"),
    [
        ("/", (), "", True),
        ("/", (), OTHER_HOSTS + "false", False),
        ("/", ("--url", "{home}"), "", True),
        ("/", ("--url", "{api}"), "", False),
        ("/", ("--origin", "{api}"), "", False),
        ("/", ("--url", "{api}"), OTHER_HOSTS + "true", True),
        # The user named the host that the reference leads to.
        ("/", ("--url", "{away}"), "", True),
        ("{api}", (), "", False),
        # A description cannot vouch for the host that it names.
        ("{away}", (), "", False),
        ("{api}", (), OTHER_HOSTS + "true", True),
        ("{api}", ("--url", "{home}"), "", True),
        ("http://{{unknown}}", ("--url", "{api}"), "", False),
    ],
)
def test_a_description_of_another_host_than_the_api_leads_to_no_third_host(
    run: Run, server: str, arguments: tuple[str, ...], toml: str, is_fetched: bool, hop: str
) -> None:
    far: list[str] = []
    pages: dict[str, Behaviour] = {"/a": page(b"")}
    with (
        serving({"/": PARAMETER, "/a": page(b"")}, far) as away,
        serving({"/": page(b"")}) as api,
        serving(pages) as home,
    ):
        hosts = {"home": home, "api": api, "away": away}
        target = hop or f"{away}/p.json"
        pages["/hop"] = redirect(f"{away}/p.json")
        pages["/openapi.json"] = described(server.format(**hosts), f"{target}#/p")
        given = [one.format(**hosts) for one in arguments]
        ended = run(f"{home}/openapi.json", *given, "-n", "1", toml=toml)
    told = " ".join(ended.output.split())
    assert ("GET /p.json" in " ".join(far)) == is_fetched, told
    assert told.count("`other-hosts = true`") == (not is_fetched), told
    assert (f"{away} was not asked" in told) != is_fetched
    assert ended.code == (0 if is_fetched else 1), told


@pytest.mark.parametrize(("toml", "is_fetched"), [("", True), (OTHER_HOSTS + "false", False)])
def test_a_file_leads_to_other_hosts_unless_the_key_forbids_it(
    run: Run, tmp_path: Path, toml: str, is_fetched: bool
) -> None:
    far: list[str] = []
    with serving({"/": PARAMETER}, far) as away, serving({"/": page(b"")}) as api:
        operation = {"parameters": [{"$ref": f"{away}/p.json#/p"}], "responses": {}}
        document = {"openapi": "3.0.3", "info": {"title": "", "version": ""}}
        path = tmp_path / "openapi.json"
        path.write_text(json.dumps({**document, "paths": {"/a": {"get": operation}}}))
        ended = run(str(path), "--url", api, "-n", "1", toml=toml)
    assert bool(far) == is_fetched, ended
    assert ("`other-hosts = true`" in " ".join(ended.output.split())) != is_fetched


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("arguments", "toml"),
    [
        (("-H", SECRET), ""),
        (("-H", f"Cookie: a={CANARY}"), ""),
        ((), f"headers = {{ X-Api-Key = '{CANARY}' }}"),
        ((), f"parameters = {{ 'query.token' = '{CANARY}' }}"),
        ((), f"[[operations]]\ninclude-path = '/a'\nparameters = {{ 'cookie.sid_key' = '{CANARY}' }}"),
    ],
)
def test_a_description_leads_no_credential_away(run: Run, arguments: tuple[str, ...], toml: str) -> None:
    far: list[str] = []
    with serving({"/": page(b"")}, far) as away, serving({"/": described(away)}) as home:
        ended = run(f"{home}/openapi.json", *arguments, "-n", "1", toml=toml)
        assert ended.code == 2, ended
        assert f"are not sent to {away}" in " ".join(ended.output.split())
        assert "`--url`" in ended.output
        assert not far
        allowed = run(f"{home}/openapi.json", *arguments, "-n", "1", "-u", away, toml=toml)
        assert allowed.code == 0, allowed


def test_without_a_credential_it_goes_on_with_a_warning(run: Run) -> None:
    far: list[str] = []
    with serving({"/": page(b"")}, far) as away, serving({"/": described(away)}) as home:
        ended = run(f"{home}/openapi.json", "-H", "X-Trace: 1", "-n", "1")
    assert ended.code == 0, ended
    assert "names another host" in ended.output
    assert far


def test_a_description_that_says_localhost_means_this_machine(run: Run) -> None:
    seen: list[str] = []
    pages: dict[str, Behaviour] = {"/a": page(b"")}
    with serving(pages, seen) as home:
        pages["/openapi.json"] = described(home.replace("127.0.0.1", "0.0.0.0"))
        ended = run(f"{home}/openapi.json", "-H", SECRET, "-n", "1")
    assert ended.code == 0, ended
    assert all(CANARY in asked for asked in seen)


def test_user_info_of_the_location_is_for_its_server_and_the_api_there(run: Run) -> None:
    near: list[str] = []
    far: list[str] = []
    pages: dict[str, Behaviour] = {"/openapi.json": described("/"), "/a": page(b"")}
    with serving(pages, near) as home, serving({"/": page(b"")}, far) as away:
        location = home.replace("http://", f"http://user:{CANARY}@") + "/openapi.json"
        assert run(location, "-n", "1").code == 0
        assert all("authorization: basic" in asked.lower() for asked in near)
        pages["/openapi.json"] = described(away)
        assert run(location, "-n", "1").code == 0
    assert far
    assert not any("authorization:" in asked.lower() for asked in far)


def _schema(url: str, **options: Any) -> Any:
    config = checker.Config.from_dict({})
    return checker.openapi.from_url(url, config=config, **options)


@pytest.mark.parametrize(
    "options", [{"headers": {"Authorization": "1"}}, {"params": {"key": "1"}}, {"cookies": {"token": "1"}}]
)
def test_a_call_sends_no_credential_where_only_a_description_says(options: Any) -> None:
    far: list[str] = []
    with serving({"/": page(b"")}, far) as away, serving({"/": described(away)}) as home:
        case = _schema(f"{home}/openapi.json")["/a"]["GET"].Case()
        with pytest.raises(UsageError, match=r"are not sent to .*`base_url` in Python"):
            case.call(**options)
        assert not far
        assert case.call(base_url=away, **options).status_code == 200
        assert case.call().status_code == 200


def test_a_case_made_by_hand_sends_no_credential_where_only_a_description_says() -> None:
    far: list[str] = []
    with serving({"/": page(b"")}, far) as away, serving({"/": described(away)}) as home:
        operation = _schema(f"{home}/openapi.json")["/a"]["GET"]
        with pytest.raises(UsageError, match=r"credentials \(header Authorization\) are not sent"):
            operation.Case(headers={"Authorization": CANARY}).call()
        assert not far
        assert operation.Case(headers={"X-Other": "1"}).call().status_code == 200


def test_configured_credentials_are_not_sent_by_a_call_either() -> None:
    far: list[str] = []
    with serving({"/": page(b"")}, far) as away, serving({"/": described(away)}) as home:
        schema = _schema(f"{home}/openapi.json")
        schema.config.update(headers={"X-Api-Key": CANARY})
        with pytest.raises(UsageError, match=r"credentials \(header X-Api-Key\) are not sent"):
            schema["/a"]["GET"].Case().call()
    assert not far


def test_options_of_a_loader_are_for_the_server_of_the_url() -> None:
    far: list[str] = []
    with serving({"/": described("/")}, far) as away, serving({"/": redirect(f"{away}/openapi.json")}) as home:
        _schema(
            f"{home}/openapi.json",
            headers={"X-Other": CANARY},
            auth=("user", CANARY),
            cookies={"a": CANARY},
            params={"b": CANARY},
        )
    (asked,) = far
    assert CANARY not in asked
    assert "authorization" not in asked.lower()
