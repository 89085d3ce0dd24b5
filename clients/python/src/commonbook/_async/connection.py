"""Sends calls to a server, again where that does no harm, and follows its stream of events."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import httpx

from .._request import (
    RETRY_AFTER_SECONDS_MAX, Call, Caller, StreamReader, delay, given, may_repeat, may_repeat_answer, reading, retry_after, unreachable,
)
from .._server import LocalServer, RemoteServer
from .._wait import async_blocking, async_pause
from ..errors import CommonbookError, Unavailable, error_of
from ..models import ChangesResponse, Event

# The server sends a comment each 15 seconds.
STREAM_SILENCE_SECONDS = 45.0
# Beyond the end of every journal.
POSITION_MAX = 2**53


class AsyncConnection:
    """The connections to one server."""

    def __init__(self, server: LocalServer | RemoteServer, *, timeout: float, retries: int) -> None:
        self._server = server
        self._retries = retries
        # A server of this machine needs no proxy.
        self._http = httpx.AsyncClient(timeout=timeout, trust_env=isinstance(server, RemoteServer))

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def base(self) -> str:
        """The server's address."""
        return await async_blocking(self._server.address)

    async def workspace(self) -> str | None:
        """The workspace of calls that name none; None for the server's own choice."""
        return await async_blocking(self._server.workspace)

    async def send(self, caller: Caller, call: Call) -> Any:
        """The answer to a call, as JSON. Fails with a `CommonbookError`."""
        attempt = 0
        content = call.content()
        while True:
            asked: float | None = None
            failure: CommonbookError
            base = await self.base()
            # Names of agents and users are in any script.
            headers = httpx.Headers({**caller.headers(), **call.headers()}, encoding="utf-8")
            try:
                answer = await self._http.request(call.method, base + call.path, params=call.query, content=content, headers=headers)
            except httpx.TransportError as error:
                failure, again = unreachable(base, error), may_repeat(call, error)
                cause: Exception | None = error
                self._server.forget()
            else:
                if answer.is_success:
                    return answer.json()
                failure, again = error_of(answer.status_code, answer.content), may_repeat_answer(call, answer.status_code)
                cause, asked = None, retry_after(answer.headers)
            if not again or attempt >= self._retries or (asked or 0) > RETRY_AFTER_SECONDS_MAX:
                raise failure from cause
            await async_pause(delay(attempt, asked))
            attempt += 1

    async def end(self, caller: Caller) -> str:
        """The present end of the journal."""
        changes = cast(ChangesResponse, await self.send(caller, reading("/v1/changes", after=POSITION_MAX, limit=1)))
        return str(changes["through"])

    async def events(
        self, caller: Caller, query: dict[str, Any], after: str | None, patience: float, on_gap: Callable[[int], None] | None,
    ) -> AsyncIterator[Event]:
        """The events after a position, by default after the present end, for as long as the caller reads.

        Connects again where it ended if the connection breaks; fails if that does not succeed within `patience` seconds."""
        position = after if after is not None else await self.end(caller)
        attempt, broken_at = 0, time.monotonic()
        while True:
            asked: float | None = None
            failure: CommonbookError = Unavailable("the server closed the stream of events.")
            base = await self.base()
            further = {"Accept": "text/event-stream", "Last-Event-ID": position}
            headers = httpx.Headers({**caller.headers(), **further}, encoding="utf-8")
            timeout = httpx.Timeout(self._http.timeout.connect, read=STREAM_SILENCE_SECONDS)
            try:
                async with self._http.stream("GET", f"{base}/events/stream", params=query, headers=headers, timeout=timeout) as answer:
                    if not answer.is_success:
                        failure = error_of(answer.status_code, await answer.aread())
                        asked = retry_after(answer.headers)
                        if answer.status_code not in (429, 500, 502, 503, 504):
                            raise failure
                    else:
                        attempt, broken_at = 0, 0.0
                        reader = StreamReader()
                        async for line in answer.aiter_lines():
                            message = reader.read(line)
                            if message is None or message.event == "lagged":
                                # What it missed follows.
                                continue
                            data = json.loads(message.data)
                            if message.event == "resync":
                                position = str(data["after"])
                                if on_gap is not None:
                                    on_gap(int(position))
                                continue
                            position = message.id or position
                            yield cast(Event, data)
            except httpx.TransportError as error:
                failure = unreachable(base, error)
            self._server.forget()
            broken_at = broken_at or time.monotonic()
            wait = delay(attempt, asked)
            if time.monotonic() + wait - broken_at > patience:
                raise failure
            await async_pause(wait)
            attempt += 1


def stream_query(
    topics: object, importance: object, events: object, exclude_self: bool | None,
) -> dict[str, Any]:
    """The filter of a stream."""
    return given(topics=topics, importance=importance, events=events, exclude_self=exclude_self)
