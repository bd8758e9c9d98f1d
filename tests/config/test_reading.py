from hypothesis import given
from hypothesis import strategies as st

from checker.config.config import Config, Section
from checker.config.reading import substituted
from checker.config.table import SECTIONS

TEXTS = st.text(st.sampled_from("ab${}_1 é"))
TREES = st.recursive(
    TEXTS | st.integers() | st.booleans(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=8
)


def escaped(value):
    if isinstance(value, str):
        return value.replace("${", "$${")
    if isinstance(value, dict):
        return {key: escaped(item) for key, item in value.items()}
    return [escaped(item) for item in value] if isinstance(value, list) else value


@given(TREES)
def test_escaped_placeholders_come_back_as_they_were(value) -> None:
    # `$$${` would read as a literal after a dollar; that one cannot be written.
    if "$${" not in str(value):
        assert substituted(escaped(value), {}) == value


@given(TEXTS, TEXTS, TEXTS)
def test_values_of_variables_are_not_looked_into(before, value, after) -> None:
    text = f"{before.replace('$', '')}${{NAME}}{after.replace('$', '')}"
    expected = f"{before.replace('$', '')}{value}{after.replace('$', '')}"
    assert substituted(text, {"NAME": value}) == expected


OPTIONS = [
    (path, name, key)
    for path, keys in SECTIONS.items()
    for name, key in keys.items()
    if key.default is not None and "*" not in path
]


def section_of(config: Config, path: tuple[str, ...]) -> Section:
    section: Section = config
    for name in path:
        section = getattr(section, name)
    return section


@given(st.lists(st.sampled_from(OPTIONS)))
def test_what_is_set_to_its_default_changes_nothing_to_see(options) -> None:
    config = Config()
    for path, name, key in options:
        section_of(config, path).update(**{name.replace("-", "_"): key.default})
    seen = [getattr(section_of(config, path), name.replace("-", "_")) for path, name, _ in OPTIONS]
    assert seen == [key.default for _, _, key in OPTIONS]


@given(st.permutations(["seed", "workers", "proxy"]))
def test_order_of_updates_of_different_keys_does_not_matter(names) -> None:
    values = {"seed": 3, "workers": "auto", "proxy": "http://127.0.0.1:9"}
    config = Config()
    for name in names:
        config.update(**{name: values[name]})
    assert {name: getattr(config, name) for name in names} == values
    assert config.revision == 3
