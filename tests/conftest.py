"""Properties are tried with the same examples in every run: a failure found once is found again.

The settings start from Hypothesis's own plain ones, not from those that it chooses when it
believes to be in a CI service: a test must not say one thing here and another one there.
"""

from hypothesis import settings

settings.register_profile(
    "house", parent=settings.get_profile("default"), derandomize=True, deadline=None
)
settings.load_profile("house")
