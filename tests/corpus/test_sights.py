"""Which findings are told, kept up to date by the findings that a record is about."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checker.corpus.fold import RunView
from checker.corpus.records import Finding
from tests.reporting.samples import changed

from .generated import finding

NAMES = st.sampled_from("abcde")
VERSIONS = st.lists(
    st.builds(
        lambda name, stage, at, same_as, withdrawn: changed(
            finding(name, stage=stage, at=at), same_as=same_as, withdrawn=withdrawn
        ),
        NAMES,
        st.sampled_from(["found", "minimised"]),
        st.sampled_from([1.0, 2.0, 3.0]),
        st.one_of(st.just(""), NAMES, st.just("lost")),
        st.booleans(),
    ),
    max_size=12,
)


def ends_of(best: dict[str, Finding], name: str) -> str:
    way: list[str] = []
    while name in best and best[name].same_as and name not in way:
        way.append(name)
        name = best[name].same_as
    return min(way[way.index(name) :]) if name in way else name


def expected(best: dict[str, Finding], first: dict[str, tuple[float, int]]) -> set[str]:
    """Fingerprints that are told, worked out of all versions at once."""
    defects: dict[str, list[str]] = {}
    for name, version in best.items():
        if not version.investigation.withdrawn:
            defects.setdefault(ends_of(best, name), []).append(name)
    return {
        end if end in names and not best[end].same_as else min(names, key=first.__getitem__)
        for end, names in defects.items()
    }


@given(VERSIONS)
def test_what_is_told_is_the_same_as_if_all_were_looked_at(versions: list[Finding]) -> None:
    view, read = RunView(), 0
    first: dict[str, tuple[float, int]] = {}
    told: set[str] = set()
    for number, version in enumerate(versions):
        view.absorb(1, version)
        name = version.fingerprint
        first[name] = min(first.get(name, (9.0, 0)), (version.at, number))
        best = dict(view.sights.best)
        assert set(view.findings) == expected(best, first)
        assert view.finding_count() == len(view.findings)
        # A reader of changes needs to look at no other finding.
        changed, read = set(view.sights.changes[read:]), len(view.sights.changes)
        told = (told - changed) | {one for one in changed if view.sights.is_shown(one)}
        assert told == set(view.findings)


def test_a_version_changes_the_findings_of_its_own_defect_only() -> None:
    view = RunView()
    for number in range(100):
        view.absorb(1, finding(f"f{number:02}"))
    read = len(view.sights.changes)
    view.absorb(1, replace(finding("f07", stage="minimised"), same_as="f03"))
    assert view.sights.changes[read:] == ["f07"]
