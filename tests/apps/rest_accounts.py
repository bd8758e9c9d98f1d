"""Django REST framework with tokens and sessions, as its tutorials set it up. A process of its own: settings are given once.

`python -m tests.apps.rest_accounts FOLDER` serves on loopback until its standard input ends, and prints where.
"""

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from werkzeug.serving import make_server

USER, PASSWORD = "anna", "pw-C4n4ry-drf"
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Notes", "version": "1"},
    "security": [{"tokenAuth": []}, {"cookieAuth": []}],
    "components": {
        "securitySchemes": {
            "tokenAuth": {"type": "apiKey", "in": "header", "name": "Authorization"},
            "cookieAuth": {"type": "apiKey", "in": "cookie", "name": "sessionid"},
        }
    },
    "paths": {
        "/notes/": {
            "get": {
                "parameters": [{"name": "page", "in": "query", "schema": {"type": "string"}}],
                "responses": {"200": {"description": ""}, "401": {"description": ""}},
            },
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["count"],
                                "properties": {"count": {"type": "integer"}},
                            }
                        }
                    },
                },
                "responses": {"201": {"description": ""}, "400": {"description": ""}, "401": {"description": ""}},
            },
        }
    },
}


@contextmanager
def serving_rest_accounts(folder: Path) -> Iterator[str]:
    """URL of the application until left."""
    words = [sys.executable, "-m", "tests.apps.rest_accounts", str(folder)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def main(folder: str) -> None:
    settings.configure(
        ALLOWED_HOSTS=["*"],
        SECRET_KEY="-",
        ROOT_URLCONF=__name__,
        LOGGING_CONFIG=None,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{folder}/db"}},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        SESSION_ENGINE="django.contrib.sessions.backends.signed_cookies",
        INSTALLED_APPS=[
            *("django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"),
            *("rest_framework", "rest_framework.authtoken"),
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
    )
    django.setup()
    call_command("migrate", verbosity=0)
    application = _application()
    server = make_server("127.0.0.1", 0, application, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.shutdown()


def _application() -> Any:
    """The application, with its routes in this module."""
    # Models and views need settings, which are given first.
    from django.contrib.auth import authenticate, login  # noqa: PLC0415
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.core.wsgi import get_wsgi_application  # noqa: PLC0415
    from django.middleware.csrf import get_token  # noqa: PLC0415
    from django.urls import path  # noqa: PLC0415
    from rest_framework.authentication import SessionAuthentication, TokenAuthentication  # noqa: PLC0415
    from rest_framework.authtoken.views import obtain_auth_token  # noqa: PLC0415
    from rest_framework.exceptions import ValidationError  # noqa: PLC0415
    from rest_framework.permissions import IsAuthenticated  # noqa: PLC0415
    from rest_framework.response import Response  # noqa: PLC0415
    from rest_framework.views import APIView  # noqa: PLC0415

    User.objects.create_user(USER, password=PASSWORD)
    seen: Counter[str] = Counter()

    class Notes(APIView):  # type: ignore[misc]
        authentication_classes = (TokenAuthentication, SessionAuthentication)
        permission_classes = (IsAuthenticated,)

        def get(self, request: Any) -> Any:
            seen[f"GET {type(request.successful_authenticator).__name__}"] += 1
            return Response([])

        def post(self, request: Any) -> Any:
            if not isinstance(request.data, dict) or not isinstance(request.data.get("count"), int):
                raise ValidationError({"count": ["A valid integer is required."]})
            seen[f"POST {type(request.successful_authenticator).__name__}"] += 1
            return Response({}, status=201)

        def handle_exception(self, exc: Exception) -> Any:
            answer = super().handle_exception(exc)
            seen[f"{self.request.method} {answer.status_code}"] += 1
            return answer

    class Login(APIView):  # type: ignore[misc]
        authentication_classes = ()

        def post(self, request: Any) -> Any:
            user = authenticate(request._request, **request.data)
            if user is None:
                return Response({"detail": "unknown"}, status=401)
            login(request._request, user)
            get_token(request._request)
            seen["login"] += 1
            return Response({})

    class Public(APIView):  # type: ignore[misc]
        authentication_classes = ()
        given: Any = None

        def get(self, request: Any) -> Any:
            return Response(self.given)

    module = sys.modules[__name__]
    module.urlpatterns = [  # type: ignore[attr-defined]
        path("notes/", Notes.as_view()),
        path("login/", Login.as_view()),
        path("token/", obtain_auth_token),
        path("openapi.json", Public.as_view(given=DOCUMENT)),
        path("seen/", Public.as_view(given=seen)),
    ]
    return get_wsgi_application()


if __name__ == "__main__":
    main(sys.argv[1])
