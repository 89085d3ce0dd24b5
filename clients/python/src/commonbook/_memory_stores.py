"""What both transports of Anthropic's memory stores share: what a request says, and documents as the objects of the API."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import unicodedata
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from . import models
from ._memory_tool import Place, name_of, segment_of, text_of
from .errors import CommonbookError

PREFIX = "/v1/memory_stores"
# The documents that say which stores a workspace has.
FOLDER = "/memory-stores"
# The field of the metadata of such a document.
FIELD = "memory_store"
STORE = re.compile("memstore_[0-9a-f]{32}")
MEMORY = re.compile("mem_([0-9a-z]{26})")
TIME = re.compile(r"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)?")
VERSION = re.compile("memver_([0-9a-z]{26})_([1-9][0-9]{0,9})")
# The name of the person in the memory.
PERSON = "human"

NAME_LETTERS = 255
DESCRIPTION_LETTERS = 1024
METADATA_PAIRS = 16
METADATA_KEY_LETTERS = 64
METADATA_VALUE_LETTERS = 512
CONTENT_BYTES = 102_400
PATH_BYTES = 1024
PATH_SEGMENTS = 20
PAGE = 20
PAGE_MAX = 100
FULL_PAGE_MAX = 20
NO_TOKEN = "page: this is no token of this list; pass on `next_page` as it is."

# The type of the API's error, and its status, for each kind of ours.
ERRORS = {
    "invalid": (400, "invalid_request_error"), "unauthenticated": (401, "authentication_error"),
    "forbidden": (403, "permission_error"), "not_found": (404, "not_found_error"), "conflict": (409, "conflict_error"),
    "too_large": (413, "invalid_request_error"), "rate_limited": (429, "rate_limit_error"), "unavailable": (503, "api_error"),
}


class Refusal(Exception):
    """An answer that is an error of the API."""

    def __init__(self, status: int, kind: str, message: str, **fields: str) -> None:
        super().__init__(message)
        self.status = status
        self.request: str | None = None
        self.error = {"type": kind, "message": message, **fields}


def invalid(message: str) -> Refusal:
    """The refusal of a request that is wrong."""
    return Refusal(400, "invalid_request_error", message)


def missing(what: str, name: str) -> Refusal:
    """The refusal of a request for what does not exist."""
    return Refusal(404, "not_found_error", f"No {what} {name} exists.")


def taken(path: str, memory: str) -> Refusal:
    """The refusal of a path that a memory has or is in the way of; without the id of one that the caller does not see."""
    message = f"A memory is at {path}: choose another path, or delete or rename that memory."
    return Refusal(409, "memory_path_conflict_error", message, conflicting_memory_id=memory, conflicting_path=path)


def refusal_of(error: CommonbookError) -> Refusal:
    """The refusal that stands for an error of the server."""
    status, kind = ERRORS.get(error.kind, (500, "api_error"))
    refusal = Refusal(status, kind, error.message)
    refusal.request = error.request_id
    return refusal


@dataclass(frozen=True)
class Asked:
    """A request: what is done (`GET */memories/*`), the ids in its path, and its fields."""

    operation: str
    store: str
    item: str
    # The workspace that has the documents of the stores; None for that of the client.
    workspace: str | None
    query: Mapping[str, str]
    content: bytes

    def body(self, *fields: str) -> dict[str, Any]:
        """The JSON of the request, which may have these fields. What is null is absent."""
        try:
            body = json.loads(self.content or b"{}")
        except ValueError as error:
            raise invalid("The body is no JSON.") from error
        if not isinstance(body, dict):
            raise invalid("The body is no JSON object.")
        unknown = sorted(body.keys() - set(fields))
        if unknown:
            raise invalid(f"Unknown fields: {', '.join(unknown)}; expected {', '.join(fields)}.")
        return {name: value for name, value in body.items() if value is not None}

    def number(self, name: str, default: int, lowest: int, highest: int) -> int:
        """A number of the query."""
        text = self.query.get(name, str(default))
        if not re.fullmatch("[0-9]{1,9}", text) or not lowest <= int(text) <= highest:
            raise invalid(f"{name}: {text!r} is no number from {lowest} to {highest}.")
        return int(text)

    def is_full(self, default: str) -> bool:
        """Whether objects have their content."""
        view = self.query.get("view", default)
        if view not in ("basic", "full"):
            raise invalid(f"view: {view!r} is neither basic nor full.")
        return view == "full"

    def limit(self, is_full: bool = False) -> int:
        """The number of items of a page."""
        limit = self.number("limit", PAGE, 1, PAGE_MAX)
        return min(limit, FULL_PAGE_MAX) if is_full else limit

    def time(self, name: str) -> datetime | None:
        """A time of the query."""
        text = self.query.get(name)
        try:
            return None if text is None else time_of(text)
        except ValueError as error:
            raise invalid(f"{name}: {text!r} is no time in RFC 3339.") from error

    def is_created_in_time(self, created_at: str) -> bool:
        """Whether a time is within those of the query."""
        created, first, last = time_of(created_at), self.time("created_at[gte]"), self.time("created_at[lte]")
        return (first is None or first <= created) and (last is None or created <= last)

    def page(self, *fields: type) -> list[Any] | None:
        """What the token of a page says; None for the first page."""
        token = self.query.get("page")
        if token is None:
            return None
        try:
            values = json.loads(base64.urlsafe_b64decode(token.encode()))
        except (ValueError, binascii.Error) as error:
            raise invalid(NO_TOKEN) from error
        if not isinstance(values, list) or [*map(type, values)] != [*fields]:
            raise invalid(NO_TOKEN)
        return values


def asked_of(method: str, path: str, query: Mapping[str, str], workspace: str | None, content: bytes) -> Asked:
    """What a request asks for. Ids and names take turns in its path."""
    parts = [part for part in path.partition(PREFIX)[2].split("/") if part]
    shape = "/".join(part if position % 2 else "*" for position, part in enumerate(parts))
    store, item = [*parts[::2], "", ""][:2]
    return Asked(f"{method} {shape}".rstrip(), store, item, workspace, query, content)


def is_of_stores(path: str) -> bool:
    """Whether the path of a request is one of the memory stores."""
    return re.search(f"{PREFIX}(/|$)", path) is not None


def token_of(*values: object) -> str:
    """The token of the next page."""
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode()


def page_of(items: Sequence[Any], next_page: str | None) -> dict[str, Any]:
    """A page of a list."""
    return {"data": [*items], "next_page": next_page}


def time_of(text: str) -> datetime:
    """A time in RFC 3339; one without an offset is of UTC. Fails with `ValueError`."""
    found = TIME.fullmatch(text)
    if found is None:
        raise ValueError(text)
    seconds, fraction, offset = found.groups()
    zone = offset if offset and offset not in "Zz" else "+00:00"
    return datetime.fromisoformat(f"{seconds}.{(fraction or '')[:6]:0<6}{zone}")


def now() -> str:
    """This moment, as the server writes times."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# Stores


def new_store() -> str:
    """The id of a new store, which is the name of its workspace, too."""
    return f"memstore_{uuid.uuid4().hex}"


def record_path(store: str) -> str:
    """The path of the document of a store."""
    return f"{FOLDER}/{store}"


def is_record(memory: models.Memory) -> bool:
    """Whether a document is that of a store."""
    is_here = STORE.fullmatch(memory["path"].removeprefix(f"{FOLDER}/")) is not None
    return is_here and isinstance(memory["metadata"].get(FIELD), dict)


def record_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The text and metadata of the document of a store."""
    text = "\n\n".join(filter(None, [fields["name"], fields["description"]]))
    return {"text": text, "metadata": {FIELD: {"metadata": fields["metadata"], "archived_at": fields["archived_at"]}}}


def fields_of(record: models.Memory) -> dict[str, Any]:
    """What the document of a store says of it."""
    name, _, description = record["text"].partition("\n\n")
    kept = record["metadata"][FIELD]
    return {
        "name": name, "description": description, "metadata": kept.get("metadata") or {}, "archived_at": kept.get("archived_at"),
    }


def store_of(record: models.Memory) -> dict[str, Any]:
    """A store as the API has it."""
    return {
        "id": record["path"].removeprefix(f"{FOLDER}/"), "type": "memory_store", "created_at": record["recorded_at"],
        "updated_at": record["revised_at"], **fields_of(record),
    }


def age_of(created_at: str, store: str) -> tuple[datetime, str]:
    """What puts stores in order: the time at which one was created, and its id. A token of a page has both."""
    try:
        return time_of(created_at), store
    except ValueError as error:
        raise invalid(NO_TOKEN) from error


def given_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """The name and description of a request, within their limits."""
    fields: dict[str, Any] = {}
    for name, lowest, highest in (("name", 1, NAME_LETTERS), ("description", 0, DESCRIPTION_LETTERS)):
        if name in body:
            text = body[name]
            if not isinstance(text, str) or not lowest <= len(text) <= highest:
                raise invalid(f"{name}: expected a text of {lowest} to {highest} characters.")
            fields[name] = text
    if any(unicodedata.category(letter) == "Cc" for letter in fields.get("name", "")):
        raise invalid("name: contains a control character.")
    return fields


def changed_metadata(metadata: Mapping[str, str], changes: Any) -> dict[str, str]:
    """The metadata of a store after changes: null removes a pair."""
    if not isinstance(changes, dict):
        raise invalid("metadata: expected an object whose values are texts.")
    for name, value in changes.items():
        if not 1 <= len(name) <= METADATA_KEY_LETTERS:
            raise invalid(f"metadata: expected keys of 1 to {METADATA_KEY_LETTERS} characters.")
        if value is not None and (not isinstance(value, str) or len(value) > METADATA_VALUE_LETTERS):
            raise invalid(f"metadata.{name}: expected a text of at most {METADATA_VALUE_LETTERS} characters.")
    changed = {name: value for name, value in {**metadata, **changes}.items() if value is not None}
    if len(changed) > METADATA_PAIRS:
        raise invalid(f"metadata: {len(changed)} pairs; the maximum is {METADATA_PAIRS}.")
    return changed


# Memories


def place_of(path: Any) -> Place:
    """The segments of the path of a memory."""
    if not isinstance(path, str) or not path.startswith("/"):
        raise invalid("path: expected a path that begins with `/`.")
    segments = path[1:].split("/")
    if len(segments) > PATH_SEGMENTS or any(segment in ("", ".", "..") for segment in segments):
        raise invalid(f"path: expected 1 to {PATH_SEGMENTS} segments, none of which is empty, `.` or `..`.")
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in path):
        raise invalid("path: contains a control character, a format character or a separator of lines.")
    if not unicodedata.is_normalized("NFC", path):
        raise invalid("path: is not in Unicode Normalization Form C.")
    if len(path.encode()) > PATH_BYTES:
        raise invalid(f"path: {len(path.encode())} bytes; the maximum is {PATH_BYTES}.")
    return tuple(segments)


def folder_of(prefix: str | None) -> Place:
    """The segments of a `path_prefix`."""
    if prefix in (None, "/"):
        return ()
    if not isinstance(prefix, str) or not prefix.endswith("/"):
        raise invalid("path_prefix: expected a path that ends in `/`.")
    return place_of(prefix[:-1])


def path_of(place: Sequence[str]) -> str:
    """The path of the document at a place: what a document cannot have in a path is in percent codes there."""
    return "".join(f"/{segment_of(segment)}" for segment in place)


def place_in(memory: models.Memory) -> Place:
    """The segments of the path of a document as a memory."""
    return tuple(name_of(segment) for segment in memory["path"][1:].split("/"))


def shown(place: Sequence[str]) -> str:
    """A place as a path of the API."""
    return "".join(f"/{name}" for name in place)


def is_memory(memory: models.Memory, store: str) -> bool:
    """Whether something of the workspace of a store is a memory of the store: a document that is not opaque."""
    return memory["workspace"] == store and "path" in memory and memory["memory_type"] != "opaque"


def content_in(body: Mapping[str, Any]) -> str:
    """The content of a request."""
    content = body.get("content", "")
    if not isinstance(content, str):
        raise invalid("content: expected a text.")
    try:
        size = len(content.encode())
    except UnicodeEncodeError as error:
        raise invalid("content: contains half of a letter, which is no text in UTF-8.") from error
    if size > CONTENT_BYTES:
        raise invalid(f"content: {size} bytes; the maximum is {CONTENT_BYTES}.")
    return content


def digest_of(content: str) -> str:
    """The `content_sha256` of a content."""
    return hashlib.sha256(content.encode()).hexdigest()


def wanted_digest(precondition: Any) -> str | None:
    """The digest that the memory must have."""
    if precondition is None:
        return None
    digest = precondition.get("content_sha256") if isinstance(precondition, dict) else None
    if not isinstance(digest, str) or precondition.get("type") != "content_sha256":
        raise invalid("precondition: expected the type `content_sha256`, and the digest in `content_sha256`.")
    return digest


def check_digest(memory: models.Memory, wanted: str | None) -> None:
    """Refuses a change of a memory that has another content than its caller knows."""
    digest = digest_of(text_of(memory))
    if wanted not in (None, digest):
        message = f"{memory['id']} has the content_sha256 {digest}, not {wanted}: retrieve it, and repeat the change."
        raise Refusal(409, "memory_precondition_failed_error", message)


def content_fields(memory: models.Memory, is_full: bool) -> dict[str, Any]:
    """The fields of a memory or version about its content."""
    content = text_of(memory)
    return {
        "content": content if is_full else None, "content_sha256": digest_of(content), "content_size_bytes": len(content.encode()),
        "path": shown(place_in(memory)),
    }


def memory_of(memory: models.Memory, is_full: bool) -> dict[str, Any]:
    """A document as a memory of the API."""
    return {
        "id": memory["id"], "type": "memory", "memory_store_id": memory["workspace"],
        "memory_version_id": version_id(memory["id"], memory["revision"]), "created_at": memory["recorded_at"],
        "updated_at": memory["revised_at"], **content_fields(memory, is_full),
    }


# Versions


def version_id(memory: str, revision: int) -> str:
    """The id of a revision of a document."""
    return f"memver_{memory.removeprefix('mem_')}_{revision}"


def revision_of(version: str) -> tuple[str, int] | None:
    """The document and the revision that an id of a version names."""
    found = VERSION.fullmatch(version)
    return (f"mem_{found[1]}", int(found[2])) if found else None


def version_of(item: models.MemoryRevision, is_full: bool) -> dict[str, Any]:
    """A revision of a document as a version of the API."""
    memory = item["memory"]
    is_deleted = memory.get("deleted_at") is not None
    purge = item.get("purged")
    if purge is None:
        fields = content_fields(memory, is_full)
    else:
        fields = {"path": None, "redacted_at": purge["at"], "redacted_by": actor_of(purge["by"])}
    if is_deleted or purge is not None:
        fields |= {"content": None, "content_sha256": None, "content_size_bytes": None}
    return {
        "id": version_id(memory["id"], item["revision"]), "type": "memory_version", "memory_id": memory["id"],
        "memory_store_id": memory["workspace"], "created_at": item["at"], "created_by": actor_of(item["agent"]),
        "operation": "deleted" if is_deleted else "created" if item["revision"] == 1 else "modified",
        "redacted_at": None, "redacted_by": None, **fields,
    }


def actor_of(agent: str) -> dict[str, str]:
    """Who made a change: an agent is the holder of a key, and the person a user."""
    if agent == PERSON:
        return {"type": "user_actor", "user_id": agent}
    return {"type": "api_actor", "api_key_id": agent}


def is_wanted(version: Mapping[str, Any], asked: Asked) -> bool:
    """Whether a version is one of those that a list asks for. No author here is a session or a service account."""
    query, author = asked.query, version["created_by"]
    names = (("api_key_id", "api_key_id"), ("session_id", "session_id"), ("service_account_id", "service_account_id"))
    return (
        query.get("operation") in (None, version["operation"])
        and all(query.get(name) in (None, author.get(field)) for name, field in names)
        and asked.is_created_in_time(version["created_at"])
    )
