"""Nobody but the page itself gets an answer."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from studio.clients import Client, studio_on_loopback


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with studio_on_loopback() as client:
        yield client


def test_the_page_and_its_parts_come_with_the_token_alone(client: Client) -> None:
    for path in (
        "",
        "studio.css",
        "studio.js",
        "editor.js",
        "results.js",
        "words.js",
        "asking.js",
        "icon.svg",
        "api/state",
    ):
        assert client.ask("GET", path)[0] == 200, path
        for token in ("", "x", client.address.token[:-1], client.address.token + "x", client.address.token.upper()):
            status, headers, body = client.ask("GET", path, token=token)
            assert status == 404
            assert client.address.token not in body.decode()
            assert "content-security-policy" in headers


def test_tokens_cannot_be_guessed_and_are_never_the_same() -> None:
    with studio_on_loopback() as one, studio_on_loopback() as other:
        assert one.address.token != other.address.token
        assert len(one.address.token) >= 32
        assert one.ask("GET", "", token=other.address.token)[0] == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", ""]
)
def test_a_strangers_name_for_this_machine_is_refused(client: Client, host: str) -> None:
    given = host.format(port=client.address.port)
    assert client.ask("GET", "", headers={"Host": given})[0] in (400, 421)


def test_this_machine_may_be_called_localhost(client: Client) -> None:
    assert client.ask("GET", "", headers={"Host": f"localhost:{client.address.port}"})[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}"])
def test_other_pages_may_not_ask(client: Client, origin: str) -> None:
    headers = {"Origin": origin.format(port=client.address.port)}
    assert client.ask("POST", "api/check", {"text": "SELECT 1"}, headers)[0] == 403
    assert client.ask("GET", "api/state", headers=headers)[0] == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_from_elsewhere_leads_to_the_page_and_to_nothing_else(client: Client, site: str) -> None:
    assert client.ask("GET", "", headers={"Sec-Fetch-Site": site})[0] == 200
    assert client.ask("GET", "api/state", headers={"Sec-Fetch-Site": site})[0] == 403
    assert client.ask("POST", "api/check", {"text": ""}, {"Sec-Fetch-Site": site})[0] == 403


def test_the_page_itself_may_ask(client: Client) -> None:
    headers = {"Origin": f"http://127.0.0.1:{client.address.port}", "Sec-Fetch-Site": "same-origin"}
    assert client.ask("POST", "api/check", {"text": "SELECT 1"}, headers)[0] == 200


def test_forms_are_refused_and_so_is_too_much(client: Client) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.ask("POST", "api/check", {"text": ""}, form)[0] == 415
    assert client.ask("POST", "api/check", {"text": ""}, {"Content-Type": "text/plain"})[0] == 415
    assert client.ask("POST", "api/check", {"text": "x" * (1 << 20)})[0] == 413
    assert client.ask("PUT", "api/check", {"text": ""})[0] == 405
    assert client.ask("OPTIONS", "api/check")[0] == 405


def test_answers_say_what_a_browser_may_do(client: Client) -> None:
    for path in ("", "api/state"):
        _, headers, _ = client.ask("GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert not [name for name in headers if name.startswith("access-control") or name == "set-cookie"]


def test_no_path_leads_out_of_the_page(client: Client) -> None:
    for path in (
        "../desk.py",
        "..%2fdesk.py",
        "%2e%2e/desk.py",
        "desk.py",
        "page/studio.js",
        "/etc/passwd",
        "api",
        "api/x",
    ):
        assert client.ask("GET", path)[0] in (404, 405), path


def test_it_listens_on_loopback_and_nowhere_else(client: Client) -> None:
    assert client.address.socket.getsockname()[0] == "127.0.0.1"
    assert client.address.socket.family is socket.AF_INET
    with socket.socket() as other:
        other.settimeout(1)
        assert other.connect_ex(("127.0.0.2", client.address.port)) != 0


def test_a_port_that_is_taken_is_named(client: Client) -> None:
    from trellis.errors import ResourceError
    from trellis.studio.serving import Address

    with pytest.raises(ResourceError, match=f"Port {client.address.port} cannot be had"):
        Address(client.address.port)
