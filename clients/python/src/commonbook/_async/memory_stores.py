"""Anthropic's memory stores over Commonbook: the transport of a client of Anthropic's SDK."""

from __future__ import annotations

import contextlib
import json
import logging
import uuid
from collections.abc import AsyncIterator
from operator import itemgetter
from typing import Any, cast

from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from httpx2 import AsyncBaseTransport, ByteStream, Request, Response

from .. import _memory_stores as api
from .. import models
from .._memory_stores import Asked, Refusal
from .._memory_tool import Place, document_of, text_of
from .._names import child_of
from .._request import segment
from ..errors import CommonbookError, Conflict, Forbidden, NotFound
from .book import AsyncCommonbook, AsyncVerbs
from .connection import POSITION_MAX

NAME = "anthropic"
# Pages of documents and of the journal.
PAGE = 100

log = logging.getLogger("commonbook")


class AsyncMemoryStoresTransport(AsyncBaseTransport):
    """Answers the requests of `client.beta.memory_stores` from Commonbook, with the SDK's own objects and errors.

    A store is a workspace of its own, named as its id, so that its memories have the API's paths at their whole length, one
    store sees nothing of another, and a deletion takes all of it. A memory is the document of its path in that workspace, where
    any door searches, reads and tells it. The name, description and metadata of a store are a document below `/memory-stores` of
    the workspace of `book`: any agent there finds with a search which stores it has, and its path names the workspace. The
    `workspace_id` of a call names another one for these documents.

    Each memory and store belongs to the agent that made it: all agents read it, and this agent and those above its name
    change it, so that `anthropic` changes the words of `anthropic/weather`. For any other agent a change is a
    `PermissionDeniedError`, and a path that another agent's memory has is taken. A version is a revision of a document; its
    `created_by` is an `api_actor` whose `api_key_id` is the name of the agent, or the `user_actor` `human` for the person. The
    ids are those of documents and their revisions, the same in every process.

    What differs from Anthropic's service, and why:
    - A version of a deleted memory with the content that the memory had at last cannot be redacted: for 30 days the memory
      can be restored. `commonbook purge ID` removes it with all its versions.
    - The server keeps no secret and no control character of a text: `content` and `content_sha256` are those of what is kept,
      and the log `commonbook` has a warning. So it has if a memory gives orders to other agents, which do not see it before
      a person releases it. A path that looks like a secret is refused.
    - A document is never blank: a blank memory has a sentence as its text, and its own content in the metadata.
    - A path that a document cannot have (blanks at the ends of a segment, letters that nobody sees) is in percent codes there,
      and these count for its 1,024 bytes. The metadata of a store has at most 16,384 bytes as JSON.
    - A change of a document by another door is a version, whatever it changed. A deleted memory and its versions are kept for
      30 days. A deleted store is gone at once, memory by memory; one with memories of other agents is not deleted.
    - That no path is taken by another agent, or below or above that of a memory, and that a store is not archived, is looked up
      before a write, and not in one step with it. Other doors write into an archived store.
    - A token that is bound to one workspace opens no store, which is another one: a `PermissionDeniedError`.
    - No version has a session or a service account as its author: a filter by one finds nothing."""

    def __init__(
        self, book: AsyncCommonbook | None = None, *, agent: str | None = None, others: AsyncBaseTransport | None = None,
    ) -> None:
        """`book` is by default the memory of this machine under the name `anthropic`. The transport writes as `agent`, a child
        of that name (`anthropic/weather`). Requests for other paths go to `others`, which is closed with this transport; without
        it they are a `NotFoundError`."""
        self._owned = book is None
        self.book = book if book is not None else AsyncCommonbook(agent=NAME)
        self._agent = child_of(self.book.agent or NAME, agent)
        self._others = others
        self._operations = {
            "POST": self._create_store, "GET": self._list_stores, "GET *": self._retrieve_store, "POST *": self._update_store,
            "DELETE *": self._delete_store, "POST */archive": self._archive_store, "POST */memories": self._create_memory,
            "GET */memories": self._list_memories, "GET */memories/*": self._retrieve_memory,
            "POST */memories/*": self._update_memory, "DELETE */memories/*": self._delete_memory,
            "GET */memory_versions": self._list_versions, "GET */memory_versions/*": self._retrieve_version,
            "POST */memory_versions/*/redact": self._redact_version,
        }

    async def handle_async_request(self, request: Request) -> Response:
        """Answers a request."""
        path = request.url.path
        if not api.is_of_stores(path) and self._others is not None:
            return await self._others.handle_async_request(request)
        workspace = request.headers.get("anthropic-workspace-id")
        asked = api.asked_of(request.method, path, request.url.params, workspace, await request.aread())
        id = f"req_{uuid.uuid4().hex}"
        headers = {"Content-Type": "application/json"}
        try:
            if not api.is_of_stores(path) or asked.operation not in self._operations:
                raise Refusal(404, "not_found_error", f"Commonbook has memory stores, and nothing at {request.method} {path}.")
            try:
                status, answer = 200, await self._operations[asked.operation](asked)
            except CommonbookError as error:
                raise api.refusal_of(error) from error
        except Refusal as refusal:
            id = refusal.request or id
            status, answer = refusal.status, {"type": "error", "error": refusal.error, "request_id": id}
            # The client of Commonbook has repeated what a repetition mends.
            headers["X-Should-Retry"] = "false"
        headers["Request-Id"] = id
        return Response(status, headers=headers, stream=ByteStream(json.dumps(answer).encode()))

    async def aclose(self) -> None:
        """Closes the connections, but not those of a `book` that was given."""
        if self._owned:
            await self.book.close()
        if self._others is not None:
            await self._others.aclose()

    # Stores

    async def _create_store(self, asked: Asked) -> dict[str, Any]:
        body = asked.body("name", "description", "metadata")
        metadata = api.changed_metadata({}, body.get("metadata", {}))
        fields = {"description": "", **api.given_fields({"name": None, **body}), "metadata": metadata, "archived_at": None}
        path = api.record_path(api.new_store())
        saved = await self._stores(asked).save(**api.record_of(fields), path=path, about="project", sharing="shared")
        note(saved["memory"], api.fields_of(saved["memory"]) == fields)
        return api.store_of(saved["memory"])

    async def _list_stores(self, asked: Asked) -> dict[str, Any]:
        limit, last = asked.limit(), asked.page(str, str)
        is_with_archived = asked.query.get("include_archived", "false").lower() == "true"
        stores = []
        async for record in self._stores(asked).list_all(path=f"{api.FOLDER}/"):
            if api.is_record(record):
                store = api.store_of(record)
                age = api.age_of(store["created_at"], store["id"])
                is_later = last is None or age < api.age_of(*last)
                is_wanted = asked.is_created_in_time(store["created_at"]) and (is_with_archived or store["archived_at"] is None)
                if is_later and is_wanted:
                    stores.append((age, store))
        newest_first = [store for _, store in sorted(stores, key=itemgetter(0), reverse=True)]
        page = newest_first[:limit]
        return api.page_of(page, api.token_of(page[-1]["created_at"], page[-1]["id"]) if len(newest_first) > limit else None)

    async def _retrieve_store(self, asked: Asked) -> dict[str, Any]:
        return api.store_of(await self._record(asked))

    async def _update_store(self, asked: Asked) -> dict[str, Any]:
        body = asked.body("name", "description", "metadata")
        given = api.given_fields(body)
        while True:
            record = await self._open_record(asked)
            before = api.fields_of(record)
            fields = {**before, **given, "metadata": api.changed_metadata(before["metadata"], body.get("metadata", {}))}
            changed = record if fields == before else await self._change(self._stores(asked), record, api.record_of(fields))
            if changed is not None:
                note(changed, api.fields_of(changed) == fields)
                return api.store_of(changed)

    async def _archive_store(self, asked: Asked) -> dict[str, Any]:
        while True:
            record = await self._record(asked)
            fields = api.fields_of(record)
            if fields["archived_at"] is not None:
                return api.store_of(record)
            document = api.record_of({**fields, "archived_at": api.now()})
            changed = await self._change(self._stores(asked), record, document)
            if changed is not None:
                return api.store_of(changed)

    async def _delete_store(self, asked: Asked) -> dict[str, Any]:
        record = await self._record(asked)
        book = self._workspace(asked.store)
        memories = [memory async for memory in book.list_all(path="/") if api.is_memory(memory, asked.store)]
        # An update that changes nothing says whether the caller may change what an owner has.
        await self._stores(asked).update(record["id"], text=record["text"], expected_revision=record["revision"])
        others = []
        for owner, memory in {memory["owner"]: memory for memory in memories}.items():
            try:
                await book.update(memory["id"], new_path=memory["path"], expected_revision=memory["revision"])
            except Forbidden:
                others.append(owner)
        if others:
            message = f"The store has memories of {', '.join(sorted(others))}, which you may not delete: nothing is deleted."
            raise Refusal(403, "permission_error", message)
        deleted = [memory async for memory in book.list_all(path="/", deleted=True)]
        for memory in [*memories, *deleted]:
            # What another agent has deleted is kept for that agent, for 30 days.
            with contextlib.suppress(NotFound, Forbidden):
                await self._purge(book, memory)
        await self._purge(self._stores(asked), record)
        return {"id": asked.store, "type": "memory_store_deleted"}

    # Memories

    async def _create_memory(self, asked: Asked) -> dict[str, Any]:
        is_full, body = asked.is_full("basic"), asked.body("content", "path")
        content, place = api.content_in(body), api.place_of(body.get("path"))
        await self._open_record(asked)
        book = self._workspace(asked.store)
        await self._check_free(asked.store, place, None)
        try:
            saved = await book.save(**document_of(content), path=api.path_of(place), about="project", sharing="shared")
        except Conflict as error:
            raise await self._refusal(error, asked.store, place, None) from error
        note(saved["memory"], text_of(saved["memory"]) == content)
        return api.memory_of(saved["memory"], is_full)

    async def _list_memories(self, asked: Asked) -> dict[str, Any]:
        is_full, depth = asked.is_full("basic"), asked.number("depth", 0, 0, api.PATH_SEGMENTS)
        limit, folder = asked.limit(is_full), api.folder_of(asked.query.get("path_prefix"))
        cursor, after = asked.page(str, str) or ["", ""]
        await self._record(asked)
        book, last = self._workspace(asked.store), after
        items: list[dict[str, Any]] = []
        while True:
            page = await book.list(path=f"{api.path_of(folder)}/", limit=PAGE if depth else limit, cursor=cursor or None)
            for memory in page["items"]:
                path = memory["path"]
                # What an item stands for that is on an earlier page, or was the last one here.
                if not api.is_memory(memory, asked.store) or path <= after or last.endswith("/") and path.startswith(last):
                    continue
                if len(items) == limit:
                    return api.page_of(items, api.token_of(cursor, last))
                prefix = api.place_in(memory)[:len(folder) + depth]
                if depth and len(prefix) < len(api.place_in(memory)):
                    items.append({"type": "memory_prefix", "path": f"{api.shown(prefix)}/"})
                    last = f"{api.path_of(prefix)}/"
                else:
                    items.append(api.memory_of(memory, is_full))
                    last = path
            if page["next"] is None:
                return api.page_of(items, None)
            cursor = page["next"]
            if len(items) == limit:
                return api.page_of(items, api.token_of(cursor, last))

    async def _retrieve_memory(self, asked: Asked) -> dict[str, Any]:
        is_full = asked.is_full("full")
        await self._record(asked)
        return api.memory_of(await self._memory(asked), is_full)

    async def _update_memory(self, asked: Asked) -> dict[str, Any]:
        is_full, body = asked.is_full("basic"), asked.body("content", "path", "precondition")
        digest = api.wanted_digest(body.get("precondition"))
        await self._open_record(asked)
        while True:
            memory = await self._memory(asked)
            content = api.content_in(body) if "content" in body else text_of(memory)
            place = api.place_of(body["path"]) if "path" in body else api.place_in(memory)
            is_moved = place != api.place_in(memory)
            # What is so already needs no precondition.
            if content == text_of(memory) and not is_moved:
                return api.memory_of(memory, is_full)
            api.check_digest(memory, digest)
            document = document_of(content, memory["metadata"]) if content != text_of(memory) else {}
            if is_moved:
                await self._check_free(asked.store, place, memory["id"])
                document["new_path"] = api.path_of(place)
            try:
                changed = await self._change(self._workspace(asked.store), memory, document)
            except Conflict as error:
                raise await self._refusal(error, asked.store, place, memory["id"]) from error
            if changed is not None:
                note(changed, text_of(changed) == content)
                return api.memory_of(changed, is_full)

    async def _delete_memory(self, asked: Asked) -> dict[str, Any]:
        await self._record(asked)
        while True:
            memory = await self._memory(asked)
            api.check_digest(memory, asked.query.get("expected_content_sha256"))
            try:
                await self._workspace(asked.store).delete(memory["id"], expected_revision=memory["revision"])
            except Conflict as error:
                if error.field != "expected_revision":
                    raise
            else:
                return {"id": memory["id"], "type": "memory_deleted"}

    # Versions

    async def _list_versions(self, asked: Asked) -> dict[str, Any]:
        is_full = asked.is_full("basic")
        limit, page = asked.limit(is_full), asked.page(int)
        await self._record(asked)
        # Each number is that of a revision or of an event, with the versions that it stands for.
        numbered = self._versions_of(asked, is_full) if "memory_id" in asked.query else self._versions(asked, is_full, page)
        found = []
        async for number, versions in numbered:
            wanted = [version for version in versions if api.is_wanted(version, asked)]
            if wanted and (page is None or number < page[0]):
                found.append((number, wanted))
            if len(found) > limit:
                break
        next_page = api.token_of(found[limit - 1][0]) if len(found) > limit else None
        return api.page_of([version for _, versions in found[:limit] for version in versions], next_page)

    async def _retrieve_version(self, asked: Asked) -> dict[str, Any]:
        is_full = asked.is_full("full")
        await self._record(asked)
        item, _ = await self._version(asked)
        return api.version_of(item, is_full)

    async def _redact_version(self, asked: Asked) -> dict[str, Any]:
        await self._record(asked)
        item, newest = await self._version(asked)
        memory, last = item["memory"], newest["memory"]
        if item.get("purged") is not None:
            return api.version_of(item, True)
        if item is newest and "deleted_at" not in last:
            raise api.invalid(f"{asked.item} is what the memory has now: change or delete the memory first.")
        if item is newest or "deleted_at" in last and text_of(memory) == text_of(last):
            command = f"commonbook purge {memory['id']} --workspace {asked.store} --agent {memory['owner']}"
            raise api.invalid(
                f"The deleted memory can be restored with the content of {asked.item} for 30 days. "
                f"`{command}` removes it with all its versions."
            )
        book, body = self._workspace(asked.store), {"revision": item["revision"]}
        await book.request("POST", f"/v1/memories/{segment(memory['id'])}/purge", body, repeatable=True)
        item, _ = await self._version(asked)
        return api.version_of(item, True)

    # Documents

    def _stores(self, asked: Asked) -> AsyncVerbs:
        """The workspace that has the documents of the stores."""
        return self.book.acting(agent=self._agent, workspace=asked.workspace)

    def _workspace(self, store: str) -> AsyncVerbs:
        """The workspace that is a store."""
        return self.book.acting(agent=self._agent, workspace=store)

    async def _record(self, asked: Asked) -> models.Memory:
        """The document of a store; of several, which other doors may have written, the oldest."""
        if api.STORE.fullmatch(asked.store):
            for record in (await self._stores(asked).list(path=api.record_path(asked.store)))["items"]:
                if api.is_record(record):
                    return record
        raise api.missing("memory store", asked.store)

    async def _open_record(self, asked: Asked) -> models.Memory:
        """The document of a store that is not archived."""
        record = await self._record(asked)
        if api.fields_of(record)["archived_at"] is not None:
            raise api.invalid(f"The memory store {asked.store} is archived: nothing in it can be created or changed.")
        return record

    async def _memory(self, asked: Asked) -> models.Memory:
        """The document that is a memory of a store."""
        if api.MEMORY.fullmatch(asked.item):
            with contextlib.suppress(NotFound):
                memory = cast(models.Memory, await self._workspace(asked.store).get(asked.item))
                if api.is_memory(memory, asked.store):
                    return memory
        raise api.missing("memory", asked.item)

    async def _version(self, asked: Asked) -> tuple[models.MemoryRevision, models.MemoryRevision]:
        """The revision that is a version of a store, and the newest of its memory."""
        memory, revision = api.revision_of(asked.item) or ("", 0)
        items = await self._history(asked.store, memory)
        for item in items:
            if item["revision"] == revision:
                return item, items[-1]
        raise api.missing("memory version", asked.item)

    async def _versions(self, asked: Asked, is_full: bool, page: list[int] | None) -> AsyncIterator[tuple[int, list[Any]]]:
        """The versions of a store, newest first, with the sequence of the event that made them."""
        book = self._workspace(asked.store)
        before = page[0] if page is not None else (await book.changes(after=POSITION_MAX, limit=1))["through"] + 1
        histories: dict[str, dict[str, list[models.MemoryRevision]]] = {}
        while before > 1:
            after = max(before - 1 - PAGE, 0)
            query = {"events": "memory.*", "after": after, "limit": PAGE}
            for event in reversed((await book.request("GET", "/v1/events", query=query))["items"]):
                if event["sequence"] >= before:
                    continue
                memory = event["subject"]
                if memory not in histories:
                    histories[memory] = {}
                    for item in await self._history(asked.store, memory):
                        histories[memory].setdefault(item["at"], []).insert(0, item)
                # An event names no revision: it made the one of its moment.
                items = histories[memory].pop(event["at"], [])
                yield event["sequence"], [api.version_of(item, is_full) for item in items]
            before = after + 1

    async def _versions_of(self, asked: Asked, is_full: bool) -> AsyncIterator[tuple[int, list[Any]]]:
        """The versions of a memory, newest first, with the numbers of their revisions."""
        for item in reversed(await self._history(asked.store, asked.query["memory_id"])):
            yield item["revision"], [api.version_of(item, is_full)]

    async def _history(self, store: str, memory: str) -> list[models.MemoryRevision]:
        """The revisions of a memory of a store, oldest first; none if it does not exist."""
        if not api.MEMORY.fullmatch(memory):
            return []
        try:
            items = (await self._workspace(store).history(memory))["items"]
        except NotFound:
            return []
        # A purged revision has no path: the newest one says whether it belongs to the store.
        return [item for item in items if api.is_memory((items[-1] if "purged" in item else item)["memory"], store)]

    async def _change(self, book: AsyncVerbs, memory: models.Memory, document: dict[str, Any]) -> models.Memory | None:
        """Changes a document as it was read; None if it has changed since."""
        try:
            return await book.update(memory["id"], expected_revision=memory["revision"], **document)
        except Conflict as error:
            if error.field != "expected_revision":
                raise
            return None

    async def _purge(self, book: AsyncVerbs, memory: models.Memory) -> None:
        """Removes a document for good."""
        await book.request("POST", f"/v1/memories/{segment(memory['id'])}/purge", {}, repeatable=True)

    async def _check_free(self, store: str, place: Place, id: str | None) -> None:
        """Refuses a place that is, or is above or below, that of a memory other than the one with this id."""
        paths = [api.path_of(place[:length]) for length in range(len(place), 0, -1)]
        # Below the longest path nothing can be.
        if len(paths[0].encode()) < api.PATH_BYTES:
            paths.append(f"{paths[0]}/")
        for path in paths:
            for memory in (await self._workspace(store).list(path=path))["items"]:
                if api.is_memory(memory, store) and memory["id"] != id:
                    raise api.taken(api.shown(api.place_in(memory)), memory["id"])

    async def _refusal(self, error: Conflict, store: str, place: Place, id: str | None) -> Exception:
        """What a conflict means: another process has taken the path since it was free, or something hidden has it."""
        if error.field != "path":
            return error
        await self._check_free(store, place, id)
        return api.taken(api.shown(place), "")


def note(memory: models.Memory, is_as_sent: bool) -> None:
    """Logs what the answer to a write has no field for."""
    if not is_as_sent:
        log.warning("%s: secrets and control characters of the text are not kept", memory["path"])
    if memory["trust"] == "quarantined":
        reasons = ", ".join(memory.get("suspicions", []))
        log.warning("%s: other agents see it after a person has released it (%s)", memory["path"], reasons)


def async_memory_stores_client(
    book: AsyncCommonbook | None = None, *, agent: str | None = None, others: AsyncBaseTransport | None = None, **options: Any,
) -> AsyncAnthropic:
    """A client of Anthropic's SDK whose memory stores are in Commonbook: for `book`, `agent` and `others` see the transport.

    `options` are those of the client. Without `others` it needs no `api_key`."""
    if others is None:
        options.setdefault("api_key", "local")
    transport = AsyncMemoryStoresTransport(book, agent=agent, others=others)
    return AsyncAnthropic(http_client=DefaultAsyncHttpxClient(transport=transport), **options)
