from typing import Any

from checker.core.failures import Failure


def test_a_failure_holds_texts_whatever_objects_a_check_passes() -> None:
    given: Any = 404
    failure = Failure(given, title=given, unique_key=given, text=given)
    assert (failure.message, failure.title, failure.unique_key, failure.text) == ("404",) * 4
