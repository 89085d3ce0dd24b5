"""The client of Commonbook, the memory that many AI agents hold in common.

    from commonbook import Commonbook

    with Commonbook(agent="rook") as book:
        book.save("The kettle whistles at 96 degrees.")
        for hit in book.search("When does the kettle whistle?")["hits"]:
            print(hit["memory"]["text"])

An answer is the JSON object of the server, typed: `commonbook.models` names every type of the OpenAPI document.
A failure is a `CommonbookError` with `kind`, `field` and `hint`."""

from ._async.book import AsyncCase, AsyncCommonbook, AsyncSession
from ._sync.book import Case, Commonbook, Session
from .errors import (
    CommonbookError, Conflict, Forbidden, Internal, Invalid, NotFound, RateLimited, TooLarge, Unauthenticated, Unavailable,
)

__all__ = [
    "AsyncCase", "AsyncCommonbook", "AsyncSession", "Case", "Commonbook", "CommonbookError", "Conflict", "Forbidden", "Internal",
    "Invalid", "NotFound", "RateLimited", "Session", "TooLarge", "Unauthenticated", "Unavailable",
]
