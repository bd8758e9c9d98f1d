"""The samples of the page about frameworks are collected and run by pytest as they stand there."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.library.test_frameworks import DOCUMENT

PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"
SAMPLES = dict(re.findall(r'```python title="([^"]+)"\n(.*?)```', PAGE.read_text(), re.DOTALL))
APPLICATIONS = {
    "served.py": "counts = {'fastapi': 0, 'flask': 0, 'django': 0, 'reset': 0}",
    "shop_fastapi.py": """
from fastapi import FastAPI, Header, HTTPException
from served import counts

class Storage(dict):
    def clear(self):
        counts["reset"] += 1

app, storage = FastAPI(), Storage()

@app.get("/items")
def items(authorization: str = Header("", include_in_schema=False)) -> dict[str, int]:
    if authorization != "Bearer secret-of-tests":
        raise HTTPException(401)
    counts["fastapi"] += 1
    return {"total": 1}
""",
    "shop_flask.py": """
from flask import Flask, request
from served import counts

app = Flask(__name__)

@app.get("/items")
def items():
    if request.headers.get("X-Key") != "secret-of-tests":
        return {}, 401
    counts["flask"] += 1
    return {"total": 1} if request.args.get("limit", "").lstrip("-").isdigit() else ({}, 400)
""",
    "shop_django.py": f"""
from django.http import JsonResponse
from django.urls import path
from served import counts

def items(request):
    if request.headers.get("Authorization") != "Bearer secret-of-tests":
        return JsonResponse({{}}, status=401)
    counts["django"] += 1
    is_number = request.GET.get("limit", "").lstrip("-").isdigit()
    return JsonResponse({{"total": 1}} if is_number else {{}}, status=200 if is_number else 400)

urlpatterns = [path("openapi.json", lambda _: JsonResponse({DOCUMENT!r})), path("items", items)]
""",
    "conftest.py": """
import django
from django.conf import settings
from served import counts

settings.configure(ROOT_URLCONF="shop_django", SECRET_KEY="x", ALLOWED_HOSTS=["*"], DEBUG=False)
django.setup()

def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"served {counts}")
""",
}


@pytest.mark.thorough
def test_each_sample_is_served_with_its_credentials(tmp_path) -> None:
    for name, text in (*SAMPLES.items(), *APPLICATIONS.items()):
        (tmp_path / name).write_text(text)
    (tmp_path / "openapi.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "checker.toml").write_text('[generation]\nmax-examples = 5\nmode = "positive"')
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"served (\{.*\})", ran.stdout)
    assert found is not None, ran.stdout + ran.stderr
    counts = json.loads(found[1].replace("'", '"'))
    assert min(counts.values()) > 0, ran.stdout
    assert len(SAMPLES) == 3
    assert "3 passed" in ran.stdout, ran.stdout
