"""Whatever cannot mean anything: usage, a hint and one sentence; exit code 2."""

import pytest

RUN = ("run", "openapi.json", "-u", "http://127.0.0.1:1")

WRONG = {
    "no location": (("run",), "Missing argument 'LOCATION'."),
    "location is no file": (("run", "no.json"), "Invalid value for 'LOCATION': file 'no.json' does not exist"),
    "location without a scheme": (
        ("run", "localhost:8000/openapi.json"),
        "Invalid value for 'LOCATION': file 'localhost:8000/openapi.json' does not exist; "
        "a URL begins with its scheme: 'http://localhost:8000/openapi.json'",
    ),
    "empty location": (("run", ""), "Invalid value for 'LOCATION': give a URL or the path of an API description"),
    "NUL in location": (("run", "a\0b"), "Invalid value for 'LOCATION': give a URL or the path of an API description"),
    "other scheme": (
        ("run", "ftp://127.0.0.1/a.json"),
        "Invalid value for 'LOCATION': 'ftp://127.0.0.1/a.json' is not an http(s) URL",
    ),
    "base URL": (
        ("run", "openapi.json", "--url", "example"),
        "Invalid value for '-u' / '--url': Must be an absolute http(s) URL like "
        "'http://127.0.0.1:8080', but got 'example'",
    ),
    "base URL with a blank in its host": (
        ("run", "openapi.json", "--url", "http://x y"),
        "Invalid value for '-u' / '--url': Must be an absolute http(s) URL like "
        "'http://127.0.0.1:8080', but got 'http://x y'",
    ),
    "base URL with a bad port": (
        ("run", "openapi.json", "--url=http://127.0.0.1:99999"),
        "Invalid value for '-u' / '--url': Must be an absolute http(s) URL like "
        "'http://127.0.0.1:8080', but got 'http://127.0.0.1:99999'",
    ),
    "header without a colon": (
        (*RUN, "-H", "abc"),
        "Invalid value for '-H' / '--header': a header is not in the KEY:VALUE form",
    ),
    "header without a name": (
        (*RUN, "-H", ":abc"),
        "Invalid value for '-H' / '--header': Header name must not be empty",
    ),
    "header outside Latin-1": (
        (*RUN, "-H", "X: ☃"),
        "Invalid value for '-H' / '--header': Header 'X' must hold Latin-1 characters only",
    ),
    "header name outside Latin-1": (
        (*RUN, "-H", "☃: a"),
        "Invalid value for '-H' / '--header': Invalid header name: '☃'",
    ),
    "workers": ((*RUN, "-w", "65"), "Invalid value for '-w' / '--workers': Must be at most 64, but got 65"),
    "name of a warning": (
        (*RUN, "--warnings", "nope"),
        "Invalid value for '--warnings': Must be the name of a warning, but got 'nope'; there are: 'unreached', 'missing_auth', ",
    ),
    "name of a health check": (
        (*RUN, "--suppress-health-check", "all,too_slo"),
        "Invalid value for '--suppress-health-check': 'too_slo'. Did you mean 'too_slow'? Valid values are: ",
    ),
    "more cases than anybody waits for": (
        (*RUN, "-n", "99999999999999999999"),
        "Invalid value for '-n' / '--max-examples': Must be at most 1000000000, but got 99999999999999999999",
    ),
    "a time-out of ages": (
        (*RUN, "--request-timeout", "1e300"),
        "Invalid value for '--request-timeout': Must be at most 1e+08, but got 1e+300",
    ),
    "workers that are no number": (
        (*RUN, "--workers=many"),
        "Invalid value for '-w' / '--workers': 'many'. Valid values are: 'auto' or an integer",
    ),
    "certificates that are not there": (
        (*RUN, "--tls-verify", "none.pem"),
        "Invalid value for '--tls-verify': Must be an existing file or folder, but got 'none.pem'",
    ),
    "time-out of zero": (
        (*RUN, "--request-timeout", "0"),
        "Invalid value for '--request-timeout': Must be greater than 0, but got 0.0",
    ),
    "time limit below zero": (
        ("fuzz", "openapi.json", "--max-time", "-1"),
        "Invalid value for '--max-time': Must be greater than 0, but got -1.0",
    ),
    "seed": ((*RUN, "--seed", "x"), "Invalid value for '--seed': Must be an integer, but got 'x'"),
    "codec": (
        (*RUN, "--generation-codec", "utf-9"),
        "Invalid value for '--generation-codec': Must be a known codec, but got 'utf-9'",
    ),
    "boolean": (
        (*RUN, "--output-sanitize", "maybe"),
        "Invalid value for '--output-sanitize': Must be a boolean, but got 'maybe'",
    ),
    "mode": (
        (*RUN, "--mode", "positiv"),
        "Invalid value for '-m' / '--mode': 'positiv'. Did you mean 'positive'? "
        "Valid values are: 'positive', 'negative', 'all'",
    ),
    "check": (
        (*RUN, "-c", "not_a_server_eror"),
        "--checks: unknown name 'not_a_server_eror'. Did you mean 'not_a_server_error'?",
    ),
    "check without its limit": (
        (*RUN, "--checks", "max_response_time"),
        "--checks max_response_time needs a value for it: give --max-response-time",
    ),
    "limit of nothing": (
        (*RUN, "--max-response-time", "0"),
        "Invalid value for '--max-response-time': Must be greater than 0, but got 0.0",
    ),
    "excluded check": ((*RUN, "--exclude-checks", "x"), "--exclude-checks: unknown name 'x'"),
    "phase": ((*RUN, "--phases", "fuzz"), "--phases: unknown name 'fuzz'. Did you mean 'fuzzing'?"),
    "no phase": ((*RUN, "--phases", ","), "--phases needs a name"),
    "report format": ((*RUN, "--report", "xml"), "--report: unknown name 'xml'"),
    "colours": ((*RUN, "--force-color", "--no-color"), "--force-color and --no-color exclude each other"),
    "colours, said before the command": (
        ("--no-color", *RUN, "--force-color"),
        "--force-color and --no-color exclude each other",
    ),
    "key without certificate": (
        (*RUN, "--request-cert-key", "openapi.json"),
        "--request-cert-key needs --request-cert",
    ),
    "most workers of no cluster": ((*RUN, "--max-workers", "9"), "--max-workers needs --cluster, or `cluster`"),
    "deterministic with a database": (
        (*RUN, "--generation-deterministic", "--generation-database", "a"),
        "--generation-deterministic and --generation-database exclude each other",
    ),
    "bytes without a report": ((*RUN, "--report-preserve-bytes"), "--report-preserve-bytes needs a vcr or har report"),
    "credentials twice": (
        (*RUN, "-a", "a:b", "-H", "AUTHORIZATION: c"),
        "--auth and an Authorization header exclude each other",
    ),
    "credentials without a colon": (
        (*RUN, "--auth", "abc"),
        "Invalid value for '-a' / '--auth': it is not in the USER:PASSWORD form",
    ),
    "credentials outside Latin-1": (
        (*RUN, "--auth", "☃:b"),
        "Invalid value for '-a' / '--auth': it must hold Latin-1 characters only",
    ),
    "same filter twice": (
        (*RUN, "--include-path", "/a", "--include-path", "/a"),
        "include-path: '/a' is given more than once",
    ),
    "included and excluded": (
        (*RUN, "--include-tag", "a", "--exclude-tag", "a"),
        "tag 'a' is both included and excluded",
    ),
    "filter expression": ((*RUN, "--include-by", "a"), "invalid filter expression 'a'"),
    "filter pattern": ((*RUN, "--exclude-name-regex", "("), "exclude-name-regex: invalid regular expression '('"),
    "unknown option": ((*RUN, "--max-example", "1"), "No such option '--max-example'. Did you mean '--max-examples'?"),
    "option of another command": (("fuzz", *RUN[1:], "-n", "1"), "No such option '-n'. `checker run` has it"),
    "option that stands before the command": (
        (*RUN, "--config-file", "a.toml"),
        "No such option '--config-file'. Put it before the command: `checker --config-file ... run`",
    ),
    "option of another tool": ((*RUN, "--targets", "1"), "No such option '--targets'."),
    "singular of an option": ((*RUN, "--check", "all"), "No such option '--check'. Did you mean '--checks'?"),
    "ends of options": (
        (*RUN, "--id", "a"),
        "No such option '--id'. (Did you mean one of: '--exclude-operation-id', '--include-operation-id'?)",
    ),
    "end of an option": ((*RUN, "--timeout", "1"), "No such option '--timeout'. Did you mean '--request-timeout'?"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_usage(invoke, name: str) -> None:
    arguments, reason = WRONG[name]
    result = invoke(*arguments)
    command = next(one for one in arguments if one in ("run", "fuzz"))
    assert result.exit_code == 2
    assert f"Usage: checker {command} [OPTIONS] LOCATION\n" in result.stderr
    assert f"Try 'checker {command} --help' for help." in result.stderr
    assert f"\nError: {reason}" in result.stderr
    assert result.stdout == ""


def test_option_with_another_name_here_gets_that_name(invoke) -> None:
    result = invoke("report", "--report", "junit")
    assert result.exit_code == 2
    assert "\nError: No such option '--report'. Here it is `--format`" in result.stderr


@pytest.mark.parametrize(
    "option",
    [
        ("--max-redirects", "30"),
        ("--generation-with-security-parameters", "yes"),
        ("--request-retries=0",),
        ("--mode", "positive"),
        ("--phases", "fuzzing"),
        ("--checks", "all"),
    ],
    ids=" ".join,
)
def test_what_is_so_anyway_may_be_asked_for(settings_of, option: tuple[str, ...]) -> None:
    assert settings_of(*RUN, *option).common.checks == settings_of(*RUN).common.checks
