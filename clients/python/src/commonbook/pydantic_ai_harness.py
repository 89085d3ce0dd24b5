"""The memory of Pydantic AI's harness over Commonbook:

    from commonbook.pydantic_ai_harness import CommonbookMemoryStore

    agent = Agent("anthropic:claude-sonnet-4-5", capabilities=[Memory(store=CommonbookMemoryStore(agent="weather"))])

The files are documents below `/pydantic-ai/memory`, which other doors of Commonbook read and search too."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, cast

from anyio import to_thread
from pydantic_ai import ModelRetry
from pydantic_ai_harness.memory import (
    MemoryConflictError, MemoryFile, MemoryMutation, MemoryOperation, MemoryOperationConflictError, MemorySearchMatch,
    MemorySearchResult,
)

from . import models
from ._names import child_of
from ._sync.book import Commonbook
from ._text import is_blank, words_of
from .errors import CommonbookError, Conflict, NotFound, TooLarge

NAME = "pydantic-ai"
FILES = "/pydantic-ai/memory/"
# The document of an operation says what came of it.
OPERATIONS = "/pydantic-ai/operations/"
# The field of a document's metadata with what a file has and a document has not.
FIELD = "pydantic_ai_memory"
# A document is never blank: this is the text of a blank file, whose own text is in the metadata.
BLANK_TEXT = "(blank)"
SEGMENT = re.compile(r"(?!\.$)(?:(?!\.\.)[A-Za-z0-9_.-]){1,200}")
TOPIC_CHARS = 64
PAGE = 100


class CommonbookMemoryStore:
    """The files of the capability `Memory` as documents: the file `MEMORY.md` of its agent `main` is the document
    `/pydantic-ai/memory/main/MEMORY.md`.

    It implements `MemoryStore`, `MetadataMemoryStore` and `SearchableMemoryStore`. The files belong to the agent that writes
    them, and to no user: a namespace says whose they are, and `sharing="private"` keeps them from other agents. These find what
    is shared by a search, with its author, and read it with `owner`. Each process of an agent has the same files.

    A write, its version and the receipt of its operation are one step. A deletion is one with its receipt, too: the file is
    gone with that step, and its document with the next one, or with the next call that meets it. A version is never used again,
    and a change by another door makes a new one, without metadata. Receipts are opaque documents below
    `/pydantic-ai/operations`, which the store keeps.

    Where the store differs from `SqliteMemoryStore`:
    - The server keeps no secret and no control character of a text or of metadata: the next read shows what it has kept.
    - A file has at most 102,400 bytes; a path at most 18 names and 1,000 bytes, none of which may look like a secret.
    - A search is that of the server, by words and by meaning, and the score of a match its relevance (0 to 1). It is not bounded
      by `max_file_chars`, and snippets share `max_chars` evenly.

    What the model can mend, a file that is too large or belongs to another agent, is a `ModelRetry`; every other failure is a
    `CommonbookError`. The client that blocks is called in threads, so that each run may have an event loop of its own."""

    def __init__(
        self,
        book: Commonbook | None = None,
        *,
        agent: str | None = None,
        owner: str | None = None,
        sharing: models.Sharing | None = None,
    ) -> None:
        """`book` is by default the memory of this machine under the name `pydantic-ai`. The store writes as `agent`, a child of
        that name (`pydantic-ai/weather`); new files have the `sharing`, by default `shared`. With `owner`, the full name of
        another agent, it has the files that this one shares, and changes nothing."""
        self._owned = book is None
        self.book = book if book is not None else Commonbook(agent=NAME)
        self._agent = child_of(self.book.agent or NAME, agent) or NAME
        self._owner = owner or self._agent
        self._acting = self.book.acting(agent=self._agent)
        self._sharing = sharing

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """The file at a path, cut to `max_chars` letters; None if there is none."""
        check(path)
        if max_chars <= 0:
            raise ValueError("max_chars must be positive")
        memory = await to_thread.run_sync(self._find, path)
        if memory is None:
            return None
        content, record = content_of(memory), record_of(memory)
        return MemoryFile(
            content=content[:max_chars],
            version=version_of(memory),
            operation_id=record.get("operation"),
            truncated=len(content) > max_chars,
            metadata=record.get("written") or None,
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """What came of an operation; None if it has not been. Fails with `MemoryOperationConflictError` if it was another one."""
        return await to_thread.run_sync(self._replay, operation)

    async def write(
        self, path: str, content: str, *, expected_version: str | None, operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Writes a file without metadata, as `write_with_metadata`."""
        return await self.write_with_metadata(
            path, content, expected_version=expected_version, metadata=None, operation=operation,
        )

    async def write_with_metadata(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        metadata: Mapping[str, str] | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Creates a file, or replaces it with its metadata; an operation that has been changes nothing.

        Fails with `MemoryConflictError` if the file has not `expected_version`."""
        check(path)
        # What is no text fails here, and before anything is sent.
        content.encode()
        written = dict(metadata or {})
        if not all(isinstance(part, str) for item in written.items() for part in item):
            raise TypeError("the names and values of a file's metadata are texts")
        return await self._change(lambda: self._write(path, content, written, expected_version, operation))

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Deletes a file; an operation that has been changes nothing.

        Fails with `MemoryConflictError` if the file has not `expected_version`."""
        check(path)
        return await self._change(lambda: self._delete(path, expected_version, operation))

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """The first `limit` paths that begin with a prefix, sorted."""
        check_prefix(prefix)
        if limit <= 0:
            raise ValueError("limit must be positive")
        return await to_thread.run_sync(lambda: [*islice(self._paths(prefix, limit), limit)])

    async def search(
        self, prefix: str, query: str, *, limit: int, max_files: int, max_chars: int, max_file_chars: int,
    ) -> MemorySearchResult:
        """The files directly below a prefix that answer a query, best first; `scanned` counts those that did."""
        check_prefix(prefix)
        words = words_of(query)
        if not words or min(limit, max_files, max_chars, max_file_chars) <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        count = min(limit, max_files)
        found = await to_thread.run_sync(lambda: [*islice(self._hits(prefix, words, count + 1), count + 1)])
        matches = matches_of(found[:count], len(prefix), words, max_chars)
        return MemorySearchResult(matches=matches, scanned=min(len(found), count), truncated=len(found) > len(matches))

    def close(self) -> None:
        """Closes the connections, unless `book` was given."""
        if self._owned:
            self.book.close()

    async def _change(self, change: Callable[[], MemoryMutation]) -> MemoryMutation:
        if self._owner != self._agent:
            raise ModelRetry(f"The files belong to {self._owner}: you can read them, and not change them.")
        try:
            return await to_thread.run_sync(change)
        except TooLarge as error:
            raise ModelRetry(error.message) from error

    def _write(
        self, path: str, content: str, written: dict[str, str], expected_version: str | None, operation: MemoryOperation | None,
    ) -> MemoryMutation:
        memory = self._find(path)
        if version_of(memory) == expected_version:
            record: dict[str, Any] = {"version": uuid.uuid4().hex, "written": written}
            if is_blank(content):
                record["blank"], content = content, BLANK_TEXT
            mutation = MemoryMutation(version=record["version"], replayed=False, existed=memory is not None)
            # A search finds a file by its name, too.
            name = path.rpartition("/")[2]
            topic = (name.removesuffix(".md") or name)[:TOPIC_CHARS]
            file = {"text": content, "topics": [topic], "sharing": self._sharing}
            with suppress(Conflict):
                self._acting.save_all([document_of(path, memory, record, operation, file), *receipts(operation, mutation)])
                return mutation
        return self._replay_or_fail(path, operation)

    def _delete(self, path: str, expected_version: str | None, operation: MemoryOperation | None) -> MemoryMutation:
        memory = self._find(path)
        if version_of(memory) == expected_version:
            mutation = MemoryMutation(version=None, replayed=False, existed=memory is not None)
            with suppress(Conflict, NotFound):
                if operation is None:
                    if memory is not None:
                        self._acting.delete(memory["id"], expected_revision=memory["revision"])
                elif memory is None:
                    self._acting.save_all(receipts(operation, mutation))
                else:
                    self._delete_with_receipt(path, memory, operation, mutation)
                return mutation
        return self._replay_or_fail(path, operation)

    def _delete_with_receipt(
        self, path: str, memory: models.Memory, operation: MemoryOperation, mutation: MemoryMutation,
    ) -> None:
        """Deletes a file in the same step as its receipt is saved: one request cannot save and delete."""
        file = {"text": memory["text"], "sharing": "private"}
        marked = document_of(path, memory, {**record_of(memory), "deleted": True}, operation, file)
        saved = self._acting.save_all([marked, *receipts(operation, mutation)])["items"][0]["memory"]
        # The file is gone already; a document that stays here is removed by the next call that meets it.
        with suppress(CommonbookError):
            self._remove(saved)

    def _remove(self, marked: models.Memory) -> None:
        with suppress(Conflict, NotFound):
            self._acting.delete(marked["id"], expected_revision=marked["revision"])

    def _replay_or_fail(self, path: str, operation: MemoryOperation | None) -> MemoryMutation:
        """What came of an operation that could not be done now. Fails with `MemoryConflictError` if it has not been."""
        replayed = self._replay(operation) if operation is not None else None
        if replayed is None:
            raise MemoryConflictError(f"the memory file {path!r} has another version")
        return replayed

    def _replay(self, operation: MemoryOperation) -> MemoryMutation | None:
        memory = self._at(operation_path(operation))
        if memory is None:
            return None
        receipt = json.loads(memory["text"])
        if receipt["fingerprint"] != operation.fingerprint:
            raise MemoryOperationConflictError(f"the operation {operation.id!r} had other arguments before")
        return MemoryMutation(version=receipt["version"], replayed=True, existed=receipt["existed"])

    def _find(self, path: str) -> models.Memory | None:
        """The document of a file; None if there is none. It removes one whose file is deleted."""
        memory = self._at(FILES + path)
        if memory is not None and is_deleted(memory):
            self._remove(memory)
            return None
        return memory

    def _at(self, path: str) -> models.Memory | None:
        # A read by a path would also find what lies there in the workspace `global`.
        return next(iter(self._acting.list(path=path, owner=self._owner)["items"]), None)

    def _paths(self, prefix: str, limit: int) -> Iterator[str]:
        for memory in self._acting.list_all(path=f"{FILES}{prefix}*", owner=self._owner, limit=min(limit, PAGE)):
            path = memory["path"].removeprefix(FILES)
            if is_path(path) and not is_deleted(memory):
                yield path

    def _hits(self, prefix: str, words: str, count: int) -> Iterator[tuple[float, str, str]]:
        """The relevance, path and content of the files directly below a prefix that the server finds, best first."""
        cursor = None
        while True:
            query = f"path:{FILES}{prefix}* {words}"
            page = self._acting.search(query, owner=self._owner, k=min(count, PAGE), cursor=cursor)
            # A search also reads other workspaces, such as `global`. The first one is the caller's.
            own = page["workspaces"][0]
            for hit in page["hits"]:
                memory = hit["memory"]
                path = memory["path"].removeprefix(FILES)
                if memory["workspace"] == own and is_path(path) and "/" not in path[len(prefix):] and not is_deleted(memory):
                    yield hit["relevance"], path, content_of(memory)
            cursor = page["next"]
            if cursor is None:
                return


def check(path: str) -> None:
    """Fails with `ValueError` if no file has such a path."""
    if not is_path(path):
        raise ValueError(f"invalid memory path: {path!r}")


def check_prefix(prefix: str) -> None:
    """Fails with `ValueError` if no path of a file begins with a prefix."""
    if prefix:
        check(prefix.removesuffix("/"))


def is_path(path: str) -> bool:
    """Whether a file may have a path; another door may write documents with other ones."""
    return all(SEGMENT.fullmatch(segment) for segment in path.split("/"))


def document_of(
    path: str, memory: models.Memory | None, record: dict[str, Any], operation: MemoryOperation | None, file: dict[str, Any],
) -> models.SaveMemory:
    """The document of a file that takes the place of another one, if it is still there; it has a `record`."""
    revision = memory["revision"] if memory is not None else 0
    record = {**record, "revision": revision + 1, "operation": operation.id if operation is not None else None}
    document = {"path": FILES + path, "about": "project", "expected_revision": revision, "metadata": {FIELD: record}, **file}
    if memory is not None:
        # A document that was made here meanwhile may have the same revision.
        document |= {"based_on": [f"{memory['id']}@{revision}"], "require_current": True}
    return cast(models.SaveMemory, document)


def record_of(memory: models.Memory) -> dict[str, Any]:
    """What the write of a file says of itself; nothing if another door has changed the document since."""
    record = memory["metadata"].get(FIELD)
    return record if isinstance(record, dict) and record.get("revision") == memory["revision"] else {}


def version_of(memory: models.Memory | None) -> str | None:
    """The version of a file; None if there is none."""
    return str(record_of(memory).get("version", f"{memory['id']}:{memory['revision']}")) if memory is not None else None


def is_deleted(memory: models.Memory) -> bool:
    """Whether the file of a document is deleted."""
    return "deleted" in record_of(memory)


def content_of(memory: models.Memory) -> str:
    """The text of a file."""
    text, record = memory["text"], memory["metadata"].get(FIELD)
    return str(record.get("blank", text)) if text == BLANK_TEXT and isinstance(record, dict) else text


def operation_path(operation: MemoryOperation) -> str:
    """The path of the receipt of an operation."""
    return OPERATIONS + hashlib.sha256(operation.id.encode()).hexdigest()


def receipts(operation: MemoryOperation | None, mutation: MemoryMutation) -> list[models.SaveMemory]:
    """The receipt of an operation, if there is one: nobody can save it twice."""
    if operation is None:
        return []
    text = json.dumps({"fingerprint": operation.fingerprint, "version": mutation.version, "existed": mutation.existed})
    return [{
        "path": operation_path(operation), "text": text, "memory_type": "opaque", "about": "project", "expected_revision": 0,
    }]


def matches_of(
    found: list[tuple[float, str, str]], prefix_chars: int, words: str, max_chars: int,
) -> list[MemorySearchMatch]:
    """Matches whose names and snippets have `max_chars` letters together, each an equal part of what is left."""
    matches = []
    for number, (score, path, content) in enumerate(found):
        chars = max_chars // (len(found) - number) - len(path) + prefix_chars
        if chars <= 0:
            break
        snippet = snippet_of(content, words, chars)
        matches.append(MemorySearchMatch(path=path, snippet=snippet, score=score))
        max_chars -= len(path) - prefix_chars + len(snippet)
    return matches


def snippet_of(content: str, words: str, chars: int) -> str:
    """The part of a text around the first of the words in it."""
    lower = content.lower()
    found = [position for word in words.lower().split() if (position := lower.find(word)) >= 0]
    start = max(0, min(min(found, default=0) - chars // 3, len(content) - chars))
    return content[start:start + chars]
