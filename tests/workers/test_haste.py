from checker.workers.haste import Haste


def test_a_candidate_has_a_moment_or_four_times_what_the_failure_took() -> None:
    assert Haste().limit_s(0.002) == 0.6
    assert Haste().limit_s(2.0) == 8.0


def test_a_task_whose_candidates_sleep_is_not_shrunk_further() -> None:
    haste = Haste()
    for _ in range(2):
        assert not haste.is_needed("t")
        haste.observe("t", 0.002, 0.9)
    assert haste.is_needed("t")
    assert not haste.is_needed("u")


def test_candidates_of_a_slow_failure_may_be_slow() -> None:
    haste = Haste()
    for _ in range(9):
        haste.observe("t", 1.0, 2.0)
    assert not haste.is_needed("t")
