"""OpenAI Agents' session over Commonbook:

    from commonbook.openai import CommonbookSession

    await Runner.run(agent, "When does the kettle whistle?", session=CommonbookSession("alex-42"))

A later run of any process goes on where this one ended, with the same session id and agent."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote

from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

from . import models
from ._names import child_of
from ._sync.book import Commonbook
from .errors import CommonbookError, Conflict, NotFound

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

NAME = "openai"
FOLDER = "/openai"
# The document that says which items a session has: its path is the first one of the session.
HEAD = "0"
# An item's path has what is left to this number, so that a list of paths begins with the newest item.
COUNTDOWN = 9 * 10**15
PAGE_MAX = 100
# One call saves all or none of 100 documents, the head among them.
BATCH_MAX = 99
# A refused attempt means that another process has changed the session: as many can do so in turn.
ATTEMPTS_MAX = 1000

T = TypeVar("T")


class CommonbookSession:
    """A conversation of OpenAI Agents, kept in the memory: implements the protocol `Session`.

    Each item is an opaque document below `/openai/SESSION`: it comes back as it was, belongs to the agent alone, and no search
    finds it. A change of the items is one step, in all processes: items that are added together stay together, an item is popped
    once, and nobody reads half of a change. A batch of more than 99 items has several of them in a document.

    The limits are those of documents: 4 MiB for an item, 16 MiB for what is added at once, and 1,024 bytes for the path, in which
    a session id has percent codes for what is no letter or digit. What is popped or cleared can be restored for 30 days, as any
    deleted memory. The session calls the client that blocks, in threads, so that each run may have an event loop of its own."""

    def __init__(
        self,
        session_id: str,
        book: Commonbook | None = None,
        *,
        agent: str | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        """`book` is by default the memory of this machine under the name `openai`. The items belong to `agent`, a child of that
        name (`openai/weather`): the same session id of another agent is another session."""
        self.session_id = session_id
        self.session_settings: SessionSettings | None = coerce_session_settings(session_settings or {})
        self._owned = book is None
        self.book = book if book is not None else Commonbook(agent=NAME)
        self._owner = child_of(self.book.agent or NAME, agent)
        self._acting = self.book.acting(agent=self._owner)
        self._folder = f"{FOLDER}/{quote(session_id, safe='').replace('.', '%2E')}/"

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest `limit` items, oldest first; by default as many as the settings say, and all without a limit."""
        count = resolve_session_limit(limit, self.session_settings)
        # A limit below 0 is none, as in `SQLiteSession`.
        return await _finished(lambda: self._get(None if count is not None and count < 0 else count))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items at the end, all or none."""
        texts = _texts_of(items)
        if texts:
            await _finished(lambda: self._settled(lambda: self._add(texts)))

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the last item, and returns it; None if there is none."""
        return await _finished(lambda: self._settled(self._pop))

    async def clear_session(self) -> None:
        """Removes every item."""
        await _finished(self._clear)

    def close(self) -> None:
        """Closes the connections, unless `book` was given."""
        if self._owned:
            self.book.close()

    def _get(self, count: int | None) -> list[Any]:
        items = [item for document in reversed(self._read(count).documents) for item in items_of(document)]
        return items if count is None else items[max(len(items) - count, 0):]

    def _add(self, texts: Sequence[str]) -> None:
        history = self._read(0)
        added = [self._document(name_of(history.end + number), text, 0) for number, text in enumerate(texts)]
        self._write(history, history.end + len(texts), added)

    def _pop(self) -> Any:
        history = self._read(1)
        if not history.documents:
            return None
        last = history.documents[0]
        *others, item = items_of(last)
        if others:
            shorter = self._document(last["path"].rpartition("/")[2], json.dumps(others), last["revision"])
            self._write(history, history.end, [shorter])
        else:
            self._write(history, history.end - 1, [])
            # The session has popped the item already; a document that stays here is removed by the next item.
            with contextlib.suppress(CommonbookError):
                self._acting.delete(last["id"])
        return item

    def _clear(self) -> None:
        # The head comes first: without it no other document is an item.
        with contextlib.suppress(NotFound):
            while self._acting.delete(self._folder).get("more"):
                pass

    def _settled(self, attempt: Callable[[], T]) -> T:
        """What an attempt returns that no other process has met."""
        for _ in range(ATTEMPTS_MAX):
            with contextlib.suppress(Conflict):
                return attempt()
            for memory in self._read(1).remains:
                with contextlib.suppress(NotFound):
                    self._acting.delete(memory["id"])
        return attempt()

    def _read(self, count: int | None) -> _History:
        """The session with its newest items, at least `count` of them or all."""
        limit = PAGE_MAX if count is None else min(count + 1, PAGE_MAX)
        while True:
            history, cursor, pages = _History(), None, 0
            while cursor or not pages:
                page = self._acting.list(path=self._folder, owner=self._owner, limit=limit, cursor=cursor)
                pages += 1
                is_end = not all(history.take(memory) for memory in page["items"])
                is_enough = is_end or count is not None and history.count >= count
                cursor = None if is_enough else page["next"]
            # Several pages are of one moment if the head has not changed meanwhile.
            if pages == 1 or self._read(0).state == history.state:
                return history

    def _write(self, history: _History, end: int, documents: Sequence[models.SaveMemory]) -> None:
        """Changes documents, and with them the end. Fails with `Conflict` if the session is no longer as it was read."""
        # The head changes with any document, and what has the same text would keep its revision.
        numbers = {"first": history.first, "end": end, "after_revision": history.revision}
        self._acting.save_all([self._document(HEAD, json.dumps(numbers), history.revision), *documents])

    def _document(self, name: str, text: str, revision: int) -> models.SaveMemory:
        return {
            "path": self._folder + name, "text": text, "memory_type": "opaque", "sharing": "private", "about": "project",
            "expected_revision": revision,
        }


class _History:
    """What a list of a session's documents says: the numbers of its items from `first` to before `end`, and their documents,
    newest first. `remains` were popped, and are still there."""

    def __init__(self) -> None:
        # That of the head, 0 if there is none.
        self.revision = 0
        # A session that is cleared and begins again has numbers of its own.
        self.first = self.end = time.time_ns() // 1000
        self.documents: list[models.Memory] = []
        self.remains: list[models.Memory] = []
        self.count = 0

    @property
    def state(self) -> tuple[int, int]:
        """What no two moments of a session have in common that differ in its items."""
        return self.revision, self.first

    def take(self, memory: models.Memory) -> bool:
        """Takes the next document of the list in; False if neither it nor any further one is of the session."""
        name = memory["path"].rpartition("/")[2]
        if name == HEAD:
            numbers = json.loads(memory["text"])
            self.revision, self.first, self.end = memory["revision"], numbers["first"], numbers["end"]
            return True
        number = COUNTDOWN - int(name)
        if not self.revision or number < self.first:
            return False
        if number >= self.end:
            self.remains.append(memory)
        else:
            self.documents.append(memory)
            self.count += len(items_of(memory))
        return True


def name_of(number: int) -> str:
    """The last segment of the path of an item."""
    return f"{COUNTDOWN - number:016}"


def items_of(memory: models.Memory) -> list[Any]:
    """The items of a document."""
    return cast("list[Any]", json.loads(memory["text"]))


def _texts_of(items: Sequence[Any]) -> list[str]:
    """The texts of the documents for items: one for each, as long as one call can save them."""
    size = -(-len(items) // BATCH_MAX) or 1
    return [json.dumps(items[start:start + size]) for start in range(0, len(items), size)]


async def _finished(call: Callable[[], T]) -> T:
    """Calls in a thread, and waits for its end also when it is cancelled: a change is done before the next call begins."""
    task = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
