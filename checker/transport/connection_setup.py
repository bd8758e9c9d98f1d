"""The way of requests to their target, for libcurl: through a proxy, with certificates; and whether it is open."""

import os
import ssl
from typing import Any

import pycurl
from msgspec import Struct

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl


class ConnectionFault(Struct, frozen=True):
    """The reason why no connection can be made."""

    code: int
    """Of libcurl."""
    text: str
    """What libcurl says of it."""


def configure_connection(curl: pycurl.Curl, settings: HttpSettings) -> None:
    """Have a handle go through the proxy of the settings, and use their certificates."""
    # Explicit, also when empty: the environment must not redirect requests.
    curl.setopt(pycurl.PROXY, settings.proxy or "")
    curl.setopt(pycurl.NOPROXY, "")
    verify = settings.verify
    curl.setopt(pycurl.SSL_VERIFYPEER, int(verify is not False))
    curl.setopt(pycurl.SSL_VERIFYHOST, 2 if verify is not False else 0)
    if isinstance(verify, str):
        curl.setopt(pycurl.CAPATH if os.path.isdir(verify) else pycurl.CAINFO, verify)
    elif verify:
        # A libcurl that comes in a wheel knows the paths of the machine that built it.
        paths = ssl.get_default_verify_paths()
        if paths.cafile:
            curl.setopt(pycurl.CAINFO, paths.cafile)
        if paths.capath:
            curl.setopt(pycurl.CAPATH, paths.capath)
    if settings.cert:
        curl.setopt(pycurl.SSLCERT, settings.cert)
    if settings.cert_key:
        curl.setopt(pycurl.SSLKEY, settings.cert_key)


def milliseconds(seconds: float) -> int:
    """A time limit for libcurl, to which 0 would be none at all."""
    return max(1, round(seconds * 1000))


def connection_fault(origin: BaseUrl, settings: HttpSettings, patience_s: float) -> ConnectionFault | None:
    """Return the reason why TLS with a target, through the proxy if there is one, fails; None if it works. No request is sent."""
    curl = pycurl.Curl()
    try:
        curl.setopt(pycurl.URL, origin.plain.url + "/")
        if origin.socket:
            curl.setopt(pycurl.UNIX_SOCKET_PATH, origin.socket)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.CONNECT_ONLY, 1)
        # Discard the response of a proxy to CONNECT: libcurl would print it.
        curl.setopt(pycurl.HEADERFUNCTION, len)
        curl.setopt(pycurl.TIMEOUT_MS, milliseconds(patience_s))
        configure_connection(curl, settings)
        curl.perform()
    except pycurl.error as error:
        said: tuple[Any, ...] = error.args
        return ConnectionFault(said[0], said[1])
    finally:
        curl.close()
    return None
