"""Follows events of the service and continues after a lost connection, so that a program sees each event once.

It connects again with the id of the last event, after a pause, when the connection is lost, silent or refused for a while. A refusal that a repetition
can't change ends the stream with an error. So does a first connection that fails.
"""

from __future__ import annotations

import http.client
import json
import time
from typing import Any, Iterator, NamedTuple, Sequence
from urllib.parse import urlencode

from ._errors import RungateError, refusal
from ._transport import LOST, PAUSE_SECONDS_MAX, Transport, answer_of, connection_error, segment

# Longer than two heartbeats of the service. A connection that is silent for so long is lost.
SILENCE_SECONDS = 40.0
PAUSE_SECONDS = 1.0
# Statuses of a service that restarts or is busy.
PASSING = (408, 429, 500, 502, 503, 504)


class Event(NamedTuple):
    """``id`` is where a stream can continue. ``data`` depends on the type."""

    id: str
    type: str
    timestamp: str
    data: dict[str, Any]


def _messages(response: http.client.HTTPResponse) -> Iterator[tuple[str, str]]:
    """Ids and data of the messages."""
    last = ""
    data: list[str] = []
    for raw in response:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if line == "":
            if data:
                yield last, "\n".join(data)
            last, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "id":
            last = value
        elif field == "data":
            data.append(value)


def _event(identity: str, text: str) -> Event:
    try:
        found = json.loads(text)
        return Event(identity, found["type"], found["timestamp"], found["data"])
    except (ValueError, KeyError, TypeError) as error:
        raise RungateError("unexpected_answer", "The service sent an event that is no JSON.") from error


def follow(transport: Transport, run_id: str | None, types: Sequence[str] | None, after: str | None) -> Iterator[Event]:
    """Ends with its run, or when the loop is left."""
    path = "/v1/events" if run_id is None else f"/v1/runs/{segment('run_id', run_id)}/events"
    if types is not None:
        path = f"{path}?{urlencode({'types': ','.join(types)})}"
    connected = False
    last = after
    while True:
        headers = {"Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = last
        wait = PAUSE_SECONDS
        try:
            with transport.open(transport.request("GET", path, headers), SILENCE_SECONDS) as response:
                # The client has everything.
                if response.status == 204:
                    return
                if response.status != 200:
                    error = refusal(*answer_of(response))
                    if not connected or response.status not in PASSING:
                        raise error
                    wait = min(max(error.retry_after or 0.0, PAUSE_SECONDS), PAUSE_SECONDS_MAX)
                else:
                    connected = True
                    for identity, text in _messages(response):
                        if identity == "":
                            continue
                        event = _event(identity, text)
                        last = identity
                        yield event
                        if run_id is not None and event.type == "run.finished":
                            return
        except LOST as error:
            if not connected:
                raise connection_error(error) from error
        time.sleep(wait)
