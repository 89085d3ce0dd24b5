"""mem0's `Memory` over Commonbook."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, cast

from .. import _mem0, models
from ..errors import CommonbookError, Forbidden
from .book import AsyncCommonbook, AsyncVerbs

PAGE = 100


class AsyncMemory:
    """The face of mem0's class of the same name: `add, search, get, get_all, update, delete, delete_all, history, reset`.

    No model is needed, so nothing is extracted: `add` keeps each message in its own words, also with `infer`. The same text
    again is no second memory (its `event` is `NONE`). What another value has superseded is neither found nor listed.
    `user_id` is the user of Commonbook, `run_id` the session, `agent_id` a topic; what other agents saved about the user is found
    too, and stays theirs: only what this program saved is changed by `update`, `delete`, `delete_all` and `reset`."""

    def __init__(self, config: Any = None, *, book: AsyncCommonbook | None = None) -> None:
        """`book` is the memory, by default the one of this machine under the name `mem0`. `config` may have `commonbook`, a
        dictionary with the arguments of `AsyncCommonbook`; what mem0 has in it about models and stores is not needed."""
        options = config.get("commonbook", {}) if isinstance(config, Mapping) else {}
        self._owned = book is None
        self.book = book if book is not None else AsyncCommonbook(**{"agent": "mem0", **options})

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> AsyncMemory:
        """The same as `AsyncMemory(config_dict)`."""
        return cls(config_dict)

    async def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Keeps each message of the user and the assistant as one memory. One of the ids is needed."""
        if timestamp is not None:
            raise ValueError("timestamp is not supported by add(); use expiration_date, or metadata")
        expires = _mem0.expiration(expiration_date)
        scope = _mem0.scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        if not scope.filters():
            raise _mem0.ValidationError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.", "VALIDATION_001")
        if memory_type not in (None, _mem0.PROCEDURAL):
            raise _mem0.ValidationError(
                f"Invalid 'memory_type'. Please pass {_mem0.PROCEDURAL} to create procedural memories.", "VALIDATION_002",
            )
        found = _mem0.messages_of(messages)
        if memory_type is not None and found:
            # A procedure is one memory of all its steps.
            steps = "\n".join(f"{message['role']}: {message['content']}" for message in found)
            found = [{"role": None, "content": steps}]
        book, results = self._acting(scope), []
        for message in found:
            saved = await book.save(
                message["content"],
                memory_type="procedural" if memory_type else "semantic",
                about="user" if scope.user_id else None,
                topics=[scope.topic] if scope.topic else None,
                metadata=_mem0.metadata_of(metadata, scope, message, expires),
            )
            event = "ADD" if saved["outcome"] == "created" else "NONE"
            result = {"id": saved["memory"]["id"], "memory": saved["memory"]["text"], "event": event}
            results.append(result if memory_type else {**result, "actor_id": message.get("name"), "role": message["role"]})
        return {"results": results}

    async def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **others: Any,
    ) -> dict[str, Any]:
        """The memories that answer a question, best first: `score` is the relevance, between 0 and 1, and every search is
        reranked. `filters` names one of the ids at least, and may have metadata with mem0's operators."""
        if reference_date is not None:
            raise ValueError("reference_date is not supported by search()")
        _mem0.check_search(query, top_k, threshold)
        scope = _mem0.scope_of_filters(filters, others, "search")
        results: list[dict[str, Any]] = []
        cursor: str | None = None
        while len(results) < top_k:
            page = await self._acting(scope).search(
                query.strip(), k=PAGE, cursor=cursor, user_id=scope.user_id, topic=scope.topic, session=scope.session,
            )
            for hit in page["hits"]:
                item = _mem0.item_of(hit["memory"], hit["relevance"], scored=True)
                if hit["relevance"] >= (threshold or 0.0) and self._wanted(item, filters, show_expired):
                    results.append({**item, **({"score_details": hit["parts"]} if explain else {})})
            cursor = page["next"]
            if cursor is None:
                break
        return {"results": results[:top_k]}

    async def get_all(
        self, *, filters: Mapping[str, Any] | None = None, top_k: int = 20, show_expired: bool = False, **others: Any,
    ) -> dict[str, Any]:
        """The memories that fit the filters, newest first."""
        _mem0.check_top_k(top_k)
        scope = _mem0.scope_of_filters(filters, others, "get_all")
        results: list[dict[str, Any]] = []
        if top_k:
            async for memory in self._current(scope):
                item = _mem0.item_of(memory)
                if self._wanted(item, filters, show_expired):
                    results.append(item)
                    if len(results) == top_k:
                        break
        return {"results": results}

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """One memory; None if there is none with this id."""
        memory = await self._find(memory_id)
        return None if memory is None else _mem0.item_of(memory, scored=True)

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _mem0.UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Changes the text of a memory that this program saved, and adds to its metadata; a date of None removes the last day."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _mem0.UNSET:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        memory = await self._required(memory_id)
        changed = _mem0.changed_metadata(memory.get("metadata") or {}, metadata, expiration_date)
        await self.book.update(memory_id, text=text, metadata=changed)
        return {"message": "Memory updated successfully!"}

    async def delete(self, memory_id: str) -> dict[str, str]:
        """Deletes a memory that this program saved."""
        await self._required(memory_id)
        await self.book.delete(memory_id)
        return {"message": "Memory deleted successfully!"}

    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None,
    ) -> dict[str, str]:
        """Deletes what this program saved under these ids."""
        scope = _mem0.scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        if not scope.filters():
            raise ValueError(
                "At least one filter is required to delete all memories. If you want to delete all memories, use the `reset()` method."
            )
        await self._delete(scope, scope.filters())
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What has happened to a memory, oldest first; nothing for an id that is unknown."""
        try:
            revisions = await self.book.history(memory_id)
        except CommonbookError as error:
            if _mem0.is_unknown(error):
                return []
            raise
        return _mem0.history_of(memory_id, revisions["items"])

    async def reset(self) -> None:
        """Deletes everything that this program saved."""
        await self._delete(_mem0.scope({}), {})

    def chat(self, query: str) -> None:
        """mem0 has it, and does nothing in it either."""
        raise NotImplementedError("Chat function not implemented yet.")

    async def close(self) -> None:
        """Closes the connections, unless `book` was given."""
        if self._owned:
            await self.book.close()

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _acting(self, scope: _mem0.Scope) -> AsyncVerbs:
        return self.book.acting(user=scope.user_id, session=scope.session)

    def _wanted(self, item: Mapping[str, Any], filters: Mapping[str, Any] | None, show_expired: bool) -> bool:
        return (show_expired or not _mem0.is_expired(item)) and _mem0.fits(item, filters)

    async def _current(self, scope: _mem0.Scope) -> AsyncIterator[models.Memory]:
        listed = self._acting(scope).list_all(user_id=scope.user_id, topic=scope.topic, session=scope.session)
        async for memory in listed:
            if "superseded_by" not in memory:
                yield memory

    async def _find(self, memory_id: str) -> models.Memory | None:
        try:
            return cast(models.Memory, await self.book.get(memory_id))
        except CommonbookError as error:
            if _mem0.is_unknown(error):
                return None
            raise

    async def _required(self, memory_id: str) -> models.Memory:
        memory = await self._find(memory_id)
        if memory is None:
            raise ValueError(f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'")
        return memory

    async def _delete(self, scope: _mem0.Scope, filters: Mapping[str, Any]) -> None:
        # All of them first: a list whose items go away has other pages.
        listed = self._acting(scope).list_all(user_id=scope.user_id, topic=scope.topic, session=scope.session)
        found = [memory["id"] async for memory in listed if _mem0.FIELD in memory["metadata"] and _mem0.fits(_mem0.item_of(memory), filters)]
        for memory_id in found:
            try:
                await self.book.delete(memory_id)
            except Forbidden:
                # Another program saved it, with this face under a name of its own.
                continue
