"""Ways to spoil a valid request, each with the place where that has to be found."""

import json
from collections.abc import Callable
from random import Random

from checker.core.request import Location

from .requests import BOUNDARY, MEDIA_TYPES, Sketch, multipart, part

JSON, FORM, MULTIPART = MEDIA_TYPES
EACH = 12
"""Requests that are spoiled in each way."""
BODY, COOKIE, HEADER, PATH, QUERY = (Location.BODY, Location.COOKIE, Location.HEADER, Location.PATH, Location.QUERY)
Expected = tuple[Location, str, str]
"""Location, name, keyword."""
Spoil = Callable[[Sketch, Random], None]
KINDS: list[tuple[str, str, Spoil, Expected]] = []


def kind(name: str, expected: Expected, media_type: str = JSON) -> Callable[[Spoil], Spoil]:
    def listed(spoil: Spoil) -> Spoil:
        KINDS.append((name, media_type, spoil, expected))
        return spoil

    return listed


def cut(text: str, random: Random) -> str:
    return text[: random.randrange(1, len(text))]


@kind("another method", (PATH, "", "method"))
def _(it: Sketch, random: Random) -> None:
    it.method = random.choice(["GET", "PUT", "PATCH"])


@kind("a path segment more", (PATH, "", "path"))
def _(it: Sketch, random: Random) -> None:
    it.path.insert(random.randrange(5), "x")


@kind("a path segment less", (PATH, "", "path"))
def _(it: Sketch, random: Random) -> None:
    del it.path[random.randrange(4)]


@kind("a wrong literal in the path", (PATH, "", "path"))
def _(it: Sketch, random: Random) -> None:
    it.path[random.choice([0, 2])] += random.choice("sS-")


@kind("an empty path segment", (PATH, "shop", "required"))
def _(it: Sketch, random: Random) -> None:
    it.path[1] = ""


@kind("no number in the path", (PATH, "shop", "type"))
def _(it: Sketch, random: Random) -> None:
    it.path[1] += random.choice(["x", ".5", "%20a", ",1"])


@kind("a number beyond its bound in the path", (PATH, "shop", "maximum"))
def _(it: Sketch, random: Random) -> None:
    it.path[1] = str(100 + random.randrange(9))


@kind("no such day", (PATH, "day", "format"))
def _(it: Sketch, random: Random) -> None:
    it.path[3] = it.path[3][:5] + random.choice(["02-30", "13-01", "1-01", "00-10", "04-31"])


@kind("a broken escape in the path", (PATH, "day", "percent-encoding"))
def _(it: Sketch, random: Random) -> None:
    it.path[3] += random.choice(["%", "%2", "%zz", "%-1"])


@kind("a required query parameter less", (QUERY, "limit", "required"))
def _(it: Sketch, random: Random) -> None:
    it.query = [pair for pair in it.query if pair[0] != "limit"]


@kind("a required query parameter misspelled", (QUERY, "limit", "required"))
def _(it: Sketch, random: Random) -> None:
    name = random.choice(["Limit", "limits", "limi", "limit%20"])
    it.query = [(name if key == "limit" else key, value) for key, value in it.query]


@kind("no number in the query", (QUERY, "limit", "type"))
def _(it: Sketch, random: Random) -> None:
    it.put("limit", random.choice(["", "x", "1x", "1,2", "true", "null"]))


@kind("a bound and one in the query", (QUERY, "limit", "maximum"))
def _(it: Sketch, random: Random) -> None:
    it.put("limit", "101")


@kind("a scalar twice in the query", (QUERY, "limit", "duplicate"))
def _(it: Sketch, random: Random) -> None:
    it.query.insert(random.randrange(len(it.query)), ("limit", str(random.randrange(9))))


@kind("a near miss of an enum in the query", (QUERY, "sort", "enum"))
def _(it: Sketch, random: Random) -> None:
    it.put("sort", random.choice(["Name", "name%20", "nam", "ages", "AGE"]))


@kind("no boolean in the query", (QUERY, "exact", "type"))
def _(it: Sketch, random: Random) -> None:
    it.put("exact", random.choice(["tru", "2", "null", "truefalse"]))


@kind("a wrong delimiter", (QUERY, "ids", "type"))
def _(it: Sketch, random: Random) -> None:
    it.put("ids", random.choice(["1;2", "1%7C2", "1%202", "1|2", "1.2.3"]))


@kind("a wrong item between bars", (QUERY, "bars", "type"))
def _(it: Sketch, random: Random) -> None:
    it.put("bars", random.choice(["1|x", "1%7C", "1,2", "a%7C2"]))


@kind("an item too many", (QUERY, "many", "maxItems"))
def _(it: Sketch, random: Random) -> None:
    it.query += [("many", str(number)) for number in range(3)]


@kind("a broken escape in the query", (QUERY, "sort", "percent-encoding"))
def _(it: Sketch, random: Random) -> None:
    it.put("sort", "name" + random.choice(["%", "%2", "%zz"]))


@kind("no UTF-8 in the query", (QUERY, "sort", "utf-8"))
def _(it: Sketch, random: Random) -> None:
    it.put("sort", random.choice(["%ff", "na%C3me", "%ED%A0%80", "%C0%AF"]))


@kind("a forbidden property in brackets", (QUERY, "filter", "additionalProperties"))
def _(it: Sketch, random: Random) -> None:
    it.query.append((random.choice(["filter[x]", "filter[Min]", "filter%5B%5D"]), "1"))


@kind("a bracket that does not close", (QUERY, "filter", "style"))
def _(it: Sketch, random: Random) -> None:
    it.query.append((random.choice(["filter[min", "filter[a]b", "filter[a]]"]), "1"))


@kind("cut JSON in the query", (QUERY, "where", "syntax"))
def _(it: Sketch, random: Random) -> None:
    it.put("where", random.choice(["%7B", "%7B%22min%22:%7D", "min", "", "%7B%22min%22:1"]))


@kind("a wrong value in JSON in the query", (QUERY, "where", "type"))
def _(it: Sketch, random: Random) -> None:
    it.put("where", "%7B%22min%22:" + random.choice(["true", "null", "%22%22", "1.5"]) + "%7D")


@kind("a required header less", (HEADER, "X-Count", "required"))
def _(it: Sketch, random: Random) -> None:
    del it.headers["X-Count"]


@kind("no number in a header", (HEADER, "X-Count", "type"))
def _(it: Sketch, random: Random) -> None:
    it.headers["X-Count"] = random.choice(["", "x", "1 2", "1, 2", '"1"'])


@kind("a bound less one in a header", (HEADER, "X-Count", "minimum"))
def _(it: Sketch, random: Random) -> None:
    it.headers["X-Count"] = "-1"


@kind("a wrong item in a header", (HEADER, "X-List", "type"))
def _(it: Sketch, random: Random) -> None:
    it.headers["x-list"] = random.choice(["1, x", "1 2", "1;2", "1,,2"])


@kind("a near miss of a UUID", (HEADER, "X-Id", "format"))
def _(it: Sketch, random: Random) -> None:
    text = it.headers["X-Id"]
    it.headers["X-Id"] = random.choice([text[1:], text[:-1] + "g", text + "0", text[:8] + text[9:]])


@kind("a control character in a header", (HEADER, "X-Id", "header-octets"))
def _(it: Sketch, random: Random) -> None:
    it.headers["X-Id"] += random.choice("\x00\x01\x0b\x7f") + "a"


@kind("a required cookie less", (COOKIE, "session", "required"))
def _(it: Sketch, random: Random) -> None:
    it.cookies = [pair for pair in it.cookies if pair[0] != "session"]


@kind("a cookie that breaks its pattern", (COOKIE, "session", "pattern"))
def _(it: Sketch, random: Random) -> None:
    it.put_cookie("session", random.choice(["abcdefg0", "abc", "0123456789", "ABCDEF01"]))


@kind("no number in a cookie", (COOKIE, "depth", "type"))
def _(it: Sketch, random: Random) -> None:
    it.put_cookie("depth", random.choice(["x", "1.5.", "none"]))


@kind("octets that no cookie holds", (COOKIE, "session", "cookie-octets"))
def _(it: Sketch, random: Random) -> None:
    it.put_cookie("session", "abcd" + random.choice([" ", ",", "\\", '"', "\x01"]) + "0123")


@kind("no body", (BODY, "", "required"))
def _(it: Sketch, random: Random) -> None:
    it.content_type = None


@kind("another media type", (BODY, "", "content-type"))
def _(it: Sketch, random: Random) -> None:
    it.content_type = random.choice(["text/plain", "application/xml", "application/jsonl"])


@kind("a malformed media type", (BODY, "", "content-type"))
def _(it: Sketch, random: Random) -> None:
    it.content_type = random.choice(["json", "application/", "/json", "a b/c"])


@kind("cut JSON", (BODY, "", "syntax"))
def _(it: Sketch, random: Random) -> None:
    it.content = cut(json.dumps(it.value), random).encode()


@kind("no UTF-8 in JSON", (BODY, "", "syntax"))
def _(it: Sketch, random: Random) -> None:
    text = json.dumps(it.value).encode()
    it.content = text.replace(b"@", random.choice([b"\xff", b"\xc3", b"\xed\xa0\x80"]))


@kind("JSON that is none", (BODY, "", "syntax"))
def _(it: Sketch, random: Random) -> None:
    text = json.dumps(it.value)
    it.content = random.choice(
        [text.replace('"', "'"), text[:-1] + ",}", text + "}", text.replace("null", "None") + " x"]
    ).encode()


@kind("a forbidden property", (BODY, "", "additionalProperties"))
def _(it: Sketch, random: Random) -> None:
    it.value[random.choice(["Name", "extra", "", "__proto__"])] = 1


@kind("a required property less", (BODY, "", "required"))
def _(it: Sketch, random: Random) -> None:
    del it.value[random.choice(["name", "count"])]


@kind("null where it is not allowed", (BODY, "", "type"))
def _(it: Sketch, random: Random) -> None:
    it.value[random.choice(["name", "count", "step", "mail", "codes"])] = None


@kind("a bound and one", (BODY, "", "maximum"))
def _(it: Sketch, random: Random) -> None:
    it.value["count"] = 101


@kind("a bound less one", (BODY, "", "minimum"))
def _(it: Sketch, random: Random) -> None:
    it.value["count"] = 0


@kind("a character too few", (BODY, "", "minLength"))
def _(it: Sketch, random: Random) -> None:
    it.value["name"] = random.choice(["a", "", "\N{GRINNING FACE}"])


@kind("a character too many", (BODY, "", "maxLength"))
def _(it: Sketch, random: Random) -> None:
    it.value["name"] = "abcdefghi"


@kind("off its multiple", (BODY, "", "multipleOf"))
def _(it: Sketch, random: Random) -> None:
    it.value["step"] += random.choice([0.1, 0.01, -0.125])


@kind("a near miss of an enum", (BODY, "", "enum"))
def _(it: Sketch, random: Random) -> None:
    it.value["kind"] = random.choice(["Small", "larg", "small ", "", 1])


@kind("no address", (BODY, "", "format"))
def _(it: Sketch, random: Random) -> None:
    it.value["mail"] = random.choice(["", "a", "@b.example", "a@", "a b.example"])


@kind("equal items", (BODY, "", "uniqueItems"))
def _(it: Sketch, random: Random) -> None:
    it.value["codes"].append(it.value["codes"][0])


@kind("a required field of a form less", (BODY, "", "required"), FORM)
def _(it: Sketch, random: Random) -> None:
    it.content = random.choice([b"", b"age=1", b"Who=a", b"whoa&age=2"])


@kind("no number in a form", (BODY, "", "type"), FORM)
def _(it: Sketch, random: Random) -> None:
    it.content = b"who=a&age=" + random.choice([b"", b"x", b"1a", b"%31x"])


@kind("a broken escape in a form", (BODY, "", "syntax"), FORM)
def _(it: Sketch, random: Random) -> None:
    it.content = b"who=a" + random.choice([b"%", b"%2", b"%zz", b"%ff"])


@kind("another boundary", (BODY, "", "syntax"), MULTIPART)
def _(it: Sketch, random: Random) -> None:
    it.content_type = f"{MULTIPART}; boundary={BOUNDARY[: random.randrange(2, 6)]}x"


@kind("no boundary", (BODY, "", "syntax"), MULTIPART)
def _(it: Sketch, random: Random) -> None:
    it.content_type = MULTIPART


@kind("a closing delimiter less", (BODY, "", "syntax"), MULTIPART)
def _(it: Sketch, random: Random) -> None:
    it.content = (it.content or b"")[: -random.randrange(3, 9)]


@kind("a required part less", (BODY, "", "required"), MULTIPART)
def _(it: Sketch, random: Random) -> None:
    it.content = multipart(part("file", b"x", '; filename="f"'), part("label", b"1"))


@kind("a part without a name", (BODY, "", "syntax"), MULTIPART)
def _(it: Sketch, random: Random) -> None:
    it.content = (it.content or b"").replace(b'name="meta"', b"")


@kind("no JSON in a part", (BODY, "", "syntax"), MULTIPART)
def _(it: Sketch, random: Random) -> None:
    it.content = (it.content or b"").replace(b'{"n"', random.choice([b'{"n', b"{n", b"["]))


@kind("a wrong value in a part", (BODY, "", "type"), MULTIPART)
def _(it: Sketch, random: Random) -> None:
    it.content = multipart(part("file", b"x", '; filename="f"'), part("meta", b'{"n": "1"}', "", JSON))
