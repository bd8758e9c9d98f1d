"""Coroutines as tests of operations, with the plugins that run them."""

import pytest


def test_asynchronous_tests_run_by_pytest_asyncio(run) -> None:
    pytest.importorskip("pytest_asyncio")
    result = run(
        """
@schema.include(path="/users").parametrize()
@pytest.mark.asyncio
async def test_api(case):
    import asyncio
    await asyncio.sleep(0)
    SEEN.append("awaited")
    case.call_and_validate()

def test_seen():
    assert "awaited" in SEEN
""",
        "-o",
        "asyncio_default_fixture_loop_scope=function",
    )
    result.assert_outcomes(passed=2)


def test_asynchronous_tests_run_by_anyio(run) -> None:
    text = """
@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"

@schema.include(path="/users").parametrize()
@pytest.mark.anyio
async def test_api(case):
    import anyio
    await anyio.sleep(0)
    SEEN.append("awaited")

def test_awaited():
    assert SEEN.count("awaited") == 1
"""
    run(text).assert_outcomes(passed=2)
