"""LangGraph's store and checkpointer over Commonbook:

    from commonbook.langgraph import CommonbookSaver, CommonbookStore

    graph = builder.compile(checkpointer=CommonbookSaver(agent="weather"), store=CommonbookStore(agent="weather"))

An item of the store is a document below `/langgraph/store`, which other doors of Commonbook read and search too."""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote

from langgraph.store.base import (
    BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, Result, SearchItem, SearchOp, validate_op_namespace,
)

from . import models
from ._langgraph_checkpointer import CommonbookSaver
from ._names import child_of
from ._sync.book import Commonbook
from ._text import words_of
from .errors import Conflict, Forbidden, NotFound

__all__ = ["CommonbookSaver", "CommonbookStore"]

NAME = "langgraph"
ROOT = "/langgraph/store"
# The labels of a namespace, and a key.
Place = tuple[str, ...]
# The field of a document's metadata that is false if a search with a query leaves it out.
INDEX_FIELD = "langgraph_index"
# What an empty key is: no letter is written so.
EMPTY_SEGMENT = "%"
PAGE = 100
# The documents of one call, which are saved all or none, and their letters: the server judges each of them before it answers.
CALL_DOCUMENTS, CALL_LETTERS = 100, 200_000
# How often a write is repeated that another one overtook.
ATTEMPTS = 100
# Letters that nobody sees, which Python calls letters all the same.
UNSEEN = "\u115f\u1160\u3164\uffa0"


class CommonbookStore(BaseStore):
    """The long-term memory of a graph as documents: the item `tea` of `("notes", "u1")` is `/langgraph/store/notes/u1/tea`.

    The text of a document is the item's value as JSON, so that other agents find it with a search, and every door reads it. Items
    belong to the agent that put them, and to no user: their namespace says whose they are. Each process of an agent has the same
    items, and `owner` shows those that another agent shares, and changes nothing.

    Values come back equal, of any JSON. Reads of a batch see what was there before its puts, and the last put of a key counts. Up
    to 100 puts of a batch, of 200,000 letters together, happen all or not at all; deletions follow one by one.

    - Without a query a search returns the items that changed last first, as LangGraph's `SqliteStore` does. It reads everything
      below its prefix.
    - With a query it returns what the server finds for these words, best first, with the relevance (0 to 1) as `score`; among the
      first 1,000 hits `filter` chooses. An item that was put with `index=False` is not among them; other doors still find it.
      Nothing in a query is an operator, and its first 3,500 letters count.
    - A put with a list of fields as `index`, or with `ttl`, fails with `NotImplementedError`: the whole value is searched, and
      nothing expires.
    - A put with something that the server takes for a secret fails with `ValueError`, and nothing of its call is kept: Commonbook
      keeps no secrets.
    - A value has at most 102,400 bytes as JSON; a namespace at most 17 labels, and with its key 1,000 bytes, none of which may look
      like a secret. More fails with a `CommonbookError`.

    It calls the client that blocks; `abatch` does so in a thread."""

    def __init__(
        self,
        book: Commonbook | None = None,
        *,
        agent: str | None = None,
        owner: str | None = None,
        sharing: models.Sharing | None = None,
    ) -> None:
        """`book` is by default the memory of this machine under the name `langgraph`. The store writes as `agent`, a child of
        that name (`langgraph/weather`), with the `sharing`, by default `shared`. With `owner`, the full name of another agent, it
        has the items that this one shares, and a put fails with `Forbidden`."""
        super().__init__()
        self._owned = book is None
        self.book = book if book is not None else Commonbook(agent=NAME)
        self._agent = child_of(self.book.agent or NAME, agent)
        self._owner = owner or self._agent
        self._acting = self.book.acting(agent=self._agent)
        self._sharing = sharing

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Does the operations: all reads, then the puts and deletions."""
        results: list[Result] = []
        puts: dict[Place, PutOp] = {}
        for op in ops:
            validate_op_namespace(op)
            results.append(None)
            if isinstance(op, GetOp):
                results[-1] = self._get(op)
            elif isinstance(op, SearchOp):
                results[-1] = self._search(op)
            elif isinstance(op, ListNamespacesOp):
                results[-1] = self._list_namespaces(op)
            elif isinstance(op, PutOp):
                place = (*op.namespace, op.key)
                puts[place] = op
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
        if puts and self._owner != self._agent:
            raise Forbidden(f"The items belong to {self._owner}: you can read them, and not change them.")
        for documents in calls_of([self._document(place, op) for place, op in puts.items() if op.value is not None]):
            self._save(documents)
        for place, op in puts.items():
            if op.value is None:
                self._delete(place)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Does the operations in a thread."""
        return await asyncio.to_thread(self.batch, [*ops])

    def close(self) -> None:
        """Closes the connections, unless `book` was given."""
        if self._owned:
            self.book.close()

    def _get(self, op: GetOp) -> Item | None:
        memory = self._find(path_of((*op.namespace, op.key)))
        return Item(**fields_of(memory)) if memory is not None else None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        words = words_of(op.query or "")
        count = PAGE if op.filter else min(max(op.offset + op.limit, 1), PAGE)
        items: list[SearchItem] = []
        for score, memory in self._hits(op.namespace_prefix, words, count) if words else self._newest(op.namespace_prefix):
            item = SearchItem(**fields_of(memory), score=score)
            if all(matches(item.value.get(name), wanted) for name, wanted in (op.filter or {}).items()):
                items.append(item)
            if len(items) == op.offset + op.limit:
                break
        return items[op.offset:op.offset + op.limit]

    def _newest(self, prefix: Place) -> Iterator[tuple[None, models.Memory]]:
        """What is below a prefix, the latest change first."""
        memories = sorted(self._below(prefix), key=lambda memory: time_of(memory["revised_at"]), reverse=True)
        return ((None, memory) for memory in memories)

    def _hits(self, prefix: Place, words: str, count: int) -> Iterator[tuple[float, models.Memory]]:
        """What the server finds below a prefix, best first, in pages of a count."""
        cursor = None
        while True:
            query = f"path:{path_of(prefix)}/* {words}"
            page = self._acting.search(query, owner=self._owner, k=count, cursor=cursor)
            # A search also reads other workspaces, such as `global`. The first one is the caller's.
            own = page["workspaces"][0]
            for hit in page["hits"]:
                memory = hit["memory"]
                if is_item(memory) and memory["workspace"] == own and memory["metadata"].get(INDEX_FIELD) is not False:
                    yield hit["relevance"], memory
            cursor = page["next"]
            if cursor is None:
                return

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Place]:
        conditions = op.match_conditions or ()
        known: Place = ()
        for condition in conditions:
            if condition.match_type == "prefix":
                known = max(known, condition.path[:[*condition.path, "*"].index("*")], key=len)
        places = {place_of(memory["path"])[:-1] for memory in self._below(known)}
        found = {place[:op.max_depth] for place in places if all(fits(place, condition) for condition in conditions)}
        return sorted(found)[op.offset:op.offset + op.limit]

    def _below(self, prefix: Place) -> Iterator[models.Memory]:
        """Every document that is an item below a prefix."""
        return filter(is_item, self._acting.list_all(path=f"{path_of(prefix)}/", owner=self._owner, limit=PAGE))

    def _find(self, path: str) -> models.Memory | None:
        # A read by a path would also find what lies there in the workspace `global`.
        return next(iter(self._acting.list(path=path, owner=self._owner)["items"]), None)

    def _document(self, place: Place, op: PutOp) -> models.SaveMemory:
        """The document of a put."""
        if op.index not in (None, False) or op.ttl is not None:
            raise NotImplementedError("CommonbookStore has no index of single fields, and no ttl: leave out `index` and `ttl`")
        # Without metadata a save leaves those of the document that it replaces.
        metadata = {INDEX_FIELD: op.index is None}
        text = text_of(dict(op.value or {}))
        return {"path": path_of(place), "text": text, "metadata": metadata, "about": "project", "sharing": self._sharing}

    def _save(self, documents: list[models.SaveMemory]) -> None:
        """Saves new documents, or new revisions of those that are there: all or none."""
        for attempt in range(ATTEMPTS):
            try:
                saved = self._acting.save_all(documents)["items"]
                break
            except Conflict:
                if attempt == ATTEMPTS - 1:
                    raise
            for document in documents:
                memory = self._find(document["path"] or "")
                document["expected_revision"] = memory["revision"] if memory is not None else 0
        changed = [result for document, result in zip(documents, saved) if result["memory"]["text"] != document["text"]]
        if changed:
            for result in saved:
                self._undo(result)
            path = changed[0]["memory"]["path"]
            raise ValueError(f"Commonbook keeps no secrets, and {path} would have one: nothing of these puts is kept")

    def _undo(self, saved: models.SaveResult) -> None:
        """Takes a save back, unless another one followed it."""
        memory = saved["memory"]
        try:
            if saved["outcome"] == "created":
                self._acting.delete(memory["id"], expected_revision=memory["revision"])
            elif saved["outcome"] == "replaced":
                self._acting.restore(memory["id"], revision=memory["revision"] - 1, expected_revision=memory["revision"])
        except (Conflict, NotFound):
            pass

    def _delete(self, place: Place) -> None:
        memory = self._find(path_of(place))
        if memory is not None:
            try:
                self._acting.delete(memory["id"])
            except NotFound:
                pass


def segment_of(name: str) -> str:
    """A label or key as a segment of a path: what a path or a query could not have is in percent codes."""
    if not name.strip("."):
        return name.replace(".", "%2E") or EMPTY_SEGMENT
    kept = unicodedata.is_normalized("NFC", name)
    return "".join(
        letter if letter in "-_.:@+=" or letter.isascii() and letter.isalnum()
        else letter if kept and letter.isalnum() and letter not in UNSEEN
        else quote(letter, safe="", errors="surrogatepass")
        for letter in name
    )


def path_of(place: Place) -> str:
    """The path of the document at a place."""
    return "/".join([ROOT, *map(segment_of, place)])


def is_item(memory: models.Memory) -> bool:
    """Whether the path of a document below the root is that of an item; another door may write others."""
    try:
        return path_of(place_of(memory["path"])) == memory["path"]
    except UnicodeDecodeError:
        return False


def place_of(path: str) -> Place:
    """The place of a document."""
    segments = path.removeprefix(f"{ROOT}/").split("/")
    return tuple("" if segment == EMPTY_SEGMENT else unquote(segment, errors="surrogatepass") for segment in segments)


def text_of(value: dict[str, Any]) -> str:
    """A value as JSON, in which letters that nobody sees have their codes."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else escape_of(letter) for letter in text)


def escape_of(letter: str) -> str:
    """A letter in the codes that JSON has for it."""
    return re.sub("....", r"\\u\g<0>", letter.encode("utf-16-be", "surrogatepass").hex())


def fields_of(memory: models.Memory) -> dict[str, Any]:
    """A document as the fields of an item. A text that is no JSON object, of another door, is a value with that `text`."""
    place = place_of(memory["path"])
    try:
        value = json.loads(memory["text"])
    except ValueError:
        value = None
    return {
        "namespace": place[:-1],
        "key": place[-1],
        "value": value if isinstance(value, dict) else {"text": memory["text"]},
        "created_at": time_of(memory["recorded_at"]),
        "updated_at": time_of(memory["revised_at"]),
    }


def time_of(text: str) -> datetime:
    """A time of the server, whose fraction of a second has as many digits as it needs."""
    seconds, _, fraction = text.removesuffix("Z").partition(".")
    return datetime.fromisoformat(f"{seconds}.{fraction:0<6}+00:00")


def calls_of(documents: list[models.SaveMemory]) -> Iterator[list[models.SaveMemory]]:
    """The documents as those of one call each."""
    call: list[models.SaveMemory] = []
    letters = 0
    for document in documents:
        letters += len(document["text"])
        if call and (len(call) == CALL_DOCUMENTS or letters > CALL_LETTERS):
            yield call
            call, letters = [], len(document["text"])
        call.append(document)
    if call:
        yield call


def fits(namespace: Place, condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends with the labels of a condition, in which `*` is any label."""
    count = len(condition.path)
    part = namespace[:count] if condition.match_type == "prefix" else namespace[max(0, len(namespace) - count):]
    return len(part) == count and all(wanted in ("*", label) for wanted, label in zip(condition.path, part))


def matches(value: Any, wanted: Any) -> bool:
    """Whether a value of an item is what a filter wants: an equal one, or one for which each of its operators holds.

    What has no number is neither greater nor less. Fails with `ValueError` for an unknown operator."""
    if isinstance(wanted, dict):
        if any(name.startswith("$") for name in wanted):
            return all(holds(value, operator, operand) for operator, operand in wanted.items())
        return isinstance(value, dict) and all(matches(value.get(name), inner) for name, inner in wanted.items())
    if isinstance(wanted, (list, tuple)):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(matches, value, wanted))
    return bool(value == wanted)


def holds(value: Any, operator: str, operand: Any) -> bool:
    """Whether an operator of a filter holds."""
    if operator in ("$eq", "$ne"):
        return bool(value == operand) == (operator == "$eq")
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        left, right = float(value), float(operand)
    except (TypeError, ValueError):
        return False
    return {"$gt": left > right, "$gte": left >= right, "$lt": left < right, "$lte": left <= right}[operator]
