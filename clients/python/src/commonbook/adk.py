"""Google ADK's memory service over Commonbook:

    from commonbook.adk import CommonbookMemoryService

    runner = Runner(agent=agent, app_name="shop", session_service=sessions, memory_service=CommonbookMemoryService())"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from . import models
from ._async.book import AsyncCommonbook, AsyncVerbs
from ._names import child_of, session_name
from .errors import NotFound

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

# The field of a memory's metadata that has what ADK knows besides.
FIELD = "adk"
SEARCH_COUNT = 10
# What a briefing of the program names.
RELEVANCE_MIN = 0.15


class CommonbookMemoryService(BaseMemoryService):
    """Sessions, events and memories of ADK in a memory that other agents have too.

    What an agent said belongs to that agent, as a child of `book`'s own name (`google-adk/weather`); what the user said to `book`'s
    own. Everything is about the `user_id`, whom no other user's agents hear of, and the workspace of `book` is its scope: apps
    with one workspace share what they know. A search also finds what other agents saved, and says who did (`author`)."""

    def __init__(self, book: AsyncCommonbook | None = None, *, count: int = SEARCH_COUNT, relevance: float = RELEVANCE_MIN) -> None:
        """`book` is by default the memory of this machine under the name `google-adk`. A search returns up to `count` memories
        with at least this `relevance`, 0 to 1."""
        self._owned = book is None
        self.book = book if book is not None else AsyncCommonbook(agent="google-adk")
        self._count = count
        self._relevance = relevance

    async def add_session_to_memory(self, session: Session) -> None:
        """Keeps each event of the session that has a text, once, however often the session is added."""
        await self._add(session.app_name, session.user_id, session.events, session.id, None)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keeps each of these events that has a text, once."""
        await self._add(app_name, user_id, events, session_id, custom_metadata)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keeps each of these memories."""
        for memory in memories:
            text = text_of(memory.content)
            if text:
                known = {"app_name": app_name, "author": memory.author, "timestamp": memory.timestamp, "role": memory.content.role}
                await self._acting(user_id, memory.author).save(
                    text, about="user", metadata={**(custom_metadata or {}), **memory.custom_metadata, FIELD: present(known)},
                )

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What answers the query, best first."""
        if not query.strip():
            return SearchMemoryResponse()
        found = await self._acting(user_id, None).search(query, k=self._count)
        hits = [hit for hit in found["hits"] if hit["relevance"] >= self._relevance]
        return SearchMemoryResponse(memories=[entry_of(hit["memory"]) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Deletes what this service kept; adding its session again does not bring it back. What another agent saved is
        `Forbidden`; an id of nothing is nothing."""
        if memory_id:
            try:
                await self._acting(user_id, None).delete(memory_id)
            except NotFound:
                return

    async def close(self) -> None:
        """Closes the connections, unless `book` was given."""
        if self._owned:
            await self.book.close()

    async def _add(
        self,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None,
        custom_metadata: Mapping[str, object] | None,
    ) -> None:
        session = session_name(session_id)
        kept = await self._kept(user_id, session)
        for event in events:
            text = text_of(event.content)
            if not text or event.id in kept:
                continue
            known = {
                "app_name": app_name, "author": event.author, "event": event.id, "timestamp": time_of(event.timestamp),
                "role": event.content.role if event.content else None,
            }
            await self._acting(user_id, event.author, session).save(
                text,
                memory_type="conversation",
                about="user",
                sharing="shared",
                metadata={**(custom_metadata or {}), FIELD: present(known)},
                idempotency_key=f"{FIELD}:{session}:{event.id}"[:255] if event.id else None,
            )

    async def _kept(self, user_id: str, session: str | None) -> set[str]:
        """The ids of the events of a session that are kept, or were deleted."""
        if session is None:
            return set()
        found = set()
        for deleted in (False, True):
            async for memory in self._acting(user_id, None).list_all(session=session, memory_type="conversation", deleted=deleted):
                known = memory["metadata"].get(FIELD)
                if isinstance(known, dict) and known.get("event"):
                    found.add(str(known["event"]))
        return found

    def _acting(self, user_id: str, author: str | None, session: str | None = None) -> AsyncVerbs:
        agent = child_of(self.book.agent, author if author != "user" else None)
        return self.book.acting(agent=agent, user=user_id, session=session)


def text_of(content: types.Content | None) -> str:
    """The texts of a content, without an agent's thoughts."""
    parts = content.parts if content is not None and content.parts else []
    return "\n".join(part.text for part in parts if part.text and not part.thought).strip()


def entry_of(memory: models.Memory) -> MemoryEntry:
    """A memory as ADK has it."""
    metadata: dict[str, Any] = dict(memory["metadata"])
    found = metadata.pop(FIELD, None)
    known = found if isinstance(found, dict) else {}
    return MemoryEntry(
        id=memory["id"],
        content=types.Content(role=known.get("role") or "user", parts=[types.Part(text=memory["text"])]),
        author=known.get("author") or memory["owner"],
        timestamp=known.get("timestamp") or memory["recorded_at"],
        custom_metadata=metadata,
    )


def present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value}


def time_of(seconds: float | None) -> str | None:
    """A time as ADK shows it to a model."""
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat() if seconds else None
