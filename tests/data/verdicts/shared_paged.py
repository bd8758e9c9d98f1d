"""A catalogue that everybody who is logged in may read, listed 20 at a time: no defect. `checker run` says ST402 (critical)."""

import sys, itertools, uvicorn
from fastapi import Depends, FastAPI, HTTPException, Query
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
    name: str


class Product(In):
    id: int


class Page(BaseModel):
    items: list[Product]
    next_cursor: int | None


R = {c: {"description": "no"} for c in (401, 404)}


@app.post("/products", status_code=201, response_model=Product, responses=R)
def make(b: In, u: str = Depends(user)):
    n = {"id": next(C), "name": b.name}
    N[n["id"]] = n
    return n


@app.get("/products", response_model=Page, responses=R)
def page(u: str = Depends(user), cursor: int = Query(0, ge=0), limit: int = Query(20, ge=1, le=100)):
    p = [n for n in N.values() if n["id"] > cursor][:limit]
    return {"items": p, "next_cursor": p[-1]["id"] if p and p[-1]["id"] < len(N) else None}


@app.get("/products/{product_id}", response_model=Product, responses=R)
def one(product_id: int, u: str = Depends(user)):
    if product_id not in N:
        raise HTTPException(404, "no")
    return N[product_id]


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
