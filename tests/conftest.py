"""Properties are tried with the same examples in every run: a failure found once is found again.

The settings start from Hypothesis's own plain ones, not from those that it chooses when it
believes to be in a CI service: a test must not say one thing here and another one there. How much a test filters is
not looked at: texts are tried that stand in whatever modules other tests have loaded before.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "house",
    parent=settings.get_profile("default"),
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much],
)
settings.load_profile("house")

pytest_plugins = ["pytester"]
