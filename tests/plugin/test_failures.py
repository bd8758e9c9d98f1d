"""What a failed check looks like: the user's line, and the block of the console."""

import pytest

FAILING = """
@schema.include(method="DELETE").parametrize()
def test_api(case):
    case.call_and_validate()
"""


def test_the_line_of_the_test_is_shown_and_ours_are_not(run) -> None:
    result = run(FAILING)
    result.stdout.fnmatch_lines([">       case.call_and_validate()"])
    text = result.stdout.str()
    assert "checker/library" not in text
    assert "hypothesis/core.py" not in text
    assert text.count("Traceback") == 0


def test_the_summary_says_what_failed(run, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    result = run(FAILING)
    result.stdout.fnmatch_lines(["FAILED *DELETE /users/{id}?* - Server error"])


def test_the_block_of_the_console_is_shown(run) -> None:
    result = run(FAILING)
    result.stdout.re_match_lines(
        [
            "E +.*checker found 1 failure",
            "E +1. Test Case ID: [0-9a-f]{12}",
            "E +- Server error",
            "E +Undocumented HTTP status code",
            "E +Received: 500",
            "E +Documented: 200",
            r"E +\[500\] Internal Server Error:",
            "E +`boom`",
            "E +Reproduce with:",
            "E +curl -X DELETE http://localhost/users/0",
        ]
    )


def test_one_failure_of_several_cases_is_shown_once(run) -> None:
    text = FAILING + "\nschema.config.phases.update(phases=['coverage', 'fuzzing'])\n"
    result = run("schema.config.phases.update(phases=['coverage', 'fuzzing'])\n" + text)
    # In CI pytest says the whole message once more, in its summary.
    assert result.stdout.str().count("E       - Server error") == 1


def test_distinct_failures_are_numbered(run) -> None:
    text = """
schema.config.generation.update(max_examples=100)
@schema.include(method="DELETE").parametrize()
def test_api(case):
    response = case.call()
    if case.path_parameters["id"] % 2:
        case.validate_response(response, checks=["status_code_conformance"])
    else:
        case.validate_response(response, checks=["not_a_server_error"])
"""
    result = run(text)
    result.stdout.re_match_lines(
        ["E +.*checker found 2 distinct failures", "E +1. Test Case ID: .*", "E +2. Test Case ID: .*"]
    )


def test_lines_of_helpers_are_shown(run) -> None:
    text = """
def helper(case):
    case.call_and_validate()

@schema.include(method="DELETE").parametrize()
def test_api(case):
    helper(case)
"""
    run(text).stdout.fnmatch_lines([">       helper(case)", ">       case.call_and_validate()"])


def test_plain_tests_show_the_same(run) -> None:
    text = """
def test_plain():
    schema["/users/{id}"]["DELETE"].Case(path_parameters={"id": 1}).call_and_validate()
"""
    result = run(text)
    result.stdout.re_match_lines([">.*call_and_validate.*", "E +.*checker found 1 failure"])


def test_other_errors_look_as_ever(run) -> None:
    text = """
@schema.include(path="/users").parametrize()
def test_api(case):
    assert case.path == "/nowhere"
"""
    run(text).stdout.fnmatch_lines(['>       assert case.path == "/nowhere"', "E       AssertionError: *"])


def test_short_tracebacks_are_short(run) -> None:
    result = run(FAILING, "--tb=short")
    result.stdout.re_match_lines(["test_.*.py:[0-9]+: in test_api"])


def test_failures_can_be_expected(run) -> None:
    text = """
@schema.include(method="DELETE").parametrize()
def test_api(case):
    with pytest.raises(checker.errors.FailureGroup) as caught:
        case.call_and_validate()
    assert [type(one) for one in caught.value.exceptions] == [checker.errors.ServerError]
"""
    result = run(text)
    result.assert_outcomes(passed=1)


def test_a_call_without_an_answer_shows_its_line_and_command(run) -> None:
    text = """
remote = checker.openapi.from_dict(DOCUMENT)
def test_api():
    case = remote["/users/{id}"]["DELETE"].Case(path_parameters={"id": 1})
    case.call_and_validate(base_url="http://127.0.0.1:9/below")
"""
    result = run(text)
    result.stdout.re_match_lines(
        [
            "> .*call_and_validate.*",
            "E +ConnectionError: connection refused: .*",
            "E +Reproduce with:",
            "E +curl -X DELETE http://127.0.0.1:9/below/users/1",
        ]
    )
    assert "checker/" not in result.stdout.str()


def test_what_a_call_cannot_do_shows_its_line_alone(run) -> None:
    text = """
def test_api():
    checker.openapi.from_dict(DOCUMENT)["/users"]["GET"].Case().call()
"""
    result = run(text)
    result.stdout.re_match_lines(["> .*Case.*call.*", "E +.*UsageError: The `base_url` argument .*"])
    assert "checker/" not in result.stdout.str()


def test_what_a_hook_raises_shows_the_line_of_the_hook(run) -> None:
    text = """
@schema.hook
def after_call(ctx, case, response):
    raise ZeroDivisionError("mine")

def test_api():
    schema["/users"]["GET"].Case().call()
"""
    result = run(text)
    result.stdout.re_match_lines(["E +ZeroDivisionError: mine", "E +.*HookExecutionError: .*"])


def test_what_a_hook_raises_while_cases_are_drawn_shows_the_line_of_the_hook(run) -> None:
    text = """
@schema.hook
def map_path_parameters(ctx, values):
    raise ZeroDivisionError("mine")

@schema.include(path="/users/{id}", method="GET").parametrize()
def test_api(case):
    pass
"""
    result = run(text)
    result.stdout.re_match_lines(["E +ZeroDivisionError: mine", "E +.*HookExecutionError: .*"])
    assert "checker/" not in result.stdout.str()


def test_a_description_that_is_not_there_is_one_sentence(run) -> None:
    result = run("schema = checker.openapi.from_path('nowhere.json')")
    result.stdout.re_match_lines(
        [".*: in <module>", " +schema = checker.openapi.from_path.*", "E +.*LoaderError: nowhere.json does not exist.*"]
    )
    text = result.stdout.str()
    assert "checker/" not in text
    assert "direct cause" not in text


def test_what_nothing_satisfies_is_said_once(run) -> None:
    text = """
DOCUMENT["paths"]["/orders"]["post"]["parameters"] = [
    {"name": "n", "in": "query", "required": True, "schema": {"type": "integer", "minimum": 2, "maximum": 1}}
]
schema = checker.openapi.from_wsgi("/openapi.json", app)
@schema.include(method="POST").parametrize()
def test_api(case):
    pass
"""
    told = run(text).stdout.str()
    # The line of the summary repeats it, where the environment is that of a CI whole.
    told, _, _ = told.partition("short test summary info")
    assert told.count("exclude every number") == 1
    assert "During handling" not in told


@pytest.mark.parametrize(
    "test",
    [
        "@schema.parametrize()\ndef test_api(): pass",
        "DOCUMENT['paths']['/users']['get']['parameters'] = [{'$ref': '#/no'}]\n"
        "@checker.openapi.from_dict(DOCUMENT).include(path='/users').parametrize()\ndef test_api(case): pass",
        "DOCUMENT['paths']['/users']['get']['parameters'] = [\n"
        "    {'name': 'n', 'in': 'query', 'required': True, 'schema': False}\n]\n"
        "@checker.openapi.from_dict(DOCUMENT).include(path='/users').parametrize()\ndef test_api(case): pass",
    ],
)
def test_a_sentence_stands_without_remarks_on_tracebacks(run, test: str) -> None:
    result = run(test)
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*entries are hidden*")


def test_a_required_body_that_nobody_can_write_fails_although_wrong_requests_could_be_sent(run) -> None:
    text = """
DOCUMENT["paths"]["/orders"]["post"]["requestBody"] = {
    "required": True, "content": {"application/x-unheard-of": {"schema": {"type": "object"}}}
}
schema = checker.openapi.from_wsgi("/openapi.json", app)
@schema.include(method="POST").parametrize()
def test_api(case):
    pass
"""
    result = run(text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["POST /orders: the required body cannot be sent*application/x-unheard-of*"])
