"""Two operations; everybody reads everybody's notes (planted). ST402 is told, but as "intermittent (1 of 8)", "Not reproduced". LIST=1 adds a list of one's own."""

import sys, uvicorn, itertools, os
from fastapi import FastAPI, HTTPException, Depends
from fastapi.security import APIKeyHeader
from pydantic import BaseModel

app = FastAPI()
N = {}
C = itertools.count(1)
key = APIKeyHeader(name="X-API-Key", auto_error=False)


def user(k: str | None = Depends(key)):
    if k not in ("key-alice", "key-bob"):
        raise HTTPException(401, "no")
    return k[4:]


class In(BaseModel):
    text: str


class Note(In):
    id: int
    owner: str


R = {c: {"description": "no"} for c in (401, 404)}


@app.post("/notes", status_code=201, response_model=Note, responses=R)
def make(b: In, u: str = Depends(user)):
    n = {"id": next(C), "owner": u, "text": b.text}
    N[n["id"]] = n
    return n


if os.environ.get("LIST"):

    @app.get("/notes", response_model=list[Note], responses=R)
    def all_(u: str = Depends(user)):
        return [n for n in N.values() if n["owner"] == u]


@app.get("/notes/{note_id}", response_model=Note, responses=R)
def one(note_id: int, u: str = Depends(user)):
    if note_id not in N:
        raise HTTPException(404, "no")
    return N[note_id]


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
