"""Django with its stock login, sessions and CSRF protection: `python -m tests.apps.django_login DATABASE` prints its URL and serves.

It is a process of its own: Django takes settings once in a process, and other tests have theirs.
"""

import logging
import sys

import django
from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.urls import path
from werkzeug.serving import make_server

from tests.apps.csrf import DOCUMENT

_PAGE = '<form method="post">{% csrf_token %}{{ form.as_p }}<button>Log in</button></form>'
_TEMPLATES = ("django.template.loaders.locmem.Loader", {"registration/login.html": _PAGE})
settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}},
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
    LOGGING_CONFIG=None,
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    ROOT_URLCONF=__name__,
    SECRET_KEY="-",
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "OPTIONS": {"loaders": [_TEMPLATES]}}],
)
django.setup()

from django.contrib.auth.decorators import login_required  # noqa: E402 - needs the settings
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.auth.views import LoginView  # noqa: E402

_COOKIE = {"securitySchemes": {"session": {"type": "apiKey", "in": "cookie", "name": "sessionid"}}}


@login_required
def posts(request: HttpRequest) -> HttpResponse:
    """The two operations of the document."""
    if request.method not in ("GET", "POST"):
        return HttpResponseNotAllowed(["GET", "POST"])
    return JsonResponse({"user": request.user.get_username()}, status=200 if request.method == "GET" else 201)


urlpatterns = [
    path("openapi.json", lambda request: JsonResponse({**DOCUMENT, "components": _COOKIE})),
    path("posts", posts),
    path("accounts/login/", LoginView.as_view(next_page="/posts")),
]
logging.disable(logging.CRITICAL)
call_command("migrate", verbosity=0)
User.objects.create_user("anna", password="secret")
server = make_server("127.0.0.1", 0, get_wsgi_application(), threaded=True)
print(f"http://127.0.0.1:{server.port}", flush=True)
server.serve_forever()
