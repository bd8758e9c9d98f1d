"""What is told of a description that does not come, by what the network said."""

import httpx
import pytest

from checker.kinds import redirect_chain
from checker.kinds.fetching import API


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert certificate required (_ssl.c:1)",
            "asks for a client certificate; give it with `--request-cert` (`request-cert`)",
        ),
        (
            "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1)",
            "answers without TLS; write `http://` in its address",
        ),
        (
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed (_ssl.c:1)",
            "has a certificate that cannot be verified; give the file of its authority with `--tls-verify FILE` (`tls-verify`), "
            "or accept any with `--tls-verify false`",
        ),
    ],
)
def test_a_fault_of_tls_is_told_with_what_to_do(text: str, said: str) -> None:
    error = redirect_chain._network_error("https://h/", httpx.ConnectError(text), API)
    assert str(error) == f"https://h/ {said}"
