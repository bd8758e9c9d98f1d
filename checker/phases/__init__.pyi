"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.config.table import register_phase as register
from checker.core.phases import CaseSource, Phase
from checker.phases.listing import ListingContext

__all__ = ["CaseSource", "ListingContext", "Phase", "register"]
