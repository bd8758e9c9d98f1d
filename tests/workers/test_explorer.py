"""What follows the responses of `fuzz`."""

from collections.abc import Mapping, Sequence
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.response import Response
from checker.workers.explorer import Explorer, state_of
from checker.workers.recording.unconfirmed import Chain, JudgedCase

CREATE, PAY, SHIP, READ = map(Label, ("POST /orders", "POST /orders/{id}/pay", "POST /orders/{id}/ship", "GET /orders"))
PHASE = PhaseInfo("exploration")


def made(label: Label) -> Any:
    """Return a case that uses a value of its sequence if its path has a variable."""
    method = label.partition(" ")[0]
    operation = SimpleNamespace(resource_method=method, label=label, status_of=lambda response: response.status_code)
    bindings = (SimpleNamespace(expression="$response.body#/id"),) if "{id}" in label else ()
    return SimpleNamespace(label=label, bindings=bindings, case=SimpleNamespace(other_method=None, operation=operation))


def shot(label: Label, status: int = 200, content: bytes = b"{}") -> JudgedCase:
    one = made(label)
    return JudgedCase(one, cast("Any", SimpleNamespace(case=one.case, outcome=Response(status, [], content))))


class Builder:
    """Offers two operations, the one that was tried less first."""

    def follow(
        self, sent: Sequence[Any], seed: int, index: int, phase: PhaseInfo, *, tried: Mapping[Label, int]
    ) -> Any:
        return made(min((PAY, SHIP), key=lambda label: tried.get(label, 0)))


def explorer() -> Explorer:
    model = SimpleNamespace(followers=lambda label: ())
    return Explorer(cast("Any", None), cast("Any", model), Random(1), cast("Any", Builder()))


def followed(explorer: Explorer, chain: Chain) -> list[tuple[Chain, Label]]:
    """Return what follows, with the sequences that go on, when a response arrives again and again until a sequence goes on."""
    for index in range(100):
        found = explorer.follow(chain, (1, index, PHASE), is_news=False)
        if found is not None:
            return [(found[0], found[1].label)]
    return []


def test_a_refused_step_leaves_its_sequence_to_other_steps() -> None:
    order: Chain = (shot(CREATE, 201),)
    one = explorer()
    (chain, first), *_ = followed(one, order)
    (other, second), *_ = followed(one, (*chain, shot(first, 409)))
    assert chain == other == order
    assert {first, second} == {PAY, SHIP}


def test_a_step_that_was_accepted_makes_another_state() -> None:
    order: Chain = (shot(CREATE, 201), shot(PAY))
    assert state_of(order) == state_of((*order, shot(PAY), shot(READ), shot(SHIP, 409))) == (CREATE, PAY)
    other = shot(Label("POST /customers"), 201)
    assert state_of((*order, other)) == (CREATE, PAY), "it uses no value of the sequence"


def test_the_state_that_was_tried_least_goes_on() -> None:
    one, orders, paid = explorer(), (shot(CREATE, 201),), (shot(CREATE, 201), shot(PAY))
    for _ in range(8):
        followed(one, orders)
    assert followed(one, paid)[0][0] == paid


def test_what_is_gone_or_large_does_not_go_on() -> None:
    gone = (shot(CREATE, 201), shot(READ, 404))
    large = (shot(CREATE, 201, b"x" * 100_000),)
    assert followed(explorer(), gone) == followed(explorer(), large) == []


def test_sequences_that_show_nothing_new_go_on_less_often() -> None:
    def count(*, is_news: bool) -> int:
        one = explorer()
        for _ in range(5_000):
            one.follow((shot(CREATE, 201), shot(PAY)), (1, 1, PHASE), is_news=is_news)
        return sum(one.follow((shot(CREATE, 201),), (1, 1, PHASE), is_news=False) is not None for _ in range(1_000))

    assert 4 * count(is_news=False) < count(is_news=True)


def test_a_repeated_read_does_not_lengthen_a_sequence() -> None:
    order: Chain = (shot(CREATE, 201), shot(READ))
    assert followed(explorer(), (*order, shot(READ)))[0][0] == order
    changed = (*order, shot(PAY), shot(READ))
    assert followed(explorer(), changed)[0][0] == changed
