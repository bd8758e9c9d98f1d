"""Which values a parameter takes where things have hundreds of fields."""

from checker.core.operation import Label
from checker.values.consumers import Consumer
from checker.values.history import Rings, ValueHistory

OTHERS = 300


def ring(name: str, value: str) -> ValueHistory:
    made = ValueHistory(("pods",), name, str)
    made.add((value, ()), (Label("GET /pods"), f"/{name}"))
    return made


def fields() -> list[ValueHistory]:
    """Those of a pod: what names it comes late."""
    found = [ring(f"field{number}", f"t{number}") for number in range(OTHERS)]
    found[200:200] = [ring("name", "mine")]
    return found


def asked(rings: list[ValueHistory], *, by: int) -> Consumer:
    """What was asked for a value each time that so many rings more were known."""
    found = Consumer("name", ("pods",), True, (str,), False)
    for count in range(by, len(rings) + by, by):
        found.choose(Rings(rings[:count]), 0)
    return found


def chosen(consumer: Consumer, rings: list[ValueHistory]) -> list[object]:
    taken = (consumer.choose(Rings(rings), index) for index in range(64))
    return [one.value for one in taken if one is not None]


def test_what_is_called_as_it_should_be_is_found_among_hundreds_of_others() -> None:
    rings = fields()
    values = chosen(asked(rings, by=len(rings)), rings)
    assert values[0] == "mine"
    assert len(set(values)) > 1


def test_only_the_field_is_taken_of_which_more_values_named_something_than_nothing() -> None:
    rings = fields()
    consumer = asked(rings, by=len(rings))
    consumer.fared("name", is_missing=False)
    assert set(chosen(consumer, rings)) == {"mine"}
    consumer.fared("name", is_missing=True)
    assert len(set(chosen(consumer, rings))) > 1


def test_it_does_not_matter_when_it_is_asked() -> None:
    """Workers ask at other moments, and have to send the same."""
    rings = fields()
    expected = chosen(asked(rings, by=len(rings)), rings)
    for by in (1, 7, 100):
        assert chosen(asked(rings, by=by), rings) == expected


def test_each_looks_at_some_only() -> None:
    """A thousand parameters, and a thousand fields that each may take: that would be a million pairs."""
    assert len(asked(fields(), by=10)._candidates) < OTHERS / 2


def test_a_careful_consumer_takes_values_that_the_run_created_while_there_are_any() -> None:
    users = ring("name", "made")
    users.made.update(users.values)
    for number in range(20):
        users.add((f"listed{number}", ()), (Label("GET /pods"), "/*/name"))
    careful = Consumer("name", ("pods",), True, (str,), False, is_careful=True)
    assert set(chosen(careful, [users])) == {"made"}
    users.remove(("made", ()))
    assert "made" not in chosen(careful, [users])
    assert chosen(careful, [users])
