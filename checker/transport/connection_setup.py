"""Connections of libcurl to the target: proxy, certificates, and a test whether the target can be reached."""

import os
import ssl
from typing import Any

import pycurl

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl


def configure_connection(curl: pycurl.Curl, settings: HttpSettings) -> None:
    """Set the proxy and the certificates of the settings on a handle."""
    # The proxy is set even if it is empty, because environment variables must not redirect requests.
    curl.setopt(pycurl.PROXY, settings.proxy or "")
    curl.setopt(pycurl.NOPROXY, "")
    verify = settings.verify
    curl.setopt(pycurl.SSL_VERIFYPEER, int(verify is not False))
    curl.setopt(pycurl.SSL_VERIFYHOST, 2 if verify is not False else 0)
    if isinstance(verify, str):
        curl.setopt(pycurl.CAPATH if os.path.isdir(verify) else pycurl.CAINFO, verify)
    elif verify:
        # A libcurl from a wheel knows only the certificate paths of the machine that built it.
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
    """Return a time limit for libcurl in milliseconds, at least 1, because 0 means no limit."""
    return max(1, round(seconds * 1000))


def connection_fault(origin: BaseUrl, settings: HttpSettings, patience_s: float) -> tuple[int, str] | None:
    """Return (code, message) of libcurl's error if a TLS connection to the target fails, through the proxy if one is set; None if it works.

    No request is sent.
    """
    curl = pycurl.Curl()
    try:
        curl.setopt(pycurl.URL, origin.plain.url + "/")
        if origin.socket:
            curl.setopt(pycurl.UNIX_SOCKET_PATH, origin.socket)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.CONNECT_ONLY, 1)
        # libcurl would print a proxy's response to CONNECT.
        curl.setopt(pycurl.HEADERFUNCTION, len)
        curl.setopt(pycurl.TIMEOUT_MS, milliseconds(patience_s))
        configure_connection(curl, settings)
        curl.perform()
    except pycurl.error as error:
        said: tuple[Any, ...] = error.args
        return said[0], said[1]
    finally:
        curl.close()
    return None
