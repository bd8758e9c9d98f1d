"""Readers of the keywords for types, numbers, strings, arrays and examples. Each adds to a canonical form."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, Final

from checker.core.schema import Dialect, Document, pointer_child
from checker.generation.normalization import forms
from checker.generation.normalization.complements import DUPLICATES, OTHER_FORMAT, OTHER_STEP, OTHER_TEXT, OTHER_VALUE
from checker.generation.normalization.forms import (
    INTEGER,
    NULL,
    NUMBER,
    Canonical,
    Conjunction,
    Content,
    Facet,
    Reason,
    inverse,
    same,
)
from checker.generation.normalization.prose_values import told_values
from checker.validation.ecma import without_delimiters
from checker.validation.formats import INTEGER_RANGES

SCALAR_KEYWORDS: Final = frozenset(
    (
        "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "format", "minLength", "maxLength", "pattern",
        "contentEncoding", "contentMediaType", OTHER_STEP, OTHER_TEXT, OTHER_FORMAT,
    )
)  # fmt: skip
"""Keywords of numbers and texts."""
ARRAY_KEYWORDS: Final = frozenset(
    (
        "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains", "unevaluatedItems",
        DUPLICATES,
    )
)  # fmt: skip
"""Keywords of arrays, except those that only have a meaning beside another keyword."""
_MANY = 32
_EXAMPLE_OBJECT: Final = frozenset(("value", "summary", "description"))
_SAYING_CONTENT = (Dialect.DRAFT2019, Dialect.DRAFT2020, Dialect.OPENAPI31)
"""Dialects in which the content keywords are annotations (JSON Schema 2020-12, Validation, 8)."""
_COUNTS_CONTAINED = (Dialect.DRAFT2020, Dialect.OPENAPI31)
"""Dialects in which `contains` evaluates the items that match."""


def read_types(facet: Facet, raw: dict[str, Any], found: Canonical, *, nullable: bool) -> None:
    """Read `type`, `enum` and `const`."""
    declared = raw.get("type")
    pointer = pointer_child(facet.pointer, "type")
    if declared is not None:
        names = {declared} if isinstance(declared, str) else set(declared)
        if NUMBER in names:
            names.add(INTEGER)
        if nullable:
            names.add(NULL)
        both = found.types & names
        if not both and found.impossible is None:
            found.impossible = Reason(
                pointer, f"type {_listed(names)} and type {_listed(found.types)} exclude each other"
            )
        found.types = both
        found.type_pointer = pointer
    values = [raw["const"]] if "const" in raw else raw.get("enum")
    if "const" in raw and "enum" in raw:
        values = [value for value in values or () if _contains(raw["enum"], value)]
    if values is not None:
        known = found.enum
        found.enum_pointer = pointer_child(facet.pointer, "const" if "const" in raw else "enum")
        found.enum = list(values) if known is None else [v for v in known if _contains(values, v)]
    found.excluded.values.extend(raw.get(OTHER_VALUE, ()))


def read_scalars(facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
    """Read bounds of numbers, formats, lengths and patterns."""
    numbers, at = found.numbers, facet.pointer
    for keyword in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"):
        value = raw.get(keyword)
        if value is None or isinstance(value, bool):
            continue
        flag = raw.get("exclusive" + keyword.capitalize()) is True
        numbers.bound(keyword, value, pointer_child(at, keyword), is_exclusive=flag)
    if "multipleOf" in raw:
        numbers.multiple(Fraction(str(raw["multipleOf"])))
    name = raw.get("format")
    if name is not None and name not in found.formats:
        found.formats.append(name)
        bounds = INTEGER_RANGES.get(name)
        if bounds is not None:
            numbers.bound("minimum", bounds[0], pointer_child(at, "format"))
            numbers.bound("maximum", bounds[1], pointer_child(at, "format"))
    found.strings.lengths.read(raw, at)
    if "contentEncoding" in raw or "contentMediaType" in raw:
        encoding, media_type = raw.get("contentEncoding", ""), raw.get("contentMediaType", "")
        found.strings.content = Content(encoding.lower(), media_type.lower(), is_asserted=True)
    if "pattern" in raw:
        found.strings.patterns.append((without_delimiters(raw["pattern"]), pointer_child(at, "pattern")))
    if facet.is_made:
        found.excluded.steps.extend(Fraction(str(step)) for step in raw.get(OTHER_STEP, ()))
        found.excluded.patterns.extend(raw.get(OTHER_TEXT, ()))
        found.excluded.formats.extend(raw.get(OTHER_FORMAT, ()))


def read_arrays(facet: Facet, raw: dict[str, Any], found: Canonical, dialect: Dialect) -> None:
    """Read the schemas of items, their number, and `contains`."""
    found.arrays.count.read(raw, facet.pointer)
    found.arrays.unique = found.arrays.unique or raw.get("uniqueItems") is True
    if DUPLICATES in raw:
        found.arrays.has_duplicates = True
        # An item that is valid at one index may be invalid at another index.
        found.needs_check = True
    items = raw.get("items")
    prefix, rest = raw.get("prefixItems"), ("items", items)
    if isinstance(items, list):
        prefix, rest = items, ("additionalItems", raw.get("additionalItems"))
    found.arrays.declares_items = found.arrays.declares_items or (rest[1] is not None and not facet.is_made)
    if "unevaluatedItems" in raw:
        # Only the validator knows which items other keywords evaluate.
        found.needs_check = True
        keyword = "contains" if "contains" in raw and dialect in _COUNTS_CONTAINED else "unevaluatedItems"
        found.arrays.unevaluated += (facet.below(raw[keyword], keyword),)
    _read_contained(facet, raw, found)
    if prefix is None and rest[1] is None:
        return
    tail: Conjunction = ()
    if rest[1] is False:
        found.arrays.is_closed = True
    elif rest[1] is not None:
        tail = (facet.below(rest[1], rest[0]),)
    keyword = "prefixItems" if "prefixItems" in raw else "items"
    own = [facet.below(item, keyword, str(index)) for index, item in enumerate(prefix or ())]
    for index in range(max(len(own), len(found.arrays.prefix))):
        mine = (own[index],) if index < len(own) else tail
        if index < len(found.arrays.prefix):
            found.arrays.prefix[index] += mine
        else:
            found.arrays.prefix.append(found.arrays.items + mine)
    found.arrays.items += tail


def finish_arrays(found: Canonical) -> None:
    """Apply `unevaluatedItems` to items that no facet constrains."""
    if found.arrays.declares_items or not found.arrays.unevaluated:
        return
    found.arrays.is_closed = found.arrays.is_closed or any(f.raw is False for f in found.arrays.unevaluated)
    found.arrays.items += found.arrays.unevaluated


def _read_contained(facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
    if "contains" not in raw:
        return
    inner = facet.below(raw["contains"], "contains")
    least, most = raw.get("minContains", 1), raw.get("maxContains")
    if least > _MANY:
        found.opaque[inner.pointer] = "contains"
    found.arrays.contained.extend([inner] * int(min(least, _MANY)))
    if most is not None:
        found.needs_check = True
        if most < least:
            text = f"minContains {least} and maxContains {most} exclude every array"
            found.arrays.impossible = Reason(pointer_child(facet.pointer, "maxContains"), text)
        found.arrays.uncontained += (inverse(inner),)


def read_examples(document: Document, facet: Facet, found: Canonical) -> None:
    """Read the examples of a schema; without any, values from prose and from other places of the document."""
    found.examples.extend(value for _, value, _ in authors_values(facet))
    found.told.extend(told_values(document, facet))


def authors_values(facet: Facet) -> Iterator[tuple[str, Any, bool]]:
    """Yield (pointer, value, whether it is the default) of each declared example."""
    raw = facet.raw
    if not isinstance(raw, dict):
        return
    for keyword in ("example", "x-example"):
        if keyword in raw:
            yield pointer_child(facet.pointer, keyword), raw[keyword], False
    for keyword in ("examples", "x-examples"):
        listed = raw.get(keyword)
        if isinstance(listed, list):
            for index, value in enumerate(listed):
                yield pointer_child(facet.pointer, keyword, str(index)), value, False
        elif isinstance(listed, dict) and keyword == "x-examples":
            # The values are listed directly, or inside Example Objects.
            at = pointer_child(facet.pointer, keyword)
            for name, item in listed.items():
                place = pointer_child(at, str(name))
                is_object = isinstance(item, dict) and "value" in item and item.keys() <= _EXAMPLE_OBJECT
                if is_object:
                    yield pointer_child(place, "value"), item["value"], False
                else:
                    yield place, item, False
    if "default" in raw:
        yield pointer_child(facet.pointer, "default"), raw["default"], True


def says_content(facet: Facet) -> bool:
    """Whether a schema declares the content of texts, as a constraint or as an annotation."""
    whole: Any = facet.raw
    return "contentEncoding" in whole or "contentMediaType" in whole


def read_content(facet: Facet, found: Canonical, dialect: Dialect) -> None:
    """Read the content of a text, also in dialects where it is an annotation, because authors expect such texts."""
    whole: Any = facet.raw
    if dialect not in _SAYING_CONTENT or facet.is_made:
        return
    encoding, media_type = (whole.get(f"content{name}", "") for name in ("Encoding", "MediaType"))
    if not (isinstance(encoding, str) and isinstance(media_type, str)):
        return
    schema = whole.get("contentSchema")
    below = None if schema is None else facet.below(schema, "contentSchema")
    found.strings.content = Content(encoding.lower(), media_type.lower(), below)


def _contains(values: list[Any], value: Any) -> bool:
    return any(same(value, other) for other in values)


def _listed(names: Iterable[str]) -> str:
    return " or ".join(sorted(names)) or "none"


def meant_types(form: Canonical) -> list[str]:
    """Return the types that the keywords of a schema without `type` constrain."""
    # Authors who forget `type` mean the types of their keywords, although values of other types are formally valid.
    meant = []
    if (
        form.objects.properties
        or form.objects.required
        or form.objects.declares_additional
        or form.objects.count.low
        or form.objects.pattern_properties
        or form.objects.names
    ):
        meant.append(forms.OBJECT)
    if (
        form.arrays.items
        or form.arrays.prefix
        or form.arrays.count.low
        or form.arrays.is_closed
        or form.arrays.contained
    ):
        meant.append(forms.ARRAY)
    lengths = form.strings.lengths
    if form.strings.patterns or form.formats or form.strings.content or lengths.low or lengths.high is not None:
        meant.append(forms.STRING)
    numbers = form.numbers
    if numbers.low is not None or numbers.high is not None or numbers.step is not None:
        meant.append(forms.NUMBER)
    return meant
