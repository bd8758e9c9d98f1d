"""Applications that compress what they answer."""

import gzip
import zlib
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from tests.apps.http import Reply, Request
from tests.apps.serving import Answer

CODERS: Mapping[str, Callable[[bytes], bytes]] = {"identity": bytes, "gzip": gzip.compress, "deflate": zlib.compress}


def compressed(answer: Answer, *codings: str) -> Answer:
    """An application whose bodies are coded in this order."""

    def answered(request: Request) -> Reply:
        reply = answer(request)
        body = reply.body
        for coding in codings:
            body = CODERS[coding](body)
        headers = (*reply.headers, ("Content-Encoding", ", ".join(codings)))
        return replace(reply, body=body, headers=headers)

    return answered
