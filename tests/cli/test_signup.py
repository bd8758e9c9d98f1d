"""Automatic sign-up: an account of the run's own, where nobody says who is calling."""

from pathlib import Path
from typing import Any

import pytest

from tests.apps.accounts import Accounts, serving_accounts

FEW = (
    *("--inline", "-n", "6", "--phases", "fuzzing", "--seed", "1", "--mode", "positive"),
    *("-c", "not_a_server_error"),
)
ITEMS = ("--include-path", "/items")


def run(invoke: Any, accounts: Accounts, *more: str) -> Any:
    return invoke("run", f"{accounts.url}/openapi.json", *FEW, *more)


def test_the_run_signs_up_logs_in_and_is_let_in(invoke, folder: Path) -> None:
    with serving_accounts(Accounts()) as accounts:
        result = run(invoke, accounts, *ITEMS, "--warnings", "signed_up")
    ((name, user),) = accounts.made.items()
    assert accounts.served["items"] == 6
    assert accounts.logins == {True: 1}
    assert (user["role"].value, user["full_name"] is None) == ("site_admin", False)
    assert "signed up with POST /auth/register and logged in with POST /auth/token" in result.output
    shown = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert not any(f"tok-{name}".encode() in one for one in (result.output.encode(), *shown))


@pytest.mark.parametrize(
    ("accounts", "told"),
    [
        (Accounts(sign_up_status=503), "POST /auth/register failed: 503"),
        (Accounts(sign_up_status=422), "POST /auth/register failed: 422"),
        (Accounts(login_status=500), "POST /auth/token failed: 500"),
    ],
)
def test_what_fails_is_told_once_and_the_run_goes_on_without(invoke, accounts: Accounts, told: str) -> None:
    with serving_accounts(accounts):
        result = run(invoke, accounts, *ITEMS)
    assert result.output.count(f"Auth: {told}") == 1, result.output
    assert "; continuing without authentication" in result.output
    assert accounts.refused["items"] >= 6
    assert not accounts.served
    assert result.exit_code == 0


@pytest.mark.parametrize(
    "given",
    [
        ("-H", "Authorization: Bearer mine"),
        ("-a", "user:pass"),
        ("--set", "auth.auto-signup=false"),
        ("--set", 'auth.openapi.OAuth2PasswordBearer={bearer="mine"}'),
        ("--set", 'parameters."header.Authorization"="mine"'),
        ("--safety", "read-only"),
    ],
)
def test_nobody_signs_up_where_somebody_says_who_is_calling(invoke, given: tuple[str, ...]) -> None:
    with serving_accounts(Accounts()) as accounts:
        run(invoke, accounts, *ITEMS, *given)
    assert (accounts.made, accounts.logins, accounts.served["items"]) == ({}, {}, 0)


def test_other_headers_are_no_credentials(invoke) -> None:
    with serving_accounts(Accounts()) as accounts:
        run(invoke, accounts, *ITEMS, "-H", "X-Token: mine")
    assert accounts.served["items"] == 6


def test_who_is_there_already_logs_in(invoke) -> None:
    with serving_accounts(Accounts()) as accounts:
        for _ in range(2):
            run(invoke, accounts, *ITEMS)
    assert len(accounts.made) == 1
    assert accounts.logins == {True: 2}
    assert accounts.served["items"] == 12


def test_auth_check_says_that_it_works(invoke) -> None:
    with serving_accounts(Accounts()) as accounts:
        result = invoke("auth", "check", f"{accounts.url}/openapi.json")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("ok       automatic sign-up: Auth: signed up with POST")
    assert "GET /items answered 200" in result.output


def test_half_of_the_valid_logins_are_those_of_the_account(invoke) -> None:
    with serving_accounts(Accounts()) as accounts:
        result = run(invoke, accounts, "--include-path", "/auth/token", "-n", "40")
    # One made the account known, before the first case.
    assert 12 <= accounts.logins[True] - 1 <= 28, accounts.logins
    assert accounts.logins[False] >= 8
    assert len(accounts.made) == 1
    assert result.exit_code == 0, result.output


def test_what_declares_no_security_is_asked_once_more_with_the_token(invoke) -> None:
    with serving_accounts(Accounts()) as accounts:
        run(invoke, accounts, "--include-path-regex", "notes|closed", "--lanes", "1")
    # Kept where it helps, and nowhere else.
    assert accounts.refused["notes"] == 1
    assert accounts.served["notes"] >= 6
    # Six cases, one of them twice; a request more may ask whether the target serves anybody.
    assert 7 <= accounts.refused["closed"] <= 8
    assert accounts.logins == {True: 1}
