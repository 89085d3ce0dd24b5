"""CrewAI's memory over Commonbook:

    from commonbook.crewai import CommonbookMemory

    crew = Crew(agents=agents, tasks=tasks, memory=CommonbookMemory())

Before its task each agent reads what fits it, with authors; `search_memory` and `save_to_memory` are its tools. The verbs and
their arguments are those of `Memory` of crewai 1.15.30."""

from __future__ import annotations

import contextlib
import logging
import re
import time
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import datetime, timezone
from itertools import islice
from typing import Any, Literal, cast

from crewai.events.event_bus import crewai_event_bus
from crewai.events.event_context import get_current_parent_id
from crewai.events.types.memory_events import MemoryQueryCompletedEvent, MemoryQueryFailedEvent, MemoryQueryStartedEvent
from crewai.memory.types import MemoryMatch, MemoryRecord, ScopeInfo
from crewai.memory.unified_memory import Memory
from crewai.memory.utils import join_scope_paths, normalize_scope_path
from pydantic import Field

from . import models
from ._names import child_of
from ._request import segment
from ._sync.book import Commonbook, Verbs
from .errors import Forbidden, Invalid, NotFound

NAME = "crewai"
# The field of a memory's metadata that has what CrewAI knows besides.
FIELD = "crewai"
# The field of a record's metadata that has the owner of the memory.
AUTHOR = "author"
# What a briefing of the program names.
RELEVANCE_MIN = 0.15
ROLE_CHARS = 64
PAGE = 100
QUERY_BYTES = 16_384
TOPIC_CHARS = 64
# The levels of a scope that have a topic; a memory has 32 topics, and the rest are for categories.
SCOPE_LEVELS = 8
# Each word, the number that stands for it, and the smallest number for which it stands.
IMPORTANCE: tuple[tuple[models.Importance, float, float], ...] = (
    ("critical", 1.0, 0.9), ("high", 0.8, 0.7), ("normal", 0.5, 0.3), ("low", 0.2, 0.0),
)
# What of a text is an operator of a search.
OPERATOR = re.compile(r"\"|(?<!\S)-+|(?<=\w)[:<>=]+(?=\S)")
# What CrewAI writes before an agent's answer.
HEAD = re.compile(r"\A(?:Task|Input): .*?\nAgent: .*?\nResult: ", re.DOTALL)
LEARNING = re.compile(r"^[ \t*-]*(?:remember|lesson)\**:[ \t*]*(\S.*?)[ \t*]*$", re.IGNORECASE | re.MULTILINE)
_LOG = logging.getLogger("commonbook")
# The role of the agent whose words are saved.
_ROLE: ContextVar[str | None] = ContextVar("commonbook_crewai_role", default=None)


class CommonbookMatch(MemoryMatch):
    """What a recall has found, and who saved it."""

    def format(self) -> str:
        """The match as a model reads it: its author, then each line of its text behind `>`, so that no text looks like another
        match."""
        record = self.record
        fields = [("categories", ", ".join(record.categories)), *record.metadata.items()]
        return "\n".join([
            f"- (score={self.score:.2f}) {record.metadata[AUTHOR]} wrote:",
            *(f"  > {line}" for line in record.content.splitlines()),
            *(f"  {_in_line(name)}: {_in_line(value)}" for name, value in fields if name != AUTHOR and value not in (None, "")),
        ])


class CommonbookMemory(Memory):
    """A memory that other agents have too, as the memory of a crew, an agent or a flow.

    - Writing: what an agent saves with its tool, and what CrewAI saves after its task, belongs to the agent of that role
      (`crewai/researcher`); what a program saves outside of any agent belongs to `crewai`. With `agent` everything belongs to
      that agent; an agent outside of a crew needs it, since CrewAI does not name it there. What is not `private` is shared.
    - Recalling: Commonbook's search, at any `depth`, without a model or embedder. It finds what all agents of the
      workspace share; `metadata["author"]` of a record is who saved it, and the score is the relevance. Signs of the query
      language in a query are plain words. What another value has superseded is neither found nor listed.
    - Scopes: a scope and those above it are topics (`/project`, `/project/alpha`), in at most 8 levels; it has what is in it
      and below it, and `/` everything, also what other programs saved. Categories are topics too, and an importance is a
      number here and a word there.
    - Extracting: with an `llm` as CrewAI does it. Without one `extract_memories` returns what the answer marks itself, in lines
      that begin with `Remember:` or `Lesson:`, and nothing else.
    - Forgetting: `forget` and `reset` delete what belongs to the agent and to those below its name, as all agents of a crew
      are; the log `commonbook` has a warning if what others saved stays. With `record_ids` of others nothing is deleted, and
      `Forbidden` names them. A list without ids deletes nothing, and all arguments narrow; CrewAI's own storage deletes more.

    A checkpoint of CrewAI has no connection: give a restored crew its memory again."""

    llm: Any = None
    storage: Any = Field(default=None, exclude=True)
    embedder: Any = Field(default=None, exclude=True)
    relevance: float = RELEVANCE_MIN

    def __init__(self, book: Commonbook | None = None, *, agent: str | None = None, **settings: Any) -> None:
        """`book` is by default the memory of this machine under the name `crewai`. With `agent`, a role, all that is saved
        belongs to that agent, a child of the name of `book`. `settings` are those of `Memory`: `llm`, `root_scope` and
        `read_only` have a meaning here; also `relevance`, 0 to 1, the least that a recall returns."""
        super().__init__(storage=_Records(book, agent), embedder=_no_vectors, **settings)

    @property
    def book(self) -> Commonbook:
        """The client."""
        return cast(Commonbook, self._storage.book)

    def remember(
        self,
        content: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> MemoryRecord | None:
        """Saves one memory; the same text with the same fields is no second one. None if the memory is only read."""
        with _role(agent_role or current_role()):
            return super().remember(
                content, scope=scope, categories=categories, metadata=metadata, importance=importance, source=source,
                private=private, agent_role=agent_role, root_scope=root_scope,
            )

    def remember_many(
        self,
        contents: list[str],
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> list[MemoryRecord]:
        """Saves memories in the background, a hundred at a time all or none; a recall waits for them."""
        with _role(agent_role or current_role()):
            super().remember_many(
                contents, scope=scope, categories=categories, metadata=metadata, importance=importance, source=source,
                private=private, agent_role=agent_role, root_scope=root_scope,
            )
        return []

    def _encode_batch(
        self,
        contents: list[str],
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        root_scope: str | None = None,
    ) -> list[MemoryRecord]:
        """Saves what both of the above were given, in the thread of the saves."""
        fields: dict[str, Any] = {
            "scope": join_scope_paths(root_scope, scope),
            "categories": categories or [],
            "metadata": metadata or {},
            "importance": self.default_importance if importance is None else importance,
            "source": source,
            "private": private,
        }
        return self._records.save([MemoryRecord(content=content, **fields) for content in contents], _ROLE.get())

    @property
    def _records(self) -> _Records:
        return cast(_Records, self._storage)

    def extract_memories(self, content: str) -> list[str]:
        """With an `llm` what it finds in a text; else the lines of an answer that begin with `Remember:` or `Lesson:`."""
        if self.llm is not None:
            return cast("list[str]", super().extract_memories(content))
        return LEARNING.findall(HEAD.sub("", content, count=1))

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        depth: Literal["shallow", "deep"] = "deep",
        source: str | None = None,
        include_private: bool = False,
    ) -> list[MemoryMatch]:
        """What answers the query, best first, in a scope and below it, with one of the categories. Only the agent itself
        recalls what it saved as private, and only with the same `source` or with `include_private`."""
        self.drain_writes()
        place = join_scope_paths(self.root_scope, scope)
        about: dict[str, Any] = {"query": query, "limit": limit, "source_type": "unified_memory"}
        crewai_event_bus.emit(self, MemoryQueryStartedEvent(**about))
        begun = time.perf_counter()
        try:
            fitting = (
                match for match in self._records.search(query, place, limit, self.relevance)
                if (not categories or set(categories) & set(match.record.categories))
                and (not match.record.private or include_private or source is not None and match.record.source == source)
            )
            matches = [*islice(fitting, max(limit, 0))]
        except Exception as error:
            crewai_event_bus.emit(self, MemoryQueryFailedEvent(**about, error=str(error)))
            raise
        elapsed = (time.perf_counter() - begun) * 1000
        crewai_event_bus.emit(self, MemoryQueryCompletedEvent(**about, results=matches, query_time_ms=elapsed))
        return matches


class _Records:
    """What CrewAI's `Memory` asks of a storage, without vectors."""

    def __init__(self, book: Commonbook | None, agent: str | None) -> None:
        self._owned = book is None
        self.book = book if book is not None else Commonbook(agent=NAME)
        self._agent = agent
        self._acting = self._as(agent)

    def __deepcopy__(self, memo: object) -> _Records:
        # The copy of a crew has the same connections.
        return self

    def _name(self, role: str | None) -> str:
        return child_of(self.book.agent or NAME, (role or "")[:ROLE_CHARS]) or NAME

    def _as(self, role: str | None) -> Verbs:
        return self.book.acting(agent=self._name(role))

    def save(self, records: list[MemoryRecord], role: str | None) -> list[MemoryRecord]:
        acting = self._as(self._agent or role)
        saved: list[MemoryRecord] = []
        for first in range(0, len(records), PAGE):
            drafts = [draft_of(record) for record in records[first:first + PAGE]]
            page = acting.save_all(cast("list[models.SaveMemory]", drafts))
            saved.extend(record_of(item["memory"]) for item in page["items"])
        return saved

    def search(self, query: str, place: str, limit: int, relevance: float) -> Iterator[MemoryMatch]:
        """What a search finds in a scope, best first."""
        words = " ".join(OPERATOR.sub(" ", query).split()).encode()[:QUERY_BYTES].decode(errors="ignore")
        cursor: str | None = None
        while words and limit > 0:
            page = self._acting.search(words, k=min(2 * limit, PAGE), topic=topic_of(place), cursor=cursor)
            hits = [hit for hit in page["hits"] if hit["relevance"] >= relevance]
            for hit in hits:
                record = record_of(hit["memory"])
                if is_within(record.scope, place):
                    yield CommonbookMatch(record=record, score=hit["relevance"], match_reasons=[*hit["matched"]])
            cursor = page["next"]
            if cursor is None or not hits:
                return

    def get_record(self, record_id: str) -> MemoryRecord | None:
        try:
            return record_of(cast(models.Memory, self._acting.get(record_id)))
        except (NotFound, Invalid):
            return None

    def update(self, record: MemoryRecord) -> None:
        self._acting.update(record.id, **draft_of(record))

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        place = normalize_scope_path(scope_prefix or "/")
        if record_ids is None:
            records = [*self._listed(place)]
        else:
            known = map(self.get_record, dict.fromkeys(record_ids))
            records = [record for record in known if record is not None and is_within(record.scope, place)]
        if older_than is not None and older_than.tzinfo is not None:
            older_than = older_than.astimezone(timezone.utc).replace(tzinfo=None)
        records = [
            record for record in records
            if (not categories or set(categories) & set(record.categories))
            and (older_than is None or record.created_at < older_than)
            and all(record.metadata.get(name) == value for name, value in (metadata_filter or {}).items())
        ]
        own = self._own(records)
        others = [record for record in records if record not in own]
        if others:
            authors = ", ".join(sorted({record.metadata[AUTHOR] for record in others}))
            if record_ids is not None:
                ids = ", ".join(record.id for record in others)
                raise Forbidden(f"{ids} belong to {authors}, and only their owner deletes them: nothing was deleted")
            _LOG.warning("%d memories in %s belong to %s, and stay", len(others), place, authors)
        count = 0
        for record in own:
            # What another process has deleted meanwhile is gone.
            with contextlib.suppress(NotFound):
                self._acting.delete(record.id)
                count += 1
        return count

    def reset(self, scope_prefix: str | None = None) -> None:
        self.delete(scope_prefix)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        if limit <= 0 or offset < 0:
            return []
        return [*islice(self._listed(normalize_scope_path(scope_prefix or "/")), offset, offset + limit)]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        place = normalize_scope_path(scope)
        records = [*self._listed(place)]
        names = {record.scope[len(place.rstrip("/")) + 1:].split("/", 1)[0] for record in records} - {""}
        times = [record.created_at for record in records]
        return ScopeInfo(
            path=place,
            record_count=len(records),
            categories=sorted({category for record in records for category in record.categories}),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=[join_scope_paths(place, name) for name in sorted(names)],
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        return cast("list[str]", self.get_scope_info(parent).child_scopes)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        counts: dict[str, int] = {}
        for record in self._listed(normalize_scope_path(scope_prefix or "/")):
            for category in record.categories:
                counts[category] = counts.get(category, 0) + 1
        return counts

    def close(self) -> None:
        if self._owned:
            self.book.close()

    def _listed(self, place: str) -> Iterator[MemoryRecord]:
        """The records of a scope, newest first."""
        for memory in self._acting.list_all(topic=topic_of(place)):
            record = record_of(memory)
            if "superseded_by" not in memory and is_within(record.scope, place):
                yield record

    def _own(self, records: list[MemoryRecord]) -> list[MemoryRecord]:
        """Those of the agent, and of agents below its name."""
        try:
            known = self._acting.request("GET", f"/v1/agents/{segment(self._name(self._agent))}")["agent"]
        except NotFound:
            return []
        return [record for record in records if f"{record.metadata[AUTHOR]}/".startswith(f"{known}/")]


@contextlib.contextmanager
def _role(role: str | None) -> Iterator[None]:
    """Saves as the agent of a role: CrewAI's thread of the saves has a copy of the context."""
    token = _ROLE.set(role)
    try:
        yield
    finally:
        _ROLE.reset(token)


def current_role() -> str | None:
    """The role of the agent whose tool runs here, as the events of CrewAI have it; None outside of a crew and its tools."""
    state, event_id = crewai_event_bus.runtime_state, get_current_parent_id()
    while state is not None and event_id is not None:
        node = state.event_record.get(event_id)
        if node is None:
            return None
        if node.event.agent_role:
            return str(node.event.agent_role)
        event_id = node.event.parent_event_id
    return None


def _no_vectors(texts: list[str]) -> list[list[float]]:
    return []


def _in_line(value: object) -> str:
    return " ".join(str(value).split())


def topics_of(place: str) -> list[str]:
    """The topics of a scope: its own path and those above it."""
    names = place.strip("/").split("/")[:SCOPE_LEVELS] if place != "/" else []
    return [f"/{'/'.join(names[:length])}"[:TOPIC_CHARS] for length in range(1, len(names) + 1)]


def topic_of(place: str) -> str | None:
    """The topic that everything in a scope and below it has; None for the root."""
    topics = topics_of(place)
    return topics[-1] if topics else None


def is_within(scope: str, place: str) -> bool:
    """Whether a scope is the place or below it."""
    return f"{scope}/".startswith(f"{place.rstrip('/')}/")


def word_of(importance: float) -> models.Importance:
    """The word for an importance."""
    return next((word for word, _, least in IMPORTANCE if importance >= least), "low")


def draft_of(record: MemoryRecord) -> dict[str, Any]:
    """A record as a memory."""
    scope = normalize_scope_path(record.scope)
    metadata = {name: value for name, value in record.metadata.items() if name != AUTHOR}
    metadata[FIELD] = {"scope": scope, "importance": record.importance, **({"source": record.source} if record.source else {})}
    return {
        "text": record.content,
        "topics": [*record.categories, *topics_of(scope)],
        "importance": word_of(record.importance),
        "sharing": "private" if record.private else "shared",
        "metadata": metadata,
    }


def record_of(memory: models.Memory) -> MemoryRecord:
    """A memory as a record. What other programs saved is in `/`, and what they changed counts."""
    metadata = dict(memory["metadata"])
    field = metadata.pop(FIELD, None)
    known = field if isinstance(field, dict) else {}
    scope, importance, source = (known.get(name) for name in ("scope", "importance", "source"))
    scope = normalize_scope_path(scope if isinstance(scope, str) else "/")
    if not isinstance(importance, (int, float)) or not 0 <= importance <= 1 or word_of(importance) != memory["importance"]:
        importance = next(number for word, number, _ in IMPORTANCE if word == memory["importance"])
    return MemoryRecord(
        id=memory["id"],
        content=memory["text"],
        scope=scope,
        categories=[topic for topic in memory["topics"] if topic not in topics_of(scope)],
        metadata={**metadata, AUTHOR: memory["owner"]},
        importance=importance,
        created_at=_time_of(memory["recorded_at"]),
        last_accessed=_time_of(memory["revised_at"]),
        source=source if isinstance(source, str) else None,
        private=memory["sharing"] == "private",
    )


def _time_of(text: str) -> datetime:
    """A time as CrewAI has it: of UTC, without its zone."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).replace(tzinfo=None)
