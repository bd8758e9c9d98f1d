"""What errors of libcurl are told as."""

import pycurl

from checker.config.operation_settings import HttpSettings
from checker.core.response import FailureKind
from checker.transport.http import fault


def test_who_has_to_show_a_certificate_is_told_which_option_gives_one() -> None:
    alert = "OpenSSL SSL_read: OpenSSL/3.0: error:0A00045C:SSL routines::tlsv13 alert certificate required"
    told = fault(pycurl.E_RECV_ERROR, alert, HttpSettings())
    asked = "it asks for a client certificate; give it with `--request-cert`"
    assert told == (FailureKind.OTHER, asked)
    assert fault(pycurl.E_RECV_ERROR, "Recv failure", HttpSettings())[0] is FailureKind.DROPPED
