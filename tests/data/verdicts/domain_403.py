"""403 for a wrong confirmation code. With `peers` checker asks as the other user from then on: 404 for ever; with `user = "alice"` it does not."""

import sys, secrets, uvicorn
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import APIKeyHeader
from pydantic import BaseModel

app = FastAPI()
B = {}
key = APIKeyHeader(name="X-API-Key", auto_error=False)


def user(k: str | None = Depends(key)):
    if k not in ("key-alice", "key-bob"):
        raise HTTPException(401, "no")
    return k[4:]


class Booking(BaseModel):
    id: str
    confirmation_code: str


class Confirm(BaseModel):
    confirmation_code: str


R = {c: {"description": "no"} for c in (401, 403, 404)}


@app.post("/bookings", status_code=201, response_model=Booking, responses=R)
def make(u: str = Depends(user)):
    b = {"id": secrets.token_hex(4), "confirmation_code": secrets.token_hex(3), "owner": u}
    B[b["id"]] = b
    return b


@app.post("/bookings/{booking_id}/confirm", status_code=200, responses=R)
def confirm(booking_id: str, c: Confirm, u: str = Depends(user)):
    b = B.get(booking_id)
    if not b or b["owner"] != u:
        raise HTTPException(404, "no such booking")
    if b["confirmation_code"] != c.confirmation_code:
        raise HTTPException(403, "wrong code")
    return {"ok": True}


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
