"""The one exception of this package, for refused requests, failed runs and lost connections."""

from __future__ import annotations

import json
from typing import Any, Mapping, NamedTuple


class ErrorDetail(NamedTuple):
    """A field of the request that is wrong."""

    path: str
    message: str


class RungateError(Exception):
    """A request that was refused, a run that did not succeed, or a request without an answer.

    ``code`` is the public error code of the API. Without a valid response it is ``unreachable`` (nothing was sent), ``connection_lost`` (the request
    may have arrived) or ``unexpected_answer``. ``status`` is the HTTP status, or 0 without a response. ``run_id`` is the run that failed, if one was
    created. ``retry_after`` is the number of seconds after which the service accepts the request again. ``body`` is the body of the response: for a
    failed run, the run.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        details: tuple[ErrorDetail, ...] = (),
        request_id: str | None = None,
        run_id: str | None = None,
        retry_after: float | None = None,
        body: Any = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.details = details
        self.request_id = request_id
        self.run_id = run_id
        self.retry_after = retry_after
        self.body = body

    def __repr__(self) -> str:
        return f"RungateError(code={self.code!r}, message={self.message!r}, request_id={self.request_id!r})"


# Tracebacks name it as programs import it.
RungateError.__module__ = "rungate"


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """The seconds of ``Retry-After``."""
    try:
        seconds = float(headers.get("retry-after") or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def refusal(status: int, headers: Mapping[str, str], text: str) -> RungateError:
    """The error of a response that is no success."""
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    body: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    error = body.get("error")
    error = error if isinstance(error, dict) else {}
    # Another service at the address may have any form of an error.
    details = error.get("details")
    fields = [one for one in details if isinstance(one, dict)] if isinstance(details, list) else []
    return RungateError(
        error.get("code") or "unexpected_answer",
        error.get("message") or f"HTTP {status} without an error body of Rungate. Check the address.",
        status=status,
        details=tuple(ErrorDetail(one.get("path", ""), one.get("message", "")) for one in fields),
        request_id=body.get("request_id") or headers.get("x-request-id"),
        run_id=body.get("run_id"),
        retry_after=retry_after_of(headers),
        body=body,
    )
