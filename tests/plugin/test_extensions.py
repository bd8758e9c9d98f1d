"""Extension points of a loaded schema act in the items of pytest."""

MINE = """
ASKED = set()

class Mine(checker.BaseSchema):
    def build_request_url(self, case, base_url):
        ASKED.add("build_request_url")
        return base_url + "/v2" + case.formatted_path

    def prepare_request_body(self, body):
        ASKED.add("prepare_request_body")
        return {"wrapped": body}

    def apply_auth(self, case, context):
        case.headers["X-Mine"] = "1"
        ASKED.add("apply_auth")
        return True

    def evaluate_server_error(self, case, response):
        ASKED.add("evaluate_server_error")
        super().evaluate_server_error(case, response)
        assert not case.path.startswith("/orders"), "orders are shut"

    def record_runtime_observations(self, case, response):
        ASKED.add("record_runtime_observations")

    def get_custom_format_strategies(self, generation_config, mode):
        ASKED.add("get_custom_format_strategies")
        return {}

    def create_extra_data_source(self):
        ASKED.add("create_extra_data_source")

    def get_coverage_capabilities(self):
        ASKED.add("get_coverage_capabilities")
        return []

    def get_unit_scheduler(self, operations, phase):
        ASKED.add("get_unit_scheduler")
        return reversed(list(operations))

DOCUMENT["paths"]["/orders"]["post"]["requestBody"] = {
    "required": True, "content": {"application/json": {"schema": {"type": "object"}}}
}
schema = checker.openapi.from_wsgi("/openapi.json", app)
schema.config.generation.update(max_examples=3, database="none")
schema.config.phases.update(phases=["coverage", "fuzzing"])
schema.config.checks.update(included_check_names=["not_a_server_error"])
schema.__class__ = Mine
"""
EVERY = """
def test_all_were_asked():
    assert ASKED == {name for name in vars(Mine) if not name.startswith("_")}
    assert {path for _, path, _ in SEEN if "users" not in path} == {"/v2/orders"}
"""


def test_each_is_asked_by_items(run) -> None:
    test = """
@schema.exclude(method="DELETE").parametrize()
def test_api(case):
    response = case.call_and_validate()
    assert response.request.header(b"X-Mine") == b"1"
    if case.path == "/orders":
        assert response.request.body.startswith(b'{"wrapped":')
"""
    result = run(MINE + test + EVERY)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*orders are shut*"])


def test_each_is_asked_by_items_of_a_fixture(run) -> None:
    test = """
@pytest.fixture
def api():
    return schema.exclude(method="DELETE")

@checker.pytest.from_fixture("api").parametrize()
def test_api(case):
    case.call_and_validate()
"""
    result = run(MINE + test + EVERY, "-rA")
    # By its name: pytest 9 counts an item with a failed subtest as failed, and pytest-subtests as passed.
    result.stdout.fnmatch_lines(["PASSED *::test_all_were_asked"])
    result.stdout.fnmatch_lines(["*orders are shut*"])


def test_the_schedule_is_the_order_of_the_items(run) -> None:
    test = """
@schema.parametrize()
def test_api(case):
    pass
"""
    result = run(MINE + test, "--collect-only", "-q")
    found = [line.partition("[")[2].rstrip("]") for line in result.outlines if "test_api[" in line]
    assert found == ["POST /orders", "DELETE /users/{id}", "GET /users/{id}", "GET /users"]
