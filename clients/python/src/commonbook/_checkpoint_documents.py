"""The documents of LangGraph's checkpointer: their paths, their content, and how several processes write one."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, cast
from urllib.parse import quote, unquote

from langgraph.checkpoint.base import SerializerProtocol

from . import models
from ._sync.book import Verbs
from .errors import Conflict, NotFound

ROOT = "/checkpoints"
STEP_SLASHES = "/checkpoints/THREAD/steps/NAMESPACE/ID/NAME".count("/")
VALUES_SLASHES = "/checkpoints/THREAD/values/NAMESPACE/VERSION".count("/")
# The name of a checkpoint in its folder, behind those of its tasks in the order of paths.
CHECKPOINT = "~"
# The segment of an empty name, which no other name has.
EMPTY = "%"
PAGE_COUNT = 20
# What one document and one request of the server may have.
PART_CHARS = 4 * 1024 * 1024
BATCH_CHARS = 12 * 1024 * 1024
BATCH_COUNT = 100

Content = dict[str, Any]


def segment_of(name: str) -> str:
    """A name as a segment of a path, which no document refuses; `name_of` has the name."""
    return quote(name, safe=":|").replace(".", "%2E").replace("~", "%7E") or EMPTY


def name_of(segment: str) -> str:
    """The name that a segment stands for."""
    return "" if segment == EMPTY else unquote(segment)


def newest_first(checkpoint_id: str) -> str:
    """An id as a segment: the greater the id, the earlier it is in the order of paths."""
    return bytes(255 - byte for byte in checkpoint_id.encode()).hex() + "~"


def id_of(segment: str) -> str:
    """The id that a segment stands for."""
    return bytes(255 - byte for byte in bytes.fromhex(segment[:-1])).decode()


def thread_path(thread: str) -> str:
    """The folder of a thread."""
    return f"{ROOT}/{segment_of(thread)}"


def namespace_path(thread: str, namespace: str) -> str:
    """The folder of the checkpoints of a namespace."""
    return f"{thread_path(thread)}/steps/{segment_of(namespace)}"


def step_path(thread: str, namespace: str, checkpoint_id: str) -> str:
    """The folder of a checkpoint and of the writes at it."""
    return f"{namespace_path(thread, namespace)}/{newest_first(checkpoint_id)}"


def values_path(thread: str, namespace: str, version: object) -> str:
    """The document of the values that changed with a version."""
    return f"{thread_path(thread)}/values/{segment_of(namespace)}/{segment_of(str(version))}"


def document_of(path: str, text: str, **metadata: Any) -> models.SaveMemory:
    """A document as it is sent."""
    return {"text": text, "path": path, "memory_type": "opaque", "about": "project", "metadata": metadata}


class Item(NamedTuple):
    """What a document is to have; if it is there, `merged(there, content)`."""

    path: str
    content: Content
    merged: Callable[[Content, Content], Content]


class Step(NamedTuple):
    """The documents of a checkpoint, and of the tasks that have written at it."""

    thread: str
    namespace: str
    id: str
    document: models.Memory
    tasks: Sequence[models.Memory]


class CheckpointDocuments:
    """The opaque documents of an agent, with contents of a serializer."""

    def __init__(self, book: Verbs, agent: str, serde: SerializerProtocol) -> None:
        self._book = book
        self._agent = agent
        self._serde = serde

    def page(self, path: str, **more: Any) -> models.MemoryPage:
        """A page of the agent's own documents at or below a path; what another agent shares there is none of a thread."""
        return self._book.list(path=path, owner=self._agent, **more)

    def below(self, path: str) -> Iterator[models.Memory]:
        """The documents below a path, in the order of paths."""
        cursor = None
        while True:
            page = self.page(path, limit=PAGE_COUNT, cursor=cursor)
            yield from page["items"]
            cursor = page["next"]
            if cursor is None:
                return

    def steps(self, path: str) -> Iterator[Step]:
        """The checkpoints below a path, in its order. One whose document is not there yet is left out."""
        folder = ""
        tasks: list[models.Memory] = []
        for memory in self.below(path):
            if memory["path"].count("/") != STEP_SLASHES:
                continue
            around, _, name = memory["path"].rpartition("/")
            if around != folder:
                folder, tasks = around, []
            if name == CHECKPOINT:
                _, _, thread, _, namespace, segment = around.split("/")
                yield Step(name_of(thread), name_of(namespace), id_of(segment), memory, tasks)
            else:
                tasks.append(memory)

    def step(self, thread: str, namespace: str, checkpoint_id: str) -> Step | None:
        """One checkpoint; None if it is not there."""
        return next(self.steps(f"{step_path(thread, namespace, checkpoint_id)}/"), None)

    def newest(self, thread: str, namespace: str) -> Step | None:
        """The newest checkpoint of a namespace; None if there is none."""
        folder = f"{namespace_path(thread, namespace)}/"
        first = next(iter(self.page(folder, limit=1)["items"]), None)
        if first is None:
            return None
        segment, _, name = first["path"].removeprefix(folder).partition("/")
        if name == CHECKPOINT:
            # No task has written.
            return Step(thread, namespace, id_of(segment), first, [])
        return self.step(thread, namespace, id_of(segment)) or next(self.steps(folder), None)

    def at(self, path: str) -> models.Memory:
        """The document at a path. Fails with `NotFound` if there is none."""
        return cast(models.Memory, self._book.get(path))

    def load(self, memory: models.Memory) -> Content:
        """The content of a document. Fails with `NotFound` if a part of it is not there."""
        text, metadata = memory["text"], memory["metadata"]
        if metadata:
            parts = [part["text"] for part in self.below(f"{memory['path']}/{metadata['parts']}/")]
            if len(parts) != metadata["count"]:
                raise NotFound(f"{memory['path']} has lost a part.")
            text = "".join([text, *parts])
        kind, _, data = text.partition(" ")
        return cast(Content, self._serde.loads_typed((kind, base64.b64decode(data))))

    def store(self, items: Sequence[Item]) -> None:
        """Writes documents in this order, in one request unless they are large. One that is there is merged."""
        batch: list[models.SaveMemory] = []
        try:
            for document in (document for item in items for document in self._dump(item.path, item.content)):
                chars = sum(len(other["text"]) for other in batch)
                if batch and (len(batch) == BATCH_COUNT or chars + len(document["text"]) > BATCH_CHARS):
                    self._book.save_all(batch)
                    batch = []
                batch.append(document)
            if batch:
                self._book.save_all(batch)
        except Conflict:
            for item in items:
                self._merge(item)

    def delete(self, memory: models.Memory) -> None:
        """Deletes a document, unless another process has."""
        with suppress(NotFound):
            self._book.delete(memory["id"])

    def delete_below(self, path: str) -> None:
        """Deletes the documents below a path."""
        with suppress(NotFound):
            while self._book.delete(path).get("more"):
                pass

    def _dump(self, path: str, content: Content) -> list[models.SaveMemory]:
        """The documents that have a content: the parts for which one has no room, under a name of their own, and then it."""
        kind, data = self._serde.dumps_typed(content)
        text = f"{kind} {base64.b64encode(data).decode()}"
        first, *parts = [text[start:start + PART_CHARS] for start in range(0, len(text), PART_CHARS)]
        if not parts:
            return [document_of(path, first)]
        name = hashlib.sha256(text.encode()).hexdigest()
        others = [document_of(f"{path}/{name}/{number:06}", part) for number, part in enumerate(parts)]
        return [*others, document_of(path, first, parts=name, count=len(parts))]

    def _merge(self, item: Item) -> None:
        """Writes a document that may be there, and that another process may write meanwhile."""
        while True:
            there = next(iter(self.page(item.path)["items"]), None)
            known = self.load(there) if there is not None else None
            content = item.content if known is None else item.merged(known, item.content)
            *parts, document = self._dump(item.path, content)
            same = there is not None and (there["text"], there["metadata"]) == (document["text"], document.get("metadata"))
            if same or (there is not None and content is known):
                return
            for part in parts:
                # One that is there has the same text.
                with suppress(Conflict):
                    self._book.save_all([part])
            with suppress(Conflict, NotFound):
                if there is None:
                    self._book.save_all([document])
                else:
                    self._book.update(
                        there["id"], text=document["text"], memory_type=document["memory_type"], metadata=document["metadata"],
                        expected_revision=there["revision"],
                    )
                return
