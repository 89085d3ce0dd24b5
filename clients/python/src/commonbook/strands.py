"""Strands' memory store over Commonbook:

    from commonbook.strands import INJECTION, CommonbookMemoryStore

    manager = MemoryManager([CommonbookMemoryStore(agent="weather")], add_tool_config=True, injection=INJECTION)
    agent = Agent(model=model, memory_manager=manager)

Before a turn the model reads what fits the user's message, inside the server's fence and with its authors; `search_memory` and
`add_memory` are its tools; what its last message says to remember is kept."""

from __future__ import annotations

import asyncio
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from strands.memory import (
    AddMessagesContext, ExtractionConfig, InjectionFormatContext, InjectionQueryContext, InvocationTrigger, MemoryEntry,
    MemoryInjectionConfig, MemoryStore, SearchOptions,
)
from strands.types.content import Message

from . import models
from ._names import child_of
from ._sync.book import Commonbook

SEARCH_COUNT = 10
# What a briefing of the program names.
RELEVANCE_MIN = 0.15
DESCRIPTION = "What the agents of this project have saved for each other; `author` is who did."
# The field of an entry's metadata that marks the text of a context, which has a fence.
_FENCED = "fenced"


class _Prompt(str):
    """The query of an injection, by which the store knows that its answer goes before the prompt."""


class CommonbookMemoryStore(MemoryStore):
    """A memory that other agents have too, as a store of Strands.

    An agent writes as `agent`, a child of the name of `book` (`strands/weather`): give each agent a store of its own. A search
    also finds what other agents saved, and says who did (`author`). Strands runs each turn of an agent that blocks in an event
    loop of its own, so the store calls the client that blocks, in threads."""

    def __init__(
        self,
        book: Commonbook | None = None,
        *,
        agent: str | None = None,
        name: str = "commonbook",
        description: str | None = DESCRIPTION,
        max_search_results: int | None = None,
        writable: bool = True,
        extraction: ExtractionConfig | bool | None = None,
        relevance: float = RELEVANCE_MIN,
    ) -> None:
        """`book` is by default the memory of this machine under the name `strands`. A search returns hits with at least this
        `relevance`, 0 to 1.

        By default a writable store keeps after each turn what the agent says to remember, without a call of a model;
        `extraction=False` keeps nothing. An agent that is awaited does so with `manager.flush()` at the latest."""
        self._owned = book is None
        self.book = book if book is not None else Commonbook(agent="strands")
        self._acting = self.book.acting(agent=child_of(self.book.agent, agent))
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        self.extraction = extraction
        if extraction is None and writable:
            self.extraction = ExtractionConfig(trigger=InvocationTrigger())
        self._relevance = relevance

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """What answers the query, best first; for an injection with `INJECTION` the server's one text."""
        if not query.strip():
            return []
        count = (options or {}).get("max_search_results") or self.max_search_results or SEARCH_COUNT
        if isinstance(query, _Prompt):
            # No tool of Strands opens a headline.
            context = await asyncio.to_thread(self._acting.context, str(query), max_memories=count, open=False)
            return [MemoryEntry(content=context["text"], metadata={_FENCED: True, "id": context["id"]})] if context["text"] else []
        found = await asyncio.to_thread(self._acting.search, query, k=count)
        return [entry_of(hit) for hit in found["hits"] if hit["relevance"] >= self._relevance]

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> models.SaveResult:
        """Saves one memory; the same text again is no second memory."""
        if not self.writable:
            raise ValueError(f"the store {self.name} is not writable: make it with `writable=True`")
        return await asyncio.to_thread(self._acting.save, content, metadata=metadata)

    async def add_messages(self, messages: list[Message], context: AddMessagesContext | None = None) -> list[models.Memory]:
        """Keeps what the agent's messages say to remember (`Remember: …`, `Lesson: …`), once however often they come."""
        if not self.writable:
            raise ValueError(f"the store {self.name} is not writable: make it with `writable=True`")
        learnings: list[models.Memory] = []
        prompt = None
        for message in messages:
            text = text_of(message)
            if message["role"] == "user":
                prompt = text or prompt
            elif text:
                learned = await asyncio.to_thread(self._acting.learn, text, prompt=prompt)
                learnings.extend(learned["learnings"])
        return learnings

    def close(self) -> None:
        """Closes the connections, unless `book` was given."""
        if self._owned:
            self.book.close()


def text_of(message: Message) -> str:
    """The texts of a message."""
    return "\n".join(block["text"] for block in message["content"] if "text" in block).strip()


def entry_of(hit: models.SearchHit) -> MemoryEntry:
    """A hit as Strands has it."""
    memory = hit["memory"]
    known = {"id": memory["id"], "author": memory["owner"], "recorded_at": memory["recorded_at"], "relevance": hit["relevance"]}
    return MemoryEntry(content=memory["text"], metadata={**memory["metadata"], **known})


def query_of(context: InjectionQueryContext) -> str | None:
    """The query of an injection: the last message that has a text."""
    texts = (text_of(message) for message in reversed(context.messages))
    found = next((text for text in texts if text), None)
    return _Prompt(found) if found else None


def injected_text(context: InjectionFormatContext) -> str:
    """The text of an injection: the server's as it is, inside its fence; entries of other stores as Strands writes them."""
    fenced = [entry.content for entry in context.entries if (entry.metadata or {}).get(_FENCED) is True]
    others = [
        f"<entry source={quoteattr(entry.store_name or '')}>{escape(entry.content)}</entry>"
        for entry in context.entries if (entry.metadata or {}).get(_FENCED) is not True
    ]
    return "\n".join([*fenced, *(["<memory>", *others, "</memory>"] if others else [])])


# For `MemoryManager(injection=…)`: the context that the server writes for a prompt, with a fence and the authors. Without it
# Strands shows the texts of a search alone.
INJECTION = MemoryInjectionConfig(query=query_of, format=injected_text)
