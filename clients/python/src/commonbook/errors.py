"""Errors of Commonbook: one class for each kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class CommonbookError(Exception):
    """A call that failed.

    `kind` is the kind of the server's error, `field` the path of the wrong field, `hint` the next step, `code` a finer kind,
    `request_id` the id under which the server logged the call, and `details` the whole object of the error.
    `status` is the HTTP status, 0 if no server answered."""

    kind = "internal"

    def __init__(self, message: str, *, status: int = 0, details: Mapping[str, Any] | None = None) -> None:
        self.details: dict[str, Any] = dict(details or {})
        self.message = message
        self.status = status
        super().__init__(f"{message} ({self.hint})" if self.hint else message)

    @property
    def field(self) -> str | None:
        """The path of the wrong field, such as `memories[2].topics[1]`."""
        return self.details.get("field")

    @property
    def hint(self) -> str | None:
        """The next step."""
        return self.details.get("hint")

    @property
    def code(self) -> str | None:
        """A finer kind, such as `ownership_mismatch`."""
        return self.details.get("code")

    @property
    def request_id(self) -> str | None:
        """The id of the call in the server's log."""
        return self.details.get("request_id")


class Invalid(CommonbookError):
    """The request is wrong: `field` says where."""

    kind = "invalid"


class Unauthenticated(CommonbookError):
    """The server needs a token, and got none or a wrong one."""

    kind = "unauthenticated"


class Forbidden(CommonbookError):
    """The caller may not do this, for example change another agent's memory."""

    kind = "forbidden"


class NotFound(CommonbookError):
    """It does not exist, or the caller may not see it."""

    kind = "not_found"


class Conflict(CommonbookError):
    """It has changed meanwhile, or the idempotency key belongs to another request."""

    kind = "conflict"


class TooLarge(CommonbookError):
    """A part of the request exceeds its limit."""

    kind = "too_large"


class RateLimited(CommonbookError):
    """Too many calls; `retry_after` has the seconds to wait, if the server named them."""

    kind = "rate_limited"

    @property
    def retry_after(self) -> float | None:
        """The seconds to wait."""
        return self.details.get("retry_after")


class Unavailable(CommonbookError):
    """No server answered, or its store cannot answer now."""

    kind = "unavailable"


class Internal(CommonbookError):
    """A bug in Commonbook."""

    kind = "internal"


_KINDS: dict[str, type[CommonbookError]] = {
    error.kind: error
    for error in (Invalid, Unauthenticated, Forbidden, NotFound, Conflict, TooLarge, RateLimited, Unavailable, Internal)
}
# What stands for the kind where something between client and server answered.
_STATUSES: dict[int, type[CommonbookError]] = {
    401: Unauthenticated, 403: Forbidden, 404: NotFound, 409: Conflict, 413: TooLarge, 414: TooLarge, 429: RateLimited, 500: Internal,
}


def error_of(status: int, body: bytes) -> CommonbookError:
    """The error that a response describes."""
    try:
        details = json.loads(body)["error"]
        message, kind = details["message"], details["kind"]
    except (ValueError, KeyError, TypeError):
        kinds = _STATUSES.get(status, Unavailable if status >= 500 else Invalid)
        return kinds(f"the server answered with status {status}", status=status)
    return _KINDS.get(kind, CommonbookError)(message, status=status, details=details)
