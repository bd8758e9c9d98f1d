"""Words of error texts that stay the same."""

import random
import re

from checker.core.templates import error_template

ONE_LOOK = re.compile(r"[A-Za-z_][A-Za-z_]{2,}(?![\w-]*\d)")
"""What a word is, in one expression: it looks at each pair of places in a run, which takes minutes for a long one."""


def test_a_long_run_without_a_break_is_read_at_once() -> None:
    assert error_template(b"a" * 4000 + b"1") == ""
    assert error_template(b"Oops " + b"ab" * 2000 + b"-1 again") == "Oops again"
    assert error_template(b"1" + b"a" * 200) == "a" * 160


def test_words_are_those_that_no_digit_follows() -> None:
    chance = random.Random(1)
    for _ in range(5000):
        text = "x" + "".join(chance.choices("abC_-\xe91\u0663 .", k=chance.randint(0, 14)))
        assert error_template(text.encode()) == " ".join(ONE_LOOK.findall(text))
