import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.config.settings import Sanitization
from checker.core.blocks import hidden_parts
from checker.corpus.records import Component
from checker.corpus.references import SecretStore
from checker.reporting.masking import Masking, ShownCommand, by_name, masked_url

ON = Sanitization()


def test_values_of_sensitive_names_and_references_to_secrets_are_masked() -> None:
    headers = [
        ("Authorization", "Bearer 1"),
        ("X-Plain", "secret:header:X-Plain"),
        ("X-Part", "a {secret-quoted:env:TOKEN} b"),
        ("A", "2"),
        ("A", "1"),
    ]
    redaction = Masking(ON, SecretStore()).rules()
    assert by_name(redaction.headers(headers), redaction.replacement) == {
        "Authorization": ["[Filtered]"],
        "X-Plain": ["[Filtered]"],
        "X-Part": ["[Filtered]"],
        "A": ["2", "1"],
    }


def test_names_and_replacement_can_be_configured() -> None:
    redaction = Sanitization(keys=("x-mine",), markers=(), replacement="***").redaction
    found = redaction.headers([("X-Mine", "1"), ("Authorization", "2")])
    assert found == [("X-Mine", "***"), ("Authorization", "2")]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://a:b@h/x", "http://[Filtered]@h/x"),
        ("http://h/x?token=1&q=2", "http://h/x?token=%5BFiltered%5D&q=2"),
        ("http://h/x?tok%65n=1", "http://h/x?tok%65n=%5BFiltered%5D"),
        ("http://h/x?token", "http://h/x?token"),
        ("http://h/a@b?q=a@b", "http://h/a@b?q=a@b"),
    ],
)
def test_urls_lose_credentials_and_sensitive_values_only(url: str, shown: str) -> None:
    assert masked_url(url, ON) == shown


@given(st.text())
def test_nothing_is_masked_when_it_is_switched_off(text: str) -> None:
    assert masked_url(text, Sanitization(enabled=False)) == text


def test_a_command_shows_no_reference_to_a_secret() -> None:
    store = SecretStore()
    store.add("header:Authorization", "Bearer t0ps3cret")
    command = "curl -H 'Authorization: {secret:header:Authorization}' http://127.0.0.1/"
    hidden = 'curl -H "Authorization: $CHECKER_AUTHORIZATION" http://127.0.0.1/'
    export = "export CHECKER_AUTHORIZATION=..."
    assert Masking(Sanitization(), store).command(command) == ShownCommand(hidden, (export,))
    plain = "curl -H 'Authorization: [Filtered]' http://127.0.0.1/"
    without = Masking(Sanitization(), store, has_variables=False)
    assert without.command(command) == ShownCommand(plain, ("header Authorization",))
    assert Masking(Sanitization(enabled=False), store).command(command) == ShownCommand(
        "curl -H 'Authorization: Bearer t0ps3cret' http://127.0.0.1/"
    )


TOKENS = (
    ("Authorization", "B", "Bearer "),
    ("X-Api", "my key", ""),
    ("X-Two", "one", ""),
    ("X-Two", "two", ""),
    ("X-`id`$(id)", "evil", ""),
    ("cookie sid", "S", ""),
    ("query key", "Q", ""),
    ("X-First", "a.b", ""),
    ("X-Second", "a-b", ""),
)


@pytest.mark.parametrize(
    ("header", "shown", "hidden"),
    [
        ("Authorization: {secret:header:Authorization}", '-H "Authorization: Bearer $CHECKER_TOKEN_B"', "B"),
        ("authorization: Bearer {secret:auth:B}", '-H "authorization: Bearer $CHECKER_TOKEN_B"', "B"),
        ("X-Api: {secret-quoted:auth:my_key}", '-H "X-Api: $CHECKER_TOKEN_MY_KEY"', "'my key'"),
        ("X-Two: {secret:auth:two}", '-H "X-Two: $CHECKER_TOKEN_TWO"', "two"),
        # Two schemes with one name in a shell.
        ("X-First: {secret:auth:a_b}", '-H "X-First: $CHECKER_TOKEN_A_B_2"', "a.b"),
        ("X-Second: {secret:auth:a_b}", '-H "X-Second: $CHECKER_TOKEN_A_B_1"', "a-b"),
        # The name of a header comes from the description, and bash would run it inside of double quotes.
        ("X-`id`$(id): {secret:auth:evil}", "-H 'X-`id`$(id): [Filtered]'", ""),
        (
            "Cookie: a=b; sid={secret:cookie:sid}; token=1",
            '-H "Cookie: a=[Filtered]; sid=$CHECKER_TOKEN_S; token=[Filtered]"',
            "S",
        ),
        # Not clear whose, or not from a scheme.
        ("X-Two: {secret:header:X-Two}", '-H "X-Two: $CHECKER_X_TWO"', "..."),
        ("X-Key: {secret:header:X-Key}", '-H "X-Key: $CHECKER_X_KEY"', "..."),
        ("Cookie: a={secret:header:Cookie}", '-H "Cookie: a=$CHECKER_A"', "..."),
        ("Cookie: {secret:header:Cookie}", '-H "Cookie: $CHECKER_COOKIE"', "..."),
        ("Cookie: {secret:header:Cookie}; b=1", "-H 'Cookie: [Filtered]; b=[Filtered]'", ""),
        # Not the credentials alone.
        ("Authorization: Token {secret:auth:B}", "-H 'Authorization: [Filtered]'", ""),
        ("X-Api: {secret:auth:my_key} and more", "-H 'X-Api: [Filtered] and more'", ""),
        ("Authorization: made-up", "-H 'Authorization: [Filtered]'", ""),
    ],
)
def test_credentials_of_a_scheme_are_a_variable_that_a_command_sets(header: str, shown: str, hidden: str) -> None:
    masking = Masking(ON, SecretStore(), (), TOKENS, "a file.json")
    command = masking.command(f"curl -X GET -H '{header}' http://h/\nas drawn")
    assert command.text == f"curl -X GET {shown} http://h/\nas drawn"
    exports, places = hidden_parts(command.hidden)
    assert bool(exports) == bool(hidden) != bool(places)
    token = f"\"$(checker auth token {hidden} 'a file.json')\""
    assert all(one.endswith("=..." if hidden == "..." else f"={token}") for one in exports)


@pytest.mark.parametrize(
    ("url", "shown", "exports"),
    [
        ("'http://h/?a=1&key={secret:auth:Q}'", '"http://h/?a=1&key=$CHECKER_TOKEN_Q"', 1),
        ("'http://h/?key={secret:auth:Q}&token=1'", '"http://h/?key=$CHECKER_TOKEN_Q&token=%5BFiltered%5D"', 1),
        ("'http://h/?k={secret:query:k}&key={secret:auth:Q}'", '"http://h/?k=$CHECKER_K&key=$CHECKER_TOKEN_Q"', 2),
        # A variable cannot be spelled in another way, and bash would run what stands in double quotes.
        ("'http://h/?key={secret-quoted:auth:Q}'", "'http://h/?key=%5BFiltered%5D'", 0),
        ("'http://h/?a=$(id)&key={secret:auth:Q}'", "'http://h/?a=$(id)&key=%5BFiltered%5D'", 0),
        ("'http://h/{secret:auth:Q}'", "'http://h/[Filtered]'", 0),
    ],
)
def test_a_secret_in_a_query_is_a_variable_of_the_command(url: str, shown: str, exports: int) -> None:
    masking = Masking(ON, SecretStore(), ("query key",), TOKENS, "a.json")
    command = masking.command(f"curl -X GET {url}")
    assert command.text == f"curl -X GET {shown}"
    assert len(hidden_parts(command.hidden)[0]) == exports


@pytest.mark.parametrize(
    ("words", "shown", "hidden"),
    [
        ("-H 'X-Api-Key: 0' http://h/", "-H 'X-Api-Key: [Filtered]' http://h/", "header X-Api-Key"),
        ("-H 'X-Api-Key;' http://h/", "-H 'X-Api-Key;' http://h/", ""),
        ("'http://h/?token=a&b=%20'", "'http://h/?token=%5BFiltered%5D&b=%20'", "query token"),
        ("'http://h/?token=&token'", "'http://h/?token=&token'", ""),
        ("http://a:b@h/", "'http://[Filtered]@h/'", "credentials in the URL"),
        ("-X GET --globoff $'http://h/{a}?q=\\x07'", "-X GET --globoff $'http://h/{a}?q=\\x07'", ""),
        (
            "-H 'Content-Type: application/json' -d '{\"password\": 1, \"b\": 2}' http://h/",
            '-H \'Content-Type: application/json\' -d \'{"password":"[Filtered]","b":2}\' http://h/',
            "body password",
        ),
        ("-d 'token=it'\"'\"'s&x=1' http://h/", "-d 'token=%5BFiltered%5D&x=1' http://h/", "body token"),
        ("-H 'Content-Type:' -d 'token=a' http://h/", "-H 'Content-Type:' -d 'token=a' http://h/", ""),
    ],
)
def test_a_command_shows_no_value_of_a_sensitive_name_and_says_where(words: str, shown: str, hidden: str) -> None:
    command = Masking(ON, SecretStore()).command(f"curl {words}")
    assert command == ShownCommand(f"curl {shown}", (hidden,) if hidden else ())


def test_words_under_a_command_stay_but_for_secrets() -> None:
    command = "curl -H 'X-Api-Key: 123' http://h/\n(as drawn, with {secret:header:X-Mine})"
    shown = Masking(ON, SecretStore()).command(command)
    first, second = shown.text.splitlines()
    assert "123" not in first
    assert second == "(as drawn, with [Filtered])"
    assert shown.hidden == ("header X-Api-Key", "header X-Mine")


DRAWN = (Component("query", "positive", ()), Component("body", "positive", ()))
LINE = "curl 'http://h/?sort_key=a&token=b' -H 'X-Key: c' -H 'Content-Type: application/json'"


def test_what_was_drawn_is_shown_in_commands() -> None:
    command = f"{LINE} -d '{{\"password\":1}}'"
    shown = Masking(ON, SecretStore()).command(command, [DRAWN])
    assert shown.text == command.replace("=b'", "=%5BFiltered%5D'").replace(": c", ": [Filtered]")
    assert shown.hidden == ("header X-Key", "query token")


def test_each_step_has_parts_of_its_own() -> None:
    commands = "\n".join(["curl 'http://h/?sort_key=a'"] * 2)
    outside = (Component("query", "positive", ("sort_key",)),)
    first, second = Masking(ON, SecretStore()).command(commands, [DRAWN, outside]).text.split("\n")
    assert first == "curl 'http://h/?sort_key=a'"
    assert second == "curl 'http://h/?sort_key=%5BFiltered%5D'"
    # Whose parts are whose is not known.
    unknown = Masking(ON, SecretStore()).command(commands, [DRAWN]).text
    assert unknown.count("Filtered") == 2


def test_credentials_of_the_description_are_masked() -> None:
    shown = Masking(ON, SecretStore(), ("query appid",)).command("curl 'http://h/?appid=1'", [DRAWN])
    assert shown == ShownCommand("curl 'http://h/?appid=%5BFiltered%5D'", ("query appid",))


def test_what_was_drawn_is_masked_where_that_is_wanted() -> None:
    masking = Masking(Sanitization(generated=True), SecretStore())
    assert "sort_key=%5BFiltered%5D" in masking.command(LINE, [DRAWN]).text
