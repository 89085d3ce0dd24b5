"""What both faces of mem0 share: a memory of Commonbook as mem0 shows it, its filters, and the checks of its arguments."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any

from . import models
from .errors import CommonbookError, Invalid

IDS = ("user_id", "agent_id", "run_id")
# The field of a memory's metadata that has what mem0 knows besides.
FIELD = "mem0"
TOPIC_CHARS = 64
PROMOTED = (*IDS, "actor_id", "role", "expiration_date")
PROCEDURAL = "procedural_memory"
UNSET: Any = object()


class ValidationError(Invalid, ValueError):
    """What mem0 raises for arguments of `add` that mean nothing; `error_code` is mem0's own."""

    def __init__(self, message: str, error_code: str) -> None:
        super().__init__(message)
        self.error_code = error_code


@dataclass(frozen=True)
class Scope:
    """Whose memories: the ids that mem0 keeps them by."""

    user_id: str | None
    agent_id: str | None
    run_id: str | None

    @property
    def topic(self) -> str | None:
        """The topic by which the server finds the memories of an `agent_id`."""
        return f"agent:{self.agent_id}"[:TOPIC_CHARS] if self.agent_id else None

    @property
    def session(self) -> str | None:
        """The session that stands for a `run_id`."""
        return re.sub(r"[^\w.:@/+=#-]", "-", self.run_id, flags=re.ASCII)[:128] if self.run_id else None

    def filters(self) -> dict[str, Any]:
        """The same as a filter of mem0."""
        return {name: getattr(self, name) for name in IDS if getattr(self, name)}


def is_unknown(error: CommonbookError) -> bool:
    """Whether no memory has an id, or it is the id of no memory."""
    return error.kind == "not_found" or (error.kind == "invalid" and error.field == "id")


def trimmed_id(value: Any, name: str) -> str | None:
    """An id as mem0 reads it. Fails with `ValueError` if it is empty or has whitespace."""
    if value is None:
        return None
    text = str(value).strip()
    if not text:
        raise ValueError(f"Invalid {name}: cannot be empty or whitespace-only. Provide a valid identifier.")
    if any(letter.isspace() for letter in text):
        raise ValueError(f"Invalid {name}: cannot contain whitespace. Provide a valid identifier without spaces.")
    return text


def scope(ids: Mapping[str, Any]) -> Scope:
    """The ids of a call or of its filters."""
    return Scope(*(trimmed_id(ids.get(name), name) for name in IDS))


def scope_of_filters(filters: Mapping[str, Any] | None, others: Mapping[str, Any], method: str) -> Scope:
    """The ids of the filters of a search or a list, which has to name one."""
    wrong = {name for name in IDS if name in others}
    if wrong:
        raise ValueError(
            f"Top-level entity parameters {wrong} are not supported in {method}(). Use filters={{'user_id': '...'}} instead."
        )
    found = scope(filters or {})
    if not found.filters():
        raise ValueError("filters must contain at least one of: user_id, agent_id, run_id. Example: filters={'user_id': 'u1'}")
    return found


def check_search(query: object, top_k: object, threshold: object) -> None:
    """Fails with `ValueError` where mem0 does."""
    if not isinstance(query, str) or not query.strip():
        raise ValueError("Invalid query: cannot be empty or whitespace-only.")
    if threshold is not None and (not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1):
        raise ValueError(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")
    check_top_k(top_k)


def check_top_k(top_k: object) -> None:
    """Fails with `ValueError` where mem0 does."""
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0:
        raise ValueError(f"Invalid top_k: {top_k}. Must be a non-negative integer.")


def messages_of(messages: object) -> list[dict[str, Any]]:
    """The messages of `add`, without those of the system and those without text."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    elif isinstance(messages, dict):
        messages = [messages]
    elif not isinstance(messages, list):
        raise ValidationError("messages must be str, dict, or list[dict]", "VALIDATION_003")
    found = []
    for message in messages:
        if isinstance(message, dict) and message.get("role") not in (None, "system"):
            text = text_of(message.get("content"))
            if text.strip():
                found.append({**message, "content": text})
    return found


def text_of(content: object) -> str:
    """The text of a message; of one with parts, that of its texts."""
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def expiration(value: Any) -> str | None:
    """A date as mem0 keeps it."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date) or value is None:
        return value.isoformat() if value else None
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError) as error:
        raise ValueError("expiration_date must be a valid date in YYYY-MM-DD format.") from error


def metadata_of(given: Mapping[str, Any] | None, scope: Scope, message: Mapping[str, Any], expires: str | None) -> dict[str, Any]:
    """The metadata of a new memory: the caller's own, and in one field what mem0 knows besides."""
    besides = {
        **scope.filters(), "role": message.get("role"), "actor_id": message.get("name"), "expiration_date": expires,
    }
    own = {name: value for name, value in (given or {}).items() if name not in (*IDS, "actor_id", FIELD)}
    return {**own, FIELD: {name: value for name, value in besides.items() if value is not None}}


def changed_metadata(old: Mapping[str, Any], given: Mapping[str, Any] | None, expires: Any) -> dict[str, Any]:
    """The metadata of a memory after an update: the caller's fields are added, ids and actor stay."""
    own = {name: value for name, value in (given or {}).items() if name not in (*IDS, "actor_id", FIELD)}
    besides = dict(old.get(FIELD) or {})
    if expires is not UNSET:
        besides["expiration_date"] = expiration(expires)
    return {**old, **own, FIELD: {name: value for name, value in besides.items() if value is not None}}


def item_of(memory: models.Memory, score: float | None = None, *, scored: bool = False) -> dict[str, Any]:
    """A memory as mem0 returns it. What other programs saved has the ids that it can have: its user and its session."""
    metadata = dict(memory.get("metadata") or {})
    besides = metadata.pop(FIELD, None)
    known = besides if isinstance(besides, dict) else {}
    item: dict[str, Any] = {
        "id": memory["id"],
        "memory": memory["text"],
        "hash": hashlib.md5(memory["text"].encode(), usedforsecurity=False).hexdigest(),
        "metadata": metadata or None,
        **({"score": score} if scored else {}),
        "created_at": memory["recorded_at"],
        "updated_at": memory["revised_at"],
    }
    ids = {"user_id": memory.get("user_id"), "run_id": memory.get("session") if not known else None, **known}
    return {**item, **{name: ids[name] for name in PROMOTED if ids.get(name) is not None}}


def is_expired(item: Mapping[str, Any]) -> bool:
    """Whether its last day is over."""
    last = item.get("expiration_date")
    return bool(last) and str(last) < datetime.now(timezone.utc).date().isoformat()


def fits(item: Mapping[str, Any], filters: Mapping[str, Any] | None) -> bool:
    """Whether a memory fits a filter of mem0: ids, metadata, operators, `AND`, `OR`, `NOT`."""
    fields = {**(item.get("metadata") or {}), **{name: item[name] for name in PROMOTED if name in item}}
    return fits_fields(fields, filters or {})


def fits_fields(fields: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    """Whether fields fit a filter."""
    for name, wanted in filters.items():
        if name in ("AND", "OR", "NOT"):
            parts: Sequence[Mapping[str, Any]] = wanted if isinstance(wanted, list) else [wanted]
            found = [fits_fields(fields, part) for part in parts]
            if not {"AND": all(found), "OR": any(found), "NOT": not any(found)}[name]:
                return False
        elif name in IDS:
            if fields.get(name) != trimmed_id(wanted, name):
                return False
        elif not fits_value(name in fields, fields.get(name), wanted):
            return False
    return True


def fits_value(present: bool, value: Any, wanted: Any) -> bool:
    """Whether one field fits."""
    if wanted == "*":
        return present
    if not isinstance(wanted, dict):
        return bool(value in wanted if isinstance(wanted, list) else value == wanted)
    return all(compare(operator, present, value, operand) for operator, operand in wanted.items())


def compare(operator: str, present: bool, value: Any, operand: Any) -> bool:
    """One operator of mem0's filters."""
    try:
        match operator:
            case "eq":
                return bool(value == operand)
            case "ne":
                return bool(value != operand)
            case "in":
                return value in operand
            case "nin":
                return value not in operand
            case "gt":
                return present and bool(value > operand)
            case "gte":
                return present and bool(value >= operand)
            case "lt":
                return present and bool(value < operand)
            case "lte":
                return present and bool(value <= operand)
            case "contains":
                return present and operand in value
            case "icontains":
                return present and str(operand).lower() in str(value).lower()
    except TypeError:
        return False
    raise ValueError(f"Unsupported metadata filter operator: {operator}")


def history_of(memory_id: str, revisions: Sequence[models.MemoryRevision]) -> list[dict[str, Any]]:
    """The revisions of a memory as mem0's rows of history."""
    rows: list[dict[str, Any]] = []
    before: str | None = None
    for revision in revisions:
        memory = revision["memory"]
        deleted = "deleted_at" in memory
        known = (memory.get("metadata") or {}).get(FIELD) or {}
        rows.append({
            "id": f"{memory_id}-{revision['revision']}",
            "memory_id": memory_id,
            "old_memory": before,
            "new_memory": None if deleted else memory["text"],
            "event": "DELETE" if deleted else "ADD" if before is None else "UPDATE",
            "created_at": memory["recorded_at"],
            "updated_at": memory["revised_at"],
            "is_deleted": deleted,
            "actor_id": known.get("actor_id"),
            "role": known.get("role"),
        })
        before = memory["text"]
    return rows
