"""LangGraph's checkpointer over Commonbook."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP, BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple, DeltaChannelHistory,
    PendingWrite, SerializerProtocol, get_checkpoint_id, get_checkpoint_metadata, writes_sort_key,
)

from . import models
from ._checkpoint_documents import (
    CHECKPOINT, ROOT, VALUES_SLASHES, CheckpointDocuments, Content, Item, Step, namespace_path, segment_of, step_path,
    thread_path, values_path,
)
from ._names import child_of
from ._sync.book import Commonbook
from .errors import NotFound

Writes = list[PendingWrite]

NAME = "langgraph"
# A text up to this size stands in each checkpoint; what is longer, or may grow, has a document that is written when it changes.
INLINE_CHARS = 1024


class CommonbookSaver(BaseCheckpointSaver[str]):
    """A checkpointer whose threads are opaque documents of an agent, which no other agent reads and no search finds.

    A thread is below `/checkpoints/THREAD`. A checkpoint is one document, written last; the values of its channels are another
    one for each version of them, so that a `put` writes what has changed; the writes of a task are one more. Processes of the
    agent have the same threads. The methods that are awaited call the client that blocks in threads, because LangGraph uses one
    checkpointer in several event loops.

    Limits: a path has 1,024 bytes, which the names of thread, namespace and task share. The server has no filter for metadata:
    `list` with `filter`, and `delete_for_runs`, read what they choose from. Every method fails with a `CommonbookError` if the
    server does not answer or refuses, and with `NotFound` if a checkpoint has lost a value."""

    def __init__(
        self, book: Commonbook | None = None, *, agent: str | None = None, serde: SerializerProtocol | None = None,
    ) -> None:
        """`book` is by default the memory of this machine under the name `langgraph`. The threads belong to `agent`, a child of
        that name (`langgraph/weather`), and not to a user. `serde` is a serializer of LangGraph, such as one that encrypts."""
        super().__init__(serde=serde)
        self._owned = book is None
        self.book = book if book is not None else Commonbook(agent=NAME)
        self._agent = child_of(self.book.agent or NAME, agent) or NAME
        self._acting = self.book.acting(agent=self._agent)

    def close(self) -> None:
        """Closes the connections, unless `book` was given."""
        if self._owned:
            self.book.close()

    # What LangGraph calls

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that `config` names, by default the newest of its thread and namespace; None if there is none."""
        missing: Step | None = None
        while True:
            step = self._find(config)
            if step is None:
                return None
            try:
                return self._tuple_of(step, {}, {})
            except NotFound:
                # Either the thread was deleted meanwhile, or the checkpoint has lost a value.
                if missing is not None and missing.document["id"] == step.document["id"]:
                    raise
                missing = step

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """The checkpoints of a thread, newest first: of one namespace as they are read, of several after all are read. Without
        `config` those of every thread."""
        end = get_checkpoint_id(before) if before else None
        known: dict[str, models.Memory] = {}
        for step in self._chosen(config):
            if limit is not None and limit <= 0:
                return
            if end is not None and step.id >= end:
                continue
            try:
                found = self._tuple_of(step, known, filter or {})
            except NotFound:
                if self._documents.step(step.thread, step.namespace, step.id) is not None:
                    raise
                continue
            if found is not None:
                limit = None if limit is None else limit - 1
                yield found

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keeps a checkpoint, after the values that `new_versions` names; again it changes nothing."""
        thread, namespace = place_of(config)
        inline: Content = {}
        changed: dict[str, Content] = {}
        apart = []
        for channel, value in checkpoint["channel_values"].items():
            version = checkpoint["channel_versions"].get(channel)
            if version is None or is_small(value):
                inline[channel] = value
                continue
            apart.append(channel)
            if channel in new_versions:
                changed.setdefault(values_path(thread, namespace, version), {})[channel] = value
        content = {
            "checkpoint": {name: part for name, part in checkpoint.items() if name != "channel_values"},
            "values": inline,
            "apart": apart,
            "metadata": get_checkpoint_metadata(config, metadata),
            "parent": get_checkpoint_id(config),
        }
        folder = step_path(thread, namespace, checkpoint["id"])
        self._documents.store([
            *(Item(path, values, merged_values) for path, values in changed.items()),
            Item(f"{folder}/{CHECKPOINT}", content, replaced),
        ])
        return config_of(thread, namespace, checkpoint["id"])

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "",
    ) -> None:
        """Keeps the writes of a task of a checkpoint: each once, those to LangGraph's own channels as they were last."""
        thread, namespace = place_of(config)
        rows = [[WRITES_IDX_MAP.get(channel, index), channel, value, task_path] for index, (channel, value) in enumerate(writes)]
        if not rows:
            return
        folder = step_path(thread, namespace, config["configurable"]["checkpoint_id"])
        content = merged_writes({"task": task_id, "writes": []}, {"task": task_id, "writes": rows})
        self._documents.store([Item(f"{folder}/{segment_of(task_id)}", content, merged_writes)])

    def delete_thread(self, thread_id: str) -> None:
        """Deletes a thread, in all its namespaces."""
        folder = thread_path(str(thread_id))
        # No checkpoint may be there without its values.
        self._documents.delete_below(f"{folder}/steps/")
        self._documents.delete_below(f"{folder}/")

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints of runs, and the values that only they have. It reads every thread of the agent."""
        documents, runs = self._documents, set(run_ids)

        def of_runs(steps: Iterable[Step]) -> Sequence[Step]:
            return [step for step in steps if documents.load(step.document)["metadata"].get("run_id") in runs]

        for thread in {step.thread for step in of_runs(documents.steps(f"{ROOT}/"))} if runs else ():
            self._thin(thread, of_runs)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies a thread, each checkpoint after all that it needs."""
        source, target = thread_path(str(source_thread_id)), thread_path(str(target_thread_id))
        documents = self._documents
        values = [memory for memory in documents.below(f"{source}/values/") if memory["path"].count("/") == VALUES_SLASHES]
        steps = [*documents.steps(f"{source}/steps/")]
        for memories, merged in (
            (values, merged_values), ([memory for step in steps for memory in step.tasks], merged_writes),
            ([step.document for step in reversed(steps)], replaced),
        ):
            items = [Item(target + memory["path"].removeprefix(source), documents.load(memory), merged) for memory in memories]
            documents.store(items)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Deletes checkpoints: with `keep_latest` all but the newest of each namespace, and those from which its delta channels
        are rebuilt; with `delete` all."""
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"the strategy is `keep_latest` or `delete`, not {strategy!r}")
        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
            else:
                self._thin(str(thread_id), self._superseded)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str],
    ) -> Mapping[str, DeltaChannelHistory]:
        """What rebuilds channels at a checkpoint: the writes at its ancestors, oldest first, since the one that has the value."""
        writes: dict[str, list[PendingWrite]] = {channel: [] for channel in channels}
        seeds: Content = {}
        step = self._find(config) if channels else None
        for ancestor, content in self._ancestors(step) if step else ():
            for write in reversed(self._writes_of(ancestor)):
                if write[1] in writes and write[1] not in seeds:
                    writes[write[1]].append(write)
            wanted = [channel for channel in channels if channel not in seeds]
            seeds.update(self._values_of(ancestor, content, {}, wanted))
            if len(seeds) == len(writes):
                break
        history: dict[str, DeltaChannelHistory] = {channel: {"writes": found[::-1]} for channel, found in writes.items()}
        for channel, seed in seeds.items():
            history[channel]["seed"] = seed
        return history

    def get_next_version(self, current: str | None, channel: None) -> str:
        """A version greater than `current`, which no other process gives."""
        number = int(str(current).partition(".")[0]) if current is not None else 0
        return f"{number + 1:032}.{uuid.uuid4().hex}"

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple`, awaited."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """`list`, awaited."""
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (item := await asyncio.to_thread(next, found, None)) is not None:
            yield item

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """`put`, awaited."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "",
    ) -> None:
        """`put_writes`, awaited."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """`delete_thread`, awaited."""
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """`delete_for_runs`, awaited."""
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """`copy_thread`, awaited."""
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """`prune`, awaited."""
        await asyncio.to_thread(self.prune, thread_ids, strategy=strategy)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str],
    ) -> Mapping[str, DeltaChannelHistory]:
        """`get_delta_channel_history`, awaited."""
        return await asyncio.to_thread(self.get_delta_channel_history, config=config, channels=channels)

    @property
    def _documents(self) -> CheckpointDocuments:
        # LangGraph changes the serializer of a copy.
        return CheckpointDocuments(self._acting, self._agent, self.serde)

    def _find(self, config: RunnableConfig) -> Step | None:
        """The checkpoint that a config names, or the newest."""
        place, checkpoint_id = place_of(config), get_checkpoint_id(config)
        return self._documents.step(*place, checkpoint_id) if checkpoint_id else self._documents.newest(*place)

    def _chosen(self, config: RunnableConfig | None) -> Iterator[Step]:
        """What a list chooses from, newest first."""
        if config is None:
            return iter(sorted(self._documents.steps(f"{ROOT}/"), key=lambda step: step.id, reverse=True))
        thread, namespace = place_of(config)
        checkpoint_id = get_checkpoint_id(config)
        if "checkpoint_ns" not in config["configurable"]:
            steps = sorted(self._documents.steps(f"{thread_path(thread)}/steps/"), key=lambda step: step.id, reverse=True)
            return iter([step for step in steps if checkpoint_id in (None, step.id)])
        folder = step_path(thread, namespace, checkpoint_id) if checkpoint_id else namespace_path(thread, namespace)
        return self._documents.steps(f"{folder}/")

    def _ancestors(self, step: Step) -> Iterator[tuple[Step, Content]]:
        """The checkpoints from which one comes, newest first."""
        documents, seen = self._documents, {step.id}
        parent = documents.load(step.document)["parent"]
        while parent is not None and parent not in seen:
            found = documents.step(step.thread, step.namespace, parent)
            if found is None:
                return
            content = documents.load(found.document)
            yield found, content
            seen.add(parent)
            parent = content["parent"]

    def _tuple_of(self, step: Step, known: dict[str, models.Memory], filter: Mapping[str, Any]) -> CheckpointTuple | None:
        """A checkpoint as LangGraph has it; None if its metadata differ from the filter."""
        content = self._documents.load(step.document)
        metadata, parent = content["metadata"], content["parent"]
        if any(metadata.get(name) != value for name, value in filter.items()):
            return None
        values = self._values_of(step, content, known, [*content["values"], *content["apart"]])
        return CheckpointTuple(
            config=config_of(step.thread, step.namespace, step.id),
            checkpoint=cast(Checkpoint, {**content["checkpoint"], "channel_values": values}),
            metadata=metadata,
            parent_config=config_of(step.thread, step.namespace, parent) if parent else None,
            pending_writes=self._writes_of(step),
        )

    def _values_of(self, step: Step, content: Content, known: dict[str, models.Memory], channels: Iterable[str]) -> Content:
        """The values that a checkpoint has of some channels; `known` then has their documents. Fails with `NotFound` if one is
        not there."""
        versions = content["checkpoint"]["channel_versions"]
        apart = [channel for channel in channels if channel in content["apart"]]
        paths = {channel: values_path(step.thread, step.namespace, versions[channel]) for channel in apart}
        for path in known.keys() - paths.values():
            del known[path]
        contents = {}
        for path in set(paths.values()):
            known[path] = known.get(path) or self._documents.at(path)
            contents[path] = self._documents.load(known[path])
        values = {channel: content["values"][channel] for channel in channels if channel in content["values"]}
        for channel, path in paths.items():
            if channel not in contents[path]:
                raise NotFound(f"the checkpoint {step.id} has lost the value of the channel {channel}.")
            values[channel] = contents[path][channel]
        return values

    def _writes_of(self, step: Step) -> Writes:
        """The writes at a checkpoint, in the order in which they are applied."""
        rows = [
            (writes_sort_key(path, content["task"], index), (content["task"], channel, value))
            for content in map(self._documents.load, step.tasks) for index, channel, value, path in content["writes"]
        ]
        return [write for _, write in sorted(rows, key=lambda row: row[0])]

    def _superseded(self, steps: Sequence[Step]) -> Sequence[Step]:
        """All but the newest checkpoint of each namespace, and the ancestors that its delta channels need."""
        kept = set()
        for namespace in {step.namespace for step in steps}:
            newest = next(step for step in steps if step.namespace == namespace)
            kept.add(newest.document["id"])
            content = self._documents.load(newest.document)
            wanted = {*content["metadata"].get("counters_since_delta_snapshot", ())} - {*content["values"], *content["apart"]}
            for ancestor, content in self._ancestors(newest) if wanted else ():
                kept.add(ancestor.document["id"])
                wanted -= {*content["values"], *content["apart"]}
                if not wanted:
                    break
        return [step for step in steps if step.document["id"] not in kept]

    def _thin(self, thread: str, choose: Callable[[Sequence[Step]], Sequence[Step]]) -> None:
        """Deletes the chosen checkpoints of a thread, and the values that only they have.

        Values are listed before checkpoints: one that another process puts meanwhile has values that are not among them, or that
        its parent has too."""
        documents = self._documents
        values = [*documents.below(f"{thread_path(thread)}/values/")]
        steps = [*documents.steps(f"{thread_path(thread)}/steps/")]
        chosen = choose(steps)
        gone = {step.document["id"] for step in chosen}
        needed = set()
        for step in steps:
            if step.document["id"] not in gone:
                content = documents.load(step.document)
                versions = content["checkpoint"]["channel_versions"]
                needed |= {values_path(thread, step.namespace, versions[channel]) for channel in content["apart"]}
        for step in chosen:
            documents.delete(step.document)
            documents.delete_below(f"{step_path(thread, step.namespace, step.id)}/")
        for memory in values:
            if "/".join(memory["path"].split("/")[:VALUES_SLASHES + 1]) not in needed:
                documents.delete(memory)


def place_of(config: RunnableConfig) -> tuple[str, str]:
    """The thread and the namespace of a config."""
    return str(config["configurable"]["thread_id"]), config["configurable"].get("checkpoint_ns") or ""


def config_of(thread: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    """The config that names a checkpoint."""
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}


def is_small(value: Any) -> bool:
    """Whether a value stands in each checkpoint: it is small, and will be so if it did not change."""
    return value is None or type(value) in (bool, int, float) or (type(value) is str and len(value) <= INLINE_CHARS)


def replaced(there: Content, wanted: Content) -> Content:
    """A checkpoint: what is there goes."""
    return wanted


def merged_values(there: Content, wanted: Content) -> Content:
    """Values of one version: what is there stays."""
    return there if wanted.keys() <= there.keys() else {**wanted, **there}


def merged_writes(there: Content, wanted: Content) -> Content:
    """Writes of one task: what is there stays, but for those to LangGraph's own channels, which have numbers below 0."""
    rows = {row[0]: row for row in there["writes"]}
    changes = {row[0]: row for row in wanted["writes"] if row[0] < 0 or row[0] not in rows}
    return {**there, "writes": [*{**rows, **changes}.values()]} if changes else there
