import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from checker.transport.wire.decoding import DeclaredShape, header_value, pairs_of, path_value, query_value
from checker.transport.wire.styles import cookie_pairs, header_text, path_text, query_pairs, text_of

COLOR = "blue"
COLORS = ["blue", "black", "brown"]
RGB = {"R": 100, "G": 200}


@pytest.mark.parametrize(
    ("style", "explode", "scalar", "array", "object_"),
    [
        ("simple", False, "blue", "blue,black,brown", "R,100,G,200"),
        ("simple", True, "blue", "blue,black,brown", "R=100,G=200"),
        ("label", False, ".blue", ".blue,black,brown", ".R,100,G,200"),
        ("label", True, ".blue", ".blue.black.brown", ".R=100.G=200"),
        ("matrix", False, ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200"),
        ("matrix", True, ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200"),
        ("spaceDelimited", False, "blue", "blue%20black%20brown", "R%20100%20G%20200"),
        ("tabDelimited", False, "blue", "blue%09black%09brown", "R%09100%09G%09200"),
        ("pipeDelimited", False, "blue", "blue%7Cblack%7Cbrown", "R%7C100%7CG%7C200"),
    ],
)
def test_path_styles(style, explode, scalar, array, object_) -> None:
    found = [path_text(value, style, "color", explode=explode) for value in (COLOR, COLORS, RGB)]
    assert found == [scalar, array, object_]


@pytest.mark.parametrize(
    ("style", "explode", "array", "object_"),
    [
        ("form", True, "color=blue&color=black&color=brown", "R=100&G=200"),
        ("form", False, "color=blue,black,brown", "color=R,100,G,200"),
        ("spaceDelimited", False, "color=blue%20black%20brown", "color=R%20100%20G%20200"),
        ("spaceDelimited", True, "color=blue&color=black&color=brown", "R=100&G=200"),
        ("pipeDelimited", False, "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200"),
        ("deepObject", True, "color=blue&color=black&color=brown", "color%5BR%5D=100&color%5BG%5D=200"),
    ],
)
def test_query_styles(style, explode, array, object_) -> None:
    def query(value) -> str:
        pairs = query_pairs("color", value, style, explode=explode)
        return "&".join(f"{key}={text}" for key, text in pairs)

    assert [query(COLOR), query(COLORS), query(RGB)] == ["color=blue", array, object_]
    assert [query([]), query({})] == ["", ""]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (0, "0"),
        (1.5, "1.5"),
        (10**20, "100000000000000000000"),
        ("None", "None"),
        ([None, True], "[null,true]"),
        ({"a": [False]}, '{"a":[false]}'),
        ({"file": b"\xff\x00"}, '{"file":"\xff\\u0000"}'),
    ],
)
def test_python_spellings_never_leak(value, text) -> None:
    assert text_of(value) == text


def test_spellings_inside_of_structures() -> None:
    assert path_text([True, None], "simple", "x", explode=False) == "true,null"
    assert header_text({"a": False}, explode=True) == "a=false"
    assert query_pairs("x", [None, [True]]) == [("x", "null"), ("x", "%5Btrue%5D")]
    assert query_pairs("x", {"a": {"b": None}, "c": [1, 2]}, "deepObject") == [
        ("x%5Ba%5D%5Bb%5D", "null"),
        ("x%5Bc%5D", "1"),
        ("x%5Bc%5D", "2"),
    ]


@pytest.mark.parametrize(
    ("value", "text"), [(".", "%2E"), ("..", "%2E%2E"), ("...", "..."), ("a/b c", "a%2Fb%20c"), ("é%", "%C3%A9%25")]
)
def test_no_path_value_changes_the_segments(value, text) -> None:
    assert path_text(value, "simple", "x", explode=False) == text


def test_reserved_characters_stay_where_that_is_allowed() -> None:
    assert query_pairs("a b", "/?:&#+=%", allow_reserved=True) == [("a%20b", "/?:%26%23%2B%3D%25")]
    assert query_pairs("a", ["x,y", "z"], explode=False, allow_reserved=True) == [("a", "x%2Cy,z")]


def test_cookies() -> None:
    assert cookie_pairs("c", 'a;b, "é\\') == [("c", "a%3Bb%2C%20%22%C3%A9%5C")]
    assert cookie_pairs("c", [1, 2]) == [("c", "1"), ("c", "2")]
    assert cookie_pairs("c", RGB) == [("R", "100"), ("G", "200")]
    assert cookie_pairs("c", RGB, explode=False) == [("c", "R%2C100%2CG%2C200")]


# What was encoded can be read back

texts = st.text(min_size=1, max_size=6)
scalars = texts
arrays = st.lists(texts, min_size=1, max_size=4)
objects = st.dictionaries(texts, texts, min_size=1, max_size=3)
values = st.one_of(scalars, arrays, objects)
SHAPES: dict[type, DeclaredShape] = {str: DeclaredShape.SCALAR, list: DeclaredShape.ARRAY, dict: DeclaredShape.OBJECT}
DELIMITER = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}


def parts(value) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for text in pair]
    return value if isinstance(value, list) else []


@given(values, st.sampled_from(["simple", "label", "matrix", "pipeDelimited"]), st.booleans(), texts)
def test_paths_read_back(value, style, explode, name) -> None:
    assume(not any(DELIMITER.get(style, "\0") in text for text in parts(value)))
    shape = SHAPES[type(value)]
    text = path_text(value, style, name, explode=explode)
    assert text.isascii()
    assert not {"/", "?", "#", " "} & set(text)
    assert path_value(text, style, name, shape, explode=explode) == value


@given(
    values,
    st.sampled_from(["form", "spaceDelimited", "pipeDelimited", "deepObject"]),
    st.booleans(),
    texts,
    st.booleans(),
)
def test_queries_read_back(value, style, explode, name, allow_reserved) -> None:
    assume(not any(DELIMITER.get(style, "\0") in text for text in parts(value)))
    if style == "deepObject":
        explode = True
        assume(not any(set("[]") & set(text) for text in parts(value)))
    shape = SHAPES[type(value)]
    pairs = query_pairs(name, value, style, explode=explode, allow_reserved=allow_reserved)
    query = "&".join(f"{key}={text}" for key, text in pairs)
    assert query.isascii()
    assert not {"#", " "} & set(query)
    assert query_value(pairs_of(query), name, style, shape, explode=explode) == value


@given(st.one_of(scalars, arrays), st.booleans())
def test_cookies_read_back(value, explode) -> None:
    assume(explode or not any("," in text for text in parts(value)))
    pairs = cookie_pairs("c", value, explode=explode)
    header = "; ".join(f"{key}={text}" for key, text in pairs)
    if not explode and isinstance(value, list):
        [(_, text)] = pairs_of(header, "; ")
        assert path_value(text.replace("%2C", ","), "simple", "c", DeclaredShape.ARRAY, explode=False) == value
    else:
        assert query_value(pairs_of(header, "; "), "c", "form", SHAPES[type(value)], explode=True) == value


@pytest.mark.parametrize("explode", [True, False])
def test_headers_read_back(explode) -> None:
    for value in ("a, b", ["a", "b"], {"a": "1", "b": "2"}):
        text = header_text(value, explode=explode)
        assert header_value(text, SHAPES[type(value)], explode=explode) == value


@pytest.mark.parametrize(
    ("text", "style", "shape"),
    [
        ("x", "label", DeclaredShape.SCALAR),
        (";b=1", "matrix", DeclaredShape.SCALAR),
        (";a=1;a=2", "matrix", DeclaredShape.SCALAR),
        ("a,b,c", "simple", DeclaredShape.OBJECT),
    ],
)
def test_text_of_another_style_is_refused(text, style, shape) -> None:
    with pytest.raises(ValueError, match=r"."):
        path_value(text, style, "a", shape, explode=False)
