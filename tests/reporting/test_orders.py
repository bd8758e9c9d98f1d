import pytest

from checker.reporting.orders import WritingSpeed


def test_what_an_interaction_takes_is_reckoned_of_late() -> None:
    speed, now, written = WritingSpeed(), 0.0, 0
    assert speed.each_s == 0.0
    found = []
    for each_s in (0.0001, 0.001):
        for _ in range(100):
            speed.begin(now)
            now += 100 * each_s
            written += 100
            speed.note(now, written)
        found.append(speed.each_s)
    assert found == [pytest.approx(0.0001, rel=0.05), pytest.approx(0.001, rel=0.05)]


def test_a_few_do_not_seem_slow_for_what_it_takes_to_look() -> None:
    speed = WritingSpeed()
    for number in range(1, 100):
        speed.begin(float(number))
        speed.note(number + 0.2, number)
    # A look took 0.2 s, and found one.
    assert speed.each_s < 0.2 / 3


def test_where_there_is_nothing_to_write_the_time_does_not_count() -> None:
    speed = WritingSpeed()
    speed.begin(0.0)
    speed.note(0.5, 100)
    for now in range(1, 50):
        speed.begin(float(now))
        speed.note(now + 0.9, 100)
    assert speed.each_s == pytest.approx(0.005, rel=0.2)
