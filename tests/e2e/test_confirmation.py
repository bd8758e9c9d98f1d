"""Each failure says if it shows always, now and then, or after others; and its commands do what they say."""

import re

import pytest

from tests.e2e.confirming import (
    CLASSES,
    REPORTS,
    SEQUENCE,
    classes,
    confirmed_run,
    failures,
    pasted,
    tells_classes,
    text_of,
)
from tests.e2e.runner import Command, Ran


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return confirmed_run(Command(tmp_path_factory.mktemp("run")), seed=1)


def test_each_failure_has_its_class(ran: Ran) -> None:
    assert classes(ran) == CLASSES, ran.shown


@pytest.mark.parametrize("output", ["console", *REPORTS])
def test_every_output_tells_it(ran: Ran, output: str) -> None:
    assert tells_classes(text_of(ran, output))


def test_commands_fail_as_told_on_a_fresh_instance(ran: Ran) -> None:
    stable = [one for one in failures(ran) if one["stability"] == "stable"]
    assert len(stable) == 2
    for one in stable:
        assert pasted(one["reproduce"])[-1] == one["answer"].partition(" ")[0], one


def test_what_is_taken_without_credentials_is_printed_without(ran: Ran) -> None:
    (found,) = [one for one in failures(ran) if one["check"] == "ignored_auth"]
    (command,) = found["reproduce"]
    assert "Authorization" not in command


def test_a_sequence_takes_its_values_from_responses(ran: Ran) -> None:
    (found,) = [one for one in failures(ran) if one["stability"] == SEQUENCE]
    block = ran.stdout[ran.stdout.index("GET /things/{id} _") :]
    assert re.search(r"^ +id_1=\$\(curl .* \| jq -r '.id \| @uri'\)$", block, re.MULTILINE)
    assert pasted(["\n".join(found["reproduce"])])[0].endswith("500")
