import sys

import uvicorn
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
import itertools

app = FastAPI(title="Tiny")
ids = itertools.count(1000001, 7)
DB = {}


class In(BaseModel):
    name: str


class Out(In):
    id: int


@app.get("/health")
def health() -> dict[str, str]:
    return {}


@app.post("/items", status_code=201, response_model=Out)
def add(b: In):
    i = next(ids)
    DB[i] = {"id": i, "name": b.name}
    return DB[i]


@app.put("/items/{item_id}", response_model=Out, responses={404: {}})
def put(item_id: int, b: In):
    if item_id not in DB:
        raise HTTPException(404)
    raise RuntimeError("always broken")


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
