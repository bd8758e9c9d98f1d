"""Django as all tests of one process share it: its settings can be given once."""

import logging

import django
from django.conf import settings


def configure() -> None:
    """Give Django settings that say nothing of routes: whoever serves names its own."""
    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"], LOGGING_CONFIG=None, MIDDLEWARE=[], ROOT_URLCONF="", SECRET_KEY="-")
        django.setup()
        # Each refusal would be a line on stderr.
        logging.getLogger("django.request").setLevel(logging.CRITICAL)
