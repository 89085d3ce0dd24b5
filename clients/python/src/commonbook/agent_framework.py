"""Microsoft Agent Framework's context provider over Commonbook:

    from commonbook.agent_framework import CommonbookContextProvider

    agent = Agent(client=client, name="weather", context_providers=[CommonbookContextProvider()])

Before each run the agent reads what fits its task, with authors; what its answer says to remember is kept."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agent_framework import ContextProvider, Message

from ._async.book import AsyncCommonbook, AsyncVerbs
from ._names import child_of, session_name
from .errors import CommonbookError

if TYPE_CHECKING:
    from agent_framework import AgentSession, SessionContext, SupportsAgentRun

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


def text_of(messages: Sequence[Message]) -> str:
    """The texts of messages."""
    return "\n".join(message.text for message in messages if message.text).strip()
