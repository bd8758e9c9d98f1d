"""Reasons why servers may read a text of a parameter or a body differently.

For such a text, decoders return every possible value with one of these reasons. Verdicts never rest on a doubtful value.
`tests/transport/ambiguity_table.py` lists the ambiguous values for each location, style and type.
"""

from typing import Final

PLUS: Final = "servers differ on whether a plus in a query is a space"
COMMA: Final = "servers differ on whether an encoded delimiter separates"
REST: Final = "an undeclared pair may belong to the object or to no parameter"
SHARED: Final = "two parameters have a property of that name"
OCTETS: Final = "servers read octets beyond ASCII in a header as Latin-1 or as UTF-8"
ESCAPES: Final = "servers differ on whether a cookie is percent-encoded"
NULL: Final = "no style says how null is written"
NESTED: Final = "the style does not say how nested values are written"
LOOSE: Final = "some servers read it as a number, a whole number or a boolean"
FRACTION: Final = "some servers read it as an integer, others as a number with a fraction"
UNFIT: Final = "it is text, and its type is another"
LARGE: Final = "it is larger than most servers can count"
SPLIT: Final = "the segment can be split into its variables in two ways"
MANY: Final = "there are more readings of it than can be tried"
UNWRITTEN: Final = "no standard defines how this media type writes arrays and objects"
DELIMITER: Final = "the delimiter and the same character in a text are written alike"
EMPTY: Final = "many servers treat an empty value as absent, or as an empty list (OpenAPI 3.0, `allowEmptyValue`)"
PASSED_OVER: Final = (
    "servers may ignore values that they do not understand there (RFC 9110, 12.5, 13.1 and 14.2; RFC 7240, 2)"
)
UNKNOWN: Final = frozenset({MANY, UNWRITTEN})  # Reasons that mean that further readings may exist.
KIND: Final = "its content is no file of its media type, or the file type is not known here"
DOTS: Final = "dot segments may be removed on the way"
