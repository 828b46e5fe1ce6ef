"""Sends one request: adds address and credential, applies a timeout, and repeats the request where that is safe.

Repeated are reads, and requests with an Idempotency-Key, which the service executes once. Any request may be repeated after a 429, because the service
did not execute it. The credential goes to the given address only: redirects are not followed.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from typing import Any, Mapping, NamedTuple
from urllib.parse import quote, urlencode

from ._errors import RungateError, refusal, retry_after_of
from ._version import __version__

PAUSES_SECONDS = (0.1, 0.3, 1.0, 2.0, 4.0)
# With a longer Retry-After the program gets the error, and decides.
PAUSE_SECONDS_MAX = 10.0


# Slashes and /v1 at the end of an address. Every path begins with /v1.
_END = re.compile(r"(?<=[^/:])(/+v1)?/*$")


class Settings(NamedTuple):
    """What ``connect`` was given."""

    url: str
    key: str | None
    timeout_seconds: float
    retry_seconds: float
    ssl_context: ssl.SSLContext | None


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    text: str


def answer_of(response: http.client.HTTPResponse) -> Answer:
    """Names of headers are in lower case."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status, headers, response.read().decode("utf-8", "replace"))


def _opener(context: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """Follows no redirect and takes every status as an answer."""
    opener = urllib.request.OpenerDirector()
    handlers = (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=context),
        urllib.request.UnknownHandler(),
    )
    for handler in handlers:
        opener.add_handler(handler)
    return opener


def connection_error(cause: BaseException) -> RungateError:
    """The error of a request that got no response."""
    reason = cause.reason if isinstance(cause, urllib.error.URLError) else cause
    if isinstance(reason, ssl.SSLCertVerificationError):
        return RungateError("unreachable", f"The service's certificate is not valid: {reason.verify_message}.")
    if isinstance(reason, ssl.SSLError) and reason.reason == "WRONG_VERSION_NUMBER":
        message = "The service does not speak TLS at this address. Use an http:// address, or the address of the proxy that has TLS."
        return RungateError("unreachable", message)
    if isinstance(cause, urllib.error.URLError) and isinstance(reason, (ConnectionRefusedError, socket.gaierror)):
        message = "Can't reach the service. Check that it runs and that the address is right."
        return RungateError("unreachable", message)
    return RungateError("connection_lost", "The connection was lost before the response arrived.")


LOST = (OSError, http.client.HTTPException)


def _query_text(query: Mapping[str, Any]) -> str:
    """Mappings are several parameters, such as ``metadata={"campaign": "spring"}`` for ``metadata.campaign=spring``."""
    pairs: list[tuple[str, str]] = []

    def add(name: str, value: Any) -> None:
        if value is None:
            return
        if isinstance(value, Mapping):
            for inner, one in value.items():
                add(f"{name}.{inner}", one)
        elif isinstance(value, bool):
            pairs.append((name, "true" if value else "false"))
        else:
            pairs.append((name, str(value)))

    for name, value in query.items():
        add(name, value)
    return f"?{urlencode(pairs)}" if pairs else ""


def segment(name: str, value: str) -> str:
    """One segment of a path. An address would lose ``..``, and the request would be another one."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise TypeError(f"{name} must be an id. It is {value!r}.")
    return quote(value, safe="")


class Transport:
    """Has no state but its settings, so threads may share it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._open = _opener(settings.ssl_context)

    def open(self, request: urllib.request.Request, timeout: float) -> http.client.HTTPResponse:
        return self._open.open(request, timeout=timeout)  # type: ignore[no-any-return]

    def request(self, method: str, path: str, headers: Mapping[str, str], data: bytes | None = None) -> urllib.request.Request:
        request = urllib.request.Request(_END.sub("", self.settings.url, count=1) + path, data=data, method=method)
        request.add_header("User-Agent", f"rungate-python/{__version__}")
        for name, value in headers.items():
            request.add_header(name, value)
        if self.settings.key is not None:
            # Of this request only: no redirect and no proxy gets it.
            request.add_unredirected_header("Authorization", f"Bearer {self.settings.key}")
        return request

    def _attempt(self, request: urllib.request.Request) -> Answer:
        with self.open(request, self.settings.timeout_seconds) as response:
            return answer_of(response)

    @staticmethod
    def _repeat_after(answer: Answer, repeatable: bool) -> float | None:
        if answer.status != 429 and not (answer.status == 503 and repeatable):
            return None
        seconds = retry_after_of(answer.headers)
        return None if seconds is None or seconds > PAUSE_SECONDS_MAX else max(seconds, 0.1)

    def send(self, request: urllib.request.Request, repeatable: bool) -> Answer:
        """The successful response. Raises ``RungateError`` otherwise."""
        until = time.monotonic() + self.settings.retry_seconds
        # After one lost attempt the outcome is unknown, whatever the later errors are.
        lost: RungateError | None = None
        count = 0
        while True:
            try:
                answer = self._attempt(request)
            except LOST as error:
                failure = connection_error(error)
                if failure.code == "connection_lost":
                    lost = lost or failure
                wait = PAUSES_SECONDS[min(count, len(PAUSES_SECONDS) - 1)]
                is_down = failure.code == "unreachable" and count == 0
                if not repeatable or is_down or time.monotonic() + wait > until:
                    raise (lost or failure) from error
            else:
                if 200 <= answer.status < 300:
                    return answer
                after = self._repeat_after(answer, repeatable)
                if after is None or time.monotonic() + after > until:
                    raise refusal(answer.status, answer.headers, answer.text)
                wait = after
            time.sleep(wait)
            count += 1

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
        repeatable: bool = False,
        accept: str | None = None,
    ) -> Any:
        """The response as JSON, or as text if ``accept`` names a type of text. A text as ``body`` is CSV."""
        headers = {"Accept": accept or "application/json"}
        data = None
        if isinstance(body, str):
            headers["Content-Type"] = "text/csv"
            data = body.encode()
        elif body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        request = self.request(method, path + _query_text(query or {}), headers, data)
        answer = self.send(request, repeatable)
        if accept is not None:
            return answer.text
        if answer.text == "":
            return None
        try:
            return json.loads(answer.text)
        except ValueError as error:
            raise RungateError("unexpected_answer", "The response is no JSON. Check the address.") from error
