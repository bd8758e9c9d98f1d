import sys

import uvicorn
from fastapi import FastAPI, HTTPException, Response
from pydantic import BaseModel, Field

app = FastAPI(title="Mini")
L = {}


class LabelIn(BaseModel):
    name: str = Field(min_length=1, max_length=20, pattern="^[A-Za-z0-9-]+$")
    color: str = Field("#ffffff", pattern="^#[0-9a-f]{6}$")


@app.get("/health")
def health():
    return {}


@app.post("/labels", status_code=201, response_model=LabelIn, responses={409: {}})
def add(body: LabelIn, response: Response):
    if body.name.lower() in L:
        raise HTTPException(409, "label exists")
    L[body.name.lower()] = body.model_dump()
    response.headers["Location"] = f"/labels/{body.name}"
    return body


@app.get("/labels/{name}", response_model=LabelIn, responses={404: {}})
def get(name: str):
    if name not in L:
        raise HTTPException(404, "no such label")
    return L[name]


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
