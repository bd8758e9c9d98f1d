"""What a test changes of its cases: hooks of its own, overridden parameters."""


def test_hooks_of_a_test_act_in_it_alone(run) -> None:
    text = """
def map_path_parameters(ctx, path_parameters):
    return {"id": 42}

narrow = schema.include(path="/users/{id}", method="GET")

@narrow.hooks.apply(map_path_parameters)
@narrow.parametrize()
def test_with(case):
    assert case.path_parameters == {"id": 42}

@narrow.parametrize()
def test_without(case):
    assert case.path_parameters != {"id": 42}
"""
    run(text).assert_outcomes(passed=2)


def test_a_hook_that_takes_nothing_is_named(run) -> None:
    text = """
narrow = schema.include(path="/users/{id}", method="GET")

@narrow.hook
def filter_path_parameters(ctx, path_parameters):
    return False

@narrow.parametrize()
def test_api(case):
    pass
"""
    ran = run(text)
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(
        ["*Unsatisfiable: hook filter_path_parameters: it rejected all of the first 20 cases; make it less strict*"]
    )


def test_hooks_of_a_test_may_have_any_name(run) -> None:
    text = """
def fixed(ctx, path_parameters):
    return {"id": 42}

@schema.include(path="/users/{id}", method="GET").parametrize()
@schema.hooks.apply(fixed, name="map_path_parameters")
def test_with(case):
    assert case.path_parameters == {"id": 42}
"""
    run(text).assert_outcomes(passed=1)


def test_overridden_parameters_have_their_values_where_they_are_declared(run) -> None:
    text = """
@schema.parametrize()
@schema.override(path_parameters={"id": 42}, query={"q": 1})
def test_api(case):
    assert case.path_parameters == ({"id": 42} if "{id}" in case.path else {})
    assert "q" not in case.query
"""
    run(text).assert_outcomes(passed=4)
