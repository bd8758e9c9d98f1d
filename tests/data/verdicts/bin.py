import sys

import uvicorn
from fastapi import FastAPI, Response

app = FastAPI(title="b")


@app.get("/health")
def health():
    return {}


B = {
    "esc": '{"id": "a\x1bb"}',
    "del": '{"id":"a\x7fb"}',
    "nul": '{"id":"\\u0000"}',
    "long": '{"id":"' + "é" * 400 + '"}',
    "fffe": '{"id":"\ufffe"}',
    "c1": '{"id":"\x85"}',
}
for k, v in B.items():

    def mk(v):
        def f():
            return Response(v.encode(), status_code=500, media_type="application/json")

        return f

    app.get("/" + k)(mk(v))


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
