import traceback
from types import FunctionType

import pytest

from checker.core.errors import LoaderError, UsageError
from checker.core.user_code import plainly


def functions_of(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def raising(error: Exception) -> None:
    try:
        raise KeyError("inside")
    except KeyError as inside:
        raise error from inside


# A function of the program, not of its user.
asked = plainly(FunctionType(raising.__code__, {**globals(), "__name__": "checker.made_up"}))


@pytest.mark.parametrize("kind", [UsageError, LoaderError, ConnectionError, TimeoutError])
def test_errors_to_expect_begin_at_the_caller(kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        asked(kind("said"))
    assert functions_of(caught.value) == ["test_errors_to_expect_begin_at_the_caller", "asked"]


def test_what_was_below_them_stays_but_for_descriptions_that_cannot_be_loaded() -> None:
    with pytest.raises(UsageError) as caught:
        asked(UsageError("said"))
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(LoaderError) as loading:
        asked(LoaderError("said"))
    assert loading.value.__cause__ is None


def test_mistakes_of_ours_keep_their_lines() -> None:
    with pytest.raises(AssertionError) as caught:
        asked(AssertionError("ours"))
    assert functions_of(caught.value)[1:] == ["asked", "raising"]


def test_errors_of_an_application_in_this_process_keep_their_lines() -> None:
    with pytest.raises(TimeoutError) as caught:
        plainly(raising)(TimeoutError("of the application"))
    assert functions_of(caught.value)[1:] == ["asked", "raising"]
