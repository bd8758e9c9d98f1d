"""`checker run --shard`: the parts of a run that separate machines send."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.apps import stores
from tests.apps.serving import App, serving
from tests.e2e.runner import Command, Ran

SHARDS = 8
STORES = 50
ALONE = (
    "--checks", "not_a_server_error,response_schema_conformance",
    "--set", "phases.fuzzing.error-feedback.enabled=false",
    *(word for phase in ("examples", "coverage", "fuzzing")
      for word in ("--set", f"phases.{phase}.extra-data-sources.responses=false")),
)  # fmt: skip
"""Without learning, without values of earlier responses, and with checks that find nothing, so that nothing is investigated."""

Wire = Counter[tuple[object, ...]]


def _wire(app: App) -> Wire:
    return Counter(
        (method, target, tuple(pair for pair in headers if pair[0] != "host"), body)
        for method, target, headers, body in app.wire()
    )


def _run(folder: Path, count: int, *options: str, stateless: bool = False, joined: bool = False) -> tuple[Wire, Ran]:
    folder.mkdir()
    answer = stores.answering(count, stateless=stateless, joined=joined)
    with serving(answer, stores.document(count, joined=joined)) as app:
        ran = Command(folder).here("run", app.document_url, "--seed", "1", "--inline", *options)
    assert ran.code in (0, 1), ran.shown
    return _wire(app), ran


def _shards(
    folder: Path, count: int, of: int, *options: str, stateless: bool = False, joined: bool = False
) -> list[tuple[Wire, Ran]]:
    return [
        _run(folder / f"{number}", count, "--shard", f"{number}/{of}", *options, stateless=stateless, joined=joined)
        for number in range(1, of + 1)
    ]


def _stores(sent: Wire) -> set[str]:
    """Return the collections that requests went to."""
    return {str(target).split("/")[1].split("?")[0].strip("'") for _, target, *_ in sent}


@pytest.mark.thorough
def test_eight_shards_send_each_request_of_the_whole_run_once(tmp_path: Path) -> None:
    options = ("-n", "3", "--phases", "fuzzing", *ALONE)
    whole, _ = _run(tmp_path / "whole", STORES, *options, stateless=True)
    shards = _shards(tmp_path, STORES, SHARDS, *options, stateless=True)
    union = sum((sent for sent, _ in shards), Counter())
    assert (union - whole, whole - union) == (Counter(), Counter())
    sent_to = [_stores(sent) for sent, _ in shards]
    assert sum(map(len, sent_to)) == len(set().union(*sent_to)) == STORES
    labels = [label for _, ran in shards for label in ran.view.labels]
    assert len(labels) == len(set(labels)) == stores.OPERATIONS * STORES
    costs = [sent.total() for sent, _ in shards]
    assert max(costs) <= 1.25 * sum(costs) / SHARDS
    assert len({ran.view.opened.partition for _, ran in shards if ran.view.opened}) == 1


def test_lists_of_cases_are_the_same_in_shards(tmp_path: Path) -> None:
    options = ("--phases", "examples,coverage", *ALONE)
    whole, _ = _run(tmp_path / "whole", 6, *options, stateless=True)
    shards = _shards(tmp_path, 6, 3, *options, stateless=True)
    assert sum((sent for sent, _ in shards), Counter()) == whole


@pytest.mark.thorough
def test_shards_find_what_the_whole_run_finds(tmp_path: Path) -> None:
    whole = _run(tmp_path / "whole", 15, "-n", "10")[1]
    shards = _shards(tmp_path, 15, 3, "-n", "10")
    found = sorted(one.fingerprint for _, ran in shards for one in ran.findings)
    assert found == sorted(one.fingerprint for one in whole.findings)
    assert {one.label for one in whole.findings} == stores.broken(15)
    # Sequences, too, stay among the operations of their shard.
    assert sum(len(_stores(sent)) for sent, _ in shards) == 15


@pytest.mark.thorough
def test_a_description_that_is_one_group_is_divided_and_each_shard_makes_what_it_needs(tmp_path: Path) -> None:
    options = ("-n", "8", "--phases", "examples,coverage,fuzzing")
    whole = _run(tmp_path / "whole", 8, *options, joined=True)[1]
    shards = _shards(tmp_path, 8, 4, *options, joined=True)
    assert {one.label for one in whole.findings} == stores.broken(8)
    found = {one.fingerprint for _, ran in shards for one in ran.findings}
    assert found == {one.fingerprint for one in whole.findings}
    labels = [label for _, ran in shards for label in ran.view.labels]
    assert len(labels) == len(set(labels)) == stores.OPERATIONS * 8
    for _, ran in shards:
        # A shard without the first collection makes and lists members of it, and sends nothing else to other shards.
        assert all(ran.view.statuses[label][201] for label in ran.view.labels if label.startswith("POST"))
        assert set(ran.view.statuses) - set(ran.view.labels) <= {
            f"{method} {stores.store(0)}" for method in ("POST", "GET")
        }
    costs = [sent.total() for sent, _ in shards]
    # Failures, which are looked into, and learned values decide a part of the requests.
    assert max(costs) <= 1.3 * sum(costs) / 4


@pytest.mark.thorough
def test_shards_of_one_group_send_each_request_of_the_whole_run_once(tmp_path: Path) -> None:
    options = ("-n", "4", "--phases", "examples,coverage,fuzzing", *ALONE)
    whole, _ = _run(tmp_path / "whole", 4, *options, stateless=True, joined=True)
    shards = _shards(tmp_path, 4, 2, *options, stateless=True, joined=True)
    union = sum((sent for sent, _ in shards), Counter())
    assert (union - whole, whole - union) == (Counter(), Counter())


def _listed(folder: Path, *options: str) -> list[str]:
    ran = Command(folder).here("list", "api.json", "--format", "json", *options)
    assert ran.code == 0, ran.shown
    return [one["label"] for one in json.loads(ran.stdout)["operations"]]


def _described(folder: Path, count: int) -> None:
    (folder / "api.json").write_text(json.dumps(stores.document(count) | {"servers": [{"url": "http://127.0.0.1:9"}]}))


def test_weights_decide_which_shard_tests_an_operation(tmp_path: Path) -> None:
    _described(tmp_path, 4)
    weights = dict.fromkeys(_listed(tmp_path), 0)
    weights |= {f"POST {stores.store(number)}": 9 if number == 1 else 3 for number in range(4)}
    (tmp_path / "weights.json").write_text(json.dumps({"weights": weights}))
    first, second = (
        _listed(tmp_path, "--shard", f"{number}/2", "--shard-weights", "weights.json") for number in (1, 2)
    )
    assert {label.split("/")[1] for label in first} == {"store01s"}
    assert len(second) == 3 * stores.OPERATIONS


def test_links_and_references_keep_operations_in_one_shard(tmp_path: Path) -> None:
    document = stores.document(6)
    store0, store5 = document["paths"][stores.store(0)], document["paths"][stores.store(5)]
    document["paths"][f"{stores.store(3)}/{{id}}"]["get"]["operationId"] = "readThree"
    link = {"operationId": "readThree", "parameters": {"id": "$response.body#/id"}}
    store0["post"]["responses"]["201"]["links"] = {"three": link}
    body = store5["post"]["requestBody"]["content"]["application/json"]["schema"]
    body["properties"]["store01_id"] = {"type": "integer"}
    (tmp_path / "api.json").write_text(json.dumps(document | {"servers": [{"url": "http://127.0.0.1:9"}]}))
    shards = [{label.split("/")[1] for label in _listed(tmp_path, "--shard", f"{n}/4")} for n in range(1, 5)]
    together = {frozenset(one) for one in shards}
    assert together == {
        frozenset({"store00s", "store03s"}), frozenset({"store01s", "store05s"}),
        frozenset({"store02s"}), frozenset({"store04s"}),
    }  # fmt: skip


def test_an_unreadable_operation_is_reported_by_one_shard(tmp_path: Path) -> None:
    document = stores.document(4)
    document["paths"][stores.store(2)]["get"]["parameters"] = [{"$ref": "#/components/parameters/Gone"}]
    (tmp_path / "api.json").write_text(json.dumps(document | {"servers": [{"url": "http://127.0.0.1:9"}]}))
    counts = [Command(tmp_path).here("list", "api.json", "--shard", f"{n}/3").stdout.count("Gone") for n in (1, 2, 3)]
    assert sorted(counts) == [0, 0, 1]


def test_a_shard_without_operations_passes(tmp_path: Path) -> None:
    _, ran = _run(tmp_path / "empty", 2, "--shard", "3/3")
    assert (ran.code, ran.view.counts.cases) == (0, 0)


@pytest.mark.parametrize("text", ["{", "[]", '{"weights": {"GET /a": -1}}', '{"weights": {"GET /a": true}}'])
def test_a_file_of_weights_that_holds_none_is_refused(text: str, tmp_path: Path) -> None:
    _described(tmp_path, 1)
    (tmp_path / "weights.json").write_text(text)
    ran = Command(tmp_path).here("list", "api.json", "--shard", "1/2", "--shard-weights", "weights.json")
    assert ran.code == 2
    assert "weights.json" in ran.stderr
