"""Properties are tried with the same examples in every run: a failure found once is found again."""

from hypothesis import settings

settings.register_profile("house", derandomize=True, deadline=None)
settings.load_profile("house")
