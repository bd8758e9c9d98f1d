"""Who can use what an operation answered."""

from hypothesis import given
from hypothesis import strategies as st

from checker.core.operation import Label
from checker.phases.exploration import Followers, resource_of

SEGMENTS = st.sampled_from(["a", "b", "{x}", "{y}", "c{z}"])
PATHS = st.lists(st.lists(SEGMENTS, max_size=4).map(lambda parts: "/" + "/".join(parts)))


def is_member(collection: tuple[str, ...], path: str) -> bool:
    below = tuple(path.strip("/").split("/"))[len(collection) :]
    start = "/".join(("", *collection))
    return path.startswith(f"{start}/") and below[0].startswith("{")


@given(PATHS)
def test_followers_are_the_members_of_a_collection_and_what_lies_below(paths: list[str]) -> None:
    labels = {Label(f"{number} {path}"): path for number, path in enumerate(paths)}
    followers = Followers(labels)
    for label, path in labels.items():
        assert list(followers.of(label)) == [
            other for other, one in labels.items() if is_member(resource_of(path), one)
        ]


def test_nothing_follows_an_operation_that_is_not_selected() -> None:
    assert list(Followers({Label("GET /a/{x}"): "/a/{x}"}).of(Label("GET /a"))) == []
