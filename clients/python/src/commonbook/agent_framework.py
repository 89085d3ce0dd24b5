"""Microsoft Agent Framework's context provider and history provider over Commonbook:

    from commonbook.agent_framework import CommonbookContextProvider, CommonbookHistoryProvider

    agent = Agent(client=client, name="weather", context_providers=[CommonbookHistoryProvider(), CommonbookContextProvider()])

Before each run the agent reads what fits its task, with authors; what its answer says to remember is kept. Its conversations go
on in any process."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from agent_framework import ContextProvider, HistoryProvider, InMemoryHistoryProvider, Message

from . import models
from ._async.book import AsyncCommonbook, AsyncVerbs
from ._names import child_of, session_name
from .errors import CommonbookError, Conflict

if TYPE_CHECKING:
    from agent_framework import AgentSession, SessionContext, SupportsAgentRun

FOLDER = "/agent-framework"
# The session of messages that have none, as in the framework's own files.
DEFAULT_SESSION = "default"
# The memories of one call.
BATCH = 100
# How often a save begins anew because another process has saved meanwhile.
SAVE_ATTEMPTS = 20
_LOG = logging.getLogger("commonbook")


class CommonbookContextProvider(ContextProvider):
    """A memory that other agents have too, before and after each run of an agent.

    An agent acts under its own name, as a child of the name of `book` (`agent-framework/weather`), in the framework's session.
    The context comes as a message of the user's side, inside the server's fence; the history does not keep it. A memory that
    does not answer lets the agent go on, with a warning in the log `commonbook`."""

    def __init__(
        self,
        book: AsyncCommonbook | None = None,
        *,
        source_id: str = "commonbook",
        budget: int | None = None,
        max_memories: int | None = None,
        threshold: float | None = None,
    ) -> None:
        """`book` is by default the memory of this machine under the name `agent-framework`. The context has up to `budget`
        tokens and `max_memories` memories, each with at least the relevance `threshold`, 0 to 1; the server has defaults."""
        super().__init__(source_id)
        self._owned = book is None
        self.book = book if book is not None else AsyncCommonbook(agent="agent-framework")
        self._budget = budget
        self._max_memories = max_memories
        self._threshold = threshold

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any],
    ) -> None:
        """Adds what the agent needs to know before it answers."""
        task = text_of(context.input_messages)
        if not task:
            return
        try:
            found = await self._acting(agent, context).context(
                # The agent has no tool that opens a headline.
                task, budget=self._budget, max_memories=self._max_memories, threshold=self._threshold, open=False,
            )
        except CommonbookError as error:
            _LOG.warning("no context for the agent: %s", error)
            return
        if found["text"]:
            context.extend_messages(self, [Message(role="user", contents=[found["text"]])])

    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any],
    ) -> None:
        """Keeps what the answer says to remember: `Remember: …`, `Lesson: …`."""
        answer = context.response.text.strip() if context.response is not None else ""
        if not answer:
            return
        try:
            await self._acting(agent, context).learn(answer, prompt=text_of(context.input_messages) or None)
        except CommonbookError as error:
            _LOG.warning("what the agent said to remember is not kept: %s", error)

    async def close(self) -> None:
        """Closes the connections, unless `book` was given."""
        if self._owned:
            await self.book.close()

    def _acting(self, agent: SupportsAgentRun, context: SessionContext) -> AsyncVerbs:
        return self.book.acting(agent=child_of(self.book.agent, agent.name), session=session_name(context.session_id))


class CommonbookHistoryProvider(HistoryProvider):
    """The messages of each session as documents `/agent-framework/SESSION/000001`, for every process with the same name.

    They are opaque: kept byte for byte, private to the name of `book`, and never searched. Messages that come again with a run
    are kept once, by the rule of the framework's own providers. The messages of a run are kept all or none, up to 100 of them;
    of more each 100. Two processes in one session write one after the other. A message has at most 4 MiB as JSON. A memory that
    does not answer ends the run with a `CommonbookError`, since an agent must not go on without its conversation.
    `book.delete` with a path removes a message."""

    def __init__(self, book: AsyncCommonbook | None = None, *, source_id: str = "commonbook_history", **settings: Any) -> None:
        """`book` is by default the memory of this machine under the name `agent-framework`. `settings` are those of
        `HistoryProvider`: what is loaded and what is stored."""
        super().__init__(source_id, **settings)
        self._owned = book is None
        self.book = book if book is not None else AsyncCommonbook(agent="agent-framework")

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **named: Any,
    ) -> list[Message]:
        """The messages of a session, oldest first."""
        return [Message.from_dict(json.loads(document["text"])) for document in await self._documents(session_id)]

    async def save_messages(
        self, session_id: str | None, messages: Sequence[Message], *, state: dict[str, Any] | None = None, **named: Any,
    ) -> None:
        """Keeps messages behind those of the session."""
        for attempt in range(1, SAVE_ATTEMPTS + 1):
            documents = await self._documents(session_id)
            kept = [Message.from_dict(json.loads(document["text"])) for document in documents]
            history = {"messages": kept}
            # The framework decides what is new.
            await InMemoryHistoryProvider().save_messages(session_id, messages, state=history)
            first = int(documents[-1]["path"].rpartition("/")[2]) + 1 if documents else 1
            drafts: list[Any] = [
                {"text": json.dumps(message.to_dict()), "path": f"{folder_of(session_id)}/{number:06}", "memory_type": "opaque"}
                for number, message in enumerate(history["messages"][len(kept):], first)
            ]
            try:
                for start in range(0, len(drafts), BATCH):
                    await self.book.save_all(cast("list[models.SaveMemory]", drafts[start:start + BATCH]))
                return
            except Conflict:
                if attempt == SAVE_ATTEMPTS:
                    raise

    async def close(self) -> None:
        """Closes the connections, unless `book` was given."""
        if self._owned:
            await self.book.close()

    async def _documents(self, session_id: str | None) -> list[models.Memory]:
        # The type leaves out what others share at the same paths.
        return [document async for document in self.book.list_all(path=f"{folder_of(session_id)}/*", memory_type="opaque")]


def folder_of(session_id: str | None) -> str:
    """The path of a session: what a path cannot have is in percent codes."""
    return f"{FOLDER}/{quote(session_id or DEFAULT_SESSION, safe='').replace('.', '%2E')}"


def text_of(messages: Sequence[Message]) -> str:
    """The texts of messages."""
    return "\n".join(message.text for message in messages if message.text).strip()
