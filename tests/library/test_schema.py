"""Loaded schemas: mappings, finding, narrowing, strategies, hooks of their own."""

import pytest
from hypothesis import HealthCheck, given, settings

import checker

QUICK = settings(max_examples=20, database=None, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def schema(document):
    document["paths"]["/items/{id}"]["get"]["operationId"] = "getItem"
    found = checker.openapi.from_dict(document)
    found.config.phases.update(phases=["fuzzing"])
    return found


def labels(strategy) -> set[str]:
    found = set()

    @QUICK
    @given(strategy)
    def collect(case) -> None:
        found.add(case.operation.label)

    collect()
    return found


def test_it_is_a_mapping_of_paths_and_methods(schema) -> None:
    assert list(schema) == ["/items/{id}", "/items", "/both", "/broken"]
    assert len(schema) == 4
    assert "/items" in schema
    assert "/none" not in schema
    assert schema["/items"]["post"].label == "POST /items"
    assert list(schema["/items"]) == ["POST"]
    assert str(schema) == "<OpenApiSchema for Items 1>"
    assert schema.raw_schema["info"]["title"] == "Items"


def test_what_is_there_and_cannot_be_read_is_no_miss(schema) -> None:
    with pytest.raises(checker.errors.InvalidSchema, match="`GET /broken` cannot be read"):
        _ = schema["/broken"]["GET"]


def test_operations_are_found_by_reference(schema) -> None:
    found = schema.find_operation_by_reference("#/paths/~1items~1{id}/get")
    assert found.label == "GET /items/{id}"
    with pytest.raises(checker.errors.OperationNotFound, match="Did you mean `#/paths/~1items/post`"):
        schema.find_operation_by_reference("#/paths/~1items/put")


def test_operations_that_answers_lead_to(schema) -> None:
    assert [one.label for one in schema.operations_with_incoming_links()] == ["GET /items/{id}"]


@pytest.mark.parametrize(
    ("path", "method", "sentence"),
    [
        ("/item", "GET", r"`/item` not found. Did you mean `/items`\?"),
        ("/items/7", "GET", r"`/items/7` not found. Did you mean `/items/\{id\}`\?"),
        ("/items", "PUT", r"Method `PUT` not found. Available methods: POST"),
    ],
)
def test_a_miss_says_what_there_is(schema, path: str, method: str, sentence: str) -> None:
    with pytest.raises(LookupError, match=sentence):
        _ = schema[path][method]
    with pytest.raises(checker.errors.OperationNotFound):
        _ = schema[path][method]


def test_operations_are_found(schema) -> None:
    assert schema.find_operation_by_label("POST /items").label == "POST /items"
    assert schema.find_operation_by_label("PUT /items") is None
    assert schema.find_operation_by_id("getItem").label == "GET /items/{id}"
    assert schema.find_operation_by_path("get", "/items/7").label == "GET /items/{id}"
    assert schema.find_operation_by_path("get", "/none") is None
    with pytest.raises(checker.errors.OperationNotFound, match=r"Did you mean `getItem`\?"):
        schema.find_operation_by_id("getItems")


def test_narrowed_schemas_are_others(schema) -> None:
    narrow = schema.include(method="POST").exclude(path="/both")
    assert list(narrow) == ["/items"]
    assert len(schema) == 4
    with pytest.raises(LookupError):
        _ = narrow["/both"]


def test_cases_of_all_operations_are_drawn(schema) -> None:
    assert labels(schema.as_strategy()) == {"GET /items/{id}", "POST /items", "POST /both"}
    assert labels(schema.include(path="/items").as_strategy()) == {"POST /items"}
    assert labels(schema["/items"].as_strategy()) == {"POST /items"}


def test_strategies_of_operations_are_joined(schema) -> None:
    joined = schema["/items"]["POST"].as_strategy() | schema["/both"].as_strategy()
    assert labels(joined) == {"POST /items", "POST /both"}


def test_no_operation_has_no_cases(schema) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="no operation is selected"):
        schema.include(path="/none").as_strategy()


def test_hooks_of_a_schema_act_in_it_alone(document) -> None:
    first, second = (checker.openapi.from_dict(document) for _ in range(2))

    @first.hook
    def map_path_parameters(ctx, path_parameters):
        return {"id": 42}

    ids = []

    @QUICK
    @given(first["/items/{id}"]["GET"].as_strategy())
    def collect(case) -> None:
        ids.append(case.path_parameters["id"])

    collect()
    assert set(ids) == {42}
    assert first.hooks.get_all_by_name("map_path_parameters") == [map_path_parameters]
    assert second.hooks.get_all_by_name("map_path_parameters") == []


def test_hooks_act_in_order_and_where_they_are_for(document) -> None:
    schema, order = checker.openapi.from_dict(document), []

    @schema.hook
    def map_path_parameters(ctx, path_parameters):
        order.append("schema")
        return path_parameters

    @checker.hook("map_path_parameters")
    def everywhere(ctx, path_parameters):
        order.append("global")
        return path_parameters

    @checker.hook.apply_to(method="POST")
    def map_query(ctx, query):
        raise AssertionError

    @checker.hook("map_headers").skip_for(path="/items/{id}")
    def never(ctx, headers):
        raise AssertionError

    @settings(QUICK, max_examples=1)
    @given(schema["/items/{id}"]["GET"].as_strategy())
    def collect(case) -> None:
        pass

    collect()
    assert order[:2] == ["global", "schema"]


def test_hooks_around_calls_are_for_their_operations(document, api) -> None:
    schema, seen = checker.openapi.from_dict(document), []
    schema.config.update(base_url=api.url)

    @schema.hook.apply_to(path="/items")
    def after_call(ctx, case, response) -> None:
        seen.append(ctx.operation.label)

    schema["/items"]["POST"].Case(body={}).call()
    schema["/items/{id}"]["GET"].Case(path_parameters={"id": 1}).call()
    assert seen == ["POST /items"]


@pytest.mark.parametrize(("name", "arguments", "allowed"), [("before_call", "case, kwargs", "GLOBAL")])
def test_hooks_have_scopes(schema, name: str, arguments: str, allowed: str) -> None:
    with pytest.raises(ValueError, match=f"Use a different scope: {allowed}"):
        schema.hook(name)(lambda ctx, case, kwargs: None)


def test_statistic(schema) -> None:
    assert (schema.statistic.operations.total, schema.statistic.operations.selected) == (4, 4)
    narrow = schema.include(method="POST").statistic
    assert (narrow.operations.total, narrow.operations.selected) == (4, 2)
    assert narrow.links.total == 0


def test_validation_lists_what_is_wrong(schema, document) -> None:
    with pytest.raises(checker.errors.LoaderError, match="Items is not valid") as caught:
        schema.validate()
    assert any("GET /broken" in line for line in caught.value.extras)
    del document["paths"]["/broken"]
    document["paths"]["/both"]["post"]["requestBody"]["content"].pop("application/x-www-form-urlencoded")
    checker.openapi.from_dict(document).validate()


def test_operations_are_selected_by_their_security(document) -> None:
    document["components"] = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}
    document["security"] = [{"key": []}]
    document["paths"]["/both"]["post"]["security"] = []
    schema = checker.openapi.from_dict(document)
    secured = schema.include(checker.openapi.require_security_scheme("key"))
    assert list(secured) == ["/items/{id}", "/items"]
    assert list(schema.include(checker.openapi.require_security_scheme("none"))) == []
    with pytest.raises(checker.errors.IncorrectUsage, match="must be a string"):
        checker.openapi.require_security_scheme(3)  # type: ignore[arg-type]


def test_a_field_that_there_is_not_is_told_in_whole_sentences() -> None:
    schema = checker.graphql.from_file("type Query { books: String }")
    with pytest.raises(LookupError) as near:
        schema["Query"]["book"]
    assert str(near.value) == "Field `book` not found. Did you mean `books`? Available fields: books"
    with pytest.raises(LookupError) as far:
        schema["Query"]["zzz"]
    assert str(far.value) == "Field `zzz` not found. Available fields: books"


def test_modes_are_read_as_they_are_set(schema) -> None:
    positive, negative = checker.GenerationMode.POSITIVE, checker.GenerationMode.NEGATIVE
    for modes in ([positive], [negative], [positive, negative]):
        schema.config.generation.update(modes=modes)
        assert schema.config.generation.modes == modes


def test_the_configuration_of_a_schema_is_changed_and_not_replaced(schema) -> None:
    with pytest.raises(AttributeError, match="config"):
        schema.config = checker.Config.from_dict({"base-url": "http://elsewhere"})
    schema.config.base_url = "http://there"
    assert "http://there" in schema["/items"]["POST"].Case().as_curl_command()
