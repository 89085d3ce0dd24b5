"""What a call is before it is sent, when it may be sent again, and the lines of an event stream."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx

from .errors import CommonbookError, Unavailable

# Seconds before the first repetition; each further one doubles them.
DELAY_SECONDS = 0.2
DELAY_SECONDS_MAX = 5.0
# A server that asks for more is not waited for.
RETRY_AFTER_SECONDS_MAX = 60.0


@dataclass(frozen=True)
class Caller:
    """Who calls: what the headers of each request say."""

    agent: str | None = None
    user: str | None = None
    workspace: str | None = None
    session: str | None = None
    token: str | None = field(default=None, repr=False)

    def headers(self) -> dict[str, str]:
        """The headers that name the caller."""
        named = {
            "X-Commonbook-Agent": self.agent,
            "X-Commonbook-User": self.user,
            "X-Commonbook-Workspace": self.workspace,
            "X-Commonbook-Session": self.session,
            "Authorization": f"Bearer {self.token}" if self.token else None,
        }
        return {name: value for name, value in named.items() if value is not None}

    def with_given(self, **given: str | None) -> Caller:
        """The same caller with what is given."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True)
class Call:
    """One request of REST."""

    method: str
    path: str
    query: dict[str, Any]
    # None sends no body.
    body: Any
    # The idempotency key; None if the route has none.
    key: str | None
    # Whether a second time does no harm.
    repeatable: bool

    def headers(self) -> dict[str, str]:
        """The headers of this call alone."""
        headers = {"Content-Type": "application/json"} if self.body is not None else {}
        if self.key is not None:
            headers["Idempotency-Key"] = self.key
        return headers

    def content(self) -> bytes | None:
        """The body as JSON."""
        return None if self.body is None else json.dumps(self.body).encode()


def reading(path: str, /, **query: Any) -> Call:
    """A call that only reads."""
    return Call("GET", path, given(**query), None, None, True)


def writing(method: str, path: str, /, body: Any = None, *, key: str | None, **query: Any) -> Call:
    """A call that writes once, however often it is sent: it has an idempotency key."""
    return Call(method, path, given(**query), body, key or uuid.uuid4().hex, True)


def stepping(path: str, body: Any = None, *, repeatable: bool) -> Call:
    """A call that writes, by a route without idempotency keys."""
    return Call("POST", path, {}, body, None, repeatable)


def given(**fields: Any) -> dict[str, Any]:
    """The fields that have a value."""
    return {name.rstrip("_"): value for name, value in fields.items() if value is not None}


def segment(value: str) -> str:
    """An id as one segment of a path."""
    return quote(value, safe="")


def may_repeat(call: Call, error: httpx.TransportError) -> bool:
    """Whether a call may be sent again after a connection failed."""
    return call.repeatable or isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))


def may_repeat_answer(call: Call, status: int) -> bool:
    """Whether a call may be sent again after an answer with this status: 429 and 503 mean that nothing was written."""
    return status in (429, 503) or (status >= 500 and call.repeatable)


def unreachable(base: str, error: Exception) -> CommonbookError:
    """The error of a server that does not answer."""
    details = {"kind": "unavailable", "hint": "See whether the server runs and whether its address is right."}
    return Unavailable(f"no answer from {base}: {error or type(error).__name__}.", details=details)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that `Retry-After` asks for."""
    text = headers.get("Retry-After", "")
    if text.isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())


def delay(attempt: int, asked: float | None) -> float:
    """The seconds before the next attempt; the first is 0."""
    if asked is not None:
        return asked
    return float(min(DELAY_SECONDS * 2**attempt, DELAY_SECONDS_MAX) * random.uniform(0.5, 1.0))


@dataclass
class StreamMessage:
    """One message of an event stream."""

    id: str
    event: str
    data: str


@dataclass
class StreamReader:
    """The lines of an event stream as messages."""

    _id: str = ""
    _event: str = ""
    _data: list[str] = field(default_factory=list)

    def read(self, line: str) -> StreamMessage | None:
        """The message that ends with this line; comments, such as those that keep a stream alive, are none."""
        if not line:
            message = StreamMessage(self._id, self._event, "\n".join(self._data))
            self._id, self._event = "", ""
            self._data = []
            return message if message.data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self._id = value
        elif name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        return None
