"""One request at a time to the server, and what its answers mean for a caller (docs: Conventions, Errors)."""

import http.client
import ipaddress
import json
import socket as sockets
import ssl
import urllib.parse

TIMEOUT_SECONDS = 15
#: The longest silence of an event stream: a comment comes every 25 seconds.
STREAM_TIMEOUT_SECONDS = 60


class Refused(Exception):
    """The server has decided: asking again the same way gives the same answer."""

    def __init__(self, status, code, correlation_id):
        super().__init__(f"{status} {code}")
        self.status, self.code, self.correlation_id = status, code, correlation_id


class Gone(Refused):
    """The credential is dead (401): the agent has to stop."""


class Unavailable(Exception):
    """No answer, or one that says to ask again, after `retry_after` seconds where it says when."""

    def __init__(self, why, retry_after=None):
        super().__init__(why)
        self.retry_after = retry_after


class Answer:
    """A success: `status`, `headers`, and `body` as bytes."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        """A proxy in between may answer with anything, also with 200."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise Unavailable(f"{self.status}: the answer is not JSON ({error})") from error


class Server:
    """The server under its base URL. Its certificate is verified, with `ca_file` where that is given."""

    def __init__(self, url, ca_file=None):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(f"{url} is not the address of a server")
        self._parts = parts
        self._tls = ssl.create_default_context(cafile=ca_file) if parts.scheme == "https" else None

    def call(self, method, path, credential=None, body=None, headers=None):
        """Makes a call. Raises Refused, Gone or Unavailable."""
        connection = self._connection(TIMEOUT_SECONDS)
        try:
            response = self._send(connection, method, path, credential, body, headers)
            return self._judged(response.status, response.headers, response.read())
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable(f"{type(error).__name__}: {error}") from error
        finally:
            connection.close()

    def addresses(self):
        """The address of this machine towards the server, and that of the server. Sends nothing. Raises Unavailable."""
        port = self._parts.port or {"http": 80, "https": 443}[self._parts.scheme]
        try:
            family, kind, _, _, address = sockets.getaddrinfo(self._parts.hostname, port, type=sockets.SOCK_DGRAM)[0]
            with sockets.socket(family, kind) as socket:
                socket.connect(address)
                return ipaddress.ip_address(socket.getsockname()[0]), ipaddress.ip_address(address[0])
        except OSError as error:
            raise Unavailable(f"{type(error).__name__}: {error}") from error

    def open_stream(self, path, credential, headers):
        """Opens an event stream: its connection's socket, and a reader of lines. Raises as `call` does."""
        connection = self._connection(STREAM_TIMEOUT_SECONDS)
        try:
            connection.connect()
            socket = connection.sock
            response = self._send(connection, "GET", path, credential, None, headers)
            if response.status != 200:
                self._judged(response.status, response.headers, response.read())
            return socket, response
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Unavailable(f"{type(error).__name__}: {error}") from error

    def _connection(self, timeout):
        host, port = self._parts.hostname, self._parts.port
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=timeout)
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._tls)

    def _send(self, connection, method, path, credential, body, headers):
        sent = {"Accept": "application/json, application/problem+json, */*", **(headers or {})}
        if credential is not None:
            sent["Authorization"] = f"Bearer {credential}"
        if body is not None:
            sent["Content-Type"] = "application/json"
        text = None if body is None else json.dumps(body).encode()
        connection.request(method, self._parts.path.rstrip("/") + path, text, sent)
        return connection.getresponse()

    def _judged(self, status, headers, body):
        if 200 <= status < 300 or status == 304:
            return Answer(status, headers, body)
        code, correlation_id = _problem(body)
        if status in (408, 429) or status >= 500 and status != 501:
            raise Unavailable(f"{status} {code}", _seconds(headers.get("Retry-After")))
        raise (Gone if status == 401 else Refused)(status, code, correlation_id)


def _problem(body):
    """A proxy in between may answer with anything."""
    try:
        problem = json.loads(body)
        return problem.get("code"), problem.get("correlation_id")
    except (ValueError, AttributeError):
        return None, None


def _seconds(text):
    return float(text) if text is not None and text.isdigit() else None
