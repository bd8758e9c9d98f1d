"""A cart that its checkout takes away: no defect. `checker run` says ST302 of POST /carts/{cart_id}/items."""

import sys, secrets, uvicorn
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

app = FastAPI()
CARTS = {}


class Item(BaseModel):
    product: str


class Cart(BaseModel):
    id: str
    items: list[Item]


R = {404: {"description": "no"}}


def cart(i):
    if i not in CARTS:
        raise HTTPException(404, "no such cart")
    return CARTS[i]


@app.post("/carts", status_code=201, response_model=Cart)
def make():
    c = {"id": secrets.token_hex(4), "items": []}
    CARTS[c["id"]] = c
    return c


@app.get("/carts/{cart_id}", response_model=Cart, responses=R)
def get(cart_id: str):
    return cart(cart_id)


@app.post("/carts/{cart_id}/checkout", status_code=201, responses=R)
def checkout(cart_id: str):
    c = cart(cart_id)
    del CARTS[cart_id]
    return {"order": secrets.token_hex(4)}


@app.post("/carts/{cart_id}/items", status_code=201, response_model=Item, responses=R)
def add(cart_id: str, b: Item):
    cart(cart_id)["items"].append(b.model_dump())
    return b


@app.delete("/carts/{cart_id}/items/{product}", status_code=204, responses=R)
def drop(cart_id: str, product: str):
    c = cart(cart_id)
    n = [i for i in c["items"] if i["product"] != product]
    if len(n) == len(c["items"]):
        raise HTTPException(404, "not in it")
    c["items"] = n


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
