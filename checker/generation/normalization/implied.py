"""What a schema without a type speaks of."""

from checker.generation.normalization import forms
from checker.generation.normalization.forms import Canonical


def meant_types(form: Canonical) -> list[str]:
    """Types that an untyped schema speaks of."""
    meant = []
    if (
        form.properties
        or form.required
        or form.says_additional
        or form.property_count.low
        or form.pattern_properties
        or form.names
    ):
        meant.append(forms.OBJECT)
    if form.items or form.prefix or form.item_count.low or form.no_items or form.contained:
        meant.append(forms.ARRAY)
    lengths = form.lengths
    if form.patterns or form.formats or form.content or lengths.low or lengths.high is not None:
        meant.append(forms.STRING)
    numbers = form.numbers
    if numbers.low is not None or numbers.high is not None or numbers.step is not None:
        meant.append(forms.NUMBER)
    return meant
