"""Values of dictionaries as what is wrong: those that nobody can read as valid ones."""

from collections.abc import Callable
from typing import Any

from checker.config.overrides import Override
from checker.core.meta import Violation
from checker.generation.drawing.words import readings
from checker.generation.narrowing import SchemaPart
from checker.generation.negation.values import NegativeDraw
from checker.generation.normalization.forms import made
from checker.generation.sources.choices import Source
from checker.validation.pointers import pointer_child


def with_wrong_words(
    usual: NegativeDraw, part: SchemaPart, proof: Callable[[Any], bool], binding: Override
) -> NegativeDraw:
    """Draws what `usual` gives, or an entry of a dictionary that is proved wrong."""
    wrong = [(entry, _violation(part, entry)) for entry in binding.entries if proof(entry)]
    count, share = len(wrong), binding.share or 1.0
    if not wrong:
        return usual

    def draw(source: Source) -> tuple[Any, Violation]:
        if share < 1 and not source.boolean(share):
            return usual(source)
        return wrong[source.choice(count) if count > 1 else 0]

    return draw


def _violation(part: SchemaPart, entry: Any) -> Violation:
    """The first keyword that alone refuses an entry."""
    compiler, conjunction, _ = part
    form = compiler.canonical(conjunction)
    *_, value = (entry, *readings(entry, form.types))
    for facet in form.facets:
        for keyword, says in compiler.canon.said(facet).items():
            alone = made(facet, f"{facet.tag}~only {keyword}", {keyword: says})
            if not compiler.validator((alone,))(value):
                return Violation(pointer_child(facet.pointer, keyword), keyword, says, entry)
    return Violation(form.pointer, "", None, entry)
